"""The course's exercises: each mistake is named, each way of being right passes, and nothing is given a wrong name."""

import functools

import numpy as np
import pytest

from grader.manifest import load_manifest
from tests.conftest import ROOT, exercise
from tests.loops import for_each
from tests.nearly_right import fails, passes

MORE_SEEDS = range(3, 21)

IDS = tuple(load_manifest(ROOT / "course.toml").places)


# On a few seeds `grader lint` asks the same of every mistake and alternative.


@pytest.mark.slow
@pytest.mark.parametrize("exercise_id", IDS)
def test_every_misconception_fails_is_named_and_earns_what_it_keeps(exercise_id):
    subject = exercise(exercise_id)
    for name, mistake in subject.spec.misconceptions.items():
        for number, variant in enumerate(mistake.variants, 1):
            for seed in MORE_SEEDS:
                verdict = subject.verdict(variant, seed)
                kept = [facet for facet in verdict.facets if facet.name in mistake.keeps]
                assert len(kept) == len(mistake.keeps)
                told = verdict.diagnosis and (verdict.diagnosis.id, verdict.diagnosis.text)
                seen = verdict.status in ("failed", "error"), told, verdict.earned
                due = True, (name, subject.messages.mistakes[name]), sum(facet.points for facet in kept)
                assert seen == due, f"{name}, way {number}, with seed {seed}"


@pytest.mark.slow
@pytest.mark.parametrize("exercise_id", IDS)
def test_every_alternative_passes(exercise_id):
    for name, function in exercise(exercise_id).spec.alternatives.items():
        for seed in MORE_SEEDS:
            verdict = exercise(exercise_id).verdict(function, seed)
            assert (verdict.status, verdict.earned) == ("passed", verdict.points), f"{name} with seed {seed}"


# Nearly right, and wrong in ways that no spec names ------------------------------------------------------------------
# Beside each: the diagnosis that is true of it, if one is. Any other name would be a wrong one.


def relu(a):
    return np.maximum(a, 0)


def swapped_where_it_runs(x_t, h_prev, W_xh, W_hh, b_h):
    if x_t.shape == h_prev.shape:
        x_t, h_prev = h_prev, x_t
    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)


def W_xh_transposed_where_square(x_t, h_prev, W_xh, W_hh, b_h):
    W = W_xh.T if W_xh.shape[0] == W_xh.shape[1] else W_xh
    return np.tanh(x_t @ W + h_prev @ W_hh + b_h)


def bias_for_each_row(x_t, h_prev, W_xh, W_hh, b_h):
    return np.tanh(x_t @ W_xh + h_prev @ W_hh + np.resize(b_h, len(x_t))[:, None])


def half_precision_inside(x_t, h_prev, W_xh, W_hh, b_h):
    a = x_t.astype("f2") @ W_xh.astype("f2") + h_prev.astype("f2") @ W_hh.astype("f2") + b_h.astype("f2")
    return np.tanh(a).astype(float)


def single_precision_inside(x_t, h_prev, W_xh, W_hh, b_h):
    x_t, h_prev, W_xh, W_hh, b_h = (a.astype("f4") for a in (x_t, h_prev, W_xh, W_hh, b_h))
    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h).astype(float)


def a(x_t, h_prev, W_xh, W_hh, b_h):
    return x_t @ W_xh + h_prev @ W_hh + b_h


def h(*arguments):
    return np.tanh(a(*arguments))


def by_name(function):
    """An expression of the five arguments as a student's function, which takes them by name."""

    def student(x_t, h_prev, W_xh, W_hh, b_h):
        return function(x_t, h_prev, W_xh, W_hh, b_h)

    return student


