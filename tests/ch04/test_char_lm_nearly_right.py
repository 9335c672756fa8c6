"""Models that are nearly right must fail and get no wrong name; right ones in other styles must pass."""

import linecache
import textwrap

import numpy as np
import torch

from tests.conftest import exercise
from tests.loops import for_each
from tests.nearly_right import fails, passes

INIT = """
def __init__(self, vocab_size, embed_size, hidden_size, num_layers, dropout):
    super().__init__()
    self.embedding = torch.nn.Embedding(vocab_size, embed_size)
    self.rnn = torch.nn.LSTM(embed_size, hidden_size, num_layers=num_layers, dropout=dropout, batch_first=True)
    self.head = torch.nn.Linear(hidden_size, vocab_size)
"""


def char_lm(forward, init=INIT):
    """A student's class with this body of `forward`, as a notebook's cell defines it."""
    lines = "def forward(self, ids, state=None):\n" + textwrap.indent(textwrap.dedent(forward).strip(), "    ")
    source = "class CharLM(torch.nn.Module):\n" + textwrap.indent(f"{init.strip()}\n\n{lines}\n", "    ")
    filename = f"<cell {hash(source)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"torch": torch, "np": np, "F": torch.nn.functional}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["CharLM"]


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
    "only logits": (f"{RUN}return self.head(h)", None, "2 results, `return logits, state`"),
    "three results": (
        f"{RUN}return self.head(h), h_n.detach(), c_n.detach()",
        None,
        "2 results, `return logits, state`",
    ),
    "state first": (
        f"{RUN}return {BOTH}, self.head(h)",
        None,
        "must return a tensor for logits; yours is a tuple of 2",
    ),
    "no return": (f"{RUN}self.head(h)", None, "Does it end with `return`?"),
    "no head": (f"{RUN}return h, {BOTH}", None, "logits: got (1, 2, 1), expected (1, 2, 2)"),
    "no embedding": (f"{fed('ids')}return self.head(h), {BOTH}", None, "Error: "),
    "one-hot": (
        f"{fed('F.one_hot(ids).double()')}return self.head(h), {BOTH}",
        None,
        "RuntimeError",
    ),
    "float ids": (f"{fed('self.embedding(ids.float())')}return self.head(h), {BOTH}", None, "RuntimeError"),
    "argmax": (
        f"{RUN}return self.head(h).argmax(dim=2), {BOTH}",
        {None, "after: argmax along V For logits"},
        "expected (1, 2, 2)",
    ),
    "last layer's state, as (B, V)": (f"{RUN}return self.head(h_n[-1]), {BOTH}", "last_step_only", None),
    "axes (B, V, T)": (
        f"{RUN}return self.head(h).transpose(1, 2), {BOTH}",
        "after: axes T and V exchanged For logits",
        None,
    ),
    "log-softmax": (f"{RUN}return F.log_softmax(self.head(h), dim=2), {BOTH}", "softmax_applied", None),
    "softmax over time": (
        f"{RUN}return self.head(h).softmax(dim=1), {BOTH}",
        "after: softmax along T For logits",
        None,
    ),
    "mean over time": (f"{RUN}return self.head(h.mean(dim=1)), {BOTH}", "after: mean over T For logits", None),
    "ids reversed": (
        f"{fed('self.embedding(ids.flip(1))')}return self.head(h), {BOTH}",
        {None, "counterfactual: reversed ids"},
        None,
    ),
    "squeezed": (f"{RUN}return self.head(h).squeeze(), {BOTH}", "after: squeeze For logits", "expected (1, 2, 2)"),
    "state detached on the way in": (
        "if state is not None:\n    state = (state[0].detach(), state[1].detach())\n"
        f"{RUN}return self.head(h), (h_n, c_n)",
        "state_not_detached",
        None,
    ),
    "cloned, not detached": (f"{RUN}return self.head(h), (h_n.clone(), c_n.clone())", "state_not_detached", None),
    "a state that asks for gradients": (
        f"{RUN}return self.head(h), tuple(s.detach().requires_grad_() for s in (h_n, c_n))",
        "state_not_detached",
        None,
    ),
    "no_grad around all": (
        f"with torch.no_grad():\n    {RUN}    return self.head(h), {BOTH}",
        "logits_detached",
        None,
    ),
    "no_grad around the LSTM": (
        f"with torch.no_grad():\n    h, (h_n, c_n) = self.rnn(self.embedding(ids), state)\nreturn self.head(h), {BOTH}",
        "h_detached",
        None,
    ),
    "embedding detached": (
        f"{fed('self.embedding(ids).detach()')}return self.head(h), {BOTH}",
        None,
        "no gradient reaches `embedding.weight`",
    ),
    "detached in evaluation": (
        f"{RUN}logits = self.head(h)\nreturn logits if self.training else logits.detach(), {BOTH}",
        {None, "logits_detached For one text"},
        None,
    ),
    "a tensor from numbers": (
        f"{RUN}return torch.tensor(self.head(h).tolist()), {BOTH}",
        "logits_detached",
        None,
    ),
    "dropout on the embedding, always": (
        f"{fed('F.dropout(self.embedding(ids), 0.2)')}return self.head(h), {BOTH}",
        "random_in_eval",
        None,
    ),
    "dropout on the logits, always": (f"{RUN}return F.dropout(self.head(h), 0.1), {BOTH}", "random_in_eval", None),
    "dropout on the embedding, in training": (
        f"{fed('F.dropout(self.embedding(ids), 0.2, self.training)')}return self.head(h), {BOTH}",
        "dropout_added",
        None,
    ),
    "noise": (f"{RUN}return self.head(h + 0.01 * torch.randn_like(h)), {BOTH}", "random_in_eval", None),
    "never in training mode": (f"self.eval()\n{RUN}return self.head(h), {BOTH}", None, "is the same with every seed"),
    "always in training mode": (f"self.train()\n{RUN}return self.head(h), {BOTH}", None, None),
    "ones as the first state": (
        "if state is None:\n    state = 2 * (torch.ones(self.rnn.num_layers, len(ids), self.rnn.hidden_size),)\n"
        f"{RUN}return self.head(h), {BOTH}",
        None,
        None,
    ),
    "float32 zeros": (
        "if state is None:\n    zeros = torch.zeros(self.rnn.num_layers, len(ids), self.rnn.hidden_size).float()\n"
        f"    state = (zeros, zeros)\n{RUN}return self.head(h), {BOTH}",
        None,
        "does `forward` use `float()` or `float32`?",
    ),
    "float32 logits": (
        f"{RUN}return self.head(h).float(), {BOTH}",
        "float32",
        None,
    ),
    "the top layer's state only": (
        f"{RUN}return self.head(h), (h_n[-1:].detach(), c_n[-1:].detach())",
        None,
        "RuntimeError: Expected hidden",
    ),
    "the last output as the state": (
        f"{RUN}return self.head(h), h[:, -1].detach()",
        "state_is_no_pair",
        None,
    ),
    "a state of zeros returned": (
        f"{RUN}return self.head(h), (torch.zeros_like(h_n), torch.zeros_like(c_n))",
        "state_ignored",
        None,
    ),
    "the state is averaged over the batch": (
        f"{RUN}mean = [s.mean(1, keepdim=True).expand(s.shape).contiguous() for s in {BOTH}]\n"
        "return self.head(h), tuple(mean)",
        None,
        None,
    ),
    "remembers, whatever it is given": (
        "h, (h_n, c_n) = self.rnn(self.embedding(ids), getattr(self, 'kept', None))\n"
        f"self.kept = {BOTH}\nreturn self.head(h), self.kept",
        "own_state_instead_of_given",
        None,
    ),
    "row after row": (
        "x, outputs = self.embedding(ids), []\n"
        "for b in range(len(ids)):\n"
        "    y, state = self.rnn(x[b : b + 1], state)\n"
        "    outputs.append(y)\n"
        "return self.head(torch.cat(outputs)), tuple(s.detach() for s in state)",
        {None, "first_sequence_only For one text and training mode"},
        None,
    ),
    "a loop that forgets": (LOOP.format(before="", new="new"), "state_lost_within_the_text", None),
    "a loop that cuts": (
        LOOP.format(before="state = state and tuple(s.detach() for s in state)", new="state"),
        "gradient_cut_within_the_text",
        None,
    ),
    "h cut in a loop, c not": (
        LOOP.format(before="state = state and (state[0].detach(), state[1])", new="state"),
        "gradient_cut_within_the_text",
        "not along every path",
    ),
    "a loop without its first step": (
        LOOP.format(before="if t == 0 and ids.shape[1] > 1: continue", new="state"),
        None,
        None,
    ),
    "changes its ids": (f"ids %= 2\n{RUN}return self.head(h), {BOTH}", None, None),
    "another attribute": (f"{RUN}return self.linear(h), {BOTH}", None, "AttributeError"),
    "relu on the embedding": (
        f"{fed('torch.relu(self.embedding(ids))')}return self.head(h), {BOTH}",
        None,
        None,
    ),
    "residual": (f"{RUN}return self.head(h) + 1.0, {BOTH}", None, None),
}

