"""`grader submit`: a chapter's files, or every reason why they could not be graded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from grader.cells import TEXT_STUB, grade_id
from grader.journal import Entry
from grader.manifest import Chapter, Manifest, Notebook
from grader.shown import named, one_line, some
from grader.submission.archive import MANIFEST, TIMESTAMP, Attempt, SubmittedNotebook, is_submission, name_problem
from grader.submission.bounded import MAX_TOTAL
from grader.submission.choose import File as Candidate
from grader.submission.choose import sorted_files
from grader.submission.files import MAX_BYTES, MAX_FILE_BYTES, MAX_FILES, submitted_files
from grader.submission.notebook import MAX_CELLS, MAX_SOURCE
from grader.submission.notebook_names import is_notebook
from grader.submission.readable import UnreadableError, has_conflict
from grader.work.notebooks import Work, WorkError, known_ids, marks, read_work, restoring, whose

MOST_NAMED = 5  # files that each get a line of their own
_OF_SYSTEMS = frozenset({"thumbs.db", "desktop.ini"})


@dataclass
class Prepared:
    """What would be submitted: the files by name and the notebooks among them. `reasons` say why it cannot be graded,
    `warnings` what the student should know.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    notebooks: list[SubmittedNotebook] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def prepare(
    folder: Path, manifest: Manifest, chapter: Chapter, entries: Iterable[Entry], *, partial: bool = False
) -> Prepared:
    """Collect the files of a chapter from a student's folder. If `partial`, notebooks may be missing. `entries` are
    those of the diary. Raises OSError.
    """
    made = Prepared()
    works = _works(folder)
    of_cells = {notebook.name: [("", mark) for mark in marks(notebook)] for notebook in chapter.notebooks}
    belonging, rest = sorted_files([_candidate(path, work, chapter) for path, work in works.items()], chapter, of_cells)
    missing = [notebook for notebook in chapter.notebooks if not belonging[notebook.name]]
    if len(missing) == len(chapter.notebooks):
        made.reasons.append(f"{folder} contains no notebook of {chapter.id}.")
    elif missing:
        names = _listed(f"{notebook.name}.ipynb" for notebook in missing)
        if partial:
            made.warnings.append(f"Missing, so without points: {names}.")
        else:
            made.reasons.append(
                f"Missing: {names}. To submit without {'it' if len(missing) == 1 else 'them'}, add --partial."
            )
    for notebook in chapter.notebooks:
        if found := belonging[notebook.name]:
            _take_notebook(made, notebook, {candidate.path: works[candidate.path] for candidate in found})
    for candidate in rest[:MOST_NAMED]:
        _leave_out(made, candidate.path, works[candidate.path], manifest, bool(missing))
    if more := [candidate.path.name for candidate in rest[MOST_NAMED:]]:
        told = made.reasons if missing else made.warnings
        told.append(f"More notebooks that are none of this chapter's: {some(more)}.")
    _take_others(made, folder, {path.name for path in works})
    if (total := sum(map(len, made.files.values()))) > MAX_TOTAL:
        made.reasons.append(f"All files together have {total / 1e6:.0f} MB; the limit is {MAX_TOTAL / 1e6:.0f} MB.")
    if not made.reasons:
        made.warnings += _unfinished(made.notebooks, entries)
    return made


_Works = Mapping[Path, Work | UnreadableError]


def _works(folder: Path) -> _Works:
    """The files that may be notebooks, as grading would find them."""
    found: dict[Path, Work | UnreadableError] = {}
    for path in sorted(folder.iterdir()):
        if is_notebook(path.name) and path.is_file():
            try:
                found[path] = read_work(path)
            except UnreadableError as error:
                found[path] = error
    return found


def _candidate(path: Path, work: Work | UnreadableError, chapter: Chapter) -> Candidate:
    """A file as grading sorts it, reduced to the cells by which it is recognised without the release's texts."""
    if isinstance(work, UnreadableError):
        return Candidate(path, work)
    ids = known_ids(work, chapter.notebooks)
    return Candidate(path, Work(tuple(cell for cell in work.cells if not ids or grade_id(cell) in ids)))


def _take_notebook(made: Prepared, notebook: Notebook, found: _Works) -> None:
    """Add the only version of a notebook, or the reasons why it cannot be graded."""
    name = f"{notebook.name}.ipynb"
    first, *others = sorted(found, key=lambda path: (path.name != name, path.name))
    if different := [path for path in others if not _have_same_cells(found[path], found[first])]:
        names = _listed(path.name for path in (first, *different))
        made.reasons.append(f"There are {1 + len(different)} versions of {name}: {names}. Keep one of them here.")
        return
    if others:
        copies = _listed(path.name for path in others)
        made.warnings.append(f"Left out, because {one_line(first.name)} has the same cells: {copies}.")
    file, work = one_line(first.name), found[first]
    if isinstance(work, UnreadableError):
        cure = "" if first.is_symlink() else restoring(first)  # of a link, the reason says it already
        made.reasons.append(f"{file} cannot be read: {_sentence(work)} {cure}")
        return
    reasons = list(_content_reasons(file, notebook, work))
    if problem := name_problem(first.name):
        reasons.append(f"{file}: {problem}. Rename it to {name}.")
    made.reasons += reasons
    if reasons:
        return
    if gone := [each.id for each in notebook.exercises if not work.has(each.id)]:
        made.warnings.append(f"{file} no longer has a cell for {_listed(gone)}, so without points.")
    made.files[first.name] = first.read_bytes()
    made.notebooks.append(
        SubmittedNotebook(
            notebook.name,
            first.name,
            tuple(Attempt(each.id, work.is_written(each.id)) for each in notebook.exercises if work.has(each.id)),
            tuple(
                Attempt(each.id, _is_answered(work, each.id)) for each in notebook.questions if each.id in work.names
            ),
        )
    )


