"""`grader check`: a notebook before it is run, and the result of a run in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.counts import number
from grader.manifest import Manifest, Notebook
from grader.submission.cell_names import cell_names
from grader.submission.readable import UnreadableError
from grader.work.events import Checked, Request
from grader.work.notebooks import WorkError, read_work, require_file, restoring, whose
from grader.work.printed import ending_lines, table_lines
from grader.work.python import translator
from grader.work.run import Outcome, code_of, request_for, takes_long


@dataclass(frozen=True)
class Ready:
    """A notebook that can be run. `names` says what its cells are called, `head` are the lines that say what is run,
    and `long` are the names of the cells that are not, because they take long.
    """

    notebook: Notebook
    request: Request
    names: Mapping[int, str]
    head: list[str]
    long: list[str]


def ready(path: Path, manifest: Manifest, seconds: float | None, width: int | None) -> Ready:
    """Read a notebook. `seconds` replaces the limits, `width` is that of the terminal. Raises WorkError."""
    require_file(path, Path.cwd())
    try:
        work = read_work(path)
    except UnreadableError as error:
        raise WorkError(f"{path}: {error}. {restoring(path)}") from error
    chapter, notebook = whose(work, manifest, path.stem)
    python, with_ipython = translator()
    names = cell_names(work.cells, [each.id for each in notebook.exercises])
    cells = [(index, source) for index, source in code_of(notebook, work) if not takes_long(work, index)]
    head = [f"{path.name}: {chapter.title} › {notebook.title}", ""]
    if not with_ipython and (left := [names[index] for index, source in cells if python(source) != source]):
        head += [f"IPython is not installed, so magics and shell commands are left out of {'; '.join(left)}.", ""]
    if texts := [names[index] for index, _ in cells if work.cells[index]["cell_type"] != "code"]:
        head += [f"Run as code although it is text: {'; '.join(texts)}. Turn it back with the key Y.", ""]
    request = request_for(manifest, chapter, notebook, work, python, seconds, width)
    return Ready(notebook, request, names, head, [names[index] for index, _ in work.code if takes_long(work, index)])


def blocks(it: Ready, outcome: Outcome) -> Iterator[str]:
    """How the run ended, the result of each exercise, and what was not run, each in a block of one line."""
    yield from ending_lines(outcome, it.names)
    yield from table_lines(it.notebook.exercises, outcome.results)
    if it.long:
        yield f"Not run, because it takes long and no points depend on it: {'; '.join(it.long)}."


def unfinished(notebook: Notebook, results: Mapping[str, Checked]) -> list[str]:
    """The exercises that are not right."""
    found = ((each.id, results.get(each.id)) for each in notebook.exercises)
    return [name for name, result in found if result is None or result.status != "passed"]


def summary(notebook: Notebook, results: Mapping[str, Checked]) -> Iterator[str]:
    """The points, the questions that an instructor grades, and what comes next."""
    left, count = unfinished(notebook, results), len(notebook.exercises)
    if count:
        earned = sum(results[each.id].earned for each in notebook.exercises if each.id in results)
        points = sum(each.points for each in notebook.exercises)
        yield f"{count - len(left)} of {count} exercises right, {number(earned)} of {number(points)} points."
    if notebook.questions:
        yield "Your instructor grades the answers to questions: " + ", ".join(q.id for q in notebook.questions) + "."
    if left:
        yield f"Next: {left[0]}. If you are stuck:  grader hint {left[0]}"
