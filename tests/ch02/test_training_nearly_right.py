"""Work on relative_error, numerical_gradient, truncated_bptt, adagrad_step and train_char_rnn that no spec names.

What is nearly right must fail and get no wrong name: beside each stands the diagnosis that is true of it, where one is.
What is right in another way must pass.
"""

from dataclasses import replace

import numpy as np
import pytest

from grader.cases import Observation
from grader.evaluate import evaluate, observe
from tests.conftest import exercise

SEEDS = (0, 1, 2, 3)
TRAIN = "train_char_rnn"


# relative_error -------------------------------------------------------------------------------------------------------


def errors(a, b):
    size = np.abs(a) + np.abs(b)
    return np.abs(a - b) / np.where(size > 0, size, 1)


WRONG_ERROR = {
    "the smallest": (lambda a, b: errors(a, b).min(), set()),
    "the median": (lambda a, b: np.median(errors(a, b)), set()),
    "the sum": (lambda a, b: errors(a, b).sum(), set()),
    "all of them": (errors, set()),
    "twice": (lambda a, b: 2 * errors(a, b).max(), {"constant_factor"}),
    "of squares": (lambda a, b: ((a - b) ** 2 / np.where(a**2 + b**2 > 0, a**2 + b**2, 1)).max(), set()),
    "absolute error": (lambda a, b: np.abs(a - b).max(), set()),
    "one where both are zero": (lambda a, b: 1.0 if (a == b).any() else errors(a, b).max(), set()),
    "as text": (lambda a, b: str(errors(a, b).max()), set()),
    "an array of one": (lambda a, b: errors(a, b).max(keepdims=True), set()),
    "at the largest difference": (lambda a, b: errors(a, b).flat[np.abs(a - b).argmax()], set()),
    "against their mean": (lambda a, b: 2 * errors(a, b).max(), {"constant_factor"}),
    "the first entry": (lambda a, b: errors(a, b).flat[0], set()),
    "of the first row": (lambda a, b: errors(a, b)[0].max(), set()),
    "nan to one": (lambda a, b: np.nan_to_num(np.abs(a - b) / (np.abs(a) + np.abs(b)), nan=1.0).max(), set()),
    "changes a": (lambda a, b: (a.__isub__(b), errors(a + b, b).max())[1], set()),
    "float32": (lambda a, b: errors(a, b).max().astype("f4"), {"float32", "lost_precision"}),
}
RIGHT_ERROR = {
    "a Python float": lambda a, b: float(errors(a, b).max()),
    "a NumPy scalar": lambda a, b: errors(a, b).max(),
    "an array without axes": lambda a, b: np.array(errors(a, b).max()),
    "nan to zero": lambda a, b: np.nan_to_num(np.abs(a - b) / (np.abs(a) + np.abs(b))).max(),
    "nothing to speak of below": lambda a, b: np.max(np.abs(a - b) / np.maximum(np.abs(a) + np.abs(b), 1e-300)),
    "a loop, and perhaps the integer 0": lambda a, b: max(
        abs(x - y) / (abs(x) + abs(y)) if x != y else 0 for x, y in zip(a.flat, b.flat, strict=True)
    ),
    "divide where": lambda a, b: np.divide(
        np.abs(a - b), np.abs(a) + np.abs(b), out=np.zeros_like(a), where=np.abs(a) + np.abs(b) > 0
    ).max(),
    "sorted": lambda a, b: sorted(errors(a, b).ravel())[-1],
    "masked": lambda a, b: (
        float(np.ma.masked_invalid(np.abs(a - b) / (np.abs(a) + np.abs(b))).max(fill_value=0) or 0)
        if (a != b).any()
        else 0
    ),
    "the largest of rows": lambda a, b: max(
        errors(x, y).max() for x, y in zip(np.atleast_1d(a), np.atleast_1d(b), strict=True)
    ),
}


# numerical_gradient ---------------------------------------------------------------------------------------------------


def central(f, theta, eps=1e-5, scale=1.0, entries=None):
    gradient = np.zeros(theta.shape)
    for i in entries or list(np.ndindex(theta.shape)):
        plus, minus = theta.copy(), theta.copy()
        plus[i] += eps * scale
        minus[i] -= eps * scale
        gradient[i] = (f(plus) - f(minus)) / (2 * eps * scale)
    return gradient


def averaged_over_one_side(f, theta, eps=1e-5):
    ahead = central(lambda t: (f(t) + f(theta)) / 2, theta, eps)
    return 2 * ahead + eps


