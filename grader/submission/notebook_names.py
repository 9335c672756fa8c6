"""Which files are read as notebooks: what collecting, grading and the student's commands have in common."""

from __future__ import annotations

ENDING = ".ipynb"
OF_WINDOWS = ("zone.identifier", "thumbs.db", "desktop.ini")  # behind what Canvas writes before a name, too
_NEVER = (  # archives, what Windows keeps about a file, and downloads that have not ended
    *(".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar"),
    *(*OF_WINDOWS, ".lnk", ".url", ".icloud", ".swp", ".tmp", "~"),
    *(".crdownload", ".part", ".partial", ".download", ".opdownload"),
)


def is_notebook(name: str) -> bool:
    """Whether a file of this name is read as a notebook. Browsers add endings, as in `text.ipynb.json`, and write them
    in capitals. What a system or a browser leaves beside a notebook is none, whatever it is called.
    """
    lower = name.lower()
    return (
        ENDING in lower and not lower.startswith((".", "~$")) and ":" not in lower and not lower.endswith(tuple(_NEVER))
    )
