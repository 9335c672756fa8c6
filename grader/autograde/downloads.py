"""How `nbgrader zip_collect` finds the student and the notebook from file names in Canvas, Moodle and Gradescope
downloads.

| from | a file of the download | the student |
|---|---|---|
| Canvas | `leeann_12345_678910_recurrence.ipynb`, `leeann_LATE_12345_678910_recurrence-1.ipynb` | `12345` |
| Moodle | `Ann Lee_1234567_assignsubmission_file_/recurrence.ipynb` | `Ann Lee`: the number is this assignment's |
| Gradescope | `submission_12345/recurrence.ipynb`, `submission_metadata.yml` beside it | the e-mail address there |

If a folder of the download is an unpacked zip of `grader submit`, its files are compared with its manifest. If they
agree, all of them are collected, whatever their endings. If they do not, none is, and the reasons are logged.

nbgrader warns of every folder that it creates and of every file that it does not collect. `_Unsurprising` leaves out
those messages that are as they should be, because the others are easily overlooked among them.

Only nbgrader imports this (`nbgrader_config.py` names it).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from nbgrader.plugins import FileNameCollectorPlugin

from grader.work.archive import MANIFEST, ArchiveError, file_problems, read_manifest

METADATA = "submission_metadata.yml"

_CANVAS = re.compile(r"[^_]+_(?P<late>LATE_)?(?P<student>\d+)_(?P<upload>\d+)_(?P<file>.+)")
_MOODLE = re.compile(r"(?P<student>.+)_(?P<participant>\d+)_assignsubmission_file_?(?P<file>.*)")
_GRADESCOPE = re.compile(r"(?P<student>submission_\d+)")
_ATTEMPT = re.compile(r"(?P<stem>.+)-(?P<number>\d+)")  # how Canvas numbers files of the same name

_SKIPPED = "Skipped submission with no match information provided: "
_COUNTED = re.compile(r"\d+ files collected(, \d+ files skipped)?")


class DownloadedFile(NamedTuple):
    """A downloaded file: its student, its name, and whatever else the download reveals about it.

    `download` is the folder that its archive was unpacked to; empty if it was not in an archive. `upload` is Canvas's
    number, `participant` Moodle's. `late` is what Canvas says. `others` are the students who submitted it together with
    this one.
    """

    student: str
    name: str
    download: str = ""
    upload: int = 0
    participant: str = ""
    timestamp: str | None = None
    others: tuple[str, ...] = ()
    late: bool = False


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
        if path in self._found or self._is_expected(path):  # of the former, `_to_collect` has logged why not
            self._expected.add(submitted_file)
        strange = path not in self._found and self._is_valid(path)
        return super().collect(submitted_file) if strange and self.named_regexp else None

    def _is_valid(self, path: Path) -> bool:
        if _is_litter(path.relative_to(self._folder("extracted")).parts):
            return False
        listed = self._listed(path.parent)
        return path.suffix in self.valid_ext if listed is None else path.name in listed

    def _is_expected(self, path: Path) -> bool:
        """Whether this is a file of the system, an archive that has been unpacked, or what describes a submission."""
        if _is_litter(path.relative_to(self._folder("extracted")).parts):
            return path.name != "timestamp.txt"
        if path.name == MANIFEST:
            return bool(self._listed(path.parent))
        return path.name == METADATA or (path.suffix == ".zip" and path.with_suffix("").is_dir())

    def _listed(self, folder: Path) -> frozenset[str] | None:
        """The files to collect of a submission that was made with `grader submit`; None for any other folder."""
        if folder not in self._submissions:
            self._submissions[folder] = _listed(folder, self.parent.coursedir.assignment_id, self.log.warning)
        return self._submissions[folder]

    @cached_property
    def _submissions(self) -> dict[Path, frozenset[str] | None]:
        return {}

    @cached_property
    def _found(self) -> Files:
        """All downloaded files whose names identify a student."""
        root = self._folder("extracted")
        paths = [path for path in sorted(root.rglob("*")) if path.is_file() and self._is_valid(path)]
        return {path: found for path in paths if (found := _read(path, path.relative_to(root).parts)) is not None}

    @cached_property
    def _to_collect(self) -> Files:
        """The files to collect, with their new names. Choices that may be unexpected are logged."""
        archives = self._folder("archive")
        found = _told_apart(self._found, self.log.warning)
        found = _of_newest_downloads(found, lambda download: _age(archives, download), self.log.warning)
        found = _newest_uploads(found, self.log.warning)
        _tell_groups(found, self.log.warning)
        if not self.named_regexp:
            _count(found, self.log.warning)
        return _with_own_names(found, self.log.warning)

    def _folder(self, step: str) -> Path:
        return Path(self.parent._format_collect_path(getattr(self.parent, f"{step}_directory")))


class _Unsurprising(logging.Filter):
    """Leaves out nbgrader's messages about folders that it makes or replaces, and about these files. Its count of
    skipped files includes them, so it is left out too, unless `counts`.
    """

    def __init__(self, files: Collection[str], counts: bool) -> None:
        super().__init__()
        self._files = files
        self._made = ("Directory not found. Creating: ", "Clearing existing files in ")
        self._counts = counts

    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        if said.startswith(_SKIPPED):
            return said.removeprefix(_SKIPPED) not in self._files
        return not said.startswith(self._made) and (self._counts or not _COUNTED.fullmatch(said))


def _is_litter(parts: tuple[str, ...]) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in parts) or parts[-1] == "timestamp.txt"


def _read(path: Path, parts: tuple[str, ...]) -> DownloadedFile | None:
    """The file, identified by the first of these parts of its path that matches one of the three forms."""
    for index, part in enumerate(parts):
        place = path.parents[len(parts) - 2 - index] if index < len(parts) - 1 else path
        download = parts[0] if index else ""
        if match := _CANVAS.fullmatch(part):
            if place != path:  # from an archive
                return DownloadedFile(match["student"], path.name, download, late=bool(match["late"]))
            attempt = _ATTEMPT.fullmatch(Path(match["file"]).stem)
            name = f"{attempt['stem']}{path.suffix}" if attempt else match["file"]
            return DownloadedFile(match["student"], name, download, int(match["upload"]), late=bool(match["late"]))
        if match := _MOODLE.fullmatch(part):
            own = match["file"] if place == path else path.name
            return DownloadedFile(match["student"].strip(), own, download, participant=match["participant"])
        if (match := _GRADESCOPE.fullmatch(part)) and place != path:
            (student, *others), timestamp = _submitters(place.parent / METADATA, match["student"])
            return DownloadedFile(student, path.name, download, timestamp=timestamp, others=tuple(others))
    return None


def _listed(folder: Path, chapter: str, log: Log) -> frozenset[str] | None:
    """The files that the manifest of `grader submit` lists; none if any differs; None if there is no such manifest."""
    try:
        text = (folder / MANIFEST).read_bytes()
        manifest = read_manifest(text)
    except (ArchiveError, OSError):  # a student's own file may have this name
        return None
    names = {path.name for path in folder.iterdir() if path.is_file() and not _is_litter((path.name,))} - {MANIFEST}
    names -= {METADATA}
    files = {name: (folder / name).read_bytes() for name in names}
    problems = list(file_problems(manifest, files))
    if manifest.chapter != chapter:
        problems.append(f"it is a submission of {manifest.chapter!r}")
    if problems:
        log(f"Not collected, because its manifest does not allow it: {folder}: {'; '.join(problems)}.")
        return frozenset()
    return frozenset(files)


# --- what is collected ----------------------------------------------------------------------------------------


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


def _newest_uploads(files: Files, log: Log) -> Files:
    """Only the newest of the uploads that Canvas numbered for one notebook."""
    newest: dict[tuple[Path, str, str], Path] = {}
    for path, found in files.items():
        of = (path.parent, found.student, found.name)
        if found.upload >= files[newest.setdefault(of, path)].upload:
            newest[of] = path
    kept = {}
    for path, found in files.items():
        taken = newest[path.parent, found.student, found.name]
        if not found.upload or taken == path:
            kept[path] = found
        else:
            log(f"Skipped, because {taken.name} is newer: {path}")
    return kept


def _tell_groups(files: Files, log: Log) -> None:
    """Log which groups' submissions are collected for one member only."""
    for student, *others in dict.fromkeys((found.student, *found.others) for found in files.values() if found.others):
        log(
            f"{student} submitted for a group. The submission is collected for {student} only; to grade the other "
            f"members too, copy it into their folders: {', '.join(others)}."
        )


