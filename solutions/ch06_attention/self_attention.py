# %% [markdown]
# # Self-attention
#
# So far, a decoder attended to the states of an encoder, and both were recurrent networks.
# In **self-attention**, a sequence attends to itself: every position computes a weighted sum over all positions of the
# same sequence, and no state is passed from step to step.
# In this notebook you write self-attention for a batch, the mask that hides the future from it,
# and **multi-head attention**, which runs several of them side by side.
# Allow about 55 minutes: 20 for the first exercise, 5 for the second and 30 for the third.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("self_attention")` asks you a question, `hint("self_attention", 2)` explains the idea,
# and `hint("self_attention", 3)` outlines the code.
#
# Read first, in the book: *A preview of attention › Attention without recurrence*, and *Several heads, and what
# attention costs* for the last exercise.
#
# The softmax is given. It takes the last axis, whatever axes come before it. A score of `-np.inf` gets the weight 0,
# and if all scores of a row are `-np.inf`, all its weights are 0.

# %%
import numpy as np

from grader import check, hint, progress


def softmax(scores):
    """The softmax along the last axis. A score of -inf gets weight 0; a row of nothing else gets zeros only."""
    largest = np.maximum(scores.max(axis=-1, keepdims=True), -1e300)  # finite, so there is no -inf - (-inf)
    powers = np.exp(scores - largest)
    return powers / np.maximum(powers.sum(axis=-1, keepdims=True), 1)  # the largest power is 1, unless all are 0


# %% [markdown]
# ## Self-attention
#
# Write `self_attention`.
# Each position of a sequence plays three parts. As a **query** it asks, as a **key** it says what it has to offer,
# and its **value** is what the others receive from it. All three are computed from the same row $x_t$, with three
# matrices that are learned:
#
# $$q_t = x_t W_q \qquad k_t = x_t W_k \qquad v_t = x_t W_v$$
#
# The score of query $t$ and key $j$ is their dot product, divided by the square root of the number of its terms, K.
# A softmax over all keys $j$ turns the scores of one query into weights, and the output is the weighted sum of the
# values:
#
# $$e_{t,j} = \frac{q_t \cdot k_j}{\sqrt{K}} \qquad \alpha_{t,j} = \frac{\exp(e_{t,j})}{\sum_{i} \exp(e_{t,i})}
# \qquad y_t = \sum_{j} \alpha_{t,j}\, v_j$$
#
# A **mask** can forbid some pairs: where `mask[t, j]` is `False`, position $t$ must not attend to position $j$.
# The weight $\alpha_{t,j}$ is then exactly 0, and the sums run over the other positions only.
# A mask of shape (T, T) holds for every sequence of the batch, one of shape (B, T, T) has a mask for each sequence,
# and with `None`, all pairs are allowed.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (B, T, D) | a batch of sequences |
# | `W_q`, `W_k` | (D, K) | the weights of the queries and of the keys |
# | `W_v` | (D, M) | the weights of the values |
# | `mask` | (T, T) or (B, T, T), `bool`, or `None` | `True` where the row's position may attend to the column's |
# | result `y` | (B, T, M) | the outputs |
# | result `weights` | (B, T, T) | the weights: `weights[b, t, j]` says how much position $t$ attends to position $j$ |
#
# Return both results, in this order.
#
# **A worked example.** One sequence (B = 1) of three positions (T = 3), D = 2, K = 4, M = 1, with
#
# - `W_q` = [[1.00, −0.50, 0.30, 0.80], [0.60, 1.50, −0.70, −0.20]]
# - `W_k` = [[0.70, 0.60, −1.10, 0.70], [−0.30, 1.10, 0.50, 0.60]]
# - `W_v` = [[2.00], [−0.60]]
#
# | position | $x_t$ | query | key | value |
# |---|---|---|---|---|
# | 0 | 0.50, −1.00 | −0.10, −1.75, 0.85, 0.60 | 0.65, −0.80, −1.05, −0.25 | 1.60 |
# | 1 | 1.20, 0.40 | 1.44, 0.00, 0.08, 0.88 | 0.72, 1.16, −1.12, 1.08 | 2.16 |
# | 2 | −0.80, 1.00 | −0.20, 1.90, −0.94, −0.84 | −0.86, 0.62, 1.38, 0.04 | −2.20 |
#
# The dot product of query 1 and key 0, for example, is
# 1.44 · 0.65 + 0.00 · (−0.80) + 0.08 · (−1.05) + 0.88 · (−0.25) = 0.63 (rounded), and with K = 4 it is divided by 2.
# The mask forbids two pairs: position 0 must not attend to 2, and position 2 must not attend to 1.
#
# | query | scores with keys 0, 1, 2 | weights | output |
# |---|---|---|---|
# | 0 | 0.15, −1.20, *forbidden* | 0.79, 0.21, 0 | 1.72 |
# | 1 | 0.32, 0.95, −0.55 | 0.30, 0.57, 0.13 | 1.43 |
# | 2 | −0.23, *forbidden*, 0.01 | 0.44, 0, 0.56 | −0.52 |
#
# The output at position 0, for example, is 0.79 · 1.60 + 0.21 · 2.16 = 1.72: each row of weights sums to 1,
# although one of its three positions is forbidden.
# (All entries are rounded; the code calculates with full precision.)
#
# **An edge case.** If a row of the mask is `False` everywhere, this position attends to nothing: its weights are all 0,
# and so is its output.
#
# This example is the first case of the check. Where do the three axes of `x` go in a product of two matrices?


