"""Isolate each submission inside the sandbox before any student code runs.

`enclosed` starts a process in new user, mount, PID, IPC and UTS namespaces. This first process runs no student code: it
hides /proc, gives the submission an empty in-memory disk, and starts the process that runs the notebook, without
capabilities, with resource limits and with a list of allowed system calls. When the first process is killed, the kernel
ends all others.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import platform
import resource
import signal
import struct
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

SCRATCH = "/submission"
MESSAGE = 1 << 16  # bytes of a message to the warm process, or of its answer
REQUEST, RESULTS, SOCKETS = 3, 4, 5  # the descriptors that a submission's process has; sockets from 5 on
BROKEN = 97  # the exit status of a first process that could not isolate itself

_NEW_NAMESPACES = 0x20000 | 0x4000000 | 0x8000000 | 0x10000000 | 0x20000000  # mount, UTS, IPC, user, PID
_CLONE = {"x86_64": 56, "aarch64": 220}
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 24, 38
_PR_SET_THP_DISABLE = 41
_MS_NOSUID, _MS_NODEV, _MS_RDONLY, _MS_REC, _MS_PRIVATE = 2, 4, 1, 0x4000, 0x40000
_CAPABILITIES_V3 = 0x20080522
_libc = ctypes.CDLL(None, use_errno=True)
_locked = ctypes.PyDLL(None, use_errno=True)  # keeps the interpreter's lock during the call


@dataclass(frozen=True)
class Room:
    """The limits of one submission: bytes, seconds and counts, and the system call filters."""

    address_space: int
    disk: int
    files: int
    processes: int
    cpu_seconds: int
    cells_filter: bytes
    hidden_filter: bytes


def small_pages() -> None:
    """From now on, let this process and its copies have no huge pages. So none of them can add more than a page of
    memory by a page fault. Student code cannot undo this (`seccomp.py`).
    """
    _check(_libc.prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0), "prctl")


def become(user: int) -> None:
    """Switch from root to an ordinary user permanently, because the kernel does not limit root's processes."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # otherwise /proc/self would still belong to root


def enclosed(room: Room, descriptors: Sequence[int], complaints: int, work: Callable[[], None]) -> int:
    """Start `work` in an isolated process; return the id of the first process in its namespaces.

    `descriptors` become REQUEST, RESULTS and SOCKETS there. If the isolation fails, the first process exits with the
    status BROKEN and writes the reason to `complaints`. Raises OSError if no namespaces can be created.
    """
    user, group = os.getuid(), os.getgid()
    # The C library's fork cannot create namespaces. The copy makes only the calls below before a real fork.
    pid = int(_locked.syscall(_CLONE[platform.machine()], _NEW_NAMESPACES | signal.SIGCHLD, 0, 0, 0, 0))
    if pid < 0:
        raise OSError(ctypes.get_errno(), "no namespaces: " + os.strerror(ctypes.get_errno()))
    if pid == 0:
        _first_process(room, descriptors, complaints, work, user, group)
    return pid


def lower(room: Room, user: int, descriptors: Sequence[int]) -> None:
    """Without namespaces: become a user of its own, without capabilities, with resource limits and with the list of
    allowed system calls. Other processes of that user cannot read this one's memory. `descriptors` become REQUEST,
    RESULTS and SOCKETS. Raises OSError.
    """
    _keep_only(descriptors, os.open("/dev/null", os.O_WRONLY))
    become(user)
    _check(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl")
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
    _drop_capabilities()
    _bound(room)
    _filter(room.cells_filter)


def no_more_processes(hidden_filter: bytes) -> None:
    """From now on, allow this process to start only threads."""
    _filter(hidden_filter)


def _first_process(
    room: Room, descriptors: Sequence[int], complaints: int, work: Callable[[], None], user: int, group: int
) -> NoReturn:
    try:
        _check(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
        for name, content in (
            ("oom_score_adj", "1000"),
            ("setgroups", "deny"),
            ("uid_map", f"1000 {user} 1"),
            ("gid_map", f"1000 {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as file:
                file.write(content)
        os.setsid()
        _keep_only(descriptors, complaints)
        _mounts(room)
        _drop_capabilities()
        waited = {signal.SIGTERM, signal.SIGCHLD}
        signal.pthread_sigmask(signal.SIG_BLOCK, waited)
        notebook = os.fork()
        if notebook == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, waited)
            _bound(room)
            os.dup2(1, 2)
            _filter(room.cells_filter)
            work()
            os._exit(0)
        os.closerange(REQUEST, SOCKETS + len(descriptors))  # only the notebook's process closes them
        while True:
            if signal.sigwait(waited) == signal.SIGTERM:
                with suppress(ProcessLookupError):
                    os.kill(notebook, signal.SIGKILL)
            _gather()
    except ChildProcessError:  # all have ended
        os._exit(0)
    except BaseException:
        with suppress(OSError):
            os.write(2, traceback.format_exc().encode())
        os._exit(BROKEN)


def _gather() -> None:
    """Wait for all processes that have ended. Raises ChildProcessError if none is left."""
    while os.waitpid(-1, os.WNOHANG) != (0, 0):
        pass


def _keep_only(descriptors: Sequence[int], complaints: int) -> None:
    """Close everything except /dev/null as standard input and output, and the submission's own descriptors."""
    null = os.open("/dev/null", os.O_RDWR)
    high = [fcntl.fcntl(each, fcntl.F_DUPFD, 1000) for each in (null, null, complaints, *descriptors)]
    for number, each in enumerate(high):
        os.dup2(each, number)
    os.closerange(len(high), os.sysconf("SC_OPEN_MAX"))


def _mounts(room: Room) -> None:
    _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
    options = f"size={room.disk},nr_inodes={room.files},mode=700"
    _mount("tmpfs", SCRATCH, "tmpfs", _MS_NOSUID | _MS_NODEV, options)
    _mount("tmpfs", "/proc", "tmpfs", _MS_NOSUID | _MS_NODEV | _MS_RDONLY, "size=4k,nr_inodes=1")
    os.chdir(SCRATCH)


def _mount(source: str | None, target: str, kind: str | None, flags: int, options: str | None = None) -> None:
    words = [None if word is None else word.encode() for word in (source, target, kind)]
    _check(_libc.mount(*words, ctypes.c_ulong(flags), None if options is None else options.encode()), f"mount {target}")


def _drop_capabilities() -> None:
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    for capability in range(64):  # unknown ones are refused, which does no harm
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    _check(_libc.capset(struct.pack("Ii", _CAPABILITIES_V3, 0), bytes(24)), "capset")


def _bound(room: Room) -> None:
    for kind, most in (
        (resource.RLIMIT_AS, room.address_space),
        (resource.RLIMIT_CPU, room.cpu_seconds),
        (resource.RLIMIT_FSIZE, room.disk),
        (resource.RLIMIT_NOFILE, 128),
        (resource.RLIMIT_NPROC, room.processes),
        (resource.RLIMIT_STACK, 8 << 20),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        resource.setrlimit(kind, (most, most))


def _filter(program: bytes) -> None:
    """Load a seccomp program, which cannot be removed again."""
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxQ", len(program) // 8, ctypes.addressof(code))
    _check(_libc.prctl(_PR_SET_SECCOMP, 2, header, 0, 0), "seccomp")


def _check(failed: int, what: str) -> None:
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
