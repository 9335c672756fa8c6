# %% [markdown]
# # Attention as a building block
#
# A softmax and a weighted sum can be put together in other ways than in a decoder that looks back.
# In this notebook you build two of them: **hierarchical attention**, which reads a document in two levels, words and
# sentences, and the block of a **transformer's decoder**, with self-attention and cross-attention.
# Allow about 55 minutes: 25 for the first exercise and 30 for the second.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("hierarchical_attention")` asks you a question, `hint("hierarchical_attention", 2)` explains the idea,
# and `hint("hierarchical_attention", 3)` outlines the code.
#
# Read first, in the book: *A preview of attention › Several heads, and what attention costs*, and *A preview of
# attention › The transformer* for the last exercise.
#
# Three functions are given, which you may use but need not. The softmax is that of the notebook *Self-attention*: a
# score of `-np.inf` gets the weight 0, and if all scores of a row are `-np.inf`, all its weights are 0.
# `layer_norm` has no gain and no bias, which the one of PyTorch has. `heads` has no matrices: it takes queries, keys
# and values that are computed already, and what it returns has not been multiplied by $W_o$.

# %%
import numpy as np

from grader import check, hint, progress


def softmax(scores):
    """The softmax along the last axis. A score of -inf gets weight 0; a row of nothing else gets zeros only."""
    largest = np.maximum(scores.max(axis=-1, keepdims=True), -1e300)  # finite, so there is no -inf - (-inf)
    powers = np.exp(scores - largest)
    return powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1)  # the largest power is 1, unless all are 0


def layer_norm(x):
    """Give the numbers of each position, the last axis, mean 0 and variance 1."""
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)


def heads(q, k, v, num_heads, mask):
    """Queries q (B, T, D), keys k and values v (B, S, D) -> the outputs of all heads, side by side (B, T, D).

    mask (T, S) or (B, 1, S) or (B, T, S) bool, True where a query may attend to a key.
    """
    outputs, own = np.zeros(q.shape), np.arange(q.shape[2]).reshape(num_heads, -1)
    for columns in own:  # of one head
        scores = np.einsum("btd,bsd->bts", q[..., columns], k[..., columns]) / np.sqrt(len(columns))
        outputs[..., columns] = softmax(np.where(mask, scores, -np.inf)) @ v[..., columns]
    return outputs