def puts_the_gradient_into_theta(f, theta, eps=1e-5):
    gradient = central(f, theta, eps)
    theta[...] = gradient
    return gradient


def diagonal_only(f, theta, eps=1e-5):
    return central(f, theta, eps, entries=[i for i in np.ndindex(theta.shape) if len(set(i)) == 1])


def with_nditer(f, theta, eps=1e-5):
    gradient, entries = np.zeros_like(theta), np.nditer(theta, flags=["multi_index"], op_flags=["readwrite"])
    while not entries.finished:
        i = entries.multi_index
        old = theta[i]
        theta[i] = old + eps
        above = f(theta)
        theta[i] = old - eps
        below = f(theta)
        theta[i] = old
        gradient[i] = (above - below) / (2 * eps)
        entries.iternext()
    return gradient


def with_a_backup(f, theta, eps=1e-5):
    gradient, backup = np.zeros_like(theta), theta.copy()
    for i in np.ndindex(*theta.shape):
        theta[i] += eps
        above = f(theta)
        theta[i] -= 2 * eps
        gradient[i] = (above - f(theta)) / (2 * eps)
        theta[...] = backup
    return gradient


def through_a_flat_view(f, theta, eps=1e-5):
    gradient, entries = np.zeros(theta.shape), theta.reshape(-1)
    for i, old in enumerate(entries.tolist()):
        entries[i] = old + eps
        above = f(theta)
        entries[i] = old - eps
        gradient.flat[i] = (above - f(theta)) / eps / 2
        entries[i] = old
    return gradient


def relative_steps(f, theta, eps=1e-5):
    def gradient(i):
        up, down = theta.copy(), theta.copy()
        up[i] *= 1 + eps
        down[i] *= 1 - eps
        return (f(up) - f(down)) / (2 * eps)

    return np.array([gradient(i) for i in np.ndindex(theta.shape)]).reshape(theta.shape)


WRONG_GRADIENT = {
    "relative steps": (relative_steps, set()),
    "transposed": (lambda f, theta, eps=1e-5: central(f, theta, eps).T, {"transposed"}),
    "sign": (lambda f, theta, eps=1e-5: -central(f, theta, eps), {"sign"}),
    "half": (lambda f, theta, eps=1e-5: central(f, theta, eps) / 2, {"constant_factor"}),
    "rounded": (lambda f, theta, eps=1e-5: central(f, theta, eps).round(4), set()),
    "a tiny eps": (lambda f, theta, eps=1e-5: central(f, theta, 1e-13), set()),
    "a list": (lambda f, theta, eps=1e-5: central(f, theta, eps).tolist(), set()),
    "float32": (lambda f, theta, eps=1e-5: central(f, theta, eps).astype("f4"), {"float32"}),
    "an extra axis": (lambda f, theta, eps=1e-5: central(f, theta, eps)[None], set()),
    "diagonal only": (diagonal_only, set()),
    "plus eps": (averaged_over_one_side, set()),
    "into theta": (puts_the_gradient_into_theta, {"restored_to_rounding"}),
    "a function of flat arrays": (lambda f, theta, eps=1e-5: central(lambda t: f(t.ravel()), theta, eps), set()),
    "no default": (lambda f, theta, eps: central(f, theta, eps), set()),
    "never asks": (lambda f, theta, eps=1e-5: np.zeros_like(theta), {"one_array_for_both"}),  # "if you do"
}
RIGHT_GRADIENT = {
    "nditer": with_nditer,
    "a backup": with_a_backup,
    "a flat view": through_a_flat_view,
    "a smaller step": lambda f, theta, eps=1e-5: central(f, theta, min(eps, 1e-4), 0.5),
    "Fortran order": lambda f, theta, eps=1e-5: np.asfortranarray(central(f, theta, eps)),
    "into a list": lambda f, theta, eps=1e-5: np.array(
        [(f(theta + e) - f(theta - e)) / (2 * eps) for e in eps * np.eye(theta.size).reshape(-1, *theta.shape)]
    ).reshape(theta.shape),
}


# truncated_bptt -------------------------------------------------------------------------------------------------------


def whole(dh, x, h_0, h, W_hh, tau, *, slope=None, prev=None, decay=1.0, cut=None):
    cut = cut or (lambda t: (t + 1) % tau == 0)
    before = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
    da, back = np.zeros(h.shape), 0.0
    for t in reversed(range(h.shape[1])):
        slopes = slope(h[:, t]) if slope else 1 - h[:, t] ** 2
        da[:, t] = (dh[:, t] + (0 if cut(t) else decay * back)) * slopes
        back = da[:, t] @ (W_hh.T if prev is None else prev(W_hh))
    return np.einsum("btd,bth->dh", x, da), np.einsum("btg,bth->gh", before, da), da.sum((0, 1))


