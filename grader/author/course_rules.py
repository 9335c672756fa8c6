"""The rules of `grader lint` for the whole course. Each takes the course and returns the problems it finds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.author.course import Course
from grader.author.leaks import Secrets, find_leaks, solution_statements
from grader.author.notebooks import notebooks_of, stray_files, stray_notebooks
from grader.author.release import COURSE, out_of_date
from grader.author.words import breaches, load_words
from grader.spec.folders import FILES, PARTS
from grader.spec.record import stray


def nothing_is_stray(course: Course) -> list[str]:
    """Every file of checks, notebook and data file belongs to an exercise or a notebook of the course."""
    problems = []
    for chapter in course.manifest.chapters:
        names = {exercise.id for exercise in chapter.exercises}
        for path in sorted((course.root / "solutions" / chapter.id).glob("*/*.*")):
            if path.parent.name == FILES or path.parent.name.startswith(("_", ".")):
                continue
            if path.parent.name not in names:
                problems.append(f"{course.where(path)}: {chapter.id} has no exercise {path.parent.name!r}")
            elif path.suffix in (".py", ".md") and path.name not in PARTS:
                problems.append(f"{course.where(path)}: is none of the files of an exercise: {', '.join(PARTS)}")
    left = stray_notebooks(course.manifest, course.root / "exercises")
    left += stray_files(course.root, course.manifest, course.root / "exercises")
    left += stray(course.root / "grader" / "data", course.manifest)
    return problems + [f"{course.where(path)}: belongs to no notebook or exercise; delete it" for path in left]


def generated_files_are_current(course: Course) -> list[str]:
    """Exercises and recorded data are up to date with their sources."""
    what = {COURSE: "grader/data/course.toml"}
    what |= {name: f"exercises/{name}.ipynb and its files" for name in notebooks_of(course.manifest)}
    what |= {name: f"grader/data/{name}.*" for name in course.manifest.places}
    return [
        f"{what[name]}: not what the present sources give; run `grader release` and commit"
        for name in out_of_date(course.root, course.manifest)
    ]


def messages_hold_no_solution(course: Course) -> list[str]:
    """No hint and no message, which students get, contains a line of any exercise's solution."""
    released = [(course.where(path), path.read_bytes()) for path in sorted((course.root / "grader/data").glob("*.md"))]
    return [str(leak) for leak in find_leaks(released, Secrets(solution_statements(course), {}))]


def equations_are_grounded(course: Course) -> list[str]:
    """Every equation label of the book is named by the function that implements it, or by a test."""
    sources = [*course.root.glob("solutions/*/*.py"), *course.root.glob("tests/**/*.py")]
    named = {name for path in sources for name in re.findall(r"[\w-]+", path.read_text("utf-8"))}
    return [
        f"{course.where(path)}:{line}: no docstring of solutions/ and no test names the equation ({label})"
        for path, text in course.pages.items()
        for line, label in _labels(text)
        if label not in named
    ]


def _labels(text: str) -> Iterator[tuple[int, str]]:
    for match in re.finditer(
        r"^(?:`{3,}|:{3,})\{math\}\s*\n:label: *([\w-]+)|^\$\$ *\(([\w-]+)\)\s*$", text, re.MULTILINE
    ):
        yield text.count("\n", 0, match.start()) + 1, match[1] or match[2]


def figures_have_alt_text(course: Course) -> list[str]:
    """Every figure has a text that says what is to be seen."""
    return [f"{course.where(path)}:{line}: {what}" for path, text in course.pages.items() for line, what in _mute(text)]


_PICTURE_DIRECTIVE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{(?:figure|image|glue:figure)\}(?P<body>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL
)
_CODE_CELL = re.compile(r"^`{3,}\{code-cell\}(?P<body>.*?)^`{3,}[ \t]*$", re.MULTILINE | re.DOTALL)
_DRAWS = re.compile(r"\bplt\.(subplots|figure|plot|imshow|show)\b")


def _mute(text: str) -> Iterator[tuple[int, str]]:
    def line(match: re.Match[str]) -> int:
        return text.count("\n", 0, match.start()) + 1

    for match in re.finditer(r"!\[\s*\]\(", text):
        yield line(match), "an image without alt text"
    for match in _PICTURE_DIRECTIVE.finditer(text):
        if not re.search(r"^:alt: *\S{2}", match["body"], re.MULTILINE):
            yield line(match), "a figure without :alt:"
    for match in _CODE_CELL.finditer(text):
        glued = "glue(" in match["body"]
        if _DRAWS.search(match["body"]) and not glued and not re.search(r"\balt: *\S", match["body"]):
            yield line(match), "a code cell that draws, without an `alt` under `mystnb: image:`"
    for match in re.finditer(r"<svg\b(?P<head>[^>]*)>", text):
        if not re.search(r"aria-label(ledby)?=", match["head"]) and 'aria-hidden="true"' not in match["head"]:
            yield line(match), "an inline SVG without aria-label"


def words_are_current(course: Course) -> list[str]:
    """No text uses a word that words.toml lists; the message says which word to use instead."""
    words = load_words(course.root)
    return [
        f"{course.where(path)}:{line}: {what}"
        for path, text in course.texts.items()
        for line, what in breaches(text, words)
    ]


COURSE_RULES = (
    nothing_is_stray,
    generated_files_are_current,
    messages_hold_no_solution,
    equations_are_grounded,
    figures_have_alt_text,
    words_are_current,
)
