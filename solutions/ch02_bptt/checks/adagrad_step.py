"""How `adagrad_step` is checked: against torch.optim.Adagrad, which adds eps in the same place."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change


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

ROOT = "(np.sqrt(cache) + eps)"

SPEC.mistake(
    "cache_not_squared",
    "The gradients themselves, or their sizes, are added to the cache. It takes their squares; the root below the "
    "line belongs to them.",
    change("grad**2", "np.abs(grad)"),
    change("grad**2", "grad"),
    tempts="A sum of gradients sounds like what is gathered; sizes, with a root over them, need squares.",
)
SPEC.mistake(
    "eps_inside_the_root",
    "`eps` stands under the root. Take the root of the cache, then add `eps`.",
    change(ROOT, "np.sqrt(cache + eps)"),
    tempts="Other optimisers have it there; the root of 1e-8 is 1e-4, ten thousand times more.",
    keeps=("cache",),
)
SPEC.mistake(
    "old_cache_used",
    "The step was made with the old cache. Renew the cache first: on the very first step the old one is 0.",
    change("cache = cache + grad**2", "", ("eps), cache", "eps), cache + grad**2")),
    tempts="`cache` is at hand as it came; on the first step it is 0, and the step is enormous.",
    keeps=("cache",),
)
SPEC.mistake(
    "uphill",
    "theta goes uphill. The gradient points to where the loss grows, so the step is subtracted.",
    change("theta - lr", "theta + lr"),
    tempts="An update adds something; the gradient points to where the loss grows.",
    keeps=("cache",),
)
SPEC.mistake(
    "no_root",
    "The gradient is divided by the cache itself. Divide by its root, which has the size of a gradient.",
    change("np.sqrt(cache)", "cache"),
    tempts="The cache is what one divides by; without the root a small gradient makes a large step.",
    keeps=("cache",),
)
SPEC.mistake(
    "decays",
    "The old cache is made smaller before the new square is added. That is RMSprop. Adagrad keeps all of it.",
    change("cache + grad**2", "0.9 * cache + 0.1 * grad**2"),
    change("cache + grad**2", "0.99 * cache + 0.01 * grad**2"),
    change("cache + grad**2", "0.999 * cache + 0.001 * grad**2"),
    tempts="RMSprop does so, and came after: there old gradients are forgotten. Adagrad forgets none.",
)
SPEC.mistake(
    "cache_overwritten",
    "The new square takes the place of the old cache. The cache is a sum over all steps: add the new square to it.",
    change("cache + grad**2", "grad**2"),
    tempts="`=` is soon written for `+=`; then every step is lr long, however many came before.",
)
SPEC.mistake(
    "old_cache_returned",
    "The cache that comes back is the old one. Return the new one: the next step builds on it.",
    change("cache = cache", "new = cache", ("np.sqrt(cache)", "np.sqrt(new)")),
    tempts="`cache` is the argument's name, and the new one has another; the next step then knows less.",
    keeps=("theta",),
)
SPEC.mistake(
    "eps_outside_the_brackets",
    "`eps` is added to the quotient, not to the root below it. Brackets are missing: divide by (root plus `eps`).",
    change(f"lr * grad / {ROOT}", "(lr * grad / np.sqrt(cache) + eps)"),
    change(f"lr * grad / {ROOT}", "lr * (grad / np.sqrt(cache) + eps)"),
    change(ROOT, "np.sqrt(cache) + eps"),
    tempts="A missing pair of brackets looks like nothing; eps then moves every weight.",
    keeps=("cache",),
)
SPEC.mistake(
    "one_number_for_all",
    "The squares of all entries go into one number. Each entry has its own cache: no sum or mean over entries.",
    change("grad**2", "np.sum(grad**2)"),
    change("grad**2", "np.mean(grad**2)"),
    tempts="A norm is one number; then a weight that rarely gets a gradient is slowed down by the others.",
)
SPEC.mistake(
    "eps_left_out",
    "`eps` is missing. Where neither a gradient nor the cache has come to more than 0, the step is 0 / 0 without it.",
    change(ROOT, "np.sqrt(cache)"),
    tempts="1e-8 is next to nothing; where no gradient has come yet it keeps 0 / 0 away.",
    keeps=("cache",),
)
SPEC.mistake(
    "eps_not_used",
    "The `eps` that is passed makes no difference: a number of your own stands in its place, or none. 1e-8 is its "
    "default alone.",
    *(change("+ eps", f"+ {n}") for n in ("1e-8", "1e-10", "1e-7", "1e-6")),
    tempts="1e-8 is the number that everybody takes; who passes another one means it.",
    keeps=("cache",),
)
SPEC.mistake(
    "gradients_clipped",
    "Large gradients are clipped. Use them as they come; clipping is a topic of the next chapter.",
    *(change("cache = cache", f"grad = np.clip(grad, -{n}, {n})\ncache = cache") for n in (5, 1)),
    tempts="A well-known script clips to ±5 before this step; that is another tool, of chapter 3.",
)
SPEC.mistake(
    "step_without_the_gradient",
    "All weights move the same way: lr divided by the root of the cache is not the step yet, it is what the gradient "
    "is multiplied by.",
    change("lr * grad", "lr"),
    tempts="'lr divided by the root' is how the rule is told: it is the gradient's factor, not the step.",
    keeps=("cache",),
)
SPEC.mistake(
    "plain_descent",
    "This is plain gradient descent: the step is not divided by the root of the cache, which gives each weight a "
    "step size of its own.",
    change(" / (np.sqrt(cache) + eps)", ""),
    tempts=("theta - lr * grad is the step that one knows; the cache seems to be for the next time."),
    keeps=("cache",),
)
SPEC.mistake(
    "one_root_for_all",
    "The cache is right, and the step is divided by one number: the root of the sum over all entries. Each entry "
    "is divided by the root of its own.",
    change("np.sqrt(cache)", "np.sqrt(np.sum(cache))"),
    tempts=("A norm is one number, and the same for all weights; Adagrad has one for each."),
    keeps=("cache",),
)
SPEC.mistake(
    "doubled_for_squared",
    "Twice the gradients are added to the cache. It takes their squares, `grad**2`.",
    change("grad**2", "grad * 2"),
    tempts=("* 2 and ** 2 differ by one character."),
)
SPEC.mistake(
    "squared_in_the_step",
    "The square of the gradient stands in the step. There it is the gradient itself; the square is for the cache "
    "alone.",
    change("lr * grad /", "lr * grad**2 /"),
    tempts=("The square is at hand from the line above; all weights then move the same way."),
    keeps=("cache",),
)
SPEC.mistake(
    "learning_rate_in_the_cache",
    "The cache takes the squares of lr times the gradient. It takes those of the gradients themselves; `lr` comes "
    "in with the step.",
    change("grad**2", "(lr * grad) ** 2"),
    tempts=("lr * grad is the step one knows, so its square is put into the cache."),
)
SPEC.mistake(
    "multiplied_by_the_root",
    "The gradient is multiplied by the root. Divide by it: the more gradients a weight has had, the shorter its step.",
    change("grad / (", "grad * ("),
    tempts=("One factor for each weight is what Adagrad adds, and factors are multiplied; this one is below the line."),
    keeps=("cache",),
)
SPEC.mistake(
    "the_step_alone",
    "The step comes back, not the weights after it. Subtract it from `theta`.",
    change("theta - lr", "lr"),
    tempts=("The rule's longest part looks like all of it."),
    keeps=("cache",),
)
SPEC.mistake(
    "half_for_root",
    "The gradient is divided by half of the cache, not by its root. Python reads `a ** 1/2` as `(a ** 1) / 2`, since "
    "`**` comes before `/`: the exponent needs brackets.",
    change("np.sqrt(cache)", "cache ** 1 / 2"),
    tempts=("x^(1/2) is a root on paper, and the line of the fraction is a bracket there."),
    keeps=("cache",),
)


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
