"""Programs that the spec of `generate` does not contain; beside each wrong one is what it is told."""

import random

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def log_softmax(z, axis=-1):
    return z - np.logaddexp.reduce(z, axis=axis, keepdims=True)


def p(z, axis=-1):
    return np.exp(log_softmax(z, axis))


def last_possible(probs):
    return int(np.flatnonzero(probs)[-1])


def right_id(probs, u):
    return min(int((np.cumsum(probs) <= u).sum()), last_possible(probs))


def writer(
    choose=None,
    step=None,
    start=lambda id_, h_0: (id_, h_0),
    result=lambda ids: np.array(ids, dtype=np.int64),
    fed=None,
):
    """The right loop with one part of it exchanged."""

    def student(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
        ids, (x, h) = [], start(start_id, h_0)
        for t in range(num_steps):
            h = np.tanh(W_xh[[x]] + h @ W_hh + b_h) if step is None else step(x, h, W_xh, W_hh, b_h)
            logits = (h @ W_hy + b_y)[0]
            if choose is not None:
                new = choose(logits, u, t)
            elif u is None:
                new = int(logits.argmax())
            else:
                new = right_id(p(logits), u[t])
            ids.append(new)
            x = new if fed is None else fed(new, logits, t)
        return result(ids)

    return student


def draw(change):
    """Greedy as it should be; drawing by change(logits, u, t)."""
    return writer(choose=lambda logits, u, t: int(logits.argmax()) if u is None else change(logits, u, t))


def fed_with_probabilities(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    x, ids = np.eye(len(W_xh))[[start_id]], []
    for t in range(num_steps):
        h_0 = np.tanh(x @ W_xh + h_0 @ W_hh + b_h)
        x = p(h_0 @ W_hy + b_y)
        ids.append(int(x.argmax()) if u is None else right_id(x[0], u[t]))
    return np.array(ids, dtype=np.int64)


def no_default(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u):
    return writer()(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u)


def truth_of_u(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    return writer()(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u if u else None)


def changes_the_state(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    def step(x, h, *weights):
        h_0[:] = np.tanh(weights[0][[x]] + h @ weights[1] + weights[2])
        return h_0

    return writer(step=step)(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u)


def squashed(z, u, t):
    z = np.tanh(z)
    return int(z.argmax()) if u is None else right_id(p(z), u[t])


def fed_if_greedy(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    ids, read = [], start_id
    for t in range(num_steps):
        h_0 = np.tanh(W_xh[[read]] + h_0 @ W_hh + b_h)
        z = (h_0 @ W_hy + b_y)[0]
        if u is None:
            read = int(z.argmax())
        ids.append(read if u is None else right_id(p(z), u[t]))
    return np.array(ids, dtype=np.int64)


def reads_again(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    text, state = [start_id], h_0
    for t in range(num_steps):
        for each in text:
            state = np.tanh(W_xh[[each]] + state @ W_hh + b_h)
        z = (state @ W_hy + b_y)[0]
        text = [*text, int(z.argmax()) if u is None else right_id(p(z), u[t])]
    return np.array(text[1:], dtype=np.int64)


WRONG = {
    "text": (writer(result=lambda ids: "".join(map(str, ids))), set()),
    "a column": (
        writer(result=lambda ids: np.array(ids, dtype=np.int64)[:, None]),
        {None},
    ),
    "booleans": (writer(result=lambda ids: np.array(ids, dtype=bool)), set()),
    "reversed": (writer(result=lambda ids: np.array(ids[::-1], dtype=np.int64)), {"after: reversed along T"}),
    "one step fewer": (
        writer(result=lambda ids: np.array(ids[:-1], dtype=np.int64)),
        {"altered input: less num_steps"},
    ),
    "only the last id": (writer(result=lambda ids: ids[-1] if ids else 0), {None, "last_id_only"}),
    "from a zero state": (writer(start=lambda id_, h_0: (id_, 0 * h_0)), {None, "altered input: zeros h_0"}),
    "from id 0": (writer(start=lambda id_, h_0: (0, h_0)), {"altered input: zero start_id"}),
    "no bias": (writer(step=lambda x, h, W, U, b: np.tanh(W[[x]] + h @ U)), {"altered input: zeros b_h"}),
    "no input": (writer(step=lambda x, h, W, U, b: np.tanh(h @ U + b)), {"altered input: zeros W_xh"}),
    "no state": (writer(step=lambda x, h, W, U, b: np.tanh(W[[x]] + b)), {"altered input: zeros W_hh"}),
    "the number of the id as input": (writer(step=lambda x, h, W, U, b: np.tanh(x * W[:1] + h @ U + b)), set()),
    "below for above": (draw(lambda z, u, t: int((np.cumsum(p(z)) < u[t]).argmax())), {"every_sampled_id_is_0"}),
    "softmax of the column": (
        draw(lambda z, u, t: next(i for i, v in enumerate(np.exp(z[:, None] - z[:, None])) if v > u[t])),
        {"every_sampled_id_is_0"},
    ),
    "logits between -1 and 1": (writer(choose=squashed), {"tanh_of_the_logits"}),
    "searched among nan": (
        draw(lambda z, u, t: int(np.searchsorted(np.cumsum(np.exp(z) / np.exp(z).sum()), u[t], side="right"))),
        {"softmax_overflows"},
    ),
    "no logit above 100": (draw(lambda z, u, t: right_id(p(np.where(z > 100, 100, z)), u[t])), {"logits_clipped"}),
    "reads what was greedily chosen last": (fed_if_greedy, {"sampled_id_not_fed_back"}),
    "the text again": (reads_again, {"text_read_again"}),
    "the least likely": (draw(lambda z, u, t: int(z.argmin())), set()),
    "the least likely, greedily": (writer(choose=lambda z, u, t: int(z.argmin())), set()),
    "u from the end": (draw(lambda z, u, t: right_id(p(z), u[-1 - t])), {"altered input: backward u"}),
    "the next u": (draw(lambda z, u, t: right_id(p(z), u[(t + 1) % len(u)])), {"altered input: early u"}),
    "one minus u": (draw(lambda z, u, t: right_id(p(z), 1 - u[t])), set()),
    "numbers of its own": (draw(lambda z, u, t: right_id(p(z), random.Random(t).random())), set()),
    "softmax twice": (draw(lambda z, u, t: right_id(p(p(z)), u[t])), set()),
    "always draws": (writer(choose=lambda z, u, t: right_id(p(z), 0.5 if u is None else u[t])), set()),
    "fed with probabilities": (fed_with_probabilities, set()),
    "no default for u": (no_default, set()),
    "asks whether u is true": (truth_of_u, set()),
    "changes h_0": (changes_the_state, set()),
}


RIGHT = {
    "int32": writer(result=lambda ids: np.array(ids, dtype=np.int32)),
}

TRIALS.all_wrong(WRONG)
TRIALS.all_right(RIGHT)
