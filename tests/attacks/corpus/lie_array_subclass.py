"""Returns subclasses of ndarray, list, dict, str and float that override how they are read, and strange dtypes.

Must: subclasses are read as their base class, or not at all; what comes is judged as plain values.
Points: 0, 2
Seen: Opaque(type='Array'
"""
# %% rnn_step
class Array(np.ndarray):
    shape = property(lambda self: (2, 4))
    dtype = property(lambda self: np.dtype(float))
    tobytes = lambda self, *_: b"\0" * 64
    __eq__ = lambda self, other: True


class Number(float):
    __eq__ = lambda self, other: True
    __hash__ = float.__hash__


class Text(str):
    encode = lambda self, *_: b"\xff" * 1000


class Pairs(dict):
    items = lambda self: [(Text("a"), self)]


class Row(list):
    __iter__ = lambda self: iter([self])
    __len__ = lambda self: 10**9


calls = []


def rnn_step(**inputs):
    due = inputs["h_prev"].shape
    kinds = [
        np.zeros(due).view(Array),
        Row([Row([Number(0)])]),
        Pairs(h=Text("h")),
        np.ma.masked_all(due),
        np.zeros(due, [("f", float)]),
        np.array(["0"] * 8, object),
        np.zeros(due, "S8"),
    ]
    calls.append(None)
    return kinds[len(calls) % len(kinds)]
