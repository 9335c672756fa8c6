"""How `nbgrader zip_collect` finds the student and the notebook from file names in Canvas, Moodle and Gradescope
downloads. `download_names` has their forms, `unpacking` opens the archives.

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
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader.plugins import FileNameCollectorPlugin

from grader.counts import counted
from grader.errors import ExpectedError
from grader.gradebook.people import GROUPS, People
from grader.grading.release import released_notebooks
from grader.manifest import Chapter, load_manifest
from grader.plugins.download_names import (
    METADATA,
    DownloadedFile,
    Unclear,
    below,
    impossible,
    is_hidden,
    is_litter,
    owner,
    read_name,
)
from grader.shown import named, one_form, one_line, some
from grader.submission.archive import MANIFEST, file_problems, read_manifest
from grader.submission.bounded import ArchiveError, same_name
from grader.submission.choose import Marks, belongs_to, marks_of, read_file
from grader.submission.notebook_names import is_notebook
from grader.term_settings import NAME

_SKIPPED = "Skipped submission with no match information provided: "
MOST_PROBLEMS = 5  # of one submission that are logged
_COUNTED = re.compile(r"\d+ files collected(, \d+ files skipped)?")


Files = dict[Path, DownloadedFile]
Log = Callable[[str], None]


class Downloads(FileNameCollectorPlugin):  # type: ignore[misc]
    """Find the student and the notebook of each file. If a student is in several downloads, the newest one is used; if
    Canvas numbered several uploads of one notebook, the newest upload is used.

    Other file names are matched with `named_regexp`, if it is configured.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._expected: set[str] = set()  # files that are not collected, for a good reason or one that is logged
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
        copies = _of_groups(self._found, self._people, extracted, self._left_out)
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
            self._submissions[folder] = _listed(folder, self.parent.coursedir.assignment_id, self._left_out)
        return self._submissions[folder]

    def _left_out(self, line: str) -> None:
        """Log what is not collected, and let the command's exit status tell it."""
        self.log.warning(line)
        self.parent.extractor_plugin_inst.left_out = True

    @cached_property
    def _submissions(self) -> dict[Path, frozenset[str] | None]:
        return {}

    @cached_property
    def _files(self) -> list[Path]:
        return [path for path in sorted(self._folder("extracted").rglob("*")) if path.is_file()]

    @cached_property
    def _read(self) -> dict[Path, DownloadedFile | Unclear]:
        """All downloaded files whose names identify a student, or several."""
        root = self._folder("extracted")
        read = {}
        for path in self._files:
            parts = path.relative_to(root).parts
            if self._is_valid(path):
                read[path] = read_name(path, parts, self._people, below(parts, self._downloads))
        return {path: found for path, found in read.items() if found is not None}

    @cached_property
    def _found(self) -> Files:
        """Those of which it is certain whose they are."""
        found = {path: each for path, each in self._read.items() if isinstance(each, DownloadedFile)}
        _tell_unclear({path: each for path, each in self._read.items() if isinstance(each, Unclear)}, self._left_out)
        return _of_one_person(_told_apart(_possible(found, self._left_out), self.log.warning), self._left_out)

    @cached_property
    def _to_collect(self) -> Files:
        """The files to collect, with their new names. Choices that may be unexpected are logged."""
        archives = self._folder("archive")
        found = _of_newest_downloads(self._found, lambda download: _age(archives, download), self.log.warning)
        found = _newest_uploads(found, self._notebook_of, self.log.warning)
        _tell_strangers(found, self._people, self.log.warning)
        if not self.named_regexp:
            rest = [path for path in self._files if path not in self._read and not self._is_expected(path)]
            _tell_rest(
                [path.relative_to(self._folder("extracted")) for path in rest], self._downloads, self.log.warning
            )
            _count(found, self.log.warning)
        return _with_own_names(found, self.log.warning)

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
        self._files = files
        self._made = (
            "Directory not found. Creating: ",
            "Clearing existing files in ",
            "Invalid submission notebook name ",  # a notebook is known by its cells
        )
        self._counts = counts

    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        record.msg, record.args = one_line(said), None
        if said.startswith(_SKIPPED):
            return said.removeprefix(_SKIPPED) not in self._files
        return not said.startswith(self._made) and (self._counts or not _COUNTED.fullmatch(said))


def _listed(folder: Path, chapter: str, log: Log) -> frozenset[str] | None:
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


