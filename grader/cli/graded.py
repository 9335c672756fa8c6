"""What `grader autograde` prints: notices while it runs, and what it has found, as text or for another program."""

from __future__ import annotations

import io
from typing import Any

from rich.table import Table

from grader.cli.app import OneLine, err, out, reason
from grader.counts import counted
from grader.gradebook import called
from grader.grading import report
from grader.grading.attempts import earlier_lines
from grader.grading.changes import log_path, printed
from grader.grading.preflight import preflight_lines, preflight_tree
from grader.grading.run import (
    DryRun,
    Event,
    Examined,
    GradedChapter,
    NotGraded,
    Options,
    Unsandboxed,
    Unsubmitted,
)
from grader.manifest import load_manifest
from grader.term_settings import read_term_settings

_LOUD = "No sandbox: student code runs with your permissions, so it can read and change everything that you can."


def print_notice(event: Event, options: Options) -> None:
    """Print on standard error what an instructor should know whatever is printed of the results."""
    match event:
        case Unsubmitted(chapters):
            err.print(f"No submissions for {', '.join(each.id for each in chapters)}.", soft_wrap=True)
        case Unsandboxed(""):
            err.print(_LOUD, style="bold red")
            if not options.records:
                err.print("The gradebook is not written. To write it anyway, add --force-gradebook.", style="yellow")
        case Unsandboxed(why):
            err.print(why, style="yellow", soft_wrap=True)
            err.print(
                f"{_LOUD} This demo class is graded anyway, because all its code is the course's.", style="bold red"
            )
        case Examined(chapter, before):
            lines = preflight_lines(chapter, before, whole=False, called=called(options.db_url))
            err.print_lines(lines if options.chapter else [f"{chapter.id}: {line}" for line in lines[1:]])
        case NotGraded(chapter, error):
            err.print(f"{chapter.id} was not graded. {reason(error)}", style="red", soft_wrap=True)


def trees(event: Event) -> list[dict[str, Any]]:
    """What was found of a chapter, for another program; empty if the event is about no result."""
    match event:
        case DryRun(chapter, before, sandboxed):
            return [report.as_tree(chapter, [], sandboxed, preflight=preflight_tree(chapter, before))]
        case GradedChapter(chapter, before, results, changes, scores, sandboxed):
            before_it = preflight_tree(chapter, before)
            return [report.as_tree(chapter, results, sandboxed, scores, before_it, changes, event.notes)]
        case NotGraded(chapter, error):
            return [{"chapter": chapter.id, "error": reason(error)}]
    return []


def print_result(event: Event, options: Options) -> None:
    """Print what was found of a chapter: of a single one the table of its class, of all chapters a line each."""
    match event:
        case DryRun(chapter, before):
            out.print_lines(preflight_lines(chapter, before, whole=True, called=called(options.db_url)))
        case GradedChapter(chapter, before, results, changes, scores) if options.chapter is None:
            out.print_lines(
                report.summary(chapter, results, scores, changes, before.unchanged, event.seconds, event.notes)
            )
        case GradedChapter():
            _print_class(event, options)


def _print_class(graded: GradedChapter, options: Options) -> None:
    chapter, results, scores = graded.chapter, graded.results, graded.scores
    width = out.width if out.is_terminal else 10_000  # for another program, wide enough for one line per student
    out.print(f"{chapter.title} ({chapter.id}), {counted(len(results), 'submission')}")
    out.print_lines(report.legend(chapter, width, scores))
    notes = graded.notes
    _print_table(report.class_table(chapter, results, width, scores, notes), width)
    out.print_lines([*notes.lines(chapter), *report.for_a_human(notes.counting(chapter, results), notes.called)])
    out.print_lines(report.waiting(chapter, scores))
    settings = read_term_settings(options.term, load_manifest(options.root / "course.toml"))
    out.print_lines(earlier_lines(settings, options.term, chapter.id, [each.student for each in results], notes.called))
    out.print_lines(printed(graded.changes, log_path(options.term, chapter.id), notes.called))


def _print_table(table: Table, width: int) -> None:
    if out.is_terminal:
        out.print(table)
        return
    with io.StringIO() as text:
        OneLine(file=text, width=width).print(table)
        out.print_lines(line.rstrip() for line in text.getvalue().splitlines())
