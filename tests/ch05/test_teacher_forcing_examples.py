"""The worked numbers of the notebook `training`, recomputed, and what its last cell shows."""

import re

import numpy as np
import pytest
import torch

from grader.author.notebooks import instructor_notebook
from grader.manifest import load_manifest
from solutions.ch05_encoder_decoder.training import scheduled_inputs
from tests.conftest import exercise
from tests.prose import SOLUTIONS, section, table

MASKED, FORCED, SCHEDULED = (
    exercise(name) for name in ("masked_cross_entropy", "teacher_forced_loss", "scheduled_inputs")
)
HEADINGS = "Cross-entropy without the padding", "The loss with teacher forcing", "Inputs for scheduled sampling"
TEXTS = [section("ch05_encoder_decoder", "training", heading) for heading in HEADINGS]


def floats(cell):
    return [float(number) for number in cell.strip("*").split(", ")]


def losses(logits, targets):
    log_p = torch.log_softmax(torch.from_numpy(np.asarray(logits)), -1).numpy()
    return -np.take_along_axis(log_p, np.asarray(targets)[..., None], axis=-1)[..., 0]


def test_the_losses_of_the_padded_batch():
    given = MASKED.spec.example.inputs
    expected = losses(given["logits"], given["targets"])
    rows = table(TEXTS[0], "| row | t | logits |")
    assert len(rows) == given["mask"].size
    for row, t, logits, target, real, loss in rows:
        here = int(row), int(t)
        assert floats(logits) == given["logits"][here].tolist()
        assert int(target) == given["targets"][here]
        assert (real == "yes") == given["mask"][here]
        assert float(loss.strip("*")) == round(expected[here], 2)
    total, loss = expected[given["mask"]].sum(), MASKED.spec.oracle(**given)
    assert f"add up to {total:.2f}, so the result is {total:.2f} / {given['mask'].sum()} = {loss:.2f}" in TEXTS[0]
    assert f"With the padding it would be {expected.mean():.2f}" in TEXTS[0]
    zeros = given["targets"] == 0
    assert zeros[~given["mask"]].all()
    assert zeros[given["mask"]].sum() == 2  # "and so have two of the real tokens"


def test_the_decoder_with_a_table():
    given = FORCED.spec.example.inputs
    parameters = given["step"].params
    logits, children = parameters["logits"], parameters["children"]
    *known, other = table(TEXTS[1], "| state | `y_prev` |")
    for state, y_prev, new, numbers in known:
        assert children[int(state), int(y_prev)] == int(new)
        assert floats(numbers) == logits[int(new)].tolist()
    assert floats(other[3]) == logits[int(other[2])].tolist()
    assert (children != int(other[2])).sum() == len(known)


def test_the_steps_of_the_decoder():
    given = FORCED.spec.example.inputs
    parameters = given["step"].params
    state, y_prev, every = given["state"], np.full(2, given["sos_id"]), []
    for t, row in enumerate(table(TEXTS[1], "| t | `y_prev` of both rows |")):
        new = parameters["children"][state, y_prev]
        loss = losses(parameters["logits"][new], given["targets"][:, t])
        real = [f"{x:.2f}" if here else "*not counted*" for x, here in zip(loss, given["mask"][:, t], strict=True)]
        target = [
            "*padding*" if text == "*not counted*" else str(y)
            for text, y in zip(real, given["targets"][:, t], strict=True)
        ]
        for shown, due in zip(row[1:], (y_prev, state, new, target, real), strict=True):
            for cell, value in zip(shown.split(", "), due, strict=True):
                assert cell in ("?", str(value))
        every += loss[given["mask"][:, t]].tolist()
        state, y_prev = new, given["targets"][:, t]
    assert len(every) == 5
    assert round(np.mean(every), 2) == round(sum(round(loss, 2) for loss in every) / 5, 2) == 0.67
    assert "The mean over the five real tokens is 0.67" in TEXTS[1]
    assert np.mean(every) == pytest.approx(FORCED.spec.oracle(**{**given, "step": step_of(parameters)}))
    first = parameters["logits"][1]
    assert first.argmax() == 3 != given["targets"][1, 0]  # "the largest logit of row 1 is that of id 3"


def step_of(parameters):
    def step(y_prev, state):
        state = parameters["children"][state, y_prev]
        return parameters["logits"][state], state

    return step


def test_the_rows_of_scheduled_sampling():
    given = SCHEDULED.spec.example.inputs
    rows = table(TEXTS[2], "| row | `gold` |")
    for name, column in (("gold", 1), ("predicted", 2), ("use_gold", 3)):
        assert [row[column] for row in rows] == [str(value) for value in given[name].tolist()]
    for row, value in zip(rows, SCHEDULED.spec.oracle(**given), strict=True):
        assert row[4] in ("?", str(value))


def test_the_last_cell_shows_that_mistakes_add_up(capsys):
    root = SOLUTIONS.parent
    manifest = load_manifest(root / "course.toml")
    place = manifest.place("scheduled_inputs")
    cells = instructor_notebook(root, manifest, place.chapter, place.notebook).cells
    cell = next(cell.source for cell in cells if "def count_up" in cell.source)
    exec(cell, {"np": np, "scheduled_inputs": scheduled_inputs})
    shown = [float(number) for number in re.findall(r"right predictions ([\d.]+)%", capsys.readouterr().out)]
    assert shown[0] == 95  # one mistake in twenty
    assert shown == sorted(shown, reverse=True)
    assert shown[-1] == 30  # 0 to 5, and nothing after that
