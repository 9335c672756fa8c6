"""What the commands share: the application, its output, the folders they work on, and how they report errors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
import typer.core
from rich.console import Console
from rich.text import Text

from grader.errors import ExpectedError
from grader.shown import harmless, json_text, one_line

_WHOLE = 500  # characters, so that the first sentence of every help text is wrapped and not cut off
FOR_STUDENTS, FOR_INSTRUCTORS, FOR_AUTHORS = "For students", "For instructors", "For authors"


class Stopped(SystemExit):
    """Ctrl-C ended a command, which has said so."""


class Commands(typer.core.TyperGroup):
    """All commands, listed in sections by who needs them. Ctrl-C ends each of them with a line and the status 130."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            err.print("Stopped.", style="yellow")
            raise Stopped(130) from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        commands = {name: self.get_command(ctx, name) for name in sorted(self.list_commands(ctx))}
        for section in (FOR_STUDENTS, FOR_INSTRUCTORS, FOR_AUTHORS):
            own = {n: c for n, c in commands.items() if getattr(c, "rich_help_panel", None) == section}
            with formatter.section(section):
                formatter.write_dl([(name, c.get_short_help_str(_WHOLE)) for name, c in own.items() if c])


app = typer.Typer(
    cls=Commands,
    help="Work on the exercises of the course Unrolled, or grade and teach it.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
student_command = partial(app.command, rich_help_panel=FOR_STUDENTS)
instructor_command = partial(app.command, rich_help_panel=FOR_INSTRUCTORS)
author_command = partial(app.command, rich_help_panel=FOR_AUTHORS)


class OneLine(Console):
    """A terminal in which each text that is printed, or stands in a cell of a table, is one line, whatever a student's
    name or text in it contains. Only what is given as `lines` has several.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **settings)

    def render_str(self, text: str, **settings: Any) -> Text:
        """What a text becomes before it is printed."""
        return super().render_str(one_line(text), **settings)

    def print_lines(self, found: Iterable[str | Text], style: str | None = None) -> None:
        """Print each of these on a line of its own, which the terminal may wrap."""
        for line in found:
            self.print(line, style=style, soft_wrap=True)


def lines(text: str, style: str = "") -> Text:
    """A text of the course's own that has several lines."""
    return Text(harmless(text), style)


out = OneLine()
err = OneLine(stderr=True)


def folder_name(chapter: str | None) -> str | None:
    """The chapter that a path names, because shells complete `exercises/ch01_vanilla_rnn/`."""
    return chapter and (Path(chapter).name or Path(chapter).resolve().name)


ChapterArgument = Annotated[str, typer.Argument(help="The chapter, such as ch01_vanilla_rnn.", callback=folder_name)]

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
    return stop(
        "This command needs the course's source folder: neither this folder nor one above it contains course.toml and "
        "solutions/. Change to that folder first. The students' zip does not contain it."
    )


def term_folder(root: Path, given: Path | None) -> Path:
    """The term folder to work on. Default: `term/` in the course."""
    return given or Path(os.path.relpath(root / "term"))


@contextmanager
def told() -> Iterator[None]:
    """Report an expected error in one line and exit with status 1; a bug keeps its traceback."""
    try:
        yield
    except (ExpectedError, OSError) as error:
        stop(reason(error))


def reason(error: ExpectedError | OSError) -> str:
    """An expected error in one line."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def print_json(tree: object) -> None:
    """Print a tree for another program."""
    import msgspec

    typer.echo(json_text(msgspec.json.format(msgspec.json.encode(tree), indent=1).decode()))


def stop(message: str) -> NoReturn:
    """End the command with an error."""
    err.print(lines(message), style="red", soft_wrap=True)
    raise typer.Exit(1)
