"""All commands: each module that is imported here adds its own to `app`."""

from grader.cli import (  # noqa: F401
    author,
    collect,
    diary,
    exam,
    gradescope,
    grading,
    lms,
    pack,
    reports,
    similar,
    student,
    term,
)
from grader.cli.app import app

__all__ = ["app"]
