"""Record what notebooks print with the reference solutions, for the numbers in their texts and good answers.

    python -m experiments.notebooks CHAPTER/NOTEBOOK [--record]     for example ch04_gated/capstone

Runs the cells of the notebook beside the chapter's other notebooks, all with their solutions, once for each entry of
RUNS, and collects what was printed under each heading. A network that is trained on another processor, or on the text
of another version of Python, gives other numbers, so the texts take theirs from the record. Prints the record; with
--record it also writes it to the chapter's folder here, as NOTEBOOK.json. Chapter 4's capstone takes five minutes on
one core, chapter 2's two, the other notebooks less than one or two.
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
TRAINED = ("Training your model",)
MISSPELLED = (
    "{np.mean([word not in rhyme.split() "
    "for word in write(model, characters, 'This is ', 2_000, to_probs, rng).split()]):.2f} of the words misspelled"
)
BARS = "Which characters influence a prediction?"
# For each chapter the runs: what is replaced in the cells, and the headings that are recorded (all, if there are none).
RUNS: dict[str, list[tuple[dict[str, str], tuple[str, ...]]]] = {
    "ch00_sequences/capstone": [({}, ())],
    "ch02_bptt/capstone": [
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
    "ch03_gradients/capstone": [({}, ())],
    "ch04_gated/capstone": [
        ({"manual_seed(0)": f"manual_seed({seed})"}, ("Which unit tracks what?",) if seed else ()) for seed in range(4)
    ],
    "ch04_gated/char_lm": [
        (
            {
                "manual_seed(0)": f"manual_seed({seed})",
                "logits, state = model(inputs, state)": f"logits, {state} = model(inputs, state)",
                "{write(model, characters, 'This is ', 150, to_probs, rng)}": MISSPELLED,
            },
            TRAINED,
        )
        for state in ("state", "_")
        for seed in range(5)
    ],
    "ch05_encoder_decoder/seq2seq": [
        ({"manual_seed(0)": f"manual_seed({seed})", "self.encoder(packed)": f"self.encoder({source})"}, TRAINED)
        for source in ("packed", "words")
        for seed in range(5)
    ],
    "ch06_attention/attention_decoder": [
        ({"manual_seed(0)": f"manual_seed({seed})"}, ("Training your decoder, and looking at its weights",))
        for seed in range(5)
    ],
    "ch06_attention/pictures": [
        ({"manual_seed(0)": f"manual_seed({seed})"}, ("Training your attention, and drawing its weights",))
        for seed in range(5)
    ],
}


def record_of(notebook: str) -> Path:
    chapter, name = notebook.split("/")
    return ROOT / "experiments" / chapter[:4] / f"{name}.json"


def executed(
    path: Path, namespace: dict[str, Any], replace: Mapping[str, str] | None = None, without_tag: str | None = None
) -> Iterator[tuple[str, str | None]]:
    """Run the cells of a notebook in its folder: the source of each, and what it printed; None for a text.

    The checks are left out: they say nothing new about the solutions.
    """
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] != "code":
            yield source, None
        elif not source.startswith(("check(", "progress(")) and without_tag not in cell["metadata"].get("tags", ()):
            for old, new in (replace or {}).items():
                source = source.replace(old, new)
            with contextlib.chdir(path.parent), contextlib.redirect_stdout(io.StringIO()) as out:
                exec(source, namespace)
            yield source, out.getvalue()


def printed(notebook: str, folder: Path, replace: Mapping[str, str]) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """The lines that the cells under each heading of the notebook print, and the namespace in which they ran."""
    manifest = load_manifest(ROOT / "course.toml")
    chapter_id, name = notebook.split("/")
    chapter = manifest.chapter(chapter_id)
    for each in chapter.notebooks:
        content = notebook_bytes(instructor_notebook(ROOT, manifest, chapter, each))
        (folder / f"{each.name}.ipynb").write_bytes(content)
    for file in (ROOT / "solutions" / chapter_id).glob("files/*"):
        shutil.copy(file, folder)
    namespace: dict[str, Any] = {}
    found: dict[str, list[str]] = {}
    heading = ""
    for source, output in executed(folder / f"{name}.ipynb", namespace, replace):
        if output is None:
            heading = [heading, *(line[3:] for line in source.splitlines() if line.startswith("## "))][-1]
        elif output:
            found.setdefault(heading, []).extend(output.splitlines())
    return found, namespace


def main() -> None:
    notebook, runs = sys.argv[1], []
    for replace, headings in RUNS[notebook]:
        with tempfile.TemporaryDirectory() as folder:
            found, namespace = printed(notebook, Path(folder), replace)
        runs.append({"replaced": replace, "printed": {name: found[name] for name in headings or found}})
        print(json.dumps(runs[-1], indent=1, ensure_ascii=False), flush=True)
    record: dict[str, Any] = {"command": f"python -m experiments.notebooks {notebook} --record"}
    if "python_manual" in namespace:
        text = "".join(namespace["python_manual"]())
        source = f"pydoc_data.topics of Python {platform.python_version()}"
        record["text"] = {"source": source, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    record["versions"] = {"numpy": np.__version__, "torch": version("torch").partition("+")[0]}
    record["runs"] = runs
    if "--record" in sys.argv[2:]:
        record_of(notebook).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
