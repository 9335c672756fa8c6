"""Checks and hints for the exercises of Unrolled: recurrent networks from scratch."""

from grader.student import check, hint, progress

__all__ = ["check", "hint", "progress"]
