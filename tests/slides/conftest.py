"""The book's local extensions, and what builds a page with them, importable."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "book" / "_ext"), str(ROOT / "tests" / "book")]
