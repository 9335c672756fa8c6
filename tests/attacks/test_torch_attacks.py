"""PyTorch modules that cannot learn, or that know nothing, earn no point, whatever else their notebook does."""

import pytest
from torch_attacks import FAIR, UNEARNED, cells

from grader.checking.evaluate import evaluate
from grader.inside.frames import Cell, ExerciseCases, Request
from grader.manifest import Limits
from grader.running.runner import run_submission
from grader.running.sandbox import Sandbox
from grader.spec.folders import reference_path
from tests.conftest import ROOT, exercise
from tests.loops import for_each

pytest.importorskip("torch")

NAMES = ("CharLM", "Seq2Seq", "MapAttention", "AttentionDecoder")
FEW = ("no gradient: named_parameters is empty", "zero gradients: random numbers are drawn", "constants: zeros")
LIMITS = Limits(preload=("numpy", "torch"), memory_mb=800, seconds_per_exercise=20, seconds_per_cell=20)


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(LIMITS) as sandbox:
        yield sandbox


def graded(sandbox, name, base, more):
    """The verdict on a notebook whose class is the reference solution, changed by `base` and `more`."""
    found = exercise(name)
    source = reference_path(ROOT, found.place).read_text("utf-8")
    source = source[source.index(f"class {name}") :].split("\n# %%")[0]
    public, hidden = found.checks(0), found.checks(1)
    run = [Cell(i, text, None) for i, text in enumerate(cells(source, name, more, base))]
    run.append(Cell(len(run), "", name))
    cases = {name: ExerciseCases("module", public.cases[:2], hidden.cases)}
    outcome = run_submission(Request(tuple(run), cases, LIMITS), sandbox)
    observed = outcome.observations.get(name)
    assert (observed is None) == bool(outcome.faults), outcome.ends
    return None if observed is None else evaluate(found.place, hidden, found.messages.mistakes, observed)


def earned(verdict):
    return 0.0 if verdict is None else verdict.earned


@pytest.mark.parametrize("name", NAMES)
def test_a_few_attacks(sandbox, name):
    for attack in FEW:
        assert earned(graded(sandbox, name, *UNEARNED[attack])) == 0, attack
    assert graded(sandbox, name, "", FAIR["four threads in the module"])


@pytest.mark.system
@pytest.mark.parametrize("name", NAMES)
@for_each("attack", UNEARNED)
def test_nothing_is_earned(sandbox, name, attack):
    assert earned(graded(sandbox, name, *UNEARNED[attack])) == 0


@pytest.mark.system
@pytest.mark.parametrize("name", NAMES)
@for_each("case", FAIR)
def test_what_is_right_passes(sandbox, name, case):
    verdict = graded(sandbox, name, "", FAIR[case])
    assert verdict, verdict and verdict.to_json()
