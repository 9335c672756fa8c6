"""The verdict: what a check found, as plain values. `grader.render` shows it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import msgspec

FORMAT_VERSION = 2

Status = Literal["passed", "failed", "error", "unimplemented", "timeout"]
ProblemKind = Literal[
    "raised", "none", "type", "count", "shape", "dtype", "not_finite", "values", "gradient", "changed", "judge"
]


@dataclass(frozen=True)
class Grid:
    """Which entries of an array are wrong: `wrong[i][j]` is '1' or '0', `i` along the axis `down`, `j` along `across`.

    Other axes are folded: an entry is wrong if it is wrong anywhere along them. `wrong[0][0]` stands for the entry
    (`first_row`, `first_column`), and `cropped` says that the array has more than is shown.
    """

    across: str
    down: str
    wrong: tuple[str, ...]
    first_row: int = 0
    first_column: int = 0
    cropped: bool = False


@dataclass(frozen=True)
class Problem:
    """One thing wrong with one case. `output` is the named result it is about, or None for the call as a whole."""

    kind: ProblemKind
    text: str
    output: str | None = None
    lines: tuple[str, ...] = ()
    grid: Grid | None = None


@dataclass(frozen=True)
class CaseResult:
    """One case: how the function was called, what came back in short, and what was wrong with it."""

    name: str
    call: str
    returned: str
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class FacetResult:
    """One facet's points."""

    name: str
    earned: float
    points: float


@dataclass(frozen=True)
class Diagnosis:
    """The likely cause, where the evidence singles one out. `id` is the misconception's or pattern's."""

    id: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """What was found of one exercise: true when all is right. A status of 'timeout' comes of autograding alone.

    `unwritten` names another function that this one calls and that is not written yet.
    """

    id: str
    title: str
    status: Status
    earned: float
    points: float
    page: str
    cases: tuple[CaseResult, ...] = ()
    facets: tuple[FacetResult, ...] = ()
    diagnosis: Diagnosis | None = None
    note: str = ""
    unwritten: str = ""

    def __bool__(self) -> bool:
        return self.status == "passed"

    @property
    def first_problem(self) -> tuple[CaseResult, Problem] | None:
        """The first case that went wrong, with its first problem."""
        return next(((case, case.problems[0]) for case in self.cases if case.problems), None)

    def to_dict(self) -> dict[str, Any]:
        return {"format": FORMAT_VERSION, **asdict(self)}

    def to_json(self) -> str:
        """The verdict as JSON, with the format's version."""
        return msgspec.json.encode(self.to_dict()).decode()


class CheckFailed(Exception):  # noqa: N818 - it is a sentence in a student's notebook
    """Raised in place of a report where nbgrader's own Validate runs the notebook, so that its button tells the
    truth.
    """
