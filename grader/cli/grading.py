"""Commands for instructors: grade a class and write feedback."""

from __future__ import annotations

import io
import os
from concurrent.futures import Future, ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

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

if TYPE_CHECKING:
    from grader.autograde.grading.store import Change


class Executor(StrEnum):
    """Where the workers of `grader autograde` run."""

    local = "local"
    dask = "dask"


@instructor_command()
def autograde(
    chapter: ChapterArgument,
    given_term: TermOption = None,
    student: Annotated[
        list[str] | None, typer.Option(help="Grade this student only. Repeat the option for several students.")
    ] = None,
    only_failed: Annotated[
        bool,
        typer.Option(
            "--only-failed",
            help="Grade only submissions that have no result or were flagged for manual review last time.",
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Regrade all submissions, even if their results are up to date.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option(help="Number of students to grade in parallel. Default: one per core.", min=1)
    ] = None,
    executor: Annotated[
        Executor, typer.Option(help="Where to grade: on this machine, or on a Dask cluster.")
    ] = Executor.local,
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="With --executor dask: the scheduler, tcp://HOST:PORT. Default: a new cluster on this machine."
        ),
    ] = None,
    db_url: DbUrl = None,
    unsafe: Annotated[
        bool,
        typer.Option(
            "--unsafe-no-sandbox",
            help="Run student code without the sandbox, with your permissions. The gradebook is not written.",
        ),
    ] = False,
    force_gradebook: Annotated[
        bool, typer.Option("--force-gradebook", help="With --unsafe-no-sandbox: write the gradebook nevertheless.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Report who has submitted, what would be graded and what is misplaced. Write nothing."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON instead of a table.")] = False,
) -> None:
    """Grade the submissions of a chapter in a sandbox.

    The submissions are read from TERM/submitted/STUDENT/CHAPTER/, and the points are written to nbgrader's gradebook.
    Submissions whose results are still up to date are not graded again.

    The exit status is 0 if every submission has a result, 1 if the command could not run, 3 if some submissions could
    not be graded or recorded, and 130 after Ctrl-C. Run the command again to continue.
    """
    from grader.autograde.gradebook import gradebook_url, read_scores, shown
    from grader.autograde.grading import pool, report
    from grader.autograde.grading.attempts import earlier_lines
    from grader.autograde.grading.changes import log_path, printed
    from grader.autograde.grading.chapter import autograde as run
    from grader.autograde.grading.chapter import chosen
    from grader.autograde.grading.preflight import preflight, preflight_lines, preflight_tree
    from grader.autograde.grading.release import released_notebooks
    from grader.autograde.grading.watched import watched
    from grader.autograde.running.selftest import prove
    from grader.autograde.term_settings import read_term_settings
    from grader.manifest import load_manifest

    root = course_root()
    term = term_folder(root, given_term)
    count = workers or os.cpu_count() or 1
    with told(), ThreadPoolExecutor(1) as aside:
        if executor is Executor.local and not dry_run:
            pool.begin()
        manifest = load_manifest(root / "course.toml")
        found = manifest.chapter(chapter)
        released_notebooks(root, found)  # fails if the release is missing or old, before anything is written
        tasks = chosen(term, found, student, only_failed=only_failed, again=force)
        proof = None if dry_run or unsafe else aside.submit(prove, root, term, chapter)
        url: str | None = db_url or gradebook_url(term)
        before = preflight(root, term, manifest, found, tasks, students=student, sandboxed=not unsafe, db_url=url)
        if dry_run and as_json:
            typer.echo(report.as_json(found, [], not unsafe, preflight=preflight_tree(found, before)))
            return
        for line in preflight_lines(found, before, whole=dry_run):
            (out if dry_run else err).print(line, soft_wrap=True)
        if dry_run:
            return
        sandboxed = _proved(term, proof)
        if unsafe and not force_gradebook:
            err.print("The gradebook is not written. To write it anyway, add --force-gradebook.", style="yellow")
            url = None
        execute = pool.local(count) if executor is Executor.local else pool.dask(scheduler, count)
        changes: list[Change] = []
        results, stopped = watched(
            err,
            lambda announce, on_graded, stopping: run(
                root,
                term,
                chapter,
                execute,
                db_url=url,
                tasks=tasks,
                sandboxed=sandboxed,
                announce=announce,
                on_graded=on_graded,
                on_change=changes.append,
                stopping=stopping,
            ),
        )
        scores = {} if url is None else read_scores(url, chapter)
    if as_json:
        before_tree = preflight_tree(found, before)
        typer.echo(report.as_json(found, results, sandboxed, scores, preflight=before_tree, changes=changes))
    else:
        out.print(f"{found.title} ({found.id}), {len(results)} submission{'s' * (len(results) != 1)}")
        for line in report.legend(found, _table_width(), scores):
            out.print(line, soft_wrap=True)
        _print_table(report.class_table(found, results, _table_width(), scores))
        for line in [*report.for_a_human(results), *report.waiting(found, scores)]:
            out.print(line, soft_wrap=True)
        students = [graded.student for graded in results]
        for line in earlier_lines(read_term_settings(term, manifest), term, found.id, students):
            out.print(line, soft_wrap=True)
        for line in printed(changes, log_path(term, found.id)):
            out.print(line, soft_wrap=True)
        where = "not written" if url is None else shown(db_url) if db_url else term / "gradebook.db"
        out.print(f"Gradebook: {where}   notebooks: {term / 'autograded'}", soft_wrap=True)
    if stopped:
        err.print("Stopped. Finished results are kept; run the command again to grade the rest.", style="yellow")
        raise typer.Exit(130)
    if any(graded.fault for graded in results) or any(stray.student and not stray.graded for stray in before.strays):
        err.print(_NOT_ALL, style="red", soft_wrap=True)
        raise typer.Exit(3)


@instructor_command()
def feedback(
    chapter: ChapterArgument,
    given_term: TermOption = None,
    student: Annotated[
        list[str] | None, typer.Option(help="Write the page of this student only. Repeat the option for several.")
    ] = None,
    db_url: DbUrl = None,
) -> None:
    """Write a feedback page for each graded submission.

    The page is TERM/feedback/STUDENT/CHAPTER.html. It is written from the stored results, so no student code is run.

    The exit status is 0 if every submission has a page, 1 if no page could be written, and 3 if some submissions are
    not graded yet.
    """
    from grader.autograde.grading.preflight import some
    from grader.feedback.write import write_feedback

    root = course_root()
    term = term_folder(root, given_term)
    with out.status("Writing feedback …"), told():
        written = write_feedback(root, term, chapter, student, db_url)
    count = len(written.pages)
    out.print(f"Wrote {count} page{'s' * (count != 1)}: {term / 'feedback'}/STUDENT/{chapter}.html", soft_wrap=True)
    for names, what in (
        (written.unsafe, "graded without a sandbox, as the page says"),
        (written.outdated, "out of date, because the submission or the course has changed since it was graded"),
        (written.ungraded, "not graded yet, so without a page"),
    ):
        if names:
            of = f"{len(names)} submission{'s' * (len(names) != 1)}"
            err.print(f"{of} {what}: {some(names)}.", style="yellow", soft_wrap=True)
    if written.outdated or written.ungraded:
        first = f"Run  grader autograde {chapter} --term {term}  first, then repeat this command."
        err.print(first, style="yellow", soft_wrap=True)
    if written.ungraded:
        raise typer.Exit(3)


def _proved(term: Path, proof: Future[None] | None) -> bool:
    """Wait for the sandbox's test, or warn that there is none; return whether there is one. Raises SandboxError."""
    from grader.author.demo_class import PLANTED
    from grader.autograde.running.sandbox import SandboxError

    loud = "No sandbox: student code runs with your permissions, so it can read and change everything that you can."
    if proof is None:
        err.print(loud, style="bold red")
        return False
    try:
        proof.result()
    except SandboxError as error:
        if not (term / PLANTED).is_file():
            raise
        err.print(str(error), style="yellow", soft_wrap=True)
        err.print(f"{loud} This demo class is graded anyway, because all its code is the course's.", style="bold red")
        return False
    return True


_NOT_ALL = (
    "Some submissions could not be graded or recorded, for the reasons given above. Their earlier points are kept. "
    "Run the command again."
)


def _table_width() -> int:
    """The width of the terminal. If another program reads the output, wide enough for one line per student."""
    return out.width if out.is_terminal else 10_000


def _print_table(table: Table) -> None:
    if out.is_terminal:
        out.print(table)
        return
    with io.StringIO() as text:
        Console(file=text, width=_table_width(), markup=False, emoji=False, highlight=False).print(table)
        out.print("\n".join(line.rstrip() for line in text.getvalue().splitlines()), soft_wrap=True)
