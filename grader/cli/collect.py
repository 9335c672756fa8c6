"""Commands for instructors who collect: unpack what students made with `grader submit`, enter when they submitted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli.app import (
    ChapterArgument,
    DbUrl,
    TermOption,
    course_root,
    err,
    instructor_command,
    out,
    term_folder,
    told,
)
from grader.counts import counted


@instructor_command()
def collect(chapter: ChapterArgument, given_term: TermOption = None) -> None:
    """Unpack the zips that students made with grader submit.

    A zip in TERM/submitted/STUDENT/ or in TERM/submitted/STUDENT/CHAPTER/ is unpacked into the latter, if all its
    checksums are right, and then moved to TERM/collected/. Downloads from Canvas, Moodle and Gradescope are collected
    by nbgrader zip_collect, which also unpacks such zips.

    Every zip has its line. A zip of another chapter stays for  grader collect  of that one. One that is damaged, was
    changed, or was not made by grader submit stays where it is.

    The exit status is 0 if no zip has to be looked at, 1 if the command could not run, and 3 if some zips were not
    unpacked.
    """
    from grader.manifest import load_manifest
    from grader.submission.archive import digest
    from grader.submission.collect import collect as run
    from grader.submission.collect import lines

    root = course_root()
    with told():
        manifest = load_manifest(root / "course.toml")
        found = manifest.chapter(chapter)
        others = [each.id for each in manifest.chapters if each != found]
        course = digest((root / "course.toml").read_bytes())
        collected = list(run(term_folder(root, given_term), found, course, others))
    out.print_lines(lines(collected))
    bad = sum(bool(each.problems) for each in collected)
    if not collected:
        out.print("There is no zip of grader submit to unpack.")
    elif bad:
        of = f"{bad} of {counted(len(collected), 'zip')} {'was' if bad == 1 else 'were'} not unpacked."
        err.print(f"{of} {_WHAT_NEXT.format(found.id)}", style="red", soft_wrap=True)
        raise typer.Exit(3)


_WHAT_NEXT = "Ask for a new zip of  grader submit {0}, or unpack by hand what counts into submitted/STUDENT/{0}/."


@instructor_command()
def times(
    chapter: ChapterArgument,
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Moodle's grading worksheet, saved pages of Canvas's API, or CSV files (student, submitted).",
        ),
    ],
    timezone: Annotated[
        str | None,
        typer.Option(help="The zone of times without an offset, such as Europe/Berlin. Default: that in term.toml."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace times that are there already and differ; each is listed.")
    ] = False,
    given_term: TermOption = None,
    db_url: DbUrl = None,
) -> None:
    """Enter when students submitted, as Canvas or Moodle tells it.

    The times go into the timestamp.txt of each submission that has been collected. Downloads from Gradescope have them
    already.

    Moodle: the assignment's grading worksheet, downloaded with English as your language. Its times are in the time
    zone of your profile, which the file does not name: it is `timezone` in TERM/term.toml, or --timezone.

    Canvas: in a browser that is logged in, open the assignment's address with /api/v1 before /courses and
    /submissions?per_page=100 at the end, and save the page.

    Anything else: a CSV file with the columns student and submitted, such as 2026-03-01 23:59:00 +01:00.

    The exit status is 0 if every submission has its time, 1 if the command could not run, and 3 if something has to be
    looked at.
    """
    from datetime import UTC

    from grader.gradebook import called, gradebook_url
    from grader.gradebook.people import people, read_groups
    from grader.gradebook.roster import students
    from grader.lms.options import System
    from grader.lms.submission_times import enter_times, lines, read_rows, to_look_at
    from grader.manifest import load_manifest
    from grader.submission.folders import find_submissions
    from grader.term_settings import NAME, read_term_settings
    from grader.times import given_zone

    root = course_root()
    term = term_folder(root, given_term)
    with told():
        manifest = load_manifest(root / "course.toml")
        found = manifest.chapter(chapter)
        settings = read_term_settings(term, manifest)
        where = given_zone(timezone or settings.timezone)
        read = [read_rows(path) for path in dict.fromkeys(files)]
        url = db_url or gradebook_url(term)
        everyone = people(students(url), read_groups(term))
        rows = [row for _, its in read for row in its]
        entered = enter_times(rows, find_submissions(term, found).folders, everyone, where, replace=replace)
        names = called(url)
    if where is not None and any(system is not System.canvas for system, _ in read):
        source = "--timezone" if timezone else f"timezone in {term / NAME}"
        out.print(f"Times without an offset are those of clocks in {where.key} ({source}).", soft_wrap=True)
    out.print_lines(lines(entered, names, where or UTC))
    pages = [len(its) for system, its in read if system is System.canvas]
    look = to_look_at(entered, names, pages)
    err.print_lines(look, style="yellow")
    if look:
        raise typer.Exit(3)
