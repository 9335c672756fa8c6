"""How `Tagger` is checked: against a loop in NumPy; the dropout by its chance alone."""

from itertools import product

import numpy as np
import torch

from grader.spec.spec import Facet, Output, Spec, change, module_case

ORDINARY, CARRIED, TRAINING = "ordinary", "state carried", "training"
SIZES = ("vocab_size", "embed_size", "hidden_size", "num_tags")


def shapes(V, E, H, C):
    return {
        "embedding.weight": (V, E),
        "rnn.weight_ih_l0": (3 * H, E),
        "rnn.weight_hh_l0": (3 * H, H),
        "rnn.bias_ih_l0": (3 * H,),
        "rnn.bias_hh_l0": (3 * H,),
        "head.weight": (C, H),
        "head.bias": (C,),
    }


def case(sizes, weights, ids, init, before=(), kind=ORDINARY):
    training = kind == TRAINING
    return module_case(
        sizes,
        init=init,
        weights=weights,
        forward={"ids": ids},
        before=[{"ids": each} for each in before],
        carry={"state": "state"} if before else {},
        mode="train" if training else "eval",
        returns={"logits": "random" if training else "learning", "state": "detached"},
        kind=kind,
    )


def drawn(rng, B, T, V, E, H, C, kind=ORDINARY):
    weights = {name: rng.normal(size=shape) for name, shape in shapes(V, E, H, C).items()}
    init = dict(zip(SIZES, (V, E, H, C), strict=True), dropout=0.5)
    before = [rng.integers(V, size=(B, T + 1))] if kind == CARRIED else ()
    return case({"B": B, "T": T, "H": H, "C": C}, weights, rng.integers(V, size=(B, T)), init, before, kind)


EXAMPLE = case(
    {"B": 1, "T": 2},
    {
        "embedding.weight": np.array([[0.5], [-1.0]]),
        "rnn.weight_ih_l0": np.array([[1.0], [0.5], [2.0]]),
        "rnn.weight_hh_l0": np.array([[0.3], [-0.5], [1.0]]),
        "rnn.bias_ih_l0": np.array([0.0, 0.25, 0.0]),
        "rnn.bias_hh_l0": np.array([0.1, 0.0, -0.2]),
        "head.weight": np.array([[1.0], [-2.0]]),
        "head.bias": np.array([0.0, 0.5]),
    },
    np.array([[0, 1]]),
    dict(zip(SIZES, (2, 1, 1, 2), strict=True), dropout=0.25),
)


def cases(rng):
    yield drawn(rng, B=2, T=3, V=7, E=3, H=4, C=5)
    yield drawn(rng, B=3, T=1, V=5, E=2, H=2, C=4)
    yield drawn(rng, B=1, T=4, V=4, E=2, H=1, C=1)
    yield drawn(rng, B=2, T=5, V=7, E=3, H=4, C=3, kind=CARRIED)
    yield drawn(rng, B=1, T=1, V=4, E=2, H=3, C=2, kind=CARRIED)
    yield drawn(rng, B=3, T=2, V=7, E=3, H=2, C=5, kind=TRAINING)


def oracle(init, weights, ids, run):
    """A carried state is that of the earlier calls' texts; in training there is a result for every mask."""
    h = np.zeros((len(ids), init["hidden_size"]))
    for each in run["before"]:
        h = read(run.get("earlier", weights), each["ids"], h)[:, -1]
    states = read(weights, ids, h)
    if run["mode"] == "train":
        masks = product((0.0, 1 / (1 - init["dropout"])), repeat=states[0].size)
        states = np.stack([states * np.reshape(mask, states[:1].shape) for mask in masks])
    return states @ weights["head.weight"].T + weights["head.bias"], "detached"


def read(weights, ids, h):
    """The states (B, T, H), one step after the other, by the equations of PyTorch's documentation."""
    w = {name.rpartition(".")[2]: value for name, value in weights.items() if name.startswith("rnn.")}
    states = []
    for x_t in ids.T:
        given = weights["embedding.weight"][x_t] @ w["weight_ih_l0"].T + w["bias_ih_l0"]
        kept = h @ w["weight_hh_l0"].T + w["bias_hh_l0"]
        (r_x, z_x, n_x), (r_h, z_h, n_h) = np.split(given, 3, axis=1), np.split(kept, 3, axis=1)
        r, z = 1 / (1 + np.exp(-r_x - r_h)), 1 / (1 + np.exp(-z_x - z_h))
        h = (1 - z) * np.tanh(n_x + r * n_h) + z * h
        states.append(h)
    return np.stack(states, axis=1)


SPEC = Spec(
    outputs=[Output("logits", ("B", "T", "C")), Output("state")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    driver="module",
    facets=[
        Facet("one text", 2, kinds=(ORDINARY,)),
        Facet("going on", 1, kinds=(CARRIED,)),
        Facet("training", 1, kinds=(TRAINING,)),
    ],
)

SPEC.mistakes(
    {
        "forgets_its_state": change("(ids), state)", "(ids))"),
    },
    keeps=["one text", "training"],
)
SPEC.mistakes(
    {
        "keeps_the_graph": change("state.detach()", "state"),
    }
)
SPEC.mistakes(
    {
        "learns_no_embedding": change("self.embedding(ids)", "self.embedding(ids).detach()"),
        "always_drops": change("self.dropout(h)", "torch.nn.functional.dropout(h)"),
    },
    keeps=["training"],
)
SPEC.mistakes(
    {
        "never_drops": change("self.dropout(h)", "h"),
    },
    keeps=["one text", "going on"],
)


@SPEC.alternative
class step_by_step(torch.nn.Module):
    """One token after the other."""

    def __init__(self, vocab_size, embed_size, hidden_size, num_tags, dropout):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab_size, embed_size)
        self.rnn = torch.nn.GRU(embed_size, hidden_size, batch_first=True)
        self.dropout = torch.nn.Dropout(dropout)
        self.head = torch.nn.Linear(hidden_size, num_tags)

    def forward(self, ids, state=None):
        state = torch.zeros(1, len(ids), self.rnn.hidden_size) if state is None else state
        logits = []
        for t in range(ids.shape[1]):
            h_t, state = self.rnn(self.embedding(ids[:, t : t + 1]), state)
            logits.append(self.head(self.dropout(h_t)))
        return torch.cat(logits, dim=1), state.detach()
