"""Judge in a process of its own, with limits of processor time and memory.

What a student's process returned is judged and diagnosed by our code alone, but how much work that takes depends on
what was returned. Verdicts that are not cached yet are therefore found in a copy of the worker. If the copy exceeds a
limit, the exercise that it was judging is wrong, because it is too large, and a new copy judges the others. If it ends
in any other way, for example because the kernel is short of memory, that says nothing about an exercise, and a new copy
judges all of them.
"""

from __future__ import annotations

import math
import os
import resource
import signal
import traceback
import warnings
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from grader.checking.verdict import Verdict
from grader.running.processes import WorkerError

MAX_CACHED = 2000  # cached verdicts, some kilobytes each; a class of 60 has about 900 different ones
SECONDS = 10  # of processor time for an exercise; what the course's exercises take is below a second
MEMORY = 1_000_000_000  # bytes in addition to the worker's own
PATIENCE = 30  # times SECONDS of real time without an answer, after which the copy itself has failed
COPIES = 3  # that end in succession without a verdict, after which judging itself has failed
TOO_LARGE = 3  # the exit status of a copy that was refused memory while it judged
LIMITS = frozenset(  # signals that end a copy at a limit: of time, or in C code that was refused memory
    {signal.SIGXCPU, signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT}
)

Found = TypeVar("Found")
Key = tuple[str | bool, ...]  # begins with the exercise's id


class _Message(msgspec.Struct, array_like=True):
    """From the copy: it begins to judge (without a verdict), a verdict, or the error that ended it."""

    key: list[str | bool]
    verdict: Verdict | None = None
    error: str = ""


_messages = msgspec.msgpack.Decoder(_Message)


class JudgeError(Exception):
    """The judge failed, which is a bug of ours; the text says how and where."""


class _UnknownError(Exception):
    """This verdict is not cached."""


class VerdictCache:
    """A cache of verdicts by everything that they depend on. Many submissions of a class give exactly the same results,
    which are judged only once. The latest MAX_CACHED verdicts are kept.
    """

    def __init__(self) -> None:
        self._verdicts: dict[Hashable, Verdict] = {}

    def __call__(self, key: Key, find: Callable[[], Verdict]) -> Verdict:
        """The verdict with this key, which `find` finds in this process."""
        if key not in self._verdicts:
            self.add(key, find())
        return self._verdicts[key]

    def add(self, key: Key, verdict: Verdict) -> None:
        if len(self._verdicts) == MAX_CACHED:
            del self._verdicts[next(iter(self._verdicts))]
        self._verdicts[key] = verdict

    def known(self, key: Key, find: Callable[[], Verdict]) -> Verdict:
        """The verdict with this key. Raises _UnknownError if it is not cached."""
        if key not in self._verdicts:
            raise _UnknownError
        return self._verdicts[key]


Judge = Callable[[Key, Callable[[], Verdict]], Verdict]


def judged(
    find_all: Callable[[Judge], Found], cache: VerdictCache, too_large: Callable[[str], Verdict]
) -> tuple[Found, list[str]]:
    """What `find_all` finds, and the exercises whose judging exceeded a limit.

    `find_all` gets a function that it asks for every verdict, and must not depend on anything else that changes.
    `too_large` makes the verdict on an exercise that cannot be judged. Raises WorkerError.
    """
    exceeded: list[str] = []
    without_a_verdict = 0
    while True:
        with suppress(_UnknownError):
            return find_all(cache.known), exceeded
        copy = _judge_in_a_copy(find_all, cache)
        if copy.begun is not None and copy.at_a_limit:
            exceeded.append(str(copy.begun[0]))
            cache.add(copy.begun, too_large(str(copy.begun[0])))
        elif copy.verdicts == 0:
            without_a_verdict += 1
            if without_a_verdict == COPIES:
                raise WorkerError(f"the process that judges was ended {COPIES} times, {copy.how}")
            continue
        without_a_verdict = 0


@dataclass
class _Copy:
    """What a copy has told before it ended, and how it ended (the exit status, or the negative number of a signal)."""

    begun: Key | None = None
    verdicts: int = 0
    ended: int = 0

    @property
    def at_a_limit(self) -> bool:
        return self.ended == TOO_LARGE or -self.ended in LIMITS

    @property
    def how(self) -> str:
        return f"by {signal.Signals(-self.ended).name}" if self.ended < 0 else f"with the status {self.ended}"


def _judge_in_a_copy(find_all: Callable[[Judge], Any], cache: VerdictCache) -> _Copy:
    """Add the verdicts that a copy of this process finds to the cache."""
    ours, theirs = Pipe(duplex=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads only wait, and the copy needs none of them
        pid = os.fork()
    if pid == 0:
        _be_the_copy(find_all, cache, theirs)
    theirs.close()
    copy = _Copy()
    has_ended = False
    try:
        with ours, suppress(EOFError):
            while True:
                if not ours.poll(PATIENCE * SECONDS):
                    raise WorkerError("the process that judges did not answer")
                message = _messages.decode(ours.recv_bytes())
                if message.error:
                    raise JudgeError(message.error)
                copy.begun = tuple(message.key)
                if message.verdict is not None:
                    cache.add(copy.begun, message.verdict)
                    copy.begun = None
                    copy.verdicts += 1
        has_ended = True
    finally:
        if not has_ended:
            os.kill(pid, signal.SIGKILL)
        copy.ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return copy


def _be_the_copy(find_all: Callable[[Judge], Any], cache: VerdictCache, line: Connection[bytes, bytes]) -> NoReturn:
    """Find the verdicts, tell each, and end this process."""

    def tell(message: _Message) -> None:
        line.send_bytes(msgspec.msgpack.encode(message))

    def judge(key: Key, find: Callable[[], Verdict]) -> Verdict:
        with suppress(_UnknownError):
            return cache.known(key, find)
        tell(_Message(list(key)))
        _allow(SECONDS)
        verdict = cache(key, find)
        tell(_Message(list(key), verdict))
        return verdict

    status = 0
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker ends this process
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _limit_memory()
        find_all(judge)
    except MemoryError:
        status = TOO_LARGE
    except BaseException as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        tell(_Message([], error=f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"))
    finally:
        os._exit(status)


def _allow(seconds: int) -> None:
    """Let this process use so much more processor time before it is killed."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = math.ceil(usage.ru_utime + usage.ru_stime)
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def _limit_memory() -> None:
    """Let this process use MEMORY more. Only Linux says how much it uses, and keeps to such a limit."""
    with suppress(FileNotFoundError):
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY,) * 2)
