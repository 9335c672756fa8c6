"""Terms of tests have one seed, and the hidden cases of an exercise are computed once for all of them.

Each test that grades makes a term of its own, for which a process would compute the hidden cases of a chapter. A result
is found under the hash of all that it comes from, so a test that changes the course still gets its own. Tests of the
seed and of that process use the fixture `own_hidden`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from grader.codec import decode, encode
from grader.files import PRIVATE, private_folder, write_whole
from grader.grading import hidden
from grader.manifest import Chapter
from grader.spec.kept import KEPT

SEED = b"2718281828459045235"
_FOLDER = Path(__file__).parents[1] / KEPT / "terms"
_REAL = hidden.hidden_seed, hidden._up_to_date


def _hidden_seed(term: Path) -> int:
    seed = term / "hidden" / "seed"
    if not seed.exists():
        private_folder(term)
        private_folder(seed.parent)
        write_whole(seed, SEED, PRIVATE)
    return _REAL[0](term)


def _up_to_date(term: Path, chapter: Chapter, states: Mapping[str, str]) -> hidden.Trees:
    trees = _REAL[1](term, chapter, states)
    files = {name: _FOLDER / f"{state}.msgpack" for name, state in states.items()}
    for name in trees:
        if not files[name].exists():
            write_whole(files[name], encode(list(trees[name])))
    if len(trees) < len(states) and all(path.exists() for path in files.values()):
        found: dict[str, Any] = {name: tuple(decode(path.read_bytes())) for name, path in files.items()}
        hidden._write(term, chapter, states, found)
        return found
    return trees


def share() -> None:
    hidden.hidden_seed, hidden._up_to_date = _hidden_seed, _up_to_date


@pytest.fixture
def own_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Terms whose seeds are made and whose cases are computed as those of an instructor."""
    for name, function in zip(("hidden_seed", "_up_to_date"), _REAL, strict=True):
        monkeypatch.setattr(hidden, name, function)
