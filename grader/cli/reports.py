"""Commands for instructors that write pages: about a class, for each student, and on how exercises are solved."""

from __future__ import annotations

from collections.abc import Sequence
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
    folder_name,
    instructor_command,
    out,
    stop,
    term_folder,
    told,
)
from grader.counts import counted
from grader.feedback.choices import For


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
    from grader.classreport.page import report_path, write_report

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
    _warn("graded without a sandbox", found.unsafe.count, found.unsafe.names)
    _warn(_OUTDATED, found.outdated.count, found.outdated.names)
    _warn("not graded yet, so not in the report", found.ungraded.count, found.ungraded.names)
    if found.outdated.count or found.ungraded.count:
        _say_to_grade_first(chapter, term)
    if found.ungraded.count:
        raise typer.Exit(3)


_OUTDATED = "out of date, because the submission or the course has changed since it was graded"


def _warn(what: str, count: int, names: Sequence[str]) -> None:
    """Warn of submissions, if there are any; of an anonymous report the names are unknown."""
    from grader.shown import some

    if count:
        of = f": {some(names)}" if names else ""
        err.print(f"{counted(count, 'submission')} {what}{of}.", style="yellow", soft_wrap=True)


def _say_to_grade_first(chapter: str, term: Path) -> None:
    first = f"Run  grader autograde {chapter} --term {term}  first, then repeat this command."
    err.print(first, style="yellow", soft_wrap=True)


@instructor_command()
def feedback(
    chapter: ChapterArgument,
    given_term: TermOption = None,
    student: Annotated[
        list[str] | None, typer.Option(help="Write the page of this student only. Repeat the option for several.")
    ] = None,
    solutions: Annotated[
        bool,
        typer.Option(
            "--solutions",
            help="Show how each exercise is solved, once the due date and all extensions have passed.",
        ),
    ] = False,
    archive: Annotated[
        For | None,
        typer.Option(help="Also pack the pages into one archive for the bulk upload of this system."),
    ] = None,
    db_url: DbUrl = None,
) -> None:
    """Write a feedback page for each graded submission.

    The page is TERM/feedback/STUDENT/CHAPTER.html. It is written from the stored results, so no student code is run.
    With --solutions, it also has the course's solution of each exercise, why it works, and another way, all folded.
    Pages that were written before are replaced.

    With --archive, TERM/exports/CHAPTER-feedback-SYSTEM.zip has the pages under the names that Canvas or Moodle gave
    the students in its download of the submissions, which must be in TERM/downloaded/CHAPTER/archive/.

    The exit status is 0 if every submission has a page, 1 if no page could be written, and 3 if some submissions are
    not graded yet.
    """
    from grader.feedback.write import write_feedback

    root = course_root()
    term = term_folder(root, given_term)
    with out.status("Writing feedback …"), told():
        written = write_feedback(root, term, chapter, student, db_url, solutions)
    count = len(written.pages)
    out.print(f"Wrote {counted(count, 'page')}: {term / 'feedback'}/STUDENT/{chapter}.html", soft_wrap=True)
    if archive is not None:
        _pack(archive, term, chapter, dict(zip(written.students, written.pages, strict=True)), db_url)
    _warn("graded without a sandbox, as the page says", len(written.unsafe), written.unsafe)
    _warn(_OUTDATED, len(written.outdated), written.outdated)
    _warn("not graded yet, so without a page", len(written.ungraded), written.ungraded)
    if written.outdated or written.ungraded:
        _say_to_grade_first(chapter, term)
    if written.ungraded:
        raise typer.Exit(3)


def _pack(archive: For, term: Path, chapter: str, pages: dict[str, Path], db_url: str | None) -> None:
    from grader.feedback.archives import pack_feedback
    from grader.gradebook import gradebook_url
    from grader.gradebook.people import people, read_groups
    from grader.gradebook.roster import students

    with told():
        everyone = people(students(db_url or gradebook_url(term)), read_groups(term))
        packed = pack_feedback(archive, term, chapter, pages, everyone)
    out.print(f"Packed {counted(packed.count, 'page')}: {packed.path}", soft_wrap=True)
    _warn("without a place in the download, so not in the archive", len(packed.without), packed.without)


@instructor_command()
def regrades(
    chapter: Annotated[str | None, typer.Argument(help="The chapter. Default: all.", callback=folder_name)] = None,
    given_term: TermOption = None,
    db_url: DbUrl = None,
) -> None:
    """List the requests for regrading in TERM/regrades.toml, open ones first.

    `grader feedback` shows them with their answers on the pages of their students. The exit status is 3 if a request is
    of a student who is not in the gradebook.
    """
    from grader.feedback.regrades import NAME, read_requests, without_student
    from grader.gradebook import gradebook_url
    from grader.gradebook.roster import students
    from grader.manifest import load_manifest
    from grader.shown import named, one_line, some

    root = course_root()
    term = term_folder(root, given_term)
    with told():
        manifest = load_manifest(root / "course.toml")
        only = manifest.chapter(chapter).id if chapter else ""
        found = [each for each in read_requests(term, manifest) if only in ("", each.chapter)]
        names = {student.id: student.called for student in students(db_url or gradebook_url(term))}
    if not found:
        out.print(f"{term / NAME} has no requests{f' about {only}' if only else ''}.", soft_wrap=True)
    for each in sorted(found, key=lambda request: not request.is_open):
        about = ", ".join(filter(None, (each.chapter, each.exercise, each.date.isoformat() if each.date else "")))
        state = "open" if each.is_open else f"answered: {one_line(each.answer.strip())}"
        who = named(names.get(each.student, each.student))
        out.print_lines([f"{who} ({about}): {one_line(each.request.strip())}", f"  {state}"])
    if strangers := without_student(found, names):
        err.print(
            f"Not in the gradebook, so no page shows their requests: {some(strangers)}. "
            f"In {term / NAME}, name students by their ids.",
            style="yellow",
            soft_wrap=True,
        )
        raise typer.Exit(3)


@instructor_command()
def solutions(
    chapter: ChapterArgument,
    given_term: TermOption = None,
    given_path: Annotated[
        Path | None,
        typer.Option("--out", help="The page to write. Default: TERM/reports/CHAPTER-solutions.html.", dir_okay=False),
    ] = None,
    db_url: DbUrl = None,
) -> None:
    """Write a page with the solutions of a chapter, to show in class or hand out.

    For each exercise it has the course's solution, why it works, and another way, folded; on paper all are open. It
    names no student. If students can still submit the chapter on time, the command says so.
    """
    from grader.feedback.write import write_solutions

    root = course_root()
    term = term_folder(root, given_term)
    with err.status("Reading the solutions …"), told():
        path, still_open = write_solutions(root, term, chapter, given_path, db_url)
    out.print(f"Wrote {path}.", soft_wrap=True)
    if still_open:
        err.print(f"{still_open} Show the page after that time.", style="yellow", soft_wrap=True)
