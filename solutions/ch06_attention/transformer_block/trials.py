"""Programs that the spec of `transformer_block` does not contain; beside each wrong one is what it is told."""

import numpy as np
import torch

from grader.spec.trials import Trials
from solutions.ch06_attention.building_blocks import heads, layer_norm

TRIALS = Trials()

OWN = 'x + heads(n @ w["W_q"], n @ w["W_k"], n @ w["W_v"], num_heads, past) @ w["W_o"]'
CROSS = 's_self + heads(m @ c["W_q"], R @ c["W_k"], R @ c["W_v"], num_heads, real) @ c["W_o"]'


@TRIALS.wrong("normalized_after_the_sum")
def as_in_the_paper(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    def attend(a, b, w, mask):
        return heads(a @ w["W_q"], b @ w["W_k"], b @ w["W_v"], num_heads, mask) @ w["W_o"]

    T = x.shape[1]
    one = layer_norm(x + attend(x, x, self_weights, np.tril(np.ones((T, T), bool))))
    two = layer_norm(one + attend(one, R, cross_weights, source_mask[:, None]))
    return one, two, layer_norm(two + np.maximum(two @ W_1 + b_1, 0) @ W_2 + b_2)


@TRIALS.wrong("residual_from_the_normalized_x")
def overwritten(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    def attend(a, b, w, mask):
        return heads(a @ w["W_q"], b @ w["W_k"], b @ w["W_v"], num_heads, mask) @ w["W_o"]

    T = x.shape[1]
    x = layer_norm(x)
    one = x + attend(x, x, self_weights, np.tri(T, dtype=bool))
    two = one + attend(layer_norm(one), R, cross_weights, source_mask[:, None])
    return one, two, two + np.maximum(layer_norm(two) @ W_1 + b_1, 0) @ W_2 + b_2


TRIALS.all_wrong(
    {
        "source mask not used": (
            [("real = source_mask[:, None]", "real = np.ones((1, R.shape[1]), dtype=bool)")],
            "true source_mask",
        ),
        "source mask inverted": ([("source_mask[:, None]", "~source_mask[:, None]")], "inverted source_mask"),
        "dicts exchanged": (
            [("w, c, T = self_weights, cross_weights", "c, w, T = self_weights, cross_weights")],
            "cross_weights_in_the_self_attention",
        ),
        "one head": ([(OWN, OWN.replace("num_heads", "1"))], "num_heads_ignored"),
        "future in the source": (
            [(CROSS, CROSS.replace("real)", "real & (np.arange(R.shape[1]) <= np.arange(T)[:, None]))"))],
            "causal_mask_in_the_cross_attention",
        ),
        "ReLU of the pre-activation without bias": (
            [("np.maximum(layer_norm(s_cross) @ W_1 + b_1, 0)", "np.maximum(layer_norm(s_cross) @ W_1, 0)")],
            "zeros b_1",
        ),
        "two blocks of residuals": ([(CROSS, f"x + {CROSS}")], None),
        "queries from the source": (
            [(CROSS, CROSS.replace("R @", "X @").replace("m @", "R @").replace("X @", "m @"))],
            None,
        ),
        "no second bias": ([("hidden @ W_2 + b_2", "hidden @ W_2")], "zeros b_2"),
        "W_o transposed": ([(OWN, OWN.replace('@ w["W_o"]', '@ w["W_o"].T'))], "transposed W_o in self_weights"),
    }
)


@TRIALS.right
def layer_of_torch(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    F = torch.nn.functional
    B, T, D = x.shape

    def attend(a, b, w, mask):
        q, k, v = (
            torch.from_numpy(y @ w[name]).reshape(B, -1, num_heads, D // num_heads).transpose(1, 2)
            for y, name in ((a, "W_q"), (b, "W_k"), (b, "W_v"))
        )
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.from_numpy(mask)).nan_to_num(0)
        return out.transpose(1, 2).reshape(B, T, D).numpy() @ w["W_o"]

    def normal(a):
        return F.layer_norm(torch.from_numpy(a), (D,)).numpy()

    n = normal(x)
    one = x + attend(n, n, self_weights, np.tri(T, dtype=bool))
    real = np.broadcast_to(source_mask[:, None, None], (B, 1, T, R.shape[1])).copy()
    two = one + attend(normal(one), R, cross_weights, real)
    return one, two, two + np.maximum(normal(two) @ W_1 + b_1, 0) @ W_2 + b_2


@TRIALS.right
def the_sum_is_updated(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    sums, y = [], x.copy()
    T = x.shape[1]
    masks = np.tril(np.ones((T, T), dtype=bool)), np.repeat(source_mask[:, None, :], T, axis=1)
    for w, mask, source in ((self_weights, masks[0], None), (cross_weights, masks[1], R)):
        n = layer_norm(y)
        other = n if source is None else source
        y = y + heads(n @ w["W_q"], other @ w["W_k"], other @ w["W_v"], num_heads, mask) @ w["W_o"]
        sums.append(y)
    hidden = layer_norm(y) @ W_1 + b_1
    hidden[hidden < 0] = 0
    return sums[0], sums[1], y + hidden @ W_2 + b_2
