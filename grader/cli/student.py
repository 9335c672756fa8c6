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
    from grader.work.events import Checked
    from grader.work.printed import OnlyNew
    from grader.work.run import Outcome


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
    from grader.counts import number
    from grader.released import COURSE
    from grader.shown import named
    from grader.submission.cell_names import cell_names
    from grader.submission.readable import UnreadableError
    from grader.work.facts import shadows_in
    from grader.work.notebooks import read_work, require_file, restoring, whose
    from grader.work.printed import FEW_LINES, Display, ending_lines, table_lines
    from grader.work.python import translator
    from grader.work.run import code_of, request_for, run, takes_long

    def write(line: str) -> None:
        out.print(line, soft_wrap=True)

    with told():
        require_file(path, Path.cwd())
        try:
            work = read_work(path)
        except UnreadableError as error:
            stop(f"{path}: {error}. {restoring(path)}")
        chapter, notebook = whose(work, COURSE.manifest, path.stem)
        for shadow in shadows_in([path.resolve().parent]):
            name = named(Path(shadow).name)
            err.print(f"Jupyter will import {name} in place of the module of this name. Rename it.", style="yellow")
        python, with_ipython = translator()
        width = min(out.width, 120) if out.is_terminal else None
        request = request_for(COURSE.manifest, chapter, notebook, work, python, seconds, width)
        new.line(f"{path.name}: {chapter.title} › {notebook.title}")
        new.line("")
        names = cell_names(work.cells, [each.id for each in notebook.exercises])
        cells = [(index, source) for index, source in code_of(notebook, work) if not takes_long(work, index)]
        if not with_ipython and (left := [names[index] for index, source in cells if python(source) != source]):
            new.line(f"IPython is not installed, so magics and shell commands are left out of {'; '.join(left)}.")
            new.line("")
        if texts := [names[index] for index, _ in cells if work.cells[index]["cell_type"] != "code"]:
            new.line(f"Run as code although it is text: {'; '.join(texts)}. Turn it back with the key Y.")
            new.line("")
        display = Display(new.line, names, None if whole else FEW_LINES)
        outcome: Outcome = run(request, path.resolve().parent, display.show)
    display.flush()
    for line in [*ending_lines(outcome, names), *table_lines(notebook.exercises, outcome.results)]:
        new.line(line)
        new.end_block()
    if long := [names[index] for index, _ in work.code if takes_long(work, index)]:
        new.line(f"Not run, because it takes long and no points depend on it: {'; '.join(long)}.")
        new.end_block()
    results = [outcome.results.get(each.id) for each in notebook.exercises]
    right = sum(map(_passed, results))
    if notebook.exercises:
        earned = sum(result.earned for result in results if result is not None)
        points = sum(each.points for each in notebook.exercises)
        write(f"{right} of {len(results)} exercises right, {number(earned)} of {number(points)} points.")
    if notebook.questions:
        write("Your instructor grades the answers to questions: " + ", ".join(q.id for q in notebook.questions) + ".")
    unfinished = [each.id for each, result in zip(notebook.exercises, results, strict=True) if not _passed(result)]
    if unfinished:
        write(f"Next: {unfinished[0]}. If you are stuck:  grader hint {unfinished[0]}")
    return outcome.finished and not unfinished


def _passed(result: Checked | None) -> bool:
    return result is not None and result.status == "passed"


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
    for line in map_lines(manifest, found, chapters, latest, min(out.width, 100)):
        out.print(line, soft_wrap=True)
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
    for line in lines(found):
        out.print(line, soft_wrap=True)
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
        for warning in made.warnings:
            err.print(warning, style="yellow", soft_wrap=True)
        if made.reasons:
            for reason in made.reasons:
                err.print(f"✗ {reason}", style="red", soft_wrap=True)
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
