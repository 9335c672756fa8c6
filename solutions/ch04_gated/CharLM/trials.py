"""Programs that the spec of `CharLM` does not contain; beside each wrong one is what it is told."""

from grader.spec.trials import Trials, module_cell

TRIALS = Trials()


INIT = """
def __init__(self, vocab_size, embed_size, hidden_size, num_layers, dropout):
    super().__init__()
    self.embedding = torch.nn.Embedding(vocab_size, embed_size)
    self.rnn = torch.nn.LSTM(embed_size, hidden_size, num_layers=num_layers, dropout=dropout, batch_first=True)
    self.head = torch.nn.Linear(hidden_size, vocab_size)
"""


def char_lm(forward, init=INIT):
    """The cell of a student whose `forward` has this body."""
    return module_cell("CharLM", init, "ids, state=None", forward)


RUN = "h, (h_n, c_n) = self.rnn(self.embedding(ids), state)\n"


BOTH = "(h_n.detach(), c_n.detach())"


def fed(x, state="state"):
    """The line that runs the LSTM, on this in place of the embeddings."""
    return f"h, (h_n, c_n) = self.rnn({x}, {state})\n"


LOOP = """
x, outputs = self.embedding(ids), []
for t in range(ids.shape[1]):
    {before}
    y, {new} = self.rnn(x[:, t : t + 1], state)
    outputs.append(y)
return self.head(torch.cat(outputs, dim=1)), tuple(s.detach() for s in {new})
"""


WRONG = {  # the body of forward, what it is told: a name or None, and words of the first problem
    "only logits": (f"{RUN}return self.head(h)", None),
    "three results": (
        f"{RUN}return self.head(h), h_n.detach(), c_n.detach()",
        None,
    ),
    "state first": (
        f"{RUN}return {BOTH}, self.head(h)",
        None,
    ),
    "no return": (f"{RUN}self.head(h)", None),
    "no head": (f"{RUN}return h, {BOTH}", None),
    "no embedding": (f"{fed('ids')}return self.head(h), {BOTH}", None),
    "one-hot": (
        f"{fed('F.one_hot(ids).double()')}return self.head(h), {BOTH}",
        None,
    ),
    "float ids": (f"{fed('self.embedding(ids.float())')}return self.head(h), {BOTH}", None),
    "argmax": (
        f"{RUN}return self.head(h).argmax(dim=2), {BOTH}",
        {None, "after: argmax along V For logits"},
    ),
    "axes (B, V, T)": (
        f"{RUN}return self.head(h).transpose(1, 2), {BOTH}",
        "after: axes T and V exchanged For logits",
    ),
    "softmax over time": (
        f"{RUN}return self.head(h).softmax(dim=1), {BOTH}",
        "after: softmax along T For logits",
    ),
    "mean over time": (f"{RUN}return self.head(h.mean(dim=1)), {BOTH}", "after: mean over T For logits"),
    "ids reversed": (
        f"{fed('self.embedding(ids.flip(1))')}return self.head(h), {BOTH}",
        {None, "altered input: reversed ids"},
    ),
    "squeezed": (f"{RUN}return self.head(h).squeeze(), {BOTH}", "after: squeeze For logits"),
    "embedding detached": (
        f"{fed('self.embedding(ids).detach()')}return self.head(h), {BOTH}",
        None,
    ),
    "detached in evaluation": (
        f"{RUN}logits = self.head(h)\nreturn logits if self.training else logits.detach(), {BOTH}",
        {None, "logits_detached For one text"},
    ),
    "never in training mode": (f"self.eval()\n{RUN}return self.head(h), {BOTH}", None),
    "always in training mode": (f"self.train()\n{RUN}return self.head(h), {BOTH}", None),
    "ones as the first state": (
        "if state is None:\n    state = 2 * (torch.ones(self.rnn.num_layers, len(ids), self.rnn.hidden_size),)\n"
        f"{RUN}return self.head(h), {BOTH}",
        None,
    ),
    "float32 zeros": (
        "if state is None:\n    zeros = torch.zeros(self.rnn.num_layers, len(ids), self.rnn.hidden_size).float()\n"
        f"    state = (zeros, zeros)\n{RUN}return self.head(h), {BOTH}",
        None,
    ),
    "float32 logits": (
        f"{RUN}return self.head(h).float(), {BOTH}",
        "float32",
    ),
    "the top layer's state only": (
        f"{RUN}return self.head(h), (h_n[-1:].detach(), c_n[-1:].detach())",
        None,
    ),
    "the last output as the state": (
        f"{RUN}return self.head(h), h[:, -1].detach()",
        "state_is_no_pair",
    ),
    "the state is averaged over the batch": (
        f"{RUN}mean = [s.mean(1, keepdim=True).expand(s.shape).contiguous() for s in {BOTH}]\n"
        "return self.head(h), tuple(mean)",
        None,
    ),
    "row after row": (
        "x, outputs = self.embedding(ids), []\n"
        "for b in range(len(ids)):\n"
        "    y, state = self.rnn(x[b : b + 1], state)\n"
        "    outputs.append(y)\n"
        "return self.head(torch.cat(outputs)), tuple(s.detach() for s in state)",
        {None, "first_sequence_only For one text and training mode"},
    ),
    "h cut in a loop, c not": (
        LOOP.format(before="state = state and (state[0].detach(), state[1])", new="state"),
        "gradient_cut_within_the_text",
    ),
    "a loop without its first step": (
        LOOP.format(before="if t == 0 and ids.shape[1] > 1: continue", new="state"),
        None,
    ),
    "changes its ids": (f"ids %= 2\n{RUN}return self.head(h), {BOTH}", None),
    "another attribute": (f"{RUN}return self.linear(h), {BOTH}", None),
    "relu on the embedding": (
        f"{fed('torch.relu(self.embedding(ids))')}return self.head(h), {BOTH}",
        None,
    ),
    "residual": (f"{RUN}return self.head(h) + 1.0, {BOTH}", None),
}


SAYS = {
    "only logits": "2 results, `return logits, state`",
    "three results": "2 results, `return logits, state`",
    "state first": "must return a tensor for logits; yours is a tuple of 2",
    "no return": "Does it end with `return`?",
    "no head": "logits: got (1, 2, 1), expected (1, 2, 2)",
    "no embedding": "Error: ",
    "one-hot": "RuntimeError",
    "float ids": "RuntimeError",
    "argmax": "expected (1, 2, 2)",
    "squeezed": "expected (1, 2, 2)",
    "embedding detached": "no gradient reaches `embedding.weight`",
    "never in training mode": "is the same with every seed",
    "float32 zeros": "does `forward` use `float()` or `float32`?",
    "the top layer's state only": "RuntimeError: Expected hidden",
    "h cut in a loop, c not": "not along the right paths",
    "another attribute": "AttributeError",
}

TRIALS.all_wrong(WRONG, make=char_lm, says=SAYS)
