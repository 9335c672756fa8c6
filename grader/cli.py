"""The command line: `grader release`, `lint`, `demo-class`, `chapters`, `autograde` and `feedback`, one small function
each.
"""

from __future__ import annotations

import atexit
import gc
import io
import os
from concurrent.futures import Future, ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from grader.autograde.grading.store import Change

app = typer.Typer(
    help="Release and check the course Unrolled, grade a class, and write feedback.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
out = Console(markup=False, emoji=False, highlight=False)  # output holds students' and folders' names
err = Console(markup=False, emoji=False, highlight=False, stderr=True)


class Executor(StrEnum):
    """Where the workers of `grader autograde` run."""

    local = "local"
    dask = "dask"


TermOption = Annotated[
    Path | None,
    typer.Option(
        "--term",
        envvar="UNROLLED_TERM",
        help="The term folder, which contains submitted/ and gradebook.db. Default: term/ in the course folder.",
    ),
]

DbUrl = Annotated[
    str | None,
    typer.Option(
        "--db-url", envvar="UNROLLED_DB_URL", help="The gradebook's database URL. Default: that of TERM/gradebook.db."
    ),
]


def course_root() -> Path:
    """The course folder that the current folder is in. If there is none, end the command."""
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "course.toml").is_file() and (folder / "solutions").is_dir():
            return folder
    return _stop("Not inside a course: neither this folder nor one above it contains course.toml and solutions/.")


def term_folder(root: Path, given: Path | None) -> Path:
    """The term folder to work on. Default: `term/` in the course."""
    return given or Path(os.path.relpath(root / "term"))


@app.command()
def release(
    term: Annotated[
        Path | None,
        typer.Option(
            "--term",
            help="Also register all chapters in the gradebook of this term folder. Default: none, even if "
            "UNROLLED_TERM is set.",
        ),
    ] = None,
) -> None:
    """Write exercises/ and grader/data/ from the sources.

    The sources are course.toml and solutions/. Files that are up to date are not written.
    """
    from grader.author.notebooks import release_notebooks, student_notebooks
    from grader.author.record import record
    from grader.manifest import load_manifest

    root = course_root()
    with out.status("Releasing notebooks …"), _told():
        changed = release_notebooks(root, root / "exercises")
    with out.status("Recording cases and outputs …"), _told():
        changed += record(root, root / "grader" / "data")
    for path in changed:
        out.print(f"wrote {path.relative_to(root)}", soft_wrap=True)
    out.print(f"{len(changed)} files changed." if changed else "Everything was up to date.")
    if term is not None:
        from grader.autograde.gradebook import gradebook_url, register

        manifest = load_manifest(root / "course.toml")
        for chapter in manifest.chapters:
            with out.status(f"Registering {chapter.id} …"), _told():
                register(gradebook_url(term), chapter, student_notebooks(root, manifest, chapter))
            out.print(f"registered {chapter.id} in {term / 'gradebook.db'}", soft_wrap=True)


@app.command()
def lint(
    exercise: Annotated[str | None, typer.Argument(help="Check this exercise only. Default: the whole course.")] = None,
) -> None:
    """Check that the course is complete and consistent.

    The exit status is 1 if a problem is found.
    """
    from grader.author.lint import lint_course

    root = course_root()
    problems = 0
    with _told():
        for what, found in lint_course(root, exercise, workers=os.cpu_count() or 1):
            problems += len(found)
            out.print(f"{'✗' if found else '✓'} {what}", style="red" if found else "")
            for problem in found:
                out.print(f"    {problem}", soft_wrap=True)
    if problems:
        _stop(f"{problems} problem{'s' * (problems > 1)} found.")


