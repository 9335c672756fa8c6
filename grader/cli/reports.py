"""Commands for instructors that report on a class."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.classreport.choices import Table
from grader.cli.app import (
    ChapterArgument,
    DbUrl,
    TermOption,
    course_root,
    err,
    instructor_command,
    out,
    stop,
    term_folder,
    told,
)


@instructor_command()
def report(
    chapter: ChapterArgument,
    given_term: TermOption = None,
    anonymous: Annotated[
        bool,
        typer.Option("--anonymous", help="Leave out everything that names a student, to show the report in class."),
    ] = False,
    given_path: Annotated[
        Path | None,
        typer.Option(
            "--out",
            help="The page to write. Default: TERM/reports/CHAPTER.html, with --anonymous "
            "TERM/reports/CHAPTER-anonymous.html.",
            dir_okay=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write no page, but print everything in it as JSON.")] = False,
    as_csv: Annotated[
        Table | None, typer.Option("--csv", help="Write no page, but print this table of it as CSV.")
    ] = None,
    db_url: DbUrl = None,
) -> None:
    """Report on a class: points, mistakes, and what to teach next.

    The page is TERM/reports/CHAPTER.html. It is written from the stored results and the submitted files, so no student
    code is run.

    The exit status is 0 if every submission is in the report, 1 if there is no report, and 3 if some submissions are
    not graded yet.
    """
    from grader.classreport import tables
    from grader.classreport.gather import class_report
    from grader.classreport.write import report_path, write_report
    from grader.render.rows import counted
    from grader.shown import some

    root = course_root()
    term = term_folder(root, given_term)
    if (as_json and as_csv is not None) or (given_path is not None and (as_json or as_csv is not None)):
        stop("Use only one of --out, --json and --csv.")
    with err.status("Reading results …"), told():
        found = class_report(root, term, chapter, db_url, anonymous)
    if as_json:
        typer.echo(tables.as_json(found))
    elif as_csv is not None:
        typer.echo(tables.as_csv(found, as_csv), nl=False)
    else:
        path = given_path or report_path(term, chapter, anonymous)
        with told():
            write_report(path, found)
        out.print(f"Wrote {path} on {counted(found.students, 'submission')}.", soft_wrap=True)
    for students, what in (
        (found.unsafe, "graded without a sandbox"),
        (found.outdated, "out of date, because the submission or the course has changed since it was graded"),
        (found.ungraded, "not graded yet, so not in the report"),
    ):
        if students.count:
            of = counted(students.count, "submission")
            names = f": {some(students.names)}" if students.names else ""
            err.print(f"{of} {what}{names}.", style="yellow", soft_wrap=True)
    if found.outdated.count or found.ungraded.count:
        first = f"Run  grader autograde {chapter} --term {term}  first, then repeat this command."
        err.print(first, style="yellow", soft_wrap=True)
    if found.ungraded.count:
        raise typer.Exit(3)
