"""The warm process: it imports NumPy once, and every notebook runs in an isolated copy of it.

Inside bubblewrap, `enter.py` calls `main` with the descriptor CONTROL, as `sandbox.py` specifies. The process holds no
secrets and reads no requests: it only passes descriptors on to the copy. On the control socket it receives, as trees of
`grader.codec`, first the setup and the cells to prepare, then for each notebook `run` with descriptors, possibly `stop`
(end the cells; their forks continue) and `state`, and `end`. It answers the last two with the state of the processes.
"""

from __future__ import annotations

import gc
import importlib
import os
import resource
import select
import signal
import socket
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from grader.codec import decode, encode
from grader.inside import child, confine
from grader.inside.confine import MESSAGE
from grader.inside.statements import prepare
from grader.inside.usage import Activity, Growth, activity, everyone, memory, page_faults

DESCRIPTORS = 250  # SCM_MAX_FD is 253
WATCH_SECONDS = 0.1
BUBBLEWRAP = 1  # its process


def main() -> NoReturn:
    """Set up, then serve one notebook after another until the other end is closed."""
    control = socket.socket(fileno=int(sys.argv[1]))
    setup = decode(control.recv(MESSAGE))
    if setup["user"] is not None:
        confine.become(setup["user"])
    confine.small_pages()
    room = warmed_up(setup)
    own = memory([os.getpid()])
    control.send(encode("ready"))
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, MESSAGE, DESCRIPTORS)
        if not message:
            os._exit(0)
        match decode(message):
            case "run":
                growth = Growth(own + setup["memory"], setup["disk"], own, page_faults())
                _serve(control, room, descriptors, growth)
            case ("prepare", source, filename):
                prepare(source, filename)


def warmed_up(setup: dict[str, Any]) -> confine.Room:
    """Import what notebooks need, and return the limits of one notebook, which apply on top of that."""
    for name in setup["preload"]:
        importlib.import_module(name)
    _warm_up(setup["preload"])
    return confine.Room(
        address_space=_mapped() + setup["memory"],
        disk=setup["disk"],
        files=setup["files"],
        processes=setup["processes"],
        cpu_seconds=setup["cpu_seconds"],
        cells_filter=setup["cells_filter"].tobytes(),
        hidden_filter=setup["hidden_filter"].tobytes(),
    )


def run_notebook(room: confine.Room, descriptors: Sequence[int]) -> None:
    """Run the request in a process whose permissions have been taken away, which has these descriptors from 3 on."""
    with os.fdopen(confine.REQUEST, "rb") as file:
        request = file.read()
    sockets = range(confine.SOCKETS, confine.SOCKETS + len(descriptors) - 2)
    child.run(request, confine.RESULTS, sockets, lambda: confine.no_more_processes(room.hidden_filter))


def _warm_up(preloaded: list[str]) -> None:
    """Do the one-time initialisation that each submission would otherwise repeat."""
    a = np.ones((2, 2))
    a @ a
    np.random.default_rng(0)
    if "torch" in preloaded:
        _warm_up_torch()
    warnings.filterwarnings("default")
    gc.collect()
    gc.freeze()


def _warm_up_torch() -> None:
    """Initialise PyTorch with one thread from now on: forks have no copies of pool threads, so waiting for those would
    never end.
    """
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    rnn = torch.nn.GRU(2, 2, batch_first=True)
    states, _ = rnn(torch.ones(1, 2, 2))
    torch.autograd.grad(states, [*rnn.parameters()], torch.ones_like(states))  # the first one imports 480 modules
    torch.nn.functional.embedding(torch.zeros(1, dtype=torch.int64), torch.ones(2, 2))


def _mapped() -> int:
    """The address space of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _serve(control: socket.socket, room: confine.Room, descriptors: list[int], growth: Growth) -> None:
    """Run one notebook until the message `end`. `growth` watches its memory, including that of this process."""
    complaints = os.memfd_create("complaints")
    first, broken, too_much = 0, "", False
    try:
        first = confine.enclosed(room, descriptors, complaints, lambda: run_notebook(room, descriptors))
    except OSError as error:
        broken = str(error)
    for each in descriptors:
        os.close(each)
    while True:
        ready, _, _ = select.select([control], [], [], WATCH_SECONDS)
        message = control.recv(MESSAGE) if ready else None
        if message == b"":
            os._exit(0)  # the grader has exited; exiting here ends all child processes too
        word = decode(message) if message else "watch"
        if word in ("watch", "state") and first and not too_much and growth.is_too_much(_all()):
            too_much = True
            _kill(first, signal.SIGKILL)
        if word == "stop":
            _kill(first, signal.SIGTERM)
        if word == "end":
            _kill(first, signal.SIGKILL)
        if word not in ("state", "end"):
            continue
        broken = broken or os.pread(complaints, MESSAGE // 2, 0).decode("utf-8", "replace")
        seen = activity(_of_the_notebook()) if word == "state" else Activity()
        control.send(encode({"broken": broken, "memory": too_much, "cpu": seen.cpu, "waiting": seen.waiting}))
        if word == "end":  # the grader need not wait until the kernel has cleaned up, but the next notebook has to
            _ended(first)
            os.close(complaints)
            return


def _kill(first: int, number: signal.Signals) -> None:
    if first:
        with suppress(ProcessLookupError):
            os.kill(first, number)


def _ended(first: int) -> None:
    if first:
        os.waitpid(first, 0)


def _of_the_notebook() -> list[int]:
    return [process for process in everyone() if process not in (BUBBLEWRAP, os.getpid())]


def _all() -> list[int]:
    """This process and the notebook's."""
    return [os.getpid(), *_of_the_notebook()]
