"""Signals the first process of its namespace: it may be asked to end the cells, to die, to stop.

Must: the first process ends only what it is told to by the grader or what ends this notebook.
Points: 0, 2
Seen: fault in cell 6: died
"""
# %% rnn_step
import os, signal


def rnn_step(**inputs):
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGHUP, signal.SIGCHLD, signal.SIGTERM):
        libc.tgkill(1, 1, int(number)) if hasattr(libc, "tgkill") else None
    os._exit(3)
