"""How `adagrad_step` is checked: against torch.optim.Adagrad, which adds eps in the same place."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec


def oracle(theta, grad, cache, lr, eps=1e-8):
    """PyTorch's own step, begun with this sum of squares."""
    parameter = torch.nn.Parameter(torch.tensor(theta))
    optimiser = torch.optim.Adagrad([parameter], lr=lr, eps=eps)
    optimiser.state[parameter]["sum"].copy_(torch.tensor(cache))
    parameter.grad = torch.tensor(grad)
    optimiser.step()
    return parameter.detach().numpy(), optimiser.state[parameter]["sum"].numpy()


EXAMPLE = Case(
    sizes={"D": 1, "H": 3},
    inputs={
        "theta": np.array([[1.00, -0.50, 0.20]]),
        "grad": np.array([[-0.60, 1.20, 0.00]]),
        "cache": np.array([[0.64, 0.25, 0.00]]),
        "lr": 0.10,
        "eps": 0.20,
    },
)

SYMBOLS = {1: "H", 2: "DH", 3: "BTH"}


def case(rng, *shape, lr, first=False, still=0, large=1.0, **more):
    """`first`: nothing is in the cache yet. `still`: so many entries have never had a gradient. `large`: a factor."""
    grad = rng.uniform(0.2, 2, size=shape) * rng.choice([-1, 1], size=shape)
    grad *= large
    cache = np.zeros(shape) if first else rng.uniform(0.5, 3, size=shape) ** 2
    never = rng.permutation(grad.size)[:still]
    grad.flat[never] = cache.flat[never] = 0
    inputs = {"theta": rng.normal(size=shape), "grad": grad, "cache": cache, "lr": lr, **more}
    return Case(dict(zip(SYMBOLS[len(shape)], shape, strict=True)), inputs)


def cases(rng):
    yield case(rng, 3, 4, lr=0.1)
    yield case(rng, 3, 3, lr=0.05, eps=0.03)
    yield case(rng, 4, lr=0.2, still=1)
    yield case(rng, 2, 3, 4, lr=0.1, still=4, eps=1e-4)
    yield case(rng, 1, 2, lr=0.3, first=True)
    yield case(rng, 2, 1, lr=1.5, eps=0.5)
    yield case(rng, 5, 2, lr=0.1, large=30.0)
    yield case(rng, 4, 3, lr=0.2, eps=7.0)


SPEC = Spec(
    outputs=[Output("theta"), Output("cache")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("theta", 1, outputs=("theta",)), Facet("cache", 1, outputs=("cache",))],
    why="""
The cache holds, for each weight by itself, the sum of all its squared gradients, this one included: so it is renewed
first, then used. Its root has the size of a gradient, so the quotient has no unit, and the first step of every weight
is lr long, whatever the size of its gradient. Later steps get shorter, the sooner the larger the gradients were.
`eps` stands outside the root and matters only where a weight has had no gradient yet: 0 / (0 + eps) is 0.
New arrays come back; the caller's stay what they were.
""",
)


@SPEC.misconception()
def cache_not_squared(theta, grad, cache, lr, eps=1e-8):
    """Tempting because a sum of gradients sounds like what is gathered; sizes, with a root over them, need squares."""
    cache = cache + np.abs(grad)
    return theta - lr * grad / (np.sqrt(cache) + eps), cache


@SPEC.misconception("cache_not_squared")
def cache_of_signed_gradients(theta, grad, cache, lr, eps=1e-8):
    """The same with signs, and a root of what may be negative."""
    cache = cache + grad
    return theta - lr * grad / (np.sqrt(cache) + eps), cache


@SPEC.misconception(keeps=["cache"])
def eps_inside_the_root(theta, grad, cache, lr, eps=1e-8):
    """Tempting because other optimisers have it there; the root of 1e-8 is 1e-4, ten thousand times more."""
    cache = cache + grad**2
    return theta - lr * grad / np.sqrt(cache + eps), cache


@SPEC.misconception(keeps=["cache"])
def old_cache_used(theta, grad, cache, lr, eps=1e-8):
    """Tempting because `cache` is at hand as it came; on the first step it is 0, and the step is enormous."""
    return theta - lr * grad / (np.sqrt(cache) + eps), cache + grad**2


@SPEC.misconception(keeps=["cache"])
def uphill(theta, grad, cache, lr, eps=1e-8):
    """Tempting because an update adds something; the gradient points to where the loss grows."""
    cache = cache + grad**2
    return theta + lr * grad / (np.sqrt(cache) + eps), cache


@SPEC.misconception(keeps=["cache"])
def no_root(theta, grad, cache, lr, eps=1e-8):
    """Tempting because the cache is what one divides by; without the root a small gradient makes a large step."""
    cache = cache + grad**2
    return theta - lr * grad / (cache + eps), cache


