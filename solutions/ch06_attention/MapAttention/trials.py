"""Programs that the spec of `MapAttention` does not contain; beside each wrong one is what it is told."""

from grader.spec.trials import Trials, module_cell, replaced

TRIALS = Trials()

INIT = """
def __init__(self, hidden_size, channels):
    super().__init__()
    self.query = torch.nn.Linear(hidden_size, channels, bias=False)
"""

BODY = """
B, C, Y, X = feature_map.shape
q = self.query(state)
keys = feature_map.view(B, C, -1).permute(0, 2, 1)
e = torch.bmm(keys, q.unsqueeze(2)).squeeze(2)
a = F.softmax(e, dim=-1)
c = torch.bmm(a.unsqueeze(1), keys).squeeze(1)
return c, a.view(B, Y, X)
"""


def map_attention(forward):
    """The cell of a student whose `forward` has this body."""
    return module_cell("MapAttention", INIT, "state, feature_map", forward)


def body(*pairs):
    return replaced(BODY, *pairs)


KEYS = "feature_map.view(B, C, -1).permute(0, 2, 1)"
CONTEXT = "torch.bmm(a.unsqueeze(1), keys).squeeze(1)"
RETURN = "return c, a.view(B, Y, X)"

WRONG = {  # the body of forward, and what it is told: a name, or None
    # from the map to its places
    "view alone": (body((KEYS, "feature_map.view(B, Y * X, C)")), "places_reshaped"),
    "reshape alone": (body((KEYS, "feature_map.reshape(B, -1, C)")), "places_reshaped"),
    "permuted the wrong way": (
        body((KEYS, "feature_map.permute(0, 3, 2, 1).reshape(B, -1, C)")),
        "rows_and_columns_swapped",
    ),
    "the channels as keys": (body((KEYS, "feature_map.view(B, C, -1)")), None),
    "pooled first": (body((KEYS, "feature_map.amax(dim=(2, 3))[:, None].expand(B, Y * X, C)")), None),
    "reshaped for the scores": (
        body(("torch.bmm(keys, q", "torch.bmm(feature_map.reshape(B, -1, C), q")),
        "places_reshaped",
    ),
    "reshaped for the context": (
        body(("a.unsqueeze(1), keys)", "a.unsqueeze(1), feature_map.reshape(B, -1, C))")),
        "places_reshaped",
    ),
    "exchanged, then reshaped": (body((KEYS, "feature_map.permute(0, 2, 1, 3).reshape(B, -1, C)")), "places_reshaped"),
    # weights
    "the state itself, in a product": (body(("self.query(state)", "state")), "query_left_out"),
    "over one number": (
        body((".squeeze(2)\na = F.softmax(e, dim=-1)", "\na = F.softmax(e, dim=-1).squeeze(2)")),
        "softmax_over_one_number",
    ),
    "over all pictures": (
        body(("F.softmax(e, dim=-1)", "F.softmax(e.flatten(), 0).view_as(e)")),
        "softmax_over_the_batch",
    ),
    "rows, then columns": (
        body(("F.softmax(e, dim=-1)", "F.softmax(F.softmax(e.view(B, Y, X), 2), 1).flatten(1)")),
        "softmax_over_one_direction",
    ),
    "tanh of the scores": (body(("squeeze(2)\n", "squeeze(2).tanh()\n")), "query_squashed"),
    "PyTorch's own scale": (
        body((CONTEXT, "F.scaled_dot_product_attention(q[:, None], keys, keys)[:, 0]")),
        "scores_scaled",
    ),
    "all weights alike": (body(("F.softmax(e, dim=-1)", "torch.full_like(e, 1 / (Y * X))")), "query_without_effect"),
    "one place, weight 1": (body(("F.softmax(e, dim=-1)", "F.one_hot(e.argmax(1), Y * X) * 1.0")), "best_place_only"),
    "rows only": (
        body(("F.softmax(e, dim=-1)", "F.softmax(e.view(B, Y, X), dim=-1).reshape(B, -1)")),
        "softmax_over_one_direction",
    ),
    "columns only": (
        body(("F.softmax(e, dim=-1)", "F.softmax(e.view(B, Y, X), dim=1).reshape(B, -1)")),
        "softmax_over_one_direction",
    ),
    "batch": (body(("dim=-1", "dim=0")), "softmax_over_the_batch"),
    "log-softmax": (body(("F.softmax", "F.log_softmax")), "after: exponential missing For weights"),
    "two softmaxes": (body(("F.softmax(e, dim=-1)", "F.softmax(F.softmax(e, dim=-1), dim=-1)")), None),
    "normalised by the largest": (body(("F.softmax(e, dim=-1)", "torch.exp(e - e.amax(1, True))")), None),
    "scaled": (body(("squeeze(2)\n", "squeeze(2) / C**0.5\n")), "scores_scaled"),
    "negative scores": (
        body(("self.query(state)", "-self.query(state)")),
        "altered input: negated self.query.weight | negated state",
    ),
    "cosine": (body(("self.query(state)", "F.normalize(self.query(state), dim=1)")), None),
    # the context
    "mean": (body((CONTEXT, "keys.mean(1)")), "context_is_a_mean"),
    "a sum": (body((CONTEXT, "keys.sum(1)")), "context_is_a_mean"),
    "the largest": (body((CONTEXT, "keys[torch.arange(B), a.argmax(1)]")), "best_place_only"),
    "the largest times its weight": (body((CONTEXT, "keys[torch.arange(B), a.argmax(1)] * a.amax(1, True)")), None),
    "an axis too many": (body((".squeeze(1)\n", "\n")), "after: squeeze of axis=-2 missing For context"),
    "with the query": (body((RETURN, "return c + q, a.view(B, Y, X)")), None),
    "a tanh": (body((RETURN, "return torch.tanh(c), a.view(B, Y, X)")), "after: tanh For context"),
    # what is returned
    "weights flat": (body((RETURN, "return c, a")), "weights_flat"),
    "columns first": (body((RETURN, "return c, a.view(B, X, Y)")), "rows_and_columns_swapped"),
    "exchanged": (body((RETURN, "return a.view(B, Y, X), c")), "order"),
    "context alone": (body((RETURN, "return c")), None),
    "no return": (body((RETURN, "result = c, a.view(B, Y, X)")), None),
    "scores": (body((RETURN, "return c, e.view(B, Y, X)")), "scores_returned"),
    "largest is 1": (body((RETURN, "return c, (a / a.amax(1, True)).view(B, Y, X)")), None),
    # gradients
    "the map cut off": (body((KEYS, KEYS.replace("feature_map", "feature_map.detach()"))), None),
    "the values cut off": (body(("a.unsqueeze(1), keys)", "a.unsqueeze(1), keys.detach())")), None),
    "the keys cut off": (body(("torch.bmm(keys, q", "torch.bmm(keys.detach(), q")), None),
    "the state cut off": (body(("self.query(state)", "self.query(state.detach())")), None),
    "the state as numbers": (body(("self.query(state)", "self.query(torch.tensor(state.tolist()))")), None),
    "places kept from call to call": (
        body((KEYS, "self.__dict__.setdefault('kept', feature_map.view(B, C, -1).permute(0, 2, 1))")),
        None,
    ),
    "empty places hidden": (
        body(("F.softmax(e, dim=-1)", "F.softmax(e.masked_fill((keys == 0).all(2), -1e9), dim=-1)")),
        None,
    ),
    "the layer made again": (body(("self.query(state)", "torch.nn.Linear(*self.query.weight.T.shape)(state)")), None),
    "the layer reset": (body(("self.query(state)", "(self.query.reset_parameters(), self.query(state))[1]")), None),
    "no gradient": (body((RETURN, "return c.detach(), a.detach().view(B, Y, X)")), "attention_detached"),
    "drawn": (body((RETURN, "return c, a.detach().view(B, Y, X)")), "weights_detached"),
}

