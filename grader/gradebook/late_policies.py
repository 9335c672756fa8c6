"""What a late submission costs, as `TERM/term.toml` says:

    [late]
    share = 0.1
    grace_minutes = 15

`plugin = "late_policy.Mine"` names a class of the instructor's own in `TERM/late_policy.py`, whose settings the other
lines are. It is a plugin of nbgrader, of the kind that its documentation describes under "Late submission plugin".
"""

from __future__ import annotations

import math

from nbgrader.plugins import BasePlugin
from traitlets import Float

DAY = 24 * 60 * 60


class PerDay(BasePlugin):  # type: ignore[misc]
    """Subtract a share of a notebook's points for each day that has begun after the due date."""

    share = Float(0.1, min=0, max=1, help="Share of the points that each day costs: 0.1 is a tenth.").tag(config=True)
    grace_minutes = Float(0, min=0, help="Minutes after the due date that cost nothing; days start after them.").tag(
        config=True
    )
    at_most = Float(1, min=0, max=1, help="The largest share of the points that lateness costs.").tag(config=True)
    closes_after_days = Float(math.inf, min=0, help="Days, after the grace minutes, that end with no points.").tag(
        config=True
    )

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """The points to subtract from a notebook's `score`; None if it is within the grace minutes."""
        late = total_seconds_late - 60 * self.grace_minutes
        if late <= 0:
            return None
        if late > DAY * self.closes_after_days:
            return score
        return float(min(self.share * math.ceil(late / DAY), self.at_most)) * score
