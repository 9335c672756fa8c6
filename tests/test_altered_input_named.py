"""Work on the course's exercises whose one slip no spec names: what it is told, on public and on hidden cases, and what
gets no name because none would be true.
"""

import numpy as np

from grader.spec.trials import Trial
from tests.conftest import SEEDS, exercise
from tests.loops import for_each
from tests.trials_judged import problems


def softmax(z, axis=-1):
    powers = np.exp(z - z.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def rnn_step(x_t, h_prev, W_xh, W_hh, b_h):
    return np.tanh(x_t @ W_xh + h_prev @ W_hh + b_h)


def rnn_forward(x, h_0, W_xh, W_hh, b_h, read=lambda x, t: x[:, t]):
    states = [h_0]
    for t in range(x.shape[1]):
        states.append(np.tanh(read(x, t) @ W_xh + states[-1] @ W_hh + b_h))
    return np.stack(states[1:], axis=1)


def concatenated_weights(W_xh, W_hh):
    return np.vstack([W_xh, W_hh])


def classify_last(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    return rnn_forward(x, h_0, W_xh, W_hh, b_h)[np.arange(len(x)), lengths - 1] @ W_hy + b_y


def surprise(logits, targets):
    log_p = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    return -np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]


def sequence_loss(logits, targets):
    return surprise(logits, targets).mean()


def sample_id(probs, u):
    return min(int((np.cumsum(probs) <= u).sum()), int(np.flatnonzero(probs)[-1]))


def generate(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    ids, h = [start_id], h_0
    for t in range(num_steps):
        h = np.tanh(W_xh[ids[-1:]] + h @ W_hh + b_h)
        logits = (h @ W_hy + b_y)[0]
        ids.append(int(logits.argmax()) if u is None else sample_id(softmax(logits), u[t]))
    return np.array(ids[1:], dtype=np.int64)


def cross_entropy_backward(logits, targets):
    return (softmax(logits) - np.eye(logits.shape[2])[targets]) / targets.size


def rnn_step_backward(dh_t, x_t, h_prev, h_t, W_xh, W_hh):
    da = dh_t * (1 - h_t**2)
    return da @ W_xh.T, da @ W_hh.T, x_t.T @ da, h_prev.T @ da, da.sum(axis=0)


def rnn_backward(dh, x, h_0, h, W_xh, W_hh, tau=10**6):
    before, da, dh_next = np.concatenate([h_0[:, None], h[:, :-1]], axis=1), np.zeros(h.shape), np.zeros(h_0.shape)
    for t in reversed(range(h.shape[1])):
        da[:, t] = (dh[:, t] + dh_next * ((t + 1) % tau != 0)) * (1 - h[:, t] ** 2)
        dh_next = da[:, t] @ W_hh.T
    dW_xh, dW_hh = (np.einsum("bti,bth->ih", a, da) for a in (x, before))
    return da @ W_xh.T, dh_next, dW_xh, dW_hh, da.sum(axis=(0, 1))


def truncated_bptt(dh, x, h_0, h, W_xh, W_hh, tau):
    return rnn_backward(dh, x, h_0, h, W_xh, W_hh, tau)[2:]


def embedding_backward(de, ids, vocab_size):
    dE = np.zeros((vocab_size, de.shape[2]))
    np.add.at(dE, ids, de)
    return dE


def relative_error(a, b):
    size = np.abs(a) + np.abs(b)
    return (np.abs(a - b) / np.where(size > 0, size, 1)).max()


def numerical_gradient(f, theta, eps=1e-5):
    gradient = np.zeros(theta.shape)
    for i in np.ndindex(theta.shape):
        step = np.zeros(theta.shape)
        step[i] = eps
        gradient[i] = (f(theta + step) - f(theta - step)) / (2 * eps)
    return gradient


def adagrad_step(theta, grad, cache, lr, eps=1e-8):
    cache = cache + grad**2
    return theta - lr * grad / (np.sqrt(cache) + eps), cache


def given(function, **changes):
    """The right function of inputs that are mistaken."""
    return lambda **inputs: function(**{name: changes.get(name, lambda v: v)(v) for name, v in inputs.items()})


def then(function, change):
    """The right function, and then something done to its result."""
    return lambda **inputs: change(function(**inputs))


def at(place, change):
    """A change of one of several results."""
    return lambda results: tuple(change(r) if i == place else r for i, r in enumerate(results))


def reversed_in_time(a):
    return a[:, ::-1]


def never(a):
    return 0 * a


# The exercise, the work, and its name.
NAMED = {
    "the bias added to both products": (rnn_step, given(rnn_step, b_h=lambda b: 2 * b), "altered input: doubled b_h"),
    "h_prev[0]": (rnn_step, given(rnn_step, h_prev=lambda h: h[:1]), "altered input: first_row h_prev"),
    "squeezed": (rnn_step, then(rnn_step, np.squeeze), "after: squeeze"),
    "x[:, t - 1]": (
        rnn_forward,
        lambda **inputs: rnn_forward(**inputs, read=lambda x, t: x[:, t - 1]),
        "altered input: late x",
    ),
    "states in the order of a walk back": (
        rnn_forward,
        given(rnn_forward, x=reversed_in_time),
        "altered input: backward x",
    ),
    "the mean state": (rnn_forward, then(rnn_forward, lambda h: h.mean(axis=1)), "after: mean over T"),
    "half an array filled": (
        concatenated_weights,
        given(concatenated_weights, W_hh=never),
        "altered input: zeros W_hh",
    ),
    "one minus": (softmax, then(softmax, lambda p: 1 - p), "after: complement"),
    "a minus in the exponent": (softmax, given(softmax, z=np.negative), "altered input: negated z"),
    "h_0 left out": (classify_last, given(classify_last, h_0=never), "altered input: zeros h_0"),
    "W_hh turned round": (
        classify_last,
        given(classify_last, W_hh=np.transpose),
        "altered input: transposed W_hh",
    ),
    "softmax of probabilities": (
        sequence_loss,
        given(sequence_loss, logits=softmax),
        "altered input: softmax logits",
    ),
    "a loss for each token": (sequence_loss, surprise, "after: mean missing"),
    "u from above": (sample_id, given(sample_id, u=lambda u: 1 - u), "altered input: one_minus u"),
    "begins with id 0": (generate, given(generate, start_id=lambda i: 0), "altered input: zero start_id"),
    "stops one step early": (
        generate,
        given(generate, num_steps=lambda n: max(n - 1, 0)),
        "altered input: less num_steps",
    ),
    "the next target": (
        cross_entropy_backward,
        given(cross_entropy_backward, targets=lambda y: np.roll(y, -1, axis=1)),
        "altered input: early targets",
    ),
    "db_h as a row": (
        rnn_step_backward,
        then(rnn_step_backward, at(4, lambda g: g[None])),
        "after: squeeze of axis=-2 missing",
    ),
    "every dh that of the last step": (
        rnn_backward,
        given(rnn_backward, dh=lambda d: np.repeat(d[:, -1:], d.shape[1], axis=1)),
        "altered input: last_step dh",
    ),
    "what is carried subtracted": (rnn_backward, given(rnn_backward, W_hh=np.negative), "altered input: negated W_hh"),
    "dx with time in front": (
        rnn_backward,
        then(rnn_backward, at(0, lambda g: g.swapaxes(0, 1))),
        "after: axes B and T exchanged",
    ),
    "a cut at every step": (
        truncated_bptt,
        given(truncated_bptt, tau=lambda tau: 1),
        "altered input: zeros W_hh | one tau",
    ),
    "as many rows as ids, and one": (
        embedding_backward,
        given(embedding_backward, vocab_size=lambda v: v + 1),
        "altered input: more vocab_size",
    ),
    "every sequence's first ids": (
        embedding_backward,
        given(embedding_backward, ids=lambda i: np.repeat(i[:1], len(i), axis=0)),
        "altered input: first_row ids",
    ),
    "one minus the error": (relative_error, then(relative_error, lambda e: 1 - e), "after: complement"),
    "the value beside the gradient": (
        numerical_gradient,
        lambda f, theta, eps=1e-5: (f(theta), numerical_gradient(f, theta, eps)),
        "after: [-1] missing",
    ),
    "lr forgotten": (adagrad_step, given(adagrad_step, lr=lambda r: 1.0), "altered input: one lr"),
    "divided by lr": (adagrad_step, given(adagrad_step, lr=lambda r: 1 / r), "altered input: inverse lr"),
}


@for_each("what", NAMED)
def test_a_slip_is_named_and_told_in_the_same_words_on_hidden_cases(what):
    function, student, name = NAMED[what]
    verdicts = [exercise(function.__name__).verdict(student, seed) for seed in SEEDS]
    assert [v.diagnosis and v.diagnosis.id for v in verdicts] == [name] * len(SEEDS)
    assert len({v.diagnosis.text for v in verdicts}) == 1  # so it tells nothing of the inputs


UNNAMED = {
    "softmax for tanh": (rnn_step, lambda x_t, h_prev, W_xh, W_hh, b_h: softmax(x_t @ W_xh + h_prev @ W_hh + b_h)),
    "one weight for both": (
        rnn_step,
        lambda x_t, h_prev, W_xh, W_hh, b_h: np.tanh((x_t @ W_xh + h_prev) @ W_hh + b_h),
    ),
    "no input and no tanh": (rnn_step, lambda x_t, h_prev, W_xh, W_hh, b_h: h_prev @ W_hh + b_h),
    "the walk of the reversed text, put in order": (
        rnn_forward,
        lambda x, **more: reversed_in_time(rnn_forward(reversed_in_time(x), **more)),
    ),
    "no start, and no bias": (rnn_forward, given(rnn_forward, h_0=never, b_h=never)),
    "one part squared": (concatenated_weights, lambda W_xh, W_hh: np.vstack([W_xh, W_hh**2])),
    "the right one, plus a little": (classify_last, then(classify_last, lambda z: z + 1e-6)),
    "the worst token": (sequence_loss, lambda logits, targets: surprise(logits, targets).max()),
    "u squared": (sample_id, given(sample_id, u=np.square)),
    "ids in a row of their own": (generate, given(generate, start_id=lambda i: i, h_0=np.ones_like, b_y=never)),
    "W_hh there and back": (
        rnn_step_backward,
        then(rnn_step_backward, at(3, lambda g: g + g.T)),
    ),
    "dh of the future squared": (rnn_backward, given(rnn_backward, dh=np.square)),
    "tau doubled": (truncated_bptt, given(truncated_bptt, tau=lambda tau: 2 * tau, h_0=never)),
    "every other step": (
        embedding_backward,
        lambda de, ids, vocab_size: embedding_backward(de[:, ::2], ids[:, ::2], vocab_size),
    ),
    "errors in a row": (relative_error, lambda a, b: relative_error(a.ravel()[:2], b.ravel()[:2])),
    "lr squared": (adagrad_step, given(adagrad_step, lr=np.square)),
}


@for_each("what", UNNAMED)
def test_what_no_slip_explains_gets_no_name(what):
    function, student = UNNAMED[what]
    assert not list(problems(function.__name__, Trial("unnamed", student, False, frozenset({None}))))


@for_each("function", dict.fromkeys(f for f, *_ in NAMED.values()))
def test_what_they_are_made_from_is_right(function):
    assert exercise(function.__name__).verdict(function)
