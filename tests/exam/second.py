"""A second computation of every exam question, from the numbers that it gives.

It shares nothing with the solutions and the oracles: loops over single numbers, autograd or finite differences, and a
search through all sequences. `SECOND[name of the function in exam.py](given)` lists the answers in their order.
"""

from itertools import product
from math import exp, log, sqrt, tanh

import numpy as np
import torch


def _sigmoid(a):
    return 0.5 + 0.5 * tanh(a / 2)


def _softmax(scores):
    """Without a shift, one entry at a time."""
    return [1 / sum(exp(other - score) for other in scores) for score in scores]


def _times(vector, matrix):
    """A row times a matrix, by loops."""
    return [sum(v * row[j] for v, row in zip(vector, matrix, strict=True)) for j in range(len(matrix[0]))]


def _tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def bigrams(ids, alpha, string):
    text = "".join("abc"[i] for i in ids)
    seen = {a: dict.fromkeys("abc", 0) for a in "abc"}
    for start in range(len(text) - 1):
        seen[text[start]][text[start + 1]] += 1

    def p(i, j):
        return (seen["abc"[i]]["abc"[j]] + alpha) / sum(count + alpha for count in seen["abc"[i]].values())

    first, second = p(string[0], string[1]), p(string[1], string[2])
    return [*(", ".join(str(seen[a][b]) for b in "abc") for a in "abc"), first, second, first * second]


def perplexities(probs, vocab_size):
    product_ = 1.0
    for p in probs:
        product_ *= p
    found = product_ ** (-1 / len(probs))
    better = "the first model" if found < vocab_size else "the uniform model"
    return [log(found), found, vocab_size, better]


def softmaxes(logits, shift):
    found = _softmax(logits)
    assert np.allclose(_softmax([z + shift for z in logits]), found)
    return [*found, "stay the same"]


def one_step(x, h_prev, W_xh, W_hh, b_h):
    a = [i + s + b for i, s, b in zip(_times(x, W_xh), _times(h_prev, W_hh), b_h, strict=True)]
    return [*a, *map(tanh, a)]


def next_token(h, W_hy, b_y, tokens):
    logits = [z + b for z, b in zip(_times(h, W_hy), b_y, strict=True)]
    return [*logits, *_softmax(logits), f"*{tokens[max(range(3), key=logits.__getitem__)]}*"]


def parameters_ch01(D, H, V, T):
    inner = sum(1 for _ in product(range(D + H + 1), range(H)))
    return [inner, sum(1 for _ in product(range(H + 1), range(V))), "none"]


def two_steps(x, h, dh, W_hh):
    """Central differences of the loss in numbers that are added to the pre-activations, the first state and weights."""

    def loss(da_1, da_2, dh_1, dW_xh):
        first = [tanh(np.arctanh(h[0][j]) + da_1[j] + x[0] * dW_xh[j]) + dh_1[j] for j in range(2)]
        moved = _times([s - was for s, was in zip(first, h[0], strict=True)], W_hh)
        last = [tanh(np.arctanh(h[1][j]) + moved[j] + da_2[j] + x[1] * dW_xh[j]) for j in range(2)]
        return sum(d * s for d, s in zip([*dh[0], *dh[1]], [*first, *last], strict=True))

    def slopes(*names):
        found = []
        for j in range(2):
            ends = []
            for eps in (1e-5, -1e-5):
                moved = {name: [0.0, 0.0] for name in ("da_1", "da_2", "dh_1", "dW_xh")}
                for name in names:
                    moved[name][j] = eps
                ends.append(loss(**moved))
            found.append((ends[0] - ends[1]) / 2e-5)
        return found

    return [*slopes("da_2"), *slopes("dh_1"), *slopes("da_1", "da_2"), *slopes("dW_xh")]


def one_cut(h_0, h, dh, w):
    """Every path from the weight at step k to the state at step t, multiplied out."""

    def gradient(cuts):
        total = 0.0
        for k in range(3):
            for t in range(k, 3):
                if not any(k < cut <= t for cut in cuts):
                    path = [h_0, *h][k] * (1 - h[k] ** 2)
                    for s in range(k + 1, t + 1):
                        path *= w * (1 - h[s] ** 2)
                    total += dh[t] * path
        return total

    return [gradient([]), gradient([2])]


def at_the_logits(logits, targets):
    """Central differences of the loss."""

    def loss(z):
        return -sum(log(_softmax(row)[y]) for row, y in zip(z, targets, strict=True)) / 2

    found = []
    for t, v in product(range(2), range(3)):
        ends = []
        for eps in (1e-5, -1e-5):
            z = [list(row) for row in logits]
            z[t][v] += eps
            ends.append(loss(z))
        found.append((ends[0] - ends[1]) / 2e-5)
    return [*found, "0"]


def linear_case(W, dh):
    """Roots of the characteristic polynomial by the formula; gradients by a loop over all paths."""
    middle, rest = (W[0][0] + W[1][1]) / 2, W[0][0] * W[1][1] - W[0][1] * W[1][0]
    spread = sqrt(middle**2 - rest)
    large, small = sorted((middle - spread, middle + spread), key=abs, reverse=True)
    one = [sum(dh[j] * W[i][j] for j in range(2)) for i in range(2)]
    two = [sum(dh[k] * W[j][k] * W[i][j] for j, k in product(range(2), repeat=2)) for i in range(2)]
    return [large, small, abs(large), *one, *two, "explodes" if abs(large) > 1 else "vanishes"]


def steps_until(w, share, u, h):
    factor = u * (1 - h * h)

    def steps(each):
        left, k = 1.0, 0
        while left >= share:
            left, k = left * abs(each), k + 1
        return k

    return [steps(w), factor, steps(factor)]


