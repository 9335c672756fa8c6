"""Write the two files of an exam: the sheet and its solutions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from grader.errors import ExpectedError
from grader.exam.load import Exam, draw_exam
from grader.exam.sheet import sheet_html, solutions_html
from grader.files import PRIVATE, private_folder, write_whole
from grader.manifest import load_manifest


class OtherContentError(ExpectedError):
    """A file with another content is in the way."""


@dataclass(frozen=True)
class Written:
    """The two files of an exam, and those of them that had the same content before."""

    exam: Exam
    sheet: Path
    solutions: Path
    unchanged: tuple[Path, ...]


def exam_files(root: Path, chapter_id: str, seed: int) -> tuple[Exam, dict[str, bytes]]:
    """The exam of a chapter, and the names and contents of its sheet and its solutions, in this order.

    Raises UnknownIdError, ManifestError, SpecError, ExamError.
    """
    manifest = load_manifest(root / "course.toml")
    exam = draw_exam(root, manifest, manifest.chapter(chapter_id), seed)
    name = f"{chapter_id}-exam-{seed}"
    pages = {name: sheet_html(manifest, exam), f"{name}-solutions": solutions_html(manifest, exam)}
    return exam, {f"{stem}.html": page.encode() for stem, page in pages.items()}


def write_exam(root: Path, chapter_id: str, seed: int, folder: Path, force: bool = False) -> Written:
    """Write both files, which only their owner can read. A file with another content is replaced only if `force`.

    Raises OtherContentError before anything is written, OSError, and what `exam_files` does.
    """
    exam, files = exam_files(root, chapter_id, seed)
    there = {name: (folder / name).read_bytes() for name in files if (folder / name).exists()}
    other = [name for name, content in there.items() if content != files[name]]
    if other and not force:
        raise OtherContentError(
            f"{folder / other[0]}: has another content, because it was edited, or because the course's questions have "
            "changed since it was written. Nothing was written. Choose another folder with --out, or replace the file "
            "with --force."
        )
    private_folder(folder)
    for name, content in files.items():
        if there.get(name) != content:
            write_whole(folder / name, content, PRIVATE)
    sheet, solutions = (folder / name for name in files)
    return Written(exam, sheet, solutions, tuple(folder / name for name in there if name not in other))
