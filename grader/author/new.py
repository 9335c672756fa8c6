"""`grader new`: the files of a new exercise, with placeholders that say what to write.

A placeholder is the text `TODO(ID):` and what to write there. `grader lint ID` lists those that are left.
"""

from __future__ import annotations

import json
import keyword
import math
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from grader.errors import ExpectedError
from grader.files import write_whole
from grader.manifest import Chapter, Exercise, Manifest, Notebook, load_manifest
from grader.spec.folders import EXAM, FILES, FIXTURES, HINTS, MISTAKES, SPEC

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_TABLE = re.compile(r"^[ \t]*\[\[(chapters(?:\.\w+)*)\]\]", re.MULTILINE)


class NewExerciseError(ExpectedError):
    """An exercise that cannot be added; the message says why and what to do instead."""


@dataclass(frozen=True)
class Written:
    """The exercise that was added: the files that are new or changed, and the page that should link to it."""

    files: tuple[Path, ...]
    page: Path


def new_exercise(
    root: Path,
    name: str,
    chapter_id: str,
    notebook_name: str,
    title: str | None = None,
    points: float = 1,
    page: str | None = None,
) -> Written:
    """Add an exercise as the last one of a notebook, and write the files that its author fills in.

    The default title is the name in words, the default page that of the notebook's last exercise. Nothing is written
    unless all of it can be. Raises NewExerciseError, UnknownIdError, ManifestError.
    """
    toml = root / "course.toml"
    manifest = load_manifest(toml)
    chapter = manifest.chapter(chapter_id)
    notebook = next((each for each in chapter.notebooks if each.name == notebook_name), None)
    if notebook is None:
        known = ", ".join(each.name for each in chapter.notebooks)
        raise NewExerciseError(
            f"{chapter_id} has no notebook {notebook_name!r}. It has: {known}. For a new notebook, first add a table "
            f"[[chapters.notebooks]] to course.toml and write solutions/{chapter_id}/{notebook_name}.py."
        )
    if notebook.questions:
        raise NewExerciseError(f"{notebook_name} asks questions that are graded by hand. Choose another notebook.")
    _check_name(manifest, name)
    if not 0 < points < math.inf:
        raise NewExerciseError(f"An exercise cannot have {points:g} points. Give a number above 0.")
    words = " ".join((title or "").split()) or name.replace("_", " ").capitalize()
    exercise = Exercise(name, words, points, _page(chapter, notebook, page))
    folder = root / "solutions" / chapter_id
    own = folder / name
    if own.exists():
        raise NewExerciseError(f"{own}: exists already. Give the exercise another name, or delete this folder.")
    source = folder / f"{notebook_name}.py"
    if not source.exists():
        raise NewExerciseError(f"{source}: is missing. Write the notebook's first cells there.")
    code = source.read_text("utf-8")
    if re.search(rf"^(?:def|class) {name}\b", code, re.MULTILINE):
        raise NewExerciseError(f"{source}: defines {name} already. Give the exercise another name.")
    contents = {
        own / SPEC: _SPEC.format(id=name),
        own / MISTAKES: _MISTAKES.format(id=name),
        own / HINTS: _HINTS.format(id=name),
        source: _with_cells(code, _CELLS.format(id=name, title=exercise.title)),
        toml: _with_table(toml.read_text("utf-8"), chapter, notebook, exercise),
    }
    _check_manifest(manifest, contents[toml], exercise, (chapter.id, notebook.name))
    for path, text in contents.items():
        write_whole(path, text.encode())
    return Written(tuple(contents), root / "book" / chapter_id / f"{exercise.page}.md")


def _check_name(manifest: Manifest, name: str) -> None:
    if not _NAME.match(name) or keyword.iskeyword(name):
        raise NewExerciseError(
            f"{name!r} cannot be the name of an exercise: it is the name of the function, so use letters, digits and "
            "_, with a letter first, such as leaky_average."
        )
    if name in (Path(FIXTURES).stem, Path(EXAM).stem, FILES):
        raise NewExerciseError(
            f"{name!r} cannot be the name of an exercise: a file of the chapter has it, or a folder."
        )
    taken = {chapter.id for chapter in manifest.chapters}
    taken |= {item.id for chapter in manifest.chapters for item in chapter.items}
    if name.lower() in {each.lower() for each in taken}:  # some file systems ignore case
        raise NewExerciseError(f"The course has {name!r} already. Give the exercise another name.")


def _page(chapter: Chapter, notebook: Notebook, given: str | None) -> str:
    if given is not None and given not in chapter.pages:
        raise NewExerciseError(f"{chapter.id} has no page {given!r}. It has: {', '.join(chapter.pages)}.")
    if given is None and not chapter.pages:
        raise NewExerciseError(f"{chapter.id} has no page. Add one to its table [chapters.pages] in course.toml.")
    last = notebook.exercises[-1].page if notebook.exercises else next(iter(chapter.pages), "")
    return given or last


