"""What `nbgrader zip_collect` reads from the names of files that Canvas, Moodle and Gradescope let one download.

| from | a file of the download | the student |
|---|---|---|
| Canvas | `leeann_12345_678910_recurrence.ipynb`, `leeann_LATE_12345_678910_recurrence-1.ipynb` | `12345` |
| Moodle | `Ann Lee_1234567_assignsubmission_file_/recurrence.ipynb` | `Ann Lee`: the number is this assignment's |
| Gradescope | `submission_12345/recurrence.ipynb`, `submission_metadata.yml` beside it | the e-mail address there |

Only nbgrader imports this (`nbgrader_config.py` names it).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from nbgrader.plugins import FileNameCollectorPlugin

METADATA = "submission_metadata.yml"

_CANVAS = re.compile(r"[^_]+_(?:LATE_)?(?P<student>\d+)_(?P<upload>\d+)_(?P<file>.+)")
_MOODLE = re.compile(r"(?P<student>.+)_(?P<participant>\d+)_assignsubmission_file_?(?P<file>.*)")
_GRADESCOPE = re.compile(r"(?P<student>submission_\d+)")
_ATTEMPT = re.compile(r"(?P<stem>.+)-(?P<number>\d+)")  # Canvas tells files of one name apart so


class Found(NamedTuple):
    """A file of a download: whose it is, what they called it, and what else the download tells of it.

    `download` is the folder of the archive that it came in, empty where it lay beside the archives. `upload` is
    Canvas's number, `participant` Moodle's, `others` who handed it in together with the student.
    """

    student: str
    name: str
    download: str = ""
    upload: int = 0
    participant: str = ""
    timestamp: str | None = None
    others: tuple[str, ...] = ()


Files = dict[Path, Found]


class Downloads(FileNameCollectorPlugin):  # type: ignore[misc]
    """Names the student and the notebook of each file; of several downloads it takes what is in a student's newest, of
    what Canvas numbered as one notebook the newest.

    Files of other names go to `named_regexp`, where one is configured.
    """

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """`student_id`, `file_id` and maybe `timestamp` of a file; None where it is not to be collected."""
        path = Path(submitted_file)
        if (found := self._to_collect.get(path)) is not None:
            info = {"student_id": found.student, "file_id": found.name}
            return info if found.timestamp is None else info | {"timestamp": found.timestamp}
        strange = path not in self._found and self._is_valid(path)
        return super().collect(submitted_file) if strange and self.named_regexp else None

    def _is_valid(self, path: Path) -> bool:
        return path.suffix in self.valid_ext and not _is_litter(path.relative_to(self._folder("extracted")).parts)

    @cached_property
    def _found(self) -> Files:
        """All files of the downloads whose names tell whose they are."""
        root = self._folder("extracted")
        paths = [path for path in sorted(root.rglob("*")) if path.is_file() and self._is_valid(path)]
        return {path: found for path in paths if (found := _read(path, path.relative_to(root).parts)) is not None}

    @cached_property
    def _to_collect(self) -> Files:
        """Those to be collected, under the names they get. What may surprise is logged."""
        archives = self._folder("archive")
        found = _told_apart(self._found, self.log.warning)
        found = _of_newest_downloads(found, lambda download: _age(archives, download), self.log.warning)
        found = _newest_uploads(found, self.log.warning)
        _tell_groups(found, self.log.warning)
        return _with_own_names(found, self.log.warning)

    def _folder(self, step: str) -> Path:
        return Path(self.parent._format_collect_path(getattr(self.parent, f"{step}_directory")))


def _is_litter(parts: tuple[str, ...]) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in parts) or parts[-1] == "timestamp.txt"


def _read(path: Path, parts: tuple[str, ...]) -> Found | None:
    """By the first of these last parts of the path that has a form of the three."""
    for index, part in enumerate(parts):
        place = path.parents[len(parts) - 2 - index] if index < len(parts) - 1 else path
        download = parts[0] if index else ""
        if match := _CANVAS.fullmatch(part):
            if place != path:  # out of an archive
                return Found(match["student"], path.name, download)
            attempt = _ATTEMPT.fullmatch(Path(match["file"]).stem)
            name = f"{attempt['stem']}{path.suffix}" if attempt else match["file"]
            return Found(match["student"], name, download, int(match["upload"]))
        if match := _MOODLE.fullmatch(part):
            own = match["file"] if place == path else path.name
            return Found(match["student"].strip(), own, download, participant=match["participant"])
        if (match := _GRADESCOPE.fullmatch(part)) and place != path:
            (student, *others), timestamp = _submitters(place.parent / METADATA, match["student"])
            return Found(student, path.name, download, timestamp=timestamp, others=tuple(others))
    return None


# --- what is collected ----------------------------------------------------------------------------------------


Log = Callable[[str], None]


def _told_apart(files: Files, log: Log) -> Files:
    """Moodle's participants of one name, each with the number in the name."""
    numbers: dict[str, set[str]] = {}
    for found in files.values():
        if found.participant:
            numbers.setdefault(found.student, set()).add(found.participant)
    twice = {student: sorted(its) for student, its in numbers.items() if len(its) > 1}
    for student, its in twice.items():
        names = ", ".join(f"{student}_{number}" for number in its)
        log(f"{len(its)} students are called {student}. They are collected as {names}: rename these folders.")
    return {
        path: found._replace(student=f"{found.student}_{found.participant}")
        if found.participant and found.student in twice
        else found
        for path, found in files.items()
    }


