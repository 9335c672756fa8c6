"""Ends the process in a visible cell, in the public part and in the hidden part of its exercise.

Must: the cell costs itself, the function its exercise.
Points: 0, 2
Seen: fault in cell 3: died
Seen: fault in cell 6: died
"""
# %% start
os._exit(0)
# %% rnn_step
import os


def rnn_step(**inputs):
    os._exit(0)
