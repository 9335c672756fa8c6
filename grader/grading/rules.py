"""The rules that a chapter's points were computed by, kept with the term: what lateness costs and which attempt counts.

`TERM/results/CHAPTER/rules.json` has them since the chapter was first graded. A term that is opened with other rules,
years later or in another checkout, is not computed by them unless an instructor says so.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from grader.files import PRIVATE, write_whole
from grader.gradebook.database import explained, open_engine
from grader.gradebook.late import Policy, has_penalties, refuse_other_policies
from grader.grading.release import AutogradeError
from grader.term_settings import NAME, TermSettings

OPTION = "--new-rules"


class Rules(msgspec.Struct, frozen=True):
    """The attempt that counts, the late policy, a hash of the instructor's own code for it, and the slip days."""

    attempts: str = "last"
    late: dict[str, Any] | None = None
    code: str = ""
    slip_days: int = 0


def same_rules(
    root: Path, term: Path, chapter_id: str, settings: TermSettings, db_url: str | None, *, new_rules: bool
) -> None:
    """Keep the rules with the chapter's results. Raises AutogradeError if it was graded by others, unless `new_rules`
    are accepted, and GradebookError if they are no rules.
    """
    refuse_other_policies(root, term)
    Policy(term, settings).check()
    path = term / "results" / chapter_id / "rules.json"
    now, before = Rules(settings.attempts, settings.late, _code(term, settings), settings.slip_days), _read(path)
    if before is None and settings.late is None and db_url is not None and not new_rules and path.parent.is_dir():
        with open_engine(db_url) as engine, explained(db_url):
            if has_penalties(engine, chapter_id):
                raise AutogradeError(
                    f"{chapter_id} has late penalties in the gradebook, but {term / NAME} does not say what lateness "
                    f"costs. {_advice(term, chapter_id)}"
                )
    if before not in (None, now) and not new_rules:
        lines = "".join(f"\n  {line}" for line in _differences(before or now, now))
        raise AutogradeError(f"{chapter_id} was graded by other rules:{lines}\n{_advice(term, chapter_id)}")
    if before != now:
        write_whole(path, msgspec.json.format(msgspec.json.encode(now), indent=1), PRIVATE)


def _advice(term: Path, chapter_id: str) -> str:
    return (
        f"Nothing was changed. Write the earlier rules into {term / NAME} again, or compute all points of the chapter "
        f"by the new ones:  grader autograde {chapter_id} --term {term} {OPTION}"
    )


def _read(path: Path) -> Rules | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Rules)
    except FileNotFoundError:
        return None
    except msgspec.MsgspecError as error:
        raise AutogradeError(f"{path} cannot be read: {error}. Restore it from your copy of the term.") from error


def _code(term: Path, settings: TermSettings) -> str:
    """A hash of the file with the instructor's own policy; empty if there is none."""
    module, _, _ = str((settings.late or {}).get("plugin", "")).rpartition(".")
    path = term / f"{module}.py"
    return hashlib.sha256(path.read_bytes()).hexdigest() if module and path.is_file() else ""


def _differences(before: Rules, now: Rules) -> list[str]:
    old, new = before.late or {}, now.late or {}
    lines = [f"attempts: {before.attempts}, now {now.attempts}"] if before.attempts != now.attempts else []
    if before.slip_days != now.slip_days:
        lines.append(f"slip_days: {before.slip_days}, now {now.slip_days}")
    lines += [
        f"late.{key}: {_shown(old.get(key))}, now {_shown(new.get(key))}"
        for key in sorted({*old, *new})
        if old.get(key) != new.get(key)
    ]
    if (before.late is None) != (now.late is None) and not old and not new:
        lines.append("[late] is new" if before.late is None else "[late] is missing")
    return lines + (["the code of the late policy has changed"] if before.code != now.code else [])


def _shown(value: Any) -> str:
    return "not set" if value is None else str(value)
