# %% [markdown]
# # A decoder that looks back
#
# The decoder of chapter 5 receives one context for the whole sentence.
# With **attention**, it computes a new context before every word: a weighted sum of the encoder's states, with
# weights that depend on what the decoder needs at this step.
# In this notebook you put a score, the softmax and the weighted sum together to one step of the decoder,
# and then measure whether a decoder looks at the right words.
# Allow about 40 minutes: 30 for the step and 10 for the measurement.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("attention_step")` asks you a question, `hint("attention_step", 2)` explains the idea,
# and `hint("attention_step", 3)` outlines the code.
#
# Read first, in the book: *A preview of attention › A decoder that looks back*.
#
# You wrote the step of a GRU in chapter 4, and `masked_softmax` and `attend` in the previous notebook.
# Here all three are given.

# %%
import numpy as np

from grader import check, hint, progress


def gru_cell(x_t, h_prev, W_x, W_h, b_x, b_h):
    """One step of a GRU: x_t (B, inputs), h_prev (B, H) -> the next state (B, H). Gates in the order r, z, n."""
    size = h_prev.shape[1]
    read, recalled = x_t @ W_x + b_x, h_prev @ W_h + b_h  # (B, 3H)
    gates = 0.5 + 0.5 * np.tanh(0.5 * (read + recalled)[:, : 2 * size])
    candidate = np.tanh(read[:, 2 * size :] + gates[:, :size] * recalled[:, 2 * size :])
    return candidate + gates[:, size:] * (h_prev - candidate)


def masked_softmax(scores, mask):
    """Scores and mask (B, S) -> weights (B, S): 0 where the mask is False, and 0 throughout if a row has no True."""
    weights = np.zeros(scores.shape)
    for row, real, of_row in zip(weights, mask, scores, strict=True):
        if real.any():
            shares = np.exp(of_row[real] - of_row[real].max())
            row[real] = shares / shares.sum()
    return weights


def attend(weights, values):
    """Weights (B, S), values (B, S, K) -> the weighted sums of the values (B, K)."""
    return np.einsum("bs,bsk->bk", weights, values)


# %% [markdown]
# ## One step with attention
#
# Write `attention_step`.
# The decoder has a state $s_{t-1}$ and is about to read the word $y_{t-1}$.
# The encoder's states $k_1, \dots, k_S$, one for each source word, are the **keys** and also the values.
# First, the decoder looks back: its *previous* state is the query, as in Bahdanau et al. (2015).
# A score compares the query with every key, a softmax over the real source words turns the scores into weights,
# and the weighted sum of the keys is the context of this step:
#
# $$e_{t,j} = \mathrm{score}(s_{t-1}, k_j) \qquad
# \alpha_t = \mathrm{softmax}(e_t) \text{ over the real words} \qquad
# c_t = \sum_j \alpha_{t,j}\, k_j$$
#
# Then the GRU reads the embedding of the word and the context, side by side, and so does the head with the new state:
#
# $$s_t = \mathrm{GRU}\big([E[y_{t-1}],\; c_t],\; s_{t-1}\big) \qquad z_t = [s_t,\; c_t]\, W_p + b_p$$
#
# The context is used twice. In the GRU it helps to update the state; in the head it can influence the next word
# directly. The order of the parts decides which rows of `W_x` and `W_p` they are multiplied with.
#
# | name | shape | what it is |
# |---|---|---|
# | `y_prev` | (B,), integers | the id of the previous word of each row |
# | `s_prev` | (B, H) | the previous state |
# | `keys` | (B, S, K) | the encoder's states, one for each source word, padded to S |
# | `mask` | (B, S), bools | True where there is a word, False where there is padding |
# | `E` | (V, D) | the table of embeddings |
# | `score` | a function | `score(query, keys)` takes (B, H) and (B, S, K) and returns the scores (B, S) |
# | `W_x` | (D + K, 3H) | weights of the GRU: D rows for the embedding, then K rows for the context |
# | `W_h`, `b_x`, `b_h` | (H, 3H), (3H,), (3H,) | the other weights of the GRU |
# | `W_p`, `b_p` | (H + K, V), (V,) | weights and bias of the head: H rows for the state, then K rows for the context |
# | result `logits` | (B, V) | the logits $z_t$ of the next word, without a softmax |
# | result `s` | (B, H) | the new state $s_t$ |
# | result `weights` | (B, S) | the weights $\alpha_t$, exactly 0 where the mask is False |
#
# `score` knows nothing of the mask: it returns a number for the padding too.
# If all keys of a row are masked, its weights are all 0, and so is its context. `masked_softmax` does this already.
#
# **A worked example.** One row (B = 1), three keys (S = 3) of which the last is padding, D = H = K = 1, V = 3.
# In this example, `score(query, keys)` is −1.60 · query · key.
# `y_prev` = [1], `s_prev` = [[−0.50]], `E` = [[0.00], [0.80], [−1.10]]; the keys are in the table below.
# `W_p` = [[−2.00, 0.50, 1.00], [1.50, −1.00, 0.70]], `b_p` = [0.10, −0.40, 0.30],
# and the weights of the GRU are those of chapter 5:
# `W_x` = [[0.70, −0.50, 1.20], [−0.40, 0.90, 0.60]], `W_h` = [[0.40, 0.60, −0.80]],
# `b_x` = [0.10, −0.20, 0.30], `b_h` = [−0.30, 0.25, 0.15].
#
# | key | real? | score | weight | weight · key |
# |---|---|---|---|---|
# | 0.90 | yes | −1.60 · (−0.50) · 0.90 = 0.72 | 0.77 | 0.69 |
# | −0.60 | yes | −0.48 | 0.23 | −0.14 |
# | 1.40 | no | 1.12 | 0.00 | 0.00 |
#
# The largest score belongs to the padding, and it does not count.
# The sum of the last column is the context, 0.55. So the GRU reads the row [0.80, 0.55] and moves the state from
# −0.50 to 0.28, and the head reads the row [0.28, 0.55].
# The logit of word 0, for example, is 0.28 · (−2.00) + 0.55 · 1.50 + 0.10, which gives 0.37 without rounding in
# between, and all three are [0.37, −0.81, 0.97]. (All entries are rounded; the code calculates with full precision.)
#
# This is the first case of the check.


