"""Commands for authors: release the course, check it, and write a demo class."""

from __future__ import annotations

import difflib
import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.app import author_command, course_root, err, lines, out, stop, told
from grader.counts import counted


@author_command()
def release(
    exercise: Annotated[
        str | None, typer.Argument(help="Release only the data and the notebook of this exercise. Default: all.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Make everything again, even if nothing has changed.")] = False,
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

    The sources are course.toml and solutions/. Only what has changed is made, which released.txt tells. Files that are
    up to date are not written.
    """
    from grader.author import release as released

    root = course_root()
    with out.status("Releasing …"), told():
        changed = released.release(root, exercise, again)
    out.print_lines(f"wrote {path.relative_to(root)}" for path in changed)
    out.print(f"{counted(len(changed), 'file')} changed." if changed else "Everything was up to date.")
    if term is not None:
        _register(root, term)


def _register(root: Path, term: Path) -> None:
    """Register all chapters in the gradebook of a term, and say which of them were not registered so before."""
    from rich.progress import Progress

    from grader.gradebook import gradebook_url, register
    from grader.grading.release import released_notebooks
    from grader.manifest import load_manifest

    chapters = load_manifest(root / "course.toml").chapters
    written = 0
    with Progress(console=out, transient=True, disable=not out.is_terminal) as progress, told():
        for chapter in progress.track(chapters, description="Registering chapters"):
            if register(gradebook_url(term), chapter, released_notebooks(root, chapter)):
                out.print(f"registered {chapter.id} in {term / 'gradebook.db'}", soft_wrap=True)
                written += 1
    if not written:
        out.print(f"All chapters were registered in {term / 'gradebook.db'} already.", soft_wrap=True)


@author_command()
def lint(
    exercise: Annotated[str | None, typer.Argument(help="Check this exercise only. Default: the whole course.")] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Check the exercise again whenever one of its files is saved.")
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Follow every rule again, even if nothing has changed."),
    ] = False,
) -> None:
    """Check that the course is complete and consistent.

    What an exercise has passed is checked again only after a change. The exit status is 1 if a problem is found. With
    --watch, that is after each save of one of its files. Ctrl-C ends it.
    """
    root = course_root()
    if watch:
        if exercise is None:
            stop("Name the exercise to watch, such as  grader lint rnn_step --watch.")
        with told(), suppress(KeyboardInterrupt):
            _watch(root, exercise)
        return
    from grader.author.lint import lint_course

    problems = 0
    with told():
        for what, found in lint_course(root, exercise, os.cpu_count() or 1, again):
            problems += len(found)
            _print_rule(what, found)
    if problems:
        stop(f"{counted(problems, 'problem')} found.")


def _watch(root: Path, exercise: str) -> None:
    """Print what each run finds. Raises ExpectedError, KeyboardInterrupt."""
    from grader.author.watch import Begun, Ended, Followed
    from grader.author.watch import watch as runs

    problems = 0
    for event in runs(root, exercise):
        match event:
            case Begun(saved):
                problems = 0
                files = ", ".join(str(path.relative_to(root)) for path in saved)
                out.print(
                    lines(f"\n{files} saved") if saved else f"Watching {exercise}. Ctrl-C ends it.", soft_wrap=True
                )
            case Followed(rule, found, seconds):
                problems += len(found)
                _print_rule(f"{seconds:4.1f} s  {rule}", found)
            case Ended(seconds):
                result = f"{counted(problems, 'problem')} found" if problems else "No problem found"
                out.print(f"{result} in {seconds:.1f} s.", style="red" if problems else "green")


def _print_rule(what: str, found: list[str]) -> None:
    out.print(f"{'✗' if found else '✓'} {what}", style="red" if found else "", soft_wrap=True)
    out.print_lines(lines(f"    {problem}") for problem in found)


@author_command()
def transcript(
    exercise: Annotated[str, typer.Argument(help="The exercise, such as rnn_step.")],
    against: Annotated[
        str | None, typer.Option(help="A revision of git: print only what differs from its reports.")
    ] = None,
) -> None:
    """Print everything that the checks of an exercise report.

    That is, what a student is told who has the right solution, the stub, or makes one of the mistakes, each with its
    change of the solution and the reason why it is tempting.
    """
    from grader.author.transcript import transcript_of, transcript_of_revision

    root = course_root()
    with told():
        text = transcript_of(root, exercise)
        if against is None:
            typer.echo(text, nl=False)
            return
        before = transcript_of_revision(root, exercise, against)
    found = difflib.unified_diff(before.splitlines(), text.splitlines(), against, "now", lineterm="")
    typer.echo("\n".join(found) or "The reports are the same.")


@author_command()
def new(
    exercise: Annotated[str, typer.Argument(help="The id: the name of the function, such as leaky_average.")],
    chapter: Annotated[str, typer.Option(help="The chapter, such as ch01_vanilla_rnn.")],
    notebook: Annotated[str, typer.Option(help="The notebook of that chapter, such as recurrence.")],
    title: Annotated[str | None, typer.Option(help="The title. Default: the id in words.")] = None,
    points: Annotated[float, typer.Option(help="How many points it is worth.")] = 1,
    page: Annotated[
        str | None, typer.Option(help="The page it belongs to. Default: that of the notebook's last exercise.")
    ] = None,
) -> None:
    """Write the files of a new exercise, with placeholders.

    The placeholders say what to write. The exercise becomes the last one of its notebook. No existing text is
    changed. `grader lint EXERCISE` lists the placeholders that are left.
    """
    from grader.author.new import new_exercise

    root = course_root()
    with told():
        written = new_exercise(root, exercise, chapter, notebook, title, points, page)
    out.print_lines(f"wrote {path.relative_to(root)}" for path in written.files)
    to_do = (
        "Now do by hand:",
        f"1. Link to the exercise from its page, {written.page.relative_to(root)}:",
        f"\n```{{exercise-link}} {exercise}\n```\n",
        f"2. Replace the placeholders.  grader lint {exercise} --watch  lists them whenever you save a file.",
        '3. If it builds on other exercises of the notebook, name them in course.toml: needs = ["…"]',
        "4. Run  grader release, and read what your students will read.",
    )
    out.print_lines(map(lines, to_do))


@author_command("demo-class")
def demo_class(
    students: Annotated[int, typer.Option(help="Number of students. 14 show every form of mistake.")] = 14,
    seed: Annotated[int, typer.Option(help="Random seed. The same seed gives the same class.")] = 1,
    chapter: Annotated[
        str | None, typer.Option(help="Write submissions for this chapter only. Default: all chapters.")
    ] = None,
    folder: Annotated[Path, typer.Option("--out", help="The term folder of the demo class.")] = Path("build/demo"),
    verify: Annotated[
        bool,
        typer.Option(
            "--verify", help="Write nothing, but compare the points of the graded class with the expected ones."
        ),
    ] = False,
) -> None:
    """Write a class of submissions whose points are known.

    Grade it with  grader autograde --all --term build/demo  and compare the points with --verify.
    """
    from grader.author import demo_class as demo
    from grader.author.planted import PLANTED, differences

    root = course_root()
    if not verify:
        with told(), out.status("Writing a demo class …"):
            planted = demo.demo_class(root, folder, chapter, students, seed)
        of = f"{counted(len(planted), 'student')}: {folder / 'submitted'}"
        out.print(f"The submissions of {of}   expected scores: {folder / PLANTED}", soft_wrap=True)
        return
    with told():
        found = differences(root, folder)
    for line in found:
        err.print(line)
    if found:
        stop(f"{len(found)} scores or verdicts differ from the expected ones.")
    out.print("All scores in the gradebook and all verdicts are as expected.")


@author_command()
def chapters() -> None:
    """Print the ids of all chapters, one per line."""
    from grader.manifest import load_manifest

    root = course_root()
    with told():
        for chapter in load_manifest(root / "course.toml").chapters:
            typer.echo(chapter.id)
