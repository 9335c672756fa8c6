"""The manifest: mistakes name file and line, unknown ids name the ids near them."""

import re
from pathlib import Path

import pytest

from grader.manifest import Limits, ManifestError, UnknownIdError, load_manifest

COURSE = """\
title = "A course"
[autograde]
seconds_per_exercise = 3
output_bytes = 5000
[[chapters]]
id = "ch01"
title = "One"
pages = { start = "The start", loop = "The loop" }
[[chapters.notebooks]]
name = "first"
title = "First"
[[chapters.notebooks.exercises]]
id = "rnn_step"
title = "Step"
points = 2
page = "start"
[[chapters.notebooks.exercises]]
id = "rnn_forward"
title = "Forward"
points = 1.5
needs = ["rnn_step"]
page = "loop"
[[chapters]]
id = "ch02"
title = "Two"
pages = { deep = "Deep" }
autograde = { seconds_per_exercise = 0.5 }
[[chapters.notebooks]]
name = "first"
title = "First of two"
[[chapters.notebooks.exercises]]
id = "lstm_step"
title = "LSTM"
points = 1
page = "deep"
"""


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "course.toml"
    path.write_text(COURSE)
    return path


def line_of(text: str, nth: int = 1) -> int:
    """The line of the nth occurrence of this text in COURSE."""
    return [n for n, line in enumerate(COURSE.splitlines(), 1) if text in line][nth - 1]


def test_chapters_notebooks_and_exercises_in_order(path):
    manifest = load_manifest(path)
    assert list(manifest.places) == ["rnn_step", "rnn_forward", "lstm_step"]
    place = manifest.place("rnn_forward")
    assert (place.chapter.id, place.notebook.name, place.exercise.needs) == ("ch01", "first", ("rnn_step",))
    assert place.page_title == "One › The loop"
    assert place.page_path == "book/ch01/loop"
    assert [exercise.id for exercise in manifest.chapter("ch01").exercises] == ["rnn_step", "rnn_forward"]


