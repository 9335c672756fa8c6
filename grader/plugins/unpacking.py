"""How `nbgrader zip_collect` unpacks what was downloaded from Canvas, Moodle or Gradescope.

nbgrader's own step unpacks every archive to the end, whatever it takes, and stops for the whole class at the first one
that it cannot open. Here, each file is opened by itself within the limits of `grader collect`, which hold for all files
of a student together. Whatever cannot be accepted is left where it is and reported in a line, and the command then ends
with status 3; everything else is collected.

The files of a download go to `extracted/`, in folders named after the archives. An archive in an archive is kept there
beside its own folder. Only nbgrader imports `Unpacker` (`nbgrader_config.py` names it).
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from nbgrader.plugins import ExtractorPlugin

from grader.errors import ExpectedError
from grader.gradebook import GradebookError
from grader.gradebook.people import People, people, read_groups
from grader.gradebook.roster import Student, students
from grader.plugins.download_names import below, is_hidden, of_canvas, owner
from grader.plugins.plain_files import files_below, opened_file
from grader.shown import named, one_line, some
from grader.submission.archive import MANIFEST, read_manifest
from grader.submission.bounded import MAX_TOTAL, ArchiveError, Entry, entries, is_archive, name_problem, same_name

MAX_ENTRIES = 1000  # files of a student
MAX_IN_DOWNLOAD = 100_000  # files of a whole class
MAX_UNKNOWN = 10 * MAX_TOTAL  # bytes of a download in which names tell no student
MAX_DEPTH = 3  # archives in each other that a student made
MAX_PARTS = 12  # folders in each other
MOST_PROBLEMS = 5  # of one submitted file that are reported
LONGEST_SHOWN = 120  # characters of a name
SOME_LEFT_OUT = 3  # the exit status

Parts = tuple[str, ...]


class Unpacker(ExtractorPlugin):  # type: ignore[misc]
    """Unpack the downloads, have them collected, and end the command with a status that tells whether all were."""

    def extract(self, archive_path: str, extracted_path: str) -> None:
        """Raises SystemExit, because nbgrader's command itself ends with 0 whatever was left out."""
        self.left_out = False
        self.people = self._people()
        unpacking = Unpacking(Path(archive_path), Path(extracted_path), self.people)
        self.kept, self.downloads = unpacking.kept, unpacking.downloads
        for line in unpacking.lines():
            self._tell(line)
        getattr(self.parent.collector_plugin_inst, "copy_for_groups", lambda: None)()
        self.parent.process_extracted_files()
        self.parent.exit(SOME_LEFT_OUT if self.left_out else 0)

    def _people(self) -> People:
        """The roster and the groups of the term, as far as they can be read."""
        root, url = Path(self.parent.coursedir.root), self.parent.coursedir.db_url
        known: list[Student] = []
        groups: dict[str, tuple[str, ...]] = {}
        try:
            known = students(url)
        except GradebookError as error:
            self._tell(f"The roster cannot be read, so names are not looked up in it: {error}")
        try:
            groups = read_groups(root)
        except (ExpectedError, OSError) as error:
            self._tell(f"The groups cannot be read, so no group is known: {error}")
        return people(known, groups)

    def _tell(self, line: str) -> None:
        self.log.warning(one_line(line))
        self.left_out = True


class _Room:
    """What may still be unpacked of one student's files in one download, or of those that tell no student."""

    def __init__(self, whose: str, most: int, entries: int) -> None:
        self.bytes, self.entries = most, entries
        self.too_much = f"with it, {whose} would be more than {entries:,} or have more than {most:,} bytes"

    def holds(self, files: list[Entry]) -> bool:
        size = sum(each.size for each in files)
        return len(files) <= self.entries and size <= self.bytes and all(each.size <= MAX_TOTAL for each in files)


