"""`grader new`: the files of a new exercise, and what `grader lint` says until they are filled in."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader.author.lint import lint_course
from grader.author.new import NewExerciseError, new_exercise, placeholders
from grader.cli.commands import app
from grader.errors import ExpectedError
from grader.manifest import load_manifest
from tests.small_course import CHAPTER, ROOT, write_small_course

GUIDE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
PAGE = f"book/{CHAPTER}/one_step.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = write_small_course(tmp_path)
    (root / PAGE).parent.mkdir(parents=True)
    (root / PAGE).write_text("# One step of a recurrent network\n", "utf-8")
    return root


def tree(root: Path) -> dict[str, str]:
    texts = (path for path in root.rglob("*") if path.suffix in (".py", ".md", ".toml", ".ipynb"))
    return {str(path.relative_to(root)): path.read_text("utf-8") for path in texts}


def add(root: Path, name: str = "leaky_average", **options: object) -> None:
    new_exercise(root, name, CHAPTER, "recurrence", **options)  # type: ignore[arg-type]


def test_it_adds_files_and_changes_no_other_text(root: Path) -> None:
    before = tree(root)
    add(root, title='A "leaky" average', points=1.5)
    after = tree(root)
    folder = f"solutions/{CHAPTER}"
    assert after.keys() - before.keys() == {
        f"{folder}/leaky_average/{name}" for name in ("spec.py", "mistakes.md", "hints.md")
    }
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"course.toml", f"{folder}/recurrence.py"}
    for name in changed:
        kept = iter(after[name].splitlines())
        assert all(line in kept for line in before[name].splitlines()), f"a line of {name} was lost or moved"
    old, new = (tomllib.loads(texts["course.toml"]) for texts in (before, after))
    added = new["chapters"][0]["notebooks"][0]["exercises"].pop()
    assert added == {"id": "leaky_average", "title": 'A "leaky" average', "points": 1.5, "page": "one_step"}
    assert new == old
    cells = re.split(r"^(?=# %%)", after[f"{folder}/recurrence.py"], flags=re.MULTILINE)[1:]
    heads = [cell.splitlines()[0] for cell in cells]
    place = heads.index('# %% exercise="leaky_average"')
    assert heads[place - 2 : place] == ['# %% exercise="rnn_forward"', "# %% [markdown]"]


def test_in_the_whole_course_each_notebook_can_get_one(tmp_path: Path) -> None:
    """Its table comes behind the last exercise of that notebook, wherever that is in the real course.toml."""
    text = (ROOT / "course.toml").read_text("utf-8")
    manifest = load_manifest(ROOT / "course.toml")
    for chapter in manifest.chapters:
        for notebook in (each for each in chapter.notebooks if not each.questions):
            (tmp_path / "course.toml").write_text(text, "utf-8")
            source = tmp_path / "solutions" / chapter.id / f"{notebook.name}.py"
            source.parent.mkdir(parents=True, exist_ok=True)
            source.write_text("# %%\nimport numpy as np\n", "utf-8")
            name = f"one_more_of_{notebook.name}"
            new_exercise(tmp_path, name, chapter.id, notebook.name)
            made = load_manifest(tmp_path / "course.toml").place(name)
            assert (made.chapter.id, made.notebook.exercises) == (chapter.id, (*notebook.exercises, made.exercise))


def test_lint_lists_what_is_left_until_it_is_written(root: Path) -> None:
    add(root)
    lines = (root / f"solutions/{CHAPTER}/leaky_average/hints.md").read_text("utf-8").splitlines()
    ((what, found),) = lint_course(root, "leaky_average")
    assert what == "leaky_average: Nothing is left to write"
    assert f"solutions/{CHAPTER}/leaky_average/hints.md:5: ask a question that leads to the idea." in found
    assert lines[4] == "TODO(leaky_average): ask a question that leads to the idea."
    assert f"{PAGE}: has no {{exercise-link}} leaky_average" in found
    files = ["recurrence.py", *(f"leaky_average/{name}" for name in ("spec.py", "mistakes.md", "hints.md"))]
    texts = [(root / "solutions" / CHAPTER / name).read_text("utf-8") for name in files]
    assert len(found) == sum(text.count("TODO(") for text in texts) + 1
    assert not any("rnn_step" in problem for _, problems in lint_course(root, "rnn_step") for problem in problems[1:])


def test_the_guides_own_exercise_passes_when_filled_in(root: Path) -> None:
    """CONTRIBUTING.md shows all files in full."""
    add(root, title="A leaky average")
    folder = root / "solutions" / CHAPTER
    blocks = re.findall(r"^(`{3,})(\w+)\n(.*?)^\1$", GUIDE, re.MULTILINE | re.DOTALL)
    cells = next(text for _, _, text in blocks if '# %% exercise="leaky_average"' in text)
    spec = next(text for _, _, text in blocks if text.startswith('"""How `leaky_average`'))
    hints = next(text for _, _, text in blocks if text.startswith("# leaky_average"))
    words = next(text for _, _, text in blocks if text.startswith("# Why it works"))
    link = next(text for _, _, text in blocks if text == "```{exercise-link} leaky_average\n```\n")
    source = folder / "recurrence.py"
    parts = re.split(r"^(?=# %%)", source.read_text("utf-8"), flags=re.MULTILINE)
    place = next(n for n, part in enumerate(parts) if part.startswith('# %% exercise="leaky_average"'))
    source.write_text("".join([*parts[: place - 1], cells, "\n\n", *parts[place + 1 :]]), "utf-8")
    (folder / "leaky_average/spec.py").write_text(spec, "utf-8")
    (folder / "leaky_average/hints.md").write_text(hints, "utf-8")
    (folder / "leaky_average/mistakes.md").write_text(words, "utf-8")
    with (root / PAGE).open("a") as page:
        page.write(f"\n{link}")
    assert {what: found for what, found in lint_course(root, "leaky_average") if found} == {}