@SPEC.misconception()
def decays(theta, grad, cache, lr, eps=1e-8):
    """Tempting because RMSprop does so, and came after: there old gradients are forgotten. Adagrad forgets none."""
    cache = 0.9 * cache + 0.1 * grad**2
    return theta - lr * grad / (np.sqrt(cache) + eps), cache


@SPEC.misconception("decays")
def decays_slowly(theta, grad, cache, lr, eps=1e-8):
    """The same with 0.99."""
    cache = 0.99 * cache + 0.01 * grad**2
    return theta - lr * grad / (np.sqrt(cache) + eps), cache


@SPEC.misconception("decays")
def decays_very_slowly(theta, grad, cache, lr, eps=1e-8):
    """The same with 0.999."""
    cache = 0.999 * cache + 0.001 * grad**2
    return theta - lr * grad / (np.sqrt(cache) + eps), cache


@SPEC.misconception()
def cache_overwritten(theta, grad, cache, lr, eps=1e-8):
    """Tempting because `=` is soon written for `+=`; then every step is lr long, however many came before."""
    cache = grad**2
    return theta - lr * grad / (np.sqrt(cache) + eps), cache


@SPEC.misconception(keeps=["theta"])
def old_cache_returned(theta, grad, cache, lr, eps=1e-8):
    """Tempting because `cache` is the argument's name, and the new one has another; the next step then knows less."""
    new = cache + grad**2
    return theta - lr * grad / (np.sqrt(new) + eps), cache.copy()


@SPEC.misconception(keeps=["cache"])
def eps_outside_the_brackets(theta, grad, cache, lr, eps=1e-8):
    """Tempting because a missing pair of brackets looks like nothing; eps then moves every weight."""
    cache = cache + grad**2
    return theta - (lr * grad / np.sqrt(cache) + eps), cache


@SPEC.misconception("eps_outside_the_brackets")
def eps_behind_the_step(theta, grad, cache, lr, eps=1e-8):
    """The same without any brackets at all: eps is added to the weights."""
    cache = cache + grad**2
    return theta - lr * grad / np.sqrt(cache) + eps, cache


@SPEC.misconception()
def one_number_for_all(theta, grad, cache, lr, eps=1e-8):
    """Tempting because a norm is one number; then a weight that rarely gets a gradient is slowed down by the others."""
    cache = cache + np.sum(grad**2)
    return theta - lr * grad / (np.sqrt(cache) + eps), cache


@SPEC.misconception(keeps=["cache"])
def eps_left_out(theta, grad, cache, lr, eps=1e-8):
    """Tempting because 1e-8 is next to nothing; where no gradient has come yet it keeps 0 / 0 away."""
    cache = cache + grad**2
    return theta - lr * grad / np.sqrt(cache), cache


@SPEC.misconception(keeps=["cache"])
def eps_not_used(theta, grad, cache, lr, eps=1e-8):
    """Tempting because 1e-8 is the number that everybody takes; who passes another one means it."""
    cache = cache + grad**2
    return theta - lr * grad / (np.sqrt(cache) + 1e-8), cache


@SPEC.misconception()
def gradients_clipped(theta, grad, cache, lr, eps=1e-8):
    """Tempting because a well-known script clips to ±5 before this step; that is another tool, of chapter 3."""
    grad = np.clip(grad, -5, 5)
    cache = cache + grad**2
    return theta - lr * grad / (np.sqrt(cache) + eps), cache


@SPEC.misconception("gradients_clipped")
def gradients_clipped_at_one(theta, grad, cache, lr, eps=1e-8):
    """The same at ±1."""
    grad = np.clip(grad, -1, 1)
    cache = cache + grad**2
    return theta - lr * grad / (np.sqrt(cache) + eps), cache


@SPEC.misconception(keeps=["cache"])
def step_without_the_gradient(theta, grad, cache, lr, eps=1e-8):
    """Tempting because 'lr divided by the root' is how the rule is told: it is the gradient's factor, not the step."""
    cache = cache + grad**2
    return theta - lr / (np.sqrt(cache) + eps), cache


@SPEC.alternative
def factor_first(theta, grad, cache, lr, eps=1e-8):
    """The learning rate of each weight, then the step."""
    total = np.hypot(np.sqrt(cache), grad) ** 2
    rates = lr / (total**0.5 + eps)
    return theta + rates * -grad, total


@SPEC.alternative
def on_copies_in_place(theta, grad, cache, lr, eps=1e-8):
    """In place, as on a network of one's own, but on copies; a list comes back for the tuple."""
    theta, cache = theta.copy(), cache.copy()
    cache += np.square(grad)
    theta -= lr * grad / (np.sqrt(cache) + eps)
    return [theta, cache]
