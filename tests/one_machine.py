"""What this machine makes of the course, for `test_machines.py`: `python one_machine.py ROOT [CHAPTER]`.

As JSON: which kernels are in use and what they compute; for each exercise a hash of its inputs for two seeds; and the
exercises whose expected results are no longer those recorded. Of a CHAPTER also what its mistakes and altered inputs
give is compared with what is recorded, and the report on each mistake is told.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import torch
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from grader.checking.evaluate import evaluate
from grader.codec import encode
from grader.manifest import load_manifest
from grader.released import Released, cases_tree, outputs_tree, with_results
from grader.spec.compute import draw_checks, expected_checks, make_checks
from grader.spec.load import load_spec
from grader.spec.record import same

PUBLIC, HIDDEN = 0, 7


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def kernels() -> dict[str, str]:
    """The bits of what NumPy and its BLAS compute, in which kernels differ."""
    x = np.random.default_rng(0).normal(size=(60, 60))
    computed = {"tanh": np.tanh(x), "exp": np.exp(x), "log": np.log(np.abs(x)), "product": x @ x}
    return {name: digest(values.tobytes()) for name, values in computed.items()}


def reports(place, made, released: Released) -> dict[str, str]:
    """What a student reads who makes a mistake: what it gives here, beside what is recorded."""
    shipped, texts = released.checks(place.exercise.id), released.messages(place.exercise.id).mistakes
    return {
        f"{place.exercise.id} {name} {number}": repr(evaluate(place, shipped, texts, observations))
        for name, ways in made.mistakes.items()
        for number, observations in enumerate(ways)
    }


def is_as_recorded(made, recorded, mistakes: bool) -> bool:
    """Whether recording would keep the bytes: those of the cases are the same, and results agree closely."""
    parts = ("expected", "mistakes", "altered", "marks") if mistakes else ("expected",)
    new, old = ([with_results(outputs_tree(each))[part] for part in parts] for each in (made, recorded))
    return encode(cases_tree(made)) == encode(cases_tree(recorded)) and same(old, new, made.tolerance)


def main(root: Path, chapter: str = "") -> None:
    places, released = load_manifest(root / "course.toml").places, Released(root / "grader" / "data")
    said: dict = {"inputs": {}, "changed": [], "reports": {}, "kernels": kernels()}
    said["numpy"] = [feature for feature in __cpu_dispatch__ if __cpu_features__.get(feature)]
    said["torch"] = torch.backends.cpu.get_cpu_capability()
    for name, place in places.items():
        if chapter in ("", place.chapter.id):
            spec = load_spec(root, place)
            if chapter:
                made = make_checks(root, place, PUBLIC, True, spec)
            else:
                made = expected_checks(root, place, spec, PUBLIC, True)
            drawn = draw_checks(root, place, spec, HIDDEN, False)
            said["inputs"][name] = [digest(encode(cases_tree(each))) for each in (made, drawn)]
            said["reports"] |= reports(place, made, released) if chapter else {}
            said["changed"] += [] if is_as_recorded(made, released.checks(name), bool(chapter)) else [name]
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
