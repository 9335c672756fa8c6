"""How `transformer_block` is checked: against PyTorch's `TransformerDecoderLayer`, row by row, real source only."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead

WHOLE, PADDED, NOTHING = "a whole source", "a source with padding", "a row without a source"
NAMES = "W_q", "W_k", "W_v", "W_o"


def oracle(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    """PyTorch's layer with the normalization first, whose weights are transposed and stand in one matrix. What its
    first two parts add is read from its attention; a part with nothing to attend to gets an output projection of 0.
    """
    D, F = W_1.shape
    layer = torch.nn.TransformerDecoderLayer(
        D, num_heads, F, dropout=0.0, batch_first=True, norm_first=True, dtype=torch.float64
    )
    added = []
    with torch.no_grad():
        for parameter in layer.parameters():  # the biases of the attention; gains and biases of the normalizations
            parameter.zero_()
        for norm in (layer.norm1, layer.norm2, layer.norm3):
            norm.weight.fill_(1)
        for part, own in ((layer.self_attn, self_weights), (layer.multihead_attn, cross_weights)):
            part.in_proj_weight.copy_(torch.from_numpy(np.concatenate([own[name].T for name in NAMES[:3]])))
            part.register_forward_hook(lambda module, inputs, outputs: added.append(outputs[0][0].numpy()))
        for linear, W, b in ((layer.linear1, W_1, b_1), (layer.linear2, W_2, b_2)):
            linear.weight.copy_(torch.from_numpy(W.T.copy()))
            linear.bias.copy_(torch.from_numpy(b))
        future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
        found = []
        for row, source, real in zip(x, R, source_mask, strict=True):
            memory = torch.from_numpy(source[real] if real.any() else source[:1])[None]
            layer.self_attn.out_proj.weight.copy_(torch.from_numpy(self_weights["W_o"].T.copy()))
            layer.multihead_attn.out_proj.weight.copy_(torch.from_numpy(cross_weights["W_o"].T * real.any()))
            y = layer(torch.from_numpy(row)[None], memory, tgt_mask=future)[0].numpy()
            own, cross = added[-2:]
            found.append((row + own, row + own + cross, y))
    return tuple(np.array(rows) for rows in zip(*found, strict=True))


def square(*rows):
    return dict(zip(NAMES, (np.array(row) for row in rows), strict=True))


EXAMPLE = Case(
    sizes={"B": 1, "T": 2, "S": 3, "D": 3, "F": 2, "num_heads": 1},
    inputs={
        "x": np.array([[[0.60, -0.20, 1.10], [-1.00, 0.40, 0.30]]]),
        "R": np.array([[[0.90, 0.50, -0.60], [-0.70, 1.10, 0.20], [2.00, -1.60, 0.40]]]),
        "source_mask": np.array([[True, True, False]]),
        "self_weights": square(
            [[0.80, -0.30, 0.55], [0.20, 0.70, -0.60], [-0.45, 0.35, 0.90]],
            [[-0.50, 0.90, 0.25], [0.60, 0.40, -0.75], [0.30, -0.20, 0.65]],
            [[1.10, -0.60, 0.20], [0.30, 0.50, -0.80], [-0.40, 0.70, 0.90]],
            [[0.70, 0.45, -0.30], [-0.80, 1.20, 0.50], [0.25, -0.60, 0.85]],
        ),
        "cross_weights": square(
            [[0.55, -1.10, 0.40], [0.90, 0.35, -0.70], [-0.25, 0.60, 0.80]],
            [[1.30, 0.25, -0.50], [-0.40, 0.75, 0.60], [0.35, -0.90, 0.45]],
            [[-0.65, 0.85, 0.30], [1.40, 0.15, -0.55], [0.20, -0.45, 0.95]],
            [[0.50, -0.90, 0.25], [0.95, 0.60, -0.35], [-0.40, 0.20, 1.10]],
        ),
        "W_1": np.array([[1.40, -0.50], [-0.30, 0.80], [-0.70, 0.60]]),
        "b_1": np.array([0.10, 0.35]),
        "W_2": np.array([[-0.75, 0.65, 0.40], [1.50, 0.20, -0.90]]),
        "b_2": np.array([0.05, -0.15, 0.30]),
        "num_heads": 1,
    },
    kind=PADDED,
)


def weights(rng, D):
    return {
        name: rng.normal(size=(D, D)) * factor / np.sqrt(D)
        for name, factor in zip(NAMES, (1.5, 1.5, 1, 1), strict=True)
    }


def case(rng, T, lengths, D, F, num_heads, S=None, gaps=()):
    """A row with so many tokens of S in its source, in front, for each of `lengths`. `gaps` are pairs of a row and one
    of these positions that is padding too.
    """
    B, S = len(lengths), S or max(lengths)
    source_mask = np.arange(S) < np.array(lengths)[:, None]
    for pair in gaps:
        source_mask[pair] = False
    return Case(
        sizes={"B": B, "T": T, "S": S, "D": D, "F": F, "num_heads": num_heads},
        inputs={
            "x": rng.normal(size=(B, T, D)) * rng.uniform(0.5, 3, size=(B, T, 1)),
            "R": rng.normal(size=(B, S, D)) + rng.normal(size=D),
            "source_mask": source_mask,
            "self_weights": weights(rng, D),
            "cross_weights": weights(rng, D),
            "W_1": rng.normal(size=(D, F)) / np.sqrt(D),
            "b_1": rng.normal(size=F) / 2,
            "W_2": rng.normal(size=(F, D)) / np.sqrt(F),
            "b_2": rng.normal(size=D) / 2,
            "num_heads": num_heads,
        },
        kind=WHOLE if source_mask.all() else PADDED,
    )


def nothing(rng, T, lengths, D, F, num_heads):
    made = case(rng, T, lengths, D, F, num_heads, S=max(*lengths, 2))
    return Case(made.sizes, made.inputs, kind=NOTHING)


def cases(rng):
    yield case(rng, T=2, lengths=[3], D=3, F=4, num_heads=1)
    yield case(rng, T=3, lengths=[4, 4], D=4, F=5, num_heads=2)
    yield case(rng, T=5, lengths=[3], D=6, F=8, num_heads=2)
    yield case(rng, T=4, lengths=[3], D=6, F=7, num_heads=3)
    yield case(rng, T=2, lengths=[3, 3, 3], D=3, F=3, num_heads=1)
    yield case(rng, T=1, lengths=[2, 2], D=4, F=3, num_heads=2)
    yield case(rng, T=3, lengths=[1, 1], D=4, F=6, num_heads=4)
    yield case(rng, T=3, lengths=[3, 3], D=4, F=1, num_heads=2)
    yield case(rng, T=2, lengths=[3, 3], D=1, F=2, num_heads=1)
    yield case(rng, T=3, lengths=[4, 2], D=6, F=4, num_heads=2, gaps=[(0, 1), (1, 0)])
    yield case(rng, T=3, lengths=[3, 1], D=4, F=5, num_heads=1)
    yield case(rng, T=2, lengths=[2, 4, 1], D=6, F=5, num_heads=3, gaps=[(1, 0), (1, 2)])
    yield nothing(rng, T=3, lengths=[2, 0, 3], D=6, F=5, num_heads=2)


# The second axis is not called T: the first position attends to itself only, so that it is right while the second is
# wrong says that the scores are wrong, and nothing about steps.
SPEC = Spec(
    outputs=[Output(name, ("B", "positions", "D")) for name in ("s_self", "s_cross", "y")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("s_self", 2, outputs=("s_self",), kinds=(WHOLE, PADDED)),
        Facet("s_cross", 2, outputs=("s_cross",), kinds=(WHOLE, PADDED)),
        Facet("y", 1, outputs=("y",), kinds=(WHOLE, PADDED)),
        Facet("a row without a source", 1, kinds=(NOTHING,)),
    ],
)
FIRST = "w, c, T = self_weights, cross_weights, x.shape[1]"
OWN = 'x + heads(n @ w["W_q"], n @ w["W_k"], n @ w["W_v"], num_heads, past) @ w["W_o"]'
CROSS = 's_self + heads(m @ c["W_q"], R @ c["W_k"], R @ c["W_v"], num_heads, real) @ c["W_o"]'
NO_OWN, NO_CROSS = OWN.removeprefix("x + "), CROSS.removeprefix("s_self + ")  # what the attentions add
PAST = "np.tril(np.ones((T, T), dtype=bool))"
HIDDEN = "np.maximum(layer_norm(s_cross) @ W_1 + b_1, 0)"
UNBENT = "layer_norm(s_cross) @ W_1 + b_1"
RETURN = "return s_self, s_cross, s_cross + hidden @ W_2 + b_2"
NO_N, NO_M = ("n = layer_norm(x)", "n = x"), ("m = layer_norm(s_self)", "m = s_self")
NOT_LAST = (HIDDEN, "np.maximum(s_cross @ W_1 + b_1, 0)")
ATTENDS, SPLIT = "softmax(np.where(mask, scores, -np.inf))", "a.reshape(*a.shape[:2], num_heads, -1).swapaxes(1, 2)"
JOINED = "weighted.swapaxes(1, 2).reshape(q.shape)"
HEADS = f"""
def heads(q, k, v, num_heads, mask):
    q_s, k_s, v_s = ({SPLIT} for a in (q, k, v))
    mask = np.broadcast_to(mask, (len(q), q.shape[1], k.shape[1]))[:, None]
    scores = q_s @ k_s.swapaxes(2, 3) / np.sqrt(q_s.shape[3])
    with np.errstate(all="ignore"):
        weighted = {ATTENDS} @ v_s
    return {JOINED}
