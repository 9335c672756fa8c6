"""Fixtures for the attacks: a term with secrets."""

import os
import secrets
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "autograde"))  # small_course, right_work


@pytest.fixture(scope="session")
def token():
    """A secret word that only the grader may see. It is in every file that an attack might read."""
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

    from grader.grading.session import open_session

    return open_session(*term, CHAPTER)