def bptt(**changed):
    return lambda dh, x, h_0, h, W_xh, W_hh, tau: whole(dh, x, h_0, h, W_hh, tau, **changed)


def right_bptt(then):
    return lambda dh, x, h_0, h, W_xh, W_hh, tau: then(whole(dh, x, h_0, h, W_hh, tau), h)


WRONG_BPTT = {
    "no transpose": (bptt(prev=lambda W: W), {"W_hh_not_transposed"}),
    "no slope": (bptt(slope=lambda h: np.ones(h.shape)), set()),
    "tanh for its slope": (bptt(slope=lambda h: 1 - np.tanh(h) ** 2), set()),
    "half of what comes back": (bptt(decay=0.5), set()),
    "nothing comes back at all": (bptt(decay=0.0), set()),
    "mean over the batch": (right_bptt(lambda g, h: tuple(v / len(h) for v in g)), {"averaged"}),
    "mean over time": (right_bptt(lambda g, h: tuple(v / h.shape[1] for v in g)), {"averaged"}),
    "db_h as a column": (right_bptt(lambda g, h: (*g[:2], g[2][:, None])), set()),
    "two results": (right_bptt(lambda g, h: g[:2]), set()),
    "in another order": (right_bptt(lambda g, h: (g[1], g[0], g[2])), {"order"}),
    "dW_hh transposed": (right_bptt(lambda g, h: (g[0], g[1].T, g[2])), {"transposed"}),
    "sign": (right_bptt(lambda g, h: tuple(-v for v in g)), {"sign"}),
    "a dict": (right_bptt(lambda g, h: dict(zip(("dW_xh", "dW_hh", "db_h"), g, strict=True))), set()),
}
RIGHT_BPTT = {
    "a list": right_bptt(lambda g, h: list(g)),
    "Fortran order": right_bptt(lambda g, h: tuple(map(np.asfortranarray, g))),
}


# adagrad_step ---------------------------------------------------------------------------------------------------------


def step(rule):
    return lambda theta, grad, cache, lr, eps=1e-8: rule(theta, grad, cache, lr, eps)


def in_place(theta, grad, cache, lr, eps=1e-8):
    cache += grad**2
    theta -= lr * grad / (np.sqrt(cache) + eps)
    return theta, cache


WRONG_STEP = {
    "only the cache in place": (
        step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c.__iadd__(g**2)) + eps), c)),
        set(),
    ),
    "no lr": (step(lambda t, g, c, lr, eps: (t - g / (np.sqrt(c + g**2) + eps), c + g**2)), set()),
    "the gradient squared": (
        step(lambda t, g, c, lr, eps: (t - lr * g**2 / (np.sqrt(c + g**2) + eps), c + g**2)),
        set(),
    ),
    "a mean in the cache": (
        step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c + np.mean(g**2)) + eps), c + np.mean(g**2))),
        set(),
    ),
    "in place": (in_place, set()),
    "theta alone": (step(lambda t, g, c, lr, eps: t - lr * g / (np.sqrt(c + g**2) + eps)), set()),
    "the other order": (step(lambda t, g, c, lr, eps: (c + g**2, t - lr * g / (np.sqrt(c + g**2) + eps))), {"order"}),
    "root of the cache comes back": (
        step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c + g**2) + eps), np.sqrt(c + g**2))),
        set(),
    ),
    "sign of the gradient": (step(lambda t, g, c, lr, eps: (t - lr * np.sign(g), c + g**2)), set()),
    "twice the square": (
        step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c + 2 * g**2) + eps), c + 2 * g**2)),
        set(),
    ),
    "eps ignored": (step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c + g**2) + 1e-8), c + g**2)), set()),
    "the step alone": (step(lambda t, g, c, lr, eps: (-lr * g / (np.sqrt(c + g**2) + eps), c + g**2)), set()),
    "lr inside": (step(lambda t, g, c, lr, eps: (t - g / (np.sqrt(c + g**2) / lr + eps), c + g**2)), set()),
}
RIGHT_STEP = {
    "hypot": step(lambda t, g, c, lr, eps: (t - lr * g / (np.hypot(np.sqrt(c), g) + eps), c + g * g)),
    "float_power": step(lambda t, g, c, lr, eps: (t - lr * g / ((c + g**2) ** 0.5 + eps), c + np.float_power(g, 2))),
    "lr below": step(lambda t, g, c, lr, eps: (t - g / ((np.sqrt(c + g**2) + eps) / lr), c + g**2)),
}

