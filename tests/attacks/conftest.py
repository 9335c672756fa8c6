"""The attacks of `corpus/`, and what they are let loose on: a term full of secrets, and one warm sandbox for all."""

import os
import re
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "autograde"))  # small_course, right_work

CORPUS = Path(__file__).with_name("corpus")
PLACES = ("start", "rnn_step", "rnn_forward", "end", "next")


@dataclass(frozen=True)
class Attack:
    """One file of the corpus.

    Its docstring says what it tries and what must happen, then in lines of their own: the `Points` that rnn_step and
    rnn_forward end with, what must be `Seen` in what came of it (so that it was really tried), and the `Seconds` that
    it may take at most. `cells` are its cells by the place where they go: at the `start` or the `end` of the notebook,
    as an exercise's cell, or into the notebook of the `next` student. rnn_step is not solved where no cell stands for
    it; rnn_forward is.
    """

    name: str
    tries: str
    points: tuple[float, float]
    seen: tuple[str, ...]
    seconds: float
    cells: dict[str, str]


def read_attack(path: Path) -> Attack:
    head, *parts = re.split(r"^# %% (\w+)\n", path.read_text("utf-8"), flags=re.MULTILINE)
    said = head.strip().strip('"')
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r"^(Must|Points|Seen|Seconds): (.+)$", said, re.MULTILINE):
        fields.setdefault(name, []).append(value)
    assert fields.keys() >= {"Must", "Points", "Seen"}, f"{path.name}: say what must happen, the points, what is seen"
    assert set(parts[::2]) <= set(PLACES), f"{path.name}: places are {PLACES}"
    step, forward = map(float, fields["Points"][0].split(","))
    return Attack(
        path.stem,
        said,
        (step, forward),
        tuple(fields["Seen"]),
        float(fields.get("Seconds", ["6"])[0]),
        dict(zip(parts[::2], parts[1::2], strict=True)),
    )


ATTACKS = [read_attack(path) for path in sorted(CORPUS.glob("*.py"))]


@pytest.fixture(scope="session")
def token():
    """A word that nobody but the grader may see. It is planted wherever there is something to read."""
    return f"canary-{secrets.token_hex(16)}"


@pytest.fixture(scope="session", autouse=True)
def in_the_environment(token):
    os.environ["UNROLLED_SECRET"] = token
    yield
    del os.environ["UNROLLED_SECRET"]


@pytest.fixture(scope="session")
def term(token, tmp_path_factory):
    """A term in which every kind of secret holds the token, and its course: (root, term)."""
    from small_course import CHAPTER, write_small_course

    root, term = write_small_course(tmp_path_factory.mktemp("course")), tmp_path_factory.mktemp("term")
    other = term / "submitted" / "other" / CHAPTER
    other.mkdir(parents=True)
    (term / "hidden").mkdir(mode=0o700)
    for path in (term / "hidden/notes", term / "gradebook.db", other / "recurrence.ipynb"):
        path.write_text(token)
    for path in (root / "solutions").rglob("*.py"):
        path.write_text(f"{path.read_text()}\n# {token}\n")
    return root, term


@pytest.fixture(scope="session")
def session(term):
    from small_course import CHAPTER

    from grader.autograde.session import open_session

    return open_session(*term, CHAPTER)
