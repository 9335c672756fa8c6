"""How `CharLM` is checked: against a loop over layers and steps in NumPy, by the equations that PyTorch documents."""

from itertools import product

import numpy as np
import torch

from grader.spec.spec import Facet, Output, Spec, change, instead, module_case

ONE_TEXT, CARRIED, NEW_TEXT, TRAINING = "ordinary", "state carried", "new text", "training"
SIZES = ("vocab_size", "embed_size", "hidden_size", "num_layers")
GATES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def shapes(V, E, H, L):
    """The shape of every weight, by its name in the module's `state_dict`."""
    found = {"embedding.weight": (V, E)}
    for layer in range(L):
        size = H if layer else E
        of_layer = ((4 * H, size), (4 * H, H), (4 * H,), (4 * H,))
        found |= {f"rnn.{name}_l{layer}": shape for name, shape in zip(GATES, of_layer, strict=True)}
    return found | {"head.weight": (V, H), "head.bias": (V,)}


def is_random(init, mode):
    """Whether dropout acts: in training mode and between layers."""
    return mode == "train" and init["num_layers"] > 1 and init["dropout"] > 0


def case(sizes, init, weights, ids, before, kind, between=()):
    mode = "train" if kind == TRAINING else "eval"
    return module_case(
        sizes,
        init=init,
        weights=weights,
        forward={"ids": ids},
        before=[{"ids": each} for each in before],
        carry={"state": "state"} if kind == CARRIED else {},
        between=[{"ids": each} for each in between],
        mode=mode,
        returns={"logits": "random" if is_random(init, mode) else "learning", "state": "detached"},
        kind=kind,
    )


def drawn(rng, B, T, V, E, H, L, kind=ONE_TEXT, before=(), between=(), dropout=0.5):
    """A case with random weights and ids. `before` has the lengths of the texts that earlier calls read, `between`
    those of other texts that are read after them.
    """
    return case(
        {"B": B, "T": T, "V": V, "E": E, "H": H, "L": L},
        dict(zip(SIZES, (V, E, H, L), strict=True), dropout=dropout),
        {name: rng.normal(size=shape) for name, shape in shapes(V, E, H, L).items()},
        rng.integers(V, size=(B, T)),
        [rng.integers(V, size=(B, length)) for length in before],
        kind,
        [rng.integers(V, size=(B, length)) for length in between],
    )


EXAMPLE = case(
    {"B": 1, "T": 2, "V": 2, "E": 1, "H": 1, "L": 1},
    dict(zip(SIZES, (2, 1, 1, 1), strict=True), dropout=0.0),
    {
        "embedding.weight": np.array([[0.5], [-1.0]]),
        "rnn.weight_ih_l0": np.array([[1.0], [0.5], [2.0], [-0.75]]),
        "rnn.weight_hh_l0": np.array([[0.3], [-0.5], [1.0], [0.4]]),
        "rnn.bias_ih_l0": np.array([0.0, 0.25, 0.0, 0.5]),
        "rnn.bias_hh_l0": np.array([0.1, 0.0, -0.2, 0.0]),
        "head.weight": np.array([[1.5], [-2.0]]),
        "head.bias": np.array([0.0, 0.25]),
    },
    np.array([[0, 1]]),
    (),
    ONE_TEXT,
)


def cases(rng):
    yield drawn(rng, B=2, T=3, V=5, E=3, H=4, L=1)
    yield drawn(rng, B=3, T=4, V=7, E=5, H=6, L=2)
    yield drawn(rng, B=1, T=5, V=4, E=1, H=2, L=2)
    yield drawn(rng, B=3, T=1, V=4, E=2, H=1, L=3)
    yield drawn(rng, B=2, T=2, V=1, E=2, H=3, L=1)
    yield drawn(rng, B=2, T=3, V=5, E=3, H=4, L=2, kind=CARRIED, before=[4])
    yield drawn(rng, B=3, T=2, V=4, E=2, H=3, L=1, kind=CARRIED, before=[1, 4])
    yield drawn(rng, B=1, T=1, V=4, E=2, H=2, L=2, kind=CARRIED, before=[1, 1])
    yield drawn(rng, B=2, T=2, V=5, E=2, H=3, L=1, kind=CARRIED, before=[3], between=[2])
    yield drawn(rng, B=2, T=3, V=5, E=3, H=4, L=1, kind=NEW_TEXT, before=[4])
    yield drawn(rng, B=3, T=2, V=6, E=3, H=2, L=2, kind=TRAINING)
    yield drawn(rng, B=2, T=4, V=5, E=3, H=6, L=1, kind=TRAINING)
    yield drawn(rng, B=2, T=3, V=5, E=3, H=6, L=2, kind=TRAINING, dropout=0.0)


