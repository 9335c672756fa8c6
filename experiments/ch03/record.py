"""How the records of experiments are written and summarised, with NumPy alone."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np


def recorded(name: str) -> dict[str, Any]:
    """The record of a chapter 3 experiment, for pages: without the experiment's module, which imports PyTorch."""
    record: dict[str, Any] = json.loads(Path(__file__).with_name(f"{name}.json").read_text("utf-8"))
    return record


def geometric(rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """Geometric mean and geometric standard deviation (a factor) of each column of rows (N, M): (M,) and (M,).

    The standard deviation of the logarithms is that of a sample, with N - 1. A norm of 0 counts as 1e-300.
    """
    logs = np.log(np.maximum(np.asarray(rows, dtype=np.float64), 1e-300))
    return np.exp(logs.mean(axis=0)), np.exp(logs.std(axis=0, ddof=1))


def mean_and_sd(values: Sequence[float], digits: int) -> list[float]:
    """Mean and standard deviation, that of a sample, with N - 1; for a single value, 0. Both rounded."""
    return [round(mean(values), digits), round(stdev(values), digits) if len(values) > 1 else 0.0]


def significant(values: Any, digits: int = 3) -> list[float]:
    """Round each value to so many significant digits."""
    return [float(f"{value:.{digits - 1}e}") for value in values]


def thinned(curve: list[float]) -> list[float]:
    """Keep the values at every 20 updates up to 200, and at every 100 from 300 on."""
    return curve[:10] + curve[14::5]


def thinned_updates(curve: list[float]) -> list[int]:
    """The updates at which the values of a thinned curve were measured."""
    return [*range(20, 201, 20), *range(300, 100 * len(curve), 100)][: len(curve)]


def to_json(record: dict[str, Any]) -> str:
    """JSON with one list of numbers a line."""
    rows = re.compile(r"\[\s+([^][{}]+?)\s+\]")
    return rows.sub(lambda row: "[" + re.sub(r"\s+", " ", row[1]) + "]", json.dumps(record, indent=1)) + "\n"