@app.command("demo-class")
def demo_class(
    students: Annotated[int, typer.Option(help="Number of students.")] = 30,
    seed: Annotated[int, typer.Option(help="Random seed. The same seed gives the same class.")] = 1,
    chapter: Annotated[
        str | None, typer.Option(help="Write submissions for this chapter only. Default: all chapters.")
    ] = None,
    folder: Annotated[Path, typer.Option("--out", help="The term folder of the demo class.")] = Path("build/demo"),
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Write nothing, but compare the scores of the graded class with the expected ones."
        ),
    ] = False,
) -> None:
    """Write a class of submissions whose scores are known.

    Grade it with  grader autograde CHAPTER --term build/demo  and compare the scores with --verify.
    """
    from grader.author import demo_class as demo

    root = course_root()
    with _told():
        if not verify:
            with out.status("Writing a demo class …"):
                planted = demo.demo_class(root, folder, chapter, students, seed)
            out.print(f"Wrote the submissions of {len(planted)} students: {folder / 'submitted'}", soft_wrap=True)
            out.print(f"Expected scores: {folder / demo.PLANTED}", soft_wrap=True)
            return
        found = demo.differences(root, folder)
    for line in found:
        err.print(line)
    if found:
        _stop(f"{len(found)} scores or verdicts differ from the expected ones.")
    out.print("All scores in the gradebook and all verdicts are as expected.")


@app.command()
def chapters() -> None:
    """Print the ids of all chapters, one per line."""
    from grader.manifest import load_manifest

    root = course_root()
    with _told():
        for chapter in load_manifest(root / "course.toml").chapters:
            typer.echo(chapter.id)


@app.command()
def autograde(
    chapter: Annotated[str, typer.Argument(help="The chapter, such as ch01_vanilla_rnn.")],
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

    The submissions are read from TERM/submitted/STUDENT/CHAPTER/, and the scores are written to nbgrader's gradebook.
    Submissions whose results are still up to date are not graded again.

    The exit status is 0 if every submission has a result, 1 if the command could not run, 3 if some submissions could
    not be graded or recorded, and 130 after Ctrl-C. Run the command again to continue.
    """
    from grader.autograde.gradebook import gradebook_url, read_scores, shown
    from grader.autograde.grading import pool, report
    from grader.autograde.grading.changes import log_path, printed
    from grader.autograde.grading.chapter import autograde as run
    from grader.autograde.grading.chapter import chosen
    from grader.autograde.grading.preflight import preflight, preflight_lines, preflight_tree
    from grader.autograde.grading.release import released_notebooks
    from grader.autograde.grading.watched import watched
    from grader.autograde.running.selftest import prove
    from grader.manifest import load_manifest

    root = course_root()
    term = term_folder(root, given_term)
    count = workers or os.cpu_count() or 1
    with _told(), ThreadPoolExecutor(1) as aside:
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


@app.command()
def feedback(
    chapter: Annotated[str, typer.Argument(help="The chapter, such as ch01_vanilla_rnn.")],
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
    with out.status("Writing feedback …"), _told():
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


class _told:  # noqa: N801 - reads as a word: `with _told():`
    """Report an expected error in one line and exit with status 1; a bug keeps its traceback."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if isinstance(error, _expected_errors()):
            _stop(str(error))


def _expected_errors() -> tuple[type[BaseException], ...]:
    from grader.author.demo_class import DemoError
    from grader.author.notebooks import ReleaseError
    from grader.author.record import SpecError
    from grader.autograde.gradebook import GradebookError
    from grader.autograde.grading.hidden import HiddenError
    from grader.autograde.grading.release import AutogradeError
    from grader.autograde.running.sandbox import SandboxError
    from grader.feedback.write import FeedbackError
    from grader.manifest import ManifestError, UnknownIdError
    from grader.messages import MessageError

    return (
        AutogradeError,
        DemoError,
        FeedbackError,
        GradebookError,
        HiddenError,
        ManifestError,
        MessageError,
        OSError,
        ReleaseError,
        SandboxError,
        SpecError,
        UnknownIdError,
    )


def _stop(message: str) -> NoReturn:
    err.print(message, style="red", soft_wrap=True)
    raise typer.Exit(1)


def main() -> None:
    """The entry point of the command `grader`."""
    from grader.autograde.imports import skip_iri_grammar

    gc.set_threshold(50_000)  # most objects come from imports and are never freed
    atexit.register(gc.freeze)  # the operating system frees the memory faster than garbage collection would
    skip_iri_grammar()
    app()