def _have_same_cells(one: Work | UnreadableError, other: Work | UnreadableError) -> bool:
    if isinstance(one, UnreadableError) or isinstance(other, UnreadableError):
        return False
    return [(c["cell_type"], c["source"]) for c in one.cells] == [(c["cell_type"], c["source"]) for c in other.cells]


def _content_reasons(file: str, notebook: Notebook, work: Work) -> Iterator[str]:
    ids = marks(notebook)
    if not (set(ids) & work.names or any(work.has(each.id) for each in notebook.exercises)):
        yield f"{file} contains no cell of the notebook {notebook.name}.ipynb. Is it from another course or chapter?"
    if at := [index + 1 for index, cell in enumerate(work.cells) if has_conflict(cell["source"].splitlines())]:
        cells = f"cell{'s' * (len(at) > 1)} {', '.join(map(str, at))}"
        yield f"{file} contains conflict markers of git (<<<<<<<) in {cells}. Decide what counts and delete them."
    if len(work.cells) > MAX_CELLS:
        yield f"{file} has {len(work.cells):,} cells; the limit is {MAX_CELLS:,}."
    if (size := sum(len(cell["source"]) for cell in work.cells)) > MAX_SOURCE:
        yield f"The cells of {file} contain {size:,} characters; the limit is {MAX_SOURCE:,}."


def _is_answered(work: Work, question: str) -> bool:
    return any(grade_id(cell) == question and cell["source"].strip() not in ("", TEXT_STUB) for cell in work.cells)


def _leave_out(made: Prepared, path: Path, work: Work | UnreadableError, manifest: Manifest, is_suspect: bool) -> None:
    """A notebook that is none of the chapter's. If one of these is missing, this may be it, so it is a reason."""
    name = one_line(path.name)
    if isinstance(work, UnreadableError):
        text = f"{name} cannot be read: {_sentence(work)}"
    else:
        try:
            chapter, notebook = whose(work, manifest, path.stem)
            text = f"{name} is {notebook.name}.ipynb of {chapter.id}."
        except WorkError:
            text = f"{name} contains no cell of this chapter."
    if is_suspect:
        made.reasons.append(f"{text} Move it out of this folder.")
    else:
        made.warnings.append(f"Left out: {text}")


def _take_others(made: Prepared, folder: Path, notebooks: set[str]) -> None:
    """Add the files besides the notebooks, by the rules and the limits of grading."""
    own = {path.name for path in folder.iterdir() if path.suffix.lower() == ".zip" and is_submission(path)}
    skipped = own | {name for name in (MANIFEST, TIMESTAMP) if (folder / name).is_file()}
    litter = {path.name for path in folder.iterdir() if path.name.lower() in _OF_SYSTEMS}
    files, left_out = submitted_files(folder, skipped | litter | (notebooks - made.files.keys()))
    odd = [each for each in left_out if each.file not in made.files]  # a notebook may be larger than other files
    if odd:
        names = [f"{named(each.file)} ({each.size / 1e6:.1f} MB)" for each in odd]
        made.reasons.append(
            f"Too large, or too many files: {some(names)}. Grading takes up to {MAX_FILES} files, each up to "
            f"{MAX_FILE_BYTES / 1e6:.0f} MB and {MAX_BYTES / 1e6:.0f} MB together."
        )
    problems = {name: problem for name in files if name not in made.files and (problem := name_problem(name))}
    made.files |= {name: content for name, content in files.items() if name not in made.files | problems}
    if problems:
        made.reasons.append(f"Rename these: {some([f'{named(n)} ({problem})' for n, problem in problems.items()])}.")
    for name in sorted(skipped - own):
        made.warnings.append(f"Left out: {name}, because a submission has its own file of this name.")
    odd_names = [one_line(path.name) for path in sorted(folder.iterdir()) if _is_left(path)]
    if odd_names:
        made.warnings.append(f"Left out, because grading reads no folders and links: {_listed(odd_names)}.")


def _is_left(path: Path) -> bool:
    hidden = path.name.startswith((".", "__"))
    return not hidden and (path.is_dir() or path.is_symlink())


def _unfinished(notebooks: Iterable[SubmittedNotebook], entries: Iterable[Entry]) -> Iterator[str]:
    attempts = [attempt for notebook in notebooks for attempt in notebook.exercises]
    questions = [attempt for notebook in notebooks for attempt in notebook.questions]
    latest = {entry.exercise: entry for entry in entries}
    if unwritten := [each.id for each in attempts if not each.attempted]:
        yield f"Not written yet: {_listed(unwritten)}."
    written = [each.id for each in attempts if each.attempted]
    if wrong := [name for name in written if name in latest and latest[name].status != "passed"]:
        yield f"Not right when they were last checked: {_listed(wrong)}."
    if unchecked := [name for name in written if name not in latest]:
        yield f"Never checked on this machine: {_listed(unchecked)}."
    if empty := [each.id for each in questions if not each.attempted]:
        yield f"Not answered yet: {_listed(empty)}."


def counts(notebooks: Iterable[SubmittedNotebook]) -> Mapping[str, tuple[int, int]]:
    """For each notebook, how many of its exercises and questions were attempted, and how many there are."""
    found = {}
    for notebook in notebooks:
        attempts = (*notebook.exercises, *notebook.questions)
        found[notebook.file] = sum(each.attempted for each in attempts), len(attempts)
    return found


def _listed(names: Iterable[str]) -> str:
    return some([*names])


def _sentence(error: UnreadableError) -> str:
    text = one_line(str(error)).rstrip(".")
    return f"{text}."
