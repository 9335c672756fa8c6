"""The command line `grader`. Each module has the commands of one kind, one small function each."""

from __future__ import annotations

import atexit
import gc
import sys

from grader.cli import (  # noqa: F401 - each adds its commands
    author,
    collect,
    diary,
    exchange,
    gradescope,
    grading,
    pack,
    reports,
    similar,
    student,
    term,
)
from grader.cli.app import app
from grader.cli.plain import make_plain


def main() -> None:
    """The entry point of the command `grader`."""
    from grader.autograde.imports import skip_iri_grammar

    gc.set_threshold(50_000)  # most objects come from imports and are never freed
    atexit.register(gc.freeze)  # the operating system frees the memory faster than garbage collection would
    skip_iri_grammar()
    for stream in (sys.stdout, sys.stderr):
        make_plain(stream)
    app()
