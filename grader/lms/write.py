"""Write an export in one of the formats."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from grader.files import PRIVATE, private_folder, write_whole
from grader.lms.canvas import export_canvas
from grader.lms.exported import Exported
from grader.lms.gradescope import write_results
from grader.lms.moodle import export_moodle
from grader.lms.options import Format
from grader.lms.plain import export_plain
from grader.lms.table import Policy, Table
from grader.sheets import ExchangeError, read_sheet
from grader.sources import load_module


@dataclass
class Written:
    """What was written where, as a line; and notes, of which `problems` concern students who are not in the file."""

    line: str
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def write_export(
    format_: Format,
    term: Path,
    table: Table,
    policy: Policy,
    to: Path | None,
    into: Path | None,
    column: str | None,
    own: Path | None = None,
) -> Written:
    """Write the points to `to`, by default in TERM/exports/. `own` is a file with an exporter of the instructor's own,
    the function `export(table, policy)`, which returns an `Exported`. Raises ExchangeError if nothing is written,
    OSError.
    """
    if own is not None and (into or column or format_ is not Format.csv):
        raise ExchangeError("--with names an exporter of your own, so leave out --format, --into and --column.")
    if (into or column) and format_ not in (Format.canvas, Format.moodle):
        raise ExchangeError("--into and --column belong to --format canvas and --format moodle.")
    if format_ is Format.gradescope:
        folder = to or term / "exports" / "gradescope"
        files, problems = write_results(term, table, policy, folder)
        return Written(f"Wrote {len(files)} files: {folder}/CHAPTER/STUDENT/results.json", problems=problems)
    name = table.chapters[0].id if len(table.chapters) == 1 else "chapters"
    kind = own.stem if own is not None else "points" if format_ is Format.csv else format_.value
    path = to or term / "exports" / f"{name}-{kind}.csv"
    if into is not None and path.exists() and path.samefile(into):
        raise ExchangeError(f"{path} is the file given with --into. Choose another name with --out.")
    if to is None:
        private_folder(term)
    exported = _exported(format_, table, policy, into, column) if own is None else _by(own, table, policy)
    write_whole(path, exported.content, PRIVATE)
    return Written(f"Wrote {path}", exported.notes, exported.problems)


def _by(own: Path, table: Table, policy: Policy) -> Exported:
    """What an exporter of the instructor's own makes of the points. It runs with the instructor's permissions."""
    if not own.is_file():
        raise ExchangeError(f"There is no file {own}.")
    try:
        exported = load_module(own, f"_{own.stem}_of_the_term").export(table, policy)
    except Exception as error:
        raise ExchangeError(f"{own}: {type(error).__name__}: {error}. Nothing was written.") from error
    if not isinstance(exported, Exported):
        raise ExchangeError(
            f"{own}: export(table, policy) returned no Exported (grader.lms.exported). Nothing was written."
        )
    return exported


def _exported(format_: Format, table: Table, policy: Policy, into: Path | None, column: str | None) -> Exported:
    if format_ is Format.csv:
        return export_plain(table, policy)
    sheet = None if into is None else read_sheet(into)
    return (export_canvas if format_ is Format.canvas else export_moodle)(table, policy, sheet, column)
