"""Do pages and notebooks say the same on another machine? Run them under variations, and list what changes.

    python -m tests.variations [PATH …]        pages (book/….md) and notebooks (solutions/CHAPTER/NAME.py), or all
        --only NAME …                          these variations; --list says which there are
        --python PATH …                        other Pythons, each with the course's packages
        --exclude notebooks|pages

A page is run as the book runs it, a notebook with its solutions beside the chapter's other notebooks. Under each
variation the text of all outputs and glued numbers must be that of this machine's plain run, no coordinate of a figure
may move by a pixel, and every assertion must hold. Exit status 1 if anything differs.

To repair what is listed: show the record of an experiment, or compute what is exact up to rounding (in float64, with
fewer digits). What a training run ended at, and a figure's seconds, are recorded, never computed by a page.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from grader.author.notebooks import instructor_notebook, source_path
from grader.cells import notebook_bytes
from grader.manifest import load_manifest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))
from page_environment import environment  # noqa: E402

SECONDS = 600  # for a cell; the book itself allows less
PIXEL = 1.0
CUT = 160  # characters of a differing text that are printed
_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
_NAMES = re.compile(r'id="[^"]*"|url\(#[^)]*\)|href="#[^"]*"|<metadata>.*?</metadata>', re.S)


@dataclass(frozen=True)
class Variation:
    """Environment variables, and what `tests/varied.py` changes inside the kernel."""

    variables: dict[str, str] = field(default_factory=dict)
    inside: tuple[str, ...] = ()
    python: str = sys.executable


def variations() -> dict[str, Variation]:
    """All variations that this machine can run, by name."""
    found = {
        "moved weights": Variation(inside=("moved weights",)),
        "shorter text": Variation(inside=("shorter text",)),
        "two threads": Variation(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "2")),
        "plain NumPy": Variation({"NPY_DISABLE_CPU_FEATURES": " ".join(__cpu_dispatch__)}),
        "plain PyTorch": Variation({"ATEN_CPU_CAPABILITY": "default"}),
    }
    if platform.machine() in ("x86_64", "AMD64"):
        found["PyTorch avx2"] = Variation({"ATEN_CPU_CAPABILITY": "avx2"})
        kernels = ["Haswell", "Sandybridge", "Nehalem", *(["SkylakeX"] if __cpu_features__.get("AVX512F") else [])]
        found |= {name: Variation({"OPENBLAS_CORETYPE": name}) for name in kernels}
        found["oldest"] = Variation(
            {
                "OPENBLAS_CORETYPE": "Prescott",
                "ATEN_CPU_CAPABILITY": "default",
                "NPY_DISABLE_CPU_FEATURES": " ".join(__cpu_dispatch__),
            }
        )
    return found


@dataclass
class Seen:
    """What a run showed: texts and figures by place, assertions and cells that failed, processor time."""

    shown: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)
    seconds: float = 0.0


def run(path: Path, variation: Variation, folder: Path) -> Seen:
    """Run a page or a notebook under a variation. `folder` is for files, and empty."""
    notebook, place = _page(path) if path.suffix == ".md" else _notebook(path, folder)
    begin = nbformat.v4.new_code_cell(f"import tests.varied as _unrolled; _unrolled.begin{variation.inside!r}")
    notebook.cells = [begin, *notebook.cells, nbformat.v4.new_code_cell("_unrolled.end()")]
    manager = AsyncKernelManager(kernel_name="python3")
    assert manager.kernel_spec is not None
    manager.kernel_spec.argv = [variation.python, *manager.kernel_spec.argv[1:], "--log-level=ERROR"]
    plain = {name: value for name, value in os.environ.items() if name not in _all_variables()}
    env = {**plain, **environment(ROOT, folder / "ipython"), **variation.variables}
    client = NotebookClient(
        notebook,
        km=manager,
        timeout=SECONDS,
        startup_timeout=SECONDS,
        allow_errors=True,
        resources={"metadata": {"path": str(place)}},
    )
    client.execute(env=env, cleanup_kc=True)  # the kernel ends with its page
    return _seen(notebook)


def _all_variables() -> set[str]:
    return {"OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES", "ATEN_CPU_CAPABILITY"}


def _page(path: Path) -> tuple[Any, Path]:
    return jupytext.read(path, fmt="md:myst"), path.parent  # a page without code has no header that says so


def _notebook(path: Path, folder: Path) -> tuple[Any, Path]:
    """A notebook with its solutions, in a folder with the chapter's others and their files."""
    manifest = load_manifest(ROOT / "course.toml")
    chapter = manifest.chapter(path.parent.name)
    place = folder / chapter.id
    files = path.parent / "files"
    if files.is_dir():
        shutil.copytree(files, place)
    place.mkdir(exist_ok=True)
    for notebook in chapter.notebooks:
        made = instructor_notebook(ROOT, manifest, chapter, notebook)
        (place / f"{notebook.name}.ipynb").write_bytes(notebook_bytes(made))
    return nbformat.read(place / f"{path.stem}.ipynb", as_version=4), place


