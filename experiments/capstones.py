"""Record what the capstones print with the reference solutions, for the numbers in their texts and good answers.

    python -m experiments.capstones CHAPTER [--record]     CHAPTER is ch00_sequences, ch02_bptt, …

Runs the cells of the chapter's capstone beside its solved notebooks, once for each entry of RUNS, and collects what was
printed under each heading. A network that is trained on another processor, or on the text of another version of Python,
gives other numbers, so the texts take theirs from the record. Prints the record; with --record it also writes
`capstone.json` to the chapter's folder here. Chapter 4 takes five minutes on one core, chapter 2 two, the others seconds.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import platform
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported: waiting threads would use up CPU seconds

import numpy as np

from grader.author.notebooks import instructor_notebook
from grader.cells import notebook_bytes
from grader.manifest import load_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[1]
BARS = "Which characters influence a prediction?"
# For each chapter the runs: what is replaced in the cells, and the headings that are recorded (all, if there are none).
RUNS: dict[str, list[tuple[dict[str, str], tuple[str, ...]]]] = {
    "ch00_sequences": [({}, ())],
    "ch02_bptt": [
        (
            {
                "min(20_000, int(30 / seconds))": "10_000",  # as many on every machine
                "default_rng(0)": f"default_rng({seed})",
                "seq_length, lr = 100, 25,": f"seq_length, lr = 100, {length},",
            },
            (BARS,) if length == 5 else ("Hello", "Half a minute of training", BARS, "What truncation costs"),
        )
        for seed in range(3)
        for length in (25, 5)
    ],
    "ch03_gradients": [({}, ())],
    "ch04_gated": [
        ({"manual_seed(0)": f"manual_seed({seed})"}, ("Which unit tracks what?",) if seed else ()) for seed in range(4)
    ],
}


def record_of(chapter: str) -> Path:
    return ROOT / "experiments" / chapter[:4] / "capstone.json"


def executed(
    folder: Path, namespace: dict[str, Any], replace: Mapping[str, str] | None = None, without_tag: str | None = None
) -> Iterator[tuple[str, str | None]]:
    """Run the cells of the capstone in this folder: the source of each, and what it printed; None for a text."""
    for cell in json.loads((folder / "capstone.ipynb").read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            yield source, None
        elif without_tag not in cell["metadata"].get("tags", ()):
            for old, new in (replace or {}).items():
                source = source.replace(old, new)
            with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as out:
                exec(source, namespace)
            yield source, out.getvalue()


def printed(chapter_id: str, folder: Path, replace: Mapping[str, str]) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """The lines that the cells under each heading of the capstone print, and the namespace in which they ran."""
    manifest = load_manifest(ROOT / "course.toml")
    chapter = manifest.chapter(chapter_id)
    for notebook in chapter.notebooks:
        content = notebook_bytes(instructor_notebook(ROOT, manifest, chapter, notebook))
        (folder / f"{notebook.name}.ipynb").write_bytes(content)
    for file in (ROOT / "solutions" / chapter_id).glob("files/*"):
        shutil.copy(file, folder)
    namespace: dict[str, Any] = {}
    found: dict[str, list[str]] = {}
    heading = ""
    for source, output in executed(folder, namespace, replace):
        if output is None:
            heading = [heading, *(line[3:] for line in source.splitlines() if line.startswith("## "))][-1]
        elif output:
            found.setdefault(heading, []).extend(output.splitlines())
    return found, namespace


def main() -> None:
    chapter, runs = sys.argv[1], []
    for replace, headings in RUNS[chapter]:
        with tempfile.TemporaryDirectory() as folder:
            found, namespace = printed(chapter, Path(folder), replace)
        runs.append({"replaced": replace, "printed": {name: found[name] for name in headings or found}})
        print(json.dumps(runs[-1], indent=1, ensure_ascii=False), flush=True)
    text = "".join(namespace["python_manual"]())
    record = {
        "command": f"python -m experiments.capstones {chapter} --record",
        "text": {
            "source": f"pydoc_data.topics of Python {platform.python_version()}",
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
        },
        "versions": {"numpy": np.__version__, "torch": version("torch").partition("+")[0]},
        "runs": runs,
    }
    if "--record" in sys.argv[2:]:
        record_of(chapter).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
