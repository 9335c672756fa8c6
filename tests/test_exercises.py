"""The course's exercises: each mistake is named, each way of being right passes, and nothing is given a wrong name."""

import numpy as np
import pytest

from grader.manifest import load_manifest
from tests.conftest import ROOT, exercise

MORE_SEEDS = range(3, 21)


IDS = tuple(load_manifest(ROOT / "course.toml").places)


@pytest.mark.slow
@pytest.mark.parametrize("exercise_id", IDS)
def test_every_mistake_fails_is_named_and_earns_what_it_keeps(exercise_id):
    subject = exercise(exercise_id)
    for name, mistake in subject.spec.named_mistakes.items():
        for number, way in enumerate(mistake.functions, 1):
            for seed in MORE_SEEDS:
                verdict = subject.verdict(way, seed)
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


def relu(a):
    return np.maximum(a, 0)


def a(x_t, h_prev, W_xh, W_hh, b_h):
    return x_t @ W_xh + h_prev @ W_hh + b_h


def h(*arguments):
    return np.tanh(a(*arguments))


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
    "input reversed": (before(lambda x, *r: (x[:, ::-1], *r)), {"altered input: backward x"}),
    "run backwards": (lambda x, **r: states(x[:, ::-1], **r)[:, ::-1], set()),
    "accumulated": (after(lambda r: r.cumsum(axis=1)), {"after: running sum along T"}),
    "averaged so far": (after(lambda r: r.cumsum(1) / np.arange(1, r.shape[1] + 1)[:, None]), {"first_step_only"}),
    "the input before": (run(lambda t, x, s, *w: h(x[:, t - 1], s[-1], *w)), {"altered input: late x"}),
    "the input after": (run(lambda t, x, s, *w: h(x[:, (t + 1) % x.shape[1]], s[-1], *w)), {"altered input: early x"}),
    "always the first input": (run(lambda t, x, s, *w: h(x[:, 0], s[-1], *w)), {"altered input: first_step x"}),
    "the mean input": (run(lambda t, x, s, *w: h(x.mean(axis=1), s[-1], *w)), set()),
    "no state at all": (run(lambda t, x, s, W, U, b: np.tanh(x[:, t] @ W + b)), {"altered input: zeros W_hh"}),
    "no input": (run(lambda t, x, s, W, U, b: np.tanh(s[-1] @ U + b)), {"altered input: zeros x | zeros W_xh"}),
    "the state of two steps ago": (run(lambda t, x, s, *w: h(x[:, t], s[max(0, len(s) - 2)], *w)), {"first_step_only"}),
    "h_0 at odd steps": (run(lambda t, x, s, *w: h(x[:, t], s[0] if t % 2 else s[-1], *w)), {"first_step_only"}),
    "zero state after the first": (run(lambda t, x, s, *w: h(x[:, t], s[-1] * (t == 0), *w)), {"first_step_only"}),
    "a residual": (run(lambda t, x, s, *w: s[-1] + h(x[:, t], s[-1], *w)), set()),
    "W_hh twice": (run(lambda t, x, s, W, U, b: h(x[:, t], s[-1], W, U @ U, b)), set()),
    "W_hh transposed": (
        run(lambda t, x, s, W, U, b: h(x[:, t], s[-1], W, U.T, b)),
        {"altered input: transposed W_hh"},
    ),
    "no bias": (run(lambda t, x, s, W, U, b: h(x[:, t], s[-1], W, U, 0)), {"altered input: zeros b_h"}),
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
        {"altered input: first_row h_0"},
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


def test_a_changed_input_is_named_in_the_report():
    verdict = exercise("rnn_forward").verdict(changes_h_0)
    assert all(case.problems[-1].text.startswith("your function changes `h_0`") for case in verdict.cases)


def row_by_row(x, h_0, W_xh, W_hh, b_h):
    result = []
    for sequence, state in zip(x, h_0, strict=True):
        rows = []
        for x_t in sequence:
            state = np.tanh(x_t @ W_xh + state @ W_hh + b_h)
            rows.append(state)
        result.append(rows)
    return np.array(result)


def test_where_the_step_is_wrong_it_is_to_be_mended_first():
    verdict = exercise("rnn_forward").verdict(WRONG_FORWARDS["run backwards"][0], wrong_needs=("rnn_step",))
    assert verdict.diagnosis.id == "needs"
    assert verdict.diagnosis.text.startswith("This exercise builds on `rnn_step`, which failed when last checked.")


def test_a_mistake_of_its_own_comes_before_what_it_builds_on():
    way = exercise("rnn_forward").spec.named_mistakes["starts_from_zero"].functions[0]
    assert exercise("rnn_forward").verdict(way, wrong_needs=("rnn_step",)).diagnosis.id == "starts_from_zero"


def test_nothing_is_to_be_mended_where_all_is_right():
    assert exercise("rnn_forward").verdict(row_by_row, wrong_needs=("rnn_step",)).diagnosis is None
