"""The book's sources, and its local extensions importable."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"

sys.path[:0] = [str(BOOK / "_ext"), str(ROOT)]
