"""Commands for instructors: grade a class."""

from __future__ import annotations

import os
from contextlib import closing
from enum import StrEnum
from typing import Annotated

import typer

from grader.cli.app import (
    DbUrl,
    TermOption,
    course_root,
    err,
    folder_name,
    instructor_command,
    out,
    print_json,
    term_folder,
    told,
)
from grader.shown import one_form


class Executor(StrEnum):
    """Where the workers of `grader autograde` run."""

    local = "local"
    dask = "dask"


@instructor_command()
def autograde(
    chapter: Annotated[
        str | None, typer.Argument(help="The chapter, such as ch01_vanilla_rnn.", callback=folder_name)
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Grade every chapter that has submissions, and print one line for each.")
    ] = False,
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
    new_rules: Annotated[
        bool,
        typer.Option(
            "--new-rules",
            help="Compute the points of all students again if what lateness costs, or which attempt counts, is no "
            "longer what TERM/term.toml said when the chapter was graded.",
        ),
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
    """Grade the submissions of a chapter, or of all chapters, in a sandbox.

    The submissions are read from TERM/submitted/STUDENT/CHAPTER/, and the points are written to nbgrader's gradebook.
    Submissions whose results are still up to date are not graded again.

    The exit status is 0 if every submission has a result, 1 if the command or, with --all, a chapter could not be
    graded at all, 3 if some submissions could not be graded or recorded, and 130 after Ctrl-C. Run the command again
    to continue.
    """
    if every == (chapter is not None):
        raise typer.BadParameter("Name one chapter, or grade them all with --all.")
    if new_rules and (student or only_failed):
        raise typer.BadParameter("--new-rules is for all students of a chapter; leave out --student and --only-failed.")
    from grader.author.planted import is_demo
    from grader.gradebook import gradebook_url, shown
    from grader.grading import pool

    root = course_root()
    term = term_folder(root, given_term)
    count = workers or os.cpu_count() or 1
    statuses, found = [], []
    with told():
        if executor is Executor.local and not dry_run:
            pool.begin()  # before all other imports, because the workers' take longest
        from grader.cli.graded import print_notice, print_result, trees
        from grader.grading.run import Options, Status, run, status, worst

        options = Options(
            root=root,
            term=term,
            db_url=db_url or gradebook_url(term),
            execute=pool.local(count) if executor is Executor.local else pool.dask(scheduler, count),
            chapter=chapter,
            students=[one_form(name) for name in student] if student else None,
            only_failed=only_failed,
            again=force,
            new_rules=new_rules,
            dry_run=dry_run,
            unsafe=unsafe,
            force_gradebook=force_gradebook,
            trusted=is_demo(term),
        )
        with closing(run(options, err)) as events:
            for event in events:
                statuses.append(status(event))
                print_notice(event, options)
                if as_json:
                    found += trees(event)
                else:
                    print_result(event, options)
    if as_json:
        print_json({"format": 1, "chapters": found} if every else found[0])
    elif not dry_run:
        if every:
            details = f"grader autograde CHAPTER --term {term}"
            out.print(f"All points, and what needs manual review:  {details}", soft_wrap=True)
        where = "not written" if not options.records else shown(db_url) if db_url else term / "gradebook.db"
        out.print(f"Gradebook: {where}   notebooks: {term / 'autograded'}", soft_wrap=True)
    ended = worst(statuses)
    if ended is Status.STOPPED:
        err.print("Stopped. Finished results are kept; run the command again to grade the rest.", style="yellow")
    elif ended is Status.NOT_ALL:
        err.print(_SOME_FAILED, style="red", soft_wrap=True)
    if ended:
        raise typer.Exit(ended)


_SOME_FAILED = (
    "Some submissions could not be graded or recorded, for the reasons given above. Their earlier points are kept. "
    "Run the command again."
)
