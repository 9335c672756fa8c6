"""The same result on every machine: what is committed and what students read, under two instruction sets.

NumPy, its BLAS, PyTorch and the C library choose their kernels by what the processor can do, and the last bits of what
they compute differ. Here one process has the best kernels of this machine, another the oldest that there are.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__

ROOT = Path(__file__).parents[1]
INTEL = platform.machine() in ("x86_64", "AMD64")
OLDEST = {
    "NPY_DISABLE_CPU_FEATURES": " ".join(__cpu_dispatch__),
    "OPENBLAS_CORETYPE": "Prescott" if INTEL else "ARMV8",
    "ATEN_CPU_CAPABILITY": "default",
    "MKL_CBWR": "COMPATIBLE",
    "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F",
}


def said_by_two_machines(folder: Path) -> list[dict]:
    """What the two processes say, the one with this machine's best kernels first."""
    plain = {name: value for name, value in os.environ.items() if name not in OLDEST}
    running = []
    for name, variables in (("best", {}), ("oldest", OLDEST)):
        data = shutil.copytree(ROOT / "grader" / "data", folder / name)
        command = [sys.executable, str(Path(__file__).with_name("one_machine.py")), str(ROOT), str(data)]
        env = {**plain, **variables, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=ROOT))
    said = [process.communicate()[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    return [json.loads(text) for text in said]


def differing(best: dict, oldest: dict) -> list[str]:
    return sorted(name for name in best.keys() | oldest.keys() if best.get(name) != oldest.get(name))


def test_inputs_recorded_outputs_and_reports_are_the_same_on_two_machines(tmp_path):
    best, oldest = said_by_two_machines(tmp_path)
    assert oldest["numpy"] == []
    assert oldest["torch"] in ("DEFAULT", "NO AVX")
    if INTEL and best["numpy"]:  # else this machine has but one set of kernels
        assert {"tanh", "product"} <= set(differing(best["kernels"], oldest["kernels"]))
    assert len(best["inputs"]) > 15
    assert len(best["reports"]) > 100
    # Where inputs differ: put what is computed on the grid, with `grader.author.spec.on_grid`.
    assert differing(best["inputs"], oldest["inputs"]) == []
    assert [machine["changed"] for machine in (best, oldest)] == [[], []]
    assert differing(best["reports"], oldest["reports"]) == []