# --- what is collected ----------------------------------------------------------------------------------------


def _possible(files: Files, log: Log) -> Files:
    """The files whose students' names and own names can be those of folders and files, and are no paths."""
    problems = {path: impossible(found.student) or impossible(found.name) for path, found in files.items()}
    for path in [path for path, problem in problems.items() if problem]:
        log(f"Not collected: {path}: {problems[path]}. Put it into submitted/STUDENT/CHAPTER/ by hand.")
    return {path: found for path, found in files.items() if not problems[path]}


def _told_apart(files: Files, log: Log) -> Files:
    """Add Moodle's participant number to the name of students who share it."""
    numbers: dict[str, set[str]] = {}
    for found in files.values():
        if found.participant:
            numbers.setdefault(found.student, set()).add(found.participant)
    twice = {student: sorted(its) for student, its in numbers.items() if len(its) > 1}
    for student, its in twice.items():
        names = ", ".join(f"{student}_{number}" for number in its)
        log(f"{len(its)} students are called {student}. They are collected as {names}. Rename these folders.")
    return {
        path: found._replace(student=f"{found.student}_{found.participant}")
        if found.participant and found.student in twice
        else found
        for path, found in files.items()
    }


def _of_newest_downloads(files: Files, age: Callable[[str], float], log: Log) -> Files:
    """For each student only the files of the newest download, which contains a whole submission."""
    downloads: dict[str, set[str]] = {}
    for found in files.values():
        if found.download:
            downloads.setdefault(found.student, set()).add(found.download)
    newest = {student: max(its, key=lambda download: (age(download), download)) for student, its in downloads.items()}
    for student, its in downloads.items():
        if left := ", ".join(sorted(its - {newest[student]})):
            log(f"The submission of {student} is collected from {newest[student]}, which is newer than {left}.")
    return {path: found for path, found in files.items() if found.download in ("", newest.get(found.student))}


def _age(archives: Path, download: str) -> float:
    """When the archive of this download was last modified."""
    names = [f"{download}{ending}" for ending in ("", ".zip", ".gz", ".tar.gz")]
    return max((path.stat().st_mtime for name in names if (path := archives / name).exists()), default=0.0)


def _newest_uploads(files: Files, notebook_of: Callable[[Path], str], log: Log) -> Files:
    """Only the newest of the uploads that Canvas numbered for one notebook, or for a file beside it. Files that a
    student numbered themselves are none: they are several notebooks, or no file of their name has no number.
    """
    of_name: dict[tuple[Path, str, str], list[Path]] = {}
    for path, found in files.items():
        of_name.setdefault((path.parent, found.student, found.unnumbered), []).append(path)
    kept: Files = {}
    older: dict[str, list[str]] = {}
    for paths in of_name.values():
        kinds = {path: notebook_of(path) for path in paths} if len(paths) > 1 else {paths[0]: ""}
        is_numbered = all(files[path].name != files[path].unnumbered for path in paths)
        by_student = len(set(kinds.values()) - {""}) > 1 or (len(paths) > 1 and is_numbered and "" in kinds.values())
        for kind in dict.fromkeys(kinds.values()) if by_student else [None]:
            its = [path for path in paths if kind in (None, kinds[path])]
            newest = [max(its, key=lambda path: files[path].upload)] if kind != "" else its
            for path in newest:
                kept[path] = files[path] if by_student else files[path]._replace(name=files[path].unnumbered)
            older.setdefault(newest[0].name, []).extend(path.name for path in its if path not in newest)
    for taken, names in older.items():
        if names:
            log(f"Skipped, because {taken} is newer: {some(names)}")
    return kept


def _tell_rest(files: list[Path], downloads: Collection[tuple[str, ...]], log: Log) -> None:
    """Log which other files are not collected."""
    of: dict[str, list[str]] = {}
    for path in files:
        student = owner(path.parts[below(path.parts, downloads) :])
        of.setdefault(student, []).append(path.name if student else str(path))
    for student, names in of.items():
        if student:
            log(f"Not collected, because files with these endings or names are not: {some(names)} of {student}.")
        else:
            log(f"Not collected, because these names tell no student: {some(names)}. Sort them by hand.")


