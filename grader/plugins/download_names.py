"""The student and the file that a name in a download of Canvas, Moodle or Gradescope stands for.

| from | a file of the download | the student |
|---|---|---|
| Canvas | `leeann_12345_678910_recurrence.ipynb`, `leeann_LATE_12345_678910_recurrence-1.ipynb` | `12345` |
| Canvas, a group | `group_1_12345_678910_recurrence.ipynb` | `12345`, who submitted for it |
| Moodle | `Ann Lee_1234567_assignsubmission_file_/recurrence.ipynb` | `Ann Lee`: the number is this assignment's |
| Moodle, a group | `Red_77_assignsubmission_file_/…`, `Red-Ann Lee_77_assignsubmission_file_/…` | the group |
| Gradescope | `submission_12345/recurrence.ipynb`, `submission_metadata.yml` beside it | the e-mail addresses there |

In Canvas's form, the name in front is a group's as often as not, and students choose the name at the end, so several
pairs of numbers may be the two that Canvas wrote. The roster decides which. If it does not, only a pair that stands out
is believed. A name that remains open is no student's.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from grader.gradebook.people import People
from grader.shown import named, one_form
from grader.submission.archive import TIMESTAMP
from grader.submission.bounded import MAX_NAME
from grader.submission.notebook_names import OF_WINDOWS

METADATA = "submission_metadata.yml"

# looks ahead, to find pairs of numbers that overlap too
_CANVAS = re.compile(r"(?<!_LATE)(?=_(?P<late>LATE_)?(?P<student>\d+)_(?P<upload>\d+)_(?P<file>.))")
_MOODLE = re.compile(r"(?P<student>.+?)(_(?P<participant>\d+))?_assignsubmission_file_?(?P<file>.*)")
_GRADESCOPE = re.compile(r"(?P<student>submission_\d+)")
_ATTEMPT = re.compile(r"(?P<stem>.+)-(?P<number>\d+)")  # how Canvas numbers files of the same name


class DownloadedFile(NamedTuple):
    """A downloaded file: its student, its name, and whatever else the download reveals about it.

    `called` is how the download calls who submitted it. `download` is the folder that its archive was unpacked to;
    empty if it was not in an archive. `upload` is Canvas's number, `participant` Moodle's. `late` is what Canvas says.
    `others` are the students who submitted it together with this one. `is_group` says that this may be a group.
    """

    student: str
    name: str
    called: str = ""
    download: str = ""
    upload: int = 0
    participant: str = ""
    timestamp: str | None = None
    others: tuple[str, ...] = ()
    late: bool = False
    is_group: bool = False

    @property
    def unnumbered(self) -> str:
        """The name without the number that Canvas adds to further files of one name."""
        stem, dot, ending = self.name.rpartition(".")
        attempt = _ATTEMPT.fullmatch(stem) if self.upload else None
        return f"{attempt['stem']}{dot}{ending}" if attempt else self.name


@dataclass(frozen=True)
class Unclear:
    """A name that may be several students'."""

    ids: tuple[str, ...]


def is_hidden(parts: tuple[str, ...]) -> bool:
    """Whether a system made a file, and no student."""
    hidden = any((part.startswith(".") and part != "..") or part == "__MACOSX" for part in parts)
    return hidden or parts[-1].lower().endswith(OF_WINDOWS)


def is_litter(parts: tuple[str, ...]) -> bool:
    """Whether a file is never collected: a system made it, or it claims a time of submission."""
    return is_hidden(parts) or parts[-1] == TIMESTAMP


def of_canvas(name: str) -> bool:
    """Whether Canvas may have written this name for a student's file. Names of whole downloads may look the same."""
    return bool(_pairs(name))


def _pairs(name: str) -> list[re.Match[str]]:
    """The pairs of numbers that may be those of a student and an upload in Canvas."""
    return [match for match in _CANVAS.finditer(name) if match.start()]


def below(parts: tuple[str, ...], downloads: Collection[tuple[str, ...]]) -> int:
    """How many of these parts are a whole download's, which is not a student's whatever its name."""
    return max((count for count in range(len(parts) + 1) if parts[:count] in downloads), default=0)


