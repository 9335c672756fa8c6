"""The first cell of every attack's notebook. Attackers are assumed to know the paths and all code.

`tell` records that an attack was really tried, and `won` that it gained something.
"""

import ctypes, errno, gc, os, re, signal, socket, struct, sys, threading, time
from pathlib import Path

import numpy as np
from grader.inside.frames import Begin, Done, End, Observed, Ready, frame_bytes
from grader.checking.case import Observation

TERM = ...  # the grader fills these in
ROOT = ...
GRADER = ...
CALLS = ...
NOTEBOOK = os.getpid()
SECRET = re.compile(rb"canary" + rb"-[0-9a-f]{32}")
RESULT, SOCKETS = 4, (5, 6)  # of rnn_step and of rnn_forward
libc = ctypes.CDLL(None, use_errno=True)


def tell(*words):
    print("TOLD", *words)


def won(what):
    """What an attack says that has gained something. (In two parts: a traceback shows this line.)"""
    print("WO" + "N", what)
    return "WO" + f"N {what}"


def tried(action):
    """The kind of error that an action ends with; where it succeeds the attack has won."""
    try:
        return won(repr(action()))
    except Exception as error:
        return errno.errorcode.get(getattr(error, "errno", None), type(error).__name__)


def syscall(name, *arguments):
    """A raw system call, past all that Python and the C library think of it."""
    ctypes.set_errno(0)
    words = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = libc.syscall(ctypes.c_long(CALLS[name]), *words)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result


def say(descriptor, *frames):
    """Write frames to a descriptor, as the runner would."""
    for frame in frames:
        os.write(descriptor, frame if isinstance(frame, bytes) else frame_bytes(frame))


def zeros(cases=40):
    """The claim that each case was driven, and gave zeros."""
    return [Observed(case, Observation(np.zeros((2, 4)))) for case in range(cases)]


def copied():
    """A copy of this process: true in the copy, which lives on while the notebook is graded."""
    return os.fork() == 0


def in_hidden_run():
    """Whether this function is driven on hidden cases right now, by the runner's own word."""
    frame = sys._getframe()
    while frame is not None:
        if "part" in frame.f_locals:
            return frame.f_locals["part"].hidden
        frame = frame.f_back
    return False
