"""Sends itself SIGKILL in a cell, and stops itself for ever in the function.

Must: the cell costs itself; the stopped process costs its exercise, which the grader's clock ends.
Points: 0, 2
Seen: fault in cell 3: died
Seen: fault in cell 6: timeout
"""
# %% start
signal.raise_signal(signal.SIGKILL)
# %% rnn_step
import signal


def rnn_step(**inputs):
    signal.raise_signal(signal.SIGSTOP)
