"""Requests for regrading and their answers: a file that the instructor keeps, and a section of feedback pages.

    [[request]]
    student = "4013"
    chapter = "ch01_vanilla_rnn"
    exercise = "rnn_step"  # or a question; leave it out for the chapter as a whole
    date = 2026-03-10
    request = "My bias has the right shape, I think."
    answer = "You are right: 2 points more."  # until there is one, the request is open

`TERM/regrades.toml` changes no points: those are given in formgrader, or by a corrected check.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Sequence
from datetime import date
from html import escape
from pathlib import Path

import msgspec

from grader.errors import ExpectedError
from grader.manifest import Chapter, Manifest
from grader.shown import harmless, named, one_form

NAME = "regrades.toml"


class RegradeError(ExpectedError):
    """`regrades.toml` contains a mistake; the message says in which request, and how to write it."""


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A request of one student about a chapter, or about one exercise or question of it; open without an answer."""

    student: str
    chapter: str
    request: str
    exercise: str = ""
    date: date | None = None
    answer: str = ""

    @property
    def is_open(self) -> bool:
        return not self.answer.strip()


def read_requests(term: Path, manifest: Manifest) -> tuple[Request, ...]:
    """All requests, in the file's order; none if there is no file. Raises RegradeError."""
    path = term / NAME
    try:
        tree = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return ()
    except ValueError as error:
        raise RegradeError(f"{path}: {error}. {_EXAMPLE}") from error
    entries = tree.pop("request", [])
    if tree or not isinstance(entries, list):
        raise RegradeError(
            f"{path} has {', '.join(tree) or 'a table request'}, but only [[request]] is read. {_EXAMPLE}"
        )
    return tuple(_request(path, number, each, manifest) for number, each in enumerate(entries, 1))


def _request(path: Path, number: int, entry: object, manifest: Manifest) -> Request:
    try:
        found = msgspec.convert(entry, Request)
    except msgspec.ValidationError as error:
        raise RegradeError(f"{path}: request {number}: {error}. {_EXAMPLE}") from error
    where = f"{path}: request {number}, of {named(found.student)}"
    chapters = {chapter.id: chapter for chapter in manifest.chapters}
    if found.chapter not in chapters:
        raise RegradeError(f"{where}: the course has no chapter {found.chapter!r}. It has {', '.join(chapters)}.")
    items = [item.id for item in chapters[found.chapter].items]
    if found.exercise and found.exercise not in items:
        raise RegradeError(f"{where}: {found.chapter} has no {found.exercise!r}. It has {', '.join(items)}.")
    return msgspec.structs.replace(found, student=one_form(found.student))


def without_student(requests: Sequence[Request], known: Collection[str]) -> list[str]:
    """The students of requests who are none of the `known` ones, so that no page shows their requests."""
    return list(dict.fromkeys(each.student for each in requests if each.student not in known))


_EXAMPLE = (
    'A request is written  [[request]]  and below it  student = "…", chapter = "…", request = "…"  and, if you like, '
    'exercise = "…", date = 2026-03-10, answer = "…", each on a line of its own.'
)


def requests_section(chapter: Chapter, requests: Sequence[Request]) -> str:
    """The requests of one student about a chapter, as a section of the feedback page; empty if there are none."""
    titles = {item.id: item.title for item in chapter.items}
    days = {each.date: f", {each.date.isoformat()}" if each.date else "" for each in requests}
    entries = "".join(
        f"<dt>{escape(titles.get(each.exercise, chapter.title))}{days[each.date]}</dt>\n"
        f"<dd>{escape(harmless(each.request.strip()))}</dd>\n"
        f"<dd><strong>Answer:</strong> {escape(harmless(each.answer.strip())) or 'not yet'}</dd>\n"
        for each in requests
    )
    if not entries:
        return ""
    return (
        '<section aria-labelledby="regrades">\n<h2 id="regrades">Your requests for regrading</h2>\n'
        f'<dl class="comments">\n{entries}</dl>\n</section>\n'
    )
