"""The worked numbers of `by_hand`, `logits_and_embedding` and `through_time`, read from their prose and recomputed."""

import json
from functools import partial

import numpy as np
import pytest
import torch

from solutions.ch02_bptt.logits_and_embedding import softmax
from tests.conftest import exercise
from tests.prose import arrays, check_shown, matrices, numbers, products, run_notebook, section, table

prose = partial(section, "ch02_bptt")


def expected(exercise_id, **inputs):
    """What autograd gives."""
    return exercise(exercise_id).spec.oracle(**inputs)


def test_the_softmax_that_is_given_is_pytorch_s():
    z = np.random.default_rng(0).normal(size=(3, 4, 5)) + 1000
    for axis in (0, 1, 2, -1):
        np.testing.assert_allclose(softmax(z, axis), torch.softmax(torch.from_numpy(z), axis).numpy(), rtol=1e-12)


def test_cross_entropy_backward():
    text = prose("logits_and_embedding", "The gradient at the logits")
    z, p, first_term, d = ([float(cell) for cell in row[1:] if cell] for row in table(text, "| id 0 |"))
    probs = torch.softmax(torch.tensor(z, dtype=torch.float64), 0).numpy()
    check_shown(p, [*probs, 1])
    check_shown(first_term[:3], [-1, 0, 0])
    check_shown(d, [*(probs + first_term[:3]), 0])

    positions = table(text, "| position |")
    own, shared = ([numbers(row[i]) for row in positions] for i in (1, 2))
    second = numbers(text.partition("At the second position")[2].partition("id 2")[0])
    logits, targets = np.array([[z, second]]), np.array([[0, 2]])
    dlogits = expected("cross_entropy_backward", logits=logits, targets=targets)[0]
    check_shown(own, 2 * dlogits)
    check_shown(shared[0], dlogits[0])
    assert positions[1][2] == "?"


def test_a_step_of_one_number_each():
    text = prose("by_hand", "One step, backward")
    line = text.partition("# Suppose $x_t$")[2].partition("\n#\n")[0].replace("\n#", "")
    values = dict(zip(("x_t", "h_prev", "W_xh", "W_hh", "b_h", "a_t", "h_t", "dh_t"), numbers(line), strict=True))
    b_h, a_t = values.pop("b_h"), values.pop("a_t")
    assert a_t == pytest.approx(values["x_t"] * values["W_xh"] + values["h_prev"] * values["W_hh"] + b_h)
    check_shown(values["h_t"], np.tanh(a_t))
    x_t, dh_prev, dW_xh, dW_hh, db_h = (
        g.item() for g in expected("rnn_step_backward", **{k: np.array([[v]]) for k, v in values.items()})
    )
    rows = table(text, "| gradient with respect to |")
    shown = dict(zip(("da", "dx_t", "dh_prev", "dW_xh", "dW_hh", "db_h"), (row[2] for row in rows), strict=True))
    for name, value in {"dx_t": x_t, "dh_prev": dh_prev, "dW_xh": dW_xh, "dW_hh": dW_hh, "db_h": db_h}.items():
        assert products(shown[name]) == pytest.approx(value), name
    assert products(shown["da"]) == pytest.approx(db_h)
    assert "1 - h_t^2" in rows[0][1]


def test_a_step_of_one_row():
    text = prose("by_hand", "One step, backward")
    inputs = matrices(text)
    inputs["h_prev"] = inputs.pop("h_t-1")
    example = exercise("rnn_step_backward").spec.example.inputs
    assert {name: value.tolist() for name, value in inputs.items()} == {k: v.tolist() for k, v in example.items()}
    dx_t, _, dW_xh, _, db_h = expected("rnn_step_backward", **inputs)
    a_t = inputs["x_t"] @ inputs["W_xh"] + inputs["h_prev"] @ inputs["W_hh"] + arrays(text)["b_h"]
    check_shown(inputs["h_t"], np.tanh(a_t))

    line = text.partition("$da_t$ = ")[2].partition("\n")[0]
    check_shown(numbers(line)[-2:], db_h)
    for row, value in zip(table(text, "from unit 0"), dx_t[0], strict=True):
        *parts, together = row[1:]
        assert sum(map(products, parts)) == pytest.approx(value)
        check_shown(float(together), value)
    for row, values in zip(table(text, "| `dW_xh` | to unit 0 |"), dW_xh, strict=True):
        assert [products(cell) for cell in row[1:]] == pytest.approx(values)


