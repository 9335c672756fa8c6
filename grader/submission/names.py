"""Which student folders can be graded: those whose names the gradebook can store and nbgrader can show safely.

A line break in a name makes nbgrader fail for all students. It also writes names unescaped into the HTML and scripts
of its pages, so a name could run code there.
"""

from __future__ import annotations

import re

from grader.codec import writable

_UNFIT = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029<>"\\\\]')


def unfit(name: str) -> str:
    """Why a submission with this folder name cannot be graded; empty if it can."""
    if writable(name) != name:
        return "the folder's name is not valid UTF-8; rename the folder"
    found = _UNFIT.search(name)
    return f"the folder's name contains {found[0]!r}, which nbgrader cannot show; rename the folder" if found else ""
