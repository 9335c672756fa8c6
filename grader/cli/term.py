"""Commands for the settings of a term: due dates and extensions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from rich.table import Table

from grader.cli.app import DbUrl, TermOption, course_root, err, instructor_command, out, term_folder, told
from grader.shown import named

if TYPE_CHECKING:
    from grader.manifest import Chapter


_LATENESS = ((1, "an hour"), (25, "a day and an hour"), (8 * 24, "eight days"), (30 * 24, "thirty days"))


@instructor_command()
def due(given_term: TermOption = None, db_url: DbUrl = None) -> None:
    """Set the due dates that TERM/term.toml gives, and print them.

    Extensions are printed too. Each date is shown as clocks in the term's zone show it, and in UTC. `grader autograde`
    also sets the due dates, so this command is needed only to check the file, and to see the dates in formgrader before
    anything is graded.
    """
    from grader.counts import counted, number
    from grader.gradebook import called, gradebook_url, roster
    from grader.gradebook.database import explained, open_engine
    from grader.gradebook.late import Policy, due_date, set_due_date
    from grader.grading.report import Notes
    from grader.manifest import load_manifest
    from grader.term_settings import NAME, read_term_settings
    from grader.times import shown, zone

    root = course_root()
    term = term_folder(root, given_term)
    with told():
        manifest = load_manifest(root / "course.toml")
        settings = read_term_settings(term, manifest)
        url = db_url or gradebook_url(term)
        waiting: list[Chapter] = []
        dates: dict[str, datetime | None] = {}
        with open_engine(url) as engine, explained(url):
            for chapter in manifest.chapters:
                if not set_due_date(engine, chapter.id, settings):
                    waiting.append(chapter)
                dates[chapter.id] = settings.due.get(chapter.id) or due_date(engine, chapter.id)
        students = roster(url)
    if not (term / NAME).is_file():
        err.print(f"There is no {term / NAME}; these are the due dates in the gradebook.", soft_wrap=True)
    everyone = called(url)
    zones = [*([zone(settings.timezone)] if settings.timezone else []), UTC]
    table = Table("chapter", "student", *(str(each) for each in zones), box=None)
    for chapter_id, when in dates.items():
        table.add_row(chapter_id, "", *("–" if when is None else shown(when, each) for each in zones))
        for student, own in sorted(settings.extensions.get(chapter_id, {}).items()):
            table.add_row("", named(everyone.get(student, student)), *(shown(own, each) for each in zones))
    out.print(table)
    which = "best" if settings.attempts == "best" else "last"
    out.print(f"If a student submits several times, the {which} attempt counts.")
    if settings.late is not None:
        with told():
            policy = Policy(term, settings)
            costs = [(policy.penalty("", 100.0, 3600.0 * hours), what) for hours, what in _LATENESS]
        said = ", ".join(f"{number(points or 0.0)} by {what}" for points, what in costs)
        out.print(f"Of 100 points, lateness costs {said}.", soft_wrap=True)
    if settings.slip_days:
        out.print(f"Each student has {counted(settings.slip_days, 'slip day')}.")
    for chapter in manifest.chapters:
        notes = Notes(everyone, exempt=settings.exemptions(chapter))
        out.print_lines(line.replace("Exempt:", f"Exempt from {chapter.id}:", 1) for line in notes.lines(chapter))
    if students is not None:
        exempt = {student for its in settings.exempt.values() for student in its}
        for student in sorted(exempt - students):
            err.print(f"{named(student)} is exempt from something, but is not in the gradebook. Check the name.")
        extended = {student for its in settings.extensions.values() for student in its}
        for student in sorted(extended - students):
            err.print(f"{named(student)} has an extension, but is not in the gradebook. Check the name.")
    if waiting and settings.due:
        names = ", ".join(chapter.id for chapter in waiting)
        err.print(f"Not in the gradebook yet, so dated when they are graded: {names}.", soft_wrap=True)
