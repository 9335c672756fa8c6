"""Commands for instructors: grade a class."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from rich.table import Table

from grader.cli.app import (
    DbUrl,
    OneLine,
    TermOption,
    course_root,
    err,
    folder_name,
    instructor_command,
    out,
    reason,
    term_folder,
    told,
)
from grader.counts import counted
from grader.errors import ExpectedError
from grader.shown import json_text, one_form

if TYPE_CHECKING:
    from grader.gradebook.scores import ByStudent
    from grader.grading.grade import Graded
    from grader.grading.pool import Execute, Task
    from grader.grading.preflight import Preflight
    from grader.grading.store import Change
    from grader.manifest import Chapter, Manifest


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
    from grader.gradebook import gradebook_url, shown
    from grader.grading import pool
    from grader.manifest import load_manifest
    from grader.running.selftest import prove

    if every == (chapter is not None):
        raise typer.BadParameter("Name one chapter, or grade them all with --all.")
    if new_rules and (student or only_failed):
        raise typer.BadParameter("--new-rules is for all students of a chapter; leave out --student and --only-failed.")
    root = course_root()
    term = term_folder(root, given_term)
    count = workers or os.cpu_count() or 1
    with told(), ThreadPoolExecutor(1) as aside:
        if executor is Executor.local and not dry_run:
            pool.begin()
        manifest = load_manifest(root / "course.toml")
        run = _Run(
            root=root,
            term=term,
            manifest=manifest,
            execute=pool.local(count) if executor is Executor.local else pool.dask(scheduler, count),
            students=None if student is None else list(map(one_form, student)),
            only_failed=only_failed,
            again=force,
            new_rules=new_rules,
            dry_run=dry_run,
            unsafe=unsafe,
            records=force_gradebook or not unsafe,
            db_url=db_url or gradebook_url(term),
        )
        found = [manifest.chapter(chapter)] if chapter is not None else run.chapters()
        tasks = None if every else run.tasks(found[0])  # fails before anything is written
        proof = None if dry_run or unsafe else aside.submit(prove, root, term, found[0].id)
        if tasks is None:
            status, trees = _all_chapters(run, found, proof, quiet=as_json)
        else:
            status, trees = _one_chapter(run, found[0], tasks, proof, quiet=as_json)
    if as_json:
        typer.echo(_json({"format": 1, "chapters": trees} if every else trees[0]))
    elif not dry_run:
        where = "not written" if not run.records else shown(db_url) if db_url else term / "gradebook.db"
        out.print(f"Gradebook: {where}   notebooks: {term / 'autograded'}", soft_wrap=True)
    if status == _STOPPED:
        err.print("Stopped. Finished results are kept; run the command again to grade the rest.", style="yellow")
    elif status == _NOT_ALL:
        err.print(_SOME_FAILED, style="red", soft_wrap=True)
    if status:
        raise typer.Exit(status)


_CHAPTER_FAILED, _NOT_ALL, _STOPPED = 1, 3, 130
_WORST = (0, _NOT_ALL, _CHAPTER_FAILED, _STOPPED)  # the exit statuses, from the best to the worst


@dataclass(frozen=True)
class _Run:
    """What grading one chapter and the next have in common: the options of the command, and the workers."""

    root: Path
    term: Path
    manifest: Manifest
    execute: Execute
    students: list[str] | None
    only_failed: bool
    new_rules: bool
    again: bool
    dry_run: bool
    unsafe: bool
    records: bool
    db_url: str

    def chapters(self) -> list[Chapter]:
        """The chapters with submissions that can be graded, by these students if some were asked for. Raises
        AutogradeError if there is none, or none of one of the students.
        """
        from grader.grading.release import AutogradeError
        from grader.submission.folders import find_submissions

        submitted = {each.id: find_submissions(self.term, each).folders for each in self.manifest.chapters}
        folder = self.term / "submitted"
        if not any(submitted.values()):
            raise AutogradeError(
                f"No submissions in {folder}. Put each student's notebooks into {folder}/STUDENT/CHAPTER/."
            )
        for student in self.students or ():
            if not any(student in folders for folders in submitted.values()):
                raise AutogradeError(f"No submission by {student!r} in {folder}.")
        if missing := [name for name, folders in submitted.items() if not folders]:
            err.print(f"No submissions for {', '.join(missing)}.", soft_wrap=True)
        asked = [name for name, each in submitted.items() if self.students is None or each.keys() & {*self.students}]
        return [each for each in self.manifest.chapters if submitted[each.id] and each.id in asked]

    def tasks(self, chapter: Chapter, students: Sequence[str] | None = None) -> list[Task]:
        """The submissions of a chapter that may have to be graded. Raises AutogradeError."""
        from grader.grading.chapter import chosen
        from grader.grading.release import released_notebooks

        released_notebooks(self.root, chapter)  # fails if the release is missing or old, before anything is written
        return chosen(self.term, chapter, students or self.students, only_failed=self.only_failed, again=self.again)

    def examined(self, chapter: Chapter, tasks: Sequence[Task]) -> Preflight:
        """What there is to do, and what looks wrong."""
        from grader.grading.preflight import preflight
        from grader.grading.release import released_notebooks

        return preflight(
            self.root,
            self.term,
            self.manifest,
            chapter,
            tasks,
            students=self.students,
            sandboxed=not self.unsafe,
            db_url=self.db_url,
            released=released_notebooks(self.root, chapter) if self.dry_run else None,
        )

    def grade(
        self, chapter: Chapter, tasks: Sequence[Task], before: Preflight, sandboxed: bool, label: str = ""
    ) -> _GradedChapter:
        """Grade a chapter, with a progress bar."""
        from grader.gradebook import read_scores
        from grader.grading.chapter import autograde as graded
        from grader.grading.watched import watched

        url = self.db_url if self.records else None
        changes: list[Change] = []
        results, stopped = watched(
            err,
            lambda announce, on_graded, stopping: graded(
                self.root,
                self.term,
                chapter.id,
                self.execute,
                db_url=url,
                tasks=tasks,
                sandboxed=sandboxed,
                announce=announce,
                on_graded=on_graded,
                on_change=changes.append,
                stopping=stopping,
                new_rules=self.new_rules,
            ),
            label,
        )
        scores = {} if url is None else read_scores(url, chapter.id)
        return _GradedChapter(chapter, before, results, changes, scores, sandboxed, stopped)


@dataclass(frozen=True)
class _GradedChapter:
    """What grading a chapter has found."""

    chapter: Chapter
    before: Preflight
    results: list[Graded]
    changes: list[Change]
    scores: ByStudent
    sandboxed: bool
    stopped: bool

    @property
    def status(self) -> int:
        """The exit status."""
        if self.stopped:
            return _STOPPED
        left_out = any(stray.student and not stray.graded for stray in self.before.strays)
        return _NOT_ALL if left_out or any(graded.fault for graded in self.results) else 0

    def tree(self) -> dict[str, Any]:
        """All results for another program."""
        from grader.grading import report
        from grader.grading.preflight import preflight_tree

        before = preflight_tree(self.chapter, self.before)
        return report.as_tree(self.chapter, self.results, self.sandboxed, self.scores, before, self.changes)


def _one_chapter(
    run: _Run, chapter: Chapter, tasks: Sequence[Task], proof: Future[None] | None, quiet: bool
) -> tuple[int, list[dict[str, Any]]]:
    """Grade a chapter and print the table of its class; return the exit status, and the results for a program."""
    from grader.grading import report
    from grader.grading.attempts import earlier_lines
    from grader.grading.changes import log_path, printed
    from grader.grading.preflight import preflight_lines, preflight_tree
    from grader.term_settings import read_term_settings

    before = run.examined(chapter, tasks)
    if run.dry_run and quiet:
        return 0, [report.as_tree(chapter, [], not run.unsafe, preflight=preflight_tree(chapter, before))]
    for line in preflight_lines(chapter, before, whole=run.dry_run):
        (out if run.dry_run else err).print(line, soft_wrap=True)
    if run.dry_run:
        return 0, []
    graded = run.grade(chapter, tasks, before, _proved(run, proof))
    if quiet:
        return graded.status, [graded.tree()]
    results, scores = graded.results, graded.scores
    out.print(f"{chapter.title} ({chapter.id}), {counted(len(results), 'submission')}")
    for line in report.legend(chapter, _table_width(), scores):
        out.print(line, soft_wrap=True)
    _print_table(report.class_table(chapter, results, _table_width(), scores))
    for line in [*report.for_a_human(results), *report.waiting(chapter, scores)]:
        out.print(line, soft_wrap=True)
    students = [graded.student for graded in results]
    for line in earlier_lines(read_term_settings(run.term, run.manifest), run.term, chapter.id, students):
        out.print(line, soft_wrap=True)
    for line in printed(graded.changes, log_path(run.term, chapter.id)):
        out.print(line, soft_wrap=True)
    return graded.status, []


def _all_chapters(
    run: _Run, chapters: Sequence[Chapter], proof: Future[None] | None, quiet: bool
) -> tuple[int, list[dict[str, Any]]]:
    """Grade these chapters, one after another, and print a line for each; return the worst exit status, and the results
    for a program. A chapter that cannot be graded does not keep the others from being graded.
    """
    from grader.grading import report
    from grader.grading.hidden import computed_ahead
    from grader.grading.preflight import preflight_lines, preflight_tree
    from grader.submission.folders import find_submissions

    statuses, trees = [0], []
    ahead = nullcontext(lambda _: None) if run.dry_run else computed_ahead(run.root, run.term, chapters)
    with ahead as wait:
        sandboxed = run.dry_run or _proved(run, proof)
        for chapter in chapters:
            started = time.monotonic()
            try:
                submitted = find_submissions(run.term, chapter).folders
                students = None if run.students is None else [name for name in run.students if name in submitted]
                tasks = run.tasks(chapter, students)
                before = run.examined(chapter, tasks)
                lines = preflight_lines(chapter, before, whole=run.dry_run)
                if run.dry_run:
                    trees.append(report.as_tree(chapter, [], not run.unsafe, preflight=preflight_tree(chapter, before)))
                    for line in () if quiet else lines:
                        out.print(line, soft_wrap=True)
                    continue
                for line in lines[1:]:
                    err.print(f"{chapter.id}: {line}", soft_wrap=True)
                wait(chapter)
                graded = run.grade(chapter, tasks, before, sandboxed, chapter.id)
            except (ExpectedError, OSError) as error:
                err.print(f"{chapter.id} was not graded. {reason(error)}", style="red", soft_wrap=True)
                trees.append({"chapter": chapter.id, "error": reason(error)})
                statuses.append(_CHAPTER_FAILED)
                continue
            except KeyboardInterrupt:
                statuses.append(_STOPPED)
                break
            statuses.append(graded.status)
            trees.append(graded.tree() if quiet else {})
            for line in (
                ()
                if quiet
                else report.summary(
                    chapter, graded.results, graded.scores, graded.changes, before.unchanged, time.monotonic() - started
                )
            ):
                out.print(line, soft_wrap=True)
            if graded.stopped:
                break
    if not quiet and not run.dry_run:
        details = f"grader autograde CHAPTER --term {run.term}"
        out.print(f"All points, and what needs manual review:  {details}", soft_wrap=True)
    return max(statuses, key=_WORST.index), trees


def _json(tree: dict[str, Any]) -> str:
    return json_text(msgspec.json.format(msgspec.json.encode(tree).decode(), indent=1))


def _proved(run: _Run, proof: Future[None] | None) -> bool:
    """Wait for the sandbox's test, or warn that there is none; return whether there is one. Raises SandboxError."""
    from grader.author.demo_class import PLANTED
    from grader.running.sandbox import SandboxError

    loud = "No sandbox: student code runs with your permissions, so it can read and change everything that you can."
    if proof is None:
        err.print(loud, style="bold red")
        if not run.records:
            err.print("The gradebook is not written. To write it anyway, add --force-gradebook.", style="yellow")
        return False
    try:
        proof.result()
    except SandboxError as error:
        if not (run.term / PLANTED).is_file():
            raise
        err.print(str(error), style="yellow", soft_wrap=True)
        err.print(f"{loud} This demo class is graded anyway, because all its code is the course's.", style="bold red")
        return False
    return True


_SOME_FAILED = (
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
        OneLine(file=text, width=_table_width()).print(table)
        for line in text.getvalue().splitlines():
            out.print(line.rstrip(), soft_wrap=True)
