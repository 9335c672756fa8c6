"""Processor time is that of all processes, also of those that end in the sandbox without being waited for."""

import json
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from autograding import measure, ours  # noqa: E402
from autograding.classes import CHAPTER, make_class  # noqa: E402

SECONDS = 2.0
SPIN = f"import time\nend = time.process_time() + {SECONDS}\nwhile time.process_time() < end: pass"
# Starts this in new namespaces, and kills the first process there when it has used its time.
KILLED = f"""
import subprocess, sys
inside = {SPIN + chr(10) + "print(flush=True)" + chr(10) + "time.sleep(1000)"!r}
command = ["bwrap", "--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc"]
with subprocess.Popen([*command, sys.executable, "-S", "-c", inside], stdout=subprocess.PIPE) as process:
    process.stdout.readline()
    process.kill()
"""

counted = pytest.mark.skipif(not measure.counts_everything(), reason="this kernel does not let us count")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(measure, "patience", 0.0)


@counted
def test_a_process_that_is_killed_in_its_namespace_counts(tmp_path):
    found = measure.run([sys.executable, "-S", "-c", KILLED], tmp_path)
    assert found.status == 0
    assert SECONDS <= found.cpu < 1.5 * SECONDS
    assert found.machine >= 0.95 * found.cpu  # which is counted in ticks


def test_without_a_counter_all_that_the_machine_did_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "_counter", lambda: nullcontext(None))
    found = measure.run([sys.executable, "-S", "-c", KILLED], tmp_path)
    assert found.cpu == found.machine >= 0.95 * SECONDS


@pytest.mark.system
@counted
def test_the_time_of_a_cell_in_the_sandbox_counts(tmp_path):
    make_class(tmp_path, 1)
    before = ours.grade(tmp_path, 1)["cpu_s"]
    path = min(tmp_path.glob(f"submitted/*/{CHAPTER}/*.ipynb"))
    tree = json.loads(path.read_text("utf-8"))
    tree["cells"].append(
        {"cell_type": "code", "id": "spin", "source": SPIN, "metadata": {}, "outputs": [], "execution_count": None}
    )
    path.write_text(json.dumps(tree), "utf-8")
    assert ours.grade(tmp_path, 1)["cpu_s"] - before >= 0.9 * SECONDS
