# %% [markdown]
# # Scores, weights and a weighted sum
#
# A decoder with attention looks at all states of the encoder again, at every step.
# It compares its own state, the **query**, with each state of the encoder, a **key**, and gets one **score** for each.
# A softmax turns the scores into **attention weights**, *weights* for short, and the sum of the encoder's states, each
# times its weight, is the context of this step.
# In this notebook you write three score functions, the softmax, which must leave out the padding, and the weighted sum.
# Plan about 5 minutes for each score and for the weighted sum, and 20 for the softmax.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("dot_score")` asks you a question, `hint("dot_score", 2)` explains the idea,
# and `hint("dot_score", 3)` outlines the code.
#
# Read first, in the book: *A preview of attention › From one context to a weighted sum*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## Dot-product scores
#
# Write `dot_score`.
# Row $b$ of the batch has one query $q_b$ and $S$ keys, $k_{b,1}$ to $k_{b,S}$, all of the same size $H$.
# The score of a key is its dot product with the query of its own row:
#
# $$e_{b,j} = q_b \cdot k_{b,j} \qquad \text{or, scaled,} \qquad e_{b,j} = \frac{q_b \cdot k_{b,j}}{\sqrt{H}}$$
#
# | name | shape | what it is |
# |---|---|---|
# | `query` | (B, H) | one query for each row |
# | `keys` | (B, S, H) | the keys of each row, one for each source position |
# | `scale` | True or False | whether the scores are divided by $\sqrt{H}$; False if it is left out |
# | result `scores` | (B, S) | the score of each key of each row |
#
# **A worked example.** Two rows, three keys each, and H = 2 (rows and positions j are counted from 0, as in the code):
#
# | row | query | j | key | products | score | scaled |
# |---|---|---|---|---|---|---|
# | 0 | 1.00, −0.50 | 0 | 0.80, 0.40 | 0.80 − 0.20 | 0.60 | 0.42 |
# | 0 | 1.00, −0.50 | 1 | −0.60, 1.20 | −0.60 − 0.60 | −1.20 | −0.85 |
# | 0 | 1.00, −0.50 | 2 | 1.50, −0.90 | 1.50 + 0.45 | 1.95 | 1.38 |
# | 1 | 0.30, 2.00 | 0 | −1.00, 0.70 | −0.30 + 1.40 | 1.10 | 0.78 |
# | 1 | 0.30, 2.00 | 1 | 0.50, 0.10 | 0.15 + 0.20 | 0.35 | 0.25 |
# | 1 | 0.30, 2.00 | 2 | 0.90, −0.40 | 0.27 − 0.80 | −0.53 | −0.37 |
#
# The query of row 0 meets only the keys of row 0, and the query of row 1 only those of row 1.
# The first case of the check is this example without scaling.


# %% exercise="dot_score"
def dot_score(query, keys, scale=False):
    """The dot product of each row's query with each of its keys, divided by the square root of H if `scale`.

    query (B, H), keys (B, S, H), scale True or False -> (B, S).
    """
    ### BEGIN SOLUTION
    scores = (keys * query[:, None]).sum(axis=2)  # (B, S, H) times (B, 1, H), summed over H
    if scale:
        scores = scores / np.sqrt(query.shape[1])
    return scores
    ### END SOLUTION


# %% [markdown]
# ## Bilinear scores
#
# Write `bilinear_score`.
# A dot product needs a query and keys of the same size, and it compares entry 0 with entry 0, entry 1 with entry 1.
# With a matrix $W$ between them (Luong et al., 2015), the network learns which entries to compare,
# and the keys can have another size $K$:
#
# $$e_{b,j} = q_b\, W\, k_{b,j}^\top$$
#
# Here $q_b$ and $k_{b,j}$ are rows.
#
# | name | shape | what it is |
# |---|---|---|
# | `query` | (B, H) | one query for each row |
# | `keys` | (B, S, K) | the keys of each row |
# | `W` | (H, K) | the matrix between query and key |
# | result `scores` | (B, S) | the score of each key of each row; they are not scaled |
#
# **An example, half worked out.** Two rows, two keys each, H = 2 and K = 3, with
# `W` = [[0.50, -1.00, 0.30], [0.80, 0.40, -0.60]]:
#
# | row | query | $q_b W$ | j | key | score |
# |---|---|---|---|---|---|
# | 0 | 1.00, −0.50 | 0.10, −1.20, 0.60 | 0 | 2.00, 0.50, −1.00 | −1.00 |
# | 0 | 1.00, −0.50 | 0.10, −1.20, 0.60 | 1 | −1.00, 0.30, 1.50 | 0.44 |
# | 1 | 0.30, 2.00 | 1.75, 0.50, −1.11 | 0 | 0.40, −0.70, 0.20 | ? |
# | 1 | 0.30, 2.00 | 1.75, 0.50, −1.11 | 1 | −0.60, 1.30, −0.40 | ? |
#
# The vector $q_b W$ is the same for all keys of a row. What do you still have to do with it?
# This example is the first case of the check.


