"""The numbers of a class report, compared with NumPy's on classes made at random, and where they are undefined."""

import dataclasses
import itertools
from pathlib import Path

import numpy as np
import pytest

from grader.checking.evaluate import verdict
from grader.checking.verdict import Diagnosis
from grader.classreport.figures import STATUSES, correlation, distribution, exercise_figures, mistakes
from grader.gradebook.scores import Recorded, Score
from grader.grading.changes import Logged
from grader.grading.grade import Graded
from grader.manifest import load_manifest
from grader.released import Released

ROOT = Path(__file__).parents[2]
MANIFEST = load_manifest(ROOT / "course.toml")
CHAPTER = MANIFEST.chapter("ch01_vanilla_rnn")
EXERCISES = [exercise.id for exercise in CHAPTER.exercises]
MESSAGES = {name: Released(ROOT / "grader" / "data").messages(name) for name in EXERCISES}


def result(student, earned=None, causes=None, statuses=None, answers=None):
    """A stored result; exercises that are not named are right."""
    verdicts = {}
    for notebook in CHAPTER.notebooks:
        found = verdicts.setdefault(notebook.name, {})
        for exercise in notebook.exercises:
            name = exercise.id
            points = (earned or {}).get(name, exercise.points)
            status = (statuses or {}).get(name, "passed" if points == exercise.points else "failed")
            cause = (causes or {}).get(name)
            found[name] = dataclasses.replace(
                verdict(MANIFEST.place(name), status),
                earned=points,
                diagnosis=cause and Diagnosis(cause, f"Text of {cause}."),
            )
    return Graded(student, verdicts, answers=answers or {})


@pytest.fixture(scope="module")
def random_class():
    """Forty students with points at random, and what the gradebook has for some of them."""
    rng = np.random.default_rng(7)
    results, scores = [], {}
    for number in range(40):
        ability = rng.random()
        earned = {
            exercise.id: float(rng.choice([0, 0.3, 0.5, 1], p=[*[(1 - ability) / 3] * 3, ability])) * exercise.points
            for exercise in CHAPTER.exercises
        }
        results.append(result(f"s{number:02d}", earned))
        if number % 4 == 0:
            given = {EXERCISES[number % 8]: Score(manual=0.75), EXERCISES[1]: Score(extra=0.5)}
            scores[f"s{number:02d}"] = Recorded(given, late_penalty=0.25 * (number % 3))
    return results, scores


def table(results, scores):
    """Final points by student and exercise, found without the grader's functions."""
    points = np.array([[graded.by_exercise[name].earned for name in EXERCISES] for graded in results])
    for row, graded in enumerate(results):
        for name, score in scores.get(graded.student, Recorded()).scores.items():
            column = EXERCISES.index(name)
            points[row, column] = (points[row, column] if score.manual is None else score.manual) + score.extra
    return points


def test_exercises_agree_with_numpy(random_class):
    points = table(*random_class)
    for column, found in enumerate(exercise_figures(CHAPTER, *random_class, log=[])):
        due = CHAPTER.exercises[column].points
        rest = points.sum(axis=1) - points[:, column]
        assert found.share == pytest.approx(points[:, column].mean() / due)
        assert found.difficulty == pytest.approx(1 - points[:, column].mean() / due)
        assert found.discrimination == pytest.approx(np.corrcoef(points[:, column], rest)[0, 1])
        assert found.undefined == ""
        full = [graded.by_exercise[found.id].earned == due for graded in random_class[0]]
        assert found.passed == sum(full)  # by the checks, whatever an instructor changed
        assert (found.students, sum(found.statuses.values())) == (40, 40)
        assert tuple(found.statuses) == STATUSES
        assert found.attempts is None


