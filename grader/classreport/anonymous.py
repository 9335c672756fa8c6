"""Findings in words that contain nothing students wrote or named: no file, module or folder of theirs."""

from __future__ import annotations

from grader.grading.report import Finding
from grader.submission.remark import LeftOut, NoTime, NotImported, OtherFiles, OtherName, Unreadable


def general(finding: Finding) -> str:
    """What happened, for an anonymous report."""
    match finding.what:
        case None:
            return "the grader failed on the submission"
        case Unreadable():
            return "a notebook is missing or could not be read"
        case LeftOut():
            return "a file was not available to the notebooks: too large, or too many files"
        case NoTime():
            return "timestamp.txt contains no time, so the submission counts as on time"
        case OtherName():
            return "a file with another name was graded instead of the expected one"
        case OtherFiles():
            return "several versions of a notebook: the most complete one was graded"
        case NotImported():
            return "a module could not be imported; the lines that need it were skipped"
    return finding.line
