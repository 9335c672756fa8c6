"""The network that spells `hello`: four letters, three units, weights of two decimals.

    from experiments.ch01.hello import VOCABULARY, load_weights

The book's page and its explorable read the same file, `hello_weights.json`. Its numbers come from `hello_weights.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

WEIGHTS_FILE = Path(__file__).with_name("hello_weights.json")
VOCABULARY = ("h", "e", "l", "o")


def load_record() -> dict[str, Any]:
    """The recorded file as it is: vocabulary, text, weights as lists, and how they were found."""
    record: dict[str, Any] = json.loads(WEIGHTS_FILE.read_text("utf-8"))
    return record


def load_weights() -> dict[str, np.ndarray]:
    """W_xh (4, 3), W_hh (3, 3), b_h (3,), W_hy (3, 4), b_y (4,), float64. States are rows; h_0 is zero."""
    return {name: np.array(values, dtype=np.float64) for name, values in load_record()["weights"].items()}