# %% [markdown]
# ## Words, then sentences
#
# Write `hierarchical_attention`.
# A document is a list of sentences, and a sentence is a list of words.
# Hierarchical attention makes one vector of it in two levels: each sentence becomes a weighted sum of its words,
# and the document becomes a weighted sum of its sentences.
# No decoder asks here, so the query of each level is a vector of its own that is learned, $u_w$ for words and $u_s$ for
# sentences. The score is the additive one, in which $u_w$ takes the place of the vector with which the tanh is
# multiplied; nothing is added inside the tanh, because there is no other query.
# With $h_{i,t}$ for the state of word $t$ in sentence $i$, the first level is
#
# $$e_{i,t} = \tanh(h_{i,t} W_w) \cdot u_w \qquad
# \alpha_{i,t} = \frac{\exp(e_{i,t})}{\sum_{k} \exp(e_{i,k})} \qquad
# s_i = \sum_{t} \alpha_{i,t}\, h_{i,t}$$
#
# where the sums run over the real words of sentence $i$ only, and the second level is
#
# $$e_i = \tanh(s_i W_s) \cdot u_s \qquad
# \beta_i = \frac{\exp(e_i)}{\sum_{k} \exp(e_k)} \qquad
# c = \sum_{i} \beta_i\, s_i$$
#
# where the sums run over the sentences of the document that may be attended to.
#
# | name | shape | what it is |
# |---|---|---|
# | `states` | (B, S, T, H) | B documents of S sentences of T words; the state of each word |
# | `word_mask` | (B, S, T), of type `bool` | `True` where there is a real word; padding may stand anywhere |
# | `sentence_mask` | (B, S), of type `bool` | `True` where the sentence may be attended to; it has a real word then |
# | `W_w`, `u_w` | (H, A), (A,) | the weights of the words' score |
# | `W_s`, `u_s` | (H, C), (C,) | the weights of the sentences' score |
# | result `document` | (B, H) | the vector $c$ of each document |
# | result `word_weights` | (B, S, T) | the weights $\alpha$: those of a sentence sum to 1, or are all 0 |
# | result `sentence_weights` | (B, S) | the weights $\beta$: those of a document sum to 1, or are all 0 |
#
# Return all three results, in this order. Weights are all 0 where there is nothing to attend to (see below).
#
# **An example, half worked out.** One document (B = 1) of two sentences (S = 2) and up to three words (T = 3), with
# H = 2, A = 2 and C = 1. The second sentence has two words only.
#
# - `W_w` = [[1.20, −0.60], [0.50, 0.90]] and `u_w` = [2.00, −1.00]
# - `W_s` = [[0.80], [−1.10]] and `u_s` = [1.80]
#
# | sentence | word | state | score | weight | vector $s_i$ of the sentence |
# |---|---|---|---|---|---|
# | 0 | 0 | 0.70, −0.45 | 1.77 | 0.59 | |
# | 0 | 1 | −0.50, 0.85 | −1.13 | 0.03 | |
# | 0 | 2 | 0.90, 1.30 | 1.32 | 0.38 | 0.74, 0.25 |
# | 1 | 0 | −1.10, 0.60 | −2.37 | ? | |
# | 1 | 1 | 0.30, −0.80 | ? | ? | |
# | 1 | 2 | 1.50, 0.35 *(padding)* | | 0 | ?, ? |
#
# The vector of a sentence is the sum of its states, each times its weight; it stands in the line of the last word.
# The padding word has a state too, which must not reach any result.
# The sentences have the scores 0.55 and 1.37, so the first one gets the weight 0.31.
# Fill in the question marks, and then compute the document; its first number is 0.39.
# (All entries are rounded; the code calculates with full precision.)
#
# **Edge cases.** A sentence without any real word has no weights to give: the weights of its words are all 0, so its
# vector is 0, and `sentence_mask` is `False` there. If `sentence_mask` is `False` for all sentences of a document, the
# weights of its sentences and its vector are all 0. A sentence that has words but may not be attended to (a headline,
# for example) has weights of words like any other.
#
# This example is the first case of the check. Which axis does each of the four sums run over?


# %% exercise="hierarchical_attention"
def hierarchical_attention(states, word_mask, sentence_mask, W_w, u_w, W_s, u_s):
    """A vector for each document: a weighted sum of its sentences, which are weighted sums of their words.

    states (B, S, T, H), word_mask (B, S, T) bool, sentence_mask (B, S) bool, W_w (H, A), u_w (A,), W_s (H, C), u_s (C,)
    -> document (B, H), word_weights (B, S, T), sentence_weights (B, S).
    """
    ### BEGIN SOLUTION
    word_scores = np.tanh(states @ W_w) @ u_w  # (B, S, T)
    word_weights = softmax(np.where(word_mask, word_scores, -np.inf))
    sentences = (word_weights[..., None] * states).sum(axis=2)  # (B, S, H)
    sentence_scores = np.tanh(sentences @ W_s) @ u_s  # (B, S)
    sentence_weights = softmax(np.where(sentence_mask, sentence_scores, -np.inf))
    document = (sentence_weights[..., None] * sentences).sum(axis=1)  # (B, H)
    return document, word_weights, sentence_weights
    ### END SOLUTION