def logistic(a):
    return 1 / (1 + np.exp(-a))


def oracle(init, weights, ids, run):
    """The logits of the last call. A carried state is that of a text which the earlier calls have read."""
    L, H = init["num_layers"], init["hidden_size"]
    state = [(np.zeros((len(ids), H)), np.zeros((len(ids), H)))] * L
    for each in run["before"] if run["carry"] else []:
        _, state = lstm(run.get("earlier", weights), each["ids"], state)
    if is_random(init, run["mode"]):
        masks = product((0.0, 1 / (1 - init["dropout"])), repeat=ids.shape[1] * H * (L - 1))
        dropped = [np.reshape(mask, (L - 1, 1, -1, H)) for mask in masks]
    else:
        dropped = [np.ones((L - 1, 1, 1, 1))]
    logits = [lstm(weights, ids, state, masks)[0] for masks in dropped]
    return np.stack(logits) if is_random(init, run["mode"]) else logits[0], "detached"


def lstm(weights, ids, state, masks=None):
    """Layer by layer and step by step, from a pair (h, c) of each layer; the logits, and the pairs at the end. `masks`
    (L - 1, 1, T, H) are multiplied with the states that a layer gets from the one below it.
    """
    x, last = weights["embedding.weight"][ids], []  # (B, T, E)
    for layer, (h, c) in enumerate(state):
        W_x, W_h, b_x, b_h = (weights[f"rnn.{name}_l{layer}"] for name in GATES)
        x = x if layer == 0 or masks is None else x * masks[layer - 1]
        outputs = []
        for t in range(x.shape[1]):
            i, f, g, o = np.split(x[:, t] @ W_x.T + b_x + h @ W_h.T + b_h, 4, axis=1)
            c = logistic(f) * c + logistic(i) * np.tanh(g)
            h = logistic(o) * np.tanh(c)
            outputs.append(h)
        x = np.stack(outputs, axis=1)  # (B, T, H)
        last.append((h, c))
    return x @ weights["head.weight"].T + weights["head.bias"], last


SPEC = Spec(
    outputs=[Output("logits", ("B", "T", "V")), Output("state")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    driver="module",
    facets=[
        Facet("one text", 2, outputs=("logits",), kinds=(ONE_TEXT,)),
        Facet("the carried state", 3, outputs=("logits",), kinds=(CARRIED, NEW_TEXT)),
        Facet("training mode", 1, outputs=("logits",), kinds=(TRAINING,)),
        Facet("the detached state", 2, outputs=("state",), proof=(("logits", CARRIED),)),
    ],
)


class Released(torch.nn.Module):
    """The submodules that the notebook gives."""

    def __init__(self, vocab_size, embed_size, hidden_size, num_layers, dropout):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab_size, embed_size)
        self.rnn = torch.nn.LSTM(embed_size, hidden_size, num_layers=num_layers, dropout=dropout, batch_first=True)
        self.head = torch.nn.Linear(hidden_size, vocab_size)


