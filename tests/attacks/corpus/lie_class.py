"""Returns objects whose __class__ says that they are arrays, numbers or verdicts, and callables that lie about themselves.

Must: the type is read, not the word for it.
Points: 0, 2
Seen: Opaque(type='Named'
"""
# %% rnn_step
class Named:
    __class__ = property(lambda self: np.ndarray)
    __dict__ = property(lambda self: 1 / 0)
    __module__ = "numpy"


class Step:
    __wrapped__ = property(lambda self: self)

    def __call__(self, **inputs):
        return Named()


rnn_step = Step()
