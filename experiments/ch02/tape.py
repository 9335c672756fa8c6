"""A network of one unit that reads three numbers and has a loss at every step: its tape holds six operations.

    from experiments.ch02.tape import load_network

The book's page and its explorable read the same file, `tape.json`. Its numbers were chosen so that they can be
followed by hand.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

NETWORK_FILE = Path(__file__).with_name("tape.json")


class Network(TypedDict):
    """h_t = tanh(w_xh x_t + w_hh h_{t-1} + b_h), and the loss of step t is (h_t - y_t)^2 / 2."""

    x: list[float]
    y: list[float]
    h_0: float
    w_xh: float
    w_hh: float
    b_h: float


def load_network() -> Network:
    network: Network = json.loads(NETWORK_FILE.read_text("utf-8"))
    return network
