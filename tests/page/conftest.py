"""A page's Python under Node, with the packs that the book's build makes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.author.engine import engine_packs, find_node
from grader.author.in_page import exercise_pack
from grader.author.pinned import PinnedError, pinned
from grader.manifest import load_manifest
from tests.conftest import ROOT

COURSE = load_manifest(ROOT / "course.toml")
TORCH = {"CharLM", "Seq2Seq", "MapAttention", "AttentionDecoder"}
EXERCISES = [name for name in COURSE.places if name not in TORCH]
_AUTHORS = """
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, "/course")
for name in [each for each in sys.modules if each.partition(".")[0] == "grader"]:
    del sys.modules[name]  # from here on the course's own, which has what authors use
from tests.page import programs
"""


class Page:
    """A process that answers as the worker of a page does."""

    def __init__(self, folder: Path, *, authors: bool = False) -> None:
        node = find_node()
        assert node is not None
        command = [str(node), str(ROOT / "book" / "try_here" / "in_node.mjs"), str(folder)]
        self._process = subprocess.Popen(
            command + [str(ROOT)] * authors, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        if authors:
            self.ask(python=_AUTHORS + "None")

    def ask(self, **request: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def run(self, code: str, exercise: str | None = None, *before: str) -> dict[str, Any]:
        """Run code as the button of a page does, and check the exercise if one is named."""
        pieces = [["<set-up>", piece] for piece in before]
        request = {"exercise": exercise, "name": exercise or "code", "before": pieces, "code": code}
        answer: dict[str, Any] = self.ask(run=request)
        return answer

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="session")
def packs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packs of Python, of `grader` and of every exercise."""
    try:
        pins = pinned(ROOT)
    except PinnedError as error:
        pytest.fail(str(error), pytrace=False)
    folder = tmp_path_factory.mktemp("packs")
    for pack in engine_packs(ROOT, pins):
        pack.write(folder)
    for name in EXERCISES:
        exercise_pack(ROOT, COURSE, COURSE.place(name)).write(folder)
    return folder


@pytest.fixture(scope="module")
def page(packs: Path) -> Iterator[Page]:
    made = Page(packs)
    yield made
    made.close()


@pytest.fixture(scope="module")
def authors_page(packs: Path) -> Iterator[Page]:
    """The same, with the course's folder, from which it takes the programs of the exercises."""
    made = Page(packs, authors=True)
    yield made
    made.close()