def _with_table(text: str, chapter: Chapter, notebook: Notebook, exercise: Exercise) -> str:
    """`course.toml` with one more table, behind the last exercise of this notebook."""
    lines = [
        "[[chapters.notebooks.exercises]]",
        *(f"{key} = {json.dumps(getattr(exercise, key), ensure_ascii=False)}" for key in ("id", "title")),
        f"points = {exercise.points:g}",
        f'page = "{exercise.page}"',
    ]
    tables = list(_TABLE.finditer(text))
    ends = [*(table.start() for table in tables[1:]), len(text)]
    at = None
    inside: list[str | None] = [None, None]
    for table, end in zip(tables, ends, strict=True):
        depth = table[1].count(".")
        if depth < 2:
            key = re.search(r'^(?:id|name)\s*=\s*"([^"]*)"', text[table.start() : end], re.MULTILINE)
            inside = [key and key[1], None] if depth == 0 else [inside[0], key and key[1]]
        if inside == [chapter.id, notebook.name] and not table[1].endswith("questions"):
            at = end
    if at is None:
        raise NewExerciseError(f"course.toml: the table of the notebook {notebook.name!r} was not found. Add by hand:\n"
                               + "\n".join(lines))  # fmt: skip
    before, after = text[:at].rstrip(), text[at:]
    return "\n".join([before, "", *lines, *([""] if after else []), after])


def _check_manifest(old: Manifest, text: str, exercise: Exercise, place: tuple[str, str]) -> None:
    """Whether the new text says what it should: the old course with this exercise. Raises NewExerciseError."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "course.toml"
        path.write_text(text, "utf-8")
        new = load_manifest(path)
    found, before = (
        [(place.chapter.id, place.notebook.name, place.exercise) for place in manifest.places.values()]
        for manifest in (new, old)
    )
    if (*place, exercise) not in found or [each for each in found if each[2] != exercise] != before:
        raise NewExerciseError("course.toml: is written in a way that cannot be extended. Add the exercise by hand.")


def _with_cells(code: str, cells: str) -> str:
    """A notebook's source with more cells: before the first text behind its last exercise, or at its end."""
    parts = re.split(r"^(?=# %%)", code, flags=re.MULTILINE)
    exercises = [number for number, part in enumerate(parts) if part.startswith("# %% exercise=")]
    after = exercises[-1] + 1 if exercises else len(parts)
    while after < len(parts) and not parts[after].startswith("# %% [markdown]"):
        after += 1
    before, rest = "".join(parts[:after]).rstrip("\n"), "".join(parts[after:])
    return f"{before}\n\n\n{cells}" + (f"\n\n{rest}" if rest else "")


def placeholders(path: Path, name: str) -> list[tuple[int, str]]:
    """The lines of a file with a placeholder of this exercise: number, and what to write there."""
    if not path.exists():
        return []
    found = re.compile(rf"TODO\({name}\):?\s*(.*)")
    lines = enumerate(path.read_text("utf-8").splitlines(), 1)
    return [(number, match[1].strip().rstrip('",\\ ')) for number, line in lines if (match := found.search(line))]


_CELLS = '''# %% [markdown]
# ## {title}
#
# TODO({id}): write the task: what to compute, its equation, and below the shape of each argument.
#
# Write `{id}`.
#
# | name | shape | meaning |
# |---|---|---|
# | `x` | (B, T) | … |
# | result `y` | (B, T) | … |


# %% exercise="{id}"
def {id}(x):
    """TODO({id}): say in one line what it computes, and name its real arguments.

    x (B, T) -> y (B, T).
    """
    ### BEGIN SOLUTION
    y = x  # TODO({id}): write the solution between these two markers; students do not get it
    return y
    ### END SOLUTION
'''

_MISTAKES = """# Why it works

TODO({id}): say in a few sentences why the solution works.

# Mistakes

## input_negated

TODO({id}): say what the student did, what to do instead, and why. You use the negative input. Use `x` itself, because …

> Why students make this mistake.
"""

_HINTS = """# {id}

## Hint 1

TODO({id}): ask a question that leads to the idea.

## Hint 2

TODO({id}): name the idea.

## Hint 3

TODO({id}): show the structure of the code, but never the answer.
"""

_SPEC = '''"""How `{id}` is checked. TODO({id}): say against what, such as a closed form or PyTorch."""

import numpy as np

from grader.spec.spec import Case, Output, Spec, change


def oracle(x):
    """TODO({id}): compute the expected result in another way than the solution, and say in which."""
    raise NotImplementedError


# TODO({id}): give the first case the real arguments: tiny, with two decimals, to be followed by hand.
EXAMPLE = Case(
    sizes={{"B": 1, "T": 3}},
    inputs={{"x": np.array([[1.00, 0.50, -2.00]])}},
)


# TODO({id}): draw the real arguments; see CONTRIBUTING.md for inputs that are computed.
def case(rng, B, T):
    return Case(
        sizes={{"B": B, "T": T}},
        inputs={{"x": rng.normal(size=(B, T))}},
    )


# TODO({id}): choose the cases, small ones first: one with all sizes different, and each size once 1.
def cases(rng):
    yield case(rng, B=2, T=5)
    yield case(rng, B=4, T=4)
    yield case(rng, B=1, T=6)
    yield case(rng, B=3, T=1)


SPEC = Spec(
    outputs=[Output("y", ("B", "T"))],  # TODO({id}): name each result and the symbols of its axes
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
)


# TODO({id}): give each mistake of students a name and a change of the solution; what is said of it is in mistakes.md.
SPEC.mistakes({{"input_negated": change("y = x", "y = -x")}})


# TODO({id}): write a correct solution of another kind, which must pass too.
@SPEC.alternative
def in_another_way(x):
    """Say how it differs."""
    raise NotImplementedError
'''