def test_points_agree_with_numpy(random_class):
    results, scores = random_class
    late = np.array([scores[g.student].late_penalty if g.student in scores else 0.0 for g in results])
    totals = table(*random_class).sum(axis=1) - late
    found = distribution(CHAPTER, results, scores)
    assert found.due == sum(item.points for item in CHAPTER.items)
    assert found.points == pytest.approx(np.sort(totals))
    assert found.mean == pytest.approx(totals.mean())
    assert found.deviation == pytest.approx(totals.std())
    quartiles = np.percentile(totals, [25, 50, 75])
    assert (found.lower_quartile, found.median, found.upper_quartile) == pytest.approx(tuple(quartiles))
    counts, edges = np.histogram(totals, bins=10, range=(0, found.due))
    assert [each.students for each in found.bins] == counts.tolist()
    assert [each.low for each in found.bins] + [found.bins[-1].high] == pytest.approx(edges.tolist())


def test_points_at_edges_and_above_the_maximum():
    due = sum(exercise.points for exercise in CHAPTER.exercises)
    question = CHAPTER.questions[0]
    whole = due + question.points
    scores = {"a": Recorded({question.id: Score(manual=question.points)})}
    scores["b"] = Recorded({question.id: Score(manual=question.points, extra=1.5)})
    zero = dict.fromkeys(EXERCISES, 0.0)
    found = distribution(CHAPTER, [result("a"), result("b"), result("c", zero)], scores)
    assert found.points == (0, whole, whole + 1.5)
    assert [each.students for each in found.bins] == [1, *[0] * 8, 1, 1]
    assert (found.bins[-1].low, found.bins[-1].high) == (whole, None)


def test_every_edge_belongs_to_the_bin_above_it():
    """Also where the edge, a multiple of a tenth of the points, is not a binary fraction."""
    due = distribution(CHAPTER, [result("a")], {}).due
    for tenth in range(10):
        given = {"a": Recorded({EXERCISES[0]: Score(manual=tenth * due / 10)})}
        alone = result("a", dict.fromkeys(EXERCISES, 0.0))
        assert [each.students for each in distribution(CHAPTER, [alone], given).bins].index(1) == tenth


def test_one_student():
    points = distribution(CHAPTER, [result("a")], {})
    assert points.mean == points.median == points.lower_quartile == points.upper_quartile == points.points[0]
    assert points.deviation == 0
    for found in exercise_figures(CHAPTER, [result("a")], {}, []):
        assert (found.discrimination, found.undefined) == (None, "fewer than two students")
        assert (found.share, found.difficulty) == (1, 0)


def test_where_discrimination_is_undefined():
    first, *others = EXERCISES
    alike = exercise_figures(CHAPTER, [result("a"), result("b", {others[0]: 0.0})], {}, [])
    assert (alike[0].discrimination, alike[0].undefined) == (None, "all students have the same points for it")
    assert alike[1].undefined == "all students have the same points for the other exercises"
    both = exercise_figures(CHAPTER, [result("a"), result("b", {first: 0.0, others[0]: 0.0})], {}, [])
    assert both[0].discrimination == pytest.approx(1)


def test_sums_that_differ_by_rounding_alone_are_constant():
    assert correlation([0.1 + 0.2, 0.3], [1, 2])[0] is None
    assert correlation([1, 2], [0.1 + 0.2, 0.3])[0] is None


def test_an_exercise_without_results():
    without = [dataclasses.replace(result("a"), verdicts={}), dataclasses.replace(result("b"), verdicts={})]
    found = exercise_figures(CHAPTER, without, {}, [])[0]
    assert (found.students, found.share, found.difficulty, found.discrimination) == (0, None, None, None)


def without_notebook(graded, *names):
    """The result of a student who did not submit the notebooks of these exercises."""
    verdicts = {
        notebook: {
            name: dataclasses.replace(verdict(MANIFEST.place(name), "missing"), earned=0.0)
            if set(its) & set(names)
            else each
            for name, each in its.items()
        }
        for notebook, its in graded.verdicts.items()
    }
    return dataclasses.replace(graded, verdicts=verdicts)


