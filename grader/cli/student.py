"""Commands for students: is everything installed, what is right, what comes next, and a file to submit."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.cli.app import ChapterArgument, err, folder_name, lines, out, stop, student_command, told
from grader.counts import counted

if TYPE_CHECKING:
    from grader.work.printed import OnlyNew


@student_command()
def check(
    notebook: Annotated[
        Path, typer.Argument(help="The notebook, such as exercises/ch01_vanilla_rnn/recurrence.ipynb.")
    ],
    watch: Annotated[
        bool, typer.Option("--watch", help="Check again whenever the notebook is saved, and show what is new.")
    ] = False,
    output: Annotated[bool, typer.Option("--output", help="Show everything that the cells print.")] = False,
    seconds: Annotated[
        float | None,
        typer.Option(
            help="Stop a cell or a check after this many seconds. Default: five times the limits of grading, and at "
            "least 10 s.",
            min=0.1,
        ),
    ] = None,
) -> None:
    """Run a notebook from top to bottom and check its exercises.

    The notebook itself is not changed. The points are those for public cases; grading uses hidden cases.

    The exit status is 0 if every exercise is right, 1 if not, and 130 after Ctrl-C.
    """
    from grader.work.notebooks import require_file
    from grader.work.printed import OnlyNew
    from grader.work.watch import changes

    new = OnlyNew(lambda line: out.print(line, soft_wrap=True))
    try:
        if not watch:
            raise typer.Exit(0 if _checked(notebook, seconds, output, new) else 1)
        with told():
            require_file(notebook, Path.cwd())  # a mistyped name would be waited for
        for _ in changes(notebook, time.sleep):
            with suppress(typer.Exit):  # the notebook may be in a state between two edits
                _checked(notebook, seconds, output, new)
            new.next_run()
            out.print(f"Waiting for {notebook.name} to be saved. Ctrl-C ends.", soft_wrap=True)
    except KeyboardInterrupt:
        err.print("Stopped.")
        raise typer.Exit(130) from None


def _checked(path: Path, seconds: float | None, whole: bool, new: OnlyNew) -> bool:
    """Run and report what the previous run did not; whether everything is right."""
    from grader.released import COURSE
    from grader.shown import named
    from grader.work.check import blocks, ready, summary, unfinished
    from grader.work.facts import shadows_in
    from grader.work.printed import FEW_LINES, Display
    from grader.work.run import run

    with told():
        it = ready(path, COURSE.manifest, seconds, min(out.width, 120) if out.is_terminal else None)
        for shadow in shadows_in([path.resolve().parent]):
            name = named(Path(shadow).name)
            err.print(f"Jupyter will import {name} in place of the module of this name. Rename it.", style="yellow")
        for line in it.head:
            new.line(line)
        display = Display(new.line, it.names, None if whole else FEW_LINES)
        outcome = run(it.request, path.resolve().parent, display.show)
    display.flush()
    for line in blocks(it, outcome):
        new.line(line)
        new.end_block()
    out.print_lines(summary(it.notebook, outcome.results))
    return outcome.finished and not unfinished(it.notebook, outcome.results)


@student_command()
def hint(
    exercise: Annotated[str, typer.Argument(help="The exercise, such as rnn_step.")],
    level: Annotated[int, typer.Argument(help="1, 2 or 3: the higher, the more it tells you.", min=1, max=3)] = 1,
) -> None:
    """Show a hint for an exercise: a question, the idea, or an outline of the code.

    Hints cost no points.
    """
    from grader import student
    from grader.messages import LEVELS

    with told():
        found = student.hint(exercise, level)
    out.print(lines(f"Hint {found.level} for {found.exercise_id}\n"))
    out.print(lines(found.text))
    if found.level < LEVELS[-1]:
        out.print(lines(f"\nMore:  grader hint {found.exercise_id} {found.level + 1}"), soft_wrap=True)


@student_command()
def progress(
    chapter: Annotated[
        str | None,
        typer.Argument(
            help="Show this chapter only, such as ch01_vanilla_rnn. Default: all chapters.", callback=folder_name
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the map as JSON.")] = False,
) -> None:
    """Show which exercises are done, and what to do next.

    This is read from your diary, in which every check notes its result. The latest check of an exercise counts.
    """
    import json

    from grader import journal
    from grader.submission.course import manifest as course
    from grader.work.map import map_lines, map_tree, standings

    with told():
        manifest = course()
        chapters = manifest.chapters if chapter is None else (manifest.chapter(chapter),)
    entries = journal.read()
    found = standings(manifest, entries)
    latest = entries[-1].exercise if entries else ""
    if as_json:
        typer.echo(json.dumps(map_tree(manifest, found, chapters, latest), indent=1))
        return
    out.print_lines(map_lines(manifest, found, chapters, latest, min(out.width, 100)))
    if journal.path() is None:
        err.print(f"The diary is turned off, because {journal.VARIABLE} is empty.", style="yellow", soft_wrap=True)


@student_command()
def doctor() -> None:
    """Check that everything the course needs is installed.

    Each line begins with ✓ or ✗, and says how to repair what is missing. The exit status is 1 if something is missing
    without which you cannot begin.
    """
    from grader.work.doctor import findings, lines
    from grader.work.facts import facts

    with out.status("Looking at this machine …"), told():
        found = findings(facts(Path.cwd()))
    out.print_lines(lines(found))
    wrong = dict.fromkeys(each.what for each in found if each.kind == "wrong")
    later = dict.fromkeys(each.what for each in found if each.kind == "missing")
    if wrong:
        stop(f"To repair before you begin: {', '.join(wrong)}.")
    out.print("You can begin." + (f" Not needed at once: {', '.join(later)}." if later else ""))


@student_command()
def submit(
    chapter: ChapterArgument,
    target: Annotated[
        Path | None, typer.Option("--out", help="The file to write. Default: CHAPTER-submission.zip in this folder.")
    ] = None,
    partial: Annotated[
        bool, typer.Option("--partial", help="Submit even if notebooks of the chapter are missing.")
    ] = False,
) -> None:
    """Pack a chapter's notebooks into a zip to submit.

    The notebooks are those of exercises/CHAPTER, of CHAPTER, or of the current folder. The zip also contains the files
    next to them and a manifest with their checksums. Nothing is sent anywhere.

    If something could not be graded, all reasons are printed and no zip is written. Unfinished exercises are only
    mentioned. The exit status is 0 if the zip was written, and 1 if not.
    """
    from datetime import UTC, datetime

    from grader import journal
    from grader.files import write_whole
    from grader.submission.archive import archive_bytes, is_submission, submission_manifest
    from grader.submission.course import manifest as course
    from grader.work.notebooks import find_chapter_folder
    from grader.work.submission import counts, prepare

    with told():
        manifest = course()
        found = manifest.chapter(chapter)
        folder = find_chapter_folder(found, Path.cwd(), [each.id for each in manifest.chapters if each != found])
        made = prepare(folder, manifest, found, journal.read(), partial=partial)
        err.print_lines(made.warnings, style="yellow")
        if made.reasons:
            err.print_lines((f"✗ {reason}" for reason in made.reasons), style="red")
            stop(f"Nothing was written, because {folder} could not be graded as it is.")
        path = target or Path(f"{chapter}-submission.zip")
        if path.is_dir() or (path.exists() and not is_submission(path)):
            stop(f"{path} exists and is not a submission. Choose another name with --out.")
        replaced = ", in place of the earlier one" if path.exists() else ""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        content = archive_bytes(submission_manifest(found, made.files, made.notebooks, now), made.files)
        write_whole(path, content)
    out.print(f"From {folder}:", soft_wrap=True)
    for name, (attempted, total) in counts(made.notebooks).items():
        out.print(f"  {name}: {attempted} of {total} attempted", soft_wrap=True)
    if others := len(made.files) - len(made.notebooks):
        out.print(f"  {counted(others, 'other file')}", soft_wrap=True)
    out.print(f"Wrote {path} ({len(content) / 1e3:.0f} kB){replaced}. Submit this file.", soft_wrap=True)
