"""What grading noted of a notebook, in words for the student whose it is: what happened, and what it means for them.

Grading writes its remarks for an instructor, a line each. Here those of one kind are told together; what is known
under the exercise itself is left out.
"""

from __future__ import annotations

import re

from grader.manifest import Chapter
from grader.render.rows import harmless

MOST = 20  # sentences; a notebook can be made to earn thousands

# What a remark says behind the notebook's name, and what the student reads. {0} are the names, those of one kind
# together; an empty sentence is told under the exercise already.
_NOTED: tuple[tuple[str, str], ...] = (
    (
        r"the check cell of (`\w+`) was edited; the released one was used",
        "Check cells that read differently from the released ones: {0}. The released ones were used; "
        "this costs no points.",
    ),
    (
        r"the check cell of (`\w+`) was missing; it was put back",
        "Check cells that were missing: {0}. They were put back; this costs no points.",
    ),
    (
        r"the check cell of (`\w+`) stood above the cell that defines it; it was moved below",
        "Check cells that stood above the cell that defines their function: {0}. They were moved below it; "
        "this costs no points.",
    ),
    (
        r"no cell defines (`\w+`); the empty one of the release was put in its place",
        "No cell was found that defines: {0}. If you wrote it, look whether it is in the file that you handed in.",
    ),
    (
        r"(`\w+`) is defined again below its check cell; what stands above it was graded",
        "Defined again below its check: {0}. What stands above the check was graded.",
    ),
    (
        r"the cell (`\w+`) stands twice; both were run, in their order",
        "Cells that stand twice: {0}. Both were run, in their order, so the later one counts.",
    ),
    (
        r"the cell (`\w+`) stands twice; the first is the answer",
        "Answers that stand twice: {0}. The first is the one that is read.",
    ),
    (
        r"no cell answers the question (`\w+`); the empty one of the release was put back",
        "No cell was found that answers: {0}. If you wrote it, look whether it is in the file that you handed in.",
    ),
    (
        r"nothing of this notebook's exercises was found in it; is it from another assignment\?",
        "Nothing of this notebook's exercises was found in the file. Is it from another assignment?",
    ),
)
_ENDED: tuple[tuple[str, str], ...] = (
    (
        r"stopped after (\S+) s",
        "Cell {cell} did not end within {0} s and was stopped. The other cells were run without it. "
        "Is there a loop that cannot end?",
    ),
    (
        r"stopped, since it needed more memory than it may have",
        "Cell {cell} needed more memory than a notebook may have and was stopped. "
        "The other cells were run without it. Does something in it grow without end?",
    ),
    (
        r"the Python process ended",
        "Cell {cell} did not end: Python itself ended while it ran. The other cells were run without it. "
        "Does it end Python?",
    ),
)
_OF_CELL = re.compile(r"(?:cell (?P<cell>\d+)|(?P<check>the check of \w+)|between cells): (?P<text>.*)", re.DOTALL)
_TOO_LARGE = re.compile(r"(.+) was not laid beside the notebooks: too large or too many", re.DOTALL)
_OTHER_NAME = re.compile(r"(.+); (.+) was graded in its place", re.DOTALL)


def for_student(chapter: Chapter, remarks: tuple[str, ...]) -> list[tuple[str, str]]:
    """(A notebook's title or '', a sentence) for each thing that the student should know, in order."""
    titles = {notebook.name: notebook.title for notebook in chapter.notebooks}
    prefix = re.compile(rf"({'|'.join(titles)})(?:: |, (?=cell |the check of |between cells))(.*)", re.DOTALL)
    told: dict[tuple[str, str], list[str]] = {}
    for remark in remarks:
        found = prefix.fullmatch(remark)
        title, text = (titles[found[1]], found[2]) if found else ("", remark)
        sentence, name = _told(text) if found else _of_files(text)
        if sentence:
            names = told.setdefault((title, sentence), [])
            if name and name not in names:
                names.append(name)
    sentences = [
        (title, harmless(sentence.replace("{0}", ", ".join(names)))) for (title, sentence), names in told.items()
    ]
    if len(sentences) > MOST:
        return [*sentences[:MOST], ("", f"There is more of this kind: {len(sentences) - MOST} remarks.")]
    return sentences


def _told(text: str) -> tuple[str, str]:
    """The sentence for a remark on a notebook, and the name that belongs into it; ('', '') where nothing is to say."""
    for pattern, sentence in _NOTED:
        if found := re.fullmatch(pattern, text):
            return sentence, found[1] if found.groups() else ""
    found = _OF_CELL.fullmatch(text)
    if found is None:
        return f"It could not be read: {text}.", ""
    if found["check"]:
        return "", ""
    if found["cell"] is None:
        return f"It could not be run to its end: {found['text']}.", ""
    for pattern, sentence in _ENDED:
        if ended := re.fullmatch(pattern, found["text"]):
            return sentence.replace("{cell}", found["cell"]), ended[1] if ended.groups() else ""
    return f"Cell {found['cell']} could not be run to its end: {found['text']}.", ""


def _of_files(text: str) -> tuple[str, str]:
    """The same for a remark on the files that were handed in."""
    if found := _TOO_LARGE.fullmatch(text):
        return (
            f"The file {found[1]} did not lie beside your notebooks while they ran: it is too large, or one too many.",
            "",
        )
    if found := _OTHER_NAME.fullmatch(text):
        what = found[1][0].upper() + found[1][1:]
        return f"{what}, so {found[2]} was graded. Keep the name of the file that you were given.", ""
    return text, ""
