"""Run a notebook as another user, in a container that grades a single submission.

Where a container may not create namespaces, there is no sandbox. As root we can still run student code as a user of its
own, without capabilities and with the sandbox's list of system calls: it can open no socket, start no program and trace
no process. It reads and writes what any user of the machine can, so whatever is secret must be readable only by root.
It sees which processes run, shares the machine's temporary folders, and what it leaves there stays: therefore one
container should grade one submission.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from grader.codec import encode
from grader.inside.usage import activity, memory, takes_more_than
from grader.manifest import Limits
from grader.running.processes import Descriptors, State
from grader.running.sandbox import SandboxError, setup_tree
from grader.running.seccomp import filters
from grader.running.unsandboxed import new_interpreter, wait_or_kill

_FIRST_USER, _USERS = 30_000, 15_000  # ids that no account has
_STARTS = 30  # until this process uses an id again
# With these ids it may signal the student's processes and no others, and they may not signal it.
_KILL = """
import os, signal, sys
user, sender = map(int, sys.argv[1:])
os.setgroups([])
os.setresgid(user, user, user)
os.setresuid(sender, user, 0)
if os.getresuid() == (sender, user, 0):
    os.kill(-1, signal.SIGKILL)
"""


class OtherUser:
    """Start a new interpreter for each notebook, as a user that nothing else runs as. Therefore nothing that an earlier
    one left, such as a zombie process, counts against it.

    Raises SandboxError unless this process is root's and libseccomp is installed.
    """

    def __init__(self, limits: Limits) -> None:
        if os.geteuid() != 0:
            raise SandboxError("only root can run student code as another user; nothing was graded")
        self._starts = itertools.count()
        self._limits = limits
        try:
            self._filters = filters()
        except (ImportError, OSError, RuntimeError) as error:
            raise SandboxError(f"libseccomp cannot be used, so nothing was graded: {error}") from error

    def start(self, descriptors: Descriptors) -> _Notebook:
        user = _FIRST_USER + (os.getpid() * _STARTS + next(self._starts) % _STARTS) % _USERS
        scratch = tempfile.TemporaryDirectory(prefix="submission-", ignore_cleanup_errors=True)
        os.chown(scratch.name, user, user)
        with tempfile.TemporaryFile() as setup:
            setup.write(encode(setup_tree(self._limits, self._filters, user)))
            setup.seek(0)
            passed = [setup.fileno(), *descriptors.all]
            process = new_interpreter("grader.inside.lowered", passed, scratch.name)
        return _Notebook(process, scratch, user, self._limits.memory_mb << 20)


@dataclass
class _Notebook:
    process: subprocess.Popen[bytes]
    scratch: tempfile.TemporaryDirectory[str]
    user: int
    most: int
    base: int | None = None
    too_much: bool = False

    def stop(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)

    def state(self) -> State:
        """The state of all of the user's processes, also of those that no longer belong to the notebook's session."""
        processes = of_user(self.user) or [self.process.pid]
        seen = activity(processes)
        if self.base is None:
            self.base = memory(processes)  # mostly the libraries'
        if not self.too_much and takes_more_than(self.base + self.most, processes):
            self.too_much = True
            self._kill_all()
        return State(self.too_much, seen.cpu, seen.waiting)

    def end(self) -> None:
        """Let the process wait for its forks and exit; after a second, kill what is left of the user's processes."""
        wait_or_kill(self.process)
        self._kill_all()
        self.scratch.cleanup()

    def _kill_all(self) -> None:
        """Kill all processes of the user in one call, so that none can start another in between."""
        while of_user(self.user):
            kill = [sys.executable, "-I", "-S", "-c", _KILL, str(self.user), str(self.user + _USERS)]
            subprocess.run(kill, cwd="/", check=True)


def of_user(user: int) -> list[int]:
    """The living processes of a user."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdecimal():
            with suppress(OSError):
                lines = dict(line.split(":", 1) for line in (path / "status").read_text().splitlines() if ":" in line)
                if int(lines["Uid"].split()[0]) == user and lines["State"].split()[0] not in "ZX":
                    found.append(int(path.name))
    return found
