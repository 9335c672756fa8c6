"""How `nbgrader zip_collect` finds the student and the notebook from file names in Canvas, Moodle and Gradescope
downloads. `download_names` has their forms, `unpacking` opens the archives, `collected` decides which files are taken.

If a folder of the download is an unpacked zip of `grader submit`, its files are compared with its manifest. If they
agree, all of them are collected, whatever their endings. If they do not, none is, and the reasons are logged.

nbgrader warns of every folder that it creates and of every file that it does not collect. `_Unsurprising` leaves out
those messages that are as they should be, because the others are easily overlooked among them.

Only nbgrader imports this (`nbgrader_config.py` names it).
"""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader.plugins import FileNameCollectorPlugin

from grader.errors import ExpectedError
from grader.gradebook.people import People
from grader.grading.release import released_notebooks
from grader.manifest import Chapter, load_manifest
from grader.plugins import collected
from grader.plugins.download_names import METADATA, DownloadedFile, Unclear, below, is_hidden, is_litter, read_name
from grader.shown import named, one_line
from grader.submission.archive import MANIFEST, file_problems, read_manifest
from grader.submission.bounded import ArchiveError
from grader.submission.choose import Marks, belongs_to, marks_of, read_file
from grader.submission.notebook_names import is_notebook

_SKIPPED = "Skipped submission with no match information provided: "
_MADE = (
    "Directory not found. Creating: ",
    "Clearing existing files in ",
    "Invalid submission notebook name ",  # a notebook is known by its cells
)
MOST_PROBLEMS = 5  # of one submission that are logged
_COUNTED = re.compile(r"\d+ files collected(, \d+ files skipped)?")


class Downloads(FileNameCollectorPlugin):  # type: ignore[misc]
    """Find the student and the notebook of each file. If a student is in several downloads, the newest one is used; if
    Canvas numbered several uploads of one notebook, the newest upload is used.

    Other file names are matched with `named_regexp`, if it is configured.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._expected: set[str] = set()  # files that are not collected, for a good reason or one that is logged
        self._submissions: dict[Path, frozenset[str] | None] = {}
        self.log.addFilter(_Unsurprising(self._expected, counts=bool(self.named_regexp)))

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """`student_id`, `file_id` and possibly `timestamp` of a file; None if the file is not to be collected."""
        path = Path(submitted_file)
        if (found := self._to_collect.get(path)) is not None:
            info = {"student_id": found.student, "file_id": found.name}
            return info if found.timestamp is None else info | {"timestamp": found.timestamp}
        if not self.named_regexp or path in self._found or self._is_expected(path):
            self._expected.add(submitted_file)  # `_to_collect` has logged why not
        strange = path not in self._found and self._is_valid(path)
        return super().collect(submitted_file) if strange and self.named_regexp else None

    def copy_for_groups(self) -> None:
        """Before nbgrader lists the files: a copy of what was submitted for a group, for each of its other members."""
        extracted = self._folder("extracted")
        copies = collected.of_groups(self._found, self._people, extracted, self._left_out)
        for copy, (source, _) in copies.items():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
        self._found.update({copy: found for copy, (_, found) in copies.items()})

    def _is_valid(self, path: Path) -> bool:
        if is_litter(path.relative_to(self._folder("extracted")).parts):
            return False
        listed = self._listed(path.parent)
        return path.suffix in self.valid_ext or is_notebook(path.name) if listed is None else path.name in listed

    def _is_expected(self, path: Path) -> bool:
        """Whether this is a file of the system, an archive that has been unpacked, what describes a submission, or in
        one that was left out.
        """
        if is_hidden(path.relative_to(self._folder("extracted")).parts):
            return True
        listed = self._listed(path.parent)
        if path.name == MANIFEST or listed == frozenset():
            return listed is not None
        return path.name == METADATA or path in getattr(self.parent.extractor_plugin_inst, "kept", ())

    def _listed(self, folder: Path) -> frozenset[str] | None:
        """The files to collect of a submission that was made with `grader submit`; None for any other folder."""
        if folder not in self._submissions:
            self._submissions[folder] = _manifest_files(folder, self.parent.coursedir.assignment_id, self._left_out)
        return self._submissions[folder]

    def _left_out(self, line: str) -> None:
        """Log what is not collected, and let the command's exit status tell it."""
        self.log.warning(line)
        self.parent.extractor_plugin_inst.left_out = True

    @cached_property
    def _files(self) -> list[Path]:
        return [path for path in sorted(self._folder("extracted").rglob("*")) if path.is_file()]

    @cached_property
    def _read(self) -> dict[Path, DownloadedFile | Unclear]:
        """All downloaded files whose names identify a student, or several."""
        root = self._folder("extracted")
        read = {}
        for path in filter(self._is_valid, self._files):
            parts = path.relative_to(root).parts
            found = read_name(path, parts, self._people, below(parts, self._downloads))
            if found is not None:
                read[path] = found
        return read

    @cached_property
    def _found(self) -> collected.Files:
        """Those of which it is certain whose they are."""
        found = {path: each for path, each in self._read.items() if isinstance(each, DownloadedFile)}
        found = collected.without_test_student(found, self._people)
        unclear = {path: each for path, each in self._read.items() if isinstance(each, Unclear)}
        collected.tell_unclear(unclear, self._left_out)
        found = collected.possible(found, self._left_out)
        found = collected.told_apart(found, self.log.warning)
        return collected.of_one_person(found, self._left_out)

    @cached_property
    def _to_collect(self) -> collected.Files:
        """The files to collect, with their new names. Choices that may be unexpected are logged."""
        found = collected.of_newest_downloads(self._found, self._folder("archive"), self.log.warning)
        found = collected.newest_uploads(found, self._notebook_of, self.log.warning)
        collected.tell_strangers(found, self._people, self.log.warning)
        if not self.named_regexp:
            root = self._folder("extracted")
            rest = [path for path in self._files if path not in self._read and not self._is_expected(path)]
            collected.tell_rest([path.relative_to(root) for path in rest], self._downloads, self.log.warning)
            collected.tell_count(found, self.log.warning)
        return collected.with_own_names(found, self.log.warning)

    @property
    def _downloads(self) -> Collection[tuple[str, ...]]:
        """The folders that are downloads, although they are called like a student's."""
        return getattr(self.parent.extractor_plugin_inst, "downloads", ())

    @property
    def _people(self) -> People:
        return getattr(self.parent.extractor_plugin_inst, "people", People())

    def _notebook_of(self, path: Path) -> str:
        """The name of the notebook of the chapter that a file is, by its cells; empty if it is none of them."""
        if not is_notebook(path.name) or self._chapter is None:
            return ""
        chapter, marks = self._chapter
        return belongs_to(read_file(path), chapter, marks)

    @cached_property
    def _chapter(self) -> tuple[Chapter, dict[str, Marks]] | None:
        """The chapter and its released notebooks; None if this is another course's."""
        root = Path(self.parent.coursedir.release_directory).parent
        try:
            chapter = load_manifest(root / "course.toml").chapter(self.parent.coursedir.assignment_id)
            return chapter, marks_of(released_notebooks(root, chapter))
        except (ExpectedError, OSError):
            return None

    def _folder(self, step: str) -> Path:
        return Path(self.parent._format_collect_path(getattr(self.parent, f"{step}_directory")))