def test_a_sequence_of_one_number_each():
    text = prose("through_time", "The whole sequence, backward")
    steps, parts = table(text, "| derivative,"), table(text, "| part of `dW_xh` | part of `dW_hh` | part of `db_h` |")
    W_xh, W_hh, b_h, h_0 = numbers(text.partition("three steps.\n")[2].partition("\n")[0])
    assert [int(row[0]) for row in steps] == [2, 1, 0]
    dh = np.array([float(row[1]) for row in steps])[::-1].copy()
    x = np.array([float(row[1]) for row in parts[:3]])[::-1].copy()
    before = np.array([float(row[2]) for row in parts[:3]])[::-1].copy()
    slopes = np.array([float(row[4]) for row in steps])[::-1].copy()
    assert before[0] == h_0
    inputs_and_states = numbers(text.partition("three inputs were")[2].partition("\n")[0])
    np.testing.assert_array_equal(x, inputs_and_states[:3])
    h = np.array(inputs_and_states[3:])
    np.testing.assert_allclose(1 - h**2, slopes)
    np.testing.assert_array_equal(before[1:], h[:-1])
    check_shown(h, np.tanh(x * W_xh + before * W_hh + b_h))
    dx, dh_0, dW_xh, dW_hh, db_h = expected(
        "rnn_backward",
        dh=dh[None, :, None],
        x=x[None, :, None],
        h_0=np.array([[h_0]]),
        h=h[None, :, None],
        W_xh=np.array([[W_xh]]),
        W_hh=np.array([[W_hh]]),
    )
    dh_next = 0.0
    for row in steps:
        assert float(row[2]) == pytest.approx(dh_next)
        assert float(row[3]) == pytest.approx(float(row[1]) + dh_next)
        assert products(row[5]) == pytest.approx(float(row[3]) * float(row[4]))
        dh_next = products(row[6])
        assert dh_next == pytest.approx(products(row[5]) * W_hh)
    assert dh_next == pytest.approx(dh_0.item())
    assert f"`dh_0` = {dh_0.item():.2f}" in text
    factor, *shown = numbers(text.partition("is `da_t` · (")[2])[:4]
    assert factor == W_xh
    assert shown == pytest.approx(dx[0, :, 0])
    sums = [float(cell) for cell in parts[3][3:]]
    assert sums == pytest.approx([dW_xh.item(), dW_hh.item(), db_h.item()])
    columns = np.array([[float(cell) for cell in row[3:]] for row in parts[:3]])
    np.testing.assert_allclose(columns.sum(axis=0), sums)


def test_a_sequence_of_one_row():
    text = prose("through_time", "The whole sequence, backward")
    inputs = matrices(text)
    inputs["x"], inputs["h"], inputs["dh"] = (inputs[name][None] for name in ("x", "h", "dh"))
    example = exercise("rnn_backward").spec.example.inputs
    assert {name: value.tolist() for name, value in inputs.items()} == {k: v.tolist() for k, v in example.items()}

    h = inputs["h_0"]
    for t, shown in enumerate(inputs["h"][0]):
        h = np.tanh(inputs["x"][:, t] @ inputs["W_xh"] + h @ inputs["W_hh"] + arrays(text)["b_h"]).round(2)
        check_shown(shown, h[0])

    last = {**inputs, "h_0": inputs["h"][:, 0]}
    for name in ("dh", "x", "h"):
        last[name] = inputs[name][:, 1:]
    dx, back, dW_xh, dW_hh, db_h = expected("rnn_backward", **last)
    rest = text.partition("One sequence, half worked out")[2]
    second, first = table(rest, "| derivatives |")
    check_shown(numbers(second[4]), 1 - inputs["h"][0, 1] ** 2)
    check_shown(numbers(second[5]), db_h)
    check_shown(numbers(second[6]), back[0])
    assert numbers(first[2]) == numbers(second[6])
    check_shown(numbers(first[3]), inputs["dh"][0, 0] + back[0])
    check_shown(numbers(first[4]), 1 - inputs["h"][0, 0] ** 2)
    part = table(rest, "| t | `dx[0, t]` |")[0]
    check_shown(float(part[1]), dx.item())
    check_shown(numbers(part[2]), dW_xh[0])
    check_shown(json.loads(part[3]), dW_hh)
    check_shown(numbers(part[4]), db_h)
    sum_of_products = rest.partition("so its `dh_next` is ")[2].partition(".\n")[0]
    assert products(sum_of_products) == pytest.approx(back[0, 0])


