"""The remarks on a submission as sentences for the student: what happened, what it means and what to do.

Remarks of one kind are combined. A remark that the report of its exercise repeats is left out.
"""

from __future__ import annotations

from grader.manifest import Chapter
from grader.shown import named, one_line, shortened, some
from grader.submission.cell_names import subject
from grader.submission.fault import Fault
from grader.submission.remark import (
    NOWHERE,
    Asks,
    Ended,
    Foreign,
    LeftOut,
    NoTime,
    NotImported,
    NotSubmitted,
    OddCell,
    OtherFiles,
    OtherName,
    OtherPython,
    Remark,
    TooLarge,
    Unreadable,
    absence,
)

MOST_OF_A_REASON = 1000  # characters
MOST = 20  # sentences, because a notebook can be written to cause thousands

# {} stands for the names of all cells that one kind applies to.
_ODD_CELLS = {
    "check of another": "Check cells that name another function than their own: {}. The function that they name was "
    "graded.",
    "check of a value": "Check cells that check something other than the name of a function: {}. The functions of "
    "these names were graded.",
    "saw a pass": "Your notebook shows a pass of {} that grading does not confirm. Restart the kernel, run all cells "
    "in order, and look at the check again; if it still passes, show it to your instructor.",
    "turned to text": "Cells that had become text cells: {}. They were run as code. Turn them back with the key Y.",
    "magic": "The cells of {} begin with a magic (%%) that does not run them as Python while they are graded, so they "
    "define nothing. Delete that line.",
    "check edited": "Edited check cells: {}. The original checks were used. You lose no points.",
    "check missing": "Missing check cells: {}. They were restored. You lose no points.",
    "check above": "Check cells above the cell that defines their function: {}. They were moved below it. You lose no "
    "points.",
    "undefined": NOWHERE,
    "defined again": "Defined again below the check cell: {}. The definition above the check cell was graded.",
    "stub left": "Original cells left in the notebook alongside your own definition: {}. Your definition was graded, "
    "and the original cells were not run. Delete them, because they may override your code when you run the notebook.",
    "cell twice": "Duplicate cells: {}. Both were run in order, so the later one counts.",
    "answer twice": "Duplicate answer cells: {}. The points are given in the first one that is filled in.",
    "answer missing": "No cell answers {}. If you wrote an answer, check that it is in the file that you submitted.",
    "answer beside": "Answers that continue in other cells: {}. Your instructor reads those cells too.",
    "picture missing": "Answers with a picture that is not in the notebook, or is larger than 6 MB: {}. Your "
    "instructor cannot see it. Paste the picture into the cell itself.",
}


def for_student(chapter: Chapter, remarks: tuple[Remark, ...]) -> list[tuple[str, str]]:
    """Pairs (a notebook's title or '', a sentence) for everything that the student should know, in order."""
    titles = {notebook.name: notebook.title for notebook in chapter.notebooks}
    told: dict[tuple[str, str], list[str]] = {}
    for remark in remarks:
        title, what = titles.get(remark.notebook, ""), remark.what
        sentence = _sentence(remark)
        if sentence:
            names = told.setdefault((title, sentence), [])
            if isinstance(what, OddCell) and what.name not in names:
                names.append(what.name)
    sentences = [
        (title, one_line(sentence.format(", ".join(f"`{name}`" for name in names)) if names else sentence))
        for (title, sentence), names in told.items()
    ]
    if len(sentences) > MOST:
        return [*sentences[:MOST], ("", f"{len(sentences) - MOST} more remarks are not shown.")]
    return sentences


def _sentence(remark: Remark) -> str:
    """The sentence for a remark; empty if there is nothing to say."""
    cell = subject(remark.place or "a cell")
    match remark.what:
        case OddCell(kind, _):
            return _ODD_CELLS[kind]
        case Foreign():
            return "The file contains none of this notebook's exercises. Is it from another assignment?"
        case Unreadable(reason):
            return f"It could not be read: {shortened(reason, MOST_OF_A_REASON)}."
        case NotSubmitted(reason):
            return f"It was not submitted: {shortened(reason, MOST_OF_A_REASON)}."
        case Asks():
            return (
                f"{cell} calls `input()`, which returns an empty text while your notebook is graded. Write "
                "the value into the cell."
            )
        case OtherPython(_, theirs, ours):
            return (
                f"{cell} is not Python {ours}, which grades this course. Your notebook says that it was "
                f"written with Python {theirs}, which may accept more. Write the cell so that both accept it."
            )
        case Ended(fault, exercise):
            return "" if exercise is not None else _of_cell(fault, cell)
        case LeftOut(file, size):
            return (
                f"The file {named(file)} ({size / 1e6:.1f} MB) was not available to your notebooks while they ran: "
                "it is too large, or you submitted too many files."
            )
        case NoTime() | TooLarge():  # the verdict on the exercise says so
            return ""
        case OtherName(due, is_folder, taken):
            why = absence(due, is_folder)
            return f"{why[0].upper()}{why[1:]}, so {named(taken)} was graded instead. Keep the original file name."
        case NotImported(_, module, reason):
            return (
                f"{cell} could not import `{named(module)}`: {named(reason)}. The lines that need it were "
                "skipped, and the others were run. Use only packages that the course installs, or submit the module's "
                "file together with your notebook."
            )
        case OtherFiles(taken, left):
            return (
                f"Several of your files are versions of this notebook. {named(taken)} was graded, because it is the "
                f"most complete. Not graded: {some(left)}. Submit one file for each notebook."
            )


def _of_cell(fault: Fault, cell: str) -> str:
    """Why a cell was stopped, and what to look for in it."""
    if fault.cell is None:
        return f"The notebook could not be run to its end: {fault.text}."
    others = "The other cells were run without it."
    match fault.kind:
        case "timeout":
            return f"{cell} was {fault.text}. {others} Does it contain a loop that never ends?"
        case "memory":
            return (
                f"{cell} used more memory than a notebook is allowed and was stopped. {others} "
                "Does something in it keep growing?"
            )
        case "died":
            return f"{cell} did not finish: the Python process ended. {others} Does the cell end the process?"
    return f"{cell} could not be run to its end: {fault.text}."
