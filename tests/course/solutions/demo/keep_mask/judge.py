"""What is due of a random mask: its form, and about the right share of ones."""

import numpy as np

from grader.checking.case import Observation
from grader.checking.verdict import Problem


def judge(case, observation):
    mask, n, p = observation.result, case.inputs["n"], case.inputs["p"]
    if not isinstance(mask, np.ndarray) or mask.shape != (n,) or mask.dtype != np.float64:
        return [Problem("judge", f"a float64 array of shape ({n},) is due", "mask")]
    if not np.isin(mask, (0, 1)).all():
        return [Problem("judge", "only zeros and ones are due", "mask")]
    if abs(mask.mean() - p) > 0.05:
        return [Problem("judge", f"the share of ones is {mask.mean():.2f}, about {p} is due", "mask")]
    return []


def largest(case):
    return Observation(np.zeros(case.inputs["n"]), calls={"rng": ["drawn"]})


def _dropped(case, observation):
    mask = observation.result
    return isinstance(mask, np.ndarray) and mask.size > 1 and abs(mask.mean() - (1 - case.inputs["p"])) < 0.05


def _one_draw(case, observation):
    mask = observation.result
    return isinstance(mask, np.ndarray) and mask.size > 1 and np.unique(mask).size == 1


MATCHES = {"drops_with_p": _dropped, "one_draw_for_all": _one_draw}