def _seen(notebook: Any) -> Seen:
    seen = Seen()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(cells[:-1]):
        for output in cell.outputs:
            for name, text in _texts(output, f"cell {number}"):
                seen.shown[name] = seen.shown.get(name, "") + text
            if output.output_type == "error":
                seen.failed.append(f"cell {number}: {output.ename}: {output.evalue}")
    said = json.loads("".join(output.get("text", "") for output in cells[-1].outputs))
    seen.failed += [f"assert {text}" for text in said["failed"]]
    seen.seconds = said["seconds"]
    return seen


def _texts(output: Any, place: str) -> Iterator[tuple[str, str]]:
    """The texts of an output and where they are. A figure is its SVG alone, a glued value goes by its name."""
    if output.output_type == "stream":
        yield f"{place}, {output.name}", output.text  # the pieces in which it arrives are joined
    elif output.output_type in ("display_data", "execute_result"):
        glued = output.metadata.get("scrapbook", {}).get("name")
        data = {kind.removeprefix("application/papermill.record/"): value for kind, value in output.data.items()}
        for kind in ("image/svg+xml", "text/html", "text/plain"):
            if kind in data:
                yield f"glued {glued}" if glued else place, data[kind]
                break


def differences(plain: Seen, varied: Seen) -> list[str]:
    """A line for each assertion that failed, and each text and figure that changed."""
    found = [f"failed: {text}" for text in varied.failed]
    for name in dict.fromkeys([*plain.shown, *varied.shown]):
        one, other = plain.shown.get(name, ""), varied.shown.get(name, "")
        if one.lstrip().startswith(("<?xml", "<svg")):
            moved = _moved(one, other)
            if moved > PIXEL:
                found.append(f"{name}: the figure moves by {moved:.1f} points")
        elif one != other:
            found.append(f"{name}: {_cut(one, other)}")
    return found


def _moved(one: str, other: str) -> float:
    """By how much a coordinate of a figure moves at most; infinite if the figures consist of different parts."""
    one, other = _NAMES.sub("", one), _NAMES.sub("", other)
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return float("inf")
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return max((abs(float(a) - float(b)) for a, b in pairs), default=0.0)


def _cut(one: str, other: str) -> str:
    """Two texts from the first line in which they differ."""
    lines = zip([*one.splitlines(), ""], [*other.splitlines(), ""], strict=False)
    a, b = next(((a, b) for a, b in lines if a != b), (one[-CUT:], other[-CUT:]))
    return f"{a.strip()[:CUT]!r} became {b.strip()[:CUT]!r}"


def everything(exclude: str | None = None) -> list[Path]:
    """All pages with code, and all notebooks."""
    pages = [path for path in sorted(ROOT.glob("book/**/*.md")) if "{code-cell}" in path.read_text("utf-8")]
    manifest = load_manifest(ROOT / "course.toml")
    notebooks = [source_path(ROOT, chapter, book) for chapter in manifest.chapters for book in chapter.notebooks]
    return ([] if exclude == "pages" else pages) + ([] if exclude == "notebooks" else notebooks)


def examine(path: Path, chosen: dict[str, Variation]) -> tuple[float, list[str]]:
    """The processor time of a page or notebook on this machine, and what changes under these variations."""
    with tempfile.TemporaryDirectory() as name:
        folders = iter(Path(name, str(number)) for number in range(len(chosen) + 1))

        def seen(variation: Variation) -> Seen:
            folder = next(folders)
            folder.mkdir()
            return run(path, variation, folder)

        plain = seen(Variation())
        lines = [f"    this machine: failed: {text}" for text in plain.failed]
        for label, variation in chosen.items():
            lines += [f"    {label}: {line}" for line in differences(plain, seen(variation))]
    return plain.seconds, lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--python", nargs="+", default=[])
    parser.add_argument("--exclude", choices=["pages", "notebooks"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    known = variations()
    if given.list:
        print(*known, sep="\n")
        return 0
    unknown = sorted(set(given.only) - set(known))
    if unknown:
        parser.error(f"this machine has no variation {unknown[0]!r}; it has: {', '.join(known)}")
    chosen = {name: known[name] for name in (given.only or ([] if given.python else known))}
    chosen |= {python: Variation(python=python) for python in given.python}
    paths = [path.resolve() for path in given.paths] or everything(given.exclude)
    print(f"{len(paths)} pages and notebooks under: {', '.join(chosen)}", flush=True)
    different = 0
    with ThreadPoolExecutor(given.jobs) as pool:
        for path, (seconds, lines) in zip(paths, pool.map(lambda path: examine(path, chosen), paths), strict=True):
            different += bool(lines)
            print(f"{os.path.relpath(path, ROOT)}  {seconds:.1f} s", *lines, sep="\n", flush=True)
    print(f"{different} of {len(paths)} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
