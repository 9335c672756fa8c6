"""Run one notebook as a user of its own, where no namespaces can be made.

`other_user.py` lets `enter.py` call `main` as root, with the descriptors SETUP REQUEST RESULT SOCKET…. The process
imports what it needs, gives up its permissions for good, and runs the notebook.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from grader.codec import decode
from grader.inside import confine
from grader.inside.zygote import run_notebook, warmed_up


def main() -> NoReturn:
    """Run the request and exit without waiting for anything that the notebook left running."""
    setup_fd, *descriptors = map(int, sys.argv[1:])
    with os.fdopen(setup_fd, "rb") as file:
        setup = decode(file.read())
    room = warmed_up(setup)
    confine.lower(room, setup["user"], descriptors)
    run_notebook(room, descriptors)
    os._exit(0)