def clipping(g, max_norm, limit):
    norm = torch.linalg.vector_norm(_tensor(g)).item()
    grads = [torch.nn.Parameter(torch.zeros(1, dtype=torch.float64)) for _ in range(3)]
    for parameter, each in zip(grads, g, strict=True):
        parameter.grad = _tensor([each])
    torch.nn.utils.clip_grad_norm_(grads, max_norm)
    return [norm, *(p.grad.item() for p in grads), *(sorted((-limit, x, limit))[1] for x in g), "clipping by norm"]


def lstm(x, h_prev, c_prev, W_x, W_h, b):
    i, f, g, o = (x * w + h_prev * u + bias for w, u, bias in zip(W_x, W_h, b, strict=True))
    i, f, g, o = _sigmoid(i), _sigmoid(f), tanh(g), _sigmoid(o)
    c = f * c_prev + i * g
    return [i, f, g, o, c, o * tanh(c)]


def gru(x, h_prev, W_x, W_h, b_x, b_h):
    (x_r, x_z, x_n), (h_r, h_z, h_n) = (
        [value * w + bias for w, bias in zip(W, biases, strict=True)]
        for value, W, biases in ((x, W_x, b_x), (h_prev, W_h, b_h))
    )
    r, z = _sigmoid(x_r + h_r), _sigmoid(x_z + h_z)
    n = tanh(x_n + r * h_n)
    return [r, z, n, n + z * (h_prev - n)]


def forgetting(f, bias):
    return [exp(sum(log(step[j]) for step in f)) for j in range(2)] + [(1 + exp(-bias)) ** -4]


def parameters_ch04(D, H):
    lstm_, gru_ = torch.nn.LSTMCell(D, H), torch.nn.GRUCell(D, H)
    whole = [sum(p.numel() for p in cell.parameters()) for cell in (lstm_, gru_)]
    return [whole[0] / 4, *whole]


def beams(probs, words):
    """All sequences with their probabilities; the beams of a step are the best of those that their own beams begin."""
    prefixes = [(), (0,), (1,), (0, 0), (0, 1), (1, 0), (1, 1)]
    table = dict(zip(prefixes, probs, strict=True))
    everything = {}  # for each step, all that can be written
    for t in (1, 2, 3):
        for ids in product(range(3), repeat=t):
            end = ids.index(2) + 1 if 2 in ids else t
            everything.setdefault(t, {})[ids[:end]] = np.prod([table[ids[:k]][ids[k]] for k in range(end)])
    answers, before = [], [()]
    for t in (1, 2, 3):
        begun = {i: p for i, p in everything[t].items() if i in before or (i[:-1] in before and len(i) == t)}
        before = sorted(begun, key=begun.get)[:-3:-1]
        for ids in before:
            answers += [f"*{' '.join(words[i] for i in ids)}*", begun[ids]]
    greedy = ()
    while 2 not in greedy:
        greedy = (*greedy, int(np.argmax(table[greedy])))
    return [*answers, f"*{' '.join(words[i] for i in greedy)}*", everything[3][greedy]]


def bleu_by_hand(candidate, reference):
    """Matches by crossing n-grams of the reference out, one by one."""
    precisions = []
    for n in (1, 2):
        left, matches = [reference[k : k + n] for k in range(len(reference) - n + 1)], 0
        own = [candidate[k : k + n] for k in range(len(candidate) - n + 1)]
        for gram in own:
            if gram in left:
                left.remove(gram)
                matches += 1
        precisions.append(matches / len(own))
    penalty = exp(min(0, 1 - len(reference) / len(candidate)))
    return [*precisions, penalty, penalty * sqrt(precisions[0] * precisions[1])]


def padded_loss(probs, lengths):
    losses = [[-log(p) for p in row[:length]] for row, length in zip(probs, lengths, strict=True)]
    flat = [each for row in losses for each in row]
    return [sum(flat) / len(flat), sum(sum(row) / len(row) for row in losses) / 2]


def looking_back(query, keys):
    scores = [sum(q * k for q, k in zip(query, key, strict=True)) for key in keys]
    weights = _softmax(scores)
    return [*scores, *weights, *_times(weights, keys)]


def causal(queries, keys, values):
    scores = [sum(q * k for q, k in zip(queries[1], key, strict=True)) / sqrt(len(key)) for key in keys[:2]]
    weights = _softmax(scores)
    return [*weights, 0, *_times(weights, values[:2])]


def scores_backward(weights, values, dc):
    """Central differences of c · dc in the scores; for the weights it is linear."""

    def loss(e):
        return sum(c * d for c, d in zip(_times(_softmax(e), values), dc, strict=True))

    de = []
    for j in range(3):
        ends = [loss([log(w) + (i == j) * eps for i, w in enumerate(weights)]) for eps in (1e-5, -1e-5)]
        de.append((ends[0] - ends[1]) / 2e-5)
    return [*(sum(v * d for v, d in zip(value, dc, strict=True)) for value in values), *de, "0"]


SECOND = {
    "ch00_sequences": [bigrams, perplexities, softmaxes],
    "ch01_vanilla_rnn": [one_step, next_token, parameters_ch01],
    "ch02_bptt": [two_steps, one_cut, at_the_logits],
    "ch03_gradients": [linear_case, steps_until, clipping],
    "ch04_gated": [lstm, gru, forgetting, parameters_ch04],
    "ch05_encoder_decoder": [beams, bleu_by_hand, padded_loss],
    "ch06_attention": [looking_back, causal, scores_backward],
}
