"""Programs that the spec of `rnn_forward` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


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
    "the state of two steps ago": (
        run(lambda t, x, s, *w: h(x[:, t], s[max(0, len(s) - 2)], *w)),
        {"earlier_state_reused"},
    ),
    "the first state from then on": (
        run(lambda t, x, s, *w: h(x[:, t], s[min(t, 1)], *w)),
        {"earlier_state_reused"},
    ),
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
    "tanh only at the end": (kept_linear, {"pre_activation_passed_on"}),
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


def row_by_row(x, h_0, W_xh, W_hh, b_h):
    result = []
    for sequence, state in zip(x, h_0, strict=True):
        rows = []
        for x_t in sequence:
            state = np.tanh(x_t @ W_xh + state @ W_hh + b_h)
            rows.append(state)
        result.append(rows)
    return np.array(result)


RIGHT_FORWARDS = {
    "row by row": row_by_row,
    "another order of the sum": run(lambda t, x, s, W, U, b: np.tanh(b + s[-1] @ U + x[:, t] @ W)),
}

TRIALS.all_wrong(WRONG_FORWARDS)
TRIALS.all_right(RIGHT_FORWARDS)
