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


@dataclass
class Written:
    """What was written where, as a line; and notes, of which `problems` concern students who are not in the file."""

    line: str
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def write_export(
    format_: Format, term: Path, table: Table, policy: Policy, to: Path | None, into: Path | None, column: str | None
) -> Written:
    """Write the points to `to`, by default in TERM/exports/. Raises ExchangeError if nothing is written, OSError."""
    if (into or column) and format_ not in (Format.canvas, Format.moodle):
        raise ExchangeError("--into and --column belong to --format canvas and --format moodle.")
    if format_ is Format.gradescope:
        folder = to or term / "exports" / "gradescope"
        files, problems = write_results(term, table, policy, folder)
        return Written(f"Wrote {len(files)} files: {folder}/CHAPTER/STUDENT/results.json", problems=problems)
    name = table.chapters[0].id if len(table.chapters) == 1 else "chapters"
    path = to or term / "exports" / f"{name}-{'points' if format_ is Format.csv else format_.value}.csv"
    if into is not None and path.exists() and path.samefile(into):
        raise ExchangeError(f"{path} is the file given with --into. Choose another name with --out.")
    if to is None:
        private_folder(term)
    exported = _exported(format_, table, policy, into, column)
    write_whole(path, exported.content, PRIVATE)
    return Written(f"Wrote {path}", exported.notes, exported.problems)


def _exported(format_: Format, table: Table, policy: Policy, into: Path | None, column: str | None) -> Exported:
    if format_ is Format.csv:
        return export_plain(table, policy)
    sheet = None if into is None else read_sheet(into)
    return (export_canvas if format_ is Format.canvas else export_moodle)(table, policy, sheet, column)
