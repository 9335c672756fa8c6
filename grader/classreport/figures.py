"""The numbers of a class report as typed values: points, exercises, mistakes. They are computed from stored results.

Scores are final points, which include an instructor's changes; whether an exercise passed is the checks' verdict.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import msgspec

from grader.checking.verdict import Status
from grader.gradebook.scores import ByStudent
from grader.grading.changes import Logged
from grader.grading.grade import Graded
from grader.grading.report import comparable, final_points
from grader.manifest import Chapter, Exercise, Manifest
from grader.messages import Messages
from grader.mistakes import title_of

BINS = 10
_NO_EXEMPTIONS: Mapping[str, Collection[str]] = MappingProxyType({})
STATUSES: tuple[Status, ...] = ("passed", "failed", "error", "timeout", "unimplemented", "missing")
_FOLLOWS = "needs"  # the diagnosis of an exercise that is wrong because it calls a wrong one
_EPSILON = 1e-9  # of points, which are sums of decimal fractions


class Bin(msgspec.Struct, frozen=True):
    """The number of students with low ≤ points < high; the last of `BINS` bins includes `high`. A bin that is open
    above, `high` None, has those with more points than the chapter gives, from extra credit.
    """

    low: float
    high: float | None
    students: int


class Distribution(msgspec.Struct, frozen=True):
    """The final points of all students, in increasing order, after late penalties, out of `due`. The quartiles are
    interpolated linearly; the deviation is that of the class, divided by n.
    """

    due: float
    points: tuple[float, ...]
    mean: float
    deviation: float
    lower_quartile: float
    median: float
    upper_quartile: float
    bins: tuple[Bin, ...]


class Attempts(msgspec.Struct, frozen=True):
    """The students whose points for an exercise are known to have changed after another submission, and how many of
    them have more or fewer points than before it.
    """

    students: int
    gained: int
    lost: int


class ExerciseFigures(msgspec.Struct, frozen=True):
    """The results of one exercise, of the students who have one.

    `statuses` counts them by the checks' verdict, `caused` those wrong for whom the checks found a likely cause, and
    `by_hand` those whose points an instructor changed. `submitted` of them submitted its notebook, or have points by
    hand without it; a missing notebook is not wrong, so what follows is of these alone. `share` is the mean share of
    the points and `difficulty` its complement; both are None without students. `discrimination` is the corrected
    point-biserial correlation with the share of the points for the other exercises that the student submitted; if it
    is None, `undefined` says why. `attempts` is None if no student is known to have submitted again.
    """

    id: str
    title: str
    notebook: str
    points: float
    students: int
    statuses: dict[Status, int]
    caused: int
    by_hand: int
    share: float | None
    difficulty: float | None
    discrimination: float | None
    undefined: str
    submitted: int
    attempts: Attempts | None = None

    @property
    def passed(self) -> int:
        return self.statuses["passed"]


class Mistake(msgspec.Struct, frozen=True):
    """A mistake in one exercise: `count` students make it, of the `of` who submitted its notebook. `short` is its
    title, a sentence, and `excerpts` is their code.
    """

    exercise: str
    title: str
    id: str
    message: str
    hint: str
    page: str
    address: str
    count: int
    of: int
    students: tuple[str, ...]
    excerpts: tuple[str, ...] = ()
    short: str = ""


def distribution(
    chapter: Chapter,
    results: Sequence[Graded],
    scores: ByStudent,
    exempt: Mapping[str, Collection[str]] = _NO_EXEMPTIONS,
) -> Distribution:
    """How the final points are distributed; those of a student who is exempt from some notebooks as a share of the
    others. There must be at least one result.
    """
    due = sum(item.points for item in chapter.items)
    points = sorted(comparable(chapter, graded, scores, exempt) for graded in results)
    low, median, high = statistics.quantiles(points, n=4, method="inclusive") if len(points) > 1 else points * 3
    return Distribution(
        due=due,
        points=tuple(points),
        mean=statistics.fmean(points),
        deviation=statistics.pstdev(points),
        lower_quartile=low,
        median=median,
        upper_quartile=high,
        bins=_bins(points, due),
    )


def _bins(points: Sequence[float], due: float) -> tuple[Bin, ...]:
    edges = [due * number / BINS for number in range(BINS + 1)]
    counts: Counter[int] = Counter()
    for value in points:
        inside = sum(value >= edge - _EPSILON for edge in edges[1:-1])
        counts[BINS if value > due + _EPSILON else inside] += 1
    bins = [Bin(low, high, counts[i]) for i, (low, high) in enumerate(pairwise(edges))]
    return (*bins, *([Bin(due, None, counts[BINS])] if counts[BINS] else []))


def exercise_figures(
    chapter: Chapter, results: Sequence[Graded], scores: ByStudent, log: Sequence[Logged]
) -> tuple[ExerciseFigures, ...]:
    """The results of each exercise, in the course's order. `log` has all changes of points of the chapter."""
    again = any("submission" in change.reasons for change in log)
    return tuple(
        _exercise(chapter, notebook.title, exercise, results, scores, log if again else None)
        for notebook in chapter.notebooks
        for exercise in notebook.exercises
    )


