"""How `transformer_block` is checked: against PyTorch's `TransformerDecoderLayer`, row by row, real source only."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead
from solutions.ch06_attention.building_blocks import heads, layer_norm, softmax

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
    sizes={"B": 1, "T": 2, "S": 3, "D": 2, "F": 2, "num_heads": 1},
    inputs={
        "x": np.array([[[0.60, -0.20], [-1.00, 0.40]]]),
        "R": np.array([[[0.90, 0.50], [-0.70, 1.10], [2.00, -1.60]]]),
        "source_mask": np.array([[True, True, False]]),
        "self_weights": square(
            [[0.80, -0.30], [0.20, 0.70]],
            [[-0.50, 0.90], [0.60, 0.40]],
            [[1.10, -0.60], [0.30, 0.50]],
            [[0.70, 0.45], [-0.80, 1.20]],
        ),
        "cross_weights": square(
            [[0.55, -1.10], [0.90, 0.35]],
            [[1.30, 0.25], [-0.40, 0.75]],
            [[-0.65, 0.85], [1.40, 0.15]],
            [[0.50, -0.90], [0.95, 0.60]],
        ),
        "W_1": np.array([[1.40, -0.50], [0.30, 0.80]]),
        "b_1": np.array([0.10, -0.25]),
        "W_2": np.array([[-0.75, 0.65], [1.50, 0.20]]),
        "b_2": np.array([0.05, -0.15]),
        "num_heads": 1,
    },
    kind=PADDED,
)


def weights(rng, D):
    return {
        name: rng.normal(size=(D, D)) * factor / np.sqrt(D)
        for name, factor in zip(NAMES, (1.5, 1.5, 1, 1), strict=True)
    }


def case(rng, T, lengths, D, F, num_heads, S=None):
    """A row with so many real tokens of S in its source, in front, for each of `lengths`."""
    B, S = len(lengths), S or max(lengths)
    return Case(
        sizes={"B": B, "T": T, "S": S, "D": D, "F": F, "num_heads": num_heads},
        inputs={
            "x": rng.normal(size=(B, T, D)) * rng.uniform(0.5, 3, size=(B, T, 1)),
            "R": rng.normal(size=(B, S, D)) + rng.normal(size=D),
            "source_mask": np.arange(S) < np.array(lengths)[:, None],
            "self_weights": weights(rng, D),
            "cross_weights": weights(rng, D),
            "W_1": rng.normal(size=(D, F)) / np.sqrt(D),
            "b_1": rng.normal(size=F) / 2,
            "W_2": rng.normal(size=(F, D)) / np.sqrt(F),
            "b_2": rng.normal(size=D) / 2,
            "num_heads": num_heads,
        },
        kind=PADDED if min(lengths) < S else WHOLE,
    )


def nothing(rng, T, lengths, D, F, num_heads):
    made = case(rng, T, lengths, D, F, num_heads, S=max(*lengths, 2))
    return Case(made.sizes, made.inputs, kind=NOTHING)


def cases(rng):
    yield case(rng, T=2, lengths=[3], D=2, F=3, num_heads=1)
    yield case(rng, T=3, lengths=[4, 4], D=4, F=5, num_heads=2)
    yield case(rng, T=5, lengths=[3, 3, 3, 3], D=6, F=8, num_heads=2)
    yield case(rng, T=4, lengths=[4, 4], D=6, F=7, num_heads=3)
    yield case(rng, T=3, lengths=[3, 3, 3], D=3, F=3, num_heads=1)
    yield case(rng, T=1, lengths=[2, 2], D=4, F=3, num_heads=2)
    yield case(rng, T=3, lengths=[1, 1], D=4, F=6, num_heads=4)
    yield case(rng, T=3, lengths=[3, 3], D=4, F=1, num_heads=2)
    yield case(rng, T=2, lengths=[3, 3], D=1, F=2, num_heads=1)
    yield case(rng, T=4, lengths=[5, 2, 3], D=6, F=4, num_heads=2)
    yield case(rng, T=3, lengths=[3, 1], D=4, F=5, num_heads=1)
    yield case(rng, T=4, lengths=[2, 4, 3, 1], D=6, F=5, num_heads=3)
    yield nothing(rng, T=3, lengths=[2, 0, 3], D=4, F=5, num_heads=2)


SPEC = Spec(
    outputs=[Output(name, ("B", "T", "D")) for name in ("s_self", "s_cross", "y")],
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
OWN = 'x + heads(n @ w["W_q"], n @ w["W_k"], n @ w["W_v"], num_heads, past) @ w["W_o"]'
CROSS = 's_self + heads(m @ c["W_q"], R @ c["W_k"], R @ c["W_v"], num_heads, real) @ c["W_o"]'
HIDDEN = "np.maximum(layer_norm(s_cross) @ W_1 + b_1, 0)"
RETURN = "return s_self, s_cross, s_cross + hidden @ W_2 + b_2"
POST = (
    ("n = layer_norm(x)", "n = x"),
    (OWN, f"layer_norm({OWN})"),
    ("m = layer_norm(s_self)", "m = s_self"),
    (CROSS, f"layer_norm({CROSS})"),
    (HIDDEN, "np.maximum(s_cross @ W_1 + b_1, 0)"),
    (RETURN, "return s_self, s_cross, layer_norm(s_cross + hidden @ W_2 + b_2)"),
)

SPEC.mistakes(
    {
        "normalized_after_the_sum": [change(*POST[0], *POST[1:])],
        "no_normalization": [
            change("n = layer_norm(x)", "n = x"),
            change("n = layer_norm(x)", "n = x", ("m = layer_norm(s_self)", "m = s_self")),
            change(
                "n = layer_norm(x)",
                "n = x",
                ("m = layer_norm(s_self)", "m = s_self"),
                ("layer_norm(s_cross) @ W_1", "s_cross @ W_1"),
            ),
        ],
        **instead(
            OWN,
            {
                "self_attention_without_residual": OWN.removeprefix("x + "),
                "residual_from_the_normalized_x": OWN.replace("x + ", "n + "),
                "W_o_of_self_left_out": OWN.removesuffix(' @ w["W_o"]'),
                "queries_alone_normalized_in_self": OWN.replace(
                    'n @ w["W_k"], n @ w["W_v"]', 'x @ w["W_k"], x @ w["W_v"]'
                ),
                "values_of_self_not_normalized": OWN.replace('n @ w["W_v"]', 'x @ w["W_v"]'),
            },
        ),
        "no_causal_mask": change("np.tril(np.ones((T, T), dtype=bool))", "np.ones((T, T), dtype=bool)"),
        "causal_mask_inverted": [
            change("past = np.tril(np.ones((T, T), dtype=bool))", "past = ~np.tril(np.ones((T, T), dtype=bool))"),
            change("np.tril(np.ones((T, T), dtype=bool))", "np.triu(np.ones((T, T), dtype=bool), 1)"),
        ],
        "only_earlier_positions": change(
            "np.tril(np.ones((T, T), dtype=bool))", "np.tril(np.ones((T, T), dtype=bool), -1)"
        ),
        "only_itself_and_later_positions": change("np.tril", "np.triu"),
        "scales_by_a_norm_of_the_batch": change(
            "n = layer_norm(x)", "n = (x - x.mean(axis=(0, 1))) / np.sqrt(x.var(axis=(0, 1)) + 1e-5)"
        ),
        "cross_weights_in_the_self_attention": change(
            "w, c, T = self_weights, cross_weights", "c, w, T = self_weights, cross_weights"
        ),
        "num_heads_ignored": [
            change(OWN, OWN.replace("num_heads", "1")),
            change(OWN, OWN.replace("num_heads", "1"), (CROSS, CROSS.replace("num_heads", "1"))),
        ],
        "y_alone_returned": change(RETURN, "return s_cross + hidden @ W_2 + b_2"),
        "what_is_added_returned": change(RETURN, "return s_self - x, s_cross - s_self, hidden @ W_2 + b_2"),
    }
)
SPEC.mistakes(
    {
        **instead(
            CROSS,
            {
                "cross_attention_without_residual": CROSS.removeprefix("s_self + "),
                "residual_from_x_at_the_cross_attention": CROSS.replace("s_self + ", "x + "),
                "residual_from_the_normalized_s_self": CROSS.replace("s_self + ", "m + "),
                "W_o_of_cross_left_out": CROSS.removesuffix(' @ c["W_o"]'),
                "values_from_the_decoder": (CROSS.replace('R @ c["W_v"]', 'np.resize(m @ c["W_v"], R.shape)')),
                "self_attention_twice": CROSS.replace("R @", "m @").replace("real)", "past)"),
                "causal_mask_in_the_cross_attention": CROSS.replace(
                    "real)", "real & np.tri(T, R.shape[1], dtype=bool))"
                ),
                "weights_of_self_in_the_cross_attention": CROSS.replace('c["', 'w["'),
                "keys_not_projected": CROSS.replace('R @ c["W_k"]', "R"),
                "values_not_projected": CROSS.replace('R @ c["W_v"]', "R"),
            },
        ),
        "queries_not_normalized": change("m = layer_norm(s_self)", "m = s_self"),
        "queries_from_x": [
            change("m = layer_norm(s_self)", "m = layer_norm(x)"),
            change("m = layer_norm(s_self)", "m = n"),
        ],
        "source_normalized": change(CROSS, CROSS.replace("R @", "layer_norm(R) @")),
        "values_of_the_source_normalized": change(CROSS, CROSS.replace('R @ c["W_v"]', 'layer_norm(R) @ c["W_v"]')),
    },
    keeps=["s_self"],
)
SPEC.mistakes(
    {
        "network_without_residual": change(RETURN, "return s_self, s_cross, hidden @ W_2 + b_2"),
        "residual_from_x_at_the_end": change(RETURN, "return s_self, s_cross, x + hidden @ W_2 + b_2"),
        "residual_from_s_self_at_the_end": change(RETURN, "return s_self, s_cross, s_self + hidden @ W_2 + b_2"),
        "residual_from_the_normalized_s_cross": change(
            RETURN, "return s_self, s_cross, layer_norm(s_cross) + hidden @ W_2 + b_2"
        ),
        **instead(
            HIDDEN,
            {
                "relu_left_out": "layer_norm(s_cross) @ W_1 + b_1",
                "tanh_for_relu": "np.tanh(layer_norm(s_cross) @ W_1 + b_1)",
                "network_not_normalized": "np.maximum(s_cross @ W_1 + b_1, 0)",
                "network_reads_the_first_sum": "np.maximum(layer_norm(s_self) @ W_1 + b_1, 0)",
                "b_1_after_the_relu": "np.maximum(layer_norm(s_cross) @ W_1, 0) + b_1",
            },
        ),
        "relu_after_the_second_layer": [
            change(
                HIDDEN,
                "layer_norm(s_cross) @ W_1 + b_1",
                (RETURN, "return s_self, s_cross, s_cross + np.maximum(hidden @ W_2 + b_2, 0)"),
            ),
            change(RETURN, "return s_self, s_cross, s_cross + np.maximum(hidden @ W_2 + b_2, 0)"),
        ],
        "relu_of_the_sum": change(RETURN, "return s_self, s_cross, np.maximum(s_cross + hidden @ W_2 + b_2, 0)"),
        "normalized_at_the_end": change(RETURN, "return s_self, s_cross, layer_norm(s_cross + hidden @ W_2 + b_2)"),
    },
    keeps=["s_self", "s_cross"],
)


@SPEC.alternative
def part_by_part(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    """One function for both attentions: where the queries come from, and where the keys and values come from."""

    def attention(asking, answering, of, mask):
        return heads(asking @ of["W_q"], answering @ of["W_k"], answering @ of["W_v"], num_heads, mask) @ of["W_o"]

    def network(normal):
        hidden = normal @ W_1 + b_1
        return (hidden * (hidden > 0)) @ W_2 + b_2

    past = np.tri(x.shape[1], dtype=bool)
    normal = layer_norm(x)
    s_self = x + attention(normal, normal, self_weights, past)
    s_cross = s_self + attention(layer_norm(s_self), R, cross_weights, source_mask[:, None, :])
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
