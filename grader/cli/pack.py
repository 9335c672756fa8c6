"""The command that packs the course for students."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from grader.cli.app import course_root, instructor_command, out, told


@instructor_command()
def pack(
    to: Annotated[
        Path | None,
        typer.Option(
            "--out", help="The zip to write. Default: dist/NAME-VERSION.zip in the course folder.", dir_okay=False
        ),
    ] = None,
    chapter: Annotated[
        list[str] | None,
        typer.Option(
            "--chapter",
            metavar="CHAPTER",
            help="Pack the exercises of this chapter only. Repeat the option for several. Default: all chapters.",
        ),
    ] = None,
    without_book: Annotated[bool, typer.Option("--without-book", help="Leave out the book.")] = False,
    term: Annotated[
        list[Path] | None,
        typer.Option(
            "--term",
            metavar="FOLDER",
            help="Search the zip also for the hidden cases of this term folder. Repeat the option for several. "
            "Always searched for: those of UNROLLED_TERM, and of the term folders in the course folder and in build/.",
        ),
    ] = None,
) -> None:
    """Write the zip that students get, without solutions.

    It contains the exercises, the package to install, the requirements, the book and instructions. It is searched for
    solutions, specs and hidden cases first. If any is found, no zip is written.
    """
    from grader.author.pack import pack as write_bundle
    from grader.author.pack import searched_terms

    root = course_root()
    with out.status("Packing …"), told():
        bundle = write_bundle(root, to, chapter or (), not without_book, searched_terms(root, term or ()))
    shown = os.path.relpath(bundle.path) if bundle.path.is_relative_to(Path.cwd()) else bundle.path
    out.print(f"wrote {shown}: {bundle.files} files, {_size(bundle.size)}", soft_wrap=True)
    for name, size in bundle.parts.items():
        out.print(f"    {name}: {_size(size)} unpacked")
    out.print("No solution, spec or hidden case was found in it.")


def _size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
