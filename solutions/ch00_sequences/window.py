# %% [markdown]
# # A window that slides
#
# The first neural language model of this course reads the last $n$ tokens and predicts the next one.
# Its output is one number for each id of the vocabulary, a **logit**.
# In this notebook you write the loss that tells it how good its logits are,
# and then the network itself: embeddings side by side, one hidden layer, logits.
# Plan about 20 minutes for each of the two.
#
# As before, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("cross_entropy")` asks a question, `hint("cross_entropy", 2)` explains the idea,
# `hint("cross_entropy", 3)` outlines the code.
#
# Read first, in the book: *Sequences and language models › A window that slides*.
# You need no function from the earlier notebooks.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## Cross-entropy from logits
#
# Write `cross_entropy`.
# The **softmax** turns the V logits $z_{i,0}, \dots, z_{i,V-1}$ of prediction $i$ into probabilities,
# and the loss of the prediction is the **negative log-likelihood** of its target $y_i$, the id that came next:
#
# $$L = -\frac{1}{N} \sum_{i} \ln p_{i,y_i}, \qquad p_{i,j} = \frac{e^{z_{i,j}}}{\sum_k e^{z_{i,k}}}$$
#
# | name | shape | what it is |
# |---|---|---|
# | `logits` | (N, V) | N predictions, one per row |
# | `targets` | (N,) | the id that came next for each of them, from 0 to V − 1 |
# | result `loss` | a number | the mean of the N losses, in nats |
#
# **A worked example.** Two predictions, three ids:
#
# | i | logits | target | exponentials | their sum | p of the target | its loss |
# |---|---|---|---|---|---|---|
# | 0 | 2.00, 0.50, −1.00 | 0 | 7.39, 1.65, 0.37 | 9.41 | 0.79 | 0.24 |
# | 1 | 0.30, −0.40, 1.10 | 1 | 1.35, 0.67, 3.00 | 5.02 | 0.13 | 2.01 |
#
# The result is their mean, 1.13. It is divided by N = 2, not by the six logits.
# The first case of the check is this example.
#
# **Large logits.** Suppose that the logits are [0.00, 1000.00] and the target is 0: the network is certain, and wrong.
# In floating point $e^{1000}$ is infinite. If you subtract the largest logit of the row from all of its logits first,
# the probabilities stay the same, but that of the target, $e^{-1000}$, becomes 0, and its logarithm −∞.
# The loss is 1000.00, and your function must return it.
# Before you write any code, simplify $\ln p_{i,j}$ on paper. What is the logarithm of a quotient?
# And how does the logarithm of the sum change if you subtract the same number from all logits of the row?


# %% exercise="cross_entropy"
def cross_entropy(logits, targets):
    """The mean negative log-likelihood of the targets in nats, however large the logits are.

    logits (N, V), targets (N,) -> a number.
    """
    ### BEGIN SOLUTION
    shifted = logits - logits.max(axis=1, keepdims=True)  # the largest is 0, so nothing overflows
    log_probs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))  # (N, V)
    return -log_probs[np.arange(len(targets)), targets].mean()
    ### END SOLUTION


# %% [markdown]
# ## The network with a fixed window
#
# Write `fixed_window_logits`.
# Each row of `ids` is a **window**: the last n ids, the oldest first.
# The network looks up the embedding of each of them, puts the n vectors side by side in the order of the window,
# which gives one long vector $x$, and computes
#
# $$h = \tanh(x W_1 + b_1), \qquad z = h W_2 + b_2$$
#
# | name | shape | what it is |
# |---|---|---|
# | `ids` | (B, n) | B windows of n ids from 0 to V − 1 |
# | `E` | (V, D) | the embedding of each id, one per row |
# | `W_1` | (n · D, H) | the weights of the hidden layer |
# | `b_1` | (H,) | its bias |
# | `W_2` | (H, V) | the weights of the output layer |
# | `b_2` | (V,) | its bias |
# | result `logits` | (B, V) | one number for each id that may come next, before the softmax |
#
# **A worked example.** V = 3 ids, windows of n = 2, D = 2, H = 2, with
# `E` = [[0.20, -1.50], [0.70, 0.40], [-0.90, 1.10]],
# `W_1` = [[0.50, -0.20], [0.30, 0.80], [-0.60, 0.10], [0.40, -0.70]], `b_1` = [0.10, -0.30],
# `W_2` = [[1.20, -0.50, 0.30], [0.40, 0.90, -1.00]] and `b_2` = [0.05, -0.10, 0.20]:
#
# | window | x | pre-activation | h | logits |
# |---|---|---|---|---|
# | 2, 0 | −0.90, 1.10, 0.20, −1.50 | −0.74, 1.83 | −0.63, 0.95 | −0.33, 1.07, −0.94 |
# | 0, 2 | 0.20, −1.50, −0.90, 1.10 | 0.73, −2.40 | 0.62, −0.98 | ?, ?, ? |
#
# The **pre-activation** is $x W_1 + b_1$, before the tanh.
# The two windows contain the same ids in another order. Do you expect equal logits?
# The first D rows of $W_1$ belong to the first position of the window, the next D rows to the second, and so on.
# So the positions share the embeddings, but what $W_1$ learns about a token at one position does not apply at another.
# The first case of the check is this example.


# %% exercise="fixed_window_logits"
def fixed_window_logits(ids, E, W_1, b_1, W_2, b_2):
    """Logits for the next id, from the embeddings of the last n ids side by side and one hidden layer.

    ids (B, n), E (V, D), W_1 (n * D, H), b_1 (H,), W_2 (H, V), b_2 (V,) -> (B, V).
    """
    ### BEGIN SOLUTION
    x = E[ids].reshape(len(ids), -1)  # (B, n, D) becomes (B, n * D)
    hidden = np.tanh(x @ W_1 + b_1)  # (B, H)
    return hidden @ W_2 + b_2
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## The loss of an untrained network
#
# The rest of this notebook is not graded.
# The cell draws small random parameters for a vocabulary of 50 ids and computes the loss of random targets,
# for windows of several lengths.
# Which loss do you expect of a network that knows nothing, and how does the number of parameters grow with n?
# Make a guess, then run the cell.

# %% active="ipynb"
# rng = np.random.default_rng(0)
# V, D, H = 50, 16, 64
# try:
#     print(f"ln V = {np.log(V):.3f}")
#     print("   n   parameters    loss")
#     for n in (1, 2, 4, 8, 16):
#         shapes = {"E": (V, D), "W_1": (n * D, H), "b_1": H, "W_2": (H, V), "b_2": V}
#         parameters = {name: 0.01 * rng.normal(size=shape) for name, shape in shapes.items()}
#         ids, targets = rng.integers(V, size=(1000, n)), rng.integers(V, size=1000)
#         loss = cross_entropy(fixed_window_logits(ids, **parameters), targets)
#         print(f"{n:4}   {sum(p.size for p in parameters.values()):10}   {loss:.3f}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# Small logits are nearly equal, so every id gets a probability of about 1/V, and the loss is about ln V.
# If the loss is well above ln V before the first update, look for a mistake, or for initial parameters that are
# too large.
# Each further position of the window needs D · H more weights in $W_1$.
# A recurrent network, in chapter 1, uses the same weights at every position.
