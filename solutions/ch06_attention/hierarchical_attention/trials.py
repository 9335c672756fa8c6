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
        "word mask not used": ([(WORDS, "word_scores")], "true word_mask"),
        "sentence mask not used": (
            [(SENTENCES, "sentence_scores")],
            "sentence_mask_not_used For sentence_weights and document",
        ),
        "word mask inverted": ([("np.where(word_mask, word", "np.where(~word_mask, word")], "inverted word_mask"),
        "W_w for both": ([("sentences @ W_s", "sentences @ W_w")], None),
        "queries exchanged": ([("@ u_w", "@ u_s")], None),
        "scaled": ([(WORD_SCORES, f"{WORD_SCORES} / np.sqrt(W_w.shape[1])")], None),
        "sigmoid": ([("np.tanh(states @ W_w)", "1 / (1 + np.exp(-(states @ W_w)))")], None),
        "mean of the weights": ([(DOCUMENT, "sentences.mean(axis=1)")], None),
        "sum over the entries": ([(SUM, "(word_weights[..., None] * states).sum(axis=3)")], None),
        "float32": ([("states @ W_w", "states.astype('f4') @ W_w.astype('f4')")], None),
    }
)


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
