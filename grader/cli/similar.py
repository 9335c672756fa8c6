"""The command that looks for similar submissions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli.app import (
    ChapterArgument,
    TermOption,
    course_root,
    err,
    instructor_command,
    out,
    print_json,
    stop,
    term_folder,
    told,
)

MOST_LINES = 20


@instructor_command()
def similar(
    chapter: ChapterArgument,
    given_term: TermOption = None,
    share: Annotated[
        float,
        typer.Option(
            help="List pairs of which at least one submission shares this part of its code with the other one.",
            min=0.1,
            max=1.0,
        ),
    ] = 0.7,
    given: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True,
            help="Code that everyone was given, such as that of a lecture: a notebook, a Python file, a Markdown page, "
            "or a folder of these. It is not compared. Repeat the option for several.",
        ),
    ] = None,
    anonymous: Annotated[
        bool,
        typer.Option("--anonymous", help="Show numbers instead of the students' ids. Their code is shown as it is."),
    ] = False,
    given_path: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="The page to write. Default: TERM/reports/CHAPTER-similar.html, with --anonymous "
            "TERM/reports/CHAPTER-similar-anonymous.html.",
            dir_okay=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write no page, but print the pairs as JSON.")] = False,
) -> None:
    """List pairs of submissions with similar code, to look at.

    The page TERM/reports/CHAPTER-similar.html shows their passages side by side. Released code, and code that many
    submissions share, is left out. Similar code has many good reasons, which the page lists: it is a question and not
    an answer. No points are changed, and nothing leaves this machine.
    """
    from grader.counts import counted
    from grader.gradebook import called, gradebook_url
    from grader.shown import named
    from grader.similar.look import as_tree, compare, with_names, without_names
    from grader.similar.page import page_path, write_page

    root = course_root()
    term = term_folder(root, given_term)
    if as_json and given_path is not None:
        stop("Use only one of --out and --json.")
    with told(), err.status("Reading the submissions …") as status:
        compared = compare(
            root,
            term,
            chapter,
            share,
            given or (),
            on_read=lambda done, of: status.update(f"Read {done} of {of} submissions …"),
        )
        compared = without_names(compared) if anonymous else compared
    if as_json:
        print_json(as_tree(compared))
        return
    if not anonymous:
        with told():
            compared = with_names(compared, called(gradebook_url(term)))
    page = given_path or page_path(term, chapter, anonymous)
    with told():
        write_page(page, compared)
    pairs = compared.found.pairs
    of = f"{len(compared.own)} submissions of {chapter}"
    out.print(f"Please look at {counted(len(pairs), 'pair')} of {of}:" if pairs else f"No pairs in {of}.")
    for pair in pairs[:MOST_LINES]:
        sides = [f"{named(side.student)} ({100 * side.share:.0f} %)" for side in (pair.left, pair.right)]
        out.print("  " + " and ".join(sides), soft_wrap=True)
    if len(pairs) > MOST_LINES:
        out.print(f"  and {len(pairs) - MOST_LINES} more")
    out.print(f"The passages, and good reasons for similar code: {page}", soft_wrap=True)