"""
PLAIN = "(lambda powers: powers / powers.sum(axis=-1, keepdims=True))(np.exp(np.where(mask, scores, -np.inf)))"


def own_heads(was, becomes, *more):
    """The heads written by the student, with a mistake in them."""
    text = HEADS
    for old, new in ((was, becomes), *more):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return change(FIRST, f"{text.strip()}\n{FIRST}")


def own_norm(formula):
    """The layer normalization written by the student, of `x` with the mean `m`."""
    head = "def layer_norm(x):\n    m = x.mean(axis=-1, keepdims=True)\n    with np.errstate(all='ignore'):"
    return change(FIRST, f"{head}\n        return {formula}\n{FIRST}")


def own(*pairs, line=OWN):
    """The line of the self-attention, or another one, with other texts in it."""
    text = line
    for was, becomes in zip(pairs[::2], pairs[1::2], strict=True):
        text = text.replace(was, becomes)
    return change(line, text)


def across(*pairs):
    """The line of the cross-attention with other texts in it."""
    return own(*pairs, line=CROSS)


def of_the_other(write, to, other):
    """The matrices of one attention that are taken from the other: each by itself, and some together."""
    groups = *((name,) for name in NAMES), ("W_k", "W_v"), ("W_q", "W_k", "W_v")
    return [write(*(f'{of}["{name}"]' for name in group for of in (to, other))) for group in groups]


SPEC.mistakes(
    {
        "normalized_after_the_sum": change(
            *NO_N,
            (OWN, f"layer_norm({OWN})"),
            NO_M,
            (CROSS, f"layer_norm({CROSS})"),
            NOT_LAST,
            (RETURN, "return s_self, s_cross, layer_norm(s_cross + hidden @ W_2 + b_2)"),
        ),
        "normalized_before_and_after": [
            change(OWN, f"layer_norm({OWN})"),
            change(OWN, f"layer_norm({OWN})", (CROSS, f"layer_norm({CROSS})")),
            change(
                OWN,
                f"layer_norm({OWN})",
                (CROSS, f"layer_norm({CROSS})"),
                (RETURN, "return s_self, s_cross, layer_norm(s_cross + hidden @ W_2 + b_2)"),
            ),
        ],
        "output_of_the_attention_normalized": [
            change(OWN, f"x + layer_norm({NO_OWN})"),
            change(OWN, f"x + layer_norm({NO_OWN})", (CROSS, f"s_self + layer_norm({NO_CROSS})")),
            change(
                OWN,
                f"x + layer_norm({NO_OWN})",
                (CROSS, f"s_self + layer_norm({NO_CROSS})"),
                (RETURN, "return s_self, s_cross, s_cross + layer_norm(hidden @ W_2 + b_2)"),
            ),
        ],
        "x_not_normalized": [change(*NO_N, *more) for more in ((), (NO_M,), (NO_M, NOT_LAST), (NOT_LAST,))],
        "self_attention_without_residual": [
            change(OWN, NO_OWN),
            change(OWN, NO_OWN, (CROSS, NO_CROSS)),
            change(OWN, NO_OWN, (CROSS, NO_CROSS), (RETURN, "return s_self, s_cross, hidden @ W_2 + b_2")),
            change(OWN, NO_OWN, (RETURN, "return s_self, s_cross, hidden @ W_2 + b_2")),
        ],
        **instead(
            OWN,
            {
                "residual_from_the_normalized_x": OWN.replace("x + ", "n + "),
                "W_o_of_self_left_out": OWN.removesuffix(' @ w["W_o"]'),
                "queries_alone_normalized_in_self": OWN.replace(
                    'n @ w["W_k"], n @ w["W_v"]', 'x @ w["W_k"], x @ w["W_v"]'
                ),
                "values_of_self_not_normalized": OWN.replace('n @ w["W_v"]', 'x @ w["W_v"]'),
                "W_q_and_W_k_exchanged_in_self": OWN.replace('"W_q"], n @ w["W_k"]', '"W_k"], n @ w["W_q"]'),
            },
        ),
        "W_o_before_the_heads": [
            change(OWN, OWN.removesuffix(' @ w["W_o"]').replace('w["W_v"]', 'w["W_v"] @ w["W_o"]'), *more)
            for more in ((), ((CROSS, CROSS.removesuffix(' @ c["W_o"]').replace('c["W_v"]', 'c["W_v"] @ c["W_o"]')),))
        ],
        "scores_of_self_not_normalized": [
            own('n @ w["W_q"]', 'x @ w["W_q"]'),
            own('n @ w["W_k"]', 'x @ w["W_k"]'),
            own('n @ w["W_q"], n @ w["W_k"]', 'x @ w["W_q"], x @ w["W_k"]'),
        ],
        "values_of_self_with_W_k": [
            own('n @ w["W_v"]', 'n @ w["W_k"]'),
            own('n @ w["W_k"], n @ w["W_v"]', 'n @ w["W_v"], n @ w["W_k"]'),
        ],
        "a_matrix_of_self_left_out": [
            *(own(f'n @ w["{name}"]', "n") for name in NAMES[:3]),
            own(*(text for name in NAMES[:3] for text in (f'n @ w["{name}"]', "n"))),
        ],
        "a_matrix_of_cross_in_self": of_the_other(own, "w", "c"),
        "transposed_weights": [
            own('"],', '"].T,'),
            own('"],', '"].T,', '"W_o"]', '"W_o"].T'),
            change(OWN, OWN.replace('"],', '"].T,'), (CROSS, CROSS.replace('"],', '"].T,'))),
            change(OWN, OWN.replace('"]', '"].T'), (CROSS, CROSS.replace('"]', '"].T'))),
        ],
        "scaled_by_root_D": own_heads("np.sqrt(q_s.shape[3])", "np.sqrt(q.shape[2])"),
        "not_scaled": own_heads(" / np.sqrt(q_s.shape[3])", ""),
        "divided_by_the_size": [
            own_heads("np.sqrt(q_s.shape[3])", "q_s.shape[3]"),
            own_heads("np.sqrt(q_s.shape[3])", "q.shape[2]"),
        ],
        "masked_after_the_softmax": own_heads(ATTENDS, "softmax(scores) * mask"),
        "masked_scores_of_zero": own_heads("-np.inf", "0"),
        "softmax_over_the_queries": own_heads(ATTENDS, f"{ATTENDS[:-1]}.swapaxes(2, 3)).swapaxes(2, 3)"),
        "columns_cut_otherwise": [
            own_heads(
                SPLIT,
                "a.reshape(len(a), num_heads, a.shape[1], -1)",
                (JOINED, "weighted.reshape(q.shape)"),
            ),
            own_heads(SPLIT, "a.reshape(len(a), num_heads, a.shape[1], -1)"),
            own_heads(JOINED, "weighted.reshape(q.shape)"),
            own_heads(SPLIT, "a.reshape(*a.shape[:2], -1, num_heads).transpose(0, 3, 1, 2)"),
        ],
        "no_causal_mask": change(PAST, "np.ones((T, T), dtype=bool)"),
        "causal_mask_inverted": [
            change(f"past = {PAST}", f"past = ~{PAST}"),
            change(PAST, "np.triu(np.ones((T, T), dtype=bool), 1)"),
        ],
        "only_earlier_positions": [
            change(PAST, f"{PAST[:-1]}, -1)"),
            change(f"past = {PAST}", f"past = {PAST[:-1]}, -1)\npast[0, 0] = True"),
        ],
        "sees_the_next_position": change(PAST, f"{PAST[:-1]}, 1)"),
        "only_itself": change(PAST, "np.eye(T, dtype=bool)"),
        "only_itself_and_later_positions": change("np.tril", "np.triu"),
        "normalized_over_another_axis": [
            own_norm(f"(x - x.mean({axis}, keepdims=True)) / np.sqrt(x.var({axis}, keepdims=True) + 1e-5)")
            for axis in ("1", "(1, 2)", "(0, 1)", "(0, 1, 2)")
        ],
        "another_layer_norm": [
            own_norm("(x - m) / np.sqrt(((x - m) ** 2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1))"),
            own_norm("(x - m) / np.sqrt(((x - m) ** 2).sum(axis=-1, keepdims=True) / (x.shape[-1] - 1) + 1e-5)"),
            own_norm("(x - m) / (((x - m) ** 2).mean(axis=-1, keepdims=True) + 1e-5)"),
            own_norm("x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-5)"),
            own_norm("x - m"),
        ],
        "another_epsilon": [
            *(
                own_norm(f"(x - m) / np.sqrt(x.var(axis=-1, keepdims=True) + {e})")
                for e in (0, 1e-3, 1e-6, 1e-8, 1e-12)
            ),
            *(own_norm(f"(x - m) / (x.std(axis=-1, keepdims=True) + {e})") for e in (1e-5, 1e-6, 1e-8)),
        ],
        "cross_weights_in_the_self_attention": change(
            "w, c, T = self_weights, cross_weights", "c, w, T = self_weights, cross_weights"
        ),
        "num_heads_ignored": [
            change(OWN, OWN.replace("num_heads", "1")),
            change(OWN, OWN.replace("num_heads", "1"), (CROSS, CROSS.replace("num_heads", "1"))),
        ],
        "head_size_for_num_heads": change(
            OWN,
            OWN.replace("num_heads", "x.shape[2] // num_heads"),
            (CROSS, CROSS.replace("num_heads", "x.shape[2] // num_heads")),
        ),
        "y_alone_returned": change(RETURN, "return s_cross + hidden @ W_2 + b_2"),
        "what_is_added_returned": change(RETURN, "return s_self - x, s_cross - s_self, hidden @ W_2 + b_2"),
    }
)
SPEC.mistakes(
    {
        **instead(
            CROSS,
            {
                "cross_attention_without_residual": NO_CROSS,
                "residual_from_x_at_the_cross_attention": CROSS.replace("s_self + ", "x + "),
                "residual_from_the_normalized_s_self": CROSS.replace("s_self + ", "m + "),
                "cross_attention_left_out": "s_self",
                "output_of_the_cross_attention_normalized": f"s_self + layer_norm({NO_CROSS})",
                "W_o_of_cross_left_out": CROSS.removesuffix(' @ c["W_o"]'),
                "W_q_and_W_k_exchanged_in_cross": CROSS.replace('"W_q"], R @ c["W_k"]', '"W_k"], R @ c["W_q"]'),
                "values_from_the_decoder": CROSS.replace('R @ c["W_v"]', 'np.resize(m @ c["W_v"], R.shape)'),
                "self_attention_twice": CROSS.replace("R @", "m @").replace("real)", "past)"),
                "causal_mask_in_the_cross_attention": CROSS.replace(
                    "real)", "real & np.tri(T, R.shape[1], dtype=bool))"
                ),
                "causal_mask_in_place_of_source_mask": CROSS.replace("real)", "np.tri(T, R.shape[1], dtype=bool))"),
                "padding_set_to_zero": CROSS.replace("R @", "(R * source_mask[..., None]) @").replace("real)", "True)"),
                "one_head_in_the_cross_attention": CROSS.replace("num_heads", "1"),
                "weights_of_self_in_the_cross_attention": CROSS.replace('c["', 'w["'),
                "queries_not_projected": CROSS.replace('m @ c["W_q"]', "m"),
                "keys_not_projected": CROSS.replace('R @ c["W_k"]', "R"),
                "values_not_projected": CROSS.replace('R @ c["W_v"]', "R"),
                "keys_and_values_not_projected": CROSS.replace('R @ c["W_k"]', "R").replace('R @ c["W_v"]', "R"),
            },
        ),
        "values_of_cross_with_W_k": [
            across('R @ c["W_v"]', 'R @ c["W_k"]'),
            across('R @ c["W_k"], R @ c["W_v"]', 'R @ c["W_v"], R @ c["W_k"]'),
        ],
        "a_matrix_of_self_in_cross": of_the_other(across, "c", "w"),
        "transposed_weights_in_cross": [across('"],', '"].T,'), across('"]', '"].T')],
        "queries_not_normalized": change(*NO_M),
        "queries_from_x": [change(NO_M[0], f"m = {what}") for what in ("layer_norm(x)", "layer_norm(n)", "n", "x")],
        "source_normalized": across("R @", "layer_norm(R) @"),
        "source_normalized_in_place_of_the_queries": change(*NO_M, (CROSS, CROSS.replace("R @", "layer_norm(R) @"))),
        "values_of_the_source_normalized": across('R @ c["W_v"]', 'layer_norm(R) @ c["W_v"]'),
        "keys_of_the_source_normalized": across('R @ c["W_k"]', 'layer_norm(R) @ c["W_k"]'),
    },
    keeps=["s_self"],
)
SPEC.mistakes(
    {
        **instead(
            RETURN,
            {
                "network_without_residual": "return s_self, s_cross, hidden @ W_2 + b_2",
                "residual_from_x_at_the_end": "return s_self, s_cross, x + hidden @ W_2 + b_2",
                "residual_from_s_self_at_the_end": "return s_self, s_cross, s_self + hidden @ W_2 + b_2",
                "residual_from_the_normalized_s_cross": (
                    "return s_self, s_cross, layer_norm(s_cross) + hidden @ W_2 + b_2"
                ),
                "network_left_out": "return s_self, s_cross, s_cross",
                "output_of_the_network_normalized": (
                    "return s_self, s_cross, s_cross + layer_norm(hidden @ W_2 + b_2)"
                ),
                "relu_of_the_sum": "return s_self, s_cross, np.maximum(s_cross + hidden @ W_2 + b_2, 0)",
                "normalized_at_the_end": "return s_self, s_cross, layer_norm(s_cross + hidden @ W_2 + b_2)",
            },
        ),
        **instead(
            HIDDEN,
            {
                "relu_left_out": UNBENT,
                "tanh_for_relu": f"np.tanh({UNBENT})",
                "network_not_normalized": NOT_LAST[1],
                "b_1_after_the_relu": "np.maximum(layer_norm(s_cross) @ W_1, 0) + b_1",
                "relu_before_W_1": "np.maximum(layer_norm(s_cross), 0) @ W_1 + b_1",
            },
        ),
        "cross_attention_left_out_of_y": change(
            HIDDEN,
            HIDDEN.replace("s_cross", "s_self"),
            (RETURN, "return s_self, s_cross, s_self + hidden @ W_2 + b_2"),
        ),
        "network_reads_the_first_sum": [
            change(HIDDEN, HIDDEN.replace("layer_norm(s_cross)", what)) for what in ("m", "s_self", "layer_norm(m)")
        ],
        "network_reads_x": [
            change(HIDDEN, HIDDEN.replace("layer_norm(s_cross)", what)) for what in ("n", "x", "layer_norm(n)")
        ],
        "another_function_for_relu": [
            change(HIDDEN, f"(lambda a: {function})({UNBENT})")
            for function in (
                "np.abs(a)",
                "np.minimum(a, 0)",
                "1 / (1 + np.exp(-a))",
                "a / (1 + np.exp(-a))",
                "np.maximum(a, 0.01 * a)",
                "0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a**3)))",
                "0.5 * a * (1 + np.vectorize(__import__('math').erf)(a / np.sqrt(2)))",
            )
        ],
        "both_biases_left_out": change(
            HIDDEN,
            "np.maximum(layer_norm(s_cross) @ W_1, 0)",
            (RETURN, "return s_self, s_cross, s_cross + hidden @ W_2"),
        ),
        "relu_after_the_second_layer": [
            change(
                HIDDEN,
                UNBENT,
                (RETURN, "return s_self, s_cross, s_cross + np.maximum(hidden @ W_2 + b_2, 0)"),
            ),
            change(RETURN, "return s_self, s_cross, s_cross + np.maximum(hidden @ W_2 + b_2, 0)"),
        ],
    },
    keeps=["s_self", "s_cross"],
)
SPEC.mistakes(
    {"source_mask_used_as_a_length": across("real)", "np.arange(R.shape[1]) < real.sum(axis=2, keepdims=True))")},
    keeps=["s_self", "a row without a source"],
)
Y = "s_cross + hidden @ W_2 + b_2"
SPEC.mistakes(
    {
        "what_the_attentions_add_returned": change(RETURN, f"return s_self - x, s_cross - s_self, {Y}"),
        "normalized_sums_returned": change(RETURN, f"return m, layer_norm(s_cross), {Y}"),
        "one_array_three_times": change(RETURN, f"return ({Y},) * 3"),
    },
    keeps=["y"],
)
SPEC.mistakes({"s_cross_returned_for_s_self": change(RETURN, f"return s_cross, s_cross, {Y}")}, keeps=["s_cross", "y"])
SPEC.mistakes(
    {
        "empty_source_attends": [
            own_heads("-np.inf", "-1e9"),
            own_heads(ATTENDS, "softmax(scores - 1e9 * (1 - mask))"),
            change("real = source_mask[:, None]", "real = (source_mask | ~source_mask.any(axis=1)[:, None])[:, None]"),
        ],
        "nothing_is_not_a_number": own_heads(ATTENDS, PLAIN),
        "row_without_a_source_set_to_zero": [
            change(CROSS, f"({CROSS}) * source_mask.any(axis=1)[:, None, None]"),
        ],
    },
    keeps=["s_self", "s_cross", "y"],
)


def softmax(scores):
    """The softmax that the notebook gives, for the alternatives: zeros where all scores are -inf."""
    powers = np.exp(scores - np.maximum(scores.max(axis=-1, keepdims=True), -1e300))
    return powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1)


def layer_norm(x):
    """The one that the notebook gives."""
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)


@SPEC.alternative
def part_by_part(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    """One function for both attentions: where the queries come from, and where the keys and values come from."""

    def split(a):
        return np.moveaxis(a.reshape(*a.shape[:2], num_heads, -1), 2, 1)  # (B, heads, T, d)

    def attention(asking, answering, of, mask):
        q, k, v = split(asking @ of["W_q"]), split(answering @ of["W_k"]), split(answering @ of["W_v"])
        scores = np.einsum("bhtd,bhsd->bhts", q, k) / np.sqrt(q.shape[3])
        weights = softmax(np.where(mask, scores, -np.inf))
        return np.einsum("bhts,bhsd->bthd", weights, v).reshape(asking.shape) @ of["W_o"]

    def network(normal):
        hidden = normal @ W_1 + b_1
        return (hidden * (hidden > 0)) @ W_2 + b_2

    past = np.tri(x.shape[1], dtype=bool)
    normal = layer_norm(x)
    s_self = x + attention(normal, normal, self_weights, past)
    s_cross = s_self + attention(layer_norm(s_self), R, cross_weights, source_mask[:, None, None, :])
    return s_self, s_cross, s_cross + network(layer_norm(s_cross))


@SPEC.alternative
def position_by_position(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    """Each target position of each row by itself, with the positions that it may attend to and without any mask."""

    def attention(query, keys, of):
        if len(keys) == 0:
            return 0 * query
        outputs, d = [], len(query) // num_heads
        for first in range(0, len(query), d):
            own = slice(first, first + d)
            scores = (keys @ of["W_k"][:, own]) @ (query @ of["W_q"][:, own]) / np.sqrt(d)
            outputs.append(softmax(scores) @ (keys @ of["W_v"][:, own]))
        return np.concatenate(outputs) @ of["W_o"]

    s_self, s_cross, y = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    for b, t in np.ndindex(x.shape[:2]):
        s = s_self[b, t] = x[b, t] + attention(layer_norm(x[b, t]), layer_norm(x[b, : t + 1]), self_weights)
        s = s_cross[b, t] = s + attention(layer_norm(s), R[b, source_mask[b]], cross_weights)
        y[b, t] = s + np.maximum(layer_norm(s) @ W_1 + b_1, 0) @ W_2 + b_2
    return s_self, s_cross, y