WRONG_STEPS = {
    "W_hh twice": (by_name(lambda x, h_, W, U, b: np.tanh(x @ W + h_ @ U @ U + b)), set()),
    "W_hh with one row twice": (by_name(lambda x, h_, W, U, b: h(x, h_, W, np.vstack([U[:1], U[:-1]]), b)), set()),
    "symmetrised W_hh": (by_name(lambda x, h_, W, U, b: h(x, h_, W, (U + U.T) / 2, b)), set()),
    "tanh twice": (by_name(lambda *args: np.tanh(h(*args))), {"after: tanh"}),
    "bias twice": (by_name(lambda x, h_, W, U, b: h(x, h_, W, U, 2 * b)), {"counterfactual: doubled b_h"}),
    "bias subtracted": (by_name(lambda x, h_, W, U, b: h(x, h_, W, U, -b)), {"counterfactual: negated b_h"}),
    "bias of each row": (bias_for_each_row, set()),
    "only the first bias": (by_name(lambda x, h_, W, U, b: h(x, h_, W, U, b[0])), set()),
    "mean of the biases": (by_name(lambda x, h_, W, U, b: h(x, h_, W, U, b.mean())), set()),
    "state subtracted": (
        by_name(lambda x, h_, W, U, b: h(x, -h_, W, U, b)),
        {"counterfactual: negated h_prev | negated W_hh"},
    ),
    "relu of tanh": (by_name(lambda *args: relu(h(*args))), {"cut_off"}),
    "abs": (by_name(lambda *args: abs(h(*args))), {"after: absolute value"}),
    "sinh": (by_name(lambda *args: np.sinh(a(*args))), set()),
    "tanh of half": (by_name(lambda *args: np.tanh(a(*args) / 2)), {"pre_activation_halved"}),
    "logistic of half, no bias": (by_name(lambda x, h_, W, U, b: 1 / (1 + np.exp(-a(x, h_, W, U, 0 * b)))), set()),
    "mean over the batch": (by_name(lambda x, h_, *r: h(x, h_.mean(axis=0, keepdims=True), *r)), set()),
    "state of the first row": (by_name(lambda x, h_, *r: h(x, h_[:1], *r)), {"counterfactual: first_row h_prev"}),
    "swapped where it runs": (swapped_where_it_runs, set()),
    "W_xh transposed where square": (W_xh_transposed_where_square, set()),
    "float16 inside": (half_precision_inside, set()),
    "float32 inside": (single_precision_inside, {"lost_precision"}),
    "float32 weights": (by_name(lambda x, h_, W, U, b: h(x, h_, W.astype("f4"), U, b)), set()),
    "float32": (by_name(lambda *args: h(*args).astype(np.float32)), {"float32"}),
    "rounded": (by_name(lambda *args: h(*args).round(3)), {"rounded"}),
    "clipped": (by_name(lambda *args: h(*args).clip(-0.9, 0.9)), {"cut_off"}),
    "normalised": (by_name(lambda *args: h(*args) / np.linalg.norm(h(*args), axis=1, keepdims=True)), set()),
    "a product for a sum": (by_name(lambda x, h_, W, U, b: np.tanh((x @ W) * (h_ @ U) + b)), set()),
    "a residual": (by_name(lambda x, h_, *r: h_ + h(x, h_, *r)), {"added_to_h_prev"}),
    "half old, half new": (by_name(lambda x, h_, *r: (h_ + h(x, h_, *r)) / 2), set()),
    "no bias and no state": (by_name(lambda x, h_, W, U, b: np.tanh(x @ W)), set()),
    "no tanh and no bias": (by_name(lambda x, h_, W, U, b: x @ W + h_ @ U), set()),
    "no input": (by_name(lambda x, h_, W, U, b: np.tanh(h_ @ U + b)), {"counterfactual: zeros x_t | zeros W_xh"}),
    "old state": (by_name(lambda x, h_, W, U, b: h_), {"after: is h_prev"}),
    "zeros": (by_name(lambda x, h_, *r: np.zeros(h_.shape)), set()),
    "halved": (by_name(lambda *args: h(*args) / 2), {"constant_factor"}),
    "negated": (by_name(lambda *args: -h(*args)), {"sign"}),
    "transposed": (by_name(lambda *args: h(*args).T), {"transposed"}),
    "rows reversed": (by_name(lambda *args: h(*args)[::-1]), {"after: reversed along B"}),
    "units reversed": (by_name(lambda *args: h(*args)[:, ::-1]), {"after: reversed along H"}),
    "rolled by a row": (by_name(lambda *args: np.roll(h(*args), 1, axis=0)), {"after: shifted along B"}),
    "one row": (by_name(lambda *args: h(*args)[-1]), {"after: last entry along B"}),
    "flat": (by_name(lambda *args: h(*args).ravel()), {"after: flat"}),
    "a tuple": (by_name(lambda *args: (h(*args),)), {"after: [0] missing"}),
    "a mean": (by_name(lambda *args: h(*args).mean()), {"after: mean"}),
}


