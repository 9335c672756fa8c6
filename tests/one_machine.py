"""What this machine makes of the course, for `test_machines.py`: `python one_machine.py ROOT FOLDER`.

FOLDER holds a copy of `grader/data/`, which is recorded anew. What is said, as JSON: which kernels are in use and what
they compute, a hash of each exercise's inputs for two seeds, the files that recording changed, and the report on each
mistake.
"""

import hashlib
import json
import sys
from functools import cache
from pathlib import Path

import numpy as np
import torch
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from grader.author import record
from grader.checking.evaluate import evaluate
from grader.codec import encode
from grader.manifest import load_manifest
from grader.released import Released, cases_tree

PUBLIC, HIDDEN = 0, 7


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def kernels() -> dict[str, str]:
    """The bits of what NumPy and its BLAS compute, in which kernels differ."""
    x = np.random.default_rng(0).normal(size=(60, 60))
    computed = {"tanh": np.tanh(x), "exp": np.exp(x), "log": np.log(np.abs(x)), "product": x @ x}
    return {name: digest(values.tobytes()) for name, values in computed.items()}


def inputs(root: Path, place) -> dict[int, str]:
    spec = record.load_spec(root, place)
    drawn = {seed: record.draw_checks(root, place, spec, seed, seed == PUBLIC) for seed in (PUBLIC, HIDDEN)}
    return {seed: digest(encode(cases_tree(checks))) for seed, checks in drawn.items()}


def reports(place, made, released: Released) -> dict[str, str]:
    """What a student reads who makes a mistake: what it gives here, beside what is recorded."""
    shipped, texts = released.checks(place.exercise.id), released.messages(place.exercise.id).mistakes
    return {
        f"{place.exercise.id} {name} {number}": repr(evaluate(place, shipped, texts, observations))
        for name, variants in made.misconceptions.items()
        for number, observations in enumerate(variants)
    }


def main(root: Path, data: Path) -> None:
    places, compute = load_manifest(root / "course.toml").places, record.public_checks
    made = cache(lambda name: compute(root, places[name]))
    record.public_checks = lambda _, place: made(place.exercise.id)  # once, for what is recorded and for the reports
    released, said = Released(data), {"inputs": {}, "reports": {}}
    said["kernels"] = kernels()
    said["numpy"] = [feature for feature in __cpu_dispatch__ if __cpu_features__.get(feature)]
    said["torch"] = torch.backends.cpu.get_cpu_capability()
    said["changed"] = sorted(path.name for path in record.record(root, data))
    for name, place in places.items():
        said["inputs"][name] = inputs(root, place)
        said["reports"] |= reports(place, made(name), released)
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
