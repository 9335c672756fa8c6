"""How `AttentionDecoder` is checked: against loops over rows, steps and real keys in NumPy, from the equations."""

import numpy as np
import torch

from grader.spec.spec import Facet, Output, Spec, change, instead, module_case

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
        computed=("state", "keys"),
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
)
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


SPEC.mistakes(
    {
        "query_is_the_new_state": [
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
                CELL,
                CELL.replace("state = ", "new = ") + "\n" + ATTEND.replace("query(state)", "query(new)") + "\n" + CELL,
            ),
        ],
        "attends_again": [
            change(HEAD, ATTEND + "\n" + HEAD),
            change(HEAD, ATTEND.replace("alpha", "second") + "\n" + HEAD),
        ],
        "previous_context_in_the_cell": change(
            FIRST,
            FIRST + "\nearlier = torch.zeros_like(keys[:, 0])",
            (CELL, CELL.replace("context", "earlier") + "\nearlier = context"),
        ),
        "mask_inverted": change("~mask", "mask"),
        "query_of_another_row": change("self.query(state)[:, None]", "self.query(state)"),
        "concatenated_not_stacked": [
            change(RETURN, "return torch.cat(logits, dim=1), torch.cat(weights, dim=1)"),
            change(RETURN, "return torch.cat(logits, dim=1), torch.stack(weights, dim=1)"),
            change(RETURN, "return torch.cat(logits), torch.cat(weights)"),
        ],
        "cell_without_the_state": change("dim=1), state)", "dim=1))"),
        "minus_infinity_times_zero": change(".masked_fill(~mask, -torch.inf)", " + ~mask * -torch.inf"),
        "softmax_over_one_entry": [
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
        ],
        "softmax_over_the_batch": [
            change(ALPHA, "alpha = torch.softmax(self.score(hidden)[:, :, 0], dim=0) * mask"),
            change(
                SCORES,
                "scores = self.score(hidden)[:, :, 0].masked_fill(~mask, -1e9)",
                (ALPHA, "alpha = torch.softmax(scores, dim=0)"),
            ),
            change(ALPHA, "alpha = torch.softmax(scores, dim=0)"),
        ],
        "scores_are_the_weights": [
            change(ALPHA, "alpha = scores.masked_fill(~mask, 0.0)"),
            change(ALPHA, "alpha = scores.exp()"),
        ],
        "sigmoid_in_place_of_softmax": change("torch.softmax(scores, dim=1)", "torch.sigmoid(scores)"),
        "scores_scaled": [
            change(ALPHA, "alpha = torch.softmax(scores / hidden.shape[2] ** 0.5, dim=1)"),
            change(ALPHA, "alpha = torch.softmax(scores / state.shape[1] ** 0.5, dim=1)"),
            change(ALPHA, "alpha = torch.softmax(scores / keys.shape[2] ** 0.5, dim=1)"),
        ],
        "tanh_missing": change(HIDDEN, "hidden = self.query(state)[:, None] + projected"),
        "tanh_after_the_score": change(
            HIDDEN,
            "hidden = self.query(state)[:, None] + projected",
            ("self.score(hidden)", "torch.tanh(self.score(hidden))"),
        ),
        "another_function_for_tanh": [change("torch.tanh", "torch.sigmoid"), change("torch.tanh", "torch.relu")],
        "query_is_the_embedding": change("self.query(state)", "self.query(words[:, t])"),
        "query_without_effect": change(
            HIDDEN, "hidden = torch.tanh(self.query(state))[:, None] + torch.tanh(projected)"
        ),
        "projection_left_out": [
            change("self.query(state)[:, None]", "state[:, None]"),
            change("self.key(keys)", "keys"),
        ],
        "projections_multiplied": [
            change(HIDDEN, "hidden = torch.tanh(self.query(state)[:, None] * projected)"),
            change(HIDDEN, "hidden = self.query(state)[:, None] * projected"),
            change(
                SCORES,
                SCORES.replace("self.score(hidden)[:, :, 0]", "(self.query(state)[:, None] * projected).sum(dim=2)"),
            ),
        ],
        "context_is_a_mean": [
            change(CONTEXT, "context = (alpha[:, :, None] * keys).mean(dim=1)"),
            change(CONTEXT, "context = keys.mean(dim=1)"),
            change(CONTEXT, "context = (keys * mask[:, :, None]).sum(dim=1) / mask.sum(dim=1, keepdim=True)"),
            change(CONTEXT, "context = (keys * mask[:, :, None]).sum(dim=1)"),
        ],
        **instead(
            CONTEXT,
            {
                "context_of_the_projected_keys": "context = (alpha[:, :, None] * projected).sum(dim=1)",
                "best_key_only": "context = keys[torch.arange(len(keys)), alpha.argmax(dim=1)]",
            },
        ),
        "last_key_only": [
            change(CONTEXT, "context = keys[:, -1]"),
            change(CONTEXT, "context = keys[torch.arange(len(keys)), mask.sum(dim=1) - 1]"),
        ],
        **instead(
            "[words[:, t], context]",
            {
                "context_not_in_the_cell": "[words[:, t], 0 * context]",
                "context_first_in_the_cell": "[context, words[:, t]]",
            },
        ),
        "context_not_in_the_head": change("[state, context]", "[state, 0 * context]"),
        **instead(
            "[state, context]",
            {
                "embedding_in_the_head": "[state, words[:, t]]",
                "context_first_in_the_head": "[context, state]",
            },
        ),
        "context_first_in_both": change(
            "[words[:, t], context]", "[context, words[:, t]]", ("[state, context]", "[context, state]")
        ),
        "head_reads_the_previous_state": change(CELL + "\n" + HEAD, HEAD + "\n" + CELL),
        **instead(
            RETURN,
            {
                "time_first": "return torch.stack(logits), torch.stack(weights)",
                "logits_time_first": "return torch.stack(logits), torch.stack(weights, dim=1)",
                "last_weights_only": "return torch.stack(logits, dim=1), alpha",
                "last_step_only": "return logits[-1], weights[-1]",
                "logits_detached": "return torch.stack(logits, dim=1).detach(), torch.stack(weights, dim=1)",
            },
        ),
        "weights_time_first": [
            change(RETURN, "return torch.stack(logits, dim=1), torch.stack(weights)"),
            change(RETURN, "return torch.stack(logits, dim=1), torch.stack(weights, dim=2)"),
        ],
        "scores_returned": [
            change(KEEP, "weights.append(self.score(hidden)[:, :, 0])"),
            change(KEEP, "weights.append(scores)"),
        ],
        "contexts_returned": change(KEEP, "weights.append(context)"),
        "softmax_applied": [
            change(RETURN, "return torch.stack(logits, dim=1).softmax(dim=2), torch.stack(weights, dim=1)"),
            change(RETURN, "return torch.stack(logits, dim=1).log_softmax(dim=2), torch.stack(weights, dim=1)"),
        ],
        "tanh_before_the_head": change(
            "self.head(torch.cat([state, context], dim=1))", "self.head(torch.tanh(torch.cat([state, context], dim=1)))"
        ),
        "attention_detached": change(CONTEXT, "context = (alpha.detach()[:, :, None] * keys).sum(dim=1)"),
        "state_detached": change(CELL, CELL.replace("dim=1), state)", "dim=1), state.detach())")),
        "new_state_detached": change(CELL, CELL + ".detach()"),
    }
)
SPEC.mistakes(
    {
        "attends_once": change(FIRST, "start = state\n" + FIRST, ("self.query(state)", "self.query(start)")),
        "state_not_carried": [
            change(CELL, CELL.replace("state = ", "new = "), ("[state, context]", "[new, context]")),
            change(
                FIRST,
                "start = state\n" + FIRST,
                ("dim=1), state)", "dim=1), start)"),
            ),
        ],
        "feeds_its_own_predictions": change(
            FIRST,
            FIRST + "\nword = words[:, 0]",
            ("[words[:, t], context]", "[word, context]"),
            (HEAD, HEAD + "\nword = self.embedding(logits[-1].argmax(dim=1))"),
        ),
        "target_shifted": [
            change("words[:, t]", "words[:, min(t + 1, words.shape[1] - 1)]"),
            change("words[:, t]", "words[:, max(t - 1, 0)]"),
            change("words[:, t]", "words[:, t - 1]"),
        ],
        "first_word_at_every_step": [change("words[:, t]", "words[:, 0]"), change("words[:, t]", "words[:, -1]")],
        **instead(
            RETURN,
            {
                "last_weights_as_one_step": "return torch.stack(logits, dim=1), alpha[:, None]",
                "last_step_as_one_step": "return logits[-1][:, None], weights[-1][:, None]",
            },
        ),
    },
    keeps=["one step"],
)
SPEC.mistakes(
    {
        "masked_after_softmax": change(
            ".masked_fill(~mask, -torch.inf)", "", (ALPHA, "alpha = torch.softmax(scores, dim=1) * mask")
        ),
        "masked_scores_are_zero": change("~mask, -torch.inf", "~mask, 0.0"),
        "mask_added_to_the_scores": change(".masked_fill(~mask, -torch.inf)", " + mask"),
        "keys_set_to_zero": change(
            "words, projected",
            "keys = keys * mask[:, :, None]\nwords, projected",
            (".masked_fill(~mask, -torch.inf)", ""),
        ),
    },
    keeps=["one step", "several steps"],
)
SPEC.mistakes(
    {
        "kept_from_an_earlier_call": [
            change(
                "words, projected = self.embedding(target_in), self.key(keys)",
                "words = self.embedding(target_in)\n"
                "if not hasattr(self, 'projected'):\n"
                "    self.projected = self.key(keys)\n"
                "projected = self.projected",
            ),
            change(FIRST, FIRST + "\nstate = getattr(self, 'state', state)", (RETURN, "self.state = state\n" + RETURN)),
        ],
    },
    keeps=["one step", "padded sources"],
)

SPEC.mistakes(
    {"masked_scores_not_low_enough": [change("-torch.inf", low) for low in ("-5.0", "-10.0")]},
    keeps=("one step", "several steps"),
)
SPEC.mistakes(
    {"squeezed_without_an_axis": change("self.score(hidden)[:, :, 0]", "self.score(hidden).squeeze()")},
    keeps=("one step", "padded sources"),
)


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
