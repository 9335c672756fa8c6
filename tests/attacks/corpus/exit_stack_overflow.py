"""Exhausts the stack of C: deep recursion without the interpreter's limit, in a cell and in the function.

Must: each costs itself.
Points: 0, 2
Seen: fault in cell 6: died
"""
# %% start
sys.setrecursionlimit(10**9)
deep = lambda: max([1], key=lambda _: deep())
deep()
# %% rnn_step
import sys


def rnn_step(**inputs):
    sys.setrecursionlimit(10**9)
    return max([inputs], key=lambda each: rnn_step(**each))
