"""The same result on every machine: what is committed and what students read, under two instruction sets.

NumPy, its BLAS, PyTorch and the C library choose their kernels by what the processor can do, and the last bits of what
they compute differ. Here one process has the best kernels of this machine, another the oldest that there are.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__

from grader.manifest import load_manifest
from tests.conftest import ROOT

MANIFEST = load_manifest(ROOT / "course.toml")
INTEL = platform.machine() in ("x86_64", "AMD64")
OLDEST = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(__cpu_dispatch__),
    "OPENBLAS_CORETYPE": "Prescott" if INTEL else "ARMV8",
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_CBWR": "COMPATIBLE",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F",
}


def said_by_two_machines(*chapter: str) -> list[dict]:
    """What the two processes say, the one with this machine's best kernels first."""
    plain = {name: value for name, value in os.environ.items() if name not in OLDEST}
    command = [sys.executable, str(Path(__file__).with_name("one_machine.py")), str(ROOT), *chapter]
    running = []
    for variables in ({}, OLDEST):
        env = {**plain, **variables, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=ROOT))
    said = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    best, oldest = (json.loads(text) for text in said)
    assert oldest["numpy"] == []
    assert oldest["torch"] in ("DEFAULT", "NO AVX")
    if INTEL and best["numpy"]:  # else this machine has but one set of kernels
        assert {"tanh", "product"} <= set(differing(best["kernels"], oldest["kernels"]))
    return [best, oldest]


def differing(best: dict, oldest: dict) -> list[str]:
    return sorted(name for name in best.keys() | oldest.keys() if best.get(name) != oldest.get(name))


def test_inputs_and_expected_results_are_the_same_on_two_machines():
    best, oldest = said_by_two_machines()
    assert len(best["inputs"]) == len(MANIFEST.places)
    # Where inputs differ: put what is computed on the grid, with `grader.spec.spec.on_grid`.
    assert differing(best["inputs"], oldest["inputs"]) == []
    assert [machine["changed"] for machine in (best, oldest)] == [[], []]


@pytest.mark.system
@pytest.mark.parametrize("chapter", [chapter.id for chapter in MANIFEST.chapters])
def test_what_mistakes_give_and_their_reports_are_the_same_on_two_machines(chapter):
    best, oldest = said_by_two_machines(chapter)
    assert len(best["reports"]) > 100
    assert [machine["changed"] for machine in (best, oldest)] == [[], []]
    assert differing(best["reports"], oldest["reports"]) == []
