"""How `adagrad_step` is checked: against torch.optim.Adagrad, which also adds eps outside the root."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec, change


def oracle(theta, grad, cache, lr, eps=1e-8):
    """PyTorch's own step, starting from this sum of squares."""
    parameter = torch.nn.Parameter(torch.tensor(theta))
    optimizer = torch.optim.Adagrad([parameter], lr=lr, eps=eps)
    optimizer.state[parameter]["sum"].copy_(torch.tensor(cache))
    parameter.grad = torch.tensor(grad)
    optimizer.step()
    return parameter.detach().numpy(), optimizer.state[parameter]["sum"].numpy()


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
    """`first`: the cache is still zero. `still`: how many entries never had a gradient. `large`: a factor of grad."""
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
The cache holds the sum of all squared gradients of each weight, including the current one, so it is updated before it
is used. Its square root has the size of a gradient, so the quotient has no unit, and the first step of every weight
whose gradient is not 0 has the length lr, however large that gradient is (as long as `eps` is tiny beside it). For
gradients of a constant size the steps then shrink as one over the root of the number of updates. `eps` is outside the
root and matters only where the gradients so far are 0 or tiny: 0 / (0 + eps) is 0. The results are new arrays, so the
caller's are left unchanged.
""",
)

ROOT = "(np.sqrt(cache) + eps)"

SPEC.mistake(
    "cache_not_squared",
    "You add the gradients, or their absolute values, to the cache. Add their squares, because the step divides by "
    "the square root of the cache.",
    change("grad**2", "np.abs(grad)"),
    change("grad**2", "grad"),
    tempts="The cache is often described as the accumulated gradients, but a square root needs squares.",
)
SPEC.mistake(
    "eps_inside_the_root",
    "You add `eps` inside the square root. Take the root of the cache first and then add `eps`, because the root "
    "would turn 1e-8 into 1e-4.",
    change(ROOT, "np.sqrt(cache + eps)"),
    tempts="Some texts and libraries put it there; the root of 1e-8 is 1e-4, ten thousand times as much.",
    keeps=("cache",),
)
SPEC.mistake(
    "eps_squared_inside_the_root",
    "You add the square of `eps` inside the square root. Take the root of the cache first and then add `eps`, because "
    "the root of a sum is not the sum of the roots.",
    change(ROOT, "np.sqrt(cache + eps**2)"),
    tempts="The root of eps**2 is eps again, but not if something is added to it first.",
    keeps=("cache",),
)
SPEC.mistake(
    "old_cache_used",
    "You compute the step with the old cache. Update the cache first, because the sum includes the current gradient; "
    "at the very first update the old cache is 0.",
    change("cache = cache + grad**2", "", ("eps), cache", "eps), cache + grad**2")),
    tempts="`cache` is at hand as an argument, but at the first update it is 0 and the step is enormous.",
    keeps=("cache",),
)
SPEC.mistake(
    "step_added",
    "You add the step to `theta`. Subtract it, because the gradient points in the direction in which the loss grows.",
    change("theta - lr", "theta + lr"),
    tempts="The word update suggests that something is added.",
    keeps=("cache",),
)
SPEC.mistake(
    "root_left_out",
    "You divide the gradient by the cache itself. Divide by its square root, because only the root has the size of a "
    "gradient.",
    change("np.sqrt(cache)", "cache"),
    tempts="The cache is there to divide by; without the root, a small first gradient gives a large step.",
    keeps=("cache",),
)
SPEC.mistake(
    "cache_decayed",
    "You let the old cache decay before you add the new square, as RMSProp does. Keep all of it, because Adagrad sums "
    "all squared gradients and forgets none.",
    change("cache + grad**2", "0.9 * cache + 0.1 * grad**2"),
    change("cache + grad**2", "0.99 * cache + 0.01 * grad**2"),
    change("cache + grad**2", "0.999 * cache + 0.001 * grad**2"),
    tempts="RMSProp, which came later, does this, and its formula looks almost the same.",
)
SPEC.mistake(
    "cache_overwritten",
    "You replace the old cache by the new square. Add the new square to it, because the cache is a sum over all "
    "updates.",
    change("cache + grad**2", "grad**2"),
    tempts="`=` is easily written for `+=`, and then every step has the length lr.",
)
SPEC.mistake(
    "old_cache_returned",
    "You return the old cache. Return the new one, because the next update continues from it.",
    change("cache = cache", "new = cache", ("np.sqrt(cache)", "np.sqrt(new)")),
    tempts="`cache` is the name of the argument, and the new one has been given another name.",
    keeps=("theta",),
)
SPEC.mistake(
    "eps_outside_the_brackets",
    "You add `eps` after the division. Put the root and `eps` in brackets, because `eps` belongs to the denominator "
    "and Python divides before it adds.",
    change(f"lr * grad / {ROOT}", "(lr * grad / np.sqrt(cache) + eps)"),
    change(f"lr * grad / {ROOT}", "lr * (grad / np.sqrt(cache) + eps)"),
    change(ROOT, "np.sqrt(cache) + eps"),
    tempts="A missing pair of brackets is hard to see, and on paper the fraction bar makes them unnecessary.",
    keeps=("cache",),
)
SPEC.mistake(
    "one_number_for_all",
    "You add one number to all entries of the cache, the sum or the mean of all squares. Add to each entry the square "
    "of its own gradient, because every weight has its own step size.",
    change("grad**2", "np.sum(grad**2)"),
    change("grad**2", "np.mean(grad**2)"),
    tempts="The squared norm of a gradient is a single number, but then frequent gradients also slow down rare ones.",
)
SPEC.mistake(
    "eps_left_out",
    "You leave out `eps`. Add it to the root, because a weight whose gradients have all been 0 would get a step of 0 "
    "/ 0.",
    change(ROOT, "np.sqrt(cache)"),
    tempts="1e-8 seems too small to matter, but where all gradients have been 0 it prevents 0 / 0.",
    keeps=("cache",),
)
SPEC.mistake(
    "eps_not_used",
    "The `eps` that is passed makes no difference in your code: you use a number of your own instead, or none. Use "
    "the argument, because 1e-8 is only its default value.",
    *(change("+ eps", f"+ {n}") for n in ("1e-8", "1e-10", "1e-7", "1e-6")),
    tempts="1e-8 is the usual value, but a caller who passes another one wants that one.",
    keeps=("cache",),
)
SPEC.mistake(
    "gradients_clipped",
    "You clip large gradients. Use them as they are, because clipping is not part of Adagrad; it is a topic of the "
    "next chapter.",
    *(change("cache = cache", f"grad = np.clip(grad, -{n}, {n})\ncache = cache") for n in (5, 1)),
    tempts="A well-known script clips to ±5 before this step; clipping is a topic of chapter 3.",
)
SPEC.mistake(
    "step_without_the_gradient",
    "You leave the gradient out of the step, so all weights move in the same direction. Multiply by the gradient: lr "
    "divided by the root is only its factor.",
    change("lr * grad", "lr"),
    tempts="Adagrad is often described as 'lr divided by the root', which is only the factor of the gradient.",
    keeps=("cache",),
)
SPEC.mistake(
    "plain_gradient_descent",
    "Your step is that of plain gradient descent. Divide by the root of the cache, to which `eps` is added, because "
    "Adagrad gives each weight a step size of its own.",
    change(" / (np.sqrt(cache) + eps)", ""),
    tempts="theta - lr * grad is the familiar step, and the cache seems to be needed only later.",
    keeps=("cache",),
)
SPEC.mistake(
    "one_root_for_all",
    "Your cache is right, but you divide by a single number, the root of the sum over all entries. Divide each entry "
    "by the root of its own cache, because every weight has its own step size.",
    change("np.sqrt(cache)", "np.sqrt(np.sum(cache))"),
    tempts="A norm is the root of a sum of squares too, but it is one number for all weights.",
    keeps=("cache",),
)
SPEC.mistake(
    "doubled_for_squared",
    "You add twice the gradients to the cache. Add their squares, because the step divides by the square root of the "
    "cache; in Python a square is `**2`, not `*2`.",
    change("grad**2", "grad * 2"),
    tempts="* 2 and ** 2 differ by one character.",
)
SPEC.mistake(
    "squared_in_the_step",
    "You use the square of the gradient in the step. Use the gradient itself there, because its sign gives the "
    "direction; the square is for the cache alone.",
    change("lr * grad /", "lr * grad**2 /"),
    tempts="The square is at hand from the line above, but it has lost the sign.",
    keeps=("cache",),
)
SPEC.mistake(
    "lr_in_the_cache",
    "You add the squares of `lr * grad` to the cache. Add the squares of the gradients themselves, because `lr` "
    "belongs to the step alone.",
    change("grad**2", "(lr * grad) ** 2"),
    tempts="lr * grad is the step of gradient descent, so it seems natural to square that.",
)
SPEC.mistake(
    "multiplied_by_the_root",
    "You multiply the gradient by the root. Divide by it, because the step of a weight should shrink as its gradients "
    "add up.",
    change("grad / (", "grad * ("),
    tempts="Adagrad gives each weight a factor of its own, and a factor is multiplied, but the root is in the "
    "denominator.",
    keeps=("cache",),
)
SPEC.mistake(
    "step_returned",
    "You return the step instead of the weights. Subtract it from `theta`, because the function returns the weights "
    "after the update.",
    change("theta - lr", "lr"),
    tempts="The fraction is the longest part of the rule and looks like all of it.",
    keeps=("cache",),
)
SPEC.mistake(
    "half_for_root",
    "You divide by half of the cache instead of its root. Put the exponent in brackets, because Python reads `a ** "
    "1/2` as `(a ** 1) / 2`.",
    change("np.sqrt(cache)", "cache ** 1 / 2"),
    tempts="On paper x^(1/2) is a root, and the raised exponent needs no brackets there.",
    keeps=("cache",),
)
SPEC.mistake(
    "roots_added",
    "You add the root of the old cache and the absolute value of the gradient. Add the square of the gradient to the "
    "cache first and take one root, because a sum of roots is larger than the root of the sum.",
    change(
        "cache = cache + grad**2",
        "old, cache = cache, cache + grad**2",
        ("np.sqrt(cache)", "(np.sqrt(old) + np.abs(grad))"),
    ),
    tempts="The root of a sum is easily taken for the sum of the roots.",
    keeps=("cache",),
)


@SPEC.alternative
def factor_first(theta, grad, cache, lr, eps=1e-8):
    """First the learning rate of each weight, then the step."""
    total = np.hypot(np.sqrt(cache), grad) ** 2
    rates = lr / (total**0.5 + eps)
    return theta + rates * -grad, total


@SPEC.alternative
def on_copies_in_place(theta, grad, cache, lr, eps=1e-8):
    """In place, but on copies; the results come in a list instead of a tuple."""
    theta, cache = theta.copy(), cache.copy()
    cache += np.square(grad)
    theta -= lr * grad / (np.sqrt(cache) + eps)
    return [theta, cache]
