"""How `AttentionDecoder` is checked: against loops over rows, steps and real keys in NumPy, from the equations."""

import numpy as np
import torch

from grader.author.spec import Facet, Output, Spec, change, module_case

ONE, SEVERAL, PADDED, SECOND = "one step", "several steps", "padded sources", "a second call"
SIZES = ("target_vocab", "embed_size", "hidden_size", "key_size", "attention_size")


def shapes(V, D, H, K, A):
    """The shape of every weight, by its name in the module's `state_dict`."""
    return {
        "embedding.weight": (V, D),
        "query.weight": (A, H),
        "key.weight": (A, K),
        "score.weight": (1, A),
        "cell.weight_ih": (3 * H, D + K),
        "cell.weight_hh": (3 * H, H),
        "cell.bias_ih": (3 * H,),
        "cell.bias_hh": (3 * H,),
        "head.weight": (V, H + K),
        "head.bias": (V,),
    }


def case(sizes, init, weights, forward, kind, before=()):
    return module_case(
        sizes,
        init=init,
        weights=weights,
        forward=forward,
        before=before,
        returns={"logits": "learning", "weights": "tensor"},
        kind=kind,
    )


def drawn(rng, lengths, T, V, D, H, K, A, kind, S=None, scale=1.0):
    """A case with random weights. Rows have so many real keys of S; the keys of the padding are multiplied by `scale`.
    Before a second call, there is a first one, of other words, states and keys.
    """
    B, S = len(lengths), S or max(lengths)
    mask = np.arange(S) < np.array(lengths)[:, None]

    def call():
        keys = rng.normal(size=(B, S, K))
        return {
            "target_in": rng.integers(V, size=(B, T)),
            "state": rng.uniform(-0.9, 0.9, size=(B, H)),
            "keys": np.where(mask[:, :, None], keys, scale * keys),
            "mask": mask,
        }

    weights = {name: rng.normal(size=shape) for name, shape in shapes(V, D, H, K, A).items()}
    weights["score.weight"] = rng.uniform(1.0, 2.0, size=(1, A)) * rng.choice([-1, 1], size=(1, A))
    return case(
        {"B": B, "S": S, "T": T, "V": V, "D": D, "H": H, "K": K, "A": A},
        dict(zip(SIZES, (V, D, H, K, A), strict=True)),
        weights,
        call(),
        kind,
        [call()] if kind == SECOND else (),
    )


EXAMPLE = case(
    {"B": 1, "S": 3, "T": 2, "V": 3, "D": 1, "H": 1, "K": 1, "A": 1},
    dict(zip(SIZES, (3, 1, 1, 1, 1), strict=True)),
    {
        "embedding.weight": np.array([[0.0], [0.4], [-0.8]]),
        "query.weight": np.array([[1.5]]),
        "key.weight": np.array([[0.8]]),
        "score.weight": np.array([[2.0]]),
        "cell.weight_ih": np.array([[-0.3, 0.5], [0.8, -0.4], [1.2, 0.6]]),
        "cell.weight_hh": np.array([[0.6], [-0.2], [0.9]]),
        "cell.bias_ih": np.array([0.1, 0.4, 0.0]),
        "cell.bias_hh": np.array([0.0, -0.1, 0.25]),
        "head.weight": np.array([[-1.0, 0.7], [2.0, -0.5], [0.5, 1.5]]),
        "head.bias": np.array([0.0, -0.3, 0.1]),
    },
    {
        "target_in": np.array([[1, 2]]),
        "state": np.array([[-0.9]]),
        "keys": np.array([[[0.9], [-0.6], [1.2]]]),
        "mask": np.array([[True, True, False]]),
    },
    PADDED,
)


def cases(rng):
    yield drawn(rng, [3, 3], T=1, V=5, D=3, H=4, K=2, A=3, kind=ONE)
    yield drawn(rng, [2, 2, 2, 2], T=1, V=4, D=2, H=3, K=3, A=2, kind=ONE)
    yield drawn(rng, [4, 4, 4], T=2, V=6, D=1, H=5, K=7, A=8, kind=SEVERAL)
    yield drawn(rng, [3, 3], T=4, V=3, D=2, H=1, K=1, A=2, kind=SEVERAL)
    yield drawn(rng, [1, 1], T=3, V=4, D=3, H=2, K=2, A=1, kind=SEVERAL)
    yield drawn(rng, [3], T=2, V=1, D=2, H=4, K=4, A=4, kind=SEVERAL)
    yield drawn(rng, [2, 4, 1], T=3, V=5, D=4, H=4, K=4, A=4, kind=PADDED)
    yield drawn(rng, [1, 3], T=2, V=6, D=3, H=2, K=4, A=3, kind=PADDED, S=4, scale=1e6)  # it changes nothing
    yield drawn(rng, [3, 3], T=2, V=4, D=2, H=3, K=3, A=2, kind=SECOND)


