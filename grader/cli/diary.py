"""The command for students that shows the mistake diary."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.cli.app import folder_name, lines, out, stop, student_command, told


@student_command()
def diary(
    chapter: Annotated[
        str | None,
        typer.Argument(
            help="Show this chapter only, such as ch01_vanilla_rnn. Default: all chapters.", callback=folder_name
        ),
    ] = None,
    page: Annotated[Path | None, typer.Option("--html", help="Write the diary to this HTML file instead.")] = None,
    show_path: Annotated[bool, typer.Option("--path", help="Only print the path of the diary's file.")] = False,
    clear: Annotated[bool, typer.Option("--clear", help="Delete the diary.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --clear: do not ask.")] = False,
) -> None:
    """Show which mistakes you have met and which you have overcome.

    Every check notes its result and the likely cause in the file ~/.unrolled/diary.jsonl on this computer, and nothing
    sends that file anywhere. To keep it in another place, set UNROLLED_DIARY to a path; to keep no diary, set it to
    nothing.
    """
    from grader import journal

    file = journal.path()
    if show_path or clear:
        if file is None:
            stop("There is no diary: it is turned off by an empty UNROLLED_DIARY, or there is no home folder.")
        if show_path:
            typer.echo(file)
            return
        _clear(file, yes)
        return
    from grader.student import diary as whole

    with told():
        found = whole(chapter)
        if page is None:
            out.print(lines(found.text(min(out.width, 100))), soft_wrap=True)
            if file is None:
                out.print("The diary is turned off, because UNROLLED_DIARY is empty.", soft_wrap=True)
            return
        page.write_text(found.page(), "utf-8")
    out.print(f"Wrote {page}. Open it in a browser.", soft_wrap=True)


def _clear(file: Path, yes: bool) -> None:
    from grader import journal

    if not file.is_file():
        out.print(f"There is no diary: {file}", soft_wrap=True)
        return
    if not yes:
        typer.confirm(f"Delete {file}? It cannot be restored.", abort=True)
    with told():
        journal.clear()
    out.print(f"Deleted {file}", soft_wrap=True)
