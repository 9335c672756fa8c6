"""The course's manifest as it was released, read without NumPy: `grader doctor` reports when NumPy is missing."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from grader.manifest import Manifest, load_manifest

DATA = Path(__file__).parents[1] / "data"


@cache
def manifest() -> Manifest:
    """The manifest that the package contains. Raises ManifestError."""
    return load_manifest(DATA / "course.toml")