def logistic(a):
    return 1 / (1 + np.exp(-a))


def oracle(init, weights, target_in, state, keys, mask, run):
    """Each row by itself, with its real keys only, from the equations of PyTorch's GRU."""
    logits, shares = [], np.zeros((*target_in.shape, mask.shape[1]))
    W_x, W_h, b_x, b_h = (weights[f"cell.{name}"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"))
    for b, ids in enumerate(target_in):
        s, H, rows = state[b], init["hidden_size"], []
        real = np.flatnonzero(mask[b])
        for t, id_ in enumerate(ids):
            scores = []
            for j in real:
                hidden = np.tanh(weights["query.weight"] @ s + weights["key.weight"] @ keys[b, j])
                scores.append(weights["score.weight"][0] @ hidden)
            total = sum(np.exp(score) for score in scores)
            context = np.zeros(init["key_size"])
            for j, score in zip(real, scores, strict=True):
                shares[b, t, j] = np.exp(score) / total
                context += shares[b, t, j] * keys[b, j]
            read = W_x @ np.append(weights["embedding.weight"][id_], context) + b_x
            recalled = W_h @ s + b_h
            r, z = logistic((read + recalled)[:H]), logistic((read + recalled)[H : 2 * H])
            s = (1 - z) * np.tanh(read[2 * H :] + r * recalled[2 * H :]) + z * s
            rows.append(weights["head.weight"] @ np.append(s, context) + weights["head.bias"])
        logits.append(rows)
    return np.array(logits), shares


SPEC = Spec(
    outputs=[Output("logits", ("B", "T", "V")), Output("weights", ("B", "T", "S"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    driver="module",
    facets=[
        Facet("one step", 1, kinds=(ONE,)),
        Facet("several steps", 2, kinds=(SEVERAL, SECOND)),
        Facet("padded sources", 1, kinds=(PADDED,)),
    ],
    why=r"""
The order of a step follows from what it needs: the state of the previous step gives the scores, the scores give the
weights, the weights the context, and only then can the cell make its step. `self.query(state)[:, None]` has an axis of
size 1 for the keys, so that it is added to every key's projection. `self.score` returns (B, S, 1), and its last axis
has to go before the softmax over the keys. The projection of the keys does not change from step to step, so it is
computed once. The context is the weighted sum of the keys themselves, not of their projections, which serve the
comparison alone.
""",
)


LOOP = "for t in range(target_in.shape[1]):"
HIDDEN = "hidden = torch.tanh(self.query(state)[:, None] + projected)"
SCORES = "scores = self.score(hidden)[:, :, 0].masked_fill(~mask, -torch.inf)"
ALPHA = "alpha = torch.softmax(scores, dim=1)"
CONTEXT = "context = (alpha[:, :, None] * keys).sum(dim=1)"
CELL = "state = self.cell(torch.cat([words[:, t], context], dim=1), state)"
HEAD = "logits.append(self.head(torch.cat([state, context], dim=1)))"
KEEP = "weights.append(alpha)"
RETURN = "return torch.stack(logits, dim=1), torch.stack(weights, dim=1)"
FIRST = "logits, weights = [], []"
ATTEND = "\n".join((HIDDEN, SCORES, ALPHA, CONTEXT))

SPEC.mistake(
    "query_is_the_new_state",
    "You attend with the new state. Attend with the state of the *previous* step, before the cell: the context is one "
    "of the inputs from which the cell computes the new state.",
    change(
        ATTEND,
        "context = torch.zeros_like(keys[:, 0])\n" + CELL + "\n" + ATTEND,
        (ATTEND + "\n" + CELL, ATTEND),
    ),
    change(
        FIRST,
        FIRST + "\ncontext = torch.zeros_like(keys[:, 0])",
        (ATTEND + "\n" + CELL, CELL + "\n" + ATTEND),
    ),
    change(
        CELL, CELL.replace("state = ", "new = ") + "\n" + ATTEND.replace("query(state)", "query(new)") + "\n" + CELL
    ),
    tempts="In Luong et al. (2015) the decoder attends with its new state, and many programs do so.",
)
SPEC.mistake(
    "attends_again",
    "You attend a second time, with the new state, after the cell. Attend once in each step, with the previous state, "
    "and give the same context to the cell and to the head.",
    change(HEAD, ATTEND + "\n" + HEAD),
    change(HEAD, ATTEND.replace("alpha", "second") + "\n" + HEAD),
    tempts="The head should know what fits the new state, as in Luong et al. (2015).",
)
SPEC.mistake(
    "previous_context_in_the_cell",
    "Your cell reads the context of the previous step. Give it the context of this step, for which you have just "
    "computed the weights.",
    change(
        FIRST,
        FIRST + "\nearlier = torch.zeros_like(keys[:, 0])",
        (CELL, CELL.replace("context", "earlier") + "\nearlier = context"),
    ),
    tempts="In the *input feeding* of Luong et al. (2015), what the last step has read is an input of the next.",
)
SPEC.mistake(
    "attends_once",
    "You attend with the initial state only, so every step has the same weights and the same context. Compute both "
    "again inside the loop, with the state of the previous step.",
    change(FIRST, "start = state\n" + FIRST, ("self.query(state)", "self.query(start)")),
    tempts="What stands in front of the loop is computed once, and the decoder of chapter 5 has a single context.",
    keeps=["one step"],
)
SPEC.mistake(
    "state_not_carried",
    "Every step of yours starts from the initial state, so no step knows which words came before. Replace `state` in "
    "each step by what `self.cell` returns.",
    change(CELL, CELL.replace("state = ", "new = "), ("[state, context]", "[new, context]")),
    change(
        FIRST,
        "start = state\n" + FIRST,
        ("dim=1), state)", "dim=1), start)"),
    ),
    tempts="The new state gets a name of its own and is used for the logits only.",
    keeps=["one step"],
)
SPEC.mistake(
    "mask_inverted",
    "You hide the words and attend to the padding; without padding, the softmax of nothing gives NaN. `masked_fill` "
    "fills in where its mask is True, and here True marks a word: give it `~mask`.",
    change("~mask", "mask"),
    tempts="In PyTorch, most masks mark what is left out.",
)
SPEC.mistake(
    "cell_without_the_state",
    "Your cell starts from zeros at every step, so the new state knows nothing of the words before. Give it `state` as "
    "the second argument: left out, it is taken as zeros.",
    change("dim=1), state)", "dim=1))"),
    tempts="A `torch.nn.GRU` begins with zeros by itself, and `GRUCell` does so at each call.",
)
SPEC.mistake(
    "masked_after_softmax",
    "You apply the mask after the softmax, so the padding takes a share of each row, and the remaining weights no "
    "longer sum to 1. Set the scores of the padding to −∞ *before* the softmax.",
    change(".masked_fill(~mask, -torch.inf)", "", (ALPHA, "alpha = torch.softmax(scores, dim=1) * mask")),
    tempts="To multiply by the mask is the obvious way of setting weights to 0.",
    keeps=["one step", "several steps"],
)
SPEC.mistake(
    "masked_scores_are_zero",
    "You set the scores of the padding to 0. A score of 0 is a score like any other: exp(0) = 1. Set them to −∞, so "
    "that the softmax turns them into weights of 0.",
    change("~mask, -torch.inf", "~mask, 0.0"),
    tempts="0 means *nothing* in a mask, and it is easily mistaken for a score of nothing.",
    keeps=["one step", "several steps"],
)
SPEC.mistake(
    "mask_added_to_the_scores",
    "You add the mask to the scores, where True counts as 1 and False as 0, so the padding keeps its scores. Set the "
    "scores of the padding to −∞ instead, with `masked_fill`.",
    change(".masked_fill(~mask, -torch.inf)", " + mask"),
    tempts="In other programs, masks consist of 0 and −∞ and are added.",
    keeps=["one step", "several steps"],
)
SPEC.mistake(
    "minus_infinity_times_zero",
    "You multiply −∞ by the mask or its opposite. Where that is 0, the product is NaN, not 0, and the NaN spreads "
    "through the whole row. Use `masked_fill` instead of multiplying.",
    change(".masked_fill(~mask, -torch.inf)", " + ~mask * -torch.inf"),
    tempts="With −1e9 in place of −∞ the same line works.",
)
SPEC.mistake(
    "keys_set_to_zero",
    "You set the keys of the padding to 0, and let the softmax run over all of them. Keys of zeros have scores too, so "
    "the padding takes a share of the weights. Set the *scores* of the padding to −∞.",
    change(
        "words, projected",
        "keys = keys * mask[:, :, None]\nwords, projected",
        (".masked_fill(~mask, -torch.inf)", ""),
    ),
    tempts="A key of zeros adds nothing to the weighted sum, so the padding seems to be gone.",
    keeps=["one step", "several steps"],
)
SPEC.mistake(
    "softmax_over_one_entry",
    "Your softmax runs over the last axis of `self.score(…)`, which has a single entry, so every weight is 1, or "
    "NaN if the entry is −∞. Remove this axis first, and take the softmax over the keys.",
    change(
        SCORES,
        "scores = self.score(hidden)",
        (ALPHA, "alpha = torch.softmax(scores, dim=-1)[:, :, 0].masked_fill(~mask, 0.0)"),
    ),
    change(
        SCORES,
        "scores = self.score(hidden)",
        (ALPHA, "alpha = torch.softmax(scores, dim=-1)[:, :, 0]"),
    ),
    change(
        SCORES,
        "scores = self.score(hidden).masked_fill(~mask[:, :, None], -torch.inf)",
        (ALPHA, "alpha = torch.softmax(scores, dim=-1)[:, :, 0]"),
    ),
    tempts="`dim=-1` is right in most programs; here the last axis is left over from the linear layer.",
)
SPEC.mistake(
    "softmax_over_the_batch",
    "Your softmax runs over the rows of the batch. Let it run over the keys: the weights of each row sum to 1.",
    change(ALPHA, "alpha = torch.softmax(self.score(hidden)[:, :, 0], dim=0) * mask"),
    change(
        SCORES,
        "scores = self.score(hidden)[:, :, 0].masked_fill(~mask, -1e9)",
        (ALPHA, "alpha = torch.softmax(scores, dim=0)"),
    ),
    change(ALPHA, "alpha = torch.softmax(scores, dim=0)"),
    tempts="The batch is the first axis, and a softmax along axis 0 runs without an error.",
)
SPEC.mistake(
    "scores_are_the_weights",
    "You use the scores themselves as weights, or their exponentials. Turn them into weights with a softmax, so that "
    "they are positive and each row's sum is 1.",
    change(ALPHA, "alpha = scores.masked_fill(~mask, 0.0)"),
    change(ALPHA, "alpha = scores.exp()"),
    tempts="A score already says how well a key fits.",
)
SPEC.mistake(
    "sigmoid_in_place_of_softmax",
    "You apply a sigmoid to each score by itself, so the weights of a row do not sum to 1. Apply a softmax over the "
    "keys.",
    change("torch.softmax(scores, dim=1)", "torch.sigmoid(scores)"),
    tempts="A sigmoid turns a score into a number between 0 and 1 too.",
)
SPEC.mistake(
    "scores_scaled",
    "You divide the scores by the square root of the attention size, the number of units or the size of a key. An "
    "additive score is not scaled: use what `self.score` returns.",
    change(ALPHA, "alpha = torch.softmax(scores / hidden.shape[2] ** 0.5, dim=1)"),
    change(ALPHA, "alpha = torch.softmax(scores / state.shape[1] ** 0.5, dim=1)"),
    change(ALPHA, "alpha = torch.softmax(scores / keys.shape[2] ** 0.5, dim=1)"),
    tempts="Scaled dot products are the best-known score.",
)
SPEC.mistake(
    "tanh_missing",
    "There is no tanh in your score. Apply it to the sum of the two projections. Without it, the query adds the same "
    "number to all scores of a row, and the softmax does not see it.",
    change(HIDDEN, "hidden = self.query(state)[:, None] + projected"),
    tempts="The linear layers are there in `__init__`, the tanh is not.",
)
SPEC.mistake(
    "tanh_after_the_score",
    "You apply the tanh to the scores. Apply it to the sum of the two projections, and `self.score` to the result.",
    change(
        HIDDEN,
        "hidden = self.query(state)[:, None] + projected",
        ("self.score(hidden)", "torch.tanh(self.score(hidden))"),
    ),
    tempts="In the equation, the tanh stands between three matrices.",
)
SPEC.mistake(
    "another_function_for_tanh",
    "You apply a sigmoid or a ReLU to the sum of the two projections. Apply a tanh, as in the equation.",
    change("torch.tanh", "torch.sigmoid"),
    change("torch.tanh", "torch.relu"),
    tempts="A ReLU is the usual activation of a hidden layer elsewhere, a sigmoid that of a gate.",
)
SPEC.mistake(
    "query_is_the_embedding",
    "You give the embedding of the word to `self.query`, which raises an exception unless D = H. The query is the "
    "state of the previous step: it knows all words so far, not only the last.",
    change("self.query(state)", "self.query(words[:, t])"),
    tempts="The word is what the step begins with.",
)
SPEC.mistake(
    "query_without_effect",
    "The query has no effect on your weights. Add its projection to the projection of every key, and apply the tanh to "
    "the sum: added outside of the tanh, the query changes all scores of a row by the same number, and the softmax "
    "does not see that.",
    change(HIDDEN, "hidden = torch.tanh(self.query(state))[:, None] + torch.tanh(projected)"),
    change(HIDDEN, "hidden = self.query(state)[:, None] + torch.tanh(projected)"),
    change(HIDDEN, "hidden = torch.tanh(projected)"),
    tempts="Two projections with a tanh each look like two layers, whose results are added.",
)
SPEC.mistake(
    "projection_left_out",
    "You leave out `self.query` or `self.key`, which raises an exception unless the sizes are equal. Map both the "
    "state and the keys to A numbers before you add them: each has weights of its own.",
    change("self.query(state)[:, None]", "state[:, None]"),
    change("self.key(keys)", "keys"),
    tempts="With equal sizes, state and key can be added as they are.",
)
SPEC.mistake(
    "projections_multiplied",
    "You multiply the two projections. Add them, apply the tanh, and let `self.score` turn the result into a number.",
    change(HIDDEN, "hidden = torch.tanh(self.query(state)[:, None] * projected)"),
    change(HIDDEN, "hidden = self.query(state)[:, None] * projected"),
    change(
        SCORES, SCORES.replace("self.score(hidden)[:, :, 0]", "(self.query(state)[:, None] * projected).sum(dim=2)")
    ),
    tempts="In the other two scores, query and key are multiplied.",
)
SPEC.mistake(
    "context_is_a_mean",
    "Your context is a mean or a sum of the keys without the weights, or you divide the weighted sum by their number. "
    "Take the weighted sum: the weights sum to 1, so it is a mean already.",
    change(CONTEXT, "context = (alpha[:, :, None] * keys).mean(dim=1)"),
    change(CONTEXT, "context = keys.mean(dim=1)"),
    change(CONTEXT, "context = (keys * mask[:, :, None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)"),
    change(CONTEXT, "context = (keys * mask[:, :, None]).sum(dim=1)"),
    tempts="A weighted mean is a mean.",
)
SPEC.mistake(
    "context_of_the_projected_keys",
    "Your context is the weighted sum of the *projected* keys, which raises an exception unless A = K. Sum the keys "
    "themselves: their projections only serve the comparison with the query.",
    change(CONTEXT, "context = (alpha[:, :, None] * projected).sum(dim=1)"),
    tempts="The projected keys are already there inside the loop.",
)
SPEC.mistake(
    "last_key_only",
    "Your context is the last key. Take the weighted sum of all keys.",
    change(CONTEXT, "context = keys[:, -1]"),
    change(CONTEXT, "context = keys[torch.arange(len(keys)), mask.sum(dim=1) - 1]"),
    tempts="In chapter 5, the context was the encoder's last state.",
)
SPEC.mistake(
    "best_key_only",
    "Your context is the key with the largest weight. Take the weighted sum of all keys: a choice of a single key has "
    "no gradient with respect to the scores, so the decoder could not learn where to look.",
    change(CONTEXT, "context = keys[torch.arange(len(keys)), alpha.argmax(dim=1)]"),
    tempts="In words, the decoder looks at the word that fits best.",
)
SPEC.mistake(
    "context_not_in_the_cell",
    "Your cell does not read the context. Put it into the cell's input, beside the embedding, and not only into the "
    "head.",
    change("[words[:, t], context]", "[words[:, t], 0 * context]"),
    tempts="In Luong et al. (2015), only the head reads the context.",
)
SPEC.mistake(
    "context_not_in_the_head",
    "Your head does not read the context. Put it beside the new state.",
    change("[state, context]", "[state, 0 * context]"),
    change(HEAD, "logits.append(state @ self.head.weight[:, : state.shape[1]].T + self.head.bias)"),
    tempts="In the decoders of chapter 5, the head reads only the state.",
)
SPEC.mistake(
    "embedding_in_the_head",
    "Your head reads the embedding in place of the context, which raises an exception unless D = K. Put the context "
    "beside the new state.",
    change("[state, context]", "[state, words[:, t]]"),
    tempts="The head of Bahdanau et al. (2015) reads the embedding too.",
)
SPEC.mistake(
    "context_first_in_the_cell",
    "You put the context in front of the embedding. Put the embedding first, then the context, as the weights of "
    "`self.cell` expect them.",
    change("[words[:, t], context]", "[context, words[:, t]]"),
    tempts="Some papers write the context first, and the shapes fit either way.",
)
SPEC.mistake(
    "context_first_in_the_head",
    "In the head, you put the context in front of the state. Put the state first, then the context, as the weights of "
    "`self.head` expect them.",
    change("[state, context]", "[context, state]"),
    tempts="Luong et al. (2015) write $[c_t; h_t]$, and the shapes fit either way.",
)
SPEC.mistake(
    "context_first_in_both",
    "You put the context first, both in the cell's input and in the head's. Put it last in both.",
    change("[words[:, t], context]", "[context, words[:, t]]", ("[state, context]", "[context, state]")),
    tempts="Whoever has one order in mind uses it twice.",
)
SPEC.mistake(
    "head_reads_the_previous_state",
    "Your head reads the state of the previous step, which knows nothing of the word that has just been read. Let it "
    "read the new state.",
    change(CELL + "\n" + HEAD, HEAD + "\n" + CELL),
    tempts="The lines of a step stand in the wrong order, and nothing fails.",
)
SPEC.mistake(
    "feeds_its_own_predictions",
    "You feed the decoder the words that it predicts itself. Feed it `target_in` at every step, as teacher forcing "
    "does: then every prediction is made after the right words.",
    change(
        FIRST,
        FIRST + "\nword = words[:, 0]",
        ("[words[:, t], context]", "[word, context]"),
        (HEAD, HEAD + "\nword = self.embedding(logits[-1].argmax(dim=1))"),
    ),
    tempts="This is what the decoder does later when it translates.",
    keeps=["one step"],
)
SPEC.mistake(
    "target_shifted",
    "Your steps read the target word one place too late or too early. Read `target_in[:, t]` in step t: the caller has "
    "shifted the targets already.",
    change("words[:, t]", "words[:, min(t + 1, words.shape[1] - 1)]"),
    change("words[:, t]", "words[:, max(t - 1, 0)]"),
    change("words[:, t]", "words[:, t - 1]"),
    tempts="Inputs and targets are the same words shifted by one, and many programs shift inside the model.",
    keeps=["one step"],
)
SPEC.mistake(
    "first_word_at_every_step",
    "Every step of yours reads the same word of the target. Read `target_in[:, t]` in step t.",
    change("words[:, t]", "words[:, 0]"),
    change("words[:, t]", "words[:, -1]"),
    tempts="The step is tried out with one word first.",
    keeps=["one step"],
)
SPEC.mistake(
    "time_first",
    "You stack the steps along axis 0, so time comes before the batch. Stack them along axis 1: (B, T, …).",
    change(RETURN, "return torch.stack(logits), torch.stack(weights)"),
    tempts="Axis 0 is the default of `torch.stack`.",
)
SPEC.mistake(
    "logits_time_first",
    "You stack the logits along axis 0, so time comes before the batch. Stack them along axis 1: (B, T, V).",
    change(RETURN, "return torch.stack(logits), torch.stack(weights, dim=1)"),
    tempts="Axis 0 is the default of `torch.stack`.",
)
SPEC.mistake(
    "weights_time_first",
    "You stack the weights along axis 0 or 2. Stack them along axis 1: (B, T, S), a row for each target word.",
    change(RETURN, "return torch.stack(logits, dim=1), torch.stack(weights)"),
    change(RETURN, "return torch.stack(logits, dim=1), torch.stack(weights, dim=2)"),
    tempts="Axis 0 is the default of `torch.stack`, and a matrix of weights is drawn either way round.",
)
SPEC.mistake(
    "last_weights_only",
    "You return the weights of the last step only. Collect those of every step, as you do with the logits: (B, T, S).",
    change(RETURN, "return torch.stack(logits, dim=1), alpha"),
    tempts="After the loop, the name of the weights still exists.",
)
SPEC.mistake(
    "last_weights_as_one_step",
    "Your weights have a single step, the last. Collect those of every step, as you do with the logits: (B, T, S).",
    change(RETURN, "return torch.stack(logits, dim=1), alpha[:, None]"),
    tempts="An axis for the steps is added to what is left after the loop.",
    keeps=["one step"],
)
SPEC.mistake(
    "last_step_only",
    "You return the results of the last step only. Collect those of every step: the decoder predicts a next word after "
    "every word that it reads.",
    change(RETURN, "return logits[-1], weights[-1]"),
    tempts="When the decoder translates, only the last step is of interest.",
)
SPEC.mistake(
    "last_step_as_one_step",
    "Your results have a single step, the last. Collect those of every step: the decoder predicts a next word after "
    "every word that it reads.",
    change(RETURN, "return logits[-1][:, None], weights[-1][:, None]"),
    tempts="When the decoder translates, only the last step is of interest.",
    keeps=["one step"],
)
SPEC.mistake(
    "scores_returned",
    "You return the scores as `weights`. Return what the softmax computes from them.",
    change(KEEP, "weights.append(self.score(hidden)[:, :, 0])"),
    change(KEEP, "weights.append(scores)"),
    tempts="Both have the shape (B, S).",
)
SPEC.mistake(
    "contexts_returned",
    "You return the contexts as `weights`. Return the weights, one for each key, (B, T, S): they show where the "
    "decoder looks.",
    change(KEEP, "weights.append(context)"),
    tempts="The context is what attention computes, after all.",
)
SPEC.mistake(
    "softmax_applied",
    "You apply a softmax or log-softmax to the logits. Return what `self.head` gives: the loss contains the "
    "log-softmax.",
    change(RETURN, "return torch.stack(logits, dim=1).softmax(dim=2), torch.stack(weights, dim=1)"),
    change(RETURN, "return torch.stack(logits, dim=1).log_softmax(dim=2), torch.stack(weights, dim=1)"),
    tempts="The decoder gives probabilities of the next word, after all.",
)
SPEC.mistake(
    "tanh_before_the_head",
    "You apply a tanh to what the head reads. Give it the state and the context as they are.",
    change(
        "self.head(torch.cat([state, context], dim=1))", "self.head(torch.tanh(torch.cat([state, context], dim=1)))"
    ),
    tempts="Luong et al. (2015) have a layer with a tanh in front of the head.",
)
SPEC.mistake(
    "attention_detached",
    "No gradient flows through your weights or scores, so the decoder cannot learn where to look. Leave out `detach` "
    "and `torch.no_grad()`; if you need numbers for a plot, detach the returned weights outside of `forward`.",
    change(CONTEXT, "context = (alpha.detach()[:, :, None] * keys).sum(dim=1)"),
    change(ALPHA, "alpha = torch.softmax(scores.detach(), dim=1)"),
    tempts="Weights are shown in pictures, and pictures need detached tensors.",
)
SPEC.mistake(
    "state_detached",
    "You detach the state between the steps, so no gradient reaches the earlier steps. Leave it attached: within one "
    "call the gradient has to flow through all steps.",
    change(CELL, CELL.replace("dim=1), state)", "dim=1), state.detach())")),
    change(CELL, "state = state.detach()\n" + CELL),
    change(HEAD, HEAD + "\nstate = state.detach()"),
    tempts="In chapter 4 the state had to be detached, but between two *calls*.",
    keeps=["one step"],
)
SPEC.mistake(
    "new_state_detached",
    "You detach the new state as soon as the cell returns it, so the cell and the embedding get no gradient at all. "
    "Leave it attached: within one call the gradient has to flow through all steps.",
    change(CELL, CELL + ".detach()"),
    tempts="In chapter 4 the state had to be detached, but between two *calls*.",
)
SPEC.mistake(
    "logits_detached",
    "No gradient leaves your logits, so this decoder cannot learn. Leave out `detach` and `torch.no_grad()`.",
    change(RETURN, "return torch.stack(logits, dim=1).detach(), torch.stack(weights, dim=1)"),
    tempts="Programs that translate run under `torch.no_grad()`.",
)
SPEC.mistake(
    "kept_from_an_earlier_call",
    "Your module keeps something from one call to the next, a state or the projected keys. Compute everything from the "
    "arguments of this call: it may be about another batch.",
    change(
        "words, projected = self.embedding(target_in), self.key(keys)",
        "words = self.embedding(target_in)\n"
        "if not hasattr(self, 'projected'):\n"
        "    self.projected = self.key(keys)\n"
        "projected = self.projected",
    ),
    change(FIRST, FIRST + "\nstate = getattr(self, 'state', state)", (RETURN, "self.state = state\n" + RETURN)),
    tempts="What is computed once seems to belong into the module.",
    keeps=["one step", "padded sources"],
)


class Released(torch.nn.Module):
    """The submodules that the notebook gives."""

    def __init__(self, target_vocab, embed_size, hidden_size, key_size, attention_size):
        super().__init__()
        self.embedding = torch.nn.Embedding(target_vocab, embed_size)
        self.query = torch.nn.Linear(hidden_size, attention_size, bias=False)
        self.key = torch.nn.Linear(key_size, attention_size, bias=False)
        self.score = torch.nn.Linear(attention_size, 1, bias=False)
        self.cell = torch.nn.GRUCell(embed_size + key_size, hidden_size)
        self.head = torch.nn.Linear(hidden_size + key_size, target_vocab)


@SPEC.alternative
class AllAtOnce(Released):
    """Only what has to be is in the loop: the head reads all states and contexts at the end."""

    def forward(self, target_in, state, keys, mask):
        k, states, contexts, alphas = self.key(keys), [], [], []
        for word in self.embedding(target_in).unbind(dim=1):
            e = self.score(torch.tanh(self.query(state).unsqueeze(1) + k)).squeeze(2)
            alpha = torch.softmax(torch.where(mask, e, torch.full_like(e, -1e30)), dim=-1)
            context = torch.bmm(alpha.unsqueeze(1), keys).squeeze(1)
            state = self.cell(torch.cat((word, context), dim=-1), state)
            states.append(state)
            contexts.append(context)
            alphas.append(alpha)
        both = torch.cat([torch.stack(states, dim=1), torch.stack(contexts, dim=1)], dim=2)
        return self.head(both), torch.stack(alphas, dim=1)


@SPEC.alternative
class RowByRow(Released):
    """Every sentence by itself, with its real keys only."""

    def forward(self, target_in, state, keys, mask):
        logits, weights = [], keys.new_zeros(*target_in.shape, keys.shape[1])
        for b in range(len(target_in)):
            real, s, rows = keys[b, mask[b]], state[b], []
            for t, word in enumerate(self.embedding(target_in[b])):
                alpha = torch.softmax(self.score(torch.tanh(self.query(s) + self.key(real)))[:, 0], dim=0)
                context = alpha @ real
                s = self.cell(torch.cat([word, context])[None], s[None])[0]
                rows.append(self.head(torch.cat([s, context])))
                weights[b, t, mask[b]] = alpha
            logits.append(torch.stack(rows))
        return torch.stack(logits), weights


@SPEC.alternative
class FromTheParameters(Released):
    """The exponentials of the scores times the mask, and the step of the GRU written out."""

    def forward(self, target_in, state, keys, mask):
        (V, D), s, logits, weights = self.embedding.weight.shape, state, [], []
        for t in range(target_in.shape[1]):
            hidden = (s @ self.query.weight.T)[:, None, :] + keys @ self.key.weight.T
            e = torch.exp(torch.tanh(hidden) @ self.score.weight[0]) * mask
            alpha = e / e.sum(dim=1, keepdim=True)
            c = torch.einsum("bs,bsk->bk", alpha, keys)
            x = self.embedding.weight[target_in[:, t]] @ self.cell.weight_ih[:, :D].T + c @ self.cell.weight_ih[:, D:].T
            x_r, x_z, x_n = (x + self.cell.bias_ih).chunk(3, dim=1)
            h_r, h_z, h_n = (s @ self.cell.weight_hh.T + self.cell.bias_hh).chunk(3, dim=1)
            z, n = torch.sigmoid(x_z + h_z), torch.tanh(x_n + torch.sigmoid(x_r + h_r) * h_n)
            s = n + z * (s - n)
            logits.append(self.head(torch.hstack([s, c])))
            weights.append(alpha)
        return torch.cat(logits, dim=1).reshape(len(s), -1, V), torch.cat(weights, dim=1).reshape(len(s), t + 1, -1)