# %% [markdown]
# ## A block of a transformer's decoder
#
# Write `transformer_block`.
# A transformer that translates has an encoder, which reads the source, and a decoder, which writes.
# One block of its decoder has three parts.
# *Self-encoding*, which is how a decoder takes in what has been written so far, is *self-attention* to the positions up
# to its own.
# *Cross-encoding*, which is how it takes in the source, is *cross-attention*: the queries come from the decoder, the
# keys and the values from the encoder's outputs $R$.
# The third part, a *position-wise network* of two layers, processes each position alone. (The output, a readout to
# words, follows the last block and is not part of this exercise.)
# Each part reads a normalized copy of what comes in. What the part returns is added to what came in, and not to the
# normalized copy:
#
# $$\begin{aligned}
# s^{\text{self}} &= x + \text{heads}\big(\hat{x} W_q,\; \hat{x} W_k,\; \hat{x} W_v\big)\, W_o
# && \text{with } \hat{x} = \mathrm{LN}(x) \\
# s^{\text{cross}} &= s^{\text{self}} + \text{heads}\big(\hat{s} W_q',\; R W_k',\; R W_v'\big)\, W_o'
# && \text{with } \hat{s} = \mathrm{LN}(s^{\text{self}}) \\
# y &= s^{\text{cross}} + \mathrm{ReLU}\big(\mathrm{LN}(s^{\text{cross}})\, W_1 + b_1\big)\, W_2 + b_2
# \end{aligned}$$
#
# LN is `layer_norm` and heads is `heads`, both given above; the number of heads and the mask, which differs between the
# two attentions, are not written in the formula. ReLU replaces negative numbers by 0.
# The matrices with a prime belong to the cross-attention.
# The encoder's outputs are normalized at the end of the encoder, so $R$ is used as it is.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (B, T, D) | what the block reads, a vector for each position of the target |
# | `R` | (B, S, D) | the encoder's outputs, a vector for each position of the source |
# | `source_mask` | (B, S), of type `bool` | `True` where the source has a real token; padding may stand anywhere |
# | `self_weights` | a dict | `"W_q"`, `"W_k"`, `"W_v"` and `"W_o"` of the self-attention, each (D, D) |
# | `cross_weights` | a dict | the same for the cross-attention |
# | `W_1`, `b_1` | (D, F), (F,) | the first layer of the network |
# | `W_2`, `b_2` | (F, D), (D,) | its second layer |
# | `num_heads` | an integer | the number of heads, a divisor of D |
# | result `s_self` | (B, T, D) | the sum after the self-attention |
# | result `s_cross` | (B, T, D) | the sum after the cross-attention |
# | result `y` | (B, T, D) | the output of the block |
#
# Return all three results, in this order.
# The self-attention must be *causal*: position $t$ attends to the positions up to $t$. The source, by contrast, is
# known from the start, so every position may attend to every real token of its own sentence.
#
# **An example, half worked out.** B = 1, T = 2, S = 3, D = 3, F = 2 and one head. The last position of the source is
# padding. The cell below the text has all inputs.
#
# | position | `x` | LN(x) | `s_self` | `s_cross` | `y` |
# |---|---|---|---|---|---|
# | 0 | 0.60, −0.20, 1.10 | 0.19, −1.31, 1.12 | 0.66, −1.72, 3.08 | 1.46, −3.87, 3.04 | ?, ?, ? |
# | 1 | −1.00, 0.40, 0.30 | −1.41, 0.78, 0.63 | ?, ?, ? | ?, ?, ? | 0.06, −1.79, 1.53 |
#
# Position 0 can attend only to itself, so its weight is 1, and its `s_self` is its `x` plus LN(x) times
# `W_v` = [[1.10, −0.60, 0.20], [0.30, 0.50, −0.80], [−0.40, 0.70, 0.90]] times
# `W_o` = [[0.70, 0.45, −0.30], [−0.80, 1.20, 0.50], [0.25, −0.60, 0.85]], both of the self-attention. Check it by hand.
#
# **An edge case.** If a row has no real token in the source, there is nothing to attend to, so the cross-attention adds
# 0: `heads` takes care of that.
#
# This example is the first case of the check. Which two of the ten products with a weight matrix multiply $R$?