WRONG = {
    "relative_error": WRONG_ERROR,
    "numerical_gradient": WRONG_GRADIENT,
    "truncated_bptt": WRONG_BPTT,
    "adagrad_step": WRONG_STEP,
}
RIGHT = {
    "relative_error": RIGHT_ERROR,
    "numerical_gradient": RIGHT_GRADIENT,
    "truncated_bptt": RIGHT_BPTT,
    "adagrad_step": RIGHT_STEP,
}


@pytest.mark.parametrize(("exercise_id", "name"), [(e, name) for e, wrong in WRONG.items() for name in wrong])
def test_what_is_nearly_right_fails_and_gets_no_wrong_name(exercise_id, name):
    function, true = WRONG[exercise_id][name]
    for seed in SEEDS:
        verdict = exercise(exercise_id).verdict(function, seed)
        assert not verdict
        assert verdict.diagnosis is None or verdict.diagnosis.id in true


@pytest.mark.parametrize(("exercise_id", "name"), [(e, name) for e, right in RIGHT.items() for name in right])
def test_what_is_right_in_another_way_passes(exercise_id, name):
    for seed in SEEDS:
        verdict = exercise(exercise_id).verdict(RIGHT[exercise_id][name], seed)
        assert verdict, verdict


# train_char_rnn -------------------------------------------------------------------------------------------------------


def scripted(seed):
    """The checks without the network, which takes its time."""
    checks = exercise(TRAIN).checks(seed)
    return replace(checks, cases=tuple(case for case in checks.cases if case.kind != "hello"))


def trained(function, seed=0):
    checks, e = scripted(seed), exercise(TRAIN)
    return evaluate(e.place, checks, e.messages.mistakes, observe(checks, function))


def loop(
    ids, vocab_size, hidden_size, seq_length, num_updates, lr, rng, loss_and_grads, *,
    start=None, h_start=None, rule=None, order=None, result=None, calls=1, more=0,
):  # fmt: skip
    """A loop of a student's own, with one thing as the student will have it."""
    V, H, T = vocab_size, hidden_size, seq_length
    shapes = {"W_xh": (V, H), "W_hh": (H, H), "b_h": (H,), "W_hy": (H, V), "b_y": (V,)}
    start = start or (lambda name, shape: 0.2 * rng.normal(size=shape))
    params = {name: start(name, shape) for name, shape in shapes.items()}
    cache = {name: np.zeros(shape) for name, shape in shapes.items()}
    rule = rule or (lambda t, g, c: (t - lr * g / (np.sqrt(c + g**2) + 1e-8), c + g**2))
    zeros = np.zeros((1, H)) if h_start is None else h_start(H)
    places = order(ids, T) if order else list(range(0, len(ids) - T, T))
    losses, h = [], zeros
    for k in range(num_updates + more):
        p = places[k % len(places)]
        h = zeros if p == places[0] else h
        for _ in range(calls):
            loss, grads, h_next = loss_and_grads(params, ids[p : p + T], ids[p + 1 : p + T + 1], h)
        h = h_next
        losses.append(loss)
        for name in params:
            params[name], cache[name] = rule(params[name], grads[name], cache[name])
    return result(np.array(losses), params) if result else (np.array(losses), params)


def training(**changed):
    return lambda **inputs: loop(**inputs, **changed)


def quits(**inputs):
    raise RuntimeError


