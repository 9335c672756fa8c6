"""Results for Gradescope, with the gradebook's points and comments: one `results.json` for each submission."""

from __future__ import annotations

from pathlib import Path

from grader.files import PRIVATE, write_whole
from grader.gradescope.results import NAME, missing_tree, results_bytes, submission_tree
from grader.grading import store
from grader.lms.table import Policy, Status, Table
from grader.shown import one_line, some
from grader.submission.names import unfit


def write_results(term: Path, table: Table, policy: Policy, folder: Path) -> tuple[list[Path], list[str]]:
    """Write FOLDER/CHAPTER/STUDENT/results.json for every student whose total is published.

    Return the files, and notes on students for whom there is none although they have points. Raises OSError.
    """
    written, unreadable, unnamable = [], [], []
    for chapter in table.chapters:
        for student in table.students:
            standing = table.of(chapter, student)
            total = policy.total(standing)
            if total is None:
                continue
            if unfit(student.id) or "/" in student.id or student.id.startswith("."):
                unnamable.append(one_line(student.id))
                continue
            if standing.status is Status.missing:
                tree = missing_tree(total)
            else:
                stored = store.read(term, chapter.id, student.id)
                if stored is None:
                    unreadable.append(one_line(student.id))
                tree = submission_tree(
                    standing.chapter,
                    stored.graded.without(
                        {n.name for n in chapter.notebooks} - {n.name for n in standing.chapter.notebooks}
                    )
                    if stored
                    else None,
                    standing.recorded,
                    score=total,
                )
            tree["extra_data"] = {
                "chapter": chapter.id,
                "student": student.id,
                "late_penalty": standing.penalty,
                "status": str(standing.status),
            }
            path = folder / chapter.id / student.id / NAME
            write_whole(path, results_bytes(tree), PRIVATE)
            written.append(path)
    notes = []
    if unreadable:
        notes.append(f"Without a stored result, so with points but without reports: {some(unreadable)}.")
    if unnamable:
        notes.append(f"With an id that cannot be a folder's name, so without a file: {some(unnamable)}.")
    return written, notes
