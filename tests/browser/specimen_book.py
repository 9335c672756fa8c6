"""A small book of page elements, built with the course's own configuration and extensions."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = Path(__file__).parent / "specimen"
SHARED = ("book/_ext", "book/_static", "book/references.bib", "course.toml", "exercises", "experiments", "solutions")


def pages() -> list[str]:
    return [f"book/{page.stem}.html" for page in sorted(SOURCES.glob("*.md"))]


def build(folder: Path) -> Path:
    """Build it in an empty folder: the site's folder. Raises RuntimeError with what the build said."""
    (folder / "book").mkdir()
    for page in SOURCES.glob("*.md"):
        shutil.copy(page, folder / "book")
    for name in SHARED:
        (folder / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "_config.yml", folder)
    others = [page.stem for page in sorted(SOURCES.glob("*.md")) if page.stem != "index"]
    files = "".join(f"      - file: book/{name}\n" for name in others)
    (folder / "_toc.yml").write_text(f"format: jb-book\nroot: book/index\nparts:\n  - chapters:\n{files}", "utf-8")
    options = ["--warningiserror", "--nitpick", "--keep-going", "--path-output", str(folder / "build")]
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", str(folder), *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode:
        raise RuntimeError(f"the specimen book does not build:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}")
    return folder / "build" / "_build" / "html"


if __name__ == "__main__":
    print(build(Path(sys.argv[1])))