# %% exercise="bilinear_score"
def bilinear_score(query, keys, W):
    """The score of each key: the row's query times W times the key.

    query (B, H), keys (B, S, K), W (H, K) -> (B, S).
    """
    ### BEGIN SOLUTION
    in_key_space = query @ W  # (B, K)
    return (keys * in_key_space[:, None]).sum(axis=2)
    ### END SOLUTION


# %% [markdown]
# ## Additive scores
#
# Write `additive_score`.
# The first attention (Bahdanau et al., 2015) had a small network for its scores.
# It maps query and key to the same size $A$, adds them, and applies a tanh;
# a dot product with the vector $v$ makes one number of the result:
#
# $$e_{b,j} = \tanh\!\big(q_b\, W_q + k_{b,j}\, W_k\big) \cdot v$$
#
# | name | shape | what it is |
# |---|---|---|
# | `query` | (B, H) | one query for each row |
# | `keys` | (B, S, K) | the keys of each row |
# | `W_q` | (H, A) | the matrix for the query |
# | `W_k` | (K, A) | the matrix for the keys |
# | `v` | (A,) | one parameter for each unit of the small network |
# | result `scores` | (B, S) | the score of each key of each row |
#
# **An example, half worked out.** The queries and keys of the last example, and A = 2, with
# `W_q` = [[0.60, -0.20], [0.40, 0.70]], `W_k` = [[0.50, 0.30], [-0.40, 0.20], [0.10, -0.90]] and `v` = [1.50, -0.80]:
#
# | row | $q_b W_q$ | j | $k_{b,j} W_k$ | sum | tanh | score |
# |---|---|---|---|---|---|---|
# | 0 | 0.40, −0.55 | 0 | 0.70, 1.60 | 1.10, 1.05 | 0.80, 0.78 | 0.58 |
# | 0 | 0.40, −0.55 | 1 | −0.47, −1.59 | ? | ? | ? |
# | 1 | 0.98, 1.34 | 0 | 0.50, −0.20 | ? | ? | ? |
# | 1 | 0.98, 1.34 | 1 | −0.86, 0.44 | ? | ? | ? |
#
# What is the shape of `query @ W_q`, and what is that of `keys @ W_k`? Which of the two lacks an axis for the sum?
# This example is the first case of the check.


# %% exercise="additive_score"
def additive_score(query, keys, W_q, W_k, v):
    """The score of each key by a network with one hidden layer: query and key are projected, added, and read by v.

    query (B, H), keys (B, S, K), W_q (H, A), W_k (K, A), v (A,) -> (B, S).
    """
    ### BEGIN SOLUTION
    q, k = query @ W_q, keys @ W_k  # (B, A), (B, S, A)
    return np.tanh(q[:, None] + k) @ v
    ### END SOLUTION


# %% [markdown]
# ## A softmax with a mask
#
# Write `masked_softmax`.
# The sources of a batch have different lengths, so some of the keys belong to padding.
# Their scores mean nothing, so they must get no weight at all,
# and the weights of the other positions must still sum to 1:
#
# $$\alpha_j = \frac{m_j\, \exp(e_j)}{\sum_{i} m_i \exp(e_i)}$$
#
# Here $m_j$ is 1 where the mask is True and 0 where it is False.
# If the mask of a row is False everywhere, there is nothing to attend to, and all weights of the row are 0.
#
# | name | shape | what it is |
# |---|---|---|
# | `scores` | (…, S) | finite numbers, possibly huge, positive or negative, also where the mask is False |
# | `mask` | (…, S) | True where a position may be attended to; the False ones may be anywhere in a row |
# | result `weights` | (…, S) | along the last axis, each row sums to 1; exactly 0 where the mask is False |
#
# The three dots stand for any number of axes, including none: the scores of a batch have the shape (B, S),
# those of a whole decoded sentence (B, T, S), those of a single row (S,).
#
# **An example, half worked out.** Two rows of three scores:
#
# | row | j | score | mask | exp | weight | *without a mask* |
# |---|---|---|---|---|---|---|
# | 0 | 0 | 0.60 | True | 1.82 | 0.86 | *0.20* |
# | 0 | 1 | −1.20 | True | 0.30 | 0.14 | *0.03* |
# | 0 | 2 | 1.95 | False | | 0 | *0.77* |
# | 1 | 0 | 1.10 | False | | ? | *0.60* |
# | 1 | 1 | 0.35 | True | ? | ? | *0.28* |
# | 1 | 2 | −0.53 | True | ? | ? | *0.12* |
#
# In row 0, both 1.82 and 0.30 are divided by their sum, 2.12.
# A softmax without a mask would give most of the weight to position 2, where there is no word.
# This example is the first case of the check.
#
# Now think of scores such as 1000 or −1000, whose exponentials are too large or too small for a float.
# The softmax of chapter 1 subtracts the largest score of a row before it exponentiates.
# Here, which entries of a row may be this largest score, and what do you subtract if the mask is False everywhere?


