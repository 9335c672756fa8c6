"""Raises exceptions whose name, text and class say that all is well, or that do harm when they are read.

Must: an exception is wrong, whatever it says; one without a readable text is still told.
Points: 0, 2
Seen: passed 2 / 2
Seen: (its text could not be read)
"""
# %% rnn_step
class Passed(Exception):
    __str__ = __repr__ = lambda self: "rnn_step passed 2 / 2 <script>alert(1)</script> \x1b[2J"


class Unreadable(Exception):
    __str__ = __repr__ = lambda self: 1 / 0


def rnn_step(**inputs):
    if inputs["h_prev"].size > 6:
        raise Unreadable
    raise Passed
