"""Programs that the spec of `numerical_gradient` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


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


def diagonal_only(f, theta, eps=1e-5):
    return central(f, theta, eps, entries=[i for i in np.ndindex(theta.shape) if len(set(i)) == 1])


def with_a_backup(f, theta, eps=1e-5):
    gradient, backup = np.zeros_like(theta), theta.copy()
    for i in np.ndindex(*theta.shape):
        theta[i] += eps
        above = f(theta)
        theta[i] -= 2 * eps
        gradient[i] = (above - f(theta)) / (2 * eps)
        theta[...] = backup
    return gradient


def units(theta, eps):
    return eps * np.eye(theta.size).reshape(-1, *theta.shape)


def relative_steps(f, theta, eps=1e-5):
    def gradient(i):
        up, down = theta.copy(), theta.copy()
        up[i] *= 1 + eps
        down[i] *= 1 - eps
        return (f(up) - f(down)) / (2 * eps)

    return np.array([gradient(i) for i in np.ndindex(theta.shape)]).reshape(theta.shape)


WRONG = {
    "relative steps": (relative_steps, set()),
    "transposed": (lambda f, theta, eps=1e-5: central(f, theta, eps).T, {"transposed"}),
    "sign": (lambda f, theta, eps=1e-5: -central(f, theta, eps), {"sign"}),
    "half": (lambda f, theta, eps=1e-5: central(f, theta, eps) / 2, {"constant_factor"}),
    "rounded": (lambda f, theta, eps=1e-5: central(f, theta, eps).round(4), {"rounded"}),
    "a tiny eps": (lambda f, theta, eps=1e-5: central(f, theta, 1e-13), set()),
    "a list": (lambda f, theta, eps=1e-5: central(f, theta, eps).tolist(), set()),
    "float32": (lambda f, theta, eps=1e-5: central(f, theta, eps).astype("f4"), {"float32"}),
    "an extra axis": (lambda f, theta, eps=1e-5: central(f, theta, eps)[None], set()),
    "diagonal only": (diagonal_only, set()),
    "plus eps": (averaged_over_one_side, set()),
    "a function of flat arrays": (lambda f, theta, eps=1e-5: central(lambda t: f(t.ravel()), theta, eps), set()),
    "no default": (lambda f, theta, eps: central(f, theta, eps), set()),
}


RIGHT = {
    "a backup": with_a_backup,
    "two divisions": lambda f, theta, eps=1e-5: central(lambda t: f(t) / eps, theta, eps) * eps,
    "from the value itself": lambda f, theta, eps=1e-5: central(lambda t: f(t) - f(theta), theta, eps),
    "a mean of both sides": lambda f, theta, eps=1e-5: np.array(
        [((f(theta + e) - f(theta)) / eps + (f(theta) - f(theta - e)) / eps) / 2 for e in units(theta, eps)]
    ).reshape(theta.shape),
}


def a_fixed_step(h):
    def gradient(f, theta, eps=1e-5):
        grad, theta = np.zeros_like(theta), theta.copy()
        for index in np.ndindex(theta.shape):
            old = theta[index]
            theta[index] = old + h
            above = f(theta)
            theta[index] = old - h
            grad[index] = (above - f(theta)) / (2 * h)
            theta[index] = old
        return grad

    return gradient


NAMED_NUMERICAL_GRADIENT = {
    "1e-6": (a_fixed_step(1e-6), "eps_not_used"),
    "a short step, however long": (lambda f, theta, eps=1e-5: central(f, theta, min(eps, 1e-5)), "eps_not_used"),
    "five points": (
        lambda f, theta, eps=1e-5: 4 / 3 * central(f, theta, eps) - 1 / 3 * central(f, theta, 2 * eps),
        "eps_not_used",
    ),
}

TRIALS.all_wrong({title: (program, {None, *true}) for title, (program, true) in WRONG.items()})
TRIALS.all_wrong(NAMED_NUMERICAL_GRADIENT)
TRIALS.all_right(RIGHT)


TRIALS.all_wrong(
    {
        "of one entry alone": (
            [("above = f(theta)", "above = f(theta[index])"), ("below = f(theta)", "below = f(theta[index])")],
            None,
            0.0,
        ),
    }
)