RIGHT = {
    "as it is": f"{RUN}return self.head(h), {BOTH}",
    "a generator": f"{RUN}return self.head(h), tuple(s.detach() for s in (h_n, c_n))",
    "a list": f"{RUN}return [self.head(h), {BOTH}]",
    "data": f"{RUN}return self.head(h), (h_n.data, c_n.data)",
    "a copy by NumPy": f"{RUN}return self.head(h), tuple(torch.from_numpy(s.numpy().copy()) for s in {BOTH})",
    "one tensor": (
        "state = state if state is None else (state[0], state[1])\n"
        f"{RUN}return self.head(h), torch.stack([h_n, c_n]).detach()"
    ),
    "batch first in the state": (
        "state = state and tuple(s.transpose(0, 1).contiguous() for s in state)\n"
        f"{RUN}return self.head(h), (h_n.transpose(0, 1).detach(), c_n.transpose(0, 1).detach())"
    ),
    "zeros of its own": (
        "if state is None:\n    state = (torch.zeros(self.rnn.num_layers, ids.size(0), self.rnn.hidden_size),) * 2\n"
        f"{RUN}return self.head(h), {BOTH}"
    ),
    "functional": (
        f"{fed('F.embedding(ids, self.embedding.weight)')}return F.linear(h, self.head.weight, self.head.bias), {BOTH}"
    ),
    "one-hot times the table": (
        "table = self.embedding.weight\n"
        f"{fed('F.one_hot(ids, len(table)).double() @ table')}"
        f"return self.head(h), {BOTH}"
    ),
    "head on a matrix": f"{RUN}return self.head(h.flatten(0, 1)).unflatten(0, ids.shape), {BOTH}",
    "logits kept on self": f"{RUN}self.logits, self.last = self.head(h), {BOTH}\nreturn self.logits, self.last",
    "a loop": LOOP.format(before="", new="state"),
    "detached under no_grad": (
        f"{RUN}with torch.no_grad():\n    state = (h_n + 0.0, c_n + 0.0)\nreturn self.head(h), state"
    ),
    "a state with the number of characters": (
        "state, read = state if state is not None else (None, 0)\n"
        f"{RUN}return self.head(h), ({BOTH}, read + ids.shape[1])"
    ),
    "a random number in vain": f"torch.rand(3)\n{RUN}return self.head(h), {BOTH}",
}


@for_each("name", WRONG)
def test_a_nearly_right_model_fails_and_gets_no_wrong_name(name):
    forward, allowed, says = WRONG[name]
    fails("CharLM", char_lm(forward), allowed)
    if says:
        assert says in exercise("CharLM").verdict(char_lm(forward)).first_problem[1].text


@for_each("name", RIGHT)
def test_a_right_model_passes_however_it_is_written(name):
    passes("CharLM", char_lm(RIGHT[name]))
