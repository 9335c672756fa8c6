"""The limit of running time within which a check has to end on a student's own machine."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

from grader.manifest import Manifest, Place

FACTOR = 5  # a student's machine may be this much slower than the limits of grading assume
SHORTEST = 10.0  # seconds: what a limit is at least
_AGAIN = 0.05  # seconds after which code that goes on is interrupted again
_OURS = str(Path(__file__).parent) + os.sep
_WAITS = ("bdb.py", "pdb.py")  # the files of a debugger at a breakpoint


def on_own_machine(seconds: float) -> float:
    """The limit on a student's machine where grading allows this many seconds."""
    return max(SHORTEST, FACTOR * seconds)


def seconds_of_check(manifest: Manifest, place: Place) -> float:
    """How many seconds the check of an exercise may take on a student's machine."""
    return on_own_machine(place.exercise.seconds or manifest.limits(place.chapter).seconds_per_exercise)


class TimeUp(KeyboardInterrupt):
    """Raised in code that is still running when its time is up. Whoever lets Ctrl-C through lets this through."""


class TimeLimit:
    """Raises TimeUp in the main thread when time is up; `rang` says that it did, `interrupted` that the student
    pressed Ctrl-C before.

    It needs the main thread and a platform with threads; elsewhere, `set` does nothing. While a student is at a
    breakpoint or answers `input`, a limit begins again. Code that catches every exception is interrupted until it ends;
    code that never returns to Python, such as one long call of a library, cannot be interrupted.
    """

    def __init__(self) -> None:
        self.rang = self.interrupted = self._swallowed = False
        self._lock = threading.Lock()
        self._off: threading.Event | None = None
        self._before: Any = None

    def set(self, seconds: float) -> None:
        """Start to count; this replaces an earlier limit."""
        self.off()
        self.rang = self.interrupted = self._swallowed = False
        if sys.platform == "emscripten" or threading.current_thread() is not threading.main_thread():
            return
        off = self._off = threading.Event()
        self._before = signal.signal(signal.SIGINT, self._interrupted)
        threading.Thread(target=self._wait, args=(seconds, off), daemon=True).start()

    def off(self) -> None:
        """Stop counting."""
        with self._lock:  # afterwards it does not ring any more
            off, self._off = self._off, None
        if off is not None:
            off.set()
            if self._swallowed:
                sys.settrace(None)
            signal.signal(signal.SIGINT, self._before)  # this handles a signal that has arrived first

    def _wait(self, seconds: float, off: threading.Event) -> None:
        while not off.wait(seconds):
            if _at_a_breakpoint():
                continue
            with self._lock:
                if off is not self._off:
                    return
                self.rang = True
                _signal_the_main_thread()
            seconds = _AGAIN

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if not self.rang:
            self.interrupted = True
            if callable(self._before):
                self._before(number, frame)
            return
        if self._off is not None:
            if self._swallowed:
                _interrupt_the_handler_too(frame)
            self._swallowed = True
            raise TimeUp


def _signal_the_main_thread() -> None:
    if hasattr(signal, "pthread_kill"):  # unlike `interrupt_main`, this ends a `sleep`
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        import _thread

        _thread.interrupt_main()


def _interrupt_the_handler_too(frame: FrameType | None) -> None:
    """Raise TimeUp again in the next line of code that is not ours: if it is `except:`, the exception leaves the `try`
    that caught the first one.
    """

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename.startswith(_OURS):
            return None
        if event == "line":
            sys.settrace(None)
            raise TimeUp
        return trace

    sys.settrace(trace)
    while frame is not None and not frame.f_code.co_filename.startswith(_OURS):
        frame.f_trace = trace
        frame = frame.f_back


def _at_a_breakpoint() -> bool:
    """Whether the main thread waits for the student: in a debugger, or in a notebook's `input`."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.endswith(_WAITS) or "pydevd" in file or frame.f_code.co_name == "_input_request":
            return True
        frame = frame.f_back
    return False
