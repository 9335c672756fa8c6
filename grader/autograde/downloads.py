"""What `nbgrader zip_collect` reads from the names of files that Canvas, Moodle and Gradescope let one download.

| from | a file of the download | the student |
|---|---|---|
| Canvas | `leeann_12345_678910_recurrence.ipynb`, `leeann_LATE_12345_678910_recurrence-1.ipynb` | `12345` |
| Moodle | `Ann Lee_1234567_assignsubmission_file_/recurrence.ipynb` | `Ann Lee`: the number is the submission's |
| Gradescope | `submission_12345/recurrence.ipynb`, `submission_metadata.yml` beside it | the e-mail address there |

Only nbgrader imports this (`nbgrader_config.py` names it).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from nbgrader.plugins import FileNameCollectorPlugin

METADATA = "submission_metadata.yml"

_CANVAS = re.compile(r"[^_]+_(?:LATE_)?(?P<student>\d+)_(?P<upload>\d+)_(?P<file>.+)")
_MOODLE = re.compile(r"(?P<student>.+)_\d+_assignsubmission_file_?(?P<file>.*)")
_GRADESCOPE = re.compile(r"(?P<student>submission_\d+)")
_ATTEMPT = re.compile(r"(?P<stem>.+)-(?P<number>\d+)")  # Canvas tells files of one name apart so


class Found(NamedTuple):
    """A file of a download: whose it is, what they called it, and which upload of theirs, where that is known."""

    student: str
    name: str
    upload: int = 0
    timestamp: str | None = None


class Downloads(FileNameCollectorPlugin):  # type: ignore[misc]
    """Names the student and the notebook of each file; of what Canvas numbered as one notebook it takes the newest.

    Files of other names go to `named_regexp`, where one is configured.
    """

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self._given: set[tuple[str, str]] = set()

    def collect(self, submitted_file: str) -> dict[str, str] | None:
        """`student_id`, `file_id` and maybe `timestamp` of a file; None where it is not to be collected."""
        path = Path(submitted_file)
        parts = path.relative_to(self._extracted()).parts
        if path.suffix not in self.valid_ext or _is_litter(parts):
            return None
        found = _read(path, len(parts))
        if found is None:
            return super().collect(submitted_file) if self.named_regexp else None
        newest = max(_same(path, len(parts), found), default=(found.upload, path))[1]
        if newest != path:
            self.log.warning("Left out, since %s is newer: %s", newest.name, path)
            return None
        name = found.name
        if (found.student, name) in self._given:  # out of another folder: both are kept
            name = "_".join(parts[-2:])
            self.log.warning("%s has two files %s; one is collected as %s", found.student, found.name, name)
        self._given.add((found.student, name))
        info = {"student_id": found.student, "file_id": name}
        return info if found.timestamp is None else info | {"timestamp": found.timestamp}

    def _extracted(self) -> Path:
        return Path(self.parent._format_collect_path(self.parent.extracted_directory))


def _is_litter(parts: tuple[str, ...]) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in parts) or parts[-1] == "timestamp.txt"


def _read(path: Path, depth: int) -> Found | None:
    """By the first part of the path that has a form of the three; `depth` parts are of the download."""
    for above in reversed(range(depth)):
        place = path.parents[above - 1] if above else path
        if match := _CANVAS.fullmatch(place.name):
            if place != path:  # out of an archive
                return Found(match["student"], path.name)
            attempt = _ATTEMPT.fullmatch(Path(match["file"]).stem)
            name = f"{attempt['stem']}{path.suffix}" if attempt else match["file"]
            return Found(match["student"], name, int(match["upload"]))
        if match := _MOODLE.fullmatch(place.name):
            own = match["file"] if place == path else path.name
            return Found(match["student"].strip(), own)
        if (match := _GRADESCOPE.fullmatch(place.name)) and place != path:
            student, timestamp = _submitter(place.parent / METADATA, match["student"])
            return Found(student, path.name, timestamp=timestamp)
    return None


def _same(path: Path, depth: int, found: Found) -> Iterator[tuple[int, Path]]:
    """The uploads of this student's under this name, of those that lie beside this one."""
    if found.upload:
        for other in path.parent.iterdir():
            if other.suffix == path.suffix and (read := _read(other, depth)) and read[:2] == found[:2]:
                yield read.upload, other


# --- Gradescope ------------------------------------------------------------------------------------------------


def _submitter(metadata: Path, submission: str) -> tuple[str, str | None]:
    """Who submitted, and when; by the submission's own number where nothing tells."""
    entry = _metadata(metadata).get(submission)
    entry = entry if isinstance(entry, dict) else {}
    submitters = entry.get(":submitters")
    first = submitters[0] if isinstance(submitters, list) and submitters and isinstance(submitters[0], dict) else {}
    names = [str(first[key]).strip() for key in (":email", ":sid") if first.get(key)]
    student = next((name for name in names if "/" not in name and not name.startswith(".")), submission)
    when = entry.get(":created_at")
    return student, when.isoformat(" ") if isinstance(when, datetime) else None


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
        return loader.construct_scalar(node)

    Loader.add_multi_constructor("!", untagged)
    try:
        tree = yaml.load(path.read_bytes(), Loader=Loader)
    except FileNotFoundError:
        return {}
    return tree if isinstance(tree, dict) else {}
