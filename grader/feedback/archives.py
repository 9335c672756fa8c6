"""Feedback of a class as one archive, for the bulk upload of Canvas or Moodle.

Both systems find a student by the names in their own download of the submissions, so the archives in
`TERM/downloaded/CHAPTER/archive/` are read for them, and who is not in the newest one that names them gets no file.

*Moodle* (*View all submissions → Upload multiple feedback files in a zip*): `FULLNAME_ID_assignsubmission_file_NAME`,
whose ID is that of this assignment's participant and must be the second part between underscores; what follows the
fourth underscore is the name of the feedback file (`is_valid_filename_for_import` in
`mod/assign/feedback/file/importziplib.php` of https://github.com/moodle/moodle). An archive that is uploaded again
replaces the files.

*Canvas* (*Upload Submissions* in the assignment's menu): the names of the download, `name_USER_UPLOAD_FILE`. The first
two parts that are numbers are the student and one of the student's own uploads, and Canvas shows the new file, as the
attachment of a comment, under the name of that upload (`infer_comment_context_from_filename` and
`generate_comments_from_files` of the assignment's model in https://github.com/instructure/canvas-lms). Therefore the
page comes in the form that the name promises: in a zip for a zip, and in a notebook for a notebook. Each upload adds a
comment.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.errors import ExpectedError
from grader.feedback.choices import For
from grader.files import PRIVATE, write_whole
from grader.gradebook.people import People
from grader.plugins.download_names import DownloadedFile, is_hidden, read_name

_OF_MOODLE = re.compile(r"(?P<who>[^_]+_\d+)_assignsubmission_file")
_STYLE = re.compile(r"<style\b.*?</style>|<head\b.*?</head>", re.DOTALL)
_NEVER = (1980, 1, 1, 0, 0, 0)  # the earliest time in a zip: the same pages are the same archive


class ArchiveError(ExpectedError):
    """Feedback cannot be packed; the message says what is missing and what to do."""


@dataclass(frozen=True)
class Packed:
    """The archive, how many students' pages are in it, and who has a page but no place in the download."""

    path: Path
    count: int
    without: tuple[str, ...]


def pack_feedback(for_: For, term: Path, chapter_id: str, pages: Mapping[str, Path], people: People) -> Packed:
    """Write the pages of students, by id, to TERM/exports/CHAPTER-feedback-SYSTEM.zip. Raises ArchiveError, OSError."""
    names = _names(for_, term, chapter_id, people)
    if not names:
        raise ArchiveError(
            f"The feedback for {for_.title()} is named after its own download of the submissions, and in "
            f"{_folder(term, chapter_id)} there is none. Download all submissions of the assignment, put the file "
            "there, and repeat this command."
        )
    with io.BytesIO() as buffer:
        with zipfile.ZipFile(buffer, "w") as archive:
            for student in sorted(pages.keys() & names.keys()):
                name = names[student]
                page = pages[student].read_text("utf-8")
                if for_ is For.moodle:
                    _add(archive, f"{name}_assignsubmission_file_{chapter_id}.html", page.encode())
                else:
                    _add(archive, name, _as_upload(name, f"{chapter_id}.html", page))
        path = term / "exports" / f"{chapter_id}-feedback-{for_}.zip"
        write_whole(path, buffer.getvalue(), PRIVATE)
    return Packed(path, len(pages.keys() & names.keys()), tuple(sorted(pages.keys() - names.keys())))


def _folder(term: Path, chapter_id: str) -> Path:
    return term / "downloaded" / chapter_id / "archive"


def _names(for_: For, term: Path, chapter_id: str, people: People) -> dict[str, str]:
    """What the newest download calls each student (Moodle: name and number) or one of their uploads (Canvas)."""
    downloads = sorted(_folder(term, chapter_id).glob("*"), key=lambda path: (path.stat().st_mtime, path.name))
    found: dict[str, str] = {}
    for download in downloads:  # a newer one replaces what an older one told
        its: dict[str, list[tuple[DownloadedFile, tuple[str, ...]]]] = {}
        for parts in _files(download):
            file = read_name(Path(*parts), parts, people)
            if isinstance(file, DownloadedFile) and not is_hidden(parts):
                for student in (file.student, *people.members(file.called)):
                    its.setdefault(student, []).append((file, parts))
        name_of = _of_canvas if for_ is For.canvas else _of_moodle
        found |= {student: name for student, files in its.items() if (name := name_of(files))}
    return found


_Files = Sequence[tuple[DownloadedFile, tuple[str, ...]]]


def _of_canvas(files: _Files) -> str:
    """The newest upload whose form can hold a page, a zip before a notebook; empty if there is none."""
    fit = [(file.upload, parts[-1]) for file, parts in files if file.upload]
    fit = [(upload, name) for upload, name in fit if name.lower().endswith((".zip", ".ipynb"))]
    return max(fit, key=lambda each: (each[1].lower().endswith(".zip"), each[0]), default=(0, ""))[1]


def _of_moodle(files: _Files) -> str:
    """The name and the number of the participant; empty if there are none."""
    matches = (_OF_MOODLE.match(part) for _, parts in files for part in parts)
    return next((match["who"] for match in matches if match), "")


def _files(download: Path) -> list[tuple[str, ...]]:
    """The paths in a download, packed or not; empty if it is neither a zip nor a folder."""
    if download.is_dir():
        return [path.relative_to(download).parts for path in sorted(download.rglob("*")) if path.is_file()]
    try:
        with zipfile.ZipFile(download) as archive:
            return [PurePosixPath(each.filename).parts for each in archive.infolist() if not each.is_dir()]
    except (zipfile.BadZipFile, OSError):
        return []


def _as_upload(name: str, page_name: str, page: str) -> bytes:
    """A page as a file of the kind that a name has."""
    if not name.lower().endswith(".zip"):
        body = _STYLE.sub("", page).partition("<body")[2].partition(">")[2].partition("</body>")[0]
        cell = {"cell_type": "markdown", "id": "feedback", "metadata": {}, "source": body or page}
        return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()
    with io.BytesIO() as buffer:
        with zipfile.ZipFile(buffer, "w") as archive:
            _add(archive, page_name, page.encode())
        return buffer.getvalue()


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    info = zipfile.ZipInfo(name, _NEVER)
    info.external_attr, info.create_system = 0o644 << 16, 3
    archive.writestr(info, content, zipfile.ZIP_DEFLATED)