BAD = {
    "taken": (("rnn_step",), {}, "The course has 'rnn_step' already"),
    "taken, in capitals": (("RNN_step",), {}, "The course has 'RNN_step' already"),
    "a chapter": ((CHAPTER,), {}, "already"),
    "no name": (("1st",), {}, "'1st' cannot be the name of an exercise: it is the name of the function"),
    "a path": (("../x",), {}, "cannot be the name"),
    "a keyword": (("lambda",), {}, "cannot be the name"),
    "another file": (("fixtures",), {}, "a file of the chapter has it"),
    "the folder of files": (("files",), {}, "or a folder"),
    "no points": (("x",), {"points": 0}, "An exercise cannot have 0 points"),
    "infinite points": (("x",), {"points": float("inf")}, "cannot have inf points"),
    "no such page": (("x",), {"page": "two_steps"}, "has no page 'two_steps'. It has: one_step"),
    "a helper of that name": (("imported",), {}, "defines imported already"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_refused_leaves_all_as_it_was(root: Path, name: str) -> None:
    with (root / f"solutions/{CHAPTER}/recurrence.py").open("a") as source:
        source.write("\n\ndef imported(x):\n    return x\n")
    before = tree(root)
    arguments, options, message = BAD[name]
    with pytest.raises(ExpectedError, match=re.escape(message)):
        add(root, *arguments, **options)
    assert tree(root) == before


def test_existing_files_notebooks_and_questions_are_refused(root: Path) -> None:
    path = root / f"solutions/{CHAPTER}/leaky_average/hints.md"
    path.parent.mkdir()
    path.write_text("mine", "utf-8")
    with pytest.raises(NewExerciseError, match=r"leaky_average: exists already"):
        add(root)
    assert path.read_text("utf-8") == "mine"
    with pytest.raises(NewExerciseError, match=r"has no notebook 'loops'\. It has: recurrence"):
        new_exercise(root, "x", CHAPTER, "loops")
    with pytest.raises(NewExerciseError, match="graded by hand"):
        new_exercise(ROOT, "x_of_no_file", CHAPTER, "capstone")


def test_a_placeholder_is_of_one_exercise(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text('x = 1  # TODO(one): this\nwhy="TODO(one): that.",\n# TODO(one_more): no\n# TODO: no\n')
    assert placeholders(path, "one") == [(1, "this"), (2, "that.")]
    assert placeholders(tmp_path / "b.py", "one") == []


def test_the_command(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root / "solutions")
    command = ["new", "leaky_average", "--chapter", CHAPTER, "--notebook", "recurrence"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0
    assert f"wrote solutions/{CHAPTER}/leaky_average/spec.py" in done.output
    assert f"{PAGE}:" in done.output
    assert "```{exercise-link} leaky_average\n```" in done.output
    again = CliRunner().invoke(app, command)
    assert (again.exit_code, "already" in again.output) == (1, True)
