"""How `CharLM` is checked: against a loop over layers and steps in NumPy, by the equations that PyTorch documents."""

from itertools import product

import numpy as np
import torch

from grader.author.spec import Facet, Output, Spec, change, module_case

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
    why=r"""
`self.rnn` runs all layers over all steps and returns two things: the states of the *top* layer at *every* step, of
shape (B, T, H), from which the head predicts, and the pair $(h_T, c_T)$ of *all* layers at the *last* step, each of
shape (L, B, H), from which the next call can continue. Nothing else links two calls, so a text that is read in pieces
gives the logits of one long pass exactly if this pair goes out of one call and into the next. Detached, the pair is
numbers without a history: the next chunk starts from them, but its backward pass ends there, which is truncated
backpropagation through time. Both tensors must be detached, because a gradient would take either path. The logits stay
attached, because the loss of this call has to reach every weight.
""",
)


SPEC.mistake(
    "state_ignored",
    "Every call starts from a state of zeros. Pass `state` on to `self.rnn`, which starts from zeros by itself where "
    "`state` is `None`, and return the state that `self.rnn` returns, not the one that came in.",
    change("self.rnn(x, state)", "self.rnn(x)"),
    change(
        "h, (h_n, c_n) = self.rnn(x, state)",
        """
        if state is None:
            zeros = torch.zeros(self.rnn.num_layers, len(ids), self.rnn.hidden_size)
            state = (zeros, zeros)
        h, _ = self.rnn(x, state)
        """,
        ("(h_n.detach(), c_n.detach())", "state"),
    ),
    tempts="A single text is right either way, so nothing shows until a text is read in two calls.",
    keeps=["one text", "training mode"],
)
SPEC.mistake(
    "state_not_returned",
    "The state that you return is empty: it is `None`, or the `state` that came in, which is `None` in the first call. "
    "Return the state that `self.rnn` returns, detached, because the next call has to start from it.",
    change("(h_n.detach(), c_n.detach())", "None"),
    change("h, (h_n, c_n)", "h, _", ("(h_n.detach(), c_n.detach())", "state")),
    tempts="`h, _ = self.rnn(…)` is how most examples call it, because they read a text only once.",
    keeps=["one text", "training mode"],
)
SPEC.mistake(
    "state_not_detached",
    "At least one tensor of the state that you return is still attached to the graph of this call. Detach both `h_n` "
    "and `c_n`, because the backward pass of the next chunk would run through either of them into this chunk, whose "
    "graph `backward` has already freed.",
    change("(h_n.detach(), c_n.detach())", "(h_n, c_n)"),
    change("c_n.detach()", "c_n"),
    change("h_n.detach()", "h_n"),
    tempts="Nothing goes wrong before the second backward pass, and a GRU has only one state to detach.",
    keeps=["one text", "the carried state", "training mode"],
)
SPEC.mistake(
    "logits_detached",
    "No gradient leaves your logits, so this model cannot learn. Detach only the state that you return, and do not use "
    "`torch.no_grad()` or `detach` on the way from the weights to the logits.",
    change("self.head(h)", "self.head(h).detach()"),
    tempts="The word 'detached' in the task is easily read as an order for everything that is returned.",
)
SPEC.mistake(
    "h_detached",
    "You cut the graph between the LSTM and the head, so only the head can learn. Detach `h_n` and `c_n`, which you "
    "return for the next call, but leave `h` attached: the loss reaches the LSTM and the embedding through it.",
    change("self.head(h)", "self.head(h.detach())"),
    tempts="`h` is a hidden state too, and every value stays right.",
)
SPEC.mistake(
    "last_step_only",
    "You compute logits for the last step alone. Apply `self.head` to the states of all steps, (B, T, H), because the "
    "model predicts a next character after every character that it reads.",
    change("self.head(h)", "self.head(h[:, -1])"),
    change("self.head(h)", "self.head(h[:, -1:])"),
    change("self.head(h)", "self.head(h_n)"),
    tempts="A classifier and a generator need only the last step, and `h_n` is called the hidden state.",
)
SPEC.mistake(
    "softmax_applied",
    "You apply a softmax or log-softmax to the logits. Return what `self.head` gives: `cross_entropy` contains the "
    "log-softmax, and for sampling the logits are divided by a temperature first.",
    change("self.head(h)", "self.head(h).softmax(dim=-1)"),
    change("self.head(h)", "self.head(h).log_softmax(dim=-1)"),
    tempts="A language model gives probabilities, after all.",
)
SPEC.mistake(
    "batch_and_time_exchanged",
    "You exchange batch and time before `self.rnn`, so it reads across the sequences of the batch. Leave the axes as "
    "they are: it was made with `batch_first=True` and takes (B, T, E).",
    change("self.embedding(ids)", "self.embedding(ids.T)"),
    change("self.embedding(ids)", "self.embedding(ids.T)", ("self.head(h)", "self.head(h.transpose(0, 1))")),
    tempts="PyTorch's own default is time first, and many programs on the web follow it.",
)
SPEC.mistake(
    "h_and_c_exchanged",
    "You exchange the two tensors of the state. PyTorch returns and takes them in the order `(h_n, c_n)`, the hidden "
    "state first, and they have the same shape, so no error tells you.",
    change("(h_n.detach(), c_n.detach())", "(c_n.detach(), h_n.detach())"),
    tempts="The cell state is what the LSTM keeps, so it comes to mind first.",
    keeps=["one text", "training mode"],
)
SPEC.mistake(
    "state_is_no_pair",
    "The state that you return is a single tensor, so `self.rnn` refuses it in the next call. The state of an LSTM is "
    "a pair: return `h_n` and `c_n` of all layers, both detached, as a tuple.",
    change("(h_n.detach(), c_n.detach())", "h_n.detach()"),
    change("(h_n.detach(), c_n.detach())", "h.detach()"),
    tempts="A plain RNN and a GRU have one state, and papers call h alone the state.",
    keeps=["one text", "training mode"],
)
SPEC.mistake(
    "half_of_the_state_carried",
    "Only one tensor of the state reaches the next call unchanged. Carry both: the gates of the first step read `h_n`, "
    "and the cell continues from `c_n`.",
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
    tempts="The two tensors look alike, and one of them seems to be the memory.",
    keeps=["one text", "training mode"],
)
SPEC.mistake(
    "state_kept_on_self",
    "The module remembers its last state by itself, so a call without `state` continues the previous text. Keep the "
    "state out of `self`: take it from the argument `state` alone and return it, because the caller decides where a "
    "text begins.",
    change(
        "h, (h_n, c_n) = self.rnn(x, state)",
        """
        if state is None:
            state = getattr(self, "state", None)
        h, (h_n, c_n) = self.rnn(x, state)
        self.state = (h_n.detach(), c_n.detach())
        """,
    ),
    tempts="A module is an object, and objects keep their state.",
    keeps=["one text", "training mode", "the detached state"],
)
SPEC.mistake(
    "own_state_instead_of_given",
    "Where `state` is given, you continue from a state that the module keeps on `self`. That is the state of its most "
    "recent call, which may have read another text. Keep the state out of `self` and start from the argument `state`.",
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
    tempts="As long as the model reads one text only, the two states are the same.",
    keeps=["one text", "training mode"],
)
SPEC.mistake(
    "nonlinearity_before_the_head",
    "You apply a nonlinearity to the states before the head. Pass them to `self.head` as they are: a hidden state is "
    "already the product of a gate and a tanh.",
    change("self.head(h)", "self.head(torch.tanh(h))"),
    change("self.head(h)", "self.head(torch.relu(h))"),
    tempts="Between two linear layers there has to be a nonlinearity, but an LSTM is not linear.",
)
SPEC.mistake(
    "random_in_eval",
    "Your logits are random, even in evaluation mode. If you drop units, leave that to `self.rnn`, which does it only "
    "in training mode; `torch.nn.functional.dropout` and a newly created `torch.nn.Dropout` do not know the mode of "
    "your module. If you create an initial state, fill it with zeros.",
    change("self.head(h)", "self.head(torch.nn.functional.dropout(h))"),
    change("self.head(h)", "self.head(torch.nn.functional.dropout(h, self.rnn.dropout))"),
    change(
        "h, (h_n, c_n) = self.rnn(x, state)",
        """
        if state is None:
            size = (self.rnn.num_layers, len(ids), self.rnn.hidden_size)
            state = (torch.randn(size), torch.randn(size))
        h, (h_n, c_n) = self.rnn(x, state)
        """,
    ),
    tempts="`dropout` is an argument of `__init__`, so `forward` seems to have to use it; and PyTorch's own example of "
    "an LSTM starts from `torch.randn`.",
)
SPEC.mistake(
    "dropout_added",
    "In training mode you drop units yourself. Leave it out: `self.rnn` has been given `dropout` and applies it "
    "between its layers, so a model with one layer has none.",
    change("self.head(h)", "self.head(torch.nn.functional.dropout(h, 0.5, self.training))"),
    change("self.head(h)", "self.head(torch.nn.functional.dropout(h, self.rnn.dropout, self.training))"),
    tempts="Many models drop units before the head as well.",
    keeps=["one text", "the carried state", "the detached state"],
)
SPEC.mistake(
    "state_lost_within_the_text",
    "Your loop starts each step from the same state, so no step knows what the previous one has read. Replace `state` "
    "at every step by the one that `self.rnn` returns, or call `self.rnn` once with the whole text.",
    change(
        "h, (h_n, c_n) = self.rnn(x, state)",
        """
        steps = []
        for t in range(ids.shape[1]):
            h, (h_n, c_n) = self.rnn(x[:, t : t + 1], state)
            steps.append(h)
        h = torch.cat(steps, dim=1)
        """,
    ),
    tempts="The loop of the NumPy exercises is carried over, and the new state gets a name of its own.",
)
SPEC.mistake(
    "gradient_cut_within_the_text",
    "A part of the gradient is lost within the text: a tensor is detached between two steps, as happens in a loop that "
    "detaches the state. Detach only the state that you return. Within a call, the gradient has to reach every earlier "
    "character, through `h` and through `c`.",
    change(
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
    change(
        "h, (h_n, c_n) = self.rnn(x, state)",
        """
        steps = []
        for t in range(ids.shape[1]):
            h, (h_n, c_n) = self.rnn(x[:, t : t + 1], state)
            state = (h_n.detach(), c_n)
            steps.append(h)
        h = torch.cat(steps, dim=1)
        """,
    ),
    tempts="Every value is right, the gradient still reaches every weight, and the state does come back detached.",
)
SPEC.mistake(
    "logits_flattened",
    "You return the logits as one long matrix (B·T, V). Keep the axes, (B, T, V), and flatten them where the loss is "
    "computed. Sampling needs the last step of each sequence, `logits[:, -1]`.",
    change("self.head(h)", "self.head(h.reshape(-1, h.shape[2]))"),
    tempts="`cross_entropy` wants a matrix, so many programs flatten inside the model.",
)


class Released(torch.nn.Module):
    """The submodules that the notebook gives."""

    def __init__(self, vocab_size, embed_size, hidden_size, num_layers, dropout):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab_size, embed_size)
        self.rnn = torch.nn.LSTM(embed_size, hidden_size, num_layers=num_layers, dropout=dropout, batch_first=True)
        self.head = torch.nn.Linear(hidden_size, vocab_size)


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