# %% exercise="masked_softmax"
def masked_softmax(scores, mask):
    """The softmax along the last axis over the positions where the mask is True; 0 elsewhere, and never NaN.

    scores (…, S), mask (…, S), True where a position may be attended to -> (…, S).
    """
    ### BEGIN SOLUTION
    some = mask.any(axis=-1, keepdims=True)
    real = np.where(mask, scores, -np.inf)
    largest = np.where(some, real.max(axis=-1, keepdims=True), 0.0)
    e = np.exp(real - largest)  # exp(-inf) is exactly 0
    return e / np.where(some, e.sum(axis=-1, keepdims=True), 1.0)
    ### END SOLUTION


# %% [markdown]
# ## A weighted sum
#
# Write `attend`.
# Every source position has a value, and the context of a row is the sum of its values, each times its weight:
#
# $$c_b = \sum_{j=1}^{S} \alpha_{b,j}\, v_{b,j}$$
#
# In an encoder–decoder, the values are the encoder's states, that is, the keys themselves.
# (The values $v_{b,j}$ have nothing to do with the vector $v$ of the additive score.)
#
# | name | shape | what it is |
# |---|---|---|
# | `weights` | (B, S) | the weights as `masked_softmax` returns them: a row sums to 1, or all its weights are 0 |
# | `values` | (B, S, K) | the value of each source position |
# | result `context` | (B, K) | the weighted sum of each row |
#
# **An example.** Two rows, three positions, and K = 2:
#
# | row | weights | value of j = 0 | value of j = 1 | value of j = 2 | context |
# |---|---|---|---|---|---|
# | 0 | 0.50, 0.30, 0.20 | 1.00, −2.00 | 3.00, 0.50 | −1.00, 4.00 | ?, ? |
# | 1 | 0.00, 0.75, 0.25 | 5.00, −3.00 | 2.00, 0.80 | −0.40, 1.60 | ?, ? |
#
# Fill in the question marks; the four numbers add up to 3.55.
# This example is the first case of the check.


# %% exercise="attend"
def attend(weights, values):
    """The sum of each row's values, each times its weight.

    weights (B, S), values (B, S, K) -> (B, K).
    """
    ### BEGIN SOLUTION
    return (weights[:, :, None] * values).sum(axis=1)
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## Why scores are scaled
#
# The rest of this notebook is not graded.
# A dot product is a sum of $H$ products, so the larger the vectors, the larger the scores.
# The cell draws queries and keys from a standard normal distribution, ten keys for each of 1,000 queries,
# and prints how large the scores are and how much weight the best key gets on average.
# With equal weights it would be 0.1.
#
# What do you expect for H = 256, without and with the scale? Make a guess, then run the cell.

# %% active="ipynb"
# rng = np.random.default_rng(0)
# try:
#     print("   H   size of scores   largest weight   the same, scaled")
#     for H in (1, 4, 16, 64, 256, 1024):
#         query, keys = rng.normal(size=(1000, H)), rng.normal(size=(1000, 10, H))
#         everywhere = np.ones((1000, 10), dtype=bool)
#         plain = masked_softmax(dot_score(query, keys), everywhere).max(axis=1).mean()
#         scaled = masked_softmax(dot_score(query, keys, scale=True), everywhere).max(axis=1).mean()
#         print(f"{H:4}   {dot_score(query, keys).std():14.1f}   {plain:14.2f}   {scaled:16.2f}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# Without the scale, the best key gets nearly all of the weight when the vectors are large, and a softmax that is nearly
# 0 or 1 passes hardly any gradient to the scores.
# Divided by $\sqrt{H}$, the scores have a standard deviation of about 1 whatever H is.
# All this holds for random vectors with independent entries. The states of a trained network are not of this kind,
# and a network can learn to make its scores smaller or larger; the scale only decides where it begins.