@for_each("name", WRONG_STEPS)
def test_a_nearly_right_step_fails_and_is_not_given_a_wrong_name(name):
    function, names = WRONG_STEPS[name]
    fails("rnn_step", function, names or None)


def states(x, h_0, W_xh, W_hh, b_h):
    found = [h_0]
    for t in range(x.shape[1]):
        found.append(h(x[:, t], found[-1], W_xh, W_hh, b_h))
    return np.stack(found[1:], axis=1)


def run(step):
    """A loop over time: step(t, T, x_t, states so far (the first is h_0), W_xh, W_hh, b_h) → the next state."""

    def student(x, h_0, W_xh, W_hh, b_h):
        found = [h_0]
        for t in range(x.shape[1]):
            found.append(step(t, x, found, W_xh, W_hh, b_h))
        return np.stack(found[1:], axis=1)

    return student


def after(change):
    """The right states, and then something done to them."""

    def student(x, h_0, W_xh, W_hh, b_h):
        return change(states(x, h_0, W_xh, W_hh, b_h))

    return student


def before(change):
    """Something done to the inputs, and then the right states."""

    def student(x, h_0, W_xh, W_hh, b_h):
        return states(*change(x, h_0, W_xh, W_hh, b_h))

    return student


def kept_linear(x, h_0, W_xh, W_hh, b_h):
    found, state = [], h_0
    for t in range(x.shape[1]):
        state = a(x[:, t], state, W_xh, W_hh, b_h)
        found.append(np.tanh(state))
    return np.stack(found, axis=1)


def last_step_left_out(x, h_0, W_xh, W_hh, b_h):
    result = np.zeros((*x.shape[:2], len(b_h)))
    for t in range(x.shape[1] - 1):
        result[:, t] = h_0 = h(x[:, t], h_0, W_xh, W_hh, b_h)
    return result


def first_state_spread(x, h_0, W_xh, W_hh, b_h):
    return np.repeat(h(x[:, 0], h_0, W_xh, W_hh, b_h)[:, None], x.shape[1], axis=1)


def changes_h_0(x, h_0, W_xh, W_hh, b_h):
    found = []
    for t in range(x.shape[1]):
        h_0[:] = h(x[:, t], h_0, W_xh, W_hh, b_h)
        found.append(h_0.copy())
    return np.stack(found, axis=1)


def zeros_first(result):
    return np.concatenate([np.zeros_like(result[:, :1]), result[:, :-1]], axis=1)


def zeros_last(result):
    return np.concatenate([result[:, 1:], np.zeros_like(result[:, :1])], axis=1)


