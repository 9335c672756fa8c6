"""Run one notebook as a user of its own, where no namespaces can be made.

`other_user.py` lets `enter.py` call `main` as root, with the descriptors SETUP REQUEST RESULT SOCKET…. The process
imports what it needs, gives up its permissions for good, and runs the notebook.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import NoReturn

from grader.autograde.inside import child, confine
from grader.autograde.inside.zygote import mapped, warm_up
from grader.codec import decode


def main() -> NoReturn:
    """Run the request and exit without waiting for anything that the notebook left running."""
    setup_fd, *descriptors = map(int, sys.argv[1:])
    with os.fdopen(setup_fd, "rb") as file:
        setup = decode(file.read())
    for name in setup["preload"]:
        importlib.import_module(name)
    warm_up(setup["preload"])
    room = confine.Room(
        address_space=mapped() + setup["memory"],
        disk=setup["disk"],
        files=setup["files"],
        processes=setup["processes"],
        cpu_seconds=setup["cpu_seconds"],
        cells_filter=setup["cells_filter"].tobytes(),
        hidden_filter=setup["hidden_filter"].tobytes(),
    )
    confine.lower(room, setup["user"], descriptors)
    with os.fdopen(confine.REQUEST, "rb") as file:
        request = file.read()
    sockets = range(confine.SOCKETS, confine.SOCKETS + len(descriptors) - 2)
    child.run(request, confine.RESULTS, sockets, lambda: confine.no_more_processes(room.hidden_filter))
    os._exit(0)