def test_a_missing_notebook_is_not_wrong():
    """Of four students, two submit the first notebook: one has all points of its first exercise, one has half."""
    first, last = CHAPTER.exercises[0], CHAPTER.exercises[-1]
    assert first.id not in {exercise.id for exercise in CHAPTER.notebooks[-1].exercises}
    half = result("b", {first.id: first.points / 2, last.id: 0.0})
    absent = [without_notebook(result(name), first.id) for name in ("c", "d")]
    found = exercise_figures(CHAPTER, [result("a"), half, *absent], {}, [])
    assert (found[0].students, found[0].submitted, found[0].statuses["missing"]) == (4, 2, 2)
    assert (found[0].share, found[0].difficulty) == (0.75, 0.25)
    assert found[0].discrimination == pytest.approx(1)
    assert (found[-1].submitted, found[-1].share) == (4, 0.75)
    # the two without the first notebook have all points of what they submitted, as a has, so only b differs
    assert found[-1].discrimination == pytest.approx(1)
    absentees = exercise_figures(CHAPTER, absent, {}, [])[0]
    assert (absentees.submitted, absentees.share, absentees.difficulty) == (0, None, None)


def test_points_by_hand_for_a_missing_notebook_count():
    """An instructor graded what came by mail."""
    first = CHAPTER.exercises[0]
    given = {"c": Recorded({first.id: Score(manual=first.points / 2)})}
    found = exercise_figures(CHAPTER, [result("a"), without_notebook(result("c"), first.id)], given, [])[0]
    assert (found.submitted, found.by_hand, found.share) == (2, 1, 0.75)


def test_the_share_of_a_mistake_is_among_those_who_submitted():
    first = EXERCISES[0]
    cause = next(iter(MESSAGES[first].mistakes))
    wrong = result("a", {first: 0}, {first: cause})
    (found,) = mistakes(MANIFEST, CHAPTER, [wrong, result("b"), without_notebook(result("c"), first)], MESSAGES)
    assert (found.count, found.of) == (1, 2)


def test_mistakes_are_counted_by_student_and_exercise():
    first, second = EXERCISES[:2]
    cause, other = list(MESSAGES[first].mistakes)[:2]
    results = [
        result("a", {first: 0, second: 0}, {first: cause, second: "averaged"}),
        result("b", {first: 0, second: 0}, {first: cause, second: "needs"}),
        result("c", {first: 0}, {first: other}),
        result("d", {first: 0}),
        result("e"),
    ]
    for order in itertools.permutations(results):
        found = mistakes(MANIFEST, CHAPTER, order, MESSAGES)
        assert [(m.exercise, m.id, m.count, m.of, m.students) for m in found] == [
            (first, cause, 2, 5, ("a", "b")),
            (first, other, 1, 5, ("c",)),
            (second, "averaged", 1, 5, ("a",)),
        ]
    assert found[0].message == MESSAGES[first].mistakes[cause]
    assert found[-1].message == "Text of averaged."
    assert found[0].hint.split() == MESSAGES[first].hints[0].split()
    assert found[0].page == MANIFEST.place(first).page_title
    assert exercise_figures(CHAPTER, results, {}, [])[1].caused == 2


def change(student, before, after, reason):
    name = EXERCISES[0]
    return Logged("2026-01-01", student, (before, after), {name: (before, after)}, (reason,), f"{student}{after}", "1")


def test_attempts_are_those_that_the_log_knows():
    log = [change("a", None, 1.0, "first"), change("b", None, 0.0, "first")]
    assert exercise_figures(CHAPTER, [result("a")], {}, log)[0].attempts is None
    log += [change("a", 1.0, 0.0, "submission"), change("a", 0.0, 2.0, "submission")]
    log += [change("b", 0.0, 1.0, "checks"), change("c", 1.0, 0.5, "submission")]
    first, second, *_ = exercise_figures(CHAPTER, [result("a")], {}, log)
    assert (first.attempts.students, first.attempts.gained, first.attempts.lost) == (2, 1, 1)
    assert second.attempts.students == 0
