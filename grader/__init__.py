"""Checks and hints for the exercises of Unrolled: recurrent networks from scratch."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.capstone import take, waits_for
    from grader.student import check, diary, hint, progress

__all__ = ["check", "diary", "hint", "progress", "take", "waits_for"]


def __getattr__(name: str) -> Any:
    """Import what notebooks use only when it is used: commands and workers can start without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in ("take", "waits_for"):
        from grader import capstone

        return getattr(capstone, name)
    from grader import student

    return getattr(student, name)
