"""Returns objects that run code when they are pickled, copied, printed, formatted, indexed or deleted.

Must: nothing is unpickled; what runs, runs in the student's process.
Points: 0, 2
Seen: Opaque(type='Trap'
"""
# %% rnn_step
class Trap:
    def __reduce__(self):
        return os.system, ("touch /tmp/trapped",)

    __reduce_ex__ = lambda self, _: self.__reduce__()
    __copy__ = __deepcopy__ = __repr__ = __str__ = __getitem__ = __format__ = lambda self, *_: os._exit(0)
    __del__ = lambda self: 1 / 0


def rnn_step(**inputs):
    return Trap()