def _of_newest_downloads(files: Files, age: Callable[[str], float], log: Log) -> Files:
    """Of a student who is in several downloads only what is in the newest, which is the whole of a submission."""
    downloads: dict[str, set[str]] = {}
    for found in files.values():
        if found.download:
            downloads.setdefault(found.student, set()).add(found.download)
    newest = {student: max(its, key=lambda download: (age(download), download)) for student, its in downloads.items()}
    for student, its in downloads.items():
        if left := ", ".join(sorted(its - {newest[student]})):
            log(f"{student} is collected from {newest[student]}, which is newer than {left}.")
    return {path: found for path, found in files.items() if found.download in ("", newest.get(found.student))}


def _age(archives: Path, download: str) -> float:
    """When the archive that was unpacked into a folder of this name was last changed."""
    names = [f"{download}{ending}" for ending in ("", ".zip", ".gz", ".tar.gz")]
    return max((path.stat().st_mtime for name in names if (path := archives / name).exists()), default=0.0)


def _newest_uploads(files: Files, log: Log) -> Files:
    """Of the files that Canvas numbered as one notebook's the newest."""
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
            log(f"Left out, since {taken.name} is newer: {path}")
    return kept


def _tell_groups(files: Files, log: Log) -> None:
    """Whose group's work lies in the folder of one of them."""
    for student, *others in dict.fromkeys((found.student, *found.others) for found in files.values() if found.others):
        log(
            f"{student} handed in for a group, and it is collected for {student} alone. If the others are to be graded "
            f"too, copy it into their folders: {', '.join(others)}."
        )


def _with_own_names(files: Files, log: Log) -> Files:
    """Two files of one name, out of two folders of one student's, under two names."""
    given: set[tuple[str, str]] = set()
    named = {}
    for path, found in files.items():
        name = found.name
        if (found.student, name) in given:
            name = f"{path.parent.name}_{path.name}"
            log(f"{found.student} has two files {found.name}; one is collected as {name}")
        given.add((found.student, name))
        named[path] = found._replace(name=name)
    return named


# --- Gradescope ------------------------------------------------------------------------------------------------


def _submitters(metadata: Path, submission: str) -> tuple[list[str], str | None]:
    """Who submitted, and when; by the submission's own number where nothing tells."""
    entry = _metadata(metadata).get(submission)
    entry = entry if isinstance(entry, dict) else {}
    listed = entry.get(":submitters")
    names = [_name(one) for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    when = entry.get(":created_at")
    return [name for name in names if name] or [submission], when.isoformat(" ") if isinstance(when, datetime) else None


def _name(submitter: dict[str, Any]) -> str:
    """An e-mail address, or else a student's id; empty where neither can be a folder's name."""
    names = [str(submitter[key]).strip() for key in (":email", ":sid") if submitter.get(key)]
    return next((name for name in names if "/" not in name and not name.startswith(".")), "")


@cache
def _metadata(path: Path) -> dict[str, Any]:
    """The file as Ruby wrote it, with any tags of Ruby's left out; nothing where there is none."""
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
