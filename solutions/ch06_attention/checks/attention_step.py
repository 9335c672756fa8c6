"""How `attention_step` is checked: against `torch.nn.GRUCell` and `torch.nn.Linear`, row by row, real keys only."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Fixture, Gates, Output, Spec, change

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
    why=r"""
The query has to be $s_{t-1}$, because the context is an input of the GRU that computes $s_t$: the decoder must have
looked back before it moves on. The keys are also the values: the same vectors that are compared with the query are
summed. The mask comes before the softmax, so that the weights of the real words sum to 1. The head reads the context a
second time, beside the state, because the word that is looked at often says what comes next; through the GRU alone, it
would have to pass three gates first.
""",
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

SPEC.mistake(
    "query_is_the_new_state",
    "You attend with the new state. Attend with `s_prev`, before the GRU's step: the context is one of the inputs from "
    "which the GRU computes the new state.",
    change(
        CONTEXT,
        "context = np.zeros((len(keys), keys.shape[2]))",
        (LOGITS, AGAIN + LOGITS),
    ),
    change(
        CONTEXT,
        "context = attend(weights, keys)\n"
        "s = gru_cell(np.concatenate([E[y_prev], context], axis=1), s_prev, W_x, W_h, b_x, b_h)\n" + AGAIN.rstrip(),
    ),
    tempts="In Luong et al. (2015) the decoder attends with its new state, and many programs do so.",
)
SPEC.mistake(
    "query_is_the_embedding",
    "You give the embedding of the previous word to `score`, which raises an exception unless D = H. The query is the "
    "previous state, `s_prev`: it knows all words that have been written so far, not only the last.",
    change(WEIGH, "masked_softmax(score(E[y_prev], keys), mask)"),
    tempts="The previous word is what the step begins with.",
)
SPEC.mistake(
    "score_not_used",
    "You compute dot products instead of calling `score`, which raises an exception unless H = K. Call "
    "`score(s_prev, keys)`: it may be any of the three scores, or another one.",
    change(WEIGH, "masked_softmax(np.einsum('bh,bsh->bs', s_prev, keys), mask)"),
    tempts="The dot product is the best-known score.",
)
SPEC.mistake(
    "attends_again",
    "You attend a second time, with the new state, after the GRU. Attend once, with `s_prev`, and give the same "
    "context to the GRU and to the head.",
    change(LOGITS, AGAIN + LOGITS),
    tempts="The head should know what fits the new state, as in Luong et al. (2015).",
    keeps=["s"],
)
SPEC.mistake(
    "weights_of_the_new_state",
    "The weights that you return belong to the new state. Return those with which you have computed the context, from "
    "`s_prev`.",
    change(RETURN, "return logits, s, masked_softmax(score(s, keys), mask)"),
    tempts="They are computed a second time at the end, when the name of the state is `s`.",
    keeps=["s", "logits"],
)
SPEC.mistake(
    "scores_scaled_again",
    "You divide the scores by the square root of the number of units. Use what `score` returns as it is: a score that "
    "has to be scaled does so itself.",
    change(WEIGH, "masked_softmax(score(s_prev, keys) / np.sqrt(s_prev.shape[1]), mask)"),
    change(WEIGH, "masked_softmax(score(s_prev, keys) / np.sqrt(keys.shape[2]), mask)"),
    tempts="Scaled dot products are the best-known score.",
)
SPEC.mistake(
    "masked_after_softmax",
    "You apply the mask after the softmax, so the padding takes a share of each row, and the remaining weights no "
    "longer sum to 1. Give the mask to `masked_softmax`, which leaves the padding out before it normalises.",
    change(f"weights = {WEIGH}", "a = score(s_prev, keys)\n" + SOFTMAX.format("a") + "weights = weights * mask"),
    tempts="To multiply by the mask is the obvious way of setting weights to 0.",
)
SPEC.mistake(
    "masked_scores_are_zero",
    "You set the scores of the padding to 0 and then take an ordinary softmax. A score of 0 is a score like any other: "
    "exp(0) = 1. Give the mask to `masked_softmax`, so that the padding gets a weight of exactly 0.",
    change(f"weights = {WEIGH}", "a = score(s_prev, keys) * mask\n" + SOFTMAX.format("a").rstrip()),
    tempts="0 means *nothing* in a mask, and it is easily mistaken for a score of nothing.",
)
SPEC.mistake(
    "keys_set_to_zero",
    "You set the keys of the padding to 0, and let the softmax run over all of them. Keys of zeros have scores too, so "
    "the padding takes a share of the weights. Give the mask to `masked_softmax`.",
    change(
        f"weights = {WEIGH}",
        "keys = keys * mask[:, :, None]\na = score(s_prev, keys)\n" + SOFTMAX.format("a").rstrip(),
    ),
    tempts="A key of zeros adds nothing to the weighted sum, so the padding seems to be gone.",
)
SPEC.mistake(
    "row_without_keys",
    "In a row whose keys are all masked, your weights are not 0. Make all weights of such a row 0, so that its context "
    "is 0 too: `masked_softmax` does that. A softmax over nothing divides 0 by 0, and with a large negative number in "
    "place of −∞, the masked keys share the weight among themselves.",
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
    tempts="Most batches contain no such row, and the own softmax is right in all others.",
    keeps=["weights", "s", "logits"],
)
SPEC.mistake(
    "softmax_over_the_batch",
    "Your softmax runs over the rows of the batch. Let it run over the keys, the last axis of the scores: each row's "
    "own weights sum to 1.",
    change(WEIGH, "masked_softmax(score(s_prev, keys).T, mask.T).T"),
    tempts="The batch is the first axis, and a softmax along axis 0 runs without an error.",
)
SPEC.mistake(
    "normalised_over_the_batch",
    "You divide by the sum over the whole batch. Divide every row by its own sum, so that the weights of each row sum "
    "to 1, or call `masked_softmax`.",
    change(
        f"weights = {WEIGH}",
        "e = np.where(mask, np.exp(score(s_prev, keys)), 0)\nweights = e / (e.sum() if mask.any() else 1)",
    ),
    tempts="Without an axis, `sum` adds everything, and with a single row that is right.",
)
SPEC.mistake(
    "scores_are_the_weights",
    "You use the scores themselves as weights, or their exponentials. Turn them into weights with `masked_softmax`, so "
    "that they are positive and each row's sum is 1.",
    change(WEIGH, "score(s_prev, keys) * mask"),
    change(WEIGH, "np.exp(score(s_prev, keys)) * mask"),
    tempts="A score already says how well a key fits.",
)
SPEC.mistake(
    "scores_in_the_context",
    "You sum the keys with the scores in place of the weights. Use the weights that `masked_softmax` computes from the "
    "scores: `attend(weights, keys)`.",
    change(CONTEXT, "context = attend(score(s_prev, keys), keys)"),
    tempts="Both have the shape (B, S), and the weights are computed for the result.",
    keeps=["weights"],
)
SPEC.mistake(
    "softmax_twice",
    "You apply the softmax twice, which makes the weights nearly equal. Apply it once, to the scores.",
    change(WEIGH, f"masked_softmax({WEIGH}, mask)"),
    tempts="Some programs apply a softmax inside `score`.",
)
SPEC.mistake(
    "scores_returned",
    "You return the scores as `weights`. Return the weights, which `masked_softmax` computes from the scores.",
    change(RETURN, "return logits, s, score(s_prev, keys)"),
    change(RETURN, "return logits, s, np.where(mask, score(s_prev, keys), -np.inf)"),
    change(RETURN, "return logits, s, score(s_prev, keys) * mask"),
    tempts="Both have the shape (B, S).",
    keeps=["logits", "s"],
)
SPEC.mistake(
    "context_returned",
    "You return the context, or the keys, in place of the weights. Return the weights, (B, S), one for each key: they "
    "show where the decoder looks.",
    change(RETURN, "return logits, s, context"),
    change(RETURN, "return logits, s, keys"),
    change(RETURN, "return logits, s, weights[:, :, None] * keys"),
    tempts="The context is what attention computes, after all.",
    keeps=["logits", "s"],
)
SPEC.mistake(
    "best_key_only",
    "Your context is the key with the largest weight. Take the weighted sum of all keys, `attend(weights, keys)`: a "
    "choice of a single key has no gradient with respect to the scores.",
    change(CONTEXT, "context = keys[np.arange(len(keys)), weights.argmax(axis=1)] * mask.any(axis=1)[:, None]"),
    change(CONTEXT, "context = keys[np.arange(len(keys)), weights.argmax(axis=1)]"),
    tempts="In words, the decoder looks at the word that fits best.",
    keeps=["weights"],
)
SPEC.mistake(
    "mean_of_the_keys",
    "Your context is a mean or a sum of the keys without the weights, or you divide the weighted sum by their number. "
    "Take the weighted sum, `attend(weights, keys)`: the weights sum to 1, so it is a mean already.",
    change(CONTEXT, "context = (weights[:, :, None] * keys).mean(axis=1)"),
    change(CONTEXT, "context = keys.mean(axis=1)"),
    change(CONTEXT, "context = keys.sum(axis=1)"),
    change(CONTEXT, "context = (mask[:, :, None] * keys).sum(axis=1)"),
    change(
        CONTEXT,
        "context = (mask[:, :, None] * keys).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)[:, None]",
    ),
    tempts="A weighted mean is a mean.",
    keeps=["weights"],
)
SPEC.mistake(
    "last_key_only",
    "Your context is the last key. Take the weighted sum of all keys, `attend(weights, keys)`.",
    change(CONTEXT, "context = keys[:, -1]"),
    change(CONTEXT, "context = keys[np.arange(len(keys)), mask.sum(axis=1) - 1]"),
    tempts="In chapter 5, the context was the encoder's last state.",
    keeps=["weights"],
)
SPEC.mistake(
    "state_not_carried",
    "Your GRU starts from a state of zeros. Give it `s_prev`: otherwise the new state knows nothing of the words "
    "before `y_prev`.",
    change(CELL, "gru_cell(x, np.zeros_like(s_prev), W_x, W_h, b_x, b_h)"),
    tempts="A GRU starts from zeros, but only at its first step.",
    keeps=["weights"],
)
SPEC.mistake(
    "context_not_in_the_input",
    "Your GRU does not read the context. Put it into the GRU's input, beside the embedding, and not only into the "
    "head: the last K rows of `W_x` belong to it.",
    change(INPUT, "[E[y_prev], 0 * context]"),
    change(CELL, "gru_cell(E[y_prev], s_prev, W_x[: E.shape[1]], W_h, b_x, b_h)"),
    tempts="In Luong et al. (2015), only the head reads the context.",
    keeps=["weights"],
)
SPEC.mistake(
    "context_not_in_the_head",
    "Your head reads the state alone. Put the context beside it: the last K rows of `W_p` belong to it.",
    change(HEAD, "[s, 0 * context]"),
    change(LOGITS, "logits = s @ W_p[: s.shape[1]] + b_p"),
    tempts="In the decoders of chapter 5, the head reads only the state.",
    keeps=["weights", "s"],
)
SPEC.mistake(
    "embedding_in_the_head",
    "Your head reads the embedding in place of the context, which raises an exception unless D = K. Put the context "
    "beside the new state: the last K rows of `W_p` belong to it.",
    change(HEAD, "[s, E[y_prev]]"),
    tempts="The head of Bahdanau et al. (2015) reads the embedding too.",
)
SPEC.mistake(
    "state_not_in_the_head",
    "Your head reads the context alone. Put the new state in front of it: the first H rows of `W_p` belong to the "
    "state.",
    change(HEAD, "[0 * s, context]"),
    change(LOGITS, "logits = context @ W_p[s.shape[1] :] + b_p"),
    tempts="The context is what is new, and the state is forgotten.",
    keeps=["weights", "s"],
)
SPEC.mistake(
    "context_first_in_the_input",
    "You put the context in front of the embedding. Put the embedding first, then the context: the first D rows of "
    "`W_x` belong to the embedding, the other K rows to the context.",
    change(INPUT, "[context, E[y_prev]]"),
    tempts="Some papers write the context first, and the shapes fit either way.",
    keeps=["weights"],
)
SPEC.mistake(
    "context_first_in_the_head",
    "In the head, you put the context in front of the state. Put the state first, then the context: the first H rows "
    "of `W_p` belong to the state, the other K rows to the context.",
    change(HEAD, "[context, s]"),
    tempts="Luong et al. (2015) write $[c_t; h_t]$, and the shapes fit either way.",
    keeps=["weights", "s"],
)
SPEC.mistake(
    "context_first_in_both",
    "You put the context first, both in the input and in the head. Put it last: `W_x` has its rows for the embedding "
    "first, `W_p` its rows for the state.",
    change(INPUT, "[context, E[y_prev]]", (HEAD, "[context, s]")),
    tempts="Whoever has one order in mind uses it twice.",
    keeps=["weights"],
)
SPEC.mistake(
    "head_reads_the_previous_state",
    "Your head reads the previous state, which knows nothing of `y_prev`. Let it read the new state.",
    change(HEAD, "[s_prev, context]"),
    tempts="The names differ by a suffix, and the query is the previous state.",
    keeps=["weights", "s"],
)
SPEC.mistake(
    "tanh_before_the_head",
    "You apply a tanh to what the head reads. Give it the state and the context as they are.",
    change(LOGITS, "logits = np.tanh(np.concatenate([s, context], axis=1)) @ W_p + b_p"),
    tempts="Luong et al. (2015) have a layer with a tanh in front of the head.",
    keeps=["weights", "s"],
)
SPEC.mistake(
    "s_prev_returned",
    "You return the previous state as `s`. Return the new state, from which the next step continues.",
    change(RETURN, "return logits, s_prev, weights"),
    tempts="The names differ by a suffix.",
    keeps=["logits", "weights"],
)
SPEC.mistake(
    "probabilities_returned",
    "You apply a softmax, or its logarithm, to the logits. Return the logits as they are: the loss and the search take "
    "the softmax or its logarithm where they need it.",
    change(RETURN, "p = np.exp(logits)\nreturn p / p.sum(axis=1, keepdims=True), s, weights"),
    change(RETURN, "return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)), s, weights"),
    tempts="A decoder ends in a softmax, and this step contains one already.",
    keeps=["s", "weights"],
)
SPEC.mistake(
    "word_returned",
    "You return the most probable word of each row. Return the logits of *all* words, (B, V): which word is written is "
    "decided outside of this step.",
    change(RETURN, "return logits.argmax(axis=1), s, weights"),
    tempts="The next step needs a word.",
    keeps=["s", "weights"],
)
SPEC.mistake(
    "update_gate_inverted",
    "Your GRU takes the share z of the candidate and the share 1 − z of the previous state. Exchange them, or call "
    "`gru_cell`: in PyTorch, z is the share of the *previous* state.",
    change(f"s = {CELL}", GATES_WRITTEN_OUT.replace("(1 - z) * n + z * s_prev", "z * n + (1 - z) * s_prev").strip()),
    tempts="In Cho et al. (2014) and in many tutorials, z is the share of the candidate.",
    keeps=["weights"],
)
SPEC.mistake(
    "reset_gate_before_the_product",
    "Your reset gate is applied to the previous state before it is multiplied by `W_h`. Apply it to the product, with "
    "its bias, or call `gru_cell`: this course uses PyTorch's variant of the GRU.",
    change(
        f"s = {CELL}",
        GATES_WRITTEN_OUT.replace("r * u[:, 2 * H :]", "(r * s_prev) @ W_h[:, 2 * H :] + b_h[2 * H :]").strip(),
    ),
    change(
        f"s = {CELL}",
        GATES_WRITTEN_OUT.replace("r * u[:, 2 * H :]", "r * (s_prev @ W_h[:, 2 * H :]) + b_h[2 * H :]").strip(),
    ),
    tempts="This is the variant of Cho et al. (2014), which chapter 4 shows too.",
    keeps=["weights"],
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
