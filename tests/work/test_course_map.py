"""`grader progress`: the map of the course, from diaries that are written here."""

import json

import msgspec
import pytest

from grader.journal import Entry
from grader.manifest import load_manifest
from grader.work.map import map_lines, next_step, standings
from tests.work.student_folder import ROOT

MANIFEST = load_manifest(ROOT / "course.toml")
CHAPTER = MANIFEST.chapter("ch01_vanilla_rnn")


def entry(exercise, status, earned, points=2.0):
    return Entry("2026-03-01T12:00:00+00:00", exercise, status, earned, points)


PASSED, FAILED = entry("rnn_step", "passed", 2.0), entry("rnn_step", "failed", 0.5)
STUB = entry("rnn_step", "unimplemented", 0.0)


@pytest.mark.parametrize(
    ("entries", "state", "earned", "best"),
    [
        ([], "open", 0, 0),
        ([STUB], "open", 0, 0),
        ([FAILED], "started", 0.5, 0.5),
        ([FAILED, STUB], "started", 0, 0.5),
        ([FAILED, PASSED], "done", 2, 2),
        ([PASSED, FAILED], "started", 0.5, 2),  # it was changed, and is wrong now
        ([entry("rnn_step", "timeout", 0.0)], "started", 0, 0),
        ([entry("rnn_step", "passed", 4.0, points=4.0)], "done", 2, 2),  # it had 4 points in another version
        ([entry("of_another_course", "passed", 9.0)], "open", 0, 0),
    ],
)
def test_the_latest_check_decides(entries, state, earned, best):
    found = standings(MANIFEST, entries)["rnn_step"]
    assert (found.state, found.earned, found.best) == (state, earned, best)


def step_after(*entries, chapters=MANIFEST.chapters):
    place = next_step(MANIFEST, standings(MANIFEST, entries), chapters, entries[-1].exercise if entries else "")
    return place and place.exercise.id


def test_the_next_exercise():
    first = MANIFEST.chapters[0].exercises
    assert step_after() == first[0].id
    assert step_after(PASSED) == "rnn_forward"  # the chapter of the latest check first
    assert step_after(FAILED) == "rnn_step"  # what is started and wrong comes before what is open
    assert step_after(FAILED, chapters=MANIFEST.chapters[:1]) == first[0].id
    whole = [entry(exercise.id, "passed", exercise.points, exercise.points) for exercise in CHAPTER.exercises]
    assert step_after(*whole) == first[0].id
    every = [entry(name, "passed", 1.0, 1.0) for name in MANIFEST.places]
    assert step_after(*every) is None
    assert map_lines(MANIFEST, standings(MANIFEST, every), MANIFEST.chapters, "", 80)[-1] == "All exercises are done."


def test_an_exercise_waits_for_those_that_it_builds_on():
    """`embed` needs `one_hot`: as long as that is wrong, it comes first, wherever both stand."""
    chapter = MANIFEST.chapters[0]
    assert MANIFEST.place("embed").exercise.needs == ("one_hot",)
    others = [entry(e.id, "passed", e.points, e.points) for e in chapter.exercises if e.id not in ("embed", "one_hot")]
    assert step_after(*others) == "one_hot"
    assert step_after(*others, entry("one_hot", "passed", 1.0, 1.0)) == "embed"


CHAPTER_MAP = """\
The vanilla RNN (ch01_vanilla_rnn)
  ✓ 1 done, ◐ 1 started, ○ 6 open; 2.5 of 15 points
  recurrence.ipynb
    ✓ done     rnn_step              2 / 2   One step of the recurrence
    ◐ started  rnn_forward           0.5 / 2 (best: 2)
  unrolling.ipynb
    ○ open     concatenated_weights  0 / 1   One weight matrix instead of two
    ○ open     classify_last         0 / 2   Classifying a whole sequence
  predictions.ipynb
    ○ open     softmax               0 / 1   The softmax
    ○ open     sequence_loss         0 / 2   The cross-entropy of a sequence
  writing.ipynb
    ○ open     sample_id             0 / 2   Sampling one token
    ○ open     generate              0 / 3   Generating text
  capstone.ipynb
    ? why_it_writes: graded by your instructor, 2 points

Next: rnn_forward (The forward pass over a sequence)
  notebook: exercises/ch01_vanilla_rnn/recurrence.ipynb
  page: The vanilla RNN › One step of a recurrent network
"""
DIARY = [PASSED, entry("rnn_forward", "passed", 2.0), entry("rnn_forward", "failed", 0.5)]


@pytest.fixture
def written(diary):
    diary.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in DIARY) + b'{"at": "cut o')


def test_the_map_of_a_chapter(grader, written):
    assert grader("progress", CHAPTER.id)[:2] == (0, CHAPTER_MAP)


def test_the_map_of_the_course(grader, written):
    status, output, _ = grader("progress")
    lines = output.splitlines()
    assert status == 0
    for chapter in MANIFEST.chapters:
        assert f"{chapter.title} ({chapter.id})" in lines
    points = sum(place.exercise.points for place in MANIFEST.places.values())
    count = len(MANIFEST.places)
    assert f"All chapters: ✓ 1 done, ◐ 1 started, ○ {count - 2} open; 2.5 of {points:g} points" in lines
    assert "    ✓ done     rnn_step              2 / 2   One step of the recurrence" in lines
    assert not any("lstm_step" in line for line in lines)  # its chapter is not begun
    assert "Next: rnn_forward (The forward pass over a sequence)" in lines


@pytest.mark.parametrize("width", [20, 30, 45, 60, 80])
def test_no_line_is_wider_than_the_terminal(width):
    found = standings(MANIFEST, DIARY)
    lines = map_lines(MANIFEST, found, MANIFEST.chapters, "rnn_forward", width)
    assert max(map(len, lines)) <= width
    assert "rnn_forward" in "".join("".join(lines).split())


def test_the_map_for_another_program(grader, written):
    status, output, _ = grader("progress", CHAPTER.id, "--json")
    tree = json.loads(output)
    assert (status, tree["format"], tree["next"], len(tree["chapters"])) == (0, 1, "rnn_forward", 1)
    step, forward, *others = tree["chapters"][0]["exercises"]
    assert step == {
        "id": "rnn_step",
        "title": "One step of the recurrence",
        "notebook": "exercises/ch01_vanilla_rnn/recurrence.ipynb",
        "page": "book/ch01_vanilla_rnn/one_step.html#exercise-rnn_step",
        "state": "done",
        "earned": 2.0,
        "best": 2.0,
        "points": 2.0,
    }
    assert (forward["state"], forward["earned"], forward["best"]) == ("started", 0.5, 2.0)
    assert {other["state"] for other in others} == {"open"}


def test_no_diary_and_an_unknown_chapter(grader, monkeypatch):
    assert "✓ 0 done, ◐ 0 started" in grader("progress")[1]
    monkeypatch.setenv("UNROLLED_DIARY", "")
    status, _, error = grader("progress")
    assert (status, error) == (0, "The diary is turned off, because UNROLLED_DIARY is empty.\n")
    status, _, error = grader("progress", "ch01_vanila")
    assert status == 1
    assert "There is no chapter 'ch01_vanila'. Near it: ch01_vanilla_rnn" in error
