"""The command that runs pages under variations finds what depends on the machine, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.variations import ROOT, Seen, differences, everything, variations

KERNEL = "file_format: mystnb\nkernelspec:\n  name: python3\n  display_name: Python 3\n"
PAGE = "---\n{kernel}---\n\n# A page\n\n```{{code-cell}}\n{code}\n```\n"
SVG = '<svg><path id="{id}" d="M {x} 20"/></svg>'


def listed(folder: Path, code: str) -> tuple[int, list[str]]:
    """The status of the command for a page with this code under moved weights, and what it lists."""
    (folder / "page.md").write_text(PAGE.format(kernel=KERNEL, code=code), "utf-8")
    command = [sys.executable, "-m", "tests.variations", str(folder / "page.md"), "--only", "moved weights"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.returncode, [line.strip() for line in done.stdout.splitlines() if line.startswith("    ")]


def test_an_assertion_and_a_number_that_depend_on_the_last_bits_are_listed(tmp_path: Path) -> None:
    code = "import numpy as np\n\nw = np.random.default_rng(0).normal()\nprint(f'{w:.3f}')\nprint(w)\n"
    code += "assert w == 0.1257302210933933\nassert abs(w) < 1"
    status, (failed, number) = listed(tmp_path, code)
    assert status == 1
    assert failed.startswith("moved weights: failed: assert w == 0.125730221")
    assert number.startswith("moved weights: cell 1, stdout: '0.1257302210")


def test_what_is_exact_up_to_rounding_is_not_listed(tmp_path: Path) -> None:
    code = "import numpy as np\n\nw = np.random.default_rng(0).normal(size=3)\n"
    assert listed(tmp_path, code + "print(w.round(3))\nassert (abs(w) < 2).all()") == (0, [])


def test_figures_may_move_by_less_than_a_pixel() -> None:
    def seen(**values: object) -> Seen:
        return Seen(shown={"glued plot": SVG.format(**values)})

    plain = seen(id="a1", x=10)
    assert differences(plain, seen(id="b2", x=10.4)) == []
    assert differences(plain, seen(id="a1", x=13)) == ["glued plot: the figure moves by 3.0 points"]
    assert differences(plain, Seen(shown={"glued plot": "<svg></svg>"})) == [
        "glued plot: the figure moves by inf points"
    ]


def test_a_text_that_is_missing_is_listed() -> None:
    assert differences(Seen(shown={"cell 1, stdout": "3 bits"}), Seen()) == ["cell 1, stdout: '3 bits' became ''"]


def test_all_pages_with_code_and_all_notebooks_are_run() -> None:
    names = {"/".join(path.parts[-2:]) for path in everything()}
    assert {"book/slips.md", "ch00_sequences/window.md", "ch03_gradients/capstone.py"} <= names
    assert not {path.suffix for path in everything("notebooks")} - {".md"}
    assert {"moved weights", "shorter text", "two threads"} <= set(variations())
