"""A small course with everything that `grader pack` needs: the package, a built book, and the files in the root."""

import shutil
from pathlib import Path

from small_course import CHAPTER, write_small_course

from grader.author.built_book import CLASS, SITE, note, sources_digest

ROOT = Path(__file__).parents[1]
ROOT_FILES = ("pyproject.toml", "README.md", "LICENSE", "constraints.txt", "_config.yml", "_toc.yml")
PAGE = f"book/{CHAPTER}/one_step.html"


def write_packed_course(folder: Path) -> Path:
    """Write the course, with a site of two pages that says it is up to date; return its root."""
    root = write_small_course(folder)
    for name in ROOT_FILES:
        shutil.copy(ROOT / name, root)
    ignored = shutil.ignore_patterns("__pycache__", "data")
    shutil.copytree(ROOT / "grader", root / "grader", ignore=ignored, dirs_exist_ok=True)
    shutil.copy(ROOT / "grader" / "data" / "__init__.py", root / "grader" / "data")
    (root / "book").mkdir()
    (root / "book" / "index.md").write_text("# A book\n", "utf-8")
    write(root / SITE / "index.html", '<meta http-equiv="Refresh" content="0; url=book/index.html">')
    write(root / SITE / PAGE, "<p>One step: <code>np.tanh(a)</code></p>")
    write(root / SITE / "searchindex.js", "Search.setIndex({})")
    write(root / SITE / ".buildinfo", "config: 0")
    write(root / SITE / "_static" / "locales" / "de" / "LC_MESSAGES" / "booktheme.mo", "Seite")
    note(root / SITE, CLASS, sources_digest(root))
    return root


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
