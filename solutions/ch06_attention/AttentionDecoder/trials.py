"""Programs that the spec of `AttentionDecoder` does not contain; beside each wrong one is what it is told."""

from grader.spec.trials import Trials, module_cell, replaced

TRIALS = Trials()


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
    """The cell of a student whose `forward` has this body."""
    return module_cell("AttentionDecoder", init, "target_in, state, keys, mask", forward)


def body(*pairs):
    return replaced(BODY, *pairs)


TANH = "torch.tanh(self.query(s).unsqueeze(1) + self.key(keys))"


MASK = 'e = e.masked_fill(~mask, float("-inf"))'


SOFTMAX = "w = torch.softmax(e, dim=-1)"


CONTEXT = "c = torch.bmm(w.unsqueeze(1), keys).squeeze(1)"


START = "s = state\n"


RETURN = "return torch.stack(outs, dim=1), torch.stack(alphas, dim=1)"


WRONG = {  # the body of forward, and what it is told: a name, or None
    # the query
    "the query of the first row": (body(("self.query(s)", "self.query(s[:1])")), None),
    "no key": (
        body((TANH, "torch.tanh(self.query(s).unsqueeze(1) + 0 * self.key(keys))")),
        "zeros self.key.weight | zeros self.score.weight",
    ),
    "the query without an axis": (
        body(("self.query(s).unsqueeze(1)", "self.query(s)"), (CONTEXT, "c = torch.einsum('bs,bsk->bk', w, keys)")),
        (None, "query_of_another_row"),
    ),
    # the mask
    "no mask": (body((f"    {MASK}\n", "")), "true mask"),
    "minus ten": (body((MASK, "e = torch.where(mask, e, -10.0)")), "masked_scores_not_low_enough"),
    # the softmax
    "log-softmax": (body(('float("-inf")', "-1e9"), ("torch.softmax", "torch.log_softmax")), None),
    "softmax twice": (body((SOFTMAX, "w = torch.softmax(torch.softmax(e, -1), -1) * mask")), None),
    # the score
    "a difference": (body((TANH, TANH.replace(" + ", " - "))), "negated self.key.weight"),
    # the context
    # the steps
    "a step early": (body(("target_in[:, t]", "target_in[:, (t + 1) % target_in.size(1)]")), "early target_in"),
    "one step is missing": (body(("target_in.size(1)", "target_in.size(1) - 1")), None),
    "a step for each key": (body(("target_in.size(1)", "keys.size(1)")), None),
    # what is returned
    "concatenated": (
        body((RETURN, "return torch.cat(outs, dim=1), torch.cat(alphas, dim=1)")),
        "concatenated_not_stacked",
    ),
    "logits only": (body((RETURN, "return torch.stack(outs, dim=1)")), None),
    "exchanged": (body((RETURN, "return torch.stack(alphas, dim=1), torch.stack(outs, dim=1)")), "order"),
    "a list": (body((RETURN, "return outs, alphas")), None),
    "no return": (body((RETURN, "torch.stack(outs, dim=1), torch.stack(alphas, dim=1)")), None),
    # gradients and what is kept
    "float32": (body((START, "s = state.float()\n")), None),
}


RIGHT = {
    "renormalised": body(
        (f"    {MASK}\n", ""), (SOFTMAX, "w = torch.softmax(e, -1) * mask\n    w = w / w.sum(1, True)")
    ),
    "the query as rows": body(
        (TANH, "torch.tanh(self.query(s[:, None].expand(-1, keys.size(1), -1)) + self.key(keys))")
    ),
    "scaled_dot_product_attention": body(
        (
            CONTEXT,
            "v = F.scaled_dot_product_attention(w.log()[:, None], torch.eye(w.size(1)).expand(len(w), -1, -1), "
            "keys, scale=1.0) if bool(mask.all()) else torch.bmm(w[:, None], keys)\n    c = v[:, 0]",
        )
    ),
}

TRIALS.all_wrong(WRONG, make=attention_decoder, seeds=(0, 1))
TRIALS.all_right(RIGHT, make=attention_decoder, seeds=(0, 1))