class _Unsurprising(logging.Filter):
    """Leaves out nbgrader's messages about folders that it makes or replaces, and about these files. Its count of
    skipped files includes them, so it is left out too, unless `counts`. Students chose the names in what remains.
    """

    def __init__(self, files: Collection[str], counts: bool) -> None:
        super().__init__()
        self._files, self._counts = files, counts

    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        record.msg, record.args = one_line(said), None
        if said.startswith(_SKIPPED):
            return said.removeprefix(_SKIPPED) not in self._files
        return not said.startswith(_MADE) and (self._counts or not _COUNTED.fullmatch(said))


def _manifest_files(folder: Path, chapter: str, log: collected.Log) -> frozenset[str] | None:
    """The files that the manifest of `grader submit` lists; none if any differs; None if there is no such manifest."""
    try:
        text = (folder / MANIFEST).read_bytes()
        manifest = read_manifest(text)
    except OSError:
        return None
    except ArchiveError as error:
        if b"unrolled-submission" not in text:  # a student's own file may have this name
            return None
        log(f"Not collected, because its manifest does not allow it: {folder}: {error}.")
        return frozenset()
    names = {path.name for path in folder.iterdir() if path.is_file() and not is_litter((path.name,))} - {MANIFEST}
    names -= {METADATA}
    files = {name: (folder / name).read_bytes() for name in names}
    problems = list(file_problems(manifest, files))
    if manifest.chapter != chapter:
        problems.append(f"it is a submission of {named(manifest.chapter, 80)!r}")
    if problems:
        more = [f"and {len(problems) - MOST_PROBLEMS} more"] if len(problems) > MOST_PROBLEMS else []
        log(
            f"Not collected, because its manifest does not allow it: {folder}: "
            f"{'; '.join([*problems[:MOST_PROBLEMS], *more])}. Ask the student to run  grader submit {chapter}  again."
        )
        return frozenset()
    return frozenset(files)
