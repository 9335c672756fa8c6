"""`grader progress`: the course as a map of what is done, started and open, from the student's diary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from grader.counts import counted, number
from grader.journal import Entry
from grader.manifest import Chapter, Exercise, Manifest, Place
from grader.render.text import wrapped

State = Literal["done", "started", "open"]

SIGNS: dict[State, str] = {"done": "✓", "started": "◐", "open": "○"}
NARROW = 60  # columns: below this, titles are left out


@dataclass(frozen=True)
class Standing:
    """How far an exercise is. The latest check decides the state and the points `earned`; `best` is the most points of
    any check. Both are parts of the points that the exercise has now.
    """

    exercise: Exercise
    state: State = "open"
    earned: float = 0.0
    best: float = 0.0


def standings(manifest: Manifest, entries: Iterable[Entry]) -> dict[str, Standing]:
    """The standing of every exercise of the course, in its order. A check of an unchanged stub does not count as a
    start.
    """
    checks: dict[str, list[Entry]] = {}
    for entry in entries:
        checks.setdefault(entry.exercise, []).append(entry)
    return {name: _standing(place.exercise, checks.get(name, [])) for name, place in manifest.places.items()}


def _standing(exercise: Exercise, checks: Sequence[Entry]) -> Standing:
    tried = [entry for entry in checks if entry.status != "unimplemented"]
    if not tried:
        return Standing(exercise)
    earned = [exercise.points * entry.earned / entry.points if entry.points else 0.0 for entry in checks]
    state: State = "done" if checks[-1].status == "passed" else "started"
    return Standing(exercise, state, earned[-1], max(earned))


def next_step(
    manifest: Manifest, found: Mapping[str, Standing], chapters: Sequence[Chapter], latest: str
) -> Place | None:
    """The exercise to do next in these chapters: the first that is not done and builds only on exercises that are.

    It is looked for first in the chapter of the exercise that was checked latest, then from the first chapter on.
    """
    here = manifest.places[latest].chapter if latest in manifest.places else None
    ordered = sorted(chapters, key=lambda chapter: chapter != here)
    for chapter in ordered:
        for exercise in chapter.exercises:
            ready = all(found[name].state == "done" for name in exercise.needs)
            if found[exercise.id].state != "done" and ready:
                return manifest.places[exercise.id]
    return None


def map_lines(
    manifest: Manifest, found: Mapping[str, Standing], chapters: Sequence[Chapter], latest: str, width: int
) -> list[str]:
    """The map in lines of at most `width` columns. With several chapters, exercises are listed only for those that
    have been started.
    """
    lines: list[str] = []
    for chapter in chapters:
        its = [found[exercise.id] for exercise in chapter.exercises]
        lines += _wrapped(f"{chapter.title} ({chapter.id})", width)
        lines += _wrapped(_summary(its), width, "  ")
        if len(chapters) == 1 or any(each.state != "open" for each in its):
            lines += _exercise_lines(chapter, found, width)
        lines.append("")
    if len(chapters) > 1:
        lines += _wrapped(f"All chapters: {_summary(list(found.values()))}", width, "", "  ")
    place = next_step(manifest, found, chapters, latest)
    if place is None:
        return [*lines, *_wrapped("All exercises are done.", width)]
    lines += _wrapped(f"Next: {place.exercise.id} ({place.exercise.title})", width, "", "  ")
    lines += _wrapped(f"notebook: {notebook_file(place)}", width, "  ", "    ")
    lines += _wrapped(f"page: {place.page_title}", width, "  ", "    ")
    return lines


def _summary(its: Sequence[Standing]) -> str:
    counts = ", ".join(f"{SIGNS[state]} {sum(each.state == state for each in its)} {state}" for state in SIGNS)
    earned, points = sum(each.earned for each in its), sum(each.exercise.points for each in its)
    return f"{counts}; {number(earned)} of {number(points)} points"


def _exercise_lines(chapter: Chapter, found: Mapping[str, Standing], width: int) -> list[str]:
    longest = max((len(exercise.id) for exercise in chapter.exercises), default=0)
    lines = []
    usual = [_exercise_line(Standing(exercise), longest, exercise.title) for exercise in chapter.exercises]
    titled = width >= NARROW and all(len(line) <= width for line in usual)  # all or none, but for a long `best`
    for notebook in chapter.notebooks:
        if notebook.exercises or notebook.questions:
            lines += _wrapped(f"{notebook.name}.ipynb", width, "  ")
        for exercise in notebook.exercises:
            each = found[exercise.id]
            line = _exercise_line(each, longest)
            with_title = _exercise_line(each, longest, exercise.title)
            if titled and len(with_title) <= width:
                lines.append(with_title)
            elif len(line) <= width:
                lines.append(line)
            else:
                lines += _wrapped(f"{SIGNS[each.state]} {exercise.id}", width, "    ", "      ")
                lines += _wrapped(f"{each.state}, {_points(each)}", width, "      ")
        for question in notebook.questions:
            points = counted(question.points, "point")
            lines += _wrapped(f"? {question.id}: graded by your instructor, {points}", width, "    ", "      ")
    return lines


def _exercise_line(each: Standing, longest: int, title: str = "") -> str:
    line = f"    {SIGNS[each.state]} {each.state:<7}  {each.exercise.id:<{longest}}  {_points(each)}"
    return f"{line}   {title}" if title else line


def _points(each: Standing) -> str:
    best = f" (best: {number(each.best)})" if each.best > each.earned else ""
    return f"{number(each.earned)} / {number(each.exercise.points)}{best}"


_wrapped = partial(wrapped, cut=True)  # no line may be longer than a narrow terminal


def notebook_file(place: Place) -> str:
    """Where the exercise's notebook is in the students' folder."""
    return f"exercises/{place.chapter.id}/{place.notebook.name}.ipynb"


def map_tree(
    manifest: Manifest, found: Mapping[str, Standing], chapters: Sequence[Chapter], latest: str
) -> dict[str, Any]:
    """The same for another program."""
    place = next_step(manifest, found, chapters, latest)
    return {
        "format": 1,
        "chapters": [
            {
                "id": chapter.id,
                "title": chapter.title,
                "exercises": [
                    _tree(manifest.places[exercise.id], found[exercise.id]) for exercise in chapter.exercises
                ],
            }
            for chapter in chapters
        ],
        "next": None if place is None else place.exercise.id,
    }


def _tree(place: Place, standing: Standing) -> dict[str, Any]:
    return {
        "id": place.exercise.id,
        "title": place.exercise.title,
        "notebook": notebook_file(place),
        "page": place.page_address,
        "state": standing.state,
        "earned": standing.earned,
        "best": standing.best,
        "points": place.exercise.points,
    }
