"""Programs that the spec of `transformer_block` does not contain; beside each wrong one is what it is told."""

import numpy as np
import torch

from grader.spec.trials import Trials
from solutions.ch06_attention.building_blocks import heads, layer_norm, softmax

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

ARGUMENTS = "x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads"
HEAD = f"""
def transformer_block({ARGUMENTS}):
    A, C, real = self_weights, cross_weights, source_mask[:, None]
"""
BODY = """
    causal = np.tril(np.ones((x.shape[1], x.shape[1]), dtype=bool))
    n = layer_norm(x)
    a = heads(n @ A["W_q"], n @ A["W_k"], n @ A["W_v"], num_heads, causal)
    s_self = x + a @ A["W_o"]
    h = layer_norm(s_self)
    c = heads(h @ C["W_q"], R @ C["W_k"], R @ C["W_v"], num_heads, real)
    s_cross = s_self + c @ C["W_o"]
    m = np.maximum(layer_norm(s_cross) @ W_1 + b_1, 0)
    y = s_cross + m @ W_2 + b_2
    return s_self, s_cross, y
"""
OWN_HEADS = """
def heads(q, k, v, num_heads, mask):
    B, T, D = q.shape
    S, d = k.shape[1], q.shape[2] // num_heads
    mask = np.broadcast_to(mask, (B, T, S))[:, None]
    Q = q.reshape(B, T, num_heads, d).transpose(0, 2, 1, 3)
    K = k.reshape(B, S, num_heads, d).transpose(0, 2, 1, 3)
    V = v.reshape(B, S, num_heads, d).transpose(0, 2, 1, 3)
    e = Q @ K.transpose(0, 1, 3, 2) / np.sqrt(d)
    w = softmax(np.where(mask, e, -np.inf))
    return (w @ V).transpose(0, 2, 1, 3).reshape(B, T, D)
"""


def changed(pairs, text=BODY):
    """The program of the blind trial with other texts in it."""
    for was, becomes in pairs:
        assert was in text, was
        text = text.replace(was, becomes)
    return text


