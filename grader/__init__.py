"""Checks and hints for the exercises of Unrolled: recurrent networks from scratch."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.student import check, diary, hint, progress

__all__ = ["check", "diary", "hint", "progress"]


def __getattr__(name: str) -> Any:
    """Import what notebooks use only when it is used: commands and workers can start without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from grader import student

    return getattr(student, name)
