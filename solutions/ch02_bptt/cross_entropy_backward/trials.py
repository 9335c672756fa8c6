"""Programs that the spec of `cross_entropy_backward` does not contain; beside each wrong one is what it is told."""

import numpy as np
import torch

from grader.spec.trials import Trials, in_order

TRIALS = Trials()


def p(z, axis=-1):
    return np.exp(z - np.logaddexp.reduce(z, axis=axis, keepdims=True))


def came(logits, targets):
    return np.eye(logits.shape[2])[targets]


def right_logits(logits, targets):
    return (p(logits) - came(logits, targets)) / targets.size


def by_finite_differences(logits, targets, eps=1e-6):
    def loss(z):
        return -np.take_along_axis(z - np.logaddexp.reduce(z, axis=2, keepdims=True), targets[..., None], 2).mean()

    result = np.zeros(logits.shape)
    for i in np.ndindex(logits.shape):
        step = np.zeros(logits.shape)
        step[i] = eps
        result[i] = (loss(logits + step) - loss(logits - step)) / (2 * eps)
    return result


def softmax_by_hand_that_subtracts_the_mean(logits, targets):
    e = np.exp(logits - logits.mean(axis=2, keepdims=True))
    return (e / e.sum(axis=2, keepdims=True) - came(logits, targets)) / targets.size


def softmax_given(z, axis=-1):
    powers = np.exp(z - np.max(z, axis, keepdims=True))
    return powers / np.sum(powers, axis, keepdims=True)


WRONG = {
    "/ T * B": (lambda z, y: (p(z) - came(z, y)) / z.shape[1] * z.shape[0], None),
    "one part divided by the batch": (lambda z, y: p(z) / len(z) - came(z, y), None),
    "1 taken away everywhere, not divided": (lambda z, y: p(z) - 1, None),
    "1 taken away at other ids": (lambda z, y: (p(z) - 1 + came(z, y)) / y.size, None),
    "one-hot squared error": (lambda z, y: (p(z) - came(z, y)) * p(z) * (1 - p(z)) / y.size, None),
    "the softmax's own slope": (lambda z, y: p(z) * (1 - p(z)) / y.size, None),
    "targets one late": (lambda z, y: right_logits(z, np.roll(y, 1, axis=1)), "altered input: late targets"),
    "targets of the next row": (lambda z, y: right_logits(z, np.roll(y, 1, axis=0)), None),
    "two at the target": (lambda z, y: (p(z) - 2 * came(z, y)) / y.size, None),
    "only the last step": (
        lambda z, y: right_logits(z, y) * (np.arange(z.shape[1]) == z.shape[1] - 1)[:, None],
        "last_step_only",
    ),
    "divided by B + T": (lambda z, y: right_logits(z, y) * y.size / sum(y.shape), None),
    "divided by (B T) squared": (lambda z, y: right_logits(z, y) / y.size, None),
    "halved": (lambda z, y: right_logits(z, y) / 2, "constant_factor"),
    "in bits": (lambda z, y: right_logits(z, y) / np.log(2), "constant_factor"),
    "float32": (lambda z, y: right_logits(z, y).astype("f4"), "float32"),
    "rounded": (lambda z, y: right_logits(z, y).round(4), "rounded"),
    "finite differences": (by_finite_differences, None),
    "clipped": (lambda z, y: right_logits(z, y).clip(-0.01, 0.01), "cut_off"),
    "axes (B, V, T)": (lambda z, y: right_logits(z, y).swapaxes(1, 2), "after: axes T and V exchanged"),
    "flat": (lambda z, y: right_logits(z, y).reshape(-1, z.shape[2]), None),
    "summed over time": (lambda z, y: right_logits(z, y).sum(axis=1), "after: sum over T"),
    "the loss with it": (lambda z, y: (0.5, right_logits(z, y)), "after: [-1] missing"),
    "subtracts the mean, not the largest": (softmax_by_hand_that_subtracts_the_mean, None),
    "sign, not divided": (lambda z, y: -right_logits(z, y) * y.size, None),
    "no one-hot, not divided": (lambda z, y: p(z), None),
}


def autograd_logits(logits, targets):
    z = torch.from_numpy(logits).requires_grad_()
    (-torch.log_softmax(z, 2).gather(2, torch.from_numpy(targets)[..., None]).mean()).backward()
    return z.grad.numpy()


def through_the_softmax_jacobian(logits, targets):
    d = np.empty(logits.shape)
    for place in np.ndindex(targets.shape):
        q = p(logits[place])
        with np.errstate(all="ignore"):
            jacobian = np.diag(q) - np.outer(q, q)
            d_q = np.zeros(q.shape)
            d_q[targets[place]] = -1 / q[targets[place]] if q[targets[place]] > 1e-300 else 0
        by_hand = q.copy()
        by_hand[targets[place]] -= 1
        d[place] = jacobian @ d_q if q[targets[place]] > 1e-3 else by_hand
    return d / targets.size


RIGHT = {
    "/ B / T": lambda z, y: (softmax_given(z) - came(z, y)) / y.shape[0] / y.shape[1],
    "autograd": autograd_logits,
    "the softmax's Jacobian, where it can be": through_the_softmax_jacobian,
    "two divisions": lambda z, y: p(z) / y.size - came(z, y) / y.size,
    "mean of means": lambda z, y: (p(z) - came(z, y)) / len(z) / z.shape[1],
    "sigmoid of differences": lambda z, y: (
        (1 / np.exp(z[..., None, :] - z[..., None]).clip(None, 1e300).sum(axis=3) - came(z, y)) / y.size
    ),
    "longdouble": lambda z, y: right_logits(z.astype(np.longdouble), y).astype(float),
}

TRIALS.all_wrong(WRONG, make=in_order("logits", "targets"))
TRIALS.all_right(RIGHT, make=in_order("logits", "targets"))


TRIALS.all_wrong(
    {
        "an exception": (
            [
                (
                    "return (softmax(logits) - one_hot) / (B * T)",
                    "p = softmax(logits)\np[:, targets] -= 1\nreturn p / (B * T)",
                )
            ],
            None,
            0.0,
        ),
    }
)


def jacobian_once_more(logits, targets):
    probs, d = p(logits), right_logits(logits, targets)
    jacobian = np.einsum("btv,vw->btvw", probs, np.eye(probs.shape[2])) - probs[..., None] * probs[:, :, None]
    return np.einsum("btvw,btw->btv", jacobian, d)


def one_target_further(logits, targets):
    d = p(logits)
    for (b, t), following in np.ndenumerate(targets[:, 1:]):
        d[b, t, following] -= 1
    return d / targets.size


TRIALS.all_wrong(
    {
        "the softmax's Jacobian once more": (jacobian_once_more, "through_the_softmax_again"),
        "one target further": (one_target_further, "targets_shifted_again"),
        "the last step, in a list": (
            lambda z, y: np.stack([0 * z[:, 0]] * (z.shape[1] - 1) + [right_logits(z, y)[:, -1]], axis=1),
            "last_step_only",
        ),
    },
    make=in_order("logits", "targets"),
)