class Unpacking:
    """Unpacks the files of one folder into another. `kept` are the archives in archives, which stay as they are.
    `downloads` are the folders in the other one that are called like a student's, but hold the files of several.
    """

    def __init__(self, source: Path, target: Path, people: People | None = None) -> None:
        self.kept: set[Path] = set()
        self.downloads: set[Parts] = set()
        self._source, self._target, self._people = source, target, people or People()
        self._shared: set[Parts] = set()  # the same in the source
        self._rooms: dict[Parts, _Room] = {}
        self._taken: set[str] = set()  # paths in `target`, as the strictest system compares them

    def lines(self) -> Iterator[str]:
        """Unpack everything; yield a line for each submitted file of which something is not accepted as it is."""
        errors: list[OSError] = []
        paths = [
            path for path in files_below(self._source, errors) if not is_hidden(path.relative_to(self._source).parts)
        ]
        boxes = _boxes([path.relative_to(self._source).parts for path in paths], self._source)
        self._shared = {box for box, inside in boxes.items() if inside}
        refused = dict(_refused(boxes, self._people))
        yield from refused.values()
        for path in paths:
            where = path.relative_to(self._source)
            if any(where.parts[: index + 1] in refused for index in range(len(where.parts))):
                continue
            try:
                with opened_file(path) as stream:
                    for inside, problems in self._downloaded(stream, where.parts):
                        shown = [str(where), *(named(part, LONGEST_SHOWN) for part in inside)]
                        yield _line(" › ".join(shown), problems)
            except (OSError, ArchiveError) as error:
                yield _line(str(where), [_reason(error)])
        for closed in errors:
            yield _line(os.path.relpath(closed.filename, self._source), [_reason(closed)])

    def _downloaded(self, stream: BinaryIO, parts: Parts) -> Iterator[tuple[Parts, list[str]]]:
        """A file as it was downloaded: a student's, or an archive with those of a class. Yields each submitted file in
        it that has problems.
        """
        self.downloads |= {box for box in self._shared if len(box) < len(parts) and box == parts[: len(box)]}
        if owner(parts[below(parts, self._shared) :]) or not is_archive(parts[-1]):
            if problems := list(self._file(_bounded(stream), parts, self._room(parts), MAX_DEPTH)):
                yield (), problems
            return
        found = entries(stream, parts[-1], MAX_IN_DOWNLOAD)
        folder = self._folder(parts)
        if parts in self._shared:
            self.downloads.add(folder)
        for entry in found:
            inside = _parts(entry)
            if not entry.is_folder and not is_hidden(inside):
                room = self._room((*folder, *inside))
                if problems := list(self._entry(entry, folder, room, MAX_DEPTH)):
                    yield inside, problems

    def _entry(self, entry: Entry, folder: Parts, room: _Room, depth: int | None) -> Iterator[str]:
        """A file in an archive."""
        if problem := _path_problem(_parts(entry)) or (entry.problem and f"it {entry.problem}"):
            yield problem
        elif not room.holds([entry]):
            yield f"not unpacked: {room.too_much}"
        else:
            room.bytes -= entry.size
            room.entries -= 1
            try:
                yield from self._file(entry.read(), (*folder, *_parts(entry)), room, depth)
            except (ArchiveError, OSError) as error:
                yield _reason(error)

    def _file(self, content: bytes, parts: Parts, room: _Room, depth: int | None) -> Iterator[str]:
        """Write a file and, if it is an archive and a depth is given, what is in it."""
        path = self._written(content, parts)
        if path.name != parts[-1]:
            yield f"there is another file of this name, so it is {path.name!r}"
        if depth is None or not is_archive(parts[-1]):
            return
        self.kept.add(path)
        try:
            if not depth:
                raise ArchiveError([f"more than {MAX_DEPTH} archives are in each other"])
            found = [each for each in entries(io.BytesIO(content), parts[-1]) if not is_hidden(_parts(each))]
            files = [each for each in found if not each.is_folder]
            if not files:
                raise ArchiveError(["there is no file in it"])
            if not room.holds(files):
                raise ArchiveError([room.too_much])
        except ArchiveError as error:
            yield f"not unpacked: {error}"
            return
        folder = self._folder(parts)
        inner = None if _is_of_submit(files) else depth - 1
        for entry in files:
            name = named(entry.name, LONGEST_SHOWN)
            yield from (f"{name!r}: {problem}" for problem in self._entry(entry, folder, room, inner))

    def _written(self, content: bytes, parts: Parts) -> Path:
        path = self._target.joinpath(*self._free(parts))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(content)
        return path

    def _folder(self, archive: Parts) -> Parts:
        """A new folder that is named after an archive."""
        name = archive[-1].removesuffix(".gz")
        folder = self._free((*archive[:-1], name.rpartition(".")[0] if is_archive(name) else name))
        self._target.joinpath(*folder).mkdir(parents=True, exist_ok=True)
        return folder

    def _free(self, parts: Parts) -> Parts:
        """A path like this one that no other has, on any system."""
        *above, name = parts
        stem, dot, ending = name.rpartition(".") if "." in name.lstrip(".") else (name, "", "")
        number = 1
        while (key := same_name("/".join([*above, name]))) in self._taken:
            number += 1
            name = f"{stem}~{number}{dot}{ending}"
        self._taken.add(key)
        return (*above, name)

    def _room(self, parts: Parts) -> _Room:
        """That of a student in a download, or of all files in a download of which no student is known."""
        student = owner(parts[below(parts, self.downloads) :])
        if (parts[0], student) not in self._rooms:
            own = _Room("this student's files", MAX_TOTAL, MAX_ENTRIES)
            unknown = _Room("the files of unknown students", MAX_UNKNOWN, MAX_IN_DOWNLOAD)
            self._rooms[parts[0], student] = own if student else unknown
        return self._rooms[parts[0], student]