# What a blind trial wrote.
TRIALS.all_wrong(
    {
        "causal off by one: k=1": ([("bool)", "bool), k=1")], "sees_the_next_position"),
        "only itself: eye": (
            [("tril(np.ones((x.shape[1], x.shape[1]), dtype=bool)", "eye(x.shape[1], dtype=bool")],
            "only_itself",
        ),
        "causal instead of source mask in cross": (
            [("real", "np.tril(np.ones((x.shape[1], R.shape[1]), dtype=bool))")],
            "causal_mask_in_place_of_source_mask",
        ),
        "source mask bare (B, S)": ([("real", "source_mask")], None),
        "source mask wrong axis": ([("real", "source_mask[..., None]")], None),
        "R zeroed, no mask": (
            [("c = heads(", "R = R * source_mask[..., None]\n    c = heads("), ("num_heads, real", "num_heads, True")],
            "padding_set_to_zero",
        ),
        "masks swapped": ([(", causal", ", real"), ('C["W_v"], num_heads, real', 'C["W_v"], num_heads, causal')], None),
        "no residuals at all": (
            [("x + ", ""), ("s_self + ", ""), ("s_cross + ", "")],
            "self_attention_without_residual",
        ),
        "no norm self": ([("layer_norm(x)", "x")], "x_not_normalized"),
        "queries not normalised in self": ([("heads(n", "heads(x")], "scores_of_self_not_normalized"),
        "R normalised for keys only": ([('W_q"], R', 'W_q"], layer_norm(R)')], "keys_of_the_source_normalized"),
        "norm after the sublayer (LN of the output)": (
            [('a @ A["W_o"]', 'layer_norm(a @ A["W_o"])')],
            "output_of_the_attention_normalized",
        ),
        "queries normalised after W_q": ([('h @ C["W_q"]', 'layer_norm(s_self @ C["W_q"])')], None),
        "cross with queries from R, truncated masks": (
            [
                (
                    'h @ C["W_q"], R @ C["W_k"], R @ C["W_v"], num_heads, real',
                    'R @ C["W_q"], h @ C["W_k"], h @ C["W_v"], num_heads, True',
                )
            ],
            None,
        ),
        "cross reads s for values": ([('W_k"], R', 'W_k"], h')], None),
        "cross query of x without norm": ([("(h", "(x")], "queries_from_x"),
        "self W_o in cross": ([("c @ C", "c @ A")], "a_matrix_of_self_in_cross"),
        "self K, V weights in cross": ([('C["W_k"], R @ C', 'A["W_k"], R @ A')], "a_matrix_of_self_in_cross"),
        "W_o of the sum": ([("x + a", "(x + a)"), ("s_self + c", "(s_self + c)")], None),
        "relu before W_1": ([(" @ W_1 + b_1, 0)", ", 0) @ W_1 + b_1")], "relu_before_W_1"),
        "both biases forgotten": ([(" + b_1", ""), (" + b_2", "")], "both_biases_left_out"),
        "GELU for relu": (
            [
                ("m = np.maximum(", "z = "),
                ("b_1, 0)", "b_1\n    m = 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3)))"),
            ],
            "another_function_for_relu",
        ),
        "minimum for relu": ([("maximum", "minimum")], "another_function_for_relu"),
        "abs for relu": (
            [("maximum(layer_norm(s_cross) @ W_1 + b_1, 0", "abs(layer_norm(s_cross) @ W_1 + b_1")],
            "another_function_for_relu",
        ),
        "num_heads 1 in cross only": ([('C["W_v"], num_heads', 'C["W_v"], 1')], "one_head_in_the_cross_attention"),
        "head size given for num_heads": (
            [('A["W_v"], ', 'A["W_v"], x.shape[2] // '), ('C["W_v"], ', 'C["W_v"], x.shape[2] // ')],
            "head_size_for_num_heads",
        ),
        "s_self without residual returned": (
            [("s_self, s_cross", 'a @ A["W_o"], c @ C["W_o"]')],
            "what_the_attentions_add_returned",
        ),
        "normalised s returned": ([("s_self, s_cross", "h, layer_norm(s_cross)")], "normalized_sums_returned"),
        "K and V weights swapped in self": ([('W_k"], n @ A["W_v', 'W_v"], n @ A["W_k')], "values_of_self_with_W_k"),
        "K and V weights swapped in cross": ([('W_k"], R @ C["W_v', 'W_v"], R @ C["W_k')], "values_of_cross_with_W_k"),
        "Q and K weights swapped in self": (
            [('W_q"], n @ A["W_k', 'W_k"], n @ A["W_q')],
            "W_q_and_W_k_exchanged_in_self",
        ),
        "Q and K weights swapped in cross": (
            [('W_q"], R @ C["W_k', 'W_k"], R @ C["W_q')],
            "W_q_and_W_k_exchanged_in_cross",
        ),
        "transposed weights in self": (
            [(', n @ A["W_k"], n @ A["W_v"]', '.T, n @ A["W_k"].T, n @ A["W_v"].T')],
            "transposed_weights",
        ),
        "transposed weights in everything": (
            [
                (', n @ A["W_k"], n @ A["W_v"]', '.T, n @ A["W_k"].T, n @ A["W_v"].T'),
                (', R @ C["W_k"], R @ C["W_v"]', '.T, R @ C["W_k"].T, R @ C["W_v"].T'),
                ('A["W_o"]', 'A["W_o"].T'),
                ('C["W_o"]', 'C["W_o"].T'),
            ],
            "transposed_weights",
        ),
        "x in place": ([('s_self = x + a @ A["W_o"]', 'x += a @ A["W_o"]\n    s_self = x.copy()')], None),
        "one array three times": (
            [
                ('s_cross = s_self + c @ C["W_o"]', 's_self += c @ C["W_o"]\n    s_cross = s_self'),
                ("y = s_cross + m @ W_2 + b_2", "s_cross += m @ W_2 + b_2\n    y = s_cross"),
            ],
            "one_array_three_times",
        ),
        "in place x, one array": ([("x +", "x\n    s_self +=")], None),
        "R padding zeroed in place": ([("    c ", "    R[~source_mask] = 0\n    c ")], None),
        "weights popped from the dict": ([('A["W_o"]', 'A.pop("W_o")')], None),
        "empty source: cross NaN guard drops residual": (
            [('s_self + c @ C["W_o"]', 'np.where(source_mask.any(1)[:, None, None], s_self + c @ C["W_o"], 0)')],
            "row_without_a_source_set_to_zero",
        ),
        "mean of all real R for empty rows": (
            [("real", "(source_mask | ~source_mask.any(1, keepdims=True))[:, None]")],
            "empty_source_attends",
        ),
        "source length prefix": (
            [("real", "(np.arange(R.shape[1]) < source_mask.sum(1, keepdims=True))[:, None]")],
            "source_mask_used_as_a_length",
        ),
        "no residual in self and cross": ([("x + ", ""), ("s_self + ", "")], "self_attention_without_residual"),
        "R normalised and h not": (
            [("layer_norm(s_self)", "s_self"), ('R @ C["W_k"], R', 'layer_norm(R) @ C["W_k"], layer_norm(R)')],
            "source_normalized_in_place_of_the_queries",
        ),
        "keys of self not normalised": ([('W_q"], n', 'W_q"], x')], "scores_of_self_not_normalized"),
        "ReLU and no LN": ([("np.maximum(layer_norm(s_cross) @ W_1 + b_1, 0)", "s_cross @ W_1 + b_1")], None),
        "network's output normalised": (
            [("m @ W_2 + b_2", "layer_norm(m @ W_2 + b_2)")],
            "output_of_the_network_normalized",
        ),
        "sigmoid": (
            [("np.maximum(layer_norm(s_cross) @ W_1 + b_1, 0", "1 / (1 + np.exp(-(layer_norm(s_cross) @ W_1 + b_1))")],
            "another_function_for_relu",
        ),
        "leaky relu": (
            [
                (
                    "m = np.maximum(layer_norm(s_cross) @ W_1 + b_1, 0",
                    "z = layer_norm(s_cross) @ W_1 + b_1\n    m = np.maximum(z, 0.01 * z",
                )
            ],
            "another_function_for_relu",
        ),
        "network residual + network on h": ([("(s_cross", "(h")], "network_reads_the_first_sum"),
        "one x hat for self and network": ([("layer_norm(s_cross)", "n")], "network_reads_x"),
        "LN before and after": (
            [
                ('x + a @ A["W_o"]', 'layer_norm(x + a @ A["W_o"])'),
                ('s_self + c @ C["W_o"]', 'layer_norm(s_self + c @ C["W_o"])'),
                ("s_cross + m @ W_2 + b_2", "layer_norm(s_cross + m @ W_2 + b_2)"),
            ],
            "normalized_before_and_after",
        ),
        "s_self updated for y only: s_cross returned normalised": (
            [(", s_cross", ", layer_norm(s_cross)")],
            "normalized_sums_returned For s_cross",
        ),
        "y missing cross: returned s_cross twice": ([(", y", ", s_cross")], "network_left_out"),
        "W_o before heads": ([('A["W_v"]', 'A["W_v"] @ A["W_o"]'), ('a @ A["W_o"]', "a")], "W_o_before_the_heads"),
        "W_o applied both, W_v missing": ([(' @ A["W_v"]', "")], "a_matrix_of_self_left_out"),
        "no W_q in self": ([(' @ A["W_q"]', "")], "a_matrix_of_self_left_out"),
        "no W_q in cross": ([(' @ C["W_q"]', "")], "queries_not_projected"),
        "no W_k, W_v in cross: R used directly": (
            [(' @ C["W_k"], R @ C["W_v"]', ", R")],
            "keys_and_values_not_projected",
        ),
        "cross keys from W_k R, values from K": ([('C["W_v', 'C["W_k')], "values_of_cross_with_W_k"),
        "self values use W_k": ([('A["W_v', 'A["W_k')], "values_of_self_with_W_k"),
        "cross W_o in self": ([("a @ A", "a @ C")], "a_matrix_of_cross_in_self"),
        "self W_q in cross": ([("h @ C", "h @ A")], "a_matrix_of_self_in_cross"),
        "cross query from h of LN(x + h)": ([("h = layer_norm(", "h = layer_norm(x + ")], None),
        "cross query from attention only, no x": ([("(s_self", "(s_self - x")], None),
        "cross query from self without W_o": ([("(s_self", "(a")], None),
        "causal mask window of 2": (
            [
                (
                    "causal = np.tril(np.ones((x.shape[1], x.shape[1]), dtype=bool)",
                    "T = x.shape[1]\n    causal = np.tril(np.ones((T, T), bool)) & ~np.tril(np.ones((T, T), bool), -2",
                )
            ],
            None,
        ),
        "self-attention sees only the past, first row self": (
            [("))", "), k=-1)\n    causal[0, 0] = True")],
            "only_earlier_positions",
        ),
        "only last real source token": ([("real", "(source_mask & ~np.roll(source_mask, -1, axis=1))[:, None]")], None),
        "source mask from T: arange": (
            [("real", "(np.arange(R.shape[1]) <= np.arange(x.shape[1])[:, None])")],
            "causal_mask_in_place_of_source_mask",
        ),
        "target mask: padding mask in self when shapes agree": (
            [("))", "))\n    if R.shape[1] == x.shape[1]:\n        causal = causal & real")],
            None,
        ),
        "no heads ReLU on hidden with b_2 in the middle": (
            [(" + b_1", ""), ("m @ W_2 + b_2", "(m + b_1) @ W_2")],
            None,
        ),
        "residual of s_self at cross is 2x": ([("s_cross = ", "s_cross = x + ")], None),
        "list returned": ([("s_self, s_cross, y", "np.stack([s_self, s_cross, y])")], None),
        "no gate: encoder block only (cross left out)": ([(' + c @ C["W_o"]', "")], "cross_attention_left_out"),
        "cross left out of y": (
            [('C["W_o"]', 'C["W_o"]\n    keep = s_cross'), ("(s_cross", "(s_self"), ("y = s_cross", "y = s_self")],
            "cross_attention_left_out_of_y",
        ),
        "dropout-like scaling of network 1/2": ([("m @ W_2 + b_2", "0.5 * (m @ W_2 + b_2)")], None),
    },
    make=lambda pairs: HEAD + changed(pairs),
)
TRIALS.all_wrong(
    {
        "own heads scale sqrt D": ([("np.sqrt(d)", "np.sqrt(D)")], "scaled_by_root_D"),
        "own heads no scale": ([(" / np.sqrt(d)", "")], "not_scaled"),
        "own heads scale d without root": ([("np.sqrt(d)", "d")], "divided_by_the_size"),
        "own heads reshape without transpose": (
            [
                (".reshape(B, T, num_heads, d).transpose(0, 2, 1, 3)", ".reshape(B, num_heads, T, d)"),
                (".reshape(B, S, num_heads, d).transpose(0, 2, 1, 3)", ".reshape(B, num_heads, S, d)"),
                ("(w @ V).transpose(0, 2, 1, 3).reshape(B, T, D)", "(w @ V).reshape(B, T, D)"),
            ],
            "columns_cut_otherwise",
        ),
        "own heads reshape back without transpose": (
            [("(w @ V).transpose(0, 2, 1, 3).reshape(B, T, D)", "(w @ V).reshape(B, T, D)")],
            "columns_cut_otherwise",
        ),
        "own heads interleaved columns": (
            [
                (
                    "q.reshape(B, T, num_heads, d).transpose(0, 2, 1, 3)",
                    "q.reshape(B, T, d, num_heads).transpose(0, 3, 1, 2)",
                ),
                (
                    "k.reshape(B, S, num_heads, d).transpose(0, 2, 1, 3)",
                    "k.reshape(B, S, d, num_heads).transpose(0, 3, 1, 2)",
                ),
                (
                    "v.reshape(B, S, num_heads, d).transpose(0, 2, 1, 3)",
                    "v.reshape(B, S, d, num_heads).transpose(0, 3, 1, 2)",
                ),
            ],
            "columns_cut_otherwise",
        ),
        "own heads -1e9": ([("-np.inf", "-1e9")], "empty_source_attends"),
        "own heads NaN softmax": (
            [
                (
                    "w = softmax(np.where(mask, e, -np.inf))",
                    "p = np.exp(np.where(mask, e, -np.inf))\n    w = p / p.sum(-1, keepdims=True)",
                )
            ],
            "nothing_is_not_a_number",
        ),
        "own heads mask after softmax": (
            [("softmax(np.where(mask, e, -np.inf))", "softmax(e) * mask")],
            "masked_after_the_softmax",
        ),
        "own heads masked scores 0": ([("-np.inf", "0")], "masked_scores_of_zero"),
        "own heads softmax over queries": (
            [
                (
                    "softmax(np.where(mask, e, -np.inf))",
                    "softmax(np.where(mask, e, -np.inf).swapaxes(2, 3)).swapaxes(2, 3)",
                )
            ],
            "softmax_over_the_queries",
        ),
        "own heads summed not side by side": (
            [("(w @ V).transpose(0, 2, 1, 3).reshape(B, T, D)", "np.tile((w @ V).sum(1), (1, 1, num_heads))")],
            None,
        ),
    },
    make=lambda pairs: changed(pairs, OWN_HEADS) + HEAD + BODY,
)
TRIALS.all_wrong(
    {
        "own LN ddof=1": ("(x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True, ddof=1)", "another_layer_norm"),
        "own LN over positions axis": (
            "(x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)",
            "normalized_over_another_axis",
        ),
        "own LN over T and D": (
            "(x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5)",
            "normalized_over_another_axis",
        ),
        "own LN divides by variance": (
            "(x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + 1e-5)",
            "another_layer_norm",
        ),
        "own LN without centring": ("x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)", "another_layer_norm"),
        "eps outside root": ("(x - x.mean(-1, keepdims=True)) / (x.std(-1, keepdims=True) + 1e-5)", "another_epsilon"),
        "no eps": ("(x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)", "another_epsilon"),
        "eps 1e-6": ("(x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6)", "another_epsilon"),
    },
    make=lambda formula: f"def layer_norm(x):\n    return {formula}\n{HEAD}{BODY}",
)


