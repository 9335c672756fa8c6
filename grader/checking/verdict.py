"""The verdict: the result of a check as plain values. `grader.render` displays it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import msgspec

FORMAT_VERSION = 3

Status = Literal["passed", "failed", "error", "unimplemented", "timeout", "missing"]
ProblemKind = Literal[
    "raised", "none", "type", "count", "shape", "dtype", "not_finite", "values", "gradient", "changed", "judge"
]


@dataclass(frozen=True)
class Grid:
    """Which entries of an array are wrong: `wrong[i][j]` is '1' or '0', `i` along the axis `down`, `j` along `across`.

    Other axes are folded: an entry is wrong if it is wrong anywhere along them. `wrong[0][0]` is the entry
    (`first_row`, `first_column`), and `cropped` says that the array has more entries than are shown.
    """

    across: str
    down: str
    wrong: tuple[str, ...]
    first_row: int = 0
    first_column: int = 0
    cropped: bool = False


@dataclass(frozen=True)
class Problem:
    """One problem of one case. `output` is the name of the result that is wrong, or None for the call as a whole.
    `beside` has the returned numbers and the expected ones side by side, as lines, if they are few.
    """

    kind: ProblemKind
    text: str
    output: str | None = None
    lines: tuple[str, ...] = ()
    grid: Grid | None = None
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaseResult:
    """The result on one case: its name, the call and the returned values as text, and the problems."""

    name: str
    call: str
    returned: str
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True)
class FacetResult:
    """The points of one facet."""

    name: str
    earned: float
    points: float


@dataclass(frozen=True)
class Diagnosis:
    """The likely cause, if the evidence singles one out. `id` is the id of the mistake or the pattern."""

    id: str
    text: str


@dataclass(frozen=True)
class Verdict:
    """The result of checking one exercise; true if the exercise passed. The status 'timeout' says that it
    was stopped, 'missing' that its notebook was not submitted.

    `unwritten` is the name of a function that this one calls and that is not implemented yet.
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
        """The first case with a problem, and that problem."""
        return next(((case, case.problems[0]) for case in self.cases if case.problems), None)

    def to_dict(self) -> dict[str, Any]:
        return {"format": FORMAT_VERSION, **asdict(self)}

    def to_json(self) -> str:
        """The verdict as JSON, including the version of the format."""
        return msgspec.json.encode(self.to_dict()).decode()


class CheckFailed(Exception):  # noqa: N818 - it is a sentence in a student's notebook
    """Raised instead of returning a report when nbgrader's *Validate* runs the notebook, because nbgrader counts only
    exceptions as failures.
    """