# %% exercise="attention_step"
def attention_step(y_prev, s_prev, keys, mask, E, score, W_x, W_h, b_x, b_h, W_p, b_p):
    """One step of a decoder with attention, whose query is its previous state.

    y_prev (B,), s_prev (B, H), keys (B, S, K), mask (B, S), E (V, D), score(query, keys) -> (B, S), W_x (D + K, 3H),
    W_h (H, 3H), b_x (3H,), b_h (3H,), W_p (H + K, V), b_p (V,) -> logits (B, V), s (B, H), weights (B, S).
    """
    ### BEGIN SOLUTION
    weights = masked_softmax(score(s_prev, keys), mask)
    context = attend(weights, keys)  # (B, K)
    x = np.concatenate([E[y_prev], context], axis=1)  # (B, D + K)
    s = gru_cell(x, s_prev, W_x, W_h, b_x, b_h)
    logits = np.concatenate([s, context], axis=1) @ W_p + b_p
    return logits, s, weights
    ### END SOLUTION


# %% [markdown]
# ## Where the decoder looks
#
# Write `alignment_accuracy`.
# If we know which source word each target word translates, its **alignment**, we can ask whether the decoder looks
# there. For every target word, take the source word with the largest weight, and compare it with the alignment.
# The result is the share of the target words for which the two agree.
# Some target words translate no source word; their entry in `gold` is −1, and they are not counted, neither as right
# nor as wrong.
#
# | name | shape | what it is |
# |---|---|---|
# | `weights` | (T, S) | the weights of one sentence: row t was computed before target word t was written |
# | `gold` | (T,), integers | for each target word, the index of the source word that it translates, or −1 |
# | result `accuracy` | a number | a share between 0 and 1 |
#
# At least one entry of `gold` is not −1, and no row has two largest weights.
#
# **An example, half worked out.** Four target words, three source words.
#
# | target word | its weights | the largest is at | `gold` | counted? |
# |---|---|---|---|---|
# | 0 | 0.70, 0.20, 0.10 | 0 | 0 | right |
# | 1 | 0.15, 0.40, 0.45 | 2 | 1 | ? |
# | 2 | 0.05, 0.30, 0.65 | ? | −1 | ? |
# | 3 | 0.25, 0.60, 0.15 | ? | 1 | ? |
#
# Fill in the question marks. If you count 2 right ones among 3, you have the first case of the check.


# %% exercise="alignment_accuracy"
def alignment_accuracy(weights, gold):
    """The share of the aligned target words whose largest weight is at the word that they translate.

    weights (T, S), gold (T,), -1 for a word without alignment -> a number.
    """
    ### BEGIN SOLUTION
    aligned = gold != -1
    return np.mean(weights.argmax(axis=1)[aligned] == gold[aligned])
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## What the accuracy does not see
#
# The rest of this notebook is not graded.
# A decoder makes 200 steps. At each step, its state is similar to one of the eight keys, plus noise, so the
# index of this key is the alignment. The score is the dot product, multiplied by a factor.
# For three factors, the cell prints the mean of the largest weight of each step, and the alignment accuracy.
#
# With a factor of 0.01, the eight weights are nearly equal, so they are near 1/8. With a factor of 1, the largest is
# usually near 1.
# What do you expect of the accuracy? Make a guess, then run the cell.

# %% active="ipynb"
# rng = np.random.default_rng(0)
# B, S, H, V, D = 200, 8, 16, 5, 4
# keys = np.repeat(rng.normal(size=(1, S, H)), B, axis=0)
# gold = rng.integers(S, size=B)
# states = keys[np.arange(B), gold] + 1.5 * rng.normal(size=(B, H))
# E, W_x, W_h = rng.normal(size=(V, D)), rng.normal(size=(D + H, 3 * H)), rng.normal(size=(H, 3 * H))
# W_p, b, b_p = rng.normal(size=(2 * H, V)), np.zeros(3 * H), np.zeros(V)
# words, mask = rng.integers(V, size=B), np.ones((B, S), dtype=bool)
#
# try:
#     for factor in (0.01, 0.1, 1):
#
#         def score(query, keys):
#             return factor * np.einsum("bh,bsh->bs", query, keys)
#
#         _, _, weights = attention_step(words, states, keys, mask, E, score, W_x, W_h, b, b, W_p, b_p)
#         accuracy = alignment_accuracy(weights, gold)
#         print(f"factor {factor:4}: mean largest weight {weights.max(axis=1).mean():.2f}, accuracy {accuracy:.3f}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# The accuracy is the same each time: a positive factor changes how large the largest weight is, but not where it is.
# So an accuracy near 1 does not say that the context consists of one source word,
# and weights that look sharp in a picture do not say that they are right.
