"""Pages run side by side before they are read, once each, under the key that reading looks for, and in the same way."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from one_page import ROOT

PAGE = """---
file_format: mystnb
orphan: true
kernelspec:
  name: python3
  display_name: Python 3
---

# Page

```{{code-cell}} ipython3
{code}
```
"""
# Each leaves a line in a file and waits for the other's: were they to run one after another, neither would meet anyone.
MEETS = """\
import time
from pathlib import Path
with open("{own}.runs", "a") as file:
    file.write("ran\\n")
until = time.monotonic() + 120
while not Path("{other}.runs").exists() and time.monotonic() < until:
    time.sleep(0.05)
print("met" if Path("{other}.runs").exists() else "did not meet", "the other")
"""
# What a kernel does when it is asked to end.
ENDS = """\
import atexit
from pathlib import Path
atexit.register(Path("{own}.ended").touch)
print({what!r})
"""
BUILD = "import os, sys; os.cpu_count = lambda: 2; from sphinx.cmd.build import main; sys.exit(main(sys.argv[1:]))"
SETTINGS = ("extensions=myst_nb,side_by_side", "nb_execution_mode=cache", "exclude_patterns=book", "html_theme=basic")


def built(folder: Path, pages: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    """Build pages of one cell each, beside an index."""
    for name, code in pages.items():
        (folder / f"{name}.md").write_text(PAGE.format(code=code), "utf-8")
    (folder / "index.md").write_text("# Index\n", "utf-8")
    if not (folder / "book").exists():
        (folder / "book").symlink_to(ROOT / "book")
    return subprocess.run(
        [sys.executable, "-c", BUILD, "-C", *options, *(f"-D{setting}" for setting in SETTINGS), ".", "out"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "book" / "_ext")},
        capture_output=True,
        text=True,
    )


def html(folder: Path, page: str) -> str:
    return (folder / "out" / f"{page}.html").read_text("utf-8")


def test_two_pages_run_at_a_time_and_what_fails_is_told_as_it_is_read(tmp_path: Path) -> None:
    pages = {
        "fails": "1 / 0",
        "here": MEETS.format(own="here", other="there"),
        "there": MEETS.format(own="there", other="here"),
    }
    done = built(tmp_path, pages)
    assert done.returncode == 0, done.stderr
    for name in ("here", "there"):
        assert "met the other" in html(tmp_path, name)
        assert (tmp_path / f"{name}.runs").read_text() == "ran\n"
    assert done.stderr.count("Executing notebook failed: CellExecutionError") == 1
    assert "fails.md" in done.stderr


def test_kernels_are_killed_side_by_side_and_as_pages_are_read(tmp_path: Path) -> None:
    pages = {name: ENDS.format(own=name, what="first") for name in ("here", "there")}
    assert built(tmp_path, pages).returncode == 0
    assert built(tmp_path, {"here": ENDS.format(own="here", what="second")}).returncode == 0
    assert "second" in html(tmp_path, "here")
    assert "first" in html(tmp_path, "there")
    assert list(tmp_path.glob("*.ended")) == []