def _exercise(
    chapter: Chapter,
    notebook: str,
    exercise: Exercise,
    results: Sequence[Graded],
    scores: ByStudent,
    log: Sequence[Logged] | None,
) -> ExerciseFigures:
    having = [graded for graded in results if exercise.id in graded.by_exercise]
    verdicts = [graded.by_exercise[exercise.id] for graded in having]
    by_hand = {g.student for g in having if g.student in scores and scores[g.student].of(exercise.id).changed}
    submitted = [graded for graded in having if _submitted(graded, exercise.id) or graded.student in by_hand]
    own = [final_points(exercise.id, graded, scores) or 0.0 for graded in submitted]
    statuses = Counter(verdict.status for verdict in verdicts)
    share = statistics.fmean(own) / exercise.points if own else None
    rest = [_elsewhere(chapter, exercise, graded, scores) for graded in submitted]
    pairs = [(mine, other) for mine, other in zip(own, rest, strict=True) if other is not None]
    discrimination, undefined = correlation([mine for mine, _ in pairs], [other for _, other in pairs])
    return ExerciseFigures(
        id=exercise.id,
        title=exercise.title,
        notebook=notebook,
        points=exercise.points,
        students=len(having),
        statuses={status: statuses[status] for status in STATUSES},
        caused=sum(not verdict and verdict.diagnosis is not None for verdict in verdicts),
        by_hand=len(by_hand),
        share=share,
        difficulty=None if share is None else 1 - share,
        discrimination=discrimination,
        undefined=undefined,
        attempts=None if log is None else _attempts(exercise.id, log),
        submitted=len(submitted),
    )


def _elsewhere(chapter: Chapter, exercise: Exercise, graded: Graded, scores: ByStudent) -> float | None:
    """The share of the points that a student has for the other exercises of submitted notebooks; None without one."""
    others = [each for each in chapter.exercises if each.id != exercise.id and _submitted(graded, each.id)]
    due = sum(other.points for other in others)
    return sum(final_points(other.id, graded, scores) or 0.0 for other in others) / due if due else None


def _submitted(graded: Graded, exercise: str) -> bool:
    """Whether the student submitted the notebook of this exercise."""
    return exercise in graded.by_exercise and graded.by_exercise[exercise].status != "missing"


def correlation(own: Sequence[float], rest: Sequence[float]) -> tuple[float | None, str]:
    """Pearson's correlation, or None and the reason why it is undefined."""
    if len(own) < 2:
        return None, "fewer than two students"
    if max(own) - min(own) < _EPSILON:
        return None, "all students have the same points for it"
    if max(rest) - min(rest) < _EPSILON:
        return None, "all students have the same points for the other exercises"
    return statistics.correlation(own, rest), ""


def _attempts(exercise: str, log: Sequence[Logged]) -> Attempts:
    """What is known from the changes of points: a submission that changes none is not logged."""
    gains: dict[str, float] = {}
    for change in log:
        before, after = change.exercises.get(exercise, (None, None))
        if "submission" in change.reasons and before is not None and after is not None:
            gains[change.student] = gains.get(change.student, 0.0) + after - before
    return Attempts(
        len(gains), sum(gain > _EPSILON for gain in gains.values()), sum(gain < -_EPSILON for gain in gains.values())
    )


def mistakes(
    manifest: Manifest, chapter: Chapter, results: Sequence[Graded], messages: Mapping[str, Messages]
) -> tuple[Mistake, ...]:
    """The mistakes of the class, the most frequent first, then in the course's order and by id.

    A student's exercise counts for the one likely cause that the checks on hidden cases found, unless that is another
    exercise which is wrong.
    """
    found: dict[tuple[str, str], list[Graded]] = {}
    for graded in results:
        for name, verdict in graded.by_exercise.items():
            if verdict.diagnosis is not None and verdict.diagnosis.id != _FOLLOWS and name in messages:
                found.setdefault((name, verdict.diagnosis.id), []).append(graded)
    order = {exercise.id: number for number, exercise in enumerate(chapter.exercises)}
    of = {name: sum(_submitted(graded, name) for graded in results) for name in order}
    made = [
        _mistake(manifest, name, cause, having, of[name], messages[name])
        for (name, cause), having in found.items()
        if name in order
    ]
    return tuple(sorted(made, key=lambda each: (-each.count, order[each.exercise], each.id)))


def _mistake(
    manifest: Manifest, name: str, cause: str, having: Collection[Graded], of: int, messages: Messages
) -> Mistake:
    place = manifest.place(name)
    texts = Counter(d.text for graded in having if (d := graded.by_exercise[name].diagnosis) is not None)
    usual = min(texts, key=lambda text: (-texts[text], text))  # a pattern's text can depend on the submission
    own = messages.mistakes.get(cause)
    return Mistake(
        exercise=name,
        title=place.exercise.title,
        id=cause,
        message=own or usual,
        short=title_of(cause, own, usual),
        hint=" ".join(messages.hints[0].split()),
        page=place.page_title,
        address=f"{manifest.book_base}{place.page_address}" if manifest.book_base else "",
        count=len(having),
        of=of,
        students=tuple(sorted(graded.student for graded in having)),
    )