WRONG_LOOPS = {
    "backwards through the text": (training(order=lambda ids, T: list(range(0, len(ids) - T, T))[::-1]), set()),
    "always the first chunk": (training(order=lambda ids, T: [0]), {"always_the_first_chunk"}),
    "a chunk anywhere": (training(order=lambda ids, T: np.random.default_rng(3).permutation(len(ids) - T)), set()),
    "chunks shuffled": (training(order=lambda ids, T: [*range(T, len(ids) - T, T), 0]), set()),
    "h_0 as a vector": (training(h_start=np.zeros), set()),
    "h_0 of ones": (training(h_start=lambda H: np.ones((1, H))), set()),
    "RMSprop": (
        training(rule=lambda t, g, c: (t - 0.1 * g / (np.sqrt(0.9 * c + 0.1 * g**2) + 1e-8), 0.9 * c + 0.1 * g**2)),
        set(),
    ),
    "another learning rate": (training(rule=lambda t, g, c: (t - g / (np.sqrt(c + g**2) + 1e-8), c + g**2)), set()),
    "another eps": (training(rule=lambda t, g, c: (t - 0.1 * g / (np.sqrt(c + g**2) + 1e-3), c + g**2)), set()),
    "losses as a list": (training(result=lambda losses, params: (losses.tolist(), params)), set()),
    "losses in bits": (training(result=lambda losses, params: (losses / np.log(2), params)), set()),
    "the last loss": (training(result=lambda losses, params: (losses[-1], params)), set()),
    "params alone": (training(result=lambda losses, params: params), set()),
    "params as a list": (training(result=lambda losses, params: (losses, list(params.values()))), set()),
    "another key": (training(result=lambda losses, params: (losses, {**params, "h": np.zeros(1)})), set()),
    "nothing": (training(result=lambda losses, params: None), set()),
    "float32 weights": (training(start=lambda name, shape: np.ones(shape, "f4")), set()),
    "biases as rows": (training(start=lambda name, shape: np.ones(shape if len(shape) > 1 else (1, *shape))), set()),
    "nan at the start": (training(start=lambda name, shape: np.full(shape, np.nan)), set()),
    "one update too many": (training(more=1), set()),
    "one update too few": (training(more=-1), set()),
    "no update": (training(more=-100), set()),
    "raises": (quits, set()),
}
RIGHT_LOOPS = {
    "as it stands": training(),
    "asked three times": training(calls=3),
    "larger weights": lambda **inputs: loop(**inputs, start=lambda name, shape: inputs["rng"].standard_normal(shape)),
    "biases of zero": lambda **inputs: loop(
        **inputs,
        start=lambda name, shape: inputs["rng"].uniform(-0.1, 0.1, shape) if len(shape) > 1 else np.zeros(shape),
    ),
    "W_hy of zeros": lambda **inputs: loop(
        **inputs, start=lambda name, shape: inputs["rng"].normal(size=shape) * (name != "W_hy")
    ),
    "a child of the generator": lambda **inputs: loop(
        **inputs, start=lambda name, shape: inputs["rng"].spawn(1)[0].normal(size=shape)
    ),
    "a list of results": training(result=lambda losses, params: [losses, params]),
}


@pytest.mark.parametrize("name", WRONG_LOOPS)
def test_a_loop_that_is_nearly_right_fails_and_gets_no_wrong_name(name):
    function, true = WRONG_LOOPS[name]
    for seed in SEEDS:
        verdict = trained(function, seed)
        assert not verdict
        assert verdict.diagnosis is None or verdict.diagnosis.id in true


@pytest.mark.parametrize("name", RIGHT_LOOPS)
def test_a_loop_that_is_right_in_another_way_passes(name):
    for seed in SEEDS:
        verdict = trained(RIGHT_LOOPS[name], seed)
        assert verdict, verdict


def test_hello_is_learnt_in_ways_of_ones_own():
    for name in ("larger weights", "W_hy of zeros"):
        assert exercise(TRAIN).verdict(RIGHT_LOOPS[name]).status == "passed"


def test_a_network_that_does_not_learn_hello_is_told_its_loss():
    def lazy(num_updates, **inputs):
        losses, params = loop(num_updates=min(num_updates, 3) if num_updates == 300 else num_updates, **inputs)
        return np.resize(losses, num_updates), params

    verdict = exercise(TRAIN).verdict(lazy)
    assert [facet.name for facet in verdict.facets if not facet.earned] == ["hello"]
    assert "the loss at the last update: got" in repr(verdict)


JUNK = (None, 3, "text", [], {}, np.zeros((2, 2)), np.array(["a"], dtype=object).tolist(), [[1], [1, 2]], float("nan"))


@pytest.mark.parametrize("junk", JUNK, ids=str)
@pytest.mark.parametrize("name", ["params", "inputs", "targets", "h_0"])
def test_the_judge_bears_whatever_a_call_held(name, junk):
    """What was recorded comes from a student's process: it may be anything."""
    own = exercise(TRAIN).checks(0).own
    for case in exercise(TRAIN).checks(0).cases:
        call = {"params": None, "inputs": np.array([0]), "targets": np.array([0]), "h_0": np.zeros((1, 1)), name: junk}
        for calls in ([call], [call] * case.inputs["num_updates"], [junk, {}, call]):
            for result in (junk, (junk, junk), (np.zeros(case.inputs["num_updates"]), junk)):
                observation = Observation(result=result, calls={"loss_and_grads": calls, "rng": []})
                assert own.judge(case, observation)
                assert not any(
                    match(case, observation)
                    for mistake, match in own.matches.items()
                    if mistake not in ("targets_not_shifted", "state_reset_at_each_chunk", "chunks_one_short")
                )
