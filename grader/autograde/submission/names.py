"""Which names of students' folders can be graded: those that the gradebook holds and that nbgrader can show.

nbgrader ends, for all students, where a name breaks a line, and writes names into its pages' HTML and scripts as they
are: a name could run there.
"""

from __future__ import annotations

import re

from grader.codec import writable

_UNFIT = re.compile('[\x00-\x1f\x7f-\x9f\u2028\u2029<>"\\\\]')
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def unfit(name: str) -> str:
    """Why no submission of this name is graded; empty where it is."""
    if writable(name) != name:
        return "the folder's name is not UTF-8; rename the folder"
    found = _UNFIT.search(name)
    return f"the folder's name holds {found[0]!r}, which nbgrader cannot show; rename the folder" if found else ""


def legible(name: str) -> str:
    """The name in one line of text."""
    return _UNPRINTABLE.sub("?", writable(name))
