"""What a page loads to solve one of its exercises, or to run its code cells: the released notebook with its task,
set-up and hints, the recorded public checks, and what has to run before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.author.engine import SITE_PACKAGES
from grader.author.packs import Pack, make_pack
from grader.author.runnable import Before, before, set_up
from grader.cells import cell_source
from grader.checking.evaluate import verdict
from grader.manifest import Manifest, Notebook, Place
from grader.released import CASES, FIXTURES, MESSAGES, OUTPUTS, OWN_JUDGE, Released
from grader.render.notes import Report
from grader.spec.folders import GIVEN, exercise_folder

if TYPE_CHECKING:
    from nbformat import NotebookNode

_HIDDEN = {"remove-input", "remove-cell", "hide-input", "hide-cell"}
_TORCH_DRIVERS = ("module",)
_TASK_HEADING = re.compile(r"<(/?)h[1-6]>")


def exercise_pack(root: Path, manifest: Manifest, place: Place) -> Pack:
    """Everything about one exercise that its page needs: the released notebook of which it is a part, its task and
    set-up, and the recorded public checks.
    """
    from nbformat import v4

    data = root / "grader" / "data"
    released = root / "exercises" / place.chapter.id / f"{place.notebook.name}.ipynb"
    notebook = v4.reads(released.read_text("utf-8"))
    exercise_id = place.exercise.id
    names = [each.format(exercise_id) for each in (CASES, OUTPUTS, MESSAGES, OWN_JUDGE)]
    names.append(FIXTURES.format(place.chapter.id))
    files = [
        ("exercise.json", json.dumps(about(root, manifest, place, notebook), ensure_ascii=False).encode()),
        ("notebook.ipynb", released.read_bytes()),
    ]
    files += [
        (f"{SITE_PACKAGES}/grader/data/{name}", (data / name).read_bytes()) for name in names if (data / name).is_file()
    ]
    return make_pack(exercise_id, files)


def about(root: Path, manifest: Manifest, place: Place, notebook: NotebookNode) -> dict[str, Any]:
    """What the page shows and runs around the exercise: the task as HTML, hints as HTML, the set-up as code, the stubs
    of the exercises before it in the same notebook, and, where it builds on one, a given version of that.
    """
    exercise_id = place.exercise.id
    given = {}
    for name in (exercise_id, *place.exercise.needs):
        path = exercise_folder(root, manifest.place(name)) / GIVEN
        if path.is_file():
            given[name] = path.read_text("utf-8")
    hints = Released(root / "grader" / "data").messages(exercise_id).hints
    return {
        "id": exercise_id,
        "title": place.exercise.title,
        "page": f"book/{place.chapter.id}/{place.exercise.page}.html#exercise-{exercise_id}",
        "notebook": place.notebook.name,
        "stub": cell_source(notebook, exercise_id),
        "task": as_html(task_of(notebook, exercise_id)),
        "setup": setup_of(notebook, exercise_id),
        "before": {name: cell_source(notebook, name) for name in before_exercise(root, place.notebook, exercise_id)},
        "given": given,
        "hints": [as_html(text) for text in hints],
        "seconds": place.exercise.seconds or manifest.limits(place.chapter).seconds_per_exercise,
        "stopped": Report(verdict(place, "timeout"))._repr_html_(),
        "exercises": [exercise.id for exercise in place.notebook.exercises],
    }


def before_exercise(root: Path, notebook: Notebook, exercise_id: str) -> list[str]:
    """The exercises that stand before this one in its notebook and can be done in a page."""
    ids = [exercise.id for exercise in notebook.exercises]
    return [name for name in ids[: ids.index(exercise_id)] if can_be_tried(root, name)]


def task_of(notebook: NotebookNode, exercise_id: str) -> str:
    """The text of the notebook, after its opening, that leads from the exercise before to this one."""
    found: list[str] = []
    for cell in notebook.cells[1:]:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if grade_id == exercise_id:
            break
        if grade_id:
            found.clear()
        elif cell.cell_type == "markdown":
            found.append(cell.source)
    return "\n\n".join(found)


def setup_of(notebook: NotebookNode, exercise_id: str) -> str:
    """The code that stands before the exercise and that it may use, without what needs a package that a page lacks."""
    cells: list[str] = []
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if grade_id == exercise_id:
            break
        if cell.cell_type == "code" and not grade_id:
            cells.append(cell.source)
    return set_up(cells)


@dataclass(frozen=True)
class Scratch:
    """A code cell of a page that a reader can run there: its code, and what has to run before it."""

    code: str
    before: Before


def scratch_cells(text: str) -> list[Scratch]:
    """The visible code cells of a page that run in a page's Python, from its MyST source."""
    import jupytext

    cells: list[str] = []
    found = []
    for cell in jupytext.reads(text, fmt="md:myst").cells:
        if cell.cell_type == "code":
            needed = None if _HIDDEN & set(cell.metadata.get("tags", ())) else before(cells, cell.source)
            if needed is not None:
                found.append(Scratch(cell.source, needed))
            cells.append(cell.source)
    return found


def page_pack(page: str, cells: Sequence[Scratch]) -> Pack:
    """What the scratch cells of a page need."""
    listed = [{"code": each.code, "before": each.before.code, "exercises": each.before.exercises} for each in cells]
    return make_pack(page_pack_name(page), [("page.json", json.dumps(listed, ensure_ascii=False).encode())])


def page_pack_name(page: str) -> str:
    """The name of the pack of a page, given as "book/CHAPTER/PAGE"."""
    return "page-" + page.removeprefix("book/").replace("/", "-")


def can_be_tried(root: Path, exercise_id: str) -> bool:
    """Whether the check of an exercise needs nothing but NumPy, as far as its recorded checks say."""
    try:
        return Released(root / "grader" / "data").driver(exercise_id) not in _TORCH_DRIVERS
    except FileNotFoundError:
        return True


def recorded_checks(root: Path, exercise_id: str) -> Path:
    return root / "grader" / "data" / CASES.format(exercise_id)


def as_html(markdown: str) -> str:
    """A notebook's Markdown as HTML. Formulas get the marks by which MathJax finds them on the book's pages; headings
    become paragraphs, because the page around them has its own.
    """
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.use(dollarmath_plugin, renderer=_formula, allow_labels=False, double_inline=True)
    return _TASK_HEADING.sub(_paragraph, parser.render(markdown))


def _formula(content: str, options: Mapping[str, Any]) -> str:
    opening, closing = ("\\[", "\\]") if options.get("display_mode") else ("\\(", "\\)")
    return f'<span class="math notranslate nohighlight">{opening}{escape(content)}{closing}</span>'


def _paragraph(match: re.Match[str]) -> str:
    return "</strong></p>" if match[1] else '<p class="task-heading"><strong>'
