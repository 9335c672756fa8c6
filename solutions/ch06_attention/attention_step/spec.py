"""How `attention_step` is checked: against `torch.nn.GRUCell` and `torch.nn.Linear`, row by row, real keys only."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Fixture, Gates, Output, Spec, change, instead

ORDINARY, NO_KEY = "ordinary", "a row without real keys"


def oracle(y_prev, s_prev, keys, mask, E, score, W_x, W_h, b_x, b_h, W_p, b_p):
    """Each row by itself, with its real keys only, in PyTorch, whose weights are (3H, in)."""
    cell = torch.nn.GRUCell(len(W_x), len(W_h), dtype=torch.float64)
    head = torch.nn.Linear(*W_p.shape, dtype=torch.float64)
    logits, states, weights = [], [], np.zeros(mask.shape)
    with torch.no_grad():
        for parameter, given in zip(cell.parameters(), (W_x.T, W_h.T, b_x, b_h), strict=True):
            parameter.copy_(torch.from_numpy(given))
        head.weight.copy_(torch.from_numpy(W_p.T))
        head.bias.copy_(torch.from_numpy(b_p))
        for b, real in enumerate(mask):
            context = torch.zeros(1, keys.shape[2], dtype=torch.float64)
            if real.any():
                scores = torch.from_numpy(np.asarray(score(s_prev[b : b + 1], keys[b : b + 1, real])))
                shares = torch.softmax(scores, dim=1)
                weights[b, real] = shares[0].numpy()
                context = shares @ torch.from_numpy(keys[b, real])
            embedded = torch.from_numpy(E)[int(y_prev[b])][None]
            state = cell(torch.hstack([embedded, context]), torch.from_numpy(s_prev[b : b + 1]))
            states.append(state[0].numpy())
            logits.append(head(torch.hstack([state, context]))[0].numpy())
    return np.array(logits), np.array(states), weights


EXAMPLE = Case(
    sizes={"B": 1, "S": 3, "V": 3, "D": 1, "H": 1, "K": 1},
    inputs={
        "y_prev": np.array([1]),
        "s_prev": np.array([[-0.50]]),
        "keys": np.array([[[0.90], [-0.60], [1.40]]]),
        "mask": np.array([[True, True, False]]),
        "E": np.array([[0.00], [0.80], [-1.10]]),
        "score": Fixture("bilinear", {"W": np.array([[-1.60]])}),
        "W_x": np.array([[0.70, -0.50, 1.20], [-0.40, 0.90, 0.60]]),
        "W_h": np.array([[0.40, 0.60, -0.80]]),
        "b_x": np.array([0.10, -0.20, 0.30]),
        "b_h": np.array([-0.30, 0.25, 0.15]),
        "W_p": np.array([[-2.00, 0.50, 1.00], [1.50, -1.00, 0.70]]),
        "b_p": np.array([0.10, -0.40, 0.30]),
    },
    kind=ORDINARY,
)


def score_of(rng, kind, H, K):
    """A score with random weights. Dot scores are divided by √H."""
    if kind == "dot":
        return Fixture("dot", {"size": H, "factor": float(1 / np.sqrt(H))})
    if kind == "bilinear":
        return Fixture("bilinear", {"W": 1.5 * rng.normal(size=(H, K)) / np.sqrt(H)})
    W_q, W_k, v = rng.normal(size=(H, 3)), rng.normal(size=(K, 3)), rng.uniform(1.0, 2.0, size=3)
    return Fixture("additive", {"W_q": W_q, "W_k": W_k, "v": v * rng.choice([-1, 1], size=3)})


def case(rng, kind, lengths, V, D, H, K, S=None, scale=1.0):
    """Rows with so many real keys, in front, of S. The masked keys are multiplied by `scale`."""
    B, S = len(lengths), S or max(lengths)
    mask = np.arange(S) < np.array(lengths)[:, None]
    keys = rng.normal(size=(B, S, K))
    return Case(
        sizes={"B": B, "S": S, "V": V, "D": D, "H": H, "K": K},
        inputs={
            "y_prev": rng.integers(V, size=B),
            "s_prev": rng.uniform(-0.9, 0.9, size=(B, H)),
            "keys": np.where(mask[:, :, None], keys, scale * keys),
            "mask": mask,
            "E": rng.normal(size=(V, D)),
            "score": score_of(rng, kind, H, K),
            "W_x": rng.normal(size=(D + K, 3 * H)) * 1.5 / np.sqrt(D + K),
            "W_h": rng.normal(size=(H, 3 * H)) / np.sqrt(H),
            "b_x": rng.normal(size=3 * H) / 2,
            "b_h": rng.normal(size=3 * H) / 2,
            "W_p": rng.normal(size=(H + K, V)),
            "b_p": rng.normal(size=V),
        },
        kind=ORDINARY if min(lengths) else NO_KEY,
    )


def cases(rng):
    yield case(rng, "dot", [4, 2], V=5, D=3, H=3, K=3)
    yield case(rng, "bilinear", [2, 5, 3], V=7, D=6, H=4, K=2)
    yield case(rng, "additive", [3, 1, 4, 2], V=4, D=2, H=3, K=5, S=6)
    yield case(rng, "additive", [2, 3], V=6, D=3, H=2, K=4, S=4, scale=1e6)  # what is masked changes nothing
    yield case(rng, "bilinear", [3], V=4, D=2, H=3, K=3, S=5)
    yield case(rng, "bilinear", [1, 1], V=3, D=2, H=4, K=2)
    yield case(rng, "additive", [2, 3, 4], V=1, D=1, H=2, K=3)
    yield case(rng, "dot", [3, 2], V=4, D=3, H=1, K=1)
    yield case(rng, "bilinear", [3, 3, 3], V=5, D=4, H=4, K=4)  # as many rows as keys
    yield case(rng, "additive", [2, 0, 3], V=5, D=2, H=3, K=4)
    yield case(rng, "dot", [0], V=4, D=3, H=2, K=2, S=2)


SPEC = Spec(
    outputs=[Output("logits", ("B", "V")), Output("s", ("B", "H")), Output("weights", ("B", "S"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("weights", 4, outputs=("weights",), kinds=(ORDINARY,)),
        Facet("s", 3, outputs=("s",), kinds=(ORDINARY,)),
        Facet("logits", 3, outputs=("logits",), kinds=(ORDINARY,)),
        Facet("a row without real keys", 2, kinds=(NO_KEY,)),
    ],
    gates=[
        Gates("rzn", inputs=("W_x", "W_h", "b_x", "b_h")),
        Gates("rzn", inputs=("W_x", "b_x")),
        Gates("rzn", inputs=("W_h", "b_h")),
    ],
)
WEIGH = "masked_softmax(score(s_prev, keys), mask)"
CONTEXT = "context = attend(weights, keys)"
INPUT, HEAD = "[E[y_prev], context]", "[s, context]"
CELL = "gru_cell(x, s_prev, W_x, W_h, b_x, b_h)"
LOGITS = "logits = np.concatenate([s, context], axis=1) @ W_p + b_p"
RETURN = "return logits, s, weights"
AGAIN = "weights = masked_softmax(score(s, keys), mask)\ncontext = attend(weights, keys)\n"
SOFTMAX = "e = np.exp({0} - ({0}).max(axis=1, keepdims=True))\nweights = e / e.sum(axis=1, keepdims=True)\n"
GATES_WRITTEN_OUT = """
H = s_prev.shape[1]
a, u = x @ W_x + b_x, s_prev @ W_h + b_h
r, z = np.split(1 / (1 + np.exp(-(a + u)[:, : 2 * H])), 2, axis=1)
n = np.tanh(a[:, 2 * H :] + r * u[:, 2 * H :])
s = (1 - z) * n + z * s_prev
"""

SPEC.mistakes(
    {
        "query_is_the_new_state": [
            change(
                CONTEXT,
                "context = np.zeros((len(keys), keys.shape[2]))",
                (LOGITS, AGAIN + LOGITS),
            ),
            change(
                CONTEXT,
                "context = attend(weights, keys)\n"
                "s = gru_cell(np.concatenate([E[y_prev], context], axis=1), s_prev, W_x, W_h, b_x, b_h)\n"
                + AGAIN.rstrip(),
            ),
        ],
        **instead(
            WEIGH,
            {
                "query_is_the_embedding": "masked_softmax(score(E[y_prev], keys), mask)",
                "score_not_used": "masked_softmax(np.einsum('bh,bsh->bs', s_prev, keys), mask)",
                "softmax_over_the_batch": "masked_softmax(score(s_prev, keys).T, mask.T).T",
                "softmax_twice": f"masked_softmax({WEIGH}, mask)",
            },
        ),
        "scores_scaled_again": [
            change(WEIGH, "masked_softmax(score(s_prev, keys) / np.sqrt(s_prev.shape[1]), mask)"),
            change(WEIGH, "masked_softmax(score(s_prev, keys) / np.sqrt(keys.shape[2]), mask)"),
        ],
        **instead(
            f"weights = {WEIGH}",
            {
                "masked_after_softmax": "a = score(s_prev, keys)\n" + SOFTMAX.format("a") + "weights = weights * mask",
                "masked_scores_are_zero": "a = score(s_prev, keys) * mask\n" + SOFTMAX.format("a").rstrip(),
                "keys_set_to_zero": "keys = keys * mask[:, :, None]\na = score(s_prev, keys)\n"
                + SOFTMAX.format("a").rstrip(),
                "normalised_over_the_batch": (
                    "e = np.where(mask, np.exp(score(s_prev, keys)), 0)\nweights = e / (e.sum() if mask.any() else 1)"
                ),
            },
        ),
        "scores_are_the_weights": [
            change(WEIGH, "score(s_prev, keys) * mask"),
            change(WEIGH, "np.exp(score(s_prev, keys)) * mask"),
        ],
        "embedding_in_the_head": change(HEAD, "[s, E[y_prev]]"),
    }
)
SPEC.mistakes(
    {
        "attends_again": change(LOGITS, AGAIN + LOGITS),
    },
    keeps=["s"],
)
SPEC.mistakes(
    {
        "weights_of_the_new_state": change(RETURN, "return logits, s, masked_softmax(score(s, keys), mask)"),
    },
    keeps=["s", "logits"],
)
SPEC.mistakes(
    {
        "row_without_keys": [
            change(
                f"weights = {WEIGH}",
                "a = np.where(mask, score(s_prev, keys), -1e9)\n" + SOFTMAX.format("a").rstrip(),
            ),
            change(
                f"weights = {WEIGH}",
                "a = score(s_prev, keys) + np.where(mask, 0, -1e9)\n" + SOFTMAX.format("a").rstrip(),
            ),
            change(
                f"weights = {WEIGH}",
                "with np.errstate(invalid='ignore'):\n"
                "    a = np.where(mask, score(s_prev, keys), -np.inf)\n"
                "    e = np.exp(a - a.max(axis=1, keepdims=True))\n"
                "    weights = e / e.sum(axis=1, keepdims=True)",
            ),
        ],
    },
    keeps=["weights", "s", "logits"],
)
SPEC.mistakes(
    {
        "scores_in_the_context": change(CONTEXT, "context = attend(score(s_prev, keys), keys)"),
        "best_key_only": [
            change(CONTEXT, "context = keys[np.arange(len(keys)), weights.argmax(axis=1)] * mask.any(axis=1)[:, None]"),
            change(CONTEXT, "context = keys[np.arange(len(keys)), weights.argmax(axis=1)]"),
        ],
        "mean_of_the_keys": [
            change(CONTEXT, "context = (weights[:, :, None] * keys).mean(axis=1)"),
            change(CONTEXT, "context = keys.mean(axis=1)"),
            change(CONTEXT, "context = keys.sum(axis=1)"),
            change(CONTEXT, "context = (mask[:, :, None] * keys).sum(axis=1)"),
            change(
                CONTEXT,
                "context = (mask[:, :, None] * keys).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)[:, None]",
            ),
        ],
        "last_key_only": [
            change(CONTEXT, "context = keys[:, -1]"),
            change(CONTEXT, "context = keys[np.arange(len(keys)), mask.sum(axis=1) - 1]"),
        ],
        "state_not_carried": change(CELL, "gru_cell(x, np.zeros_like(s_prev), W_x, W_h, b_x, b_h)"),
        "context_not_in_the_input": change(INPUT, "[E[y_prev], 0 * context]"),
        "context_first_in_the_input": change(INPUT, "[context, E[y_prev]]"),
        "context_first_in_both": change(INPUT, "[context, E[y_prev]]", (HEAD, "[context, s]")),
        "update_gate_inverted": change(
            f"s = {CELL}", GATES_WRITTEN_OUT.replace("(1 - z) * n + z * s_prev", "z * n + (1 - z) * s_prev").strip()
        ),
        "reset_gate_before_the_product": [
            change(
                f"s = {CELL}",
                GATES_WRITTEN_OUT.replace("r * u[:, 2 * H :]", "(r * s_prev) @ W_h[:, 2 * H :] + b_h[2 * H :]").strip(),
            ),
            change(
                f"s = {CELL}",
                GATES_WRITTEN_OUT.replace("r * u[:, 2 * H :]", "r * (s_prev @ W_h[:, 2 * H :]) + b_h[2 * H :]").strip(),
            ),
        ],
    },
    keeps=["weights"],
)
SPEC.mistakes(
    {
        "scores_returned": [
            change(RETURN, "return logits, s, score(s_prev, keys)"),
            change(RETURN, "return logits, s, np.where(mask, score(s_prev, keys), -np.inf)"),
            change(RETURN, "return logits, s, score(s_prev, keys) * mask"),
        ],
        "context_returned": [
            change(RETURN, "return logits, s, context"),
            change(RETURN, "return logits, s, keys"),
            change(RETURN, "return logits, s, weights[:, :, None] * keys"),
        ],
    },
    keeps=["logits", "s"],
)
SPEC.mistakes(
    {
        "context_not_in_the_head": change(HEAD, "[s, 0 * context]"),
        "state_not_in_the_head": change(HEAD, "[0 * s, context]"),
        **instead(
            HEAD,
            {
                "context_first_in_the_head": "[context, s]",
                "head_reads_the_previous_state": "[s_prev, context]",
            },
        ),
        "tanh_before_the_head": change(LOGITS, "logits = np.tanh(np.concatenate([s, context], axis=1)) @ W_p + b_p"),
    },
    keeps=["weights", "s"],
)
SPEC.mistakes(
    {
        "s_prev_returned": change(RETURN, "return logits, s_prev, weights"),
    },
    keeps=["logits", "weights"],
)
SPEC.mistakes(
    {
        "probabilities_returned": [
            change(RETURN, "p = np.exp(logits)\nreturn p / p.sum(axis=1, keepdims=True), s, weights"),
            change(RETURN, "return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)), s, weights"),
        ],
        "word_returned": change(RETURN, "return logits.argmax(axis=1), s, weights"),
    },
    keeps=["s", "weights"],
)


@SPEC.alternative
def split_weights(y_prev, s_prev, keys, mask, E, score, W_x, W_h, b_x, b_h, W_p, b_p):
    """The rows of `W_x` and `W_p` for each part apart, with a softmax and a GRU of its own."""
    D, H = E.shape[1], s_prev.shape[1]
    scores = np.where(mask, score(query=s_prev, keys=keys), -np.inf)
    top = np.where(mask.any(axis=1, keepdims=True), scores.max(axis=1, keepdims=True), 0)
    shares = np.exp(scores - top)
    weights = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
    context = (weights[:, :, None] * keys).sum(axis=1)
    read = E[y_prev] @ W_x[:D] + context @ W_x[D:] + b_x
    (x_r, x_z, x_n), (h_r, h_z, h_n) = np.split(read, 3, axis=1), np.split(s_prev @ W_h + b_h, 3, axis=1)
    r, z = 1 / (1 + np.exp(-x_r - h_r)), 1 / (1 + np.exp(-x_z - h_z))
    s = (1 - z) * np.tanh(x_n + r * h_n) + z * s_prev
    return s @ W_p[:H] + context @ W_p[H:] + b_p, s, weights


@SPEC.alternative
def row_by_row(y_prev, s_prev, keys, mask, E, score, W_x, W_h, b_x, b_h, W_p, b_p):
    """Every row by itself, as if it were the whole batch, with its real keys only."""
    (B, S), H = mask.shape, s_prev.shape[1]
    logits, s, weights = np.empty((B, len(b_p))), np.empty((B, H)), np.zeros((B, S))
    for b in range(B):
        context = np.zeros(keys.shape[2])
        real = np.flatnonzero(mask[b])
        if len(real) > 0:
            e = np.exp(score(s_prev[[b]], keys[[b]])[0, real])
            weights[b, real] = e / e.sum()
            for j in real:
                context = context + weights[b, j] * keys[b, j]
        x = np.append(E[y_prev[b]], context)
        a, u = (x @ W_x + b_x).reshape(3, H), (s_prev[b] @ W_h + b_h).reshape(3, H)
        r, z = 0.5 + 0.5 * np.tanh((a + u)[:2] / 2)
        n = np.tanh(a[2] + r * u[2])
        s[b] = n + z * (s_prev[b] - n)
        logits[b] = np.append(s[b], context) @ W_p + b_p
    return logits, s, weights
