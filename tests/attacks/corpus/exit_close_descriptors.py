"""Closes all descriptors, in a cell and in the function.

Must: a cell without its pipe is ended; a function without its line is one that does not answer.
Points: 0, 2
Seen: fault in cell 3: died
"""
# %% start
os.closerange(0, 1000)
# %% rnn_step
import os


def rnn_step(**inputs):
    os.closerange(0, 1000)