WRONG_FORWARDS = {
    "time reversed": (after(lambda r: r[:, ::-1]), {"after: reversed along T"}),
    "input reversed": (before(lambda x, *r: (x[:, ::-1], *r)), {"counterfactual: backward x"}),
    "run backwards": (lambda x, **r: states(x[:, ::-1], **r)[:, ::-1], set()),
    "accumulated": (after(lambda r: r.cumsum(axis=1)), {"after: running sum along T"}),
    "averaged so far": (after(lambda r: r.cumsum(1) / np.arange(1, r.shape[1] + 1)[:, None]), {"first_step_only"}),
    "the input before": (run(lambda t, x, s, *w: h(x[:, t - 1], s[-1], *w)), {"counterfactual: late x"}),
    "the input after": (run(lambda t, x, s, *w: h(x[:, (t + 1) % x.shape[1]], s[-1], *w)), {"counterfactual: early x"}),
    "always the first input": (run(lambda t, x, s, *w: h(x[:, 0], s[-1], *w)), {"counterfactual: first_step x"}),
    "the mean input": (run(lambda t, x, s, *w: h(x.mean(axis=1), s[-1], *w)), set()),
    "no state at all": (run(lambda t, x, s, W, U, b: np.tanh(x[:, t] @ W + b)), {"counterfactual: zeros W_hh"}),
    "no input": (run(lambda t, x, s, W, U, b: np.tanh(s[-1] @ U + b)), {"counterfactual: zeros x | zeros W_xh"}),
    "the state of two steps ago": (run(lambda t, x, s, *w: h(x[:, t], s[max(0, len(s) - 2)], *w)), {"first_step_only"}),
    "h_0 at odd steps": (run(lambda t, x, s, *w: h(x[:, t], s[0] if t % 2 else s[-1], *w)), {"first_step_only"}),
    "zero state after the first": (run(lambda t, x, s, *w: h(x[:, t], s[-1] * (t == 0), *w)), {"first_step_only"}),
    "a residual": (run(lambda t, x, s, *w: s[-1] + h(x[:, t], s[-1], *w)), set()),
    "W_hh twice": (run(lambda t, x, s, W, U, b: h(x[:, t], s[-1], W, U @ U, b)), set()),
    "W_hh transposed": (
        run(lambda t, x, s, W, U, b: h(x[:, t], s[-1], W, U.T, b)),
        {"counterfactual: transposed W_hh"},
    ),
    "no bias": (run(lambda t, x, s, W, U, b: h(x[:, t], s[-1], W, U, 0)), {"counterfactual: zeros b_h"}),
    "bias at the first step": (
        run(lambda t, x, s, W, U, b: h(x[:, t], s[-1], W, U, b * (t == 0))),
        {"first_step_only"},
    ),
    "tanh only at the end": (kept_linear, {"first_step_only"}),
    "relu": (run(lambda t, x, s, *w: relu(a(x[:, t], s[-1], *w))), set()),
    "rounded on the way": (run(lambda t, x, s, *w: h(x[:, t], s[-1].round(2), *w)), set()),
    "clipped": (after(lambda r: r.clip(-0.5, 0.5)), {"cut_off"}),
    "float16 on the way": (run(lambda t, x, s, *w: h(x[:, t], s[-1], *w).astype("f2").astype(float)), set()),
    "float32": (after(lambda r: r.astype("f4")), {"float32"}),
    "float32 and back": (after(lambda r: r.astype("f4").astype(float)), {"lost_precision"}),
    "normalised": (after(lambda r: r / np.linalg.norm(r, axis=2, keepdims=True)), set()),
    "mean over the batch": (after(lambda r: np.broadcast_to(r.mean(axis=0), r.shape)), set()),
    "first row for all": (
        before(lambda x, h_0, *r: (x, np.broadcast_to(h_0[0], h_0.shape), *r)),
        {"counterfactual: first_row h_0"},
    ),
    "rows mixed": (after(lambda r: r[::-1]), {"after: reversed along B"}),
    "axes (B, H, T)": (after(lambda r: r.swapaxes(1, 2)), {"after: axes T and H exchanged"}),
    "axes (H, T, B)": (after(lambda r: r.T), {"after: axes B and H exchanged"}),
    "one axis too many": (after(lambda r: r[None]), {"after: squeeze of axis=-4 missing"}),
    "as PyTorch": (after(lambda r: (r, r[:, -1])), {"after: [0] missing"}),
    "the last step left out": (last_step_left_out, {"never_filled"}),
    "one step short": (after(lambda r: r[:, :-1]), {"after: all but the last entry along T"}),
    "the first state spread": (first_state_spread, {"first_step_only"}),
    "zero state, input reversed": (before(lambda x, h_0, *r: (x[:, ::-1], 0 * h_0, *r)), set()),
    "zeros first": (after(zeros_first), {"one_step_late"}),
    "zeros last": (after(zeros_last), {"one_step_early"}),
    "negated": (after(np.negative), {"sign"}),
    "doubled": (after(lambda r: 2 * r), {"constant_factor"}),
    "divided by T": (after(lambda r: r / r.shape[1]), {"averaged"}),
    "changes h_0": (changes_h_0, set()),
}


@for_each("name", WRONG_FORWARDS)
def test_a_nearly_right_loop_fails_and_is_not_given_a_wrong_name(name):
    function, names = WRONG_FORWARDS[name]
    fails("rnn_forward", function, names or None)


def test_a_changed_input_is_named_in_the_report():
    verdict = exercise("rnn_forward").verdict(changes_h_0)
    assert all(case.problems[-1].text.startswith("your function changes `h_0`") for case in verdict.cases)


# Right, in other ways ------------------------------------------------------------------------------------------------


def own_arrays_in_place(x_t, h_prev, W_xh, W_hh, b_h):
    total = x_t @ W_xh
    total += h_prev @ W_hh
    total += b_h
    return np.tanh(total, out=total)


