"""Clipping equals PyTorch's, on sizes drawn at random and of size 1; the notebook's numbers; what its cells show."""

import json
import re
from functools import partial

import numpy as np
import pytest
import torch

from solutions.ch03_gradients.clipping import clip_by_norm, clip_by_value
from tests.conftest import exercise
from tests.loops import for_each
from tests.prose import check_shown, matrices, numbers, run_notebook, section, table

prose = partial(section, "ch03_gradients", "clipping")


def gradients(seed):
    """Up to five arrays of up to three axes, among them some of size 1, and one that is a single number."""
    rng = np.random.default_rng(seed)
    shapes = [tuple(rng.integers(1, 5, size=rng.integers(1, 4)).tolist()) for _ in range(rng.integers(1, 5))]
    size = 10.0 ** rng.integers(-3, 4)
    return [size * rng.normal(size=shape) for shape in [*shapes, ()]], size


def as_parameters(grads):
    parameters = [torch.nn.Parameter(torch.zeros(g.shape, dtype=torch.float64)) for g in grads]
    for parameter, g in zip(parameters, grads, strict=True):
        parameter.grad = torch.tensor(g)
    return parameters


def close(ours, theirs):
    for a, parameter in zip(ours, theirs, strict=True):
        assert np.shape(a) == tuple(parameter.grad.shape)
        np.testing.assert_allclose(a, parameter.grad.numpy(), rtol=1e-10, atol=1e-13)


@for_each("seed", range(30))
def test_clip_by_norm_is_pytorchs_apart_from_its_epsilon(seed):
    grads, size = gradients(seed)
    for limit in (0.3 * size, 3.0 * size, 300.0 * size):
        parameters = as_parameters(grads)
        norm = torch.nn.utils.clip_grad_norm_(parameters, limit).item()
        ours, before = clip_by_norm(grads, limit)
        assert before == pytest.approx(norm, rel=1e-12)
        if norm > limit:
            for parameter in parameters:
                parameter.grad *= (norm + 1e-6) / norm
        elif norm + 1e-6 > limit:
            continue
        close(ours, parameters)
        assert np.sqrt(sum(np.sum(g**2) for g in ours)) == pytest.approx(min(norm, limit), rel=1e-12)


@for_each("seed", range(30))
def test_clip_by_value_is_pytorchs(seed):
    grads, size = gradients(seed)
    for limit in (0.1 * size, size, 10.0 * size):
        parameters = as_parameters(grads)
        torch.nn.utils.clip_grad_value_(parameters, limit)
        close(clip_by_value(grads, limit), parameters)


def test_nothing_is_changed_in_place_and_zeros_stay_zeros():
    grads = [np.ones((2, 3)), np.ones(3)]
    for g in grads:
        g.flags.writeable = False
    clip_by_norm(grads, 0.5)
    clip_by_value(grads, 0.5)
    with np.errstate(all="raise"):
        clipped, norm = clip_by_norm([np.zeros((2, 3)), np.zeros(1)], 0.5)
    assert norm == 0
    assert not any(g.any() for g in clipped)


@pytest.mark.parametrize("name", ["clip_by_norm", "clip_by_value"])
def test_the_cases_have_every_kind_of_gradient(name):
    for seed in range(12):
        cases = exercise(name).checks(seed).cases
        outside = [
            np.concatenate([abs(g).ravel() for g in c.inputs["grads"]]) > c.inputs.get("limit", np.inf) for c in cases
        ]
        if name == "clip_by_value":
            assert sum(o.any() and not o.all() for o in outside) >= 4
            assert not all(o.any() for o in outside)
            continue
        norms = [[np.linalg.norm(g) for g in c.inputs["grads"]] for c in cases]
        limits = [c.inputs["max_norm"] for c in cases]
        pairs = list(zip(norms, limits, strict=True))
        assert any(np.linalg.norm(each) > limit > max(each) for each, limit in pairs)
        assert any(max(each) > limit > min(each) for each, limit in pairs)
        assert any(np.linalg.norm(each) == limit for each, limit in pairs)
        assert any(0 < np.linalg.norm(each) < limit for each, limit in pairs)
        assert any(not any(each) for each in norms)


