"""Replacements for two of nbgrader's own steps, set by `nbgrader_config.py`, that refuse to run.

nbgrader would run student code with the permissions of the person who grades, and would register stubs that differ from
the released ones. Each step refuses before nbgrader has changed or deleted anything. Only nbgrader imports this.
"""

from __future__ import annotations

from typing import Any, NoReturn

from nbconvert.exporters import NotebookExporter
from nbgrader.converters import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor

_AUTOGRADE = (
    "nbgrader does not grade this course itself, because it would run student code with your permissions. "
    "Nothing was changed. Run  grader autograde CHAPTER  in the course folder instead; "
    "formgrader then shows the scores, and feedback and export work as usual."
)
_GENERATE = (
    "nbgrader does not make the student versions of this course. Nothing was changed. "
    "Run  grader release  in the course folder instead."
)


class RefuseAutograde(NotebookExporter):
    """Stop `nbgrader autograde` and formgrader's Autograde button before the first submission is touched."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]
        _refuse(self, _AUTOGRADE)


class RefuseGenerate(NotebookExporter):
    """Stop `nbgrader generate_assignment` and formgrader's Generate button in the same way."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]
        _refuse(self, _GENERATE)


class RefuseToRun(NbGraderPreprocessor):  # type: ignore[misc]
    """A second safeguard: the only step of an autograde run that gets past RefuseAutograde runs nothing."""

    def preprocess(self, nb: Any, resources: Any) -> NoReturn:
        _refuse(self, _AUTOGRADE)


def _refuse(step: Any, message: str) -> NoReturn:
    step.log.error(message)
    raise NbGraderException(message)
