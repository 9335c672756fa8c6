"""The command that packs a chapter's grading for Gradescope."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli.app import ChapterArgument, TermOption, course_root, err, instructor_command, out, term_folder, told


@instructor_command()
def gradescope(
    chapter: ChapterArgument,
    given_term: TermOption = None,
    path: Annotated[
        Path | None,
        typer.Option("--out", help="The zip to write. Default: TERM/gradescope/CHAPTER.zip.", dir_okay=False),
    ] = None,
) -> None:
    """Write the autograder zip of a chapter for Gradescope.

    Upload it to a programming assignment, under Configure Autograder. Gradescope then grades every submission as
    grader autograde does, with the hidden cases of this term, and shows students what a feedback page shows. Keep the
    zip secret: it contains the hidden cases with their expected results, but neither solutions nor the term's seed.

    Gradescope's containers cannot run the sandbox. Student code runs there as a user that can read neither the hidden
    cases nor the results, and can open no socket.
    """
    from grader.files import PRIVATE, write_whole
    from grader.gradescope.pack import autograder_zip

    root = course_root()
    term = term_folder(root, given_term)
    target = path or term / "gradescope" / f"{chapter}.zip"
    with err.status("Computing the hidden cases …"), told():
        content = autograder_zip(root, term, chapter)
        write_whole(target, content, PRIVATE)
    out.print(f"Wrote {target} ({len(content) / 1e6:.1f} MB). Keep it secret.", soft_wrap=True)
    out.print("Upload it to Gradescope: Configure Autograder → Zip file upload.")