@TRIALS.wrong()
def cross_before_self(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    causal = np.tril(np.ones((x.shape[1], x.shape[1]), dtype=bool))
    n = layer_norm(x)
    c = heads(
        n @ cross_weights["W_q"], R @ cross_weights["W_k"], R @ cross_weights["W_v"], num_heads, source_mask[:, None]
    )
    s_cross = x + c @ cross_weights["W_o"]
    h = layer_norm(s_cross)
    a = heads(h @ self_weights["W_q"], h @ self_weights["W_k"], h @ self_weights["W_v"], num_heads, causal)
    s_self = s_cross + a @ self_weights["W_o"]
    y = s_self + np.maximum(layer_norm(s_self) @ W_1 + b_1, 0) @ W_2 + b_2
    return s_self, s_cross, y


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


@TRIALS.right
def einsum_heads(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    def mha(a, b, w, mask):
        D = a.shape[-1]

        def cut(m):
            return m.reshape(D, num_heads, D // num_heads)

        q = np.einsum("btd,dhk->bhtk", a, cut(w["W_q"]))
        k = np.einsum("bsd,dhk->bhsk", b, cut(w["W_k"]))
        v = np.einsum("bsd,dhk->bhsk", b, cut(w["W_v"]))
        e = np.einsum("bhtk,bhsk->bhts", q, k) * (D // num_heads) ** -0.5
        p = softmax(np.where(mask, e, -np.inf))
        return np.einsum("bhts,bhsk,hkd->btd", p, v, w["W_o"].reshape(num_heads, D // num_heads, D))

    T = x.shape[1]
    n = layer_norm(x)
    s_self = x + mha(n, n, self_weights, np.arange(T)[:, None] >= np.arange(T))
    s_cross = s_self + mha(layer_norm(s_self), R, cross_weights, source_mask[:, None, None, :])
    return s_self, s_cross, s_cross + np.clip(layer_norm(s_cross) @ W_1 + b_1, 0, None) @ W_2 + b_2


@TRIALS.right
def sum_of_heads_with_blocks_of_w_o(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    T, d = x.shape[1], x.shape[2] // num_heads

    def mha(a, b, w, mask):
        total = 0
        for i in range(num_heads):
            c = slice(i * d, i * d + d)
            o = heads(a @ w["W_q"][:, c], b @ w["W_k"][:, c], b @ w["W_v"][:, c], 1, mask)
            total = total + o @ w["W_o"][c]
        return total

    s = x + mha(layer_norm(x), layer_norm(x), self_weights, ~np.triu(np.ones((T, T), bool), 1))
    r = s + mha(layer_norm(s), R, cross_weights, np.repeat(source_mask[:, None], T, axis=1))
    h = layer_norm(r) @ W_1 + b_1
    return s, r, r + (h * (h > 0)) @ W_2 + b_2


@TRIALS.right
def multiply_mask_and_renormalise(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    B, T, D = x.shape
    d = D // num_heads

    def mha(a, b, w, mask):
        q, k, v = a @ w["W_q"], b @ w["W_k"], b @ w["W_v"]
        q, k, v = (z.reshape(*z.shape[:2], num_heads, d).swapaxes(1, 2) for z in (q, k, v))
        e = q @ k.swapaxes(2, 3) / np.sqrt(d)
        p = np.exp(e - e.max(-1, keepdims=True)) * mask
        p = p / np.maximum(p.sum(-1, keepdims=True), 1e-300)
        return (p @ v).swapaxes(1, 2).reshape(B, T, D) @ w["W_o"]

    n = layer_norm(x)
    s = x + mha(n, n, self_weights, np.tril(np.ones((T, T))))
    r = s + mha(layer_norm(s), R, cross_weights, source_mask[:, None, None])
    return s, r, r + np.where(layer_norm(r) @ W_1 + b_1 > 0, layer_norm(r) @ W_1 + b_1, 0) @ W_2 + b_2


@TRIALS.right
def float_masks_0_1(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    T = x.shape[1]
    n = layer_norm(x)
    s = (
        x
        + heads(
            n @ self_weights["W_q"],
            n @ self_weights["W_k"],
            n @ self_weights["W_v"],
            num_heads,
            np.tril(np.ones((T, T))),
        )
        @ self_weights["W_o"]
    )
    n = layer_norm(s)
    r = (
        s
        + heads(
            n @ cross_weights["W_q"],
            R @ cross_weights["W_k"],
            R @ cross_weights["W_v"],
            num_heads,
            source_mask.astype(float)[:, None],
        )
        @ cross_weights["W_o"]
    )
    z = layer_norm(r) @ W_1 + b_1
    return s, r, r + (abs(z) + z) / 2 @ W_2 + b_2


@TRIALS.right
def stacked_projections(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    D = x.shape[2]
    T = x.shape[1]
    big = np.concatenate([self_weights[k] for k in ("W_q", "W_k", "W_v")], axis=1)
    q, k, v = np.split(layer_norm(x) @ big, 3, axis=-1)
    s = x + heads(q, k, v, num_heads, np.fromfunction(lambda i, j: j <= i, (T, T))) @ self_weights["W_o"]
    kv = R @ np.hstack([cross_weights["W_k"], cross_weights["W_v"]])
    r = (
        s
        + heads(
            layer_norm(s) @ cross_weights["W_q"],
            kv[..., :D],
            kv[..., D:],
            num_heads,
            np.broadcast_to(source_mask[:, None], (len(x), T, R.shape[1])),
        )
        @ cross_weights["W_o"]
    )
    ones = np.ones((*r.shape[:2], 1))
    z = np.concatenate([layer_norm(r), ones], -1) @ np.vstack([W_1, b_1])
    z = np.concatenate([np.fmax(z, 0), ones], -1) @ np.vstack([W_2, b_2])
    return s, r, r + z


@TRIALS.right
def positions_at_growing_prefixes(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    T = x.shape[1]

    def att(a, b, w, mask):
        return heads(a @ w["W_q"], b @ w["W_k"], b @ w["W_v"], num_heads, mask) @ w["W_o"]

    parts = [att(layer_norm(x[:, t : t + 1]), layer_norm(x[:, : t + 1]), self_weights, True) for t in range(T)]
    s = x + np.concatenate(parts, axis=1)
    r = s + att(layer_norm(s), R, cross_weights, source_mask.reshape(len(x), 1, -1))
    y = np.stack([r[:, t] + np.maximum(layer_norm(r[:, t]) @ W_1 + b_1, 0) @ W_2 + b_2 for t in range(T)], axis=1)
    return s, r, y


@TRIALS.right
def own_layer_norm_x_var_1e9_self_r_padding_multiplied(
    x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads
):
    def ln(z):
        return (z - z.mean(-1, keepdims=True)) / np.sqrt(z.var(-1, keepdims=True) + 1e-5)

    T, A, C = x.shape[1], self_weights, cross_weights
    a = ln(x)
    s = x + heads(a @ A["W_q"], a @ A["W_k"], a @ A["W_v"], num_heads, np.tril(np.ones((T, T), int)) == 1) @ A["W_o"]
    safe = np.where(source_mask[..., None], R, 0)
    r = s + heads(ln(s) @ C["W_q"], safe @ C["W_k"], safe @ C["W_v"], num_heads, source_mask[:, None]) @ C["W_o"]
    return s, r, r + b_2 + np.maximum(b_1 + ln(r) @ W_1, 0.0) @ W_2


TRIALS.all_right(
    {
        "base": HEAD + BODY,
        "own heads": OWN_HEADS + HEAD + BODY,
        "a list": HEAD + BODY.replace("return s_self, s_cross, y", "return [s_self, s_cross, y]"),
        "moments": (
            "def layer_norm(x):\n    m = x.mean(-1, keepdims=True)\n"
            "    return (x - m) / ((x * x).mean(-1, keepdims=True) - m * m + 1e-5) ** 0.5\n" + HEAD + BODY
        ),
    }
)