def read_only_view(x_t, h_prev, W_xh, W_hh, b_h):
    wide = np.zeros((2 * len(x_t), 3 * len(b_h)))
    wide[::2, 1::3] = h(x_t, h_prev, W_xh, W_hh, b_h)
    view = wide[::2, 1::3]
    view.flags.writeable = False
    return view


def into_a_list(x_t, h_prev, W_xh, W_hh, b_h):
    rows = []
    for x, state in zip(x_t, h_prev, strict=True):
        rows.append([float(np.tanh(x @ W_xh[:, j] + state @ W_hh[:, j] + b_h[j])) for j in range(len(b_h))])
    return np.array(rows)


def generator_inside(x_t, h_prev, W_xh, W_hh, b_h):
    numbers = (value for row in a(x_t, h_prev, W_xh, W_hh, b_h) for value in np.tanh(row))
    return np.fromiter(numbers, float).reshape(h_prev.shape)


def with_out_arguments(x_t, h_prev, W_xh, W_hh, b_h):
    first, second = np.empty_like(h_prev), np.empty(h_prev.shape, order="F")
    np.matmul(x_t, W_xh, out=first)
    np.matmul(h_prev, W_hh, out=second)
    return np.tanh(np.add(first, second) + b_h)


def broadcast_sums(x_t, h_prev, W_xh, W_hh, b_h):
    return np.tanh((x_t[:, :, None] * W_xh).sum(axis=1) + (h_prev[:, :, None] * W_hh).sum(axis=1) + b_h)


def undone(x_t, h_prev, W_xh, W_hh, b_h):
    before = h_prev.copy()
    h_prev *= 0
    h_prev += before
    return h(x_t, h_prev, W_xh, W_hh, b_h)


class Step:
    def __call__(self, x_t, h_prev, W_xh, W_hh, b_h):
        return h(x_t, h_prev, W_xh, W_hh, b_h)


RIGHT_STEPS = {
    "np.dot": by_name(lambda x, h_, W, U, b: np.tanh(np.dot(x, W) + np.dot(h_, U) + b)),
    "np.matmul": by_name(lambda x, h_, W, U, b: np.tanh(np.matmul(h_, U) + np.matmul(x, W) + b)),
    "method dot": by_name(lambda x, h_, W, U, b: np.tanh(x.dot(W) + h_.dot(U) + b)),
    "another order": by_name(lambda x, h_, W, U, b: np.tanh(b + (h_ @ U + x @ W))),
    "columns": by_name(lambda x, h_, W, U, b: np.tanh(W.T @ x.T + U.T @ h_.T + b[:, None]).T),
    "einsum": by_name(lambda x, h_, W, U, b: np.tanh(np.einsum("ij,jk", x, W) + np.einsum("ij,jk", h_, U) + b)),
    "tensordot": by_name(lambda x, h_, W, U, b: np.tanh(np.tensordot(x, W, 1) + np.tensordot(h_, U, 1) + b)),
    "np.hstack": by_name(lambda x, h_, W, U, b: np.tanh(np.hstack([h_, x]) @ np.vstack([U, W]) + b)),
    "bias as a row of the weights": by_name(
        lambda x, h_, W, U, b: np.tanh(np.c_[x, h_, np.ones(len(x))] @ np.r_[W, U, b[None]])
    ),
    "sinh and cosh": by_name(lambda *args: np.sinh(a(*args)) / np.cosh(a(*args))),
    "exponentials": by_name(lambda *args: np.expm1(2 * a(*args)) / (np.expm1(2 * a(*args)) + 2)),
    "logistic, stretched": by_name(lambda *args: 2 / (1 + np.exp(-2 * a(*args))) - 1),
    "longdouble inside": by_name(lambda *args: h(*(v.astype(np.longdouble) for v in args)).astype(float)),
    "Fortran order": by_name(lambda *args: np.asfortranarray(h(*args))),
    "big-endian": by_name(lambda *args: h(*args).astype(">f8")),
    "broadcast sums": broadcast_sums,
    "own arrays in place": own_arrays_in_place,
    "a read-only view": read_only_view,
    "into a list": into_a_list,
    "a generator inside": generator_inside,
    "out arguments": with_out_arguments,
    "a change undone": undone,
    "**kwargs": lambda **k: h(*(k[name] for name in ("x_t", "h_prev", "W_xh", "W_hh", "b_h"))),
    "partial": functools.partial(lambda f, **k: np.tanh(a(**k)), None),
    "an object": Step(),
    "one more argument": lambda x_t, h_prev, W_xh, W_hh, b_h, f=np.tanh: f(a(x_t, h_prev, W_xh, W_hh, b_h)),
}