# --- folders and archives that are called like a student ------------------------------------------------------

_Boxes = dict[Parts, frozenset[str]]


def _boxes(files: Sequence[Parts], source: Path) -> _Boxes:
    """What is outside any archive and is called like a student's file of Canvas, and, if it is a folder or an archive,
    the names in it of those who submitted. A download holds such names; a submission holds none.
    """
    found: dict[Parts, set[str]] = {}
    for parts in files:
        for index, name in enumerate(parts, 1):
            if of_canvas(name):
                found.setdefault(parts[:index], set()).add(owner(parts[index:]))
        if of_canvas(parts[-1]) and is_archive(parts[-1]):
            found[parts].update(_owners_in(source.joinpath(*parts)))
    return {box: frozenset(inside - {""}) for box, inside in found.items()}


def _owners_in(archive: Path) -> Iterator[str]:
    with suppress(OSError, ArchiveError), opened_file(archive) as stream:  # unpacking tells what is wrong with it
        for entry in entries(stream, archive.name, MAX_IN_DOWNLOAD):
            yield owner(_parts(entry))


def _refused(boxes: _Boxes, people: People) -> Iterator[tuple[Parts, str]]:
    """What may be a download or one student's submission, with a line for each: the files of several students must not
    go to one, and no student's file may go to another.
    """
    beside_submissions = {box[:-1] for box, inside in boxes.items() if not inside}
    for box, inside in boxes.items():
        whose = owner(box[-1:])
        if inside and (box[:-1] in beside_submissions or people.student(whose) is not None):
            line = (
                f"Not collected: {'/'.join(box)}: by its name it is a submission of {whose}, but there are names of "
                f"others in it: {some(sorted(inside))}. If it is a download, rename it, such as to submissions.zip. "
                "If it is a submission, put what counts into submitted/STUDENT/CHAPTER/ by hand."
            )
            yield box, line


def _line(where: str, problems: list[str]) -> str:
    more = len(problems) - MOST_PROBLEMS
    shown = [*problems[:MOST_PROBLEMS], *([f"and {more} more"] if more > 0 else [])]
    return (
        f"Not collected as it is: {where}: {'; '.join(shown)}. Ask for it again, or put what counts into "
        "submitted/STUDENT/CHAPTER/ by hand: the download is unchanged."
    )


def _reason(error: OSError | ArchiveError) -> str:
    return str(error.strerror if isinstance(error, OSError) and error.strerror else error)


def _bounded(stream: BinaryIO) -> bytes:
    content = stream.read(MAX_TOTAL + 1)
    if len(content) > MAX_TOTAL:
        raise ArchiveError([f"it has more than {MAX_TOTAL:,} bytes"])
    return content


def _parts(entry: Entry) -> Parts:
    """The path of an entry. Some programs on Windows write backslashes."""
    parts = entry.name.replace("\\", "/").rstrip("/").split("/")
    return tuple(part for part in parts if part != ".") or ("",)


def _path_problem(parts: Parts) -> str:
    if len(parts) > MAX_PARTS:
        return f"it is in more than {MAX_PARTS - 1} folders"
    if "" in parts or ".." in parts:
        return "its path leads out of the archive"
    return next((problem for part in parts if (problem := name_problem(part))), "")


def _is_of_submit(files: list[Entry]) -> bool:
    """Whether `grader submit` made an archive, whose files are collected as its manifest lists them."""
    try:
        (manifest,) = [each for each in files if each.name == MANIFEST]
        read_manifest(manifest.read())
    except (ArchiveError, ValueError):
        return False
    return True
