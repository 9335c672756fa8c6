"""Record the checks of the public cases in a data folder, with what students are told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from grader.checking.case import Tolerance
from grader.checking.compare import close
from grader.checking.gradients import AGREE
from grader.codec import CodecError, decode, deflate, encode, inflate
from grader.files import write_whole
from grader.manifest import Manifest, Place, load_manifest
from grader.released import CASES, FIXTURES, MESSAGES, OUTPUTS, OWN_JUDGE, cases_tree, outputs_tree, with_results
from grader.spec.compute import public_checks
from grader.spec.folders import fixtures_path, judge_path
from grader.spec.load import messages_text

FEW = 3  # exercises that are recorded sooner than other processes have started
SETTLED = 0.1  # of an exercise's tolerance: recorded outputs that differ by at most this are kept
SLOPES = {"gradients": Tolerance(AGREE, AGREE)}  # a part of an observation that is judged with a tolerance of its own


def record(root: Path, data: Path, workers: int = 1, which: Mapping[str, bool] | None = None) -> list[Path]:
    """Write the data folder of the whole course, computed by so many processes; return the changed files. Outputs that
    agree with the recorded ones to a tenth of the exercise's tolerance keep their old bytes.

    With `which`, only these exercises are recorded, and of those with False the hints and messages alone.
    """
    manifest = load_manifest(root / "course.toml")
    places = [place for name, place in manifest.places.items() if which is None or name in which]
    whole = [which is None or which[place.exercise.id] for place in places]
    files: dict[Path, bytes] = {}
    if workers == 1 or sum(whole) <= FEW:
        for place, everything in zip(places, whole, strict=True):
            files |= _files_of(root, data, place, everything)
    else:
        # `spawn`, because a fork has no copies of PyTorch's threads
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            for found in pool.map(_files_of, repeat(root), repeat(data), places, whole):
                files |= found
    copies = {data / "course.toml": root / "course.toml"}
    copies |= {data / FIXTURES.format(chapter.id): fixtures_path(root, chapter) for chapter in manifest.chapters}
    copies |= {data / OWN_JUDGE.format(name): judge_path(root, place) for name, place in manifest.places.items()}
    files |= {path: source.read_bytes() for path, source in copies.items() if source.exists()}
    changed = [path for path, content in files.items() if not path.exists() or path.read_bytes() != content]
    for path in changed:
        write_whole(path, files[path])
    dropped = [path for kind in (OWN_JUDGE, FIXTURES) for path in data.glob(kind.format("*")) if path not in files]
    for path in sorted({*stray(data, manifest), *dropped}):
        path.unlink()
        changed.append(path)
    return changed


def stray(data: Path, manifest: Manifest) -> list[Path]:
    """Files of a data folder that belong to no exercise."""
    known = {"course.toml", "__init__.py"} | {
        pattern.format(name) for name in manifest.places for pattern in (CASES, OUTPUTS, MESSAGES, OWN_JUDGE)
    }
    known |= {FIXTURES.format(chapter.id) for chapter in manifest.chapters}
    return sorted(path for path in data.glob("*") if path.is_file() and path.name not in known)


def _files_of(root: Path, data: Path, place: Place, everything: bool) -> dict[Path, bytes]:
    name = place.exercise.id
    files = {data / MESSAGES.format(name): messages_text(root, place).encode()}
    if everything:
        checks = public_checks(root, place)
        cases, outputs = data / CASES.format(name), data / OUTPUTS.format(name)
        files[cases] = _kept_or_new(cases, cases_tree(checks), lambda old, new: encode(old) == encode(new))
        files[outputs] = _kept_or_new(outputs, outputs_tree(checks), partial(_agree, tolerance=checks.tolerance))
    return files


def _kept_or_new(path: Path, new: Any, means_the_same: Callable[[Any, Any], bool]) -> bytes:
    """The bytes on file if they mean the same: compressed bytes differ between builds of zlib."""
    try:
        old = path.read_bytes()
        kept = means_the_same(inflate(old), decode(encode(new)))
    except (OSError, CodecError, KeyError, IndexError, TypeError):  # or those of another version
        kept = False
    return old if kept else deflate(new)


def _agree(old: Any, new: Any, tolerance: Tolerance) -> bool:
    """Whether the outputs are the same up to what floating-point results differ between CPUs. The allowed difference is
    a small part of the judge's tolerance, so a correct answer agrees with both.
    """
    return same(with_results(old), with_results(new), tolerance)


def same(a: Any, b: Any, tolerance: Tolerance) -> bool:
    """Whether two trees have the same form, and equal values up to a part of a tolerance in floating point."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return (a.dtype, a.shape) == (b.dtype, b.shape) and bool(close(a, b, tolerance, SETTLED).all())
    if isinstance(a, float):
        return bool(close(np.asarray(a), np.asarray(b), tolerance, SETTLED))
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], SLOPES.get(key, tolerance)) for key in a)
    return bool(a == b)