# %% active="ipynb"
# example = {
#     "x": np.array([[[0.60, -0.20, 1.10], [-1.00, 0.40, 0.30]]]),
#     "R": np.array([[[0.90, 0.50, -0.60], [-0.70, 1.10, 0.20], [2.00, -1.60, 0.40]]]),
#     "source_mask": np.array([[True, True, False]]),
#     "self_weights": {
#         "W_q": np.array([[0.80, -0.30, 0.55], [0.20, 0.70, -0.60], [-0.45, 0.35, 0.90]]),
#         "W_k": np.array([[-0.50, 0.90, 0.25], [0.60, 0.40, -0.75], [0.30, -0.20, 0.65]]),
#         "W_v": np.array([[1.10, -0.60, 0.20], [0.30, 0.50, -0.80], [-0.40, 0.70, 0.90]]),
#         "W_o": np.array([[0.70, 0.45, -0.30], [-0.80, 1.20, 0.50], [0.25, -0.60, 0.85]]),
#     },
#     "cross_weights": {
#         "W_q": np.array([[0.55, -1.10, 0.40], [0.90, 0.35, -0.70], [-0.25, 0.60, 0.80]]),
#         "W_k": np.array([[1.30, 0.25, -0.50], [-0.40, 0.75, 0.60], [0.35, -0.90, 0.45]]),
#         "W_v": np.array([[-0.65, 0.85, 0.30], [1.40, 0.15, -0.55], [0.20, -0.45, 0.95]]),
#         "W_o": np.array([[0.50, -0.90, 0.25], [0.95, 0.60, -0.35], [-0.40, 0.20, 1.10]]),
#     },
#     "W_1": np.array([[1.40, -0.50], [-0.30, 0.80], [-0.70, 0.60]]),
#     "b_1": np.array([0.10, 0.35]),
#     "W_2": np.array([[-0.75, 0.65, 0.40], [1.50, 0.20, -0.90]]),
#     "b_2": np.array([0.05, -0.15, 0.30]),
#     "num_heads": 1,
# }
# layer_norm(example["x"]).round(2)  # once your function works: transformer_block(**example)


# %% exercise="transformer_block"
def transformer_block(x, R, source_mask, self_weights, cross_weights, W_1, b_1, W_2, b_2, num_heads):
    """One block of a transformer's decoder, normalized before each of its three parts.

    x (B, T, D), R (B, S, D), source_mask (B, S) bool, self_weights and cross_weights with W_q, W_k, W_v, W_o (D, D),
    W_1 (D, F), b_1 (F,), W_2 (F, D), b_2 (D,), num_heads a divisor of D -> s_self, s_cross, y, all (B, T, D).
    """
    ### BEGIN SOLUTION
    w, c, T = self_weights, cross_weights, x.shape[1]
    past = np.tril(np.ones((T, T), dtype=bool))
    n = layer_norm(x)
    s_self = x + heads(n @ w["W_q"], n @ w["W_k"], n @ w["W_v"], num_heads, past) @ w["W_o"]
    m = layer_norm(s_self)
    real = source_mask[:, None]  # (B, 1, S): the same for every query
    s_cross = s_self + heads(m @ c["W_q"], R @ c["W_k"], R @ c["W_v"], num_heads, real) @ c["W_o"]
    hidden = np.maximum(layer_norm(s_cross) @ W_1 + b_1, 0)
    return s_self, s_cross, s_cross + hidden @ W_2 + b_2
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## What reaches what
#
# The rest of this notebook is not graded.
# The cell changes one target position of a block, then one source position, and prints how much the output changes at
# each target position. Which numbers do you expect to be 0?

# %% active="ipynb"
# rng = np.random.default_rng(0)
# T, S, D, num_heads = 5, 4, 8, 2
# x, R, real = rng.normal(size=(1, T, D)), rng.normal(size=(1, S, D)), np.ones((1, S), dtype=bool)
# own, cross = ({name: rng.normal(size=(D, D)) / np.sqrt(D) for name in ("W_q", "W_k", "W_v", "W_o")} for _ in range(2))
# network = rng.normal(size=(D, 2 * D)) / 3, np.zeros(2 * D), rng.normal(size=(2 * D, D)) / 4, np.zeros(D)
# other_x, other_R = x.copy(), R.copy()
# other_x[0, 2], other_R[0, 2] = rng.normal(size=(2, D))
# try:
#     y = transformer_block(x, R, real, own, cross, *network, num_heads)[2]
#     for name, changed in (("target", (other_x, R)), ("source", (x, other_R))):
#         moved = np.abs(transformer_block(*changed, real, own, cross, *network, num_heads)[2] - y).max(axis=(0, 2))
#         print(f"{name} position 2 changed:  " + "  ".join(f"{size:.2f}" for size in moved))
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# A target position changes itself and what comes after it, and a source position changes everything: the causal mask
# belongs to the self-attention alone.
