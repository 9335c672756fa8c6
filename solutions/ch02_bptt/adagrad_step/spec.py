"""How `adagrad_step` is checked: against torch.optim.Adagrad, which also adds eps outside the root."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead


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
)
ROOT = "(np.sqrt(cache) + eps)"


SPEC.mistakes(
    {
        "cache_not_squared": [change("grad**2", "np.abs(grad)"), change("grad**2", "grad")],
        "cache_decayed": [
            change("cache + grad**2", "0.9 * cache + 0.1 * grad**2"),
            change("cache + grad**2", "0.99 * cache + 0.01 * grad**2"),
            change("cache + grad**2", "0.999 * cache + 0.001 * grad**2"),
        ],
        "cache_overwritten": change("cache + grad**2", "grad**2"),
        "some_entries_left_out": [
            change("cache = cache", f"kept = grad\ngrad = 0 * grad\ngrad[{part}] = kept[{part}]\ncache = cache")
            for part in (":1", ":-1", "1:", "-1:")
        ],
        "one_number_for_all": [change("grad**2", "np.sum(grad**2)"), change("grad**2", "np.mean(grad**2)")],
        "gradients_clipped": [
            *(change("cache = cache", f"grad = np.clip(grad, -{n}, {n})\ncache = cache") for n in (5, 1))
        ],
        **instead(
            "grad**2",
            {
                "doubled_for_squared": "grad * 2",
                "lr_in_the_cache": "(lr * grad) ** 2",
            },
        ),
    }
)
SPEC.mistakes(
    {
        **instead(
            ROOT,
            {
                "eps_inside_the_root": "np.sqrt(cache + eps)",
                "eps_squared_inside_the_root": "np.sqrt(cache + eps**2)",
                "eps_left_out": "np.sqrt(cache)",
                "eps_as_a_minimum": "np.maximum(np.sqrt(cache), eps)",
            },
        ),
        "old_cache_used": change("cache = cache + grad**2", "", ("eps), cache", "eps), cache + grad**2")),
        **instead(
            "theta - lr",
            {
                "step_added": "theta + lr",
                "step_returned": "lr",
            },
        ),
        **instead(
            "np.sqrt(cache)",
            {
                "root_left_out": "cache",
                "one_root_for_all": "np.sqrt(np.sum(cache))",
                "half_for_root": "cache ** 1 / 2",
            },
        ),
        "eps_outside_the_brackets": [
            change(f"lr * grad / {ROOT}", "(lr * grad / np.sqrt(cache) + eps)"),
            change(f"lr * grad / {ROOT}", "lr * (grad / np.sqrt(cache) + eps)"),
            change(ROOT, "np.sqrt(cache) + eps"),
        ],
        "eps_not_used": [*(change("+ eps", f"+ {n}") for n in ("1e-8", "1e-10", "1e-7", "1e-6"))],
        "step_without_the_gradient": change("lr * grad", "lr"),
        "plain_gradient_descent": change(" / (np.sqrt(cache) + eps)", ""),
        "squared_in_the_step": change("lr * grad /", "lr * grad**2 /"),
        "size_of_the_gradient_in_the_step": change("lr * grad /", "lr * np.abs(grad) /"),
        "multiplied_by_the_root": change("grad / (", "grad * ("),
        "roots_added": change(
            "cache = cache + grad**2",
            "old, cache = cache, cache + grad**2",
            ("np.sqrt(cache)", "(np.sqrt(old) + np.abs(grad))"),
        ),
    },
    keeps=("cache",),
)
SPEC.mistakes(
    {
        "old_cache_returned": change("cache = cache", "new = cache", ("np.sqrt(cache)", "np.sqrt(new)")),
    },
    keeps=("theta",),
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
