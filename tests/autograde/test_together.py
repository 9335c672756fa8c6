"""Notebooks of one student share a child, with the same output and points as in separate children."""

import numpy as np
import pytest

from grader.checking.case import Case
from grader.inside.frames import NOT_KEPT, Cell, ExerciseCases, Request
from grader.manifest import Limits
from grader.running.runner import run_submission
from grader.running.sandbox import Sandbox
from grader.running.together import run_together
from grader.running.unsandboxed import Plain

LIMITS = Limits(seconds_per_exercise=1, seconds_per_cell=1, output_bytes=50)
PUBLIC, HIDDEN = (tuple(Case({}, {"x": np.full(2, value)}) for value in values) for values in ((1.0, 2.0), (3.0,)))


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox(LIMITS) as sandbox:
        yield sandbox


@pytest.fixture(params=["sandbox", "plain"])
def starter(request, sandbox):
    return sandbox if request.param == "sandbox" else Plain()


def notebook(*cells):
    """A notebook of these cells; a check of one letter's function stands as that letter."""
    checks = [cell for cell in cells if len(cell) == 1]
    listed = [
        Cell(index, "" if cell in checks else cell, *([cell, True] if cell in checks else ()))
        for index, cell in enumerate(cells)
    ]
    return Request(tuple(listed), {name: ExerciseCases("call", PUBLIC, HIDDEN) for name in checks}, LIMITS)


def doubles(name, body="return 2 * x"):
    return f"def {name}(x):\n    {body}\n"


def shown(outcome):
    """What may be seen of an outcome, as plain values."""
    results = {
        (part is outcome.public, name): [
            (o.raised, None if o.result is None else np.asarray(o.result).tolist()) for o in seen
        ]
        for part in (outcome.public, outcome.observations)
        for name, seen in part.items()
    }
    return outcome.ends, results, sorted((fault.kind, fault.cell) for fault in outcome.faults)


def alone(requests, starter):
    return [run_submission(request, starter) for request in requests]


RIGHT = [
    notebook("import numpy as np", doubles("a"), "a", "a(np.ones(2))"),
    notebook("import numpy as np", doubles("b", "return 2 * np.tanh(x)"), "b", "1 / 0"),
    notebook("c = None", doubles("c", "return b(x)"), "c", "print('last')"),
]
ODD = {
    "ends": doubles("b", "import os; os._exit(0)"),
    "never returns": doubles("b", "while True: pass"),
    "ends on hidden cases": doubles("b", "return x if x[0] < 3 else __import__('os')._exit(0)"),
    "never returns on hidden cases": doubles("b", "while x[0] == 3: pass\n    return x"),
    "takes all memory": doubles("b", "return [0] * 10**10"),
}


def test_one_child_is_enough(starter, monkeypatch):
    def none(*_):
        raise AssertionError("one child should have done")

    due = [shown(outcome) for outcome in alone(RIGHT, starter)]
    monkeypatch.setattr("grader.running.together.run_submission", none)
    assert [shown(outcome) for outcome in run_together(RIGHT, starter)] == due
    assert due[2][1][True, "c"][0][0].text == "name 'b' is not defined"
    assert due[1][0][3].raised.lines[-1].text == "line 1, in <module>: 1 / 0"


@pytest.mark.parametrize("odd", ODD)
def test_what_goes_wrong_in_one_costs_it_alone(starter, odd):
    requests = [RIGHT[0], notebook("n = 1", ODD[odd], "b", "n"), RIGHT[2]]
    assert [shown(outcome) for outcome in run_together(requests, starter)] == [
        shown(outcome) for outcome in alone(requests, starter)
    ]


@pytest.mark.parametrize("cell", ["import os; os._exit(0)", "while True: pass"])
def test_a_cell_that_ends_the_child_costs_its_notebook_alone(starter, cell):
    requests = [RIGHT[0], RIGHT[1], notebook(doubles("c"), "c", cell, "5")]
    found = run_together(requests, starter)
    assert [shown(outcome) for outcome in found] == [shown(outcome) for outcome in alone(requests, starter)]
    assert [len(outcome.faults) for outcome in found] == [0, 0, 1]


def test_each_begins_with_the_same_randomness_and_room_to_print(starter):
    cells = ("import random, numpy as np", "random.random(), np.random.random()", "print('x' * 60)", "print('y')")
    first, second = run_together([notebook(*cells), notebook(*cells)], starter)
    assert shown(first) == shown(second)
    assert first.ends[1].value == shown(alone([notebook(*cells)], starter)[0])[0][1].value
    assert len(first.ends[2].printed) > 50
    assert first.ends[3].printed == NOT_KEPT


def test_the_last_one_reaches_no_cases_of_the_others(starter):
    last = notebook("import numpy, __main__", "numpy.tanh = lambda x: 0 * x", doubles("c"), "c")
    first, second = run_together([RIGHT[1], last], starter)
    assert shown(first) == shown(run_submission(RIGHT[1], starter))
    assert shown(second)[1][True, "c"][0] == (None, [2.0, 2.0])


def test_no_hidden_case_is_sent_before_all_public_ones_are_answered(sandbox):
    """Not even to another notebook: a later one might show it."""
    told = doubles("a", "open('told', 'a').write(f'{x[0]:g}')\n    return 2 * x")
    tells = doubles("c", "import os\n    return open('told').read() if os.path.exists('told') else ''")
    _, last = run_together([notebook(told, "a"), notebook(tells, "c")], sandbox)
    assert [o.result for o in last.public["c"]] == ["12", "12"]


def test_what_was_shown_before_the_seal_is_kept_and_nothing_after_it(starter):
    """Hidden cases that end the process are answered in another, which keeps no cell and no public case."""
    counts = "import os\nprint(open('/dev/urandom', 'rb').read(4).hex())"
    odd = notebook(counts, ODD["ends on hidden cases"], "b")
    first, second = run_together([RIGHT[0], odd], starter)
    assert shown(first) == shown(run_submission(RIGHT[0], starter))
    assert [fault.kind for fault in second.faults] == ["died"]
    assert second.sealed
    assert list(second.public) == ["b"]
    assert not second.observations


def test_a_timeout_in_the_shared_child_is_not_tried_with_a_part_of_the_limit_again(sandbox, monkeypatch):
    patience = []
    real = run_submission

    def watched(request, starter, outcome, trust):
        patience.append(trust.patience)
        return real(request, starter, outcome, trust)

    monkeypatch.setattr("grader.running.together.run_submission", watched)
    requests = [RIGHT[0], notebook(ODD["never returns"], "b")]
    assert [fault.kind for fault in run_together(requests, sandbox)[1].faults] == ["timeout"]
    assert patience == [0.25, 1.0]
