"""What grading noticed of a submission, in words for the student whose it is: what happened, and what it means.

Remarks of one kind are told together; what is known under the exercise itself is left out.
"""

from __future__ import annotations

from grader.autograde.fault import Fault
from grader.autograde.remark import (
    Ended,
    Foreign,
    LeftOut,
    NoTime,
    NotImported,
    OddCell,
    OtherFiles,
    OtherName,
    Remark,
    Unreadable,
    What,
    absence,
)
from grader.manifest import Chapter
from grader.render.rows import harmless

MOST = 20  # sentences; a notebook can be made to earn thousands

# {} are the names, those of one kind together.
_ODD_CELLS = {
    "check edited": "Check cells that read differently from the released ones: {}. The released ones were used; "
    "this costs no points.",
    "check missing": "Check cells that were missing: {}. They were put back; this costs no points.",
    "check above": "Check cells that stood above the cell that defines their function: {}. They were moved below it; "
    "this costs no points.",
    "undefined": "No cell was found that defines: {}. If you wrote it, look whether it is in the file that you handed "
    "in.",
    "defined again": "Defined again below its check: {}. What stands above the check was graded.",
    "stub left": "Released cells that were left beside your own definition: {}. Your definition was graded, and the "
    "released cells were not run. Delete them: in your notebook they may replace your code.",
    "cell twice": "Cells that stand twice: {}. Both were run, in their order, so the later one counts.",
    "answer twice": "Answers that stand twice: {}. The points stand at the first that is filled in.",
    "answer missing": "No cell was found that answers: {}. If you wrote it, look whether it is in the file that you "
    "handed in.",
    "answer beside": "Answers with text in other cells beside their own: {}. A person reads that text too.",
    "picture missing": "Answers with a picture that is not in the notebook, or is too large (more than 6 MB): {}. "
    "Nobody can see it. Paste the picture into the cell itself.",
}


def for_student(chapter: Chapter, remarks: tuple[Remark, ...]) -> list[tuple[str, str]]:
    """(A notebook's title or '', a sentence) for each thing that the student should know, in order."""
    titles = {notebook.name: notebook.title for notebook in chapter.notebooks}
    told: dict[tuple[str, str], list[str]] = {}
    for remark in remarks:
        title, what = titles.get(remark.notebook, ""), remark.what
        sentence = _sentence(what)
        if sentence:
            names = told.setdefault((title, sentence), [])
            if isinstance(what, OddCell) and what.name not in names:
                names.append(what.name)
    sentences = [
        (title, harmless(sentence.format(", ".join(f"`{name}`" for name in names)) if names else sentence))
        for (title, sentence), names in told.items()
    ]
    if len(sentences) > MOST:
        return [*sentences[:MOST], ("", f"There is more of this kind: {len(sentences) - MOST} remarks.")]
    return sentences


def _sentence(what: What) -> str:
    """The sentence for a remark; empty where nothing is to say."""
    match what:
        case OddCell(kind, _):
            return _ODD_CELLS[kind]
        case Foreign():
            return "Nothing of this notebook's exercises was found in the file. Is it from another assignment?"
        case Unreadable(reason):
            return f"It could not be read: {reason}."
        case Ended(fault, exercise):
            return "" if exercise is not None else _of_cell(fault)
        case LeftOut(file, size):
            return (
                f"The file {file} ({size / 1e6:.1f} MB) did not lie beside your notebooks while they ran: "
                "it is too large, or one too many."
            )
        case NoTime():
            return ""
        case OtherName(due, is_folder, taken):
            why = absence(due, is_folder)
            return f"{why[0].upper()}{why[1:]}, so {taken} was graded. Keep the name of the file that you were given."
        case NotImported(cell, module, reason):
            return (
                f"Cell {cell + 1} could not import `{module}`: {reason}. The lines that need it were left out, and the "
                "others were run. Use what the course installs, or hand in the module's file beside your notebook."
            )
        case OtherFiles(taken, left):
            return (
                f"More than one of your files is this notebook: {taken} was graded, since most is written in it. "
                f"Not graded: {', '.join(left)}. Hand in one file for each notebook."
            )


def _of_cell(fault: Fault) -> str:
    """What ended a cell, and what to look for in it."""
    if fault.cell is None:
        return f"It could not be run to its end: {fault.text}."
    number, others = fault.cell + 1, "The other cells were run without it."
    match fault.kind:
        case "timeout":
            return f"Cell {number} was {fault.text}. {others} Is there a loop that cannot end?"
        case "memory":
            return (
                f"Cell {number} needed more memory than a notebook may have and was stopped. {others} "
                "Does something in it grow without end?"
            )
        case "died":
            return f"Cell {number} did not end: Python itself ended while it ran. {others} Does it end Python?"
    return f"Cell {number} could not be run to its end: {fault.text}."