def _tell_unclear(files: Mapping[Path, Unclear], log: Log) -> None:
    """Log which files may be several students'."""
    if files:
        ids = some(sorted({id_ for unclear in files.values() for id_ in unclear.ids}))
        log(
            f"Not collected, because these names may be those of several students ({ids}): "
            f"{some([path.name for path in files])}. Import the roster with  grader roster  and collect again, or sort "
            "them by hand."
        )


def _of_one_person(files: Files, log: Log) -> Files:
    """No student's files come from two people: one download calls each of them by one name."""
    called: dict[tuple[str, str], set[str]] = {}
    for found in files.values():
        called.setdefault((found.student, found.download), set()).add(found.called)
    several = {key for key, names in called.items() if len(names) > 1}
    for student, download in sorted(several):
        names = some(sorted(called[student, download]))
        where = f" in {download}" if download else ""
        log(f"Not collected: {student}: files of several people would go there: {names}{where}. Sort them by hand.")
    return {path: found for path, found in files.items() if (found.student, found.download) not in several}


def _of_groups(files: Files, people: People, folder: Path, log: Log) -> dict[Path, tuple[Path, DownloadedFile]]:
    """For each member of a group but the one who submitted for it, where copies of its files go, what they are copies
    of, and what each is. A group among `files` becomes its first member.
    """
    members: dict[Path, tuple[str, ...]] = {}
    for path, found in files.items():
        listed = people.members(found.called)
        its = listed if found.is_group else (found.student, *found.others, *listed)
        if len(set(its)) > 1 or (found.is_group and its):
            members[path] = tuple(dict.fromkeys(its))
            files[path] = found._replace(student=its[0], is_group=False)
    by = {found.student: found.called for found in files.values()}
    copies: dict[Path, tuple[Path, DownloadedFile]] = {}
    folders: dict[tuple[str, Path], str] = {}
    twice: dict[str, set[str]] = {}
    for path, its in members.items():
        found = files[path]
        for member in its[1:]:
            if problem := impossible(member):
                log(f"Not collected: a member of {found.called}: {problem}.")
            elif (taken := by.setdefault(member, found.called)) != found.called:
                twice.setdefault(member, set()).add(f"{found.called} (collected: {taken})")
            else:
                number = folders.setdefault((member, path.parent), str(len(folders)))
                copies[folder / "copies for groups" / number / path.name] = path, found._replace(student=member)
    for member, names in twice.items():
        log(f"{member} has another submission than that of a group, so not collected for them: {some(sorted(names))}.")
    return copies


def _tell_strangers(files: Files, people: People, log: Log) -> None:
    """Log who may be a group, and who is not in the roster."""
    groups = {found.student for found in files.values() if found.is_group}
    of_canvas = {
        f"{found.called} (collected for {found.student} only)"
        for found in files.values()
        if found.upload and not people.members(found.called) and people.may_be_group(found.student, found.called)
    }
    if groups or of_canvas:
        log(
            f"These may be groups and not students: {some(sorted(groups | of_canvas))}. To collect the submission of a "
            f"group for each of its members, list them in {GROUPS} beside {NAME}, with the columns group and id, and "
            "collect again with --force."
        )
    strangers = {found.student for found in files.values()} - people.ids - groups
    if people.ids and strangers:
        log(f"Not in the roster: {some(sorted(strangers))}. They are collected under these names.")


def _count(files: Files, log: Log) -> None:
    """Log what is collected, and whom Canvas marks as late: no file says so once they are collected."""
    students = {found.student for found in files.values()}
    log(f"Collected {counted(len(files), 'file')} of {counted(len(students), 'student')}.")
    if late := sorted({found.student for found in files.values() if found.late}):
        log(f"Canvas marks as late: {', '.join(late)}. It does not say when they submitted.")


def _with_own_names(files: Files, log: Log) -> Files:
    """Rename a student's file if another of their files has the same name on some system."""
    given: set[tuple[str, str]] = set()
    others: dict[str, list[str]] = {}
    renamed = {}
    for path, found in files.items():
        found = found._replace(name=one_form(found.name))
        name, number = found.name, 1
        while (key := (found.student, same_name(name))) in given:
            number += 1
            long = f"{path.parent.name}_{found.name}"
            name = f"{number}_{found.name}" if number > 2 or impossible(long) else long
        if number > 1:
            others.setdefault(found.student, []).append(f"{found.name} as {name}")
        given.add(key)
        renamed[path] = found._replace(name=name)
    for student, names in others.items():
        log(f"{student} has several files of one name. Collected under another one: {some(names)}.")
    return renamed