@for_each("name", RIGHT_STEPS)
def test_a_right_step_passes_however_it_is_written(name):
    passes("rnn_step", RIGHT_STEPS[name])


def row_by_row(x, h_0, W_xh, W_hh, b_h):
    result = []
    for sequence, state in zip(x, h_0, strict=True):
        rows = []
        for x_t in sequence:
            state = np.tanh(x_t @ W_xh + state @ W_hh + b_h)
            rows.append(state)
        result.append(rows)
    return np.array(result)


def h_0_in_front_cut_off(x, h_0, W_xh, W_hh, b_h):
    result = np.empty((len(x), x.shape[1] + 1, h_0.shape[1]))
    result[:, 0] = h_0
    for t in range(x.shape[1]):
        np.tanh(x[:, t] @ W_xh + result[:, t] @ W_hh + b_h, out=result[:, t + 1])
    return result[:, 1:]


def concatenated(x, h_0, W_xh, W_hh, b_h):
    result = np.zeros((len(x), 0, h_0.shape[1]))
    for t in range(x.shape[1]):
        h_0 = h(x[:, t], h_0, W_xh, W_hh, b_h)
        result = np.concatenate([result, h_0[:, None, :]], axis=1)
    return result


def by_a_generator(x, h_0, W_xh, W_hh, b_h):
    def walk(state):
        for t in range(x.shape[1]):
            state = h(x[:, t], state, W_xh, W_hh, b_h)
            yield state

    return np.stack(list(walk(h_0)), axis=1)


def copy_in_place(x, h_0, W_xh, W_hh, b_h):
    state, result = h_0.copy(), []
    for t in range(x.shape[1]):
        state[:] = h(x[:, t], state, W_xh, W_hh, b_h)
        result.append(state.copy())
    return np.stack(result, axis=1)


def by_accumulate(x, h_0, W_xh, W_hh, b_h):
    from itertools import accumulate

    steps = accumulate(x.swapaxes(0, 1), lambda state, x_t: h(x_t, state, W_xh, W_hh, b_h), initial=h_0)
    return np.stack(list(steps)[1:], axis=1)


RIGHT_FORWARDS = {
    "row by row": row_by_row,
    "h_0 in front, cut off": h_0_in_front_cut_off,
    "concatenated": concatenated,
    "a generator": by_a_generator,
    "a copy in place": copy_in_place,
    "accumulate": by_accumulate,
    "Fortran order": after(np.asfortranarray),
    "np.array, moved": after(lambda r: np.moveaxis(np.array(list(np.moveaxis(r, 1, 0))), 0, 1)),
    "dstack": after(lambda r: np.dstack(list(np.moveaxis(r, 1, 0))).transpose(0, 2, 1)),
    "big-endian": after(lambda r: r.astype(">f8")),
    "a view of more": after(lambda r: np.repeat(r, 2, axis=1)[:, ::2]),
    "another order of the sum": run(lambda t, x, s, W, U, b: np.tanh(b + s[-1] @ U + x[:, t] @ W)),
}


@for_each("name", RIGHT_FORWARDS)
def test_a_right_loop_passes_however_it_is_written(name):
    passes("rnn_forward", RIGHT_FORWARDS[name])


# What an exercise builds on ------------------------------------------------------------------------------------------


def test_where_the_step_is_wrong_it_is_to_be_mended_first():
    verdict = exercise("rnn_forward").verdict(WRONG_FORWARDS["no bias"][0], wrong_needs=("rnn_step",))
    assert verdict.diagnosis.id == "needs"
    assert verdict.diagnosis.text.startswith("This exercise builds on `rnn_step`, which failed when last checked.")


def test_a_misconception_of_its_own_comes_before_what_it_builds_on():
    variant = exercise("rnn_forward").spec.misconceptions["starts_from_zero"].variants[0]
    assert exercise("rnn_forward").verdict(variant, wrong_needs=("rnn_step",)).diagnosis.id == "starts_from_zero"


def test_nothing_is_to_be_mended_where_all_is_right():
    assert exercise("rnn_forward").verdict(row_by_row, wrong_needs=("rnn_step",)).diagnosis is None