SPEC.mistakes(
    {
        "state_ignored": change("self.rnn(x, state)", "self.rnn(x)"),
        "state_not_returned": change("(h_n.detach(), c_n.detach())", "None"),
        "h_and_c_exchanged": change("(h_n.detach(), c_n.detach())", "(c_n.detach(), h_n.detach())"),
        "state_is_no_pair": [
            change("(h_n.detach(), c_n.detach())", "h_n.detach()"),
            change("(h_n.detach(), c_n.detach())", "h.detach()"),
        ],
        "half_of_the_state_carried": [
            change(
                "h, (h_n, c_n) = self.rnn(x, state)",
                """
        if state is not None:
            state = (state[0], torch.zeros_like(state[0]))
        h, (h_n, c_n) = self.rnn(x, state)
        """,
            ),
            change(
                "h, (h_n, c_n) = self.rnn(x, state)",
                """
        if state is not None:
            state = (torch.zeros_like(state[1]), state[1])
        h, (h_n, c_n) = self.rnn(x, state)
        """,
            ),
            change("c_n.detach()", "h_n.detach()"),
            change("h_n.detach()", "c_n.detach()"),
        ],
        "own_state_instead_of_given": [
            change(
                "h, (h_n, c_n) = self.rnn(x, state)",
                """
        h, (h_n, c_n) = self.rnn(x, None if state is None else self.state)
        self.state = (h_n.detach(), c_n.detach())
        """,
            ),
            change(
                "h, (h_n, c_n) = self.rnn(x, state)",
                """
        h, (h_n, c_n) = self.rnn(x, getattr(self, "state", None))
        self.state = (h_n.detach(), c_n.detach())
        """,
            ),
        ],
    },
    keeps=["one text", "training mode"],
)
SPEC.mistakes(
    {
        "state_not_detached": change("(h_n.detach(), c_n.detach())", "(h_n, c_n)"),
    },
    keeps=["one text", "the carried state", "training mode"],
)
SPEC.mistakes(
    {
        **instead(
            "self.head(h)",
            {
                "logits_detached": "self.head(h).detach()",
                "h_detached": "self.head(h.detach())",
                "logits_flattened": "self.head(h.reshape(-1, h.shape[2]))",
            },
        ),
        "last_step_only": [
            change("self.head(h)", "self.head(h[:, -1])"),
            change("self.head(h)", "self.head(h[:, -1:])"),
            change("self.head(h)", "self.head(h_n)"),
        ],
        "softmax_applied": [
            change("self.head(h)", "self.head(h).softmax(dim=-1)"),
            change("self.head(h)", "self.head(h).log_softmax(dim=-1)"),
        ],
        "batch_and_time_exchanged": [
            change("self.embedding(ids)", "self.embedding(ids.T)"),
            change("self.embedding(ids)", "self.embedding(ids.T)", ("self.head(h)", "self.head(h.transpose(0, 1))")),
        ],
        "nonlinearity_before_the_head": [
            change("self.head(h)", "self.head(torch.tanh(h))"),
            change("self.head(h)", "self.head(torch.relu(h))"),
        ],
        "random_in_eval": [
            change("self.head(h)", "self.head(torch.nn.functional.dropout(h))"),
            change("self.head(h)", "self.head(torch.nn.functional.dropout(h, self.rnn.dropout))"),
        ],
        "state_lost_within_the_text": change(
            "h, (h_n, c_n) = self.rnn(x, state)",
            """
        steps = []
        for t in range(ids.shape[1]):
            h, (h_n, c_n) = self.rnn(x[:, t : t + 1], state)
            steps.append(h)
        h = torch.cat(steps, dim=1)
        """,
        ),
        "gradient_cut_within_the_text": change(
            "h, (h_n, c_n) = self.rnn(x, state)",
            """
        steps = []
        for t in range(ids.shape[1]):
            h, (h_n, c_n) = self.rnn(x[:, t : t + 1], state)
            state = (h_n.detach(), c_n.detach())
            steps.append(h)
        h = torch.cat(steps, dim=1)
        """,
        ),
    }
)
SPEC.mistakes(
    {
        "state_kept_on_self": change(
            "h, (h_n, c_n) = self.rnn(x, state)",
            """
        if state is None:
            state = getattr(self, "state", None)
        h, (h_n, c_n) = self.rnn(x, state)
        self.state = (h_n.detach(), c_n.detach())
        """,
        ),
    },
    keeps=["one text", "training mode", "the detached state"],
)
SPEC.mistakes(
    {
        "dropout_added": [
            change("self.head(h)", "self.head(torch.nn.functional.dropout(h, 0.5, self.training))"),
            change("self.head(h)", "self.head(torch.nn.functional.dropout(h, self.rnn.dropout, self.training))"),
        ],
    },
    keeps=["one text", "the carried state", "the detached state"],
)


@SPEC.alternative
class OneStepAtATime(Released):
    """Calls the LSTM for each character; the state is a dict."""

    def forward(self, ids, state=None):
        state = None if state is None else (state["h"], state["c"])
        logits = []
        for t in range(ids.shape[1]):
            h_t, state = self.rnn(self.embedding(ids[:, t])[:, None], state)
            logits.append(self.head(h_t[:, 0]))
        return torch.stack(logits, dim=1), {"h": state[0].detach(), "c": state[1].detach()}


@SPEC.alternative
class FromTheEquations(Released):
    """Computes every layer from the parameters of the LSTM, with one (h, c) for each layer; drops units by itself."""

    def forward(self, ids, state=None):
        x, last, linear = self.embedding(ids), [], torch.nn.functional.linear
        for layer, (W_x, W_h, b_x, b_h) in enumerate(self.rnn.all_weights):
            if layer:
                x = torch.nn.functional.dropout(x, self.rnn.dropout, self.training)
            h = c = x.new_zeros(len(ids), self.rnn.hidden_size)
            h, c = (h, c) if state is None else state[layer]
            steps = []
            for x_t in x.unbind(dim=1):
                i, f, g, o = (linear(x_t, W_x, b_x) + linear(h, W_h, b_h)).chunk(4, dim=1)
                c = f.sigmoid() * c + i.sigmoid() * g.tanh()
                h = o.sigmoid() * c.tanh()
                steps.append(h)
            x = torch.stack(steps, dim=1)
            last.append((h.detach(), c.detach()))
        return self.head(x), last
