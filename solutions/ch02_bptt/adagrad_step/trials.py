"""Programs that the spec of `adagrad_step` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.author.trials import Trials

TRIALS = Trials()


def step(rule):
    return lambda theta, grad, cache, lr, eps=1e-8: rule(theta, grad, cache, lr, eps)


def in_place(theta, grad, cache, lr, eps=1e-8):
    cache += grad**2
    theta -= lr * grad / (np.sqrt(cache) + eps)
    return theta, cache


WRONG = {
    "only the cache in place": (
        step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c.__iadd__(g**2)) + eps), c)),
        set(),
    ),
    "no lr": (step(lambda t, g, c, lr, eps: (t - g / (np.sqrt(c + g**2) + eps), c + g**2)), {"counterfactual: one lr"}),
    "in place": (in_place, set()),
    "theta alone": (step(lambda t, g, c, lr, eps: t - lr * g / (np.sqrt(c + g**2) + eps)), set()),
    "the other order": (step(lambda t, g, c, lr, eps: (c + g**2, t - lr * g / (np.sqrt(c + g**2) + eps))), {"order"}),
    "root of the cache comes back": (
        step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c + g**2) + eps), np.sqrt(c + g**2))),
        {"after: square missing For cache"},
    ),
    "sign of the gradient": (step(lambda t, g, c, lr, eps: (t - lr * np.sign(g), c + g**2)), set()),
    "twice the square": (
        step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c + 2 * g**2) + eps), c + 2 * g**2)),
        set(),
    ),
    "another eps": (step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c + g**2) + 1e-3), c + g**2)), set()),
    "eps twice": (step(lambda t, g, c, lr, eps: (t - lr * g / (np.sqrt(c + g**2) + 2 * eps), c + g**2)), set()),
    "clipped at ten": (
        step(
            lambda t, g, c, lr, eps: (
                t - lr * g.clip(-10, 10) / (np.sqrt(c + g.clip(-10, 10) ** 2) + eps),
                c + g.clip(-10, 10) ** 2,
            )
        ),
        set(),
    ),
    "the step alone": (
        step(lambda t, g, c, lr, eps: (-lr * g / (np.sqrt(c + g**2) + eps), c + g**2)),
        {"counterfactual: zeros theta"},
    ),
    "lr inside": (step(lambda t, g, c, lr, eps: (t - g / (np.sqrt(c + g**2) / lr + eps), c + g**2)), set()),
}


RIGHT = {
    "hypot": step(lambda t, g, c, lr, eps: (t - lr * g / (np.hypot(np.sqrt(c), g) + eps), c + g * g)),
    "lr below": step(lambda t, g, c, lr, eps: (t - g / ((np.sqrt(c + g**2) + eps) / lr), c + g**2)),
}

TRIALS.all_wrong({title: (program, {None, *true}) for title, (program, true) in WRONG.items()})
TRIALS.all_right(RIGHT)


TRIALS.all_wrong(
    {
        "no default": ([("eps=1e-8", "eps")], None, 0.0),
    }
)
