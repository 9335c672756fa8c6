"""Test the sandbox on this machine before a class is graded: a small notebook tries what must not work.

It reads a file in the term folder, opens a socket, forks while hidden cases run, writes outside its own disk, and also
defines one correct function. If any of these has an unexpected result, nothing is graded.
"""

from __future__ import annotations

import secrets
from pathlib import Path

import numpy as np

from grader.checking.case import Case
from grader.files import private_folder
from grader.inside.frames import Cell, ExerciseCases, Request
from grader.manifest import Limits, load_manifest
from grader.running.processes import WorkerError
from grader.running.runner import run_submission
from grader.running.sandbox import Sandbox, SandboxError
from grader.running.trial import Outcome

_TRY = """
def tried(action):
    try:
        return f"{action()!r} was possible"
    except OSError as error:
        return type(error).__name__
"""
_CELLS = {
    "a file beside the class is read": "tried(lambda: open({canary!r}).read())",
    "a socket is opened": "tried(lambda: __import__('socket').socket())",
    "the root folder is written": "tried(lambda: open('/written', 'w'))",
    "the Python that all share is written": "tried(lambda: open(__import__('numpy').__file__, 'a'))",
    "other processes are seen": "tried(lambda: open('/proc/1/status').read())",
}
_HONEST = "def honest(x):\n    return 2 * x"
_FORK = """
def forks(x):
    import os
    try:
        child = os.fork()
    except OSError:
        return 0 * x
    if child == 0:
        os._exit(0)
    return x
"""


def prove(root: Path, term: Path, chapter_id: str) -> None:
    """Test the sandbox with this chapter's limits. Raises SandboxError, which says what is not prevented."""
    manifest = load_manifest(root / "course.toml")
    limits = manifest.limits(manifest.chapter(chapter_id))
    word = secrets.token_hex(16)
    canary = term.resolve() / "hidden" / f"canary-{word}"
    private_folder(term)
    private_folder(canary.parent)
    canary.write_text(word)
    try:
        with Sandbox(limits, hide=(root, term)) as sandbox:
            outcome = run_submission(_request(canary, limits), sandbox)
    except WorkerError as error:
        raise SandboxError(f"The sandbox does not work on this machine: {error}") from error
    finally:
        canary.unlink()
    broken = _broken(outcome, word)
    if broken:
        raise SandboxError(
            f"The sandbox is not secure on this machine: {'; '.join(broken)}. Nothing was graded. "
            "The book's page `Grade a class` says what the sandbox needs."
        )


def _request(canary: Path, limits: Limits) -> Request:
    sources = [_TRY, *(source.format(canary=str(canary)) for source in _CELLS.values()), _HONEST, _FORK]
    cells = [Cell(index, source) for index, source in enumerate(sources)]
    cells += [Cell(len(cells), "", "honest"), Cell(len(cells) + 1, "", "forks")]
    cases = ExerciseCases("call", (), (Case({}, {"x": np.array([1.5, -2.0])}),))
    return Request(cells=tuple(cells), cases={"honest": cases, "forks": cases}, limits=limits)


def _broken(outcome: Outcome, word: str) -> list[str]:
    """The attempts with an unexpected result."""
    broken = []
    for index, what in enumerate(_CELLS, 1):
        end = outcome.ends.get(index)
        refused = end is not None and end.value is not None and end.value.strip("'\"").isidentifier()
        if end is None or not refused or word in f"{end.value}{end.printed}":
            broken.append(f"{what} ({end.value or end.raised if end else 'the cell did not end'})")
    for name, what, due in (
        ("honest", "a correct function gives a wrong result", np.array([3.0, -4.0])),
        ("forks", "a process is started while hidden cases run", np.array([0.0, 0.0])),
    ):
        seen = next(iter(outcome.observations.get(name, ())), None)
        if seen is None or not isinstance(seen.result, np.ndarray) or not np.array_equal(seen.result, due):
            broken.append(f"{what} ({[fault.text for fault in outcome.faults] or seen})")
    return broken