def test_a_chapter_changes_the_limits_it_names(path):
    manifest = load_manifest(path)
    first, second = (manifest.limits(chapter) for chapter in manifest.chapters)
    assert (first.seconds_per_exercise, second.seconds_per_exercise) == (3, 0.5)
    assert first.output_bytes == second.output_bytes == 5000
    assert first.result_bytes == Limits().result_bytes


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ('id = "rnn_forward"', 'id = "rnn_step"', line_of('id = "rnn_forward"'), "'rnn_step' is used twice"),
        ('id = "ch02"', 'id = "ch01"', line_of('id = "ch02"'), "'ch01' is used twice"),
        ('id = "lstm_step"', 'id = "rnn_step"', line_of('id = "lstm_step"'), "'rnn_step' is used twice"),
        ('id = "rnn_forward"', 'id = "rnn-forward"', line_of('id = "rnn_forward"'), "not a Python name"),
        ('name = "first"', 'name = "the first"', line_of('name = "first"'), "'the first' is not a valid name"),
        ("points = 1.5", "points = 0", line_of('id = "rnn_forward"'), "0"),
        ("points = 1.5", "points = -1", line_of('id = "rnn_forward"'), "-1"),
        ("points = 1.5", "points = nan", line_of('id = "rnn_forward"'), "nan points"),
        ("points = 1.5", "points = inf", line_of('id = "rnn_forward"'), "inf points"),
        ('page = "loop"', 'page = "loops"', line_of('id = "rnn_forward"'), "'loops' is not in the chapter's pages"),
        ('needs = ["rnn_step"]', 'needs = ["lstm_step"]', line_of('id = "rnn_forward"'), "does not come before it"),
        ('needs = ["rnn_step"]', 'needs = ["rnn_forward"]', line_of('id = "rnn_forward"'), "does not come before it"),
        ("points = 1.5\n", "", line_of("[[chapters.notebooks.exercises]]", 2), "missing required field `points`"),
        ("points = 1.5", 'points = "much"', line_of("[[chapters.notebooks.exercises]]", 2), "Expected"),
        ("points = 1\n", "points = 1\nweight = 2\n", line_of("[[chapters.notebooks.exercises]]", 3), "`weight`"),
        ('name = "first"\n', "", line_of("[[chapters.notebooks]]", 1), "missing required field `name`"),
        ("pages = { deep", "seiten = { deep", line_of("[[chapters]]", 2), "`seiten`"),
        ("output_bytes = 5000", "outputs = 5000", line_of('id = "ch01"'), "`outputs`"),
        ("output_bytes = 5000", "output_bytes = 0.5", line_of('id = "ch01"'), "output_bytes"),
        ("points = 1.5", "points = 1.5\nseconds = 0", line_of("[[chapters.notebooks.exercises]]", 2), "seconds"),
        ("points = 1.5", 'points = 1.5\nseconds = "2"', line_of("[[chapters.notebooks.exercises]]", 2), "seconds"),
        (
            "points = 1.5",
            "points = 1.5\nseconds = inf",
            line_of('id = "rnn_forward"'),
            "exercise 'rnn_forward' may take inf s, but its whole notebook 300 s; give it less",
        ),
        ("points = 1.5", "points = 1.5\nseconds = nan", line_of("exercises]]", 2), "seconds"),
        ("points = 1.5", "points = 1.5\nseconds = 301", line_of('id = "rnn_forward"'), "may take 301 s"),
    ],
)
def test_a_mistake_names_file_and_line(path, old, new, line, says):
    assert old in COURSE
    path.write_text(COURSE.replace(old, new, 1))
    with pytest.raises(ManifestError) as caught:
        load_manifest(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert says in str(caught.value)


def test_a_file_that_is_not_toml_says_so_with_its_line(path):
    path.write_text(COURSE.replace("points = 2", "points 2"))
    with pytest.raises(ManifestError, match=rf"{path}: .*line {line_of('points = 2')}"):
        load_manifest(path)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read(tmp_path, content):
    path = tmp_path / "course.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ManifestError, match="cannot be read"):
        load_manifest(path)


@pytest.mark.parametrize(
    ("given", "near"),
    [("rnn_stepp", "rnn_step"), ("forward", "rnn_forward"), ("RNN_step", "rnn_step"), ("lstm", "lstm_step")],
)
def test_an_unknown_exercise_names_near_ones(path, given, near):
    with pytest.raises(UnknownIdError, match=rf"no exercise '{given}'\. Near it: .*{near}"):
        load_manifest(path).place(given)


def test_an_id_that_is_near_to_nothing_names_all(path):
    with pytest.raises(UnknownIdError, match="The course has: rnn_step, rnn_forward, lstm_step"):
        load_manifest(path).place("xyz")
    with pytest.raises(UnknownIdError, match=r"no chapter 'xyz'\. The course has: ch01, ch02"):
        load_manifest(path).chapter("xyz")
    with pytest.raises(UnknownIdError, match=r"no chapter 'ch1'\. Near it: ch01"):
        load_manifest(path).chapter("ch1")


@pytest.mark.parametrize("given", [len, ["rnn_step"], None, 3])
def test_what_is_no_id_at_all_says_how_to_write_one(path, given):
    with pytest.raises(UnknownIdError, match='the id of an exercise in quotes, such as "rnn_step"'):
        load_manifest(path).place(given)


def test_the_courses_own_manifest_is_sound():
    manifest = load_manifest(Path(__file__).parents[1] / "course.toml")
    assert {"rnn_step", "rnn_forward"} <= set(manifest.places)


QUESTION = """
[[chapters.notebooks]]
name = "words"
title = "In words"
[[chapters.notebooks.questions]]
id = "why"
title = "Why"
points = 2
"""


def test_a_notebook_may_hold_questions_alone(path):
    path.write_text(COURSE.rstrip() + "\n" + QUESTION, "utf-8")
    chapter = load_manifest(path).chapters[-1]
    assert [question.id for question in chapter.questions] == ["why"]
    assert chapter.notebooks[-1].exercises == ()
    assert "why" not in load_manifest(path).places


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('id = "why"', 'id = "why not"', "question id 'why not' is not a Python name"),
        ("points = 2\n", "points = 0\n", "'why' has 0.0 points"),
        ('id = "why"', 'id = "a_step"', "the id 'a_step' is used twice"),
        ('title = "Why"\n', "", "missing required field `title`"),
    ],
)
def test_a_mistake_in_a_question_names_its_line(path, old, new, says):
    head = COURSE.rstrip() + "\n"
    first = re.search(r'exercises\]\]\nid = "(\w+)"', COURSE)[1]
    path.write_text(head + QUESTION.replace(old, new.replace("a_step", first)), "utf-8")
    with pytest.raises(ManifestError) as caught:
        load_manifest(path)
    assert says.replace("a_step", first) in str(caught.value)
    line = int(str(caught.value).split(":")[1])
    assert line > len(head.splitlines())


@pytest.mark.parametrize("url", ["https://example.org/book/", "http://10.0.0.1:8000", "../book", "book/html"])
def test_where_the_book_is_published(path, url):
    path.write_text(f'book_url = "{url}"\n{COURSE}')
    assert load_manifest(path).book_url == url


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "//evil.example", "/etc", "https://a b", "x:y", "https://a'b", "data:text/html,a"]
)
def test_an_address_of_the_book_that_is_none(path, url):
    path.write_text(f'book_url = "{url}"\n{COURSE}')
    with pytest.raises(ManifestError, match=r"course.toml:1: book_url .*: give an address that begins with https://"):
        load_manifest(path)


def test_modules_to_preload(path):
    path.write_text(COURSE.replace("output_bytes = 5000", 'preload = ["numpy", "math"]'))
    manifest = load_manifest(path)
    assert manifest.limits(manifest.chapters[0]).preload == ("numpy", "math")


def test_an_exercise_may_have_seconds_of_its_own(path):
    path.write_text(COURSE.replace("points = 1.5", "points = 1.5\nseconds = 20"))
    places = load_manifest(path).places
    assert (places["rnn_step"].exercise.seconds, places["rnn_forward"].exercise.seconds) == (None, 20)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("ch0", "Near it: ch01, ch02."),  # what begins so
        ("ch1", "Near it: ch01"),
        ("lesson", "The course has: ch01, ch02."),
        ("", "The course has: ch01, ch02."),
    ],
)
def test_the_suggestions_for_an_unknown_chapter(tmp_path, given, words):
    (tmp_path / "course.toml").write_text(COURSE)
    with pytest.raises(UnknownIdError, match=re.escape(words)):
        load_manifest(tmp_path / "course.toml").chapter(given)
