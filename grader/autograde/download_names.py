"""The student and the file that a name in a download of Canvas, Moodle or Gradescope stands for.

| from | a file of the download | the student |
|---|---|---|
| Canvas | `leeann_12345_678910_recurrence.ipynb`, `leeann_LATE_12345_678910_recurrence-1.ipynb` | `12345` |
| Moodle | `Ann Lee_1234567_assignsubmission_file_/recurrence.ipynb` | `Ann Lee`: the number is this assignment's |
| Gradescope | `submission_12345/recurrence.ipynb`, `submission_metadata.yml` beside it | the e-mail address there |
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from grader.shown import named
from grader.work.archive import TIMESTAMP
from grader.work.bounded import MAX_NAME

METADATA = "submission_metadata.yml"

_CANVAS = re.compile(r"[^_]+_(?P<late>LATE_)?(?P<student>\d+)_(?P<upload>\d+)_(?P<file>.+)")
_MOODLE = re.compile(r"(?P<student>.+?)_(?P<participant>\d+)_assignsubmission_file_?(?P<file>.*)")
_GRADESCOPE = re.compile(r"(?P<student>submission_\d+)")
_ATTEMPT = re.compile(r"(?P<stem>.+)-(?P<number>\d+)")  # how Canvas numbers files of the same name


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


def is_hidden(parts: tuple[str, ...]) -> bool:
    """Whether a system made a file, and no student."""
    return any((part.startswith(".") and part != "..") or part == "__MACOSX" for part in parts)


def is_litter(parts: tuple[str, ...]) -> bool:
    """Whether a file is never collected: a system made it, or it claims a time of submission."""
    return is_hidden(parts) or parts[-1] == TIMESTAMP


def owner(parts: tuple[str, ...]) -> str:
    """The student, by the system's own name for them, to whom the file with this path belongs; empty if it names none.
    What a student can choose comes after it in a path, so it cannot name another student.
    """
    for part in parts:
        for form in (_CANVAS, _MOODLE, _GRADESCOPE):
            if match := form.fullmatch(part):
                return match["student"].strip()
    return ""


def impossible(name: str) -> str:
    """Why neither a student's folder nor a submitted file can have this name; empty if one can."""
    if not name or name.startswith(".") or "/" in name or "\0" in name:
        return f"{named(name)!r} is no name of a file"
    return f"its name is longer than {MAX_NAME} bytes" if len(name.encode("utf-8", "replace")) > MAX_NAME else ""


def read_name(path: Path, parts: tuple[str, ...]) -> DownloadedFile | None:
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
    """The contents of the YAML file, without Ruby's tags; empty if it cannot be read."""
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
    except (OSError, ValueError, RecursionError, yaml.YAMLError):  # there is none, or it is damaged
        return {}
    return tree if isinstance(tree, dict) else {}
