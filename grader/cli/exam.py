"""The command for instructors that writes an exam sheet and its solutions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli.app import ChapterArgument, course_root, instructor_command, out, told
from grader.counts import counted


@instructor_command()
def exam(
    chapter: ChapterArgument,
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            help="A whole number that decides all numbers of the sheet. Choose one that cannot be guessed, "
            "and keep it secret until the exam is over.",
        ),
    ],
    folder: Annotated[Path, typer.Option("--out", help="The folder to write to.", file_okay=False)] = Path("exams"),
    force: Annotated[bool, typer.Option("--force", help="Replace files that have another content.")] = False,
) -> None:
    """Write an exam sheet of a chapter, to print, and its solutions.

    The same seed gives the same sheet again. The files are CHAPTER-exam-SEED.html and CHAPTER-exam-SEED-solutions.html.
    Open them in a browser and print them; the solutions show every step.
    """
    from grader.exam.write import write_exam

    root = course_root()
    with told(), out.status("Drawing numbers …"):
        written = write_exam(root, chapter, seed, folder, force)
    for path, what in ((written.sheet, "the sheet"), (written.solutions, "its solutions")):
        verb = "is up to date" if path in written.unchanged else "wrote"
        out.print(f"{verb} {path}  ({what})" if verb == "wrote" else f"{path} {verb}  ({what})", soft_wrap=True)
    questions, points = counted(len(written.exam.questions), "question"), counted(written.exam.points, "point")
    out.print(f"Sheet {written.exam.code}: {questions}, {points}.")
