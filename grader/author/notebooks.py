"""Release: make the notebooks in `exercises/` from the sources in `solutions/`, with the same bytes in every run.

jupytext reads the source; nbgrader's own preprocessors clear the solutions, lock the cells and write the checksums.
This module adds the check cell after each exercise, fixed cell ids, and errors that name the file and the line.
jupytext and nbgrader take seconds to import, so only the functions that use them import them.
"""

from __future__ import annotations

import ast
import copy
import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.author.page_links import with_page_links
from grader.cells import STUB, TEXT_STUB, check_id, check_source, grade_id, notebook_bytes
from grader.errors import ExpectedError
from grader.files import write_whole
from grader.manifest import Chapter, Exercise, Manifest, Notebook, Question, load_manifest
from grader.spec.folders import EXAM, FILES, FIXTURES
from grader.submission.files import MAX_BYTES, MAX_FILE_BYTES, MAX_FILES

if TYPE_CHECKING:
    from nbformat import NotebookNode

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"

_KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
_CELL_MARKER = re.compile(r"# %%(?!%)")


class ReleaseError(ExpectedError):
    """A source cannot be released; the message says what is wrong, where, and what to do."""


def source_path(root: Path, chapter: Chapter, notebook: Notebook) -> Path:
    """The source of a notebook: solutions/CHAPTER/NOTEBOOK.py."""
    return root / "solutions" / chapter.id / f"{notebook.name}.py"


def instructor_notebook(root: Path, manifest: Manifest, chapter: Chapter, notebook: Notebook) -> NotebookNode:
    """The notebook with its solutions, its check cells and nbgrader's metadata. Raises ReleaseError."""
    path = source_path(root, chapter, notebook)
    cells = []
    for line, cell in _read_cells(path):
        cell.metadata.pop("lines_to_next_cell", None)
        if "ipynb" not in cell.metadata.pop("active", "ipynb,py"):
            continue  # this cell is only for importing the source
        cells.append((line, cell.metadata.pop("exercise", None), cell.metadata.pop("question", None), cell))
    _check_ids(path, [(line, id_) for line, id_, _, _ in cells if id_ is not None], manifest, chapter, notebook)
    _check_questions(path, [(line, id_) for line, _, id_, _ in cells if id_ is not None], notebook)

    exercises = {exercise.id: exercise for exercise in notebook.exercises}
    questions = {question.id: question for question in notebook.questions}
    released = []
    for line, exercise_id, question_id, cell in cells:
        if exercise_id is not None:
            _check_exercise_cell(path, line, cell, exercise_id)
            cell.metadata["nbgrader"] = _nbgrader_metadata(exercise_id, solution=True)
            released += [cell, _check_cell(exercises[exercise_id])]
        elif question_id is not None:
            _check_question_cell(path, line, cell, questions[question_id])
            released.append(cell)
        else:
            _check_plain_cell(path, line, cell)
            released.append(cell)
    if notebook.exercises and not any(_imports_check(cell) for *_, cell in cells):
        raise ReleaseError(
            f"{path}:1: no cell imports what the check cells call. Add to the first code cell:  "
            "from grader import check, hint, progress"
        )
    finished = _finish(released, chapter, notebook)
    return with_page_links(finished, manifest, chapter, manifest.book_base) if manifest.book_base else finished


def student_notebook(root: Path, manifest: Manifest, chapter: Chapter, notebook: Notebook) -> NotebookNode:
    """The notebook as students get it: stubs for solutions, locked check cells. Raises ReleaseError."""
    instructor = instructor_notebook(root, manifest, chapter, notebook)
    return generate(instructor, source_path(root, chapter, notebook))


def student_notebooks(root: Path, manifest: Manifest, chapter: Chapter) -> dict[str, NotebookNode]:
    """All notebooks of a chapter as students get them, by name. Raises ReleaseError."""
    return {notebook.name: student_notebook(root, manifest, chapter, notebook) for notebook in chapter.notebooks}


def generate(instructor: NotebookNode, path: Path) -> NotebookNode:
    """Run nbgrader's own steps of `generate_assignment` on a copy of the instructor's notebook.

    `path` is named in errors. The step for the gradebook is separate (`register`). Raises ReleaseError if nbgrader
    refuses the notebook.
    """
    import nbformat
    from nbgrader.converters.generate_assignment import GenerateAssignment
    from nbgrader.preprocessors import ClearSolutions, SaveCells
    from traitlets.config import Config

    config = Config({"ClearSolutions": {"code_stub": {"python": STUB}, "text_stub": TEXT_STUB}})
    resources: dict[str, Any] = {"nbgrader": {}}
    student = copy.deepcopy(instructor)
    for step in GenerateAssignment.preprocessors.default():
        if step is SaveCells:
            continue
        try:
            student, resources = step(config=config).preprocess(student, resources)
        except Exception as error:  # nbgrader's steps raise many types
            raise ReleaseError(f"{path}: nbgrader's step {step.__name__} refuses this notebook: {error}") from error
        if step is ClearSolutions:
            _name_stubs(student, path)
    nbformat.validate(student)
    return student