def test_embedding_backward():
    text = prose("logits_and_embedding", "The gradient of an embedding")
    copies = table(text, "`ids[0, t]`")
    ids = np.array([[int(row[1]) for row in copies]])
    de = np.array([[numbers(row[2]) for row in copies]])
    rows = table(text, "| row of `dE` |")
    dE = expected("embedding_backward", de=de, ids=ids, vocab_size=len(rows))
    check_shown([numbers(row[1]) for row in rows], dE)
    for v, row in enumerate(rows):
        where = [f"t = {t}" for t in np.flatnonzero(ids[0] == v)]
        assert row[2] == (f"copied at {' and '.join(where)}" if where else "never copied")
    sentence = text.partition("Text is full")[2].partition(".")[0]
    assert ("Text is full" + sentence).count("e") > 10


def run_all(notebook, capsys, changed=lambda source: source):
    """What each code cell of the notebook prints with the solutions filled in, and the final namespace."""
    namespace, printed = run_notebook("ch02_bptt", notebook, capsys, changed)
    return printed, namespace


def compared(printed, name):
    """The numbers after each name in the cell that students compare with their own."""
    lines = [line.partition("[") for line in next(text for text in printed if name in text).splitlines()]
    return {first.strip(): json.loads(bracket + values) for first, bracket, values in lines}


def test_what_was_written_down_can_be_compared(capsys, session):
    shown = compared(run_all("logits_and_embedding", capsys)[0], "position 1")
    positions = table(prose("logits_and_embedding", "The gradient at the logits"), "| position |")
    check_shown(shown.pop("position 1"), np.array(numbers(positions[1][1])) / 2)
    assert not shown
    for notebook, exercise_id in (("by_hand", "rnn_step_backward"), ("through_time", "rnn_backward")):
        found = compared(run_all(notebook, capsys)[0], "db_h ")
        checks = exercise(exercise_id).spec
        for output, value in zip(checks.outputs, checks.oracle(**checks.example.inputs), strict=True):
            check_shown(found.pop(output.name), value)
        assert not found


@pytest.mark.parametrize("body", ["raise NotImplementedError('not yet')", "return None", "return 0", "return []"])
@pytest.mark.parametrize("notebook", ["by_hand", "logits_and_embedding", "through_time"])
def test_the_cells_below_wait_for_functions_that_give_nothing(notebook, body, capsys, session):
    def unfinished(source):
        defines = source.startswith("def ") and "_backward(" in source.partition("\n")[0]
        return source.partition("\n")[0] + f"\n    {body}" if defines else source

    printed, _ = run_all(notebook, capsys, unfinished)
    assert sum("This cell waits for your code.  " in text for text in printed) == 2


def shown_after(text):
    """The numbers of two decimals in each printed line, by its update."""
    return {int(line.split()[1]): numbers(line) for line in text.splitlines()}


def test_a_saturated_unit_hardly_moves_for_sixty_updates(capsys, session):
    (*_, text), after = run_all("by_hand", capsys)
    units = shown_after(text)
    error = [abs(state - 0.5) for state in units[0]]
    assert 2.8 < error[1] / error[0] < 3.2
    assert round(1 - np.tanh(-3) ** 2, 2) == 0.01
    assert units[10][0] < units[20][0] == 0.5
    assert abs(units[60][1] - units[0][1]) < 0.03
    assert units[90][1] < 0 < 0.4 < units[95][1]
    assert units[100][1] < units[110][1] == 0.5
    assert not after["dW_hh"].any()


def test_a_model_without_a_state_stops_at_the_best_bigram(capsys, session):
    (*_, text), after = run_all("logits_and_embedding", capsys)
    rows = shown_after(text)
    losses = [loss for loss, *_ in rows.values()]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == pytest.approx(np.log(4), abs=0.01)
    assert losses[-1] == round(np.log(2) / 2, 2) == 0.35
    assert after["loss"] > np.log(2) / 2
    assert rows[500][1:] == [0.00, 0.00, 0.50, 0.50]


def test_the_gradient_shrinks_or_grows_with_the_size_of_W_hh(capsys, session):
    (*_, text), _ = run_all("through_time", capsys)
    small, middle, large = (
        np.array([numbers(line.partition("]")[2])[0] for line in part.splitlines() if "x[" in line])
        for part in text.split("size")[1:]
    )
    assert small[:8].max() < 0.1
    assert small.argmax() == 11
    assert middle[0] > 0.2
    assert middle[:4].mean() < middle[-4:].mean()
    assert large.argmax() == 0
