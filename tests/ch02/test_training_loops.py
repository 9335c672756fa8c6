"""Training loops that no spec contains, judged without the network that learns, and the judge of `train_char_rnn`."""

import re
from dataclasses import replace

import numpy as np

from grader.checking.case import Observation
from grader.checking.evaluate import evaluate, observe
from grader.render.text import verdict_text
from tests.conftest import SEEDS, exercise
from tests.loops import for_each

TRAIN = "train_char_rnn"


def scripted(seed):
    """The checks without the network, which takes its time."""
    checks = exercise(TRAIN).checks(seed)
    return replace(checks, cases=tuple(case for case in checks.cases if case.kind != "hello"))


def trained(function, seed=0):
    checks, e = scripted(seed), exercise(TRAIN)
    return evaluate(e.place, checks, e.messages.mistakes, observe(checks, function))


def loop(
    ids, vocab_size, hidden_size, seq_length, num_updates, lr, rng, loss_and_grads, *,
    start=None, h_start=None, rule=None, order=None, following=None, result=None, calls=1, more=0, fresh=False,
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
    following = following or (lambda ids: ids[1:])
    losses, h = [], zeros
    for k in range(num_updates + more):
        p = places[k % len(places)]
        h = zeros if p == places[0] else h
        if fresh and p == places[0]:
            cache = {name: np.zeros(shape) for name, shape in shapes.items()}
        for _ in range(calls):
            loss, grads, h_next = loss_and_grads(params, ids[p : p + T], following(ids)[p : p + T], h)
        h = h_next
        losses.append(loss)
        for name in params:
            params[name], cache[name] = rule(params[name], grads[name], cache[name])
    return result(np.array(losses), params) if result else (np.array(losses), params)


def training(**changed):
    return lambda **inputs: loop(**inputs, **changed)


def one_number_in_turn(**inputs):
    total = 0.0

    def rule(theta, grad, _):
        nonlocal total
        total += np.sum(grad**2)
        return theta - inputs["lr"] * grad / (np.sqrt(total) + 1e-8), 0

    return loop(**inputs, rule=rule)


def starting(matrix, bias=lambda rng, shape: np.zeros(shape)):
    """A right loop whose weights start in another way: `matrix(rng, shape)` and `bias(rng, shape)`."""

    def train(**inputs):
        def start(name, shape):
            return (matrix if len(shape) > 1 else bias)(inputs["rng"], shape)

        return loop(**inputs, start=start)

    return train


def orthogonal(rng, shape):
    """Orthonormal rows or columns, whichever there are fewer of."""
    q, _ = np.linalg.qr(rng.normal(size=(max(shape), min(shape))))
    return q if shape[0] >= shape[1] else q.T


def quits(**inputs):
    raise RuntimeError


WRONG_LOOPS = {
    "backwards through the text": (training(order=lambda ids, T: list(range(0, len(ids) - T, T))[::-1]), set()),
    "always the first chunk": (training(order=lambda ids, T: [0]), {"always_the_first_chunk"}),
    "slower and slower": (lambda **inputs: loop(**inputs, rule=lambda t, g, c: (t - g / (1 + c), c + 1)), set()),
    "steps of one length": (
        lambda **inputs: loop(**inputs, rule=lambda t, g, c: (t - inputs["lr"] * g / np.linalg.norm(g), c)),
        set(),
    ),
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


NAMED_LOOPS = {
    "as long as all inputs are there": (
        training(order=lambda ids, T: list(range(0, len(ids) - T + 1, T))),
        "last_chunk_kept",
    ),
    "N // T chunks": (training(order=lambda ids, T: [k * T for k in range(len(ids) // T)]), "last_chunk_kept"),
    "N // T chunks, rolled": (
        training(order=lambda ids, T: [k * T for k in range(len(ids) // T)], following=lambda ids: np.roll(ids, -1)),
        "last_chunk_kept",
    ),
    "N // T chunks, and 0 at the end": (
        training(order=lambda ids, T: [k * T for k in range(len(ids) // T)], following=lambda ids: [*ids[1:], 0]),
        "last_chunk_kept",
    ),
    "as long as an id is left": (training(order=lambda ids, T: list(range(0, len(ids), T))), "last_chunk_kept"),
    "as long as an id is left, rolled": (
        training(order=lambda ids, T: list(range(0, len(ids), T)), following=lambda ids: np.roll(ids, -1)),
        "last_chunk_kept",
    ),
    "as long as a target is left": (training(order=lambda ids, T: list(range(0, len(ids) - 1, T))), "last_chunk_kept"),
    "one too few": (
        training(order=lambda ids, T: list(range(0, len(ids) - T - 1, T)) or [0]),
        "full_last_chunk_dropped",
    ),
    "one number, renewed by each array": (one_number_in_turn, "one_cache_for_all"),
    "new caches for each reading": (training(fresh=True), "cache_reset_with_the_text"),
    "eps in the root": (
        lambda **inputs: loop(
            **inputs, rule=lambda t, g, c: (t - inputs["lr"] * g / np.sqrt(c + g**2 + 1e-8), c + g**2)
        ),
        "eps_inside_the_root",
    ),
    "matrices of zeros, random biases": (
        starting(lambda rng, shape: np.zeros(shape), lambda rng, shape: rng.normal(size=shape)),
        "only_biases_random",
    ),
    "matrices of zeros, tiny random biases": (
        starting(lambda rng, shape: np.zeros(shape), lambda rng, shape: 0.01 * rng.normal(size=shape)),
        "only_biases_random",
    ),
    "matrices of zeros, biases by np.random": (
        starting(lambda rng, shape: np.zeros(shape), lambda rng, shape: np.random.normal(size=shape)),
        "only_biases_random",
    ),
    "matrices of one number, random biases": (
        starting(lambda rng, shape: np.full(shape, 0.1), lambda rng, shape: rng.normal(size=shape)),
        "only_biases_random",
    ),
    "W_hh the identity, no other matrix, random biases": (
        lambda **inputs: loop(
            **inputs,
            start=lambda name, shape: (
                inputs["rng"].normal(size=shape) if len(shape) == 1 else np.eye(*shape) * (name == "W_hh")
            ),
        ),
        "only_biases_random",
    ),
    "all zeros": (starting(lambda rng, shape: np.zeros(shape)), "matrices_and_b_h_zero"),
    "all zeros but a random b_y": (
        lambda **inputs: loop(
            **inputs,
            start=lambda name, shape: inputs["rng"].normal(size=shape) if name == "b_y" else np.zeros(shape),
        ),
        "matrices_and_b_h_zero",
    ),
    "matrices of zeros, biases of ones": (
        starting(lambda rng, shape: np.zeros(shape), lambda rng, shape: np.ones(shape)),
        "units_start_alike",
    ),
    "one number everywhere": (
        starting(lambda rng, shape: np.full(shape, 0.1), lambda rng, shape: np.full(shape, 0.1)),
        "units_start_alike",
    ),
    "random numbers of one's own": (
        starting(lambda rng, shape: np.random.default_rng(5).normal(size=shape)),
        "rng_not_used",
    ),
}


RIGHT_LOOPS = {
    "rolled, and no target missing": training(following=lambda ids: np.roll(ids, -1)),
    "as it stands": training(),
    "asked three times": training(calls=3),
    "larger weights": lambda **inputs: loop(**inputs, start=lambda name, shape: inputs["rng"].standard_normal(shape)),
    "biases of zero": lambda **inputs: loop(
        **inputs,
        start=lambda name, shape: inputs["rng"].uniform(-0.1, 0.1, shape) if len(shape) > 1 else np.zeros(shape),
    ),
    "a hundredth": starting(lambda rng, shape: 0.01 * rng.normal(size=shape)),
    "next to nothing": starting(lambda rng, shape: 1e-8 * rng.normal(size=shape)),
    "orthogonal": starting(orthogonal),
    "uniform on one side": starting(lambda rng, shape: rng.uniform(0, 0.1, size=shape)),
    "Xavier, uniform": starting(lambda rng, shape: rng.uniform(-1, 1, size=shape) * np.sqrt(6 / sum(shape))),
    "Xavier, normal": starting(lambda rng, shape: rng.normal(0, np.sqrt(2 / sum(shape)), size=shape)),
    "by the fan in, and the biases too": starting(
        lambda rng, shape: rng.uniform(-1, 1, size=shape) / np.sqrt(shape[0]),
        lambda rng, shape: rng.uniform(-1, 1, size=shape) / np.sqrt(shape[0]),
    ),
    "W_hh the unit matrix": lambda **inputs: loop(
        **inputs,
        start=lambda name, shape: np.eye(*shape) if name == "W_hh" else inputs["rng"].normal(size=shape),
    ),
    "biases of ones": starting(lambda rng, shape: 0.1 * rng.normal(size=shape), lambda rng, shape: np.ones(shape)),
    "W_hy of zeros": lambda **inputs: loop(
        **inputs, start=lambda name, shape: inputs["rng"].normal(size=shape) * (name != "W_hy")
    ),
    "a child of the generator": lambda **inputs: loop(
        **inputs, start=lambda name, shape: inputs["rng"].spawn(1)[0].normal(size=shape)
    ),
    "a list of results": training(result=lambda losses, params: [losses, params]),
}


@for_each("name", WRONG_LOOPS)
def test_a_loop_that_is_nearly_right_fails_and_gets_no_wrong_name(name):
    function, true = WRONG_LOOPS[name]
    for seed in SEEDS:
        verdict = trained(function, seed)
        assert not verdict
        assert verdict.diagnosis is None or verdict.diagnosis.id in true


@for_each("name", NAMED_LOOPS)
def test_a_slip_in_a_loop_is_named_however_it_is_written(name):
    function, mistake = NAMED_LOOPS[name]
    for seed in SEEDS:
        verdict = trained(function, seed)
        assert not verdict
        assert (seed, verdict.diagnosis and verdict.diagnosis.id) == (seed, mistake)


def test_a_chunk_that_lacks_its_last_target_is_shown_with_what_is_missing():
    verdict = trained(NAMED_LOOPS["N // T chunks"][0])
    (problem,) = next(case.problems for case in verdict.cases if case.problems)
    assert re.fullmatch(
        r"chunks: update 3, where the text starts again: inputs = ids\[0:3\], \[\d, \d, \d\], "
        r"targets = ids\[1:4\], \[\d, \d, \d\]; got inputs \[\d, \d, \d\], targets \[\d, \d\]",
        problem.text,
    )


def test_of_two_calls_for_each_update_only_that_is_said():
    def calls_again_after_the_step(loss_and_grads, **inputs):
        def twice(params, *chunk):
            answer = loss_and_grads(params, *chunk)
            loss_and_grads({name: theta + 1 for name, theta in params.items()}, *chunk)
            return answer

        return loop(loss_and_grads=twice, **inputs)

    verdict = trained(calls_again_after_the_step)
    assert not verdict
    assert verdict.diagnosis is None
    (problem,) = verdict.cases[0].problems
    assert problem.text == "4 updates, with one call of `loss_and_grads` each; there were 8 calls"


def test_after_an_update_too_many_the_losses_are_as_many_as_were_asked_for():
    text = verdict_text(trained(training(more=1)))
    assert "4 updates, with one call of `loss_and_grads` each; there were 5 calls" in text
    assert "losses: got (5,), expected (4,), that is (U)" in text


@for_each("name", RIGHT_LOOPS)
def test_a_loop_that_is_right_in_another_way_passes(name):
    for seed in SEEDS:
        verdict = trained(RIGHT_LOOPS[name], seed)
        assert verdict, verdict


def test_hello_is_learnt_from_any_sensible_start():
    for name in ("larger weights", "W_hy of zeros", "a hundredth", "orthogonal", "Xavier, uniform", "biases of ones"):
        assert exercise(TRAIN).verdict(RIGHT_LOOPS[name]).status == "passed"


def test_matrices_of_zeros_cost_the_points_for_the_weights_even_where_hello_is_learnt():
    """With random biases the network learns its word all the same; the matrices were to be random nevertheless."""
    verdict = exercise(TRAIN).verdict(NAMED_LOOPS["matrices of zeros, random biases"][0])
    assert [facet.name for facet in verdict.facets if not facet.earned] == ["weights and losses", "hello"]
    assert {problem.text for case in verdict.cases for problem in case.problems} == {
        "params: matrices that start from small random numbers; W_xh, W_hh and W_hy all start at zero"
    }
    assert verdict.diagnosis.id == "only_biases_random"


def test_a_network_that_does_not_learn_hello_is_told_its_loss():
    def lazy(num_updates, **inputs):
        losses, params = loop(num_updates=min(num_updates, 3) if num_updates == 300 else num_updates, **inputs)
        return np.resize(losses, num_updates), params

    verdict = exercise(TRAIN).verdict(lazy)
    assert [facet.name for facet in verdict.facets if not facet.earned] == ["hello"]
    assert "the loss at the last update: got" in verdict_text(verdict)


JUNK = (None, 3, "text", [], {}, np.zeros((2, 2)), np.array(["a"], dtype=object).tolist(), [[1], [1, 2]], float("nan"))


@for_each("junk", JUNK)
@for_each("name", ["params", "inputs", "targets", "h_0"])
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
