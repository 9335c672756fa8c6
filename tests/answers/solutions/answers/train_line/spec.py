"""How `train_line` is checked: the weights to begin with are given, so that every loss and the result are values."""

import numpy as np

from grader.spec.spec import Case, Output, Spec, change


def case(x, y, w, b, lr, num_updates):
    params = {"w": np.array([w]), "b": np.array([b])}
    inputs = {"x": x, "y": y, "params": params, "lr": lr, "num_updates": num_updates}
    return Case({"N": len(x), "T": num_updates}, inputs)


def cases(rng):
    for N, T in ((6, 5), (1, 4), (3, 1), (4, 40)):
        yield case(rng.normal(size=N), rng.normal(size=N), rng.normal(), rng.normal(), float(rng.uniform(0.05, 0.2)), T)


def oracle(x, y, params, lr, num_updates):
    """The same steps by PyTorch's automatic gradients."""
    import torch

    theta = {name: torch.tensor(value, requires_grad=True) for name, value in params.items()}
    optimiser, losses = torch.optim.SGD(theta.values(), lr), []
    for _ in range(num_updates):
        loss = torch.nn.functional.mse_loss(theta["w"] * torch.tensor(x) + theta["b"], torch.tensor(y))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return np.array(losses), {name: value.detach().numpy() for name, value in theta.items()}


SPEC = Spec(
    outputs=[Output("losses", ("T",)), Output("params")],
    example=case(np.array([1.0, -0.5]), np.array([2.0, 0.25]), 0.5, 0.0, 0.1, 2),
    cases=cases,
    oracle=oracle,
)

SPEC.mistakes(
    {
        "one_after_the_other": change('params["b"] =', 'off = params["w"] * x + params["b"] - y\nparams["b"] ='),
        "without_the_two": change("lr * 2 * (off", "lr * (off", ("lr * 2 * off", "lr * off")),
    }
)


@SPEC.alternative
def with_a_matrix(x, y, params, lr, num_updates):
    """Both numbers as one vector."""
    X, theta = np.stack([x, np.ones_like(x)], axis=1), np.concatenate([params["w"], params["b"]])
    losses = np.zeros(num_updates)
    for t in range(num_updates):
        off = X @ theta - y
        losses[t] = off @ off / len(x)
        theta = theta - lr * 2 * X.T @ off / len(x)
    return losses, {"w": theta[:1], "b": theta[1:]}
