"""The command line `grader`. Each module has the commands of one kind, one small function each.

`student` and `diary` (students) · `grading`, `reports`, `similar`, `collect`, `term`, `lms` (rosters, exports), `exam`
and `gradescope` (instructors) · `author` and `pack` (authors); `app` is what they share, `plain` has similar characters
for an output whose encoding lacks ✓ or ›.

A command reads its options, calls, and prints; it decides nothing. `graded` prints what `grader autograde` finds.
`commands` imports all commands. This module imports little, so that Ctrl-C during the imports is answered too.
"""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """The entry point of the command `grader`."""
    stopped: tuple[type[BaseException], ...] = (KeyboardInterrupt,)
    try:
        from grader.cli.app import Stopped

        stopped = (KeyboardInterrupt, Stopped)
        _run()
    except stopped as error:
        if isinstance(error, KeyboardInterrupt):
            print("Stopped.", file=sys.stderr)
        from grader.grading.watched import end_at_once

        end_at_once()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # everything is done, and Python only has to end


def _run() -> None:
    import atexit
    import gc

    from grader.cli.commands import app
    from grader.cli.plain import make_plain
    from grader.imports import skip_iri_grammar

    gc.set_threshold(50_000)  # most objects come from imports and are never freed
    atexit.register(gc.freeze)  # the operating system frees the memory faster than garbage collection would
    skip_iri_grammar()
    for stream in (sys.stdout, sys.stderr):
        make_plain(stream)
    app()
