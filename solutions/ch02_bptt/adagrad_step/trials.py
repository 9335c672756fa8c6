"""Programs that the spec of `adagrad_step` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

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
    "no lr": (step(lambda t, g, c, lr, eps: (t - g / (np.sqrt(c + g**2) + eps), c + g**2)), {"altered input: one lr"}),
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
        {"altered input: zeros theta"},
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


def by_entry(entries):
    """A loop over some of the entries of the first axis; the others stay as they are."""

    def student(theta, grad, cache, lr, eps=1e-8):
        after = [*theta], [*cache]
        for i in entries(len(theta)):
            after[1][i] = cache[i] + grad[i] ** 2
            after[0][i] = theta[i] - lr * grad[i] / (after[1][i] ** 0.5 + eps)
        return tuple(map(np.array, after))

    return student


TRIALS.all_wrong(
    {
        "all rows but the last": (by_entry(lambda n: range(n - 1)), "some_entries_left_out"),
        "the first row": (by_entry(lambda n: [0]), "some_entries_left_out"),
        "all rows but the first": (by_entry(lambda n: range(1, n)), "some_entries_left_out"),
        "every other row": (by_entry(lambda n: range(0, n, 2)), None),
        "no root, lr in front": (
            step(lambda t, g, c, lr, eps: (t - lr / (c + g * g + eps) * g, c + g * g)),
            "root_left_out",
        ),
        "eps where the root is smaller": (
            step(
                lambda t, g, c, lr, eps: (
                    t - lr * g / np.where(np.sqrt(c + g**2) < eps, eps, np.sqrt(c + g**2)),
                    c + g**2,
                )
            ),
            "eps_as_a_minimum",
        ),
        "the root of the square of the gradient above": (
            step(lambda t, g, c, lr, eps: (t - lr * np.sqrt(g * g) / (np.sqrt(c + g * g) + eps), c + g * g)),
            "size_of_the_gradient_in_the_step",
        ),
    }
)
TRIALS.all_right({"row by row": by_entry(range)})
