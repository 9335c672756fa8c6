"""Commands for instructors: import a roster, and export the final points."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.app import DbUrl, TermOption, course_root, err, instructor_command, out, stop, term_folder, told
from grader.lms.options import Empty, Format, System

if TYPE_CHECKING:
    from grader.gradebook.roster import Student


@instructor_command()
def roster(
    file: Annotated[
        Path, typer.Argument(help="The CSV file that you exported from Canvas, Moodle or Gradescope, or a plain one.")
    ],
    system: Annotated[
        System | None, typer.Option("--from", help="Where the file comes from. Default: recognised from its header.")
    ] = None,
    given_term: TermOption = None,
    db_url: DbUrl = None,
) -> None:
    """Import the roster into the gradebook.

    New students are added, and known ones get the names and addresses that the file has. No student is deleted, and
    what the file leaves empty is kept. Run the command again whenever the roster has changed.

    The exit status is 0 if every row was imported, 1 if the command could not run, and 3 if some rows were refused.
    """
    from grader.counts import counted
    from grader.gradebook import gradebook_url
    from grader.gradebook.enrolment import enrol
    from grader.lms.rosters import read_roster
    from grader.shown import some

    root = course_root()
    term = term_folder(root, given_term)
    with told():
        read = read_roster(file, system)
        done = enrol(db_url or gradebook_url(term), read.students)
    out.print(f"{file}: {read.title}, {counted(len(read.students), 'student')}", soft_wrap=True)
    for what, names in (
        ("Added", [_named(student) for student in done.added]),
        ("Changed", [_change(before, after) for before, after in done.changed]),
    ):
        if names:
            out.print(f"{what} {len(names)}:", soft_wrap=True)
            out.print_lines(f"  {name}" for name in names)
    out.print(f"Unchanged: {len(done.unchanged)}", soft_wrap=True)
    if done.others:
        others = some([student.id for student in done.others])
        out.print(f"In the gradebook but not in this file, and left as they are: {others}", soft_wrap=True)
    if read.left_out:
        out.print(f"Left out: {', '.join(read.left_out)}", soft_wrap=True)
    err.print_lines((f"Not imported: {line}" for line in read.refused), style="yellow")
    if read.refused:
        raise typer.Exit(3)


@instructor_command()
def export(
    chapters: Annotated[
        list[str] | None, typer.Argument(metavar="[CHAPTER]...", help="The chapters, such as ch01_vanilla_rnn.")
    ] = None,
    format_: Annotated[
        Format, typer.Option("--format", help="For which system: a plain table, or a file to import there.")
    ] = Format.csv,
    everything: Annotated[bool, typer.Option("--all", help="Export every chapter that has points.")] = False,
    into: Annotated[
        Path | None,
        typer.Option(
            help="With canvas or moodle: the CSV file exported there, which says which students and columns there are."
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(help="With --into and one chapter: the column to fill. Default: that with the chapter's title."),
    ] = None,
    ungraded: Annotated[
        Empty, typer.Option(help="What to write if an answer is not graded yet: nothing, or the points so far.")
    ] = Empty.leave,
    missing: Annotated[
        Empty, typer.Option(help="What to write for students without a submission: nothing, or 0 points.")
    ] = Empty.leave,
    own: Annotated[
        Path | None,
        typer.Option(
            "--with", help="A Python file of your own with a function export(table, policy), in place of a format."
        ),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option("--out", help="The file to write; with gradescope, the folder. Default: one in TERM/exports/."),
    ] = None,
    given_term: TermOption = None,
    db_url: DbUrl = None,
) -> None:
    """Export the final points: CSV, Canvas, Moodle or Gradescope.

    The points are those that nbgrader exports: with your changes, extra credit and late penalties.

    As long as one of a student's answers is not graded, and if there is no submission, no total is exported, unless you
    choose otherwise. A submission that is not graded yet is never exported as 0.

    The exit status is 0 if everything was exported, 1 if nothing was, and 3 if a student is missing from the file, or a
    submission or an answer still has to be graded.
    """
    from grader.gradebook import gradebook_url
    from grader.lms.table import Policy, graded_chapters, is_complete, not_final, read_table
    from grader.lms.write import write_export
    from grader.manifest import load_manifest

    root = course_root()
    term = term_folder(root, given_term)
    url = db_url or gradebook_url(term)
    if bool(chapters) == everything:
        stop("Name the chapters to export, or use --all.")
    with told():
        manifest = load_manifest(root / "course.toml")
        if everything:
            chosen = graded_chapters(manifest.chapters, url)
            if not chosen:
                stop(f"The gradebook has no points. Run  grader autograde CHAPTER --term {term}  first.")
        else:
            chosen = [manifest.chapter(name) for name in dict.fromkeys(chapters or ())]
        table = read_table(root, term, manifest, chosen, url)
        policy = Policy(ungraded, missing)
        written = write_export(format_, term, table, policy, to, into, column, own)
    out.print(written.line, soft_wrap=True)
    out.print_lines([*not_final(table, policy, term), *written.notes])
    err.print_lines(written.problems, style="yellow")
    if written.problems or not is_complete(table, policy):
        raise typer.Exit(3)


def _named(student: Student) -> str:
    name = " ".join(filter(None, (student.first_name, student.last_name)))
    details = ", ".join(filter(None, (name, student.email)))
    return f"{student.id} ({details})" if details else student.id


def _change(before: Student, after: Student) -> str:
    from grader.gradebook.enrolment import DETAILS

    told = [
        f"{name} {old!r} → {new!r}"
        for name in DETAILS
        if (old := getattr(before, name)) != (new := getattr(after, name))
    ]
    return f"{after.id}: {', '.join(told)}"
