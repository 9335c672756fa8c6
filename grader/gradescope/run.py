"""Grade one submission in Gradescope's container: `python -m grader.gradescope.run AUTOGRADER`, as root.

AUTOGRADER is Gradescope's folder `/autograder`, with the contents of our zip in `source/`, the student's files in
`submission/`, and `results/` for `results.json`. The submission is graded as `grader autograde` grades it, with student
code running as another user. If the grader itself fails, no results are written and the exit status is 1, so that
Gradescope reports a failure and gives no points.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

from grader.codec import decode
from grader.errors import ExpectedError
from grader.files import write_whole
from grader.gradescope.results import NAME, nothing_tree, results_bytes, submission_tree
from grader.grading.grade import Graded, grade_or_fault
from grader.grading.hidden import keep
from grader.grading.session import open_session
from grader.manifest import Chapter, load_manifest
from grader.released import Released
from grader.running.other_user import OtherUser
from grader.shown import harmless, one_line
from grader.submission.folders import Submissions, find_submissions

COURSE, HIDDEN, CHAPTER = "course", "hidden", "chapter"  # in the zip: two folders, and a file with the chapter's id
STUDENT = "submission"
CASES = "cases.msgpack"


def main(autograder: Path) -> int:
    """Grade the submission and write `results.json`; return the exit status."""
    started = time.monotonic()
    source = autograder / "source"
    with tempfile.TemporaryDirectory(prefix="grading-") as term:  # readable only by root
        try:
            chapter, graded, found = graded_submission(source, autograder / "submission", Path(term))
        except ExpectedError as error:
            print(harmless(str(error)))
            return 1
    seconds = time.monotonic() - started
    if graded is None:
        tree = nothing_tree(chapter, _why_nothing(chapter, found))
    elif graded.fault:
        print(f"This submission could not be graded: {one_line(graded.fault)}")
        return 1
    else:
        hints = Released(source / COURSE / "grader" / "data").first_hints(chapter)
        tree = submission_tree(chapter, graded, hints=hints)
    tree["execution_time"] = round(seconds)
    write_whole(autograder / "results" / NAME, results_bytes(tree))
    print(f"{tree['score']:g} points in {tree['execution_time']} s")
    return 0


def graded_submission(source: Path, submission: Path, term: Path) -> tuple[Chapter, Graded | None, Submissions]:
    """Grade a folder of files, wherever its notebooks are in it; None if it has none. Raises ExpectedError.

    `term` is an empty folder that only root can read. The autograded notebooks are written there.
    """
    root = source / COURSE
    chapter = load_manifest(root / "course.toml").chapter((source / CHAPTER).read_text("utf-8").strip())
    (root / "solutions" / chapter.id).mkdir(parents=True, exist_ok=True)  # empty if no judge is needed
    keep(root, term, chapter, decode((source / HIDDEN / CASES).read_bytes()))
    shutil.copytree(submission, term / "submitted" / STUDENT, symlinks=True)
    found = find_submissions(term, chapter)
    folder = found.folders.get(STUDENT)
    if folder is None:
        return chapter, None, found
    session = open_session(root, term, chapter.id)
    starter = OtherUser(session.limits)
    return chapter, grade_or_fault(session, starter, STUDENT, folder, sandboxed=False), found


def _why_nothing(chapter: Chapter, found: Submissions) -> str:
    """What the student should submit."""
    due = ", ".join(f"{notebook.name}.ipynb" for notebook in chapter.notebooks)
    kinds = {stray.kind for stray in found.strays}
    if "unclear" in kinds:
        return f"Notebooks of {chapter.id} are in several folders of your submission. Submit one version: {due}."
    if kinds & {"packed", "of submit"}:
        return f"Your submission contains an archive inside the archive. Submit the notebooks themselves: {due}."
    return f"Your submission contains no notebook of {chapter.id}. Submit these files: {due}."


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
