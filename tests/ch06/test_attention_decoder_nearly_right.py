"""Attention decoders that are nearly right must fail and get no wrong name; right ones in other styles must pass."""

import linecache
import textwrap

import torch

from tests.conftest import SEEDS
from tests.loops import for_each
from tests.nearly_right import fails, passes

INIT = """
def __init__(self, target_vocab, embed_size, hidden_size, key_size, attention_size):
    super().__init__()
    self.embedding = torch.nn.Embedding(target_vocab, embed_size)
    self.query = torch.nn.Linear(hidden_size, attention_size, bias=False)
    self.key = torch.nn.Linear(key_size, attention_size, bias=False)
    self.score = torch.nn.Linear(attention_size, 1, bias=False)
    self.cell = torch.nn.GRUCell(embed_size + key_size, hidden_size)
    self.head = torch.nn.Linear(hidden_size + key_size, target_vocab)
"""
BODY = """
outs, alphas = [], []
s = state
for t in range(target_in.size(1)):
    y = self.embedding(target_in[:, t])
    a = torch.tanh(self.query(s).unsqueeze(1) + self.key(keys))
    e = self.score(a).squeeze(-1)
    e = e.masked_fill(~mask, float("-inf"))
    w = torch.softmax(e, dim=-1)
    c = torch.bmm(w.unsqueeze(1), keys).squeeze(1)
    s = self.cell(torch.cat([y, c], dim=-1), s)
    out = self.head(torch.cat([s, c], dim=-1))
    outs.append(out)
    alphas.append(w)
return torch.stack(outs, dim=1), torch.stack(alphas, dim=1)
"""


def attention_decoder(forward, init=INIT):
    """A student's class with this body of `forward`, as a notebook's cell defines it."""
    body = textwrap.indent(textwrap.dedent(forward).strip(), "    ")
    lines = f"def forward(self, target_in, state, keys, mask):\n{body}"
    source = "class AttentionDecoder(torch.nn.Module):\n" + textwrap.indent(f"{init.strip()}\n\n{lines}\n", "    ")
    filename = f"<cell {hash(source)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    namespace = {"torch": torch, "F": torch.nn.functional}
    exec(compile(source, filename, "exec"), namespace)
    return namespace["AttentionDecoder"]


def body(*pairs):
    """The right body with these texts replaced, each of which occurs exactly once."""
    text = BODY
    for old, new in pairs:
        assert text.count(old) == 1, (text.count(old), old)
        text = text.replace(old, new)
    return text


TANH = "torch.tanh(self.query(s).unsqueeze(1) + self.key(keys))"
MASK = 'e = e.masked_fill(~mask, float("-inf"))'
SOFTMAX = "w = torch.softmax(e, dim=-1)"
CONTEXT = "c = torch.bmm(w.unsqueeze(1), keys).squeeze(1)"
CELL = "s = self.cell(torch.cat([y, c], dim=-1), s)"
OUT = "out = self.head(torch.cat([s, c], dim=-1))"
START = "s = state\n"
RETURN = "return torch.stack(outs, dim=1), torch.stack(alphas, dim=1)"
LUONG = [(f"    {CELL}\n", ""), (START, f"{START}c = keys.new_zeros(len(keys), keys.shape[2])\n")]