def _count(files: Files, log: Log) -> None:
    """Log what is collected, and whom Canvas marks as late: no file says so once they are collected."""
    students = {found.student for found in files.values()}
    log(f"Collected {len(files)} files of {len(students)} student{'' if len(students) == 1 else 's'}.")
    if late := sorted({found.student for found in files.values() if found.late}):
        log(f"Canvas marks as late: {', '.join(late)}. It does not say when they submitted.")


def _with_own_names(files: Files, log: Log) -> Files:
    """Rename a student's file if another of their files has the same name."""
    given: set[tuple[str, str]] = set()
    named = {}
    for path, found in files.items():
        name = found.name
        if (found.student, name) in given:
            name = f"{path.parent.name}_{path.name}"
            log(f"{found.student} has two files named {found.name}. One is collected as {name}.")
        given.add((found.student, name))
        named[path] = found._replace(name=name)
    return named


# --- Gradescope ------------------------------------------------------------------------------------------------


def _submitters(metadata: Path, submission: str) -> tuple[list[str], str | None]:
    """Who submitted, and when. Without that information, the submission's number stands for the student."""
    entry = _metadata(metadata).get(submission)
    entry = entry if isinstance(entry, dict) else {}
    listed = entry.get(":submitters")
    names = [_name(one) for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    when = entry.get(":created_at")
    return [name for name in names if name] or [submission], when.isoformat(" ") if isinstance(when, datetime) else None


def _name(submitter: dict[str, Any]) -> str:
    """An e-mail address, or else a student's id; empty if neither can be a folder's name."""
    names = [str(submitter[key]).strip() for key in (":email", ":sid") if submitter.get(key)]
    return next((name for name in names if "/" not in name and not name.startswith(".")), "")


@cache
def _metadata(path: Path) -> dict[str, Any]:
    """The contents of the YAML file, without Ruby's tags; empty if there is no file."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        pass

    def untagged(loader: Any, _: str, node: Any) -> Any:
        if isinstance(node, yaml.MappingNode):
            return loader.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return loader.construct_sequence(node, deep=True)
        plain = loader.resolve(yaml.ScalarNode, node.value, (True, False))
        return loader.construct_object(yaml.ScalarNode(plain, node.value))

    Loader.add_multi_constructor("!", untagged)
    try:
        tree = yaml.load(path.read_bytes(), Loader=Loader)
    except FileNotFoundError:
        return {}
    return tree if isinstance(tree, dict) else {}
