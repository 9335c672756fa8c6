"""Aborts in a cell, and reads address 0 in the function.

Must: no core is written; each costs itself.
Points: 0, 2
Seen: fault in cell 3: died
Seen: fault in cell 6: died
"""
# %% start
os.abort()
# %% rnn_step
import ctypes


def rnn_step(**inputs):
    ctypes.string_at(0)
