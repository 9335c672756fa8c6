"""Pages run side by side before they are read, once each, under the key that reading looks for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
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
BUILD = "import os, sys; os.cpu_count = lambda: 2; from sphinx.cmd.build import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.system
def test_two_pages_run_at_a_time_and_what_fails_is_told_as_it_is_read(tmp_path: Path) -> None:
    pages = {
        "fails": "1 / 0",
        "here": MEETS.format(own="here", other="there"),
        "there": MEETS.format(own="there", other="here"),
    }
    for name, code in pages.items():
        (tmp_path / f"{name}.md").write_text(PAGE.format(code=code), "utf-8")
    (tmp_path / "index.md").write_text("# Index\n", "utf-8")
    (tmp_path / "book").symlink_to(ROOT / "book")
    settings = [
        "extensions=myst_nb,side_by_side",
        "nb_execution_mode=cache",
        "exclude_patterns=book",
        "html_theme=basic",
    ]
    done = subprocess.run(
        [sys.executable, "-c", BUILD, "-C", *(f"-D{setting}" for setting in settings), ".", "out"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "book" / "_ext")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    for name in ("here", "there"):
        assert "met the other" in (tmp_path / "out" / f"{name}.html").read_text("utf-8")
        assert (tmp_path / f"{name}.runs").read_text() == "ran\n"
    assert done.stderr.count("Executing notebook failed: CellExecutionError") == 1
    assert "fails.md" in done.stderr
