"""What `nbgrader_config.py` puts in the place of two of nbgrader's own steps: a refusal.

nbgrader would run students' code with the rights of whoever grades, and would register stubs that are not the
released ones. Each refusal comes before nbgrader has changed or deleted anything. Only nbgrader imports this.
"""

from __future__ import annotations

from typing import Any, NoReturn

from nbconvert.exporters import NotebookExporter
from nbgrader.converters import NbGraderException
from nbgrader.preprocessors import NbGraderPreprocessor

_AUTOGRADE = (
    "nbgrader does not grade this course itself, because it would run students' code with your rights. "
    "Nothing was changed. Run  grader autograde CHAPTER  in the course folder; "
    "formgrader then shows the scores, and feedback and export work as ever."
)
_GENERATE = (
    "The student versions of this course are made by another command. Nothing was changed. "
    "Run  grader release  in the course folder."
)


class RefuseAutograde(NotebookExporter):
    """Ends `nbgrader autograde` and formgrader's Autograde button before the first submission is touched."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]
        _refuse(self, _AUTOGRADE)


class RefuseGenerate(NotebookExporter):
    """Ends `nbgrader generate_assignment` and formgrader's Generate button in the same way."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]
        _refuse(self, _GENERATE)


class RefuseToRun(NbGraderPreprocessor):  # type: ignore[misc]
    """The second lock: the only step of an autograde that gets past RefuseAutograde runs nothing."""

    def preprocess(self, nb: Any, resources: Any) -> NoReturn:
        _refuse(self, _AUTOGRADE)


def _refuse(step: Any, message: str) -> NoReturn:
    step.log.error(message)
    raise NbGraderException(message)
