# %% [markdown]
# # Gradients at the logits and at the embedding
#
# The backward pass of a language model starts at the logits and can end at an **embedding**, a table of numbers
# for each token. In this notebook you write these two ends; neither needs a loop over time.
# The second one rests on the rule that you need for the whole sequence, in its simplest form:
# a value that is used several times collects the gradients of all its uses.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("cross_entropy_backward")` asks you a question, `hint("cross_entropy_backward", 2)` explains the idea,
# and `hint("cross_entropy_backward", 3)` outlines the code.
#
# Read in the book, under *Backpropagation through time*: *From the loss to the logits* before the first exercise,
# and *The backward pass through time* before the second. The next notebook needs that page too.
#
# The first exercise needs the softmax. You wrote it in chapter 1, so here it is given.

# %%
import numpy as np

from grader import check, hint, progress


def softmax(z, axis=-1):
    """Probabilities that add up to 1 along an axis: z of any shape -> the same shape."""
    powers = np.exp(z - np.max(z, axis, keepdims=True))
    return powers / np.sum(powers, axis, keepdims=True)


# %% [markdown]
# ## The gradient at the logits
#
# Write `cross_entropy_backward`.
# A network has computed V **logits** at every position of every sequence, and the target at each position is known.
# The loss is the **cross-entropy**: the mean of $-\ln p$ of the target over all B · T positions.
# How does the loss change with each logit?
#
# **One position, worked out in full.** Let $y$ be the target. The loss at this position is the sum of two terms:
#
# $$\ell = -\ln \frac{e^{z_y}}{\sum_j e^{z_j}} = -z_y + \ln \sum_j e^{z_j}$$
#
# - The first term depends on the target's logit alone: its derivative is −1 with respect to $z_y$, and 0 with
#   respect to all other logits.
# - The second term depends on every logit: its derivative with respect to $z_i$ is $e^{z_i} / \sum_j e^{z_j}$,
#   which is the probability $p_i$.
#
# With three ids, and id 0 as the target:
#
# | | id 0 | id 1 | id 2 | sum |
# |---|---|---|---|---|
# | `z` | 1.40 | 3.30 | 1.00 | |
# | from the second term: `p` | 0.12 | 0.80 | 0.08 | 1.00 |
# | from the first term | −1.00 | 0.00 | 0.00 | −1.00 |
# | $d\ell / dz$ | −0.88 | 0.80 | 0.08 | 0.00 |
#
# **Two positions, half worked out.** The loss is now the mean of two losses, and the one above is the first.
# At the second position `z` is [0.00, 1.79, 1.10], and the target is id 2.
#
# | position | $d\ell / dz$ of its own loss | its part of `dlogits`, the gradient of the mean |
# |---|---|---|
# | 0 | [−0.88, 0.80, 0.08] | [−0.44, 0.40, 0.04] |
# | 1 | [0.10, 0.60, −0.70] | ? |
#
# Write down the missing part. Once the check passes, compare it with *What you wrote down*, further below.
#
# **Your task: the whole batch.**
#
# | name | shape | what it is |
# |---|---|---|
# | `logits` | (B, T, V) | the logits of the network, before the softmax |
# | `targets` | (B, T) | the target ids, integers from 0 to V − 1 |
# | result `dlogits` | (B, T, V) | the gradient of the mean over all B · T positions |
#
# Some logits are in the thousands; the `softmax` given above handles them without overflow.
# When the check passes, you have the gradient with which the backward pass of a language model starts.


# %% exercise="cross_entropy_backward"
def cross_entropy_backward(logits, targets):
    """The gradient of the mean cross-entropy with respect to the logits.

    logits (B, T, V), targets (B, T) -> dlogits (B, T, V).  Equation (cross-entropy-backward).
    """
    ### BEGIN SOLUTION
    B, T, V = logits.shape
    one_hot = np.eye(V)[targets]  # (B, T, V): a one-hot row at each position
    return (softmax(logits) - one_hot) / (B * T)
    ### END SOLUTION


