"""How `Reader` is checked: against a loop over keys in NumPy."""

import numpy as np
import torch

from grader.spec.spec import Output, Spec, change, module_case


def case(sizes, weight, state, keys, mask):
    return module_case(
        sizes,
        init={"hidden_size": weight.shape[1], "key_size": weight.shape[0]},
        weights={"query.weight": weight},
        forward={"state": state, "keys": keys, "mask": mask},
        returns={"context": "learning", "weights": "tensor"},
    )


def cases(rng):
    for B, S, H, K in ((2, 5, 3, 4), (1, 3, 2, 1), (3, 1, 1, 2)):
        mask = (
            np.arange(S) < rng.integers(1, S + 1, size=(B, 1))
            if S < 5
            else np.array([[1, 1, 1, 0, 0], [0, 1, 1, 1, 1]]) > 0
        )
        draw = rng.normal
        yield case({"B": B, "S": S, "H": H, "K": K}, draw(size=(K, H)), draw(size=(B, H)), draw(size=(B, S, K)), mask)


def oracle(init, weights, run, state, keys, mask):
    context, shares = np.zeros(keys.shape[::2]), np.zeros(mask.shape)
    for b, s in np.argwhere(mask):
        shares[b, s] = np.exp(keys[b, s] @ weights["query.weight"] @ state[b])
    shares /= shares.sum(axis=1, keepdims=True)
    for b, s in np.argwhere(mask):
        context[b] += shares[b, s] * keys[b, s]
    return context, shares


SPEC = Spec(
    outputs=[Output("context", ("B", "K")), Output("weights", ("B", "S"))],
    example=case(
        {"B": 1, "S": 2, "H": 1, "K": 1},
        np.array([[2.0]]),
        np.array([[0.5]]),
        np.array([[[1.0], [-0.5]]]),
        np.array([[True, False]]),
    ),
    cases=cases,
    oracle=oracle,
    driver="module",
)

SPEC.mistakes(
    {
        "ignores_the_mask": change(".masked_fill(~mask, -torch.inf)", ""),
        "masks_with_zero": change("-torch.inf", "0"),
    }
)


@SPEC.alternative
class by_hand(torch.nn.Module):
    """The softmax written out."""

    def __init__(self, hidden_size, key_size):
        super().__init__()
        self.query = torch.nn.Linear(hidden_size, key_size, bias=False)

    def scores(self, state, keys):
        return torch.einsum("bk,bsk->bs", self.query(state), keys)

    def forward(self, state, keys, mask):
        shares = self.scores(state, keys).exp() * mask
        weights = shares / shares.sum(dim=1, keepdim=True)
        return torch.einsum("bs,bsk->bk", weights, keys), weights