def release_notebooks(root: Path, out: Path, which: Collection[str] | None = None) -> list[Path]:
    """Write every notebook of the course to OUT/CHAPTER/NOTEBOOK.ipynb, and its data files; return the files that
    changed. With `which`, only the notebooks with these names, "CHAPTER/NOTEBOOK", are made.

    Nothing is written unless everything can be. Raises ReleaseError, or ManifestError for `course.toml`.
    """
    manifest = load_manifest(root / "course.toml")
    check_sources(root, manifest)
    check_files(root, manifest)
    contents = {
        out / f"{name}.ipynb": notebook_bytes(student_notebook(root, manifest, chapter, notebook))
        for name, (chapter, notebook) in notebooks_of(manifest).items()
        if which is None or name in which
    }
    contents |= {out / relative: path.read_bytes() for relative, path in data_files(root, manifest).items()}
    return [path for path, content in contents.items() if _write_if_changed(path, content)]


def notebooks_of(manifest: Manifest) -> dict[str, tuple[Chapter, Notebook]]:
    """All notebooks of the course by their names, "CHAPTER/NOTEBOOK"."""
    return {f"{c.id}/{notebook.name}": (c, notebook) for c in manifest.chapters for notebook in c.notebooks}


def data_files(root: Path, manifest: Manifest) -> dict[Path, Path]:
    """The data files of the notebooks, as CHAPTER/NAME, each with its source in solutions/CHAPTER/files/."""
    return {
        Path(chapter.id, path.name): path
        for chapter in manifest.chapters
        for path in sorted((root / "solutions" / chapter.id / FILES).glob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def check_files(root: Path, manifest: Manifest) -> None:
    """Raise ReleaseError for data files that are too large or too many to be available during grading."""
    sizes: dict[str, list[int]] = {}
    for relative, path in data_files(root, manifest).items():
        size = path.stat().st_size
        if size > MAX_FILE_BYTES:
            raise ReleaseError(f"{path}: {size:,} bytes; a data file can have at most {MAX_FILE_BYTES:,}.")
        sizes.setdefault(relative.parts[0], []).append(size)
    for chapter_id, found in sizes.items():
        if len(found) > MAX_FILES or sum(found) > MAX_BYTES:
            raise ReleaseError(
                f"{root / 'solutions' / chapter_id / 'files'}: {len(found)} files of {sum(found):,} bytes; at most "
                f"{MAX_FILES} of {MAX_BYTES:,} together are allowed for a chapter."
            )


def check_sources(root: Path, manifest: Manifest) -> None:
    """Raise ReleaseError if a source that the manifest lists is missing, or if the manifest does not list one."""
    solutions = root / "solutions"
    listed = {source_path(root, chapter, notebook) for chapter in manifest.chapters for notebook in chapter.notebooks}
    for path in sorted(listed):
        if not path.is_file():
            raise ReleaseError(
                f"{path}: there is no such file, but course.toml lists notebook {path.stem!r} of chapter "
                f"{path.parent.name!r}. Write it, or remove the notebook from course.toml."
            )
    for path in sorted(solutions.glob("*/*.py")):
        if path.name not in ("__init__.py", FIXTURES, EXAM) and path not in listed:
            raise ReleaseError(
                f"{path}: course.toml lists no notebook {path.stem!r} of a chapter {path.parent.name!r}. "
                "Add it there, or delete the file."
            )


def stray_notebooks(manifest: Manifest, out: Path) -> list[Path]:
    """The notebooks below OUT that the manifest does not list: left over from an earlier release."""
    listed = {
        out / chapter.id / f"{notebook.name}.ipynb" for chapter in manifest.chapters for notebook in chapter.notebooks
    }
    found = (path for path in out.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)
    return sorted(path for path in found if path not in listed)


def stray_files(root: Path, manifest: Manifest, out: Path) -> list[Path]:
    """The files below OUT that are neither notebooks nor data files of a chapter."""
    listed = {out / relative for relative in data_files(root, manifest)}
    found = (path for path in out.rglob("*") if path.is_file() and path.suffix != ".ipynb")
    return sorted(p for p in found if p not in listed and not any(n.startswith(".") for n in p.relative_to(out).parts))


# --- reading the source ---------------------------------------------------------------------------


def _read_cells(path: Path) -> Iterator[tuple[int, NotebookNode]]:
    """The cells of a py:percent file, each with the line of its marker."""
    import jupytext

    try:
        text = path.read_text("utf-8")
    except FileNotFoundError as error:
        raise ReleaseError(
            f"{path}: there is no such file, but course.toml lists this notebook. "
            "Write it, or remove the notebook from course.toml."
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise ReleaseError(f"{path}: cannot be read: {error}. Save it as UTF-8 text.") from error
    cells = jupytext.reads(text, fmt="py:percent").cells
    lines = [number for number, line in enumerate(text.splitlines(), 1) if _CELL_MARKER.match(line)]
    if len(lines) == len(cells) - 1:  # there is text before the first marker
        lines.insert(0, 1)
    if len(lines) != len(cells):
        lines = [1] * len(cells)
    return zip(lines, cells, strict=True)


def _check_ids(
    path: Path, found: list[tuple[int, str]], manifest: Manifest, chapter: Chapter, notebook: Notebook
) -> None:
    """Check that the source has exactly the exercises of the manifest, in the same order."""
    expected = [exercise.id for exercise in notebook.exercises]
    seen: dict[str, int] = {}
    for line, exercise_id in found:
        if exercise_id not in expected:
            place = manifest.places.get(exercise_id)
            where = f"it belongs to {place.chapter.id}/{place.notebook.name}" if place else "no notebook has it"
            raise ReleaseError(
                f"{path}:{line}: exercise {exercise_id!r} is not one of notebook {notebook.name!r} "
                f"in course.toml ({where}). Add it there, or remove the cell."
            )
        if exercise_id in seen:
            raise ReleaseError(
                f"{path}:{line}: exercise {exercise_id!r} has a cell already, at line {seen[exercise_id]}. "
                "Keep one of them."
            )
        seen[exercise_id] = line
    for exercise_id in expected:
        if exercise_id not in seen:
            raise ReleaseError(
                f"{path}:1: no cell for exercise {exercise_id!r}, which course.toml lists in {chapter.id}/"
                f'{notebook.name}. Add a cell that begins with  # %% exercise="{exercise_id}"'
            )
    if list(seen) != expected:
        line = next(line for (line, id_), due in zip(found, expected, strict=True) if id_ != due)
        raise ReleaseError(
            f"{path}:{line}: the exercises come as {', '.join(seen)}; course.toml has {', '.join(expected)}. "
            "Give both the same order."
        )


def _check_questions(path: Path, found: list[tuple[int, str]], notebook: Notebook) -> None:
    """Check that the source has exactly the questions of the manifest, in the same order."""
    expected = [question.id for question in notebook.questions]
    if [question_id for _, question_id in found] != expected:
        line = next((line for line, question_id in found if question_id not in expected), found[0][0] if found else 1)
        raise ReleaseError(
            f"{path}:{line}: the questions are {', '.join(name for _, name in found) or 'none'}; course.toml has "
            f'{", ".join(expected) or "none"}. Each needs one cell that begins with  # %% [markdown] question="ID"'
        )


def _check_question_cell(path: Path, line: int, cell: NotebookNode, question: Question) -> None:
    """Check a question's cell, and give it nbgrader's metadata: answered in words, graded by hand."""
    if cell.cell_type != "markdown":
        raise ReleaseError(f"{path}:{line}: question {question.id!r} is a {cell.cell_type} cell; make it [markdown].")
    _check_regions(path, line, cell.source, question.id, "question")
    cell.metadata["nbgrader"] = _nbgrader_metadata(question.id, solution=True, points=question.points)


def _imports_check(cell: NotebookNode) -> bool:
    return (
        cell.cell_type == "code"
        and re.search(r"^from grader import .*\bcheck\b", cell.source, re.MULTILINE) is not None
    )


def _check_plain_cell(path: Path, line: int, cell: NotebookNode) -> None:
    if "BEGIN SOLUTION" in cell.source or "END SOLUTION" in cell.source:
        raise ReleaseError(
            f"{path}:{line}: a solution region stands in a cell that is no exercise: students would see it. "
            'Begin the cell with  # %% exercise="ID"  or  # %% [markdown] question="ID",  or take the markers out.'
        )


def _check_exercise_cell(path: Path, line: int, cell: NotebookNode, exercise_id: str) -> None:
    """Check that this is a code cell that defines `exercise_id` and contains well-formed solution regions."""
    if cell.cell_type != "code":
        raise ReleaseError(
            f"{path}:{line}: exercise {exercise_id!r} is a {cell.cell_type} cell; it has to be a code cell."
        )
    _check_regions(path, line, cell.source, exercise_id)
    try:
        names = _defined_names(cell.source)
    except SyntaxError as error:
        raise ReleaseError(
            f"{path}:{line + (error.lineno or 0)}: exercise {exercise_id!r} is not valid Python: {error.msg}."
        ) from error
    if exercise_id not in names:
        defined = f"it defines {', '.join(names)}" if names else "it defines none"
        raise ReleaseError(
            f"{path}:{line}: the cell of exercise {exercise_id!r} has to define a function or a class of "
            f"that name; {defined}. Give both the same name."
        )


def _check_regions(path: Path, line: int, source: str, name: str, kind: str = "exercise") -> None:
    opened: int | None = None
    regions = 0
    for number, text in enumerate(source.splitlines(), line + 1):
        if "BEGIN SOLUTION" in text:
            if opened is not None:
                raise ReleaseError(
                    f"{path}:{number}: a solution region begins inside the one of line {opened}. "
                    f"Close that one first with  {END}"
                )
            opened = number
        elif "END SOLUTION" in text:
            if opened is None:
                raise ReleaseError(f"{path}:{number}: {END} without a {BEGIN} before it. Add it or take this out.")
            opened = None
            regions += 1
    if opened is not None:
        raise ReleaseError(f"{path}:{opened}: this solution region is never closed. Add  {END}")
    if regions == 0 or (regions > 1 and kind == "question"):
        found = "no solution region" if regions == 0 else f"{regions} solution regions"
        raise ReleaseError(
            f"{path}:{line}: {kind} {name!r} has {found}; it needs one. Put the lines that students "
            f"have to write between  {BEGIN}  and  {END}"
        )


def _defined_names(source: str) -> list[str]:
    definitions = (ast.FunctionDef, ast.ClassDef)
    return [node.name for node in ast.parse(source).body if isinstance(node, definitions)]


# --- making the cells -----------------------------------------------------------------------------


def _nbgrader_metadata(name: str, *, solution: bool, points: float | None = None) -> dict[str, Any]:
    grade = points is not None
    metadata = {
        "grade": grade,
        "grade_id": name,
        "locked": grade and not solution,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    if points is not None:
        metadata["points"] = int(points) if points == int(points) else points
    return metadata


def _check_cell(exercise: Exercise) -> NotebookNode:
    from nbformat.v4 import new_code_cell

    metadata = {"nbgrader": _nbgrader_metadata(check_id(exercise.id), solution=False, points=exercise.points)}
    return new_code_cell(check_source(exercise.id), metadata=metadata)


def _finish(cells: list[NotebookNode], chapter: Chapter, notebook: Notebook) -> NotebookNode:
    """A notebook of these cells, whose ids depend only on the cells' names and contents."""
    from nbformat.v4 import new_notebook

    seen: Counter[str] = Counter()
    for cell in cells:
        key = grade_id(cell) or f"{cell.cell_type}:{cell.source}"
        seen[key] += 1
        text = f"{chapter.id}/{notebook.name}:{seen[key]}:{key}"
        cell["id"] = hashlib.sha256(text.encode()).hexdigest()[:12]
    metadata = {"kernelspec": dict(_KERNELSPEC), "language_info": {"name": "python"}}
    result = new_notebook(cells=cells, metadata=metadata)
    result.nbformat, result.nbformat_minor = 4, 5
    return result


def _name_stubs(student: NotebookNode, path: Path) -> None:
    """Put each exercise's id into its stubs, and make sure that the cell still runs: only what it defines raises."""
    for cell in student.cells:
        nbgrader = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code" or not nbgrader.get("solution"):
            continue
        exercise_id = nbgrader["grade_id"]
        cell.source = cell.source.replace(STUB, STUB.format(id=exercise_id))
        try:
            is_defined = exercise_id in _defined_names(cell.source)
        except SyntaxError:
            is_defined = False
        if not is_defined:
            raise ReleaseError(
                f"{path}: without its solution regions, exercise {exercise_id!r} is no longer a definition. "
                f"The def or class line and the docstring belong before  {BEGIN}"
            )
        if _raises_at_once(ast.parse(cell.source)):
            raise ReleaseError(
                f"{path}: a solution region of exercise {exercise_id!r} stands outside of every function, so that "
                "students could not even run the cell. Let each region be the body of a function, or part of one."
            )


def _raises_at_once(tree: ast.AST) -> bool:
    """Whether a stub raises as soon as the cell runs, rather than only when a function is called."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    inside = (node for node in ast.iter_child_nodes(tree) if not isinstance(node, functions))
    return isinstance(tree, ast.Raise) or any(map(_raises_at_once, inside))


def _write_if_changed(path: Path, content: bytes) -> bool:
    if path.is_file() and path.read_bytes() == content:
        return False
    write_whole(path, content)
    return True
