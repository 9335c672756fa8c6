"""Programs that the spec of `hierarchical_attention` does not contain; beside each wrong one is what it is told."""

import numpy as np
import torch

from grader.spec.trials import Trials
from solutions.ch06_attention.building_blocks import softmax

TRIALS = Trials()

WORD_SCORES = "np.tanh(states @ W_w) @ u_w"
WORDS, SENTENCES = "np.where(word_mask, word_scores, -np.inf)", "np.where(sentence_mask, sentence_scores, -np.inf)"
SUM = "(word_weights[..., None] * states).sum(axis=2)"
DOCUMENT = "(sentence_weights[..., None] * sentences).sum(axis=1)"


@TRIALS.wrong("one_softmax_over_all_words")
def flat(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    B, S, T, H = states.shape
    words = states.reshape(B, S * T, H)
    scores = np.tanh(words @ W_w) @ u_w
    alpha = softmax(np.where(word_mask.reshape(B, S * T), scores, -np.inf))
    alpha = alpha.reshape(B, S, T)
    s = np.einsum("bst,bsth->bsh", alpha, states)
    beta = softmax(np.where(sentence_mask, np.tanh(s @ W_s) @ u_s, -np.inf))
    return np.einsum("bs,bsh->bh", beta, s), alpha, beta


@TRIALS.wrong("projected_states_summed")
def projected_words(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    hidden = np.tanh(states @ W_w)
    alpha = softmax(np.where(word_mask, hidden @ u_w, -np.inf))
    s = (alpha[..., None] * hidden).sum(2)
    hidden = np.tanh(s @ W_s)
    beta = softmax(np.where(sentence_mask, hidden @ u_s, -np.inf))
    return (beta[..., None] * s).sum(1), alpha, beta


@TRIALS.wrong("sentence_mask_not_used")
def one_mask(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    alpha = softmax(np.where(word_mask, np.tanh(states @ W_w) @ u_w, -np.inf))
    s = (alpha[..., None] * states).sum(2)
    real = word_mask.sum(axis=2) > 0
    beta = softmax(np.where(real, np.tanh(s @ W_s) @ u_s, -np.inf))
    return (beta[..., None] * s).sum(1), alpha, beta


@TRIALS.wrong("nothing_is_not_a_number", earns=["word_weights", "sentence_weights", "document"])
def own_softmax(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    def soft(e):
        e = np.exp(e - e.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    alpha = soft(np.where(word_mask, np.tanh(states @ W_w) @ u_w, -np.inf))
    s = (alpha[..., None] * states).sum(2)
    beta = soft(np.where(sentence_mask, np.tanh(s @ W_s) @ u_s, -np.inf))
    return (beta[..., None] * s).sum(1), alpha, beta


@TRIALS.wrong("empty_sentence_attends")
def minus_a_billion(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    alpha = softmax(np.tanh(states @ W_w) @ u_w - 1e9 * ~word_mask)
    s = (alpha[..., None] * states).sum(2)
    beta = softmax(np.tanh(s @ W_s) @ u_s - 1e9 * ~sentence_mask)
    return (beta[..., None] * s).sum(1), alpha, beta


TRIALS.all_wrong(
    {
        "word mask not used": ([(WORDS, "word_scores")], "word_mask_not_used"),
        "sentence mask not used": (
            [(SENTENCES, "sentence_scores")],
            "sentence_mask_not_used For document",
        ),
        "word mask inverted": ([("np.where(word_mask, word", "np.where(~word_mask, word")], "word_mask_inverted"),
        "W_w for both": ([("sentences @ W_s", "sentences @ W_w")], None),
        "queries exchanged": ([("@ u_w", "@ u_s")], None),
        "scaled": ([(WORD_SCORES, f"{WORD_SCORES} / np.sqrt(W_w.shape[1])")], "word_scores_divided"),
        "sigmoid": ([("np.tanh(states @ W_w)", "1 / (1 + np.exp(-(states @ W_w)))")], "another_function_for_tanh"),
        "mean of the weights": ([(DOCUMENT, "sentences.mean(axis=1)")], "sentences_averaged"),
        "sum over the entries": ([(SUM, "(word_weights[..., None] * states).sum(axis=3)")], None),
        "float32": ([("states @ W_w", "states.astype('f4') @ W_w.astype('f4')")], None),
    }
)

HEAD = """
def plain(z):
    z = np.exp(z - z.max(-1, keepdims=True))
    return z / z.sum(-1, keepdims=True)

def hierarchical_attention(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
"""
BODY = """
    e = np.tanh(states @ W_w) @ u_w
    alpha = softmax(np.where(word_mask, e, -np.inf))
    s = (alpha[..., None] * states).sum(axis=2)
    f = np.tanh(s @ W_s) @ u_s
    beta = softmax(np.where(sentence_mask, f, -np.inf))
    c = (beta[..., None] * s).sum(axis=1)
    return c, alpha, beta
"""


def changed(pairs):
    """The program of the blind trial with other texts in it."""
    text = BODY
    for was, becomes in pairs:
        assert was in text, was
        text = text.replace(was, becomes)
    return HEAD + text


# What a blind trial wrote.
TRIALS.all_wrong(
    {
        "word mask forgotten": ([("np.where(word_mask, e, -np.inf)", "e")], "word_mask_not_used"),
        "both masks forgotten": (
            [("np.where(word_mask, e, -np.inf)", "e"), ("np.where(sentence_mask, f, -np.inf)", "f")],
            "word_mask_not_used",
        ),
        "exchanged in np.where": ([("e, -np.inf", "-np.inf, e")], "word_mask_inverted"),
        "both masks inverted": (
            [("e, -np.inf", "-np.inf, e"), ("beta = softmax(np.where(", "beta = softmax(np.where(~")],
            "word_mask_inverted",
        ),
        "tanh on states before W": ([(" @ W_w)", ") @ W_w")], "tanh_before_W_w"),
        "document sum over axis 2": ([("1", "2")], "summed_over_the_entries"),
        "document sum over last axis": ([(" s).sum(axis=", " s).sum(-")], "summed_over_the_entries"),
        "scores scaled by sqrt A, C": (
            [("u_w", "u_w / np.sqrt(len(u_w))"), ("u_s", "u_s / np.sqrt(len(u_s))")],
            "word_scores_divided",
        ),
        "word scores scaled by sqrt H": ([("u_w", "u_w / np.sqrt(states.shape[-1])")], "word_scores_divided"),
        "scores returned": ([("alpha, beta", "e, f")], "scores_returned"),
        "second level with W_w": ([("W_s) @ u_s", "W_w) @ u_w")], "weights_of_the_words_for_the_sentences"),
        "first level with W_s": ([("W_w) @ u_w", "W_s) @ u_s")], "weights_of_the_other_level"),
        "W's swapped": (
            [("W_w) @ u_w", "W_s) @ u_s"), ("(s @ W_s) @ u_s", "(s @ W_w) @ u_w")],
            "weights_of_the_other_level",
        ),
        "sentence scored by mean of states": ([("f = np.tanh(s", "f = np.tanh(states.mean(axis=2)")], None),
        "document is plain sum of sentences": ([("(beta[..., None] * s)", "s")], "sentences_summed_without_weights"),
        "document is mean of sentences": ([("(beta[..., None] * s).sum", "s.mean")], "sentences_averaged"),
        "own softmax NaN words, nan_to_num on s only": (
            [
                ("alpha = softmax", "alpha = plain"),
                ("(alpha[..., None] * states).sum(axis=2", "np.nan_to_num((alpha[..., None] * states).sum(axis=2)"),
            ],
            "nothing_is_not_a_number",
        ),
        "mask then renorm, 0/0": (
            [
                (
                    "softmax(np.where(word_mask, e, -np.inf)",
                    "np.exp(e) * word_mask\n    alpha = alpha / alpha.sum(-1, keepdims=True",
                ),
                (
                    "softmax(np.where(sentence_mask, f, -np.inf)",
                    "np.exp(f) * sentence_mask\n    beta = beta / beta.sum(-1, keepdims=True",
                ),
            ],
            "nothing_is_not_a_number",
        ),
        "sigmoid weights": (
            [
                ("softmax(np.where(word_mask, e, -np.inf", "word_mask / (1 + np.exp(-e"),
                ("softmax(np.where(sentence_mask, f, -np.inf", "sentence_mask / (1 + np.exp(-f"),
            ],
            "word_weights_without_a_softmax",
        ),
        "exp without normalising": (
            [
                ("softmax(np.where(word_mask, e, -np.inf))", "np.exp(e) * word_mask"),
                ("softmax(np.where(sentence_mask, f, -np.inf))", "np.exp(f) * sentence_mask"),
            ],
            "word_weights_without_a_softmax",
        ),
        "linear normalising no exp": (
            [
                (
                    "softmax(np.where(word_mask, e, -np.inf))",
                    "e * word_mask\n    n = alpha.sum(-1, keepdims=True)\n    alpha = alpha / np.where(n == 0, 1, n)",
                )
            ],
            "word_weights_without_a_softmax",
        ),
        "mask of document 0 for all": (
            [("word_mask", "word_mask[0]"), ("sentence_mask", "sentence_mask[0]")],
            "first_sequence_only",
        ),
        "first n sentences, as many as allowed": (
            [("np.where(sentence_mask", "np.where(np.arange(f.shape[1]) < sentence_mask.sum(1, keepdims=True)")],
            "sentence_mask_used_as_a_length",
        ),
        "first n words": (
            [
                (
                    "alpha = softmax(np.where(word_mask",
                    "n = word_mask.sum(axis=2, keepdims=True)\n    alpha = softmax(np.where(np.arange(e.shape[2]) < n",
                )
            ],
            "word_mask_used_as_a_length",
        ),
        "u added inside tanh": (
            [(") @ u_w", " + u_w).sum(-1)"), (") @ u_s", " + u_s).sum(-1)")],
            "u_w_before_the_tanh",
        ),
        "u inside tanh, times": ([(") @ u_w", " * u_w).sum(-1)")], "u_w_before_the_tanh"),
        "relu for tanh": (
            [("tanh(states @ W_w", "maximum(states @ W_w, 0"), ("tanh(s @ W_s", "maximum(s @ W_s, 0")],
            "another_function_for_tanh",
        ),
        "sentences returned instead of document": ([("return c", "return s")], "sentences_returned"),
        "values from padding zeroed in place": ([("    e", "    states[~word_mask] = 0\n    e")], None),
        "masks inverted in place": (
            [("alpha = softmax(np.where(", "np.logical_not(word_mask, out=word_mask)\n    alpha = softmax(np.where(~")],
            None,
        ),
        "states changed in place": (
            [("s = (alpha[..., None] * states)", "states *= alpha[..., None]\n    s = states")],
            None,
        ),
        "extra one in denominator": (
            [
                (
                    "alpha = softmax(np.where(word_mask, e, -np.inf",
                    "p = np.exp(e) * word_mask\n    alpha = p / (1 + p.sum(-1, keepdims=True",
                ),
                (
                    "beta = softmax(np.where(sentence_mask, f, -np.inf",
                    "p = np.exp(f) * sentence_mask\n    beta = p / (1 + p.sum(-1, keepdims=True",
                ),
            ],
            "another_denominator_for_words",
        ),
        "sentence scored before sum: words' score average": (
            [("np.tanh(s @ W_s) @ u_s", "(alpha * (np.tanh(states @ W_s) @ u_s)).sum(-1)")],
            "sentence_weights_from_word_scores",
        ),
        "word mask as any over sentence -> padded sentence ignoring mask inside": (
            [("word_mask", "word_mask.any(-1, keepdims=True)")],
            "whole_sentences_masked_for_words",
        ),
        "sentence vector normalised by tanh": (
            [("(alpha[..., None] * states).sum(axis=2", "np.tanh((alpha[..., None] * states).sum(axis=2)")],
            None,
        ),
        "sentence mask for the words": (
            [("word_mask", "sentence_mask[..., None]")],
            "whole_sentences_masked_for_words",
        ),
        "sentence mask for words, word any for sentences": (
            [
                ("word_mask", "sentence_mask[..., None]"),
                ("beta = softmax(np.where(sentence_mask", "beta = softmax(np.where(word_mask.any(-1)"),
            ],
            "whole_sentences_masked_for_words",
        ),
        "sentence mask from word_mask.all": ([("sentence_mask", "word_mask.all(axis=-1)")], None),
        "scaled both by sqrt H": (
            [("u_w", "u_w / np.sqrt(states.shape[-1])"), ("u_s", "u_s / np.sqrt(s.shape[-1])")],
            "word_scores_divided",
        ),
        "sentence scores scaled by sqrt C": ([("u_s", "u_s / np.sqrt(len(u_s))")], "sentence_scores_divided"),
        "u_s inside times": ([(") @ u_s", " * u_s).sum(-1)")], "u_s_before_the_tanh"),
        "tanh twice": ([("states @ W_w) @ u_w", "np.tanh(states @ W_w) @ u_w)")], "second_tanh"),
        "mean over A in place of dot sum": (
            [("np.tanh(states @ W_w) @ u_w", "(np.tanh(states @ W_w) * u_w).mean(-1)")],
            "word_scores_divided",
        ),
        "states scored: dot score without W (norm)": (
            [("f = np.tanh(s", "f = np.tanh((s / np.maximum(np.linalg.norm(s, axis=-1, keepdims=True), 1e-9))")],
            None,
        ),
        "sentence weights from sum of alpha": (
            [("np.tanh(s @ W_s) @ u_s", "(alpha * e).sum(-1)")],
            "sentence_weights_from_word_scores",
        ),
        "document = beta times mean of words": (
            [
                (
                    "c = (beta[..., None] * s)",
                    "n = np.maximum(word_mask.sum(2), 1)\n    s = (states * word_mask[..., None]).sum(2)\n"
                    "    c = ((beta / n)[..., None] * s)",
                )
            ],
            "words_weighted_by_sentences_only",
        ),
        "document divided by number of sentences allowed": (
            [(" s).sum(axis=", " s).sum(1) / np.maximum(sentence_mask.sum(1, keepdims=True), ")],
            "mean_in_place_of_the_sum_of_sentences",
        ),
        "softmax axis: S from A confusion: softmax over docs for words": (
            [("e, -np.inf)", "e, -np.inf).transpose(1, 2, 0)).transpose(2, 0, 1")],
            "word_softmax_over_the_documents",
        ),
        "max not finite: own softmax with max of real only 0/0 guarded with 1 for everything": (
            [
                (
                    "alpha = softmax(np.where(word_mask, e, -np.inf)",
                    "p = np.exp(e) * word_mask\n    alpha = p / np.maximum(p.sum(-1, keepdims=True), 1",
                )
            ],
            "another_denominator_for_words",
        ),
        "eps 1e-3": (
            [
                (
                    "alpha = softmax(np.where(word_mask, e, -np.inf)",
                    "p = np.exp(e) * word_mask\n    alpha = p / (p.sum(-1, keepdims=True) + 1e-3",
                )
            ],
            "another_denominator_for_words",
        ),
        "NaN everywhere: s nan_to_num only; weights too in sentences": (
            [
                (
                    "softmax(np.where(word_mask, e, -np.inf))",
                    "np.exp(np.where(word_mask, e, -np.inf))\n    alpha = alpha / alpha.sum(-1, keepdims=True)",
                ),
                ("(alpha[..., None] * states).sum(axis=2)", "np.nan_to_num((alpha[..., None] * states).sum(axis=2))"),
            ],
            "nothing_is_not_a_number",
        ),
        "weights of padding left (returned unmasked), s right": (
            [("alpha, beta", "softmax(e), softmax(f)")],
            "unmasked_weights_returned",
        ),
        "list [c, alpha, beta] in dict": (
            [("c, alpha, beta", "dict(document=c, word_weights=alpha, sentence_weights=beta)")],
            None,
        ),
        "s also returned": ([("c, ", "c, s, ")], None),
    },
    make=changed,
)


@TRIALS.wrong()
def loop_raises_on_an_empty_sentence(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    B, S, T, H = states.shape
    ww, s = np.zeros((B, S, T)), np.zeros((B, S, H))
    for b in range(B):
        for i in range(S):
            m = word_mask[b, i]
            e = np.tanh(states[b, i][m] @ W_w) @ u_w
            p = np.exp(e - e.max())
            ww[b, i, m] = p / p.sum()
            s[b, i] = ww[b, i] @ states[b, i]
    f = np.where(sentence_mask, np.tanh(s @ W_s) @ u_s, -np.inf)
    sw = softmax(f)
    return np.einsum("bs,bsh->bh", sw, s), ww, sw


@TRIALS.wrong("sentences_summed_without_weights")
def einsum_weights_of_wrong_index(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    e = np.einsum("bsta,a->bst", np.tanh(states @ W_w), u_w)
    alpha = softmax(np.where(word_mask, e, -np.inf))
    s = np.einsum("bst,bsth->bsh", alpha, states)
    f = np.einsum("bsc,c->bs", np.tanh(s @ W_s), u_s)
    beta = softmax(np.where(sentence_mask, f, -np.inf))
    return np.einsum("bs,bkh->bh", beta, s), alpha, beta


@TRIALS.right
def with_torch(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    h, W_w, u_w, W_s, u_s = (torch.from_numpy(a) for a in (states, W_w, u_w, W_s, u_s))
    words, sentences = torch.from_numpy(word_mask), torch.from_numpy(sentence_mask)
    e = (torch.tanh(h @ W_w) @ u_w).masked_fill(~words, float("-inf"))
    alpha = torch.softmax(e, -1).nan_to_num(0)
    s = torch.einsum("bst,bsth->bsh", alpha, h)
    beta = torch.softmax((torch.tanh(s @ W_s) @ u_s).masked_fill(~sentences, float("-inf")), -1).nan_to_num(0)
    return torch.einsum("bs,bsh->bh", beta, s).numpy(), alpha.numpy(), beta.numpy()


@TRIALS.right
def flattened(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    B, S, T, H = states.shape
    rows = states.reshape(B * S, T, H)
    alpha = softmax(np.where(word_mask.reshape(B * S, T), np.tanh(rows @ W_w) @ u_w, -np.inf))
    s = np.matmul(alpha[:, None], rows)[:, 0].reshape(B, S, H)
    beta = softmax(np.where(sentence_mask, np.tanh(s @ W_s) @ u_s, -np.inf))
    return np.matmul(beta[:, None], s)[:, 0], alpha.reshape(B, S, T), beta


@TRIALS.right
def einsum(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    e = np.einsum("bsta,a->bst", np.tanh(np.einsum("bsth,ha->bsta", states, W_w)), u_w)
    e[~word_mask] = -np.inf
    alpha = softmax(e)
    s = np.einsum("bst,bsth->bsh", alpha, states)
    f = np.einsum("bsc,c->bs", np.tanh(np.einsum("bsh,hc->bsc", s, W_s)), u_s)
    f[~sentence_mask] = -np.inf
    beta = softmax(f)
    return np.einsum("bs,bsh->bh", beta, s), alpha, beta


@TRIALS.right
def multiply_and_renormalise(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    p = np.exp(np.tanh(states @ W_w) @ u_w) * word_mask
    n = p.sum(-1, keepdims=True)
    alpha = np.divide(p, n, out=np.zeros_like(p), where=n > 0)
    s = np.sum(alpha[:, :, :, np.newaxis] * states, axis=-2)
    p = np.exp(np.tanh(s @ W_s) @ u_s) * sentence_mask
    n = p.sum(-1, keepdims=True)
    beta = np.divide(p, n, out=np.zeros_like(p), where=n > 0)
    return np.sum(beta[:, :, np.newaxis] * s, axis=-2), alpha, beta


@TRIALS.right
def minus_a_billion_then_mask(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    alpha = softmax(np.where(word_mask, np.tanh(states @ W_w) @ u_w, -1e9)) * word_mask
    s = (states * alpha[..., None]).sum(2)
    beta = softmax(np.where(sentence_mask, np.tanh(s @ W_s) @ u_s, -1e9)) * sentence_mask
    return (s * beta[..., None]).sum(1), alpha, beta


def sm(z):
    z = np.exp(z - z.max(-1, keepdims=True))
    return z / z.sum(-1, keepdims=True)


@TRIALS.right
def own_softmax_nan_to_num(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    with np.errstate(invalid="ignore"):
        alpha = np.nan_to_num(sm(np.where(word_mask, np.tanh(states @ W_w) @ u_w, -np.inf)))
        s = np.matmul(alpha[:, :, None, :], states).squeeze(2)
        beta = np.nan_to_num(sm(np.where(sentence_mask, np.tanh(s @ W_s) @ u_s, -np.inf)))
    return np.matmul(beta[:, None, :], s).squeeze(1), alpha, beta


@TRIALS.right
def global_maximum(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    e = np.tanh(states @ W_w) @ u_w
    p = np.exp(e - e.max()) * word_mask
    alpha = p / np.where(p.sum(-1, keepdims=True) > 0, p.sum(-1, keepdims=True), 1)
    s = (alpha[..., None] * states).sum(2)
    f = np.tanh(s @ W_s) @ u_s
    p = np.exp(f - f.max()) * sentence_mask
    beta = p / np.where(p.sum(-1, keepdims=True) > 0, p.sum(-1, keepdims=True), 1)
    return (beta[..., None] * s).sum(1), alpha, beta


@TRIALS.right
def log_of_the_mask(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    with np.errstate(divide="ignore"):
        alpha = softmax(np.tanh(states @ W_w) @ u_w + np.log(word_mask.astype(float)))
        s = (alpha[..., None] * states).sum(2)
        beta = softmax(np.tanh(s @ W_s) @ u_s + np.log(sentence_mask.astype(float)))
    return (beta[..., None] * s).sum(1), alpha, beta


@TRIALS.right
def weights_of_words_in_the_document(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    alpha = softmax(np.where(word_mask, np.tanh(states @ W_w) @ u_w, -np.inf))
    s = np.einsum("bst,bsth->bsh", alpha, states)
    beta = softmax(np.where(sentence_mask, np.tanh(s @ W_s) @ u_s, -np.inf))
    return np.einsum("bst,bsth->bh", alpha * beta[..., None], states), alpha, beta


@TRIALS.right
def copies_masked_arrays(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    def pool(x, mask, W, u):
        e = np.ma.array(np.tanh(x @ W) @ u, mask=~mask)
        p = np.ma.exp(e - e.max(axis=-1, keepdims=True)).filled(0.0)
        t = p.sum(-1, keepdims=True)
        t[t == 0] = 1
        return p / t

    a = pool(states, word_mask, W_w, u_w)
    s = (a[..., None] * states).sum(-2)
    b = pool(s, sentence_mask, W_s, u_s)
    return (b[..., None] * s).sum(-2), a, b


@TRIALS.right
def list_comprehensions_list_result(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    a = [
        [softmax(np.where(m, np.tanh(x @ W_w) @ u_w, -np.inf)) for x, m in zip(d, dm, strict=True)]
        for d, dm in zip(states, word_mask, strict=True)
    ]
    s = np.array([[w @ x for w, x in zip(aw, d, strict=True)] for aw, d in zip(a, states, strict=True)])
    b = np.array([softmax(np.where(m, np.tanh(v @ W_s) @ u_s, -np.inf)) for v, m in zip(s, sentence_mask, strict=True)])
    return np.array([w @ v for w, v in zip(b, s, strict=True)]), np.array(a), b


@TRIALS.right
def logsumexp(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    def lse(e, m):
        with np.errstate(all="ignore"):
            z = np.logaddexp.reduce(np.where(m, e, -np.inf), axis=-1, keepdims=True)
            return np.where(m, np.exp(e - np.where(np.isfinite(z), z, 0)), 0.0)

    a = lse(np.tanh(states @ W_w) @ u_w, word_mask)
    s = (a[..., None] * states).sum(2)
    b = lse(np.tanh(s @ W_s) @ u_s, sentence_mask)
    return (b[..., None] * s).sum(1), a, b


@TRIALS.right
def eps_in_the_denominator(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    e = np.tanh(states @ W_w) @ u_w
    p = np.exp(e - e.max(-1, keepdims=True)) * word_mask
    a = p / (p.sum(-1, keepdims=True) + 1e-12)
    s = (a[..., None] * states).sum(2)
    f = np.tanh(s @ W_s) @ u_s
    p = np.exp(f - f.max(-1, keepdims=True)) * sentence_mask
    b = p / (p.sum(-1, keepdims=True) + 1e-12)
    return (b[..., None] * s).sum(1), a, b


@TRIALS.right
def eps_1e_12_exp_without_max(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    p = np.exp(np.tanh(states @ W_w) @ u_w) * word_mask
    a = p / (p.sum(-1, keepdims=True) + 1e-12)
    s = (a[..., None] * states).sum(2)
    p = np.exp(np.tanh(s @ W_s) @ u_s) * sentence_mask
    b = p / (p.sum(-1, keepdims=True) + 1e-12)
    return (b[..., None] * s).sum(1), a, b


@TRIALS.right
def eps_1e_9_real_max(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    def sm(e, m):
        e = np.where(m, e, -1e30)
        p = np.exp(e - e.max(-1, keepdims=True)) * m
        return p / (p.sum(-1, keepdims=True) + 1e-9)

    a = sm(np.tanh(states @ W_w) @ u_w, word_mask)
    s = (a[..., None] * states).sum(2)
    b = sm(np.tanh(s @ W_s) @ u_s, sentence_mask)
    return (b[..., None] * s).sum(1), a, b


@TRIALS.right
def renormalise_given_softmax_where_sum_0(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    def sm(e, m):
        w = softmax(e) * m
        t = w.sum(-1, keepdims=True)
        return w / np.where(t == 0, 1, t)

    a = sm(np.tanh(states @ W_w) @ u_w, word_mask)
    s = (a[..., None] * states).sum(2)
    b = sm(np.tanh(s @ W_s) @ u_s, sentence_mask)
    return (b[..., None] * s).sum(1), a, b