WRONG = {  # the body of forward, and what it is told: a name, or None
    # the query
    "Luong's order with input feeding": (
        body(*LUONG, ("    a = torch", f"    {CELL}\n    a = torch")),
        "query_is_the_new_state",
    ),
    "attends with s_t for the head": (
        body(
            (
                OUT,
                f"w = torch.softmax(self.score(torch.tanh(self.query(s).unsqueeze(1) + self.key(keys)))"
                f".squeeze(-1).masked_fill(~mask, -1e9), -1)\n    {CONTEXT}\n    {OUT}",
            )
        ),
        "attends_again",
    ),
    "the initial state as the query": (body(("self.query(s)", "self.query(state)")), "attends_once"),
    "the query of the first row": (body(("self.query(s)", "self.query(s[:1])")), None),
    "no query": (body((TANH, "torch.tanh(self.key(keys))")), "query_without_effect"),
    "no key": (
        body((TANH, "torch.tanh(self.query(s).unsqueeze(1) + 0 * self.key(keys))")),
        "zeros key.weight in weights | zeros score.weight in weights",
    ),
    # the mask
    "no mask": (body((f"    {MASK}\n", "")), "true mask"),
    "an inverted mask": (body(("~mask", "mask")), "mask_inverted"),
    "mask after the softmax": (
        body((f"    {MASK}\n", ""), (SOFTMAX, f"{SOFTMAX} * mask.double()")),
        "masked_after_softmax",
    ),
    "mask after the softmax, in place of weights": (
        body((f"    {MASK}\n", ""), (SOFTMAX, f"{SOFTMAX}.masked_fill(~mask, 0)")),
        "masked_after_softmax",
    ),
    "scores times mask": (body((MASK, "e = e * mask")), "masked_scores_are_zero"),
    "masked_fill with 0": (body((MASK, "e = e.masked_fill(~mask, 0.)")), "masked_scores_are_zero"),
    "masked keys are zero": (
        body((START, f"{START}keys = keys.masked_fill(~mask.unsqueeze(-1), 0)\n"), (f"    {MASK}\n", "")),
        "keys_set_to_zero",
    ),
    "mask of the hidden layer": (
        body((f"    {MASK}\n", ""), (TANH, f"{TANH} * mask.unsqueeze(-1)")),
        "masked_scores_are_zero",
    ),
    "masked_fill is not assigned": (body((MASK, 'e.masked_fill(~mask, float("-inf"))')), "true mask"),
    # the softmax
    "softmax over one entry": (
        body(
            ("e = self.score(a).squeeze(-1)", "e = self.score(a)"),
            (f"    {MASK}\n", ""),
            (SOFTMAX, "w = torch.softmax(e, dim=-1).squeeze(-1)"),
        ),
        "softmax_over_one_entry",
    ),
    "softmax over the batch": (
        body(('float("-inf")', "-1e9"), ("softmax(e, dim=-1)", "softmax(e, dim=0)")),
        "softmax_over_the_batch",
    ),
    "log-softmax": (body(('float("-inf")', "-1e9"), ("torch.softmax", "torch.log_softmax")), None),
    "sigmoid": (body((SOFTMAX, "w = torch.sigmoid(e)")), "sigmoid_in_place_of_softmax"),
    "softmax twice": (body((SOFTMAX, "w = torch.softmax(torch.softmax(e, -1), -1) * mask")), None),
    "scaled": (body((SOFTMAX, "w = torch.softmax(e / a.size(-1) ** 0.5, dim=-1)")), "scores_scaled"),
    "exponentials": (body((SOFTMAX, "w = e.exp()")), "scores_are_the_weights"),
    # the score
    "no tanh": (body((TANH, "self.query(s).unsqueeze(1) + self.key(keys)")), "tanh_missing"),
    "tanh outside": (
        body(
            (TANH, "self.query(s).unsqueeze(1) + self.key(keys)"),
            ("self.score(a).squeeze(-1)", "torch.tanh(self.score(a)).squeeze(-1)"),
        ),
        "tanh_after_the_score",
    ),
    "tanh of both": (
        body((TANH, "torch.tanh(self.query(s)).unsqueeze(1) + torch.tanh(self.key(keys))")),
        "query_without_effect",
    ),
    "sigmoid for tanh": (body((TANH, TANH.replace("tanh", "sigmoid"))), "another_function_for_tanh"),
    "relu for tanh": (body((TANH, TANH.replace("tanh", "relu"))), "another_function_for_tanh"),
    "a product": (body((TANH, TANH.replace(" + ", " * "))), "projections_multiplied"),
    "a difference": (body((TANH, TANH.replace(" + ", " - "))), "negated key.weight in weights"),
    # the context
    "the mean": (body((CONTEXT, "c = (w.unsqueeze(-1) * keys).mean(dim=1)")), "context_is_a_mean"),
    "the best key": (body((CONTEXT, "c = keys[range(len(keys)), e.argmax(dim=1)]")), "best_key_only"),
    "the last key": (body((CONTEXT, "c = keys[:, -1]")), "last_key_only"),
    "not in the cell": (body(("[y, c]", "[y, torch.zeros_like(c)]")), "context_not_in_the_cell"),
    "not in the head": (body(("[s, c]", "[s, torch.zeros_like(c)]")), "context_not_in_the_head"),
    "first in the cell": (body(("[y, c]", "[c, y]")), "context_first_in_the_cell"),
    "first in the head": (body(("[s, c]", "[c, s]")), "context_first_in_the_head"),
    # the steps
    "head before the cell": (
        body((f"    {CELL}\n    {OUT}", f"    {OUT}\n    {CELL}")),
        "head_reads_the_previous_state",
    ),
    "the state is not carried": (
        body((CELL, "n = self.cell(torch.cat([y, c], dim=-1), s)"), ("[s, c]", "[n, c]")),
        "state_not_carried",
    ),
    "the cell starts from the initial state": (body(("dim=-1), s)", "dim=-1), state)")), "state_not_carried"),
    "the cell starts from zeros": (body(("dim=-1), s)", "dim=-1))")), "cell_without_the_state"),
    "its own predictions": (
        body(
            (START, f"{START}word = target_in[:, 0]\n"),
            ("target_in[:, t]", "word"),
            ("outs.append(out)", "outs.append(out)\n    word = out.argmax(dim=-1)"),
        ),
        "feeds_its_own_predictions",
    ),
    "a step late": (body(("target_in[:, t]", "target_in[:, max(t - 1, 0)]")), "target_shifted"),
    "a step early": (body(("target_in[:, t]", "target_in[:, (t + 1) % target_in.size(1)]")), "early target_in"),
    "the first word": (body(("target_in[:, t]", "target_in[:, 0]")), "first_word_at_every_step"),
    "one step is missing": (body(("target_in.size(1)", "target_in.size(1) - 1")), None),
    "a step for each key": (body(("target_in.size(1)", "keys.size(1)")), None),
    # what is returned
    "time first": (body(("outs, dim=1", "outs, dim=0"), ("alphas, dim=1", "alphas, dim=0")), "time_first"),
    "weights transposed": (body(("alphas, dim=1", "alphas, dim=2")), "weights_time_first"),
    "concatenated": (body((RETURN, "return torch.cat(outs, dim=1), torch.cat(alphas, dim=1)")), None),
    "the last weights": (body((RETURN, "return torch.stack(outs, dim=1), w")), "last_weights_only"),
    "the last step": (body((RETURN, "return out, w")), "last_step_only"),
    "logits only": (body((RETURN, "return torch.stack(outs, dim=1)")), None),
    "exchanged": (body((RETURN, "return torch.stack(alphas, dim=1), torch.stack(outs, dim=1)")), "order"),
    "a list": (body((RETURN, "return outs, alphas")), None),
    "scores for weights": (body(("alphas.append(w)", "alphas.append(e)")), "scores_returned"),
    "log-probabilities": (body(("outs.append(out)", "outs.append(out.log_softmax(-1))")), "softmax_applied"),
    "no return": (body((RETURN, "torch.stack(outs, dim=1), torch.stack(alphas, dim=1)")), None),
    # gradients and what is kept
    "weights detached": (body((CONTEXT, CONTEXT.replace("w.un", "w.detach().un"))), "attention_detached"),
    "no_grad around the attention": (
        body((f"    {MASK}\n    {SOFTMAX}", f"    {MASK}\n    with torch.no_grad():\n        {SOFTMAX}")),
        "attention_detached",
    ),
    "state detached": (body((CELL, f"{CELL}\n    h = s\n    s = s.detach()"), ("[s, c]", "[h, c]")), "state_detached"),
    "logits detached": (body(("torch.stack(outs, dim=1)", "torch.stack(outs, dim=1).detach()")), "logits_detached"),
    "the state on self": (
        body((START, 's = self.s if hasattr(self, "s") else state\n'), (RETURN, f"self.s = s\n{RETURN}")),
        "kept_from_an_earlier_call",
    ),
    "float32": (body((START, "s = state.float()\n")), None),
}