# %% [markdown]
# ## The gradient of an embedding
#
# Write `embedding_backward`.
# An **embedding** is a table $E$ with one row of D numbers for each of the V ids.
# In the forward pass, every position of every sequence copies the row of its id: `e = E[ids]`.
# In the backward pass you are given `de`, the gradient with respect to each of these *copies*.
# What is the gradient with respect to each row of the table?
#
# If a row was copied once, its gradient is that of the copy.
# If it was copied several times, all its copies contribute to its gradient.
# If it was never copied, it did not influence the loss, so its gradient is zero.
#
# **A small example.** One sequence of three positions, four ids, D = 2:
#
# | t | `ids[0, t]` | `de[0, t]` |
# |---|---|---|
# | 0 | 2 | [0.10, −0.20] |
# | 1 | 0 | [0.30, 0.00] |
# | 2 | 2 | [0.05, 0.70] |
#
# | row of `dE` | gradient | |
# |---|---|---|
# | 0 | [0.30, 0.00] | copied at t = 1 |
# | 1 | [0.00, 0.00] | never copied |
# | 2 | [0.15, 0.50] | copied at t = 0 and t = 2 |
# | 3 | [0.00, 0.00] | never copied |
#
# Text is full of repeated ids: in this sentence alone, the letter `e` occurs more than ten times.
#
# | name | shape | what it is |
# |---|---|---|
# | `de` | (B, T, D) | the gradient with respect to each copied row |
# | `ids` | (B, T) | the id at each position, an integer from 0 to V − 1 |
# | `vocab_size` | an integer | V, the number of rows of the table |
# | result `dE` | (V, D) | the gradient with respect to the table |
#
# When the check passes, your backward pass reaches the embedding, so a network can learn that too.


# %% exercise="embedding_backward"
def embedding_backward(de, ids, vocab_size):
    """The gradient of an embedding table: each row sums the gradients of all its copies.

    de (B, T, D), ids (B, T), vocab_size V -> dE (V, D).  Equation (embedding-backward).
    """
    ### BEGIN SOLUTION
    dE = np.zeros((vocab_size, de.shape[2]))
    np.add.at(dE, ids, de)  # adds at every position, repeated ids included
    return dE
    ### END SOLUTION


# %% [markdown]
# ## What you wrote down
#
# The next cell runs your `cross_entropy_backward` on the two positions above
# and prints what position 1 contributes to the gradient of the mean.

# %% active="ipynb"
# logits, targets = np.array([[[1.40, 3.30, 1.00], [0.00, 1.79, 1.10]]]), np.array([[0, 2]])
#
# try:
#     print("position 1", np.round(cross_entropy_backward(logits, targets)[0, 1], 2).tolist())
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## Which letter follows?
#
# This section is not graded.
# The model below has no state. It looks up the row of the current letter, and a linear layer turns it into logits.
# Your two functions compute the gradients, and each weight moves a small step against its gradient.
# It is trained to predict the next letter of *hello* after each of `h`, `e`, `l` and `l`.
# What will it predict after `l`, and how low can its mean loss become? Write down a guess, then run the cell.

# %% active="ipynb"
# letters = "helo"
# ids, targets = np.array([[0, 1, 2, 2]]), np.array([[1, 2, 2, 3]])  # both (1, 4): h e l l, and e l l o
# rng = np.random.default_rng(0)
# E, W_hy, b_y = 0.1 * rng.normal(size=(4, 3)), 0.1 * rng.normal(size=(3, 4)), np.zeros(4)
#
# try:
#     for update in range(501):
#         e = E[ids]  # (1, 4, 3): one copied row for each letter
#         p = softmax(e @ W_hy + b_y)  # (1, 4, 4)
#         if update in (0, 10, 20, 50, 100, 200, 500):
#             loss = -np.mean(np.log(p[0, range(4), targets[0]]))
#             shown = "  ".join(f"{letter} {value:.2f}" for letter, value in zip(letters, p[0, 2]))
#             print(f"update {update:3d}   loss {loss:.2f}   after l:  {shown}")
#         dlogits = cross_entropy_backward(e @ W_hy + b_y, targets)  # (1, 4, 4)
#         dE = embedding_backward(dlogits @ W_hy.T, ids, 4)  # (4, 3)
#         dW_hy, db_y = e[0].T @ dlogits[0], dlogits[0].sum(axis=0)
#         E, W_hy, b_y = E - 0.5 * dE, W_hy - 0.5 * dW_hy, b_y - 0.5 * db_y
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# In *hello*, `l` is followed once by `l` and once by `o`, and the model gives each of them 0.50.
# Its loss approaches $\tfrac{1}{2} \ln 2 \approx 0.35$ nats, that of the best bigram, and no model without a state
# can do better on this word. The row of `l` was copied twice, so both gradients are added to it,
# and at 0.50 they cancel.