# %% exercise="self_attention"
def self_attention(x, W_q, W_k, W_v, mask=None):
    """Self-attention of each sequence, with scaled dot products.

    x (B, T, D), W_q (D, K), W_k (D, K), W_v (D, M), mask (T, T) or (B, T, T) bool, True where a row may attend to a
    column, or None -> y (B, T, M), weights (B, T, T).
    """
    ### BEGIN SOLUTION
    q, k, v = x @ W_q, x @ W_k, x @ W_v  # (B, T, K), (B, T, K), (B, T, M)
    scores = q @ k.swapaxes(1, 2) / np.sqrt(W_k.shape[1])  # (B, T, T): row t has the scores of query t
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = softmax(scores)
    return weights @ v, weights
    ### END SOLUTION


# %% [markdown]
# ## A causal mask
#
# Write `causal_mask`.
# A network that writes text must predict position $t + 1$ from the positions up to $t$. When it is trained, however,
# the whole text is there at once, and self-attention without a mask would simply look at the answer.
# The **causal mask** allows each position to attend to itself and to earlier positions only.
#
# | name | type or shape | what it is |
# |---|---|---|
# | `T` | an integer | the number of positions, at least 1 |
# | result `mask` | (T, T), of type `bool` | `True` where the position of the row may attend to that of the column |
#
# **An example, half worked out.** T = 4:
#
# | position | attends to 0 | to 1 | to 2 | to 3 |
# |---|---|---|---|---|
# | 0 | True | False | ? | ? |
# | 1 | True | True | ? | ? |
# | 2 | ? | ? | ? | ? |
# | 3 | ? | ? | ? | ? |
#
# Fill in the question marks. Which two numbers do you compare in each entry?
# This example is the first case of the check.


# %% exercise="causal_mask"
def causal_mask(T):
    """Let each position attend to itself and to earlier positions.

    T an integer -> (T, T) bool, True where the position of the row may attend to that of the column.
    """
    ### BEGIN SOLUTION
    return np.tril(np.ones((T, T), dtype=bool))  # columns up to the row's own number
    ### END SOLUTION


# %% [markdown]
# ## Multi-head attention
#
# Write `multi_head_attention`.
# One set of weights mixes everything that a position looks for into a single average. In **multi-head attention**,
# several **heads** attend side by side, each with its own queries, keys and values, so one head can look at the
# previous position while another one looks for a name.
# The matrices of all heads are stored as one: `W_q`, `W_k` and `W_v` are (D, D), and head $i$ owns the $i$-th *block*
# of d = D / `num_heads` neighbouring columns of each. With D = 6 and two heads, head 0 owns the columns 0, 1, 2, and
# head 1 the columns 3, 4, 5. Each head is self-attention with its own columns, so its scores are divided by
# $\sqrt{d}$:
#
# $$\text{head}_i = \mathrm{attention}\big(x W_q^{(i)},\; x W_k^{(i)},\; x W_v^{(i)}\big) \qquad
# y = [\text{head}_0,\; \text{head}_1,\; \dots]\; W_o$$
#
# Here attention(q, k, v) stands for scores, softmax and weighted sum, and $W_q^{(i)}$ for the block of head $i$.
#
# The outputs of the heads stand side by side, in the order of the heads, and make (B, T, D) again. The last product,
# with the **output projection** `W_o`, is what lets the heads act together: without it, each head would fill its own d
# columns of the result.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (B, T, D) | a batch of sequences |
# | `W_q`, `W_k`, `W_v` | (D, D) | the weights of all heads, in blocks of D / `num_heads` columns |
# | `W_o` | (D, D) | the output projection; its rows come in the same blocks |
# | `num_heads` | an integer | the number of heads, a divisor of D |
# | `mask` | (T, T) or (B, T, T), of type `bool`, or `None` | as in `self_attention`, the same for every head |
# | result `y` | (B, T, D) | the outputs |
#
# Return `y` alone, without weights. You can call your `self_attention` once for each head, or compute all heads at
# once: for that, the queries must have the shape (B, `num_heads`, T, d), and `@` multiplies the last two axes.
#
# **An example, half worked out.** One sequence (B = 1) of three positions (T = 3), D = 2 and two heads, so d = 1, with
# the causal mask.
#
# - `W_q` = [[0.70, −0.64], [0.50, 0.46]]
# - `W_k` = [[1.10, 0.30], [−0.60, 0.80]]
# - `W_v` = [[0.80, −0.60], [−0.20, 1.30]]
# - `W_o` = [[0.60, −0.70], [1.40, 0.35]]
#
# | position | $x_t$ | head 0: query, key, value | head 1: query, key, value |
# |---|---|---|---|
# | 0 | 1.00, −0.50 | 0.45, 1.40, 0.90 | −0.87, −0.10, −1.25 |
# | 1 | 0.40, 2.00 | 1.28, −0.76, −0.08 | 0.66, 1.72, 2.36 |
# | 2 | −1.50, 0.80 | −0.65, −2.13, −1.36 | 1.33, 0.19, 1.94 |
#
# Each head sees its own column only. At position 1, head 0 compares its query 1.28 with the keys 1.40 and −0.76,
# and head 1 compares 0.66 with −0.10 and 1.72, so they attend to different positions:
#
# | position | weights of head 0 | its output | weights of head 1 | its output |
# |---|---|---|---|---|
# | 0 | 1, 0, 0 | 0.90 | ? | ? |
# | 1 | 0.94, 0.06, 0 | 0.84 | 0.23, 0.77, 0 | 1.53 |
# | 2 | 0.07, 0.27, 0.66 | −0.86 | ? | ? |
#
# The output at position 1 is the row [0.84, 1.53] times `W_o`, which is [2.65, −0.05].
# Fill in the question marks; the output at position 0 is [−1.21, −1.07], and the one at position 2 begins with 2.35.
# (All entries are rounded; the code calculates with full precision.)
#
# **Edge cases.** A position whose row of the mask is `False` everywhere attends to nothing in every head, so its output
# is 0. With one head, the result is that of `self_attention` times `W_o`.
#
# This example is the first case of the check.


