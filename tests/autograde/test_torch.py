"""PyTorch in the sandbox: it is imported once, its shared pages are not counted, and copies of a process can use it."""

import subprocess
import sys

import numpy as np
import pytest

from grader.checking.case import Case
from grader.codec import MAX_BYTES, encode
from grader.inside.frames import Cell, ExerciseCases, Request, read_request, request_bytes
from grader.manifest import Limits
from grader.running.runner import run_submission
from grader.running.sandbox import Sandbox, setup_tree
from grader.running.seccomp import filters

torch = pytest.importorskip("torch")

LIMITS = Limits(preload=("numpy", "json", "torch"), memory_mb=64, seconds_per_exercise=20, seconds_per_cell=20)
OPERATIONS = """
def operations(x):
    x = torch.from_numpy(x).requires_grad_()
    lstm = torch.nn.LSTM(16, 16, batch_first=True).double()
    lstm(torch.ones(8, 30, 16).double())[0].sum().backward()
    (x @ x).tanh().sum().backward()
    return np.array([torch.get_num_threads(), torch.get_num_interop_threads(), len(lstm.bias_ih_l0.grad)])
"""
CASE = Case({}, {"x": np.ones((300, 300))})


@pytest.fixture(scope="module")
def run():
    """Run cells, or at the name of an exercise its cases, in a sandbox that has PyTorch ready."""
    with Sandbox(LIMITS) as sandbox:

        def run(*sources, exercises=("operations",)):
            cells = [Cell(i, "" if s in exercises else s, s if s in exercises else None) for i, s in enumerate(sources)]
            cases = dict.fromkeys(exercises, ExerciseCases("call", (CASE,), (CASE,)))
            return run_submission(Request(tuple(cells), cases, LIMITS), sandbox)

        yield run


def test_a_fork_uses_it_with_one_thread_in_little_memory(run):
    """Its own pages alone are some 100 MB, shared between all copies of the warm process."""
    for _ in range(2):
        outcome = run("import torch, numpy as np", OPERATIONS, "operations", "x = operations(np.ones((300, 300)))")
        assert (outcome.faults, outcome.children) == ([], 1)
        assert [end.raised for end in outcome.ends.values()] == [None] * 4
        for found in (outcome.public, outcome.observations):
            assert found["operations"][0].result.tolist() == [1, 1, 64]


def test_threads_that_a_cell_has_started_do_not_block_the_cases(run):
    started = "torch.set_num_threads(4)\nx = torch.ones(700, 700)\nfloat((x @ x).tanh().sum())"
    outcome = run("import torch, numpy as np", OPERATIONS, started, "operations")
    assert (outcome.faults, outcome.ends[2].raised) == ([], None)
    assert outcome.observations["operations"][0].result.tolist() == [1, 1, 64]


def test_every_notebook_in_every_worker_draws_the_same_numbers(run):
    due = torch.rand(3, generator=torch.Generator().manual_seed(0)).tolist()
    assert run("import torch\ntorch.rand(3).tolist()").ends[0].value == repr(due)


TAKES = "torch.ones(42 << 17, dtype=torch.float64)"  # 44 MB
SLEEPS = "    import time\n    time.sleep({})\n    return x"


def test_its_own_memory_is_bounded_still(run):
    """44 MB in the notebook's process and 44 MB in an older fork of it: neither alone has too much."""
    function = f"def operations(x):\n    more = {TAKES}\n{SLEEPS.format(15)}"
    outcome = run("import torch", function, "operations", f"kept = {TAKES}")
    assert [fault.kind for fault in outcome.faults] == ["memory"]


def test_what_a_fork_shares_with_its_notebook_counts_once(run):
    outcome = run("import torch", f"kept = {TAKES}", f"def operations(x):\n{SLEEPS.format(1)}", "operations")
    assert outcome.faults == []
    assert outcome.observations.keys() == {"operations"}


def test_files_beyond_what_the_codec_carries(run):
    files = {"a.bin": bytes(range(256)) * 40_000, "b.bin": b"", "c.bin": b"x" * MAX_BYTES}
    cells = (Cell(0, "import os\n{name: os.path.getsize(name) for name in sorted(os.listdir())}"),)
    request = Request(cells, {}, LIMITS, files)
    assert read_request(request_bytes(request)).files == files
    with Sandbox(Limits(seconds_per_cell=20)) as sandbox:
        shown = run_submission(request, sandbox).ends[0].value
    assert shown == repr({name: len(content) for name, content in files.items()})


FIRST_TIMES = """
import sys, torch
before = {*sys.modules}
embedding, model = torch.nn.Embedding(5, 3), torch.nn.LSTM(3, 4, batch_first=True)
states, _ = model(embedding(torch.zeros(1, 2, dtype=torch.int64)))
torch.nn.functional.cross_entropy(states[0], torch.zeros(2, dtype=torch.int64)).backward(retain_graph=True)
weights = [*model.parameters()]
torch.autograd.grad(states, weights, torch.ones_like(states))
sorted({*sys.modules} - before), torch.get_default_dtype(), torch.is_grad_enabled()
"""


def test_what_a_first_gradient_imports_is_there_before_the_notebook(run):
    assert run(FIRST_TIMES).ends[0].value == "([], torch.float32, True)"


WARM = """
import os, sys
from grader.inside.zygote import warmed_up
from grader.codec import decode
warmed_up(decode(sys.stdin.buffer.read()))
print(len(os.listdir("/proc/self/task")))
"""


def test_the_warm_process_has_a_single_thread():
    setup = encode(setup_tree(LIMITS, filters(), None))
    found = subprocess.run([sys.executable, "-c", WARM], input=setup, check=True, stdout=subprocess.PIPE)
    assert int(found.stdout) == 1
