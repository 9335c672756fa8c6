"""A class of 30 in which five submissions stall, five return too much and five forge: the others' points stay."""

import json

import pytest
from right_work import RIGHT

from grader.gradebook import gradebook_url, open_gradebook
from grader.grading import pool
from grader.grading.chapter import autograde
from grader.grading.report import findings

CHAPTER = "ch01_vanilla_rnn"
HEAD = "def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):\n"
HONEST = [
    RIGHT["rnn_step"],
    RIGHT["rnn_step"].replace("np.tanh", "np.sin"),
    f"{HEAD}    return np.tanh(x_t @ W_xh)\n",
    f"{HEAD}    raise NotImplementedError('rnn_step: replace this line')\n",
    f"{HEAD}    return 1 / 0\n",
]
STALLING = [
    f"{HEAD}    while True:\n        pass\n",
    f"{HEAD}    import time\n    time.sleep(1_000)\n",
    f"{HEAD}    return rnn_step(x_t, h_prev, W_xh, W_hh, b_h) if len(x_t) else [n for n in iter(int, 1)]\n"
    + "import sys\nsys.setrecursionlimit(100)\n",
    f"{HEAD}    import threading\n    threading.Event().wait()\n",
    f"{HEAD}    return sum(iter(int, 1))\n",
]
HUGE = [
    f"{HEAD}    return [0.1] * 150_000\n",
    f"{HEAD}    return np.full((1_000, 1_500), 0.1)\n",
    f"{HEAD}    return 'ab' * 6_000_000\n",
    f"{HEAD}    return {{str(i): i for i in range(60_000)}}\n",
    f"{HEAD}    return [[[0.1] * 100] * 100] * 15\n",
]
FORGING = [
    "import grader.checking.evaluate as e\ne.evaluate = lambda *a, **k: True\n" + HONEST[2],
    "import os\nfor d in range(3, 60):\n    try:\n        os.write(d, b'x' * 100)\n    except OSError:\n        pass\n"
    + HONEST[2],
    "class Yes(np.ndarray):\n    def __eq__(self, other): return True\n"
    f"{HEAD}    return np.ones(h_prev.shape).view(Yes)\n",
    f"{HEAD}    import inspect\n    return inspect.stack()[1].frame.f_locals.get('expected')\n",
    "import numpy\nnumpy.tanh = numpy.sin\n" + HONEST[1],
]
CLASS = {f"honest{n:02}": HONEST[n % 5] for n in range(15)} | {
    f"{kind}{n}": code
    for kind, codes in (("stalling", STALLING), ("huge", HUGE), ("forging", FORGING))
    for n, code in enumerate(codes)
}


def submit(term, right, names):
    for name in names:
        tree = json.loads(json.dumps(right))
        for cell in tree["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == "rnn_step":
                cell["source"] = f"# {name}\n{CLASS[name]}"
        folder = term / "submitted" / name / CHAPTER
        folder.mkdir(parents=True)
        (folder / "recurrence.ipynb").write_text(json.dumps(tree))


def graded(course, term, execute):
    results = autograde(course, term, CHAPTER, execute, db_url=gradebook_url(term))
    return {each.student: each for each in results}


@pytest.mark.system
@pytest.mark.parametrize("execute", [pool.local(2), pool.dask(None, 2)], ids=["local", "dask"])
def test_a_class_of_thirty(small_course, tmp_path, right, execute):
    assert len(CLASS) == 30
    alone, whole = tmp_path / "alone", tmp_path / "whole"
    honest = [name for name in CLASS if name.startswith("honest")]
    submit(alone, right, honest)
    expected = graded(small_course, alone, pool.local(2))
    (whole / "hidden").mkdir(parents=True, mode=0o700)
    (whole / "hidden" / "seed").write_text((alone / "hidden" / "seed").read_text())
    (whole / "hidden" / "seed").chmod(0o600)
    submit(whole, right, CLASS)
    found = graded(small_course, whole, execute)
    assert [each.fault for each in found.values()] == [""] * 30
    for name in honest:
        assert found[name].verdicts == expected[name].verdicts, name
    for name in CLASS.keys() - set(honest):
        step, forward = (found[name].by_exercise[each] for each in ("rnn_step", "rnn_forward"))
        assert step.earned == 0, name
        if name.startswith("stalling") and name != "stalling2":
            assert step.status == "timeout"
        if name.startswith("huge"):
            whys = ("wrong type", "wrong shape", "64,000,000 bytes of results", "stopped after 2 s")
            assert any(why in step.note for why in whys), step
            assert forward, name
    named = {student for each in findings(found.values()) for student in each.students}
    assert {name for name in CLASS if name.startswith("stalling") and name != "stalling2"} <= named
    with open_gradebook(gradebook_url(whole)) as gradebook:
        recorded = {each.student.id: each.score for each in gradebook.find_assignment(CHAPTER).submissions}
    assert recorded == {name: found[name].earned for name in CLASS}