# %% exercise="multi_head_attention"
def multi_head_attention(x, W_q, W_k, W_v, W_o, num_heads, mask=None):
    """Self-attention with several heads, each with its own block of D / num_heads columns.

    x (B, T, D), W_q, W_k, W_v, W_o (D, D), num_heads a divisor of D, mask (T, T) or (B, T, T) bool, True where a row
    may attend to a column, or None -> y (B, T, D).
    """
    ### BEGIN SOLUTION
    (B, T, D), d = x.shape, x.shape[2] // num_heads
    q, k, v = ((x @ W).reshape(B, T, num_heads, d).swapaxes(1, 2) for W in (W_q, W_k, W_v))  # (B, heads, T, d)
    scores = q @ k.swapaxes(2, 3) / np.sqrt(d)  # (B, heads, T, T)
    if mask is not None:
        allowed = mask if mask.ndim == 2 else mask[:, None]  # (T, T), or (B, 1, T, T): the same for every head
        scores = np.where(allowed, scores, -np.inf)
    heads = softmax(scores) @ v  # (B, heads, T, d)
    return heads.swapaxes(1, 2).reshape(B, T, D) @ W_o
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## What a position can know
#
# The rest of this notebook is not graded.
# The cell changes the vector at position 3 of a sequence of six, and prints for each position how much its output
# changes, without a mask and with the causal mask. Then it reverses the sequence, computes the outputs without a mask,
# reverses them back, and compares. The last line compares a single head with `self_attention` times `W_o`.
# Which numbers do you expect to be 0? The cell uses all three of your functions.

# %% active="ipynb"
# rng = np.random.default_rng(0)
# T, D, num_heads = 6, 8, 2
# x, new = rng.normal(size=(1, T, D)), rng.normal(size=D)
# W_q, W_k, W_v, W_o = rng.normal(size=(4, D, D)) / np.sqrt(D)
# changed = x.copy()
# changed[0, 3] = new
#
#
# def moved(one, other):
#     """The largest difference at each position."""
#     return "  ".join(f"{size:.2f}" for size in np.abs(one - other).max(axis=(0, 2)))
#
#
# try:
#     for name, mask in (("no mask", None), ("causal mask", causal_mask(T))):
#         outputs = [multi_head_attention(each, W_q, W_k, W_v, W_o, num_heads, mask) for each in (x, changed)]
#         print(f"position 3 changed, {name:11}  {moved(*outputs)}")
#     turned = multi_head_attention(x[:, ::-1], W_q, W_k, W_v, W_o, num_heads)[:, ::-1]
#     print(f"reversed, no mask                {moved(turned, multi_head_attention(x, W_q, W_k, W_v, W_o, num_heads))}")
#     y, _ = self_attention(x, W_q, W_k, W_v)
#     print(f"one head against self_attention  {moved(y @ W_o, multi_head_attention(x, W_q, W_k, W_v, W_o, 1))}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# Without a mask, one changed word changes the output at every position, and with the causal mask it changes the outputs
# from position 3 on. Reversing the sequence reverses the outputs and changes nothing else: self-attention without a
# mask is *permutation equivariant*, so nothing in it depends on the order. That is why transformers add information
# about the position to their inputs.