def owner(parts: tuple[str, ...]) -> str:
    """The name by which the download calls whom the file with this path belongs to; empty if it tells none. What a
    student can choose comes after it in a path, so it cannot name another student.
    """
    for part in parts:
        if pairs := _pairs(part):
            return pairs[0]["student"]
        if match := _MOODLE.fullmatch(part) or _GRADESCOPE.fullmatch(part):
            return one_form(match["student"].strip())
    return ""


def impossible(name: str) -> str:
    """Why neither a student's folder nor a submitted file can have this name; empty if one can."""
    if not name or name.startswith(".") or "/" in name or "\0" in name:
        return f"{named(name)!r} is no name of a file"
    return f"its name is longer than {MAX_NAME} bytes" if len(name.encode("utf-8", "replace")) > MAX_NAME else ""


def read_name(
    path: Path, parts: tuple[str, ...], people: People | None = None, skip: int = 0
) -> DownloadedFile | Unclear | None:
    """The file, identified by the first part of its path that has one of the forms; `skip` parts do not count."""
    people = people or People()
    for index, part in enumerate(parts[skip:], skip):
        place = path.parents[len(parts) - 2 - index] if index < len(parts) - 1 else path
        download = parts[0] if index else ""
        own = path.name if place != path else ""
        if (canvas := _of_canvas(part, people)) is not None:
            if isinstance(canvas, Unclear):
                return canvas
            return canvas._replace(name=own or canvas.name, download=download, upload=0 if own else canvas.upload)
        if match := _MOODLE.fullmatch(part):
            return _of_moodle(match, people)._replace(name=own or match["file"], download=download)
        if (match := _GRADESCOPE.fullmatch(part)) and own:
            submitters, timestamp = _submitters(place.parent / METADATA, match["student"])
            student, *others = (people.student(name) or name for name in map(one_form, submitters))
            return DownloadedFile(
                student, own, match["student"], download, timestamp=timestamp, others=tuple(dict.fromkeys(others))
            )
    return None


def _of_canvas(part: str, people: People) -> DownloadedFile | Unclear | None:
    pairs = _pairs(part)
    if not pairs:
        return None
    chosen = pairs
    if len(pairs) > 1:
        known = [pair for pair in pairs if people.student(pair["student"]) is not None]
        chosen = known or _that_stand_out(pairs)
    if len(chosen) != 1:
        return Unclear(tuple(dict.fromkeys(pair["student"] for pair in chosen or pairs)))
    (pair,) = chosen
    called, number = one_form(part[: pair.start()]), pair["student"]
    return DownloadedFile(
        people.student(number) or number,
        part[pair.start("file") :],
        called,
        upload=int(pair["upload"]),
        late=bool(pair["late"]),
    )


def _that_stand_out(pairs: list[re.Match[str]]) -> list[re.Match[str]]:
    """The pair of numbers that are both long, if it is one of the first two: a group's number in front of them is
    short, and so is a number with which a student's file begins. All pairs if none stands out.
    """
    lengths = [min(len(pair["student"]), len(pair["upload"])) for pair in pairs]
    longest = [index for index, length in enumerate(lengths) if length == max(lengths)]
    adjoin = len(pairs) < 2 or pairs[1].start() == pairs[0].start("upload") - 1
    believed = longest == [0] or (longest == [1] and adjoin)
    return [pairs[longest[0]]] if believed else pairs


def _of_moodle(match: re.Match[str], people: People) -> DownloadedFile:
    """A student or a group: Moodle names a group's folder after it, or after it and one of its members."""
    called, participant = one_form(match["student"].strip()), match["participant"] or ""
    student, group = people.student(called) or people.student(f"{called} {participant}"), ""
    if student is None and not people.members(called):
        for dash in re.finditer("-", called):
            found, before = people.student(called[dash.end() :].strip()), called[: dash.start()].strip()
            if found is not None and found in people.members(before):
                student, group = found, before
    is_group = bool(group) or (student is None and bool(people.ids or people.members(called) or not participant))
    return DownloadedFile(
        student or called,
        "",
        group or called,
        participant="" if group or people.members(called) else participant,
        is_group=is_group,
    )


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