@for_each("name", WRONG)
def test_a_nearly_right_one(name):
    forward, allowed = WRONG[name]
    fails("AttentionDecoder", attention_decoder(forward), allowed, seeds=SEEDS[:2])


RIGHT = {
    "the body above": BODY,
    "a large negative number": body(('float("-inf")', "-1e9")),
    "the smallest float": body(('float("-inf")', "torch.finfo(e.dtype).min")),
    "a negative number that is added": body((MASK, "e = e + (~mask) * -1e12")),
    "renormalised": body(
        (f"    {MASK}\n", ""), (SOFTMAX, "w = torch.softmax(e, -1) * mask\n    w = w / w.sum(1, True)")
    ),
    "torch.where": body((MASK, "e = torch.where(mask, e, torch.tensor(-torch.inf))")),
    "the mask as a number": body((MASK, "e = e.masked_fill(mask == 0, -torch.inf)")),
    "masked in place": body((MASK, "e[~mask] = -torch.inf")),
    "einsum": body((CONTEXT, 'c = torch.einsum("bs,bsk->bk", w, keys)')),
    "matmul": body((CONTEXT, "c = (w[:, None] @ keys)[:, 0]")),
    "weights detached on return": body(("alphas.append(w)", "alphas.append(w.detach())")),
    "preallocated": body(
        ("outs, alphas = [], []", "B, T = target_in.shape\nalphas = keys.new_zeros(B, T, keys.shape[1])\nouts = []"),
        ("alphas.append(w)", "alphas[:, t] = w"),
        ("torch.stack(alphas, dim=1)", "alphas"),
    ),
    "the query as rows": body(
        (TANH, "torch.tanh(self.query(s[:, None].expand(-1, keys.size(1), -1)) + self.key(keys))")
    ),
    "clean keys": body((START, f"{START}keys = torch.where(mask[..., None], keys, 0.0)\n")),
    "scaled_dot_product_attention": body(
        (
            CONTEXT,
            "v = F.scaled_dot_product_attention(w.log()[:, None], torch.eye(w.size(1)).expand(len(w), -1, -1), "
            "keys, scale=1.0) if bool(mask.all()) else torch.bmm(w[:, None], keys)\n    c = v[:, 0]",
        )
    ),
    "a list is returned": body((RETURN, "return [torch.stack(outs, 1), torch.stack(alphas, 1)]")),
    "time first, then transposed": body(
        (RETURN, "return torch.stack(outs).transpose(0, 1), torch.stack(alphas).mT.mT.transpose(0, 1)")
    ),
}


@for_each("name", RIGHT)
def test_a_right_one_in_another_style(name):
    passes("AttentionDecoder", attention_decoder(RIGHT[name]), SEEDS[:2])