def test_the_worked_neighbour():
    asked, factor, granted = table(prose("Clipping by norm"), "| first list |")
    first, second, (total,) = (np.array(numbers(cell)) for cell in asked[1:])
    budget = numbers(prose("Clipping by norm"))[0]
    assert total == first.sum() + second.sum()
    left, right = factor[3].split(" = ")
    assert numbers(left) == [budget, total]
    share = float(right)
    assert share == budget / total
    for cell, due in zip(granted[1:], (first, second, [total]), strict=True):
        check_shown(numbers(cell), share * np.array(due))


def test_the_gradient_that_is_begun():
    text, example = prose("Clipping by norm"), exercise("clip_by_norm").spec.example.inputs
    given = matrices(text)
    np.testing.assert_array_equal(given["dW"], example["grads"][0])
    np.testing.assert_array_equal(given["db"][0], example["grads"][1])
    assert f"`max_norm` = {example['max_norm']}" in text
    squares, norm = table(text, "| `dW` |")
    clipped, due = exercise("clip_by_norm").spec.oracle(**example)
    assert [numbers(cell)[-1] for cell in squares[1:]] == pytest.approx(
        [1.80, 0.16, sum(np.sum(g**2) for g in example["grads"])]
    )
    assert float(norm[3]) == pytest.approx(due)
    hint = exercise("clip_by_norm").messages.hints[2]
    assert f"norm is {due:.2f} and factor is {example['max_norm'] / due:.2f}" in hint
    flat = np.concatenate([g.ravel() for g in clipped])
    assert len(set(np.round(np.abs([*flat, due, example["max_norm"]]), 2))) == 5  # no coincidences


def test_the_example_that_is_half_worked_out():
    text, example = prose("Clipping by value"), exercise("clip_by_value").spec.example.inputs
    given = np.concatenate([g.ravel() for g in example["grads"]])
    line = next(line for line in text.split("\n") if "| entry |" in line)
    assert numbers(line) == given.tolist()
    assert f"`limit` = {example['limit']:.2f}" in text
    due = np.concatenate([g.ravel() for g in exercise("clip_by_value").spec.oracle(**example)])
    assert "0.50, -0.50, 0.40, -0.30" in exercise("clip_by_value").messages.hints[2].replace("−", "-")
    assert due.tolist() == [0.5, -0.5, 0.4, -0.3]
    assert table(text, "| entry |")[1][1:] == ["0.50", "", "", ""]


def run_all(capsys, changed=lambda source: source):
    """What each code cell of the notebook prints with the solutions filled in."""
    return run_notebook("ch03_gradients", "clipping", capsys, changed)[1]


def test_what_was_written_down_can_be_compared(capsys, session):
    by_norm, by_value = next(
        text for text in run_all(capsys) if "by norm   " in text and "limit" not in text
    ).splitlines()
    assert json.loads(re.search(r"\[.*\]", by_norm)[0]) == [[[0.45], [-0.9]], [0.3]]
    assert by_norm.endswith("1.4")
    assert json.loads(by_value[by_value.index("[") :]) == [0.5, -0.5, 0.4, -0.3]


@pytest.mark.parametrize("seed", range(4))
def test_only_clipping_by_value_turns_the_gradient(seed, capsys, session):
    *_, text = run_all(capsys, lambda source: source.replace("default_rng(0)", f"default_rng({seed})"))
    assert "entries: 272" in text
    rows = [re.findall(r"length +(\S+), turned by +(\d+)°", line) for line in text.splitlines() if "limit" in line]
    limits = [float(x) for x in re.findall(r"limit +(\S+)", text)]
    assert float(re.search(r"clipping: (\S+),", text)[1]) > 1e5
    assert [float(norm) for (norm, _), _ in rows] == limits
    assert {angle for (_, angle), _ in rows} == {"0"}
    angles = [int(angle) for _, (_, angle) in rows]
    assert angles == sorted(angles)
    assert 20 < angles[0] < 60
    assert 70 < angles[-1] < 90
    assert all(
        limit < float(length) < 1.02 * limit * np.sqrt(272)
        for (_, (length, _)), limit in zip(rows, limits, strict=True)
    )


@pytest.mark.parametrize("body", ["raise NotImplementedError('not yet')", "return None", "return 0", "return []"])
def test_the_cells_below_wait_for_functions_that_give_nothing(body, capsys, session):
    def unfinished(source):
        return source.partition("\n")[0] + f"\n    {body}" if source.startswith("def clip") else source

    assert sum("This cell waits for your code.  " in text for text in run_all(capsys, unfinished)) == 2