RIGHT = {
    "with views": BODY,
    "with linear": body(("self.query(state)", "F.linear(state, self.query.weight)")),
    "sums by name": body((CONTEXT, "torch.einsum('bp,bpc->bc', a, keys)")),
    "own softmax": body(("F.softmax(e, dim=-1)", "torch.exp(e - torch.logsumexp(e, 1, keepdim=True))")),
    "torch's attention": """
        keys = feature_map.flatten(2).mT
        alpha = torch.softmax(keys @ self.query(state)[..., None], 1)
        c = F.scaled_dot_product_attention(self.query(state)[:, None], keys, keys, scale=1.0)[:, 0]
        return c, alpha[..., 0].reshape(-1, *feature_map.shape[-2:])
    """,
    "the matrix on the other side": """
        B, C, Y, X = feature_map.shape
        scores = torch.einsum('bcyx,ch,bh->byx', feature_map, self.query.weight, state)
        powers = scores.exp()
        weights = powers / powers.sum(dim=(1, 2), keepdim=True)
        return (feature_map * weights[:, None]).sum(dim=(2, 3)), weights
    """,
}

TRIALS.all_wrong(WRONG, make=map_attention, seeds=(0, 1))
TRIALS.all_right(RIGHT, make=map_attention, seeds=(0, 1))
