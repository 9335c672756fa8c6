# %% [markdown]
# # Clipping gradients
#
# A gradient that explodes for a single step can undo an hour of training.
# The usual cure is short: if the gradient is too large, make it smaller before the step.
# In this notebook you write the two ways to do so, by norm and by value, and compare what they do to a gradient.
# Allow about 40 minutes.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("clip_by_norm")` asks you a question, `hint("clip_by_norm", 2)` explains the idea,
# and `hint("clip_by_norm", 3)` outlines the code.
#
# Read first, in the book: *Vanishing and exploding gradients › Cliffs and clipping*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## Clipping by norm
#
# Write `clip_by_norm`.
# A network has several arrays of weights, and the backward pass gives a gradient for each of them.
# Together they are one long vector, the gradient of the loss with respect to *all* weights.
# How do you shorten this vector to a given length without changing its direction?
#
# $$\lVert g \rVert = \sqrt{\sum_{\text{arrays}} \; \sum_{\text{entries}} g_i^2}, \qquad
# g \leftarrow \frac{\text{max\_norm}}{\lVert g \rVert}\, g \quad \text{if } \lVert g \rVert > \text{max\_norm}$$
#
# **A worked neighbour.** Two lists of amounts exceed a common budget of 12.00,
# and all amounts are to be cut by the same factor. So there is *one* total, over both lists:
#
# | | first list | second list | total |
# |---|---|---|---|
# | asked for | 9.00, 3.00 | 4.00 | 16.00 |
# | factor | | | 12.00 / 16.00 = 0.75 |
# | granted | 6.75, 2.25 | 3.00 | 12.00 |
#
# The shares stay the same: 9.00 is three times 3.00, and 6.75 is three times 2.25.
# If each list had been compared with the budget by itself, nothing would have been cut.
# And if the total had been 10.00, every amount would have been granted as it was, not 1.2 times as much.
#
# **The gradient, begun.** Two arrays, and the limit `max_norm` = 1.05:
#
# $$dW = \begin{bmatrix} 0.60 \\ -1.20 \end{bmatrix}, \qquad db = \begin{bmatrix} 0.40 \end{bmatrix}$$
#
# | | `dW` | `db` | both |
# |---|---|---|---|
# | sum of squares | 0.36 + 1.44 = 1.80 | 0.16 | 1.96 |
# | norm | | | 1.40 |
#
# What is the factor, and what are the two clipped arrays?
# Write them down before you write any code; you find them under *What you wrote down*, near the end of this notebook.
# This is the first case of the check.
#
# | name | shape | what it is |
# |---|---|---|
# | `grads` | a list of one or more arrays | gradients, each in the shape of its weights |
# | `max_norm` | a number above 0 | the largest norm that is allowed |
# | result `clipped` | a list of arrays | new arrays in the same order and shapes as `grads` |
# | result `norm` | a number | the norm of all gradients together, *before* clipping |
#
# The norm before clipping is returned because it is worth plotting: it shows when the gradient explodes.
#
# Two details. `torch.nn.utils.clip_grad_norm_` divides by the norm plus $10^{-6}$, so that it never divides by zero,
# and ends up slightly below the limit. Divide by the norm itself.
# And all gradients can be zero: then the result is zeros, and your function must not divide by zero.
#
# When the check passes, you can limit the length of any gradient step.


# %% exercise="clip_by_norm"
def clip_by_norm(grads, max_norm):
    """Scale gradients down if their common norm exceeds a limit.

    grads a list of arrays, max_norm a number above 0 -> clipped, a list of new arrays; the norm before, a number.
    """
    ### BEGIN SOLUTION
    norm = np.sqrt(sum(np.sum(g**2) for g in grads))  # over all entries of all arrays
    factor = max_norm / norm if norm > max_norm else 1.0
    return [factor * g for g in grads], norm
    ### END SOLUTION


# %% [markdown]
# ## Clipping by value
#
# Write `clip_by_value`.
# A simpler rule looks at each entry by itself: what lies outside the interval from −`limit` to `limit`
# is moved to the nearer end of the interval, and everything else stays as it is.
#
# **An example, half worked out.** With `limit` = 0.50:
#
# | entry | 0.60 | −1.20 | 0.40 | −0.30 |
# |---|---|---|---|---|
# | inside? | no, above | no, below | yes | |
# | clipped | 0.50 | | | |
#
# Write down the last three entries before you write any code.
#
# | name | shape | what it is |
# |---|---|---|
# | `grads` | a list of one or more arrays | gradients, each in the shape of its weights |
# | `limit` | a number above 0 | the largest absolute value that is allowed |
# | result `clipped` | a list of arrays | new arrays in the same order and shapes as `grads` |
#
# When the check passes, you have both rules, and can compare them.


# %% exercise="clip_by_value"
def clip_by_value(grads, limit):
    """Limit every entry of the gradients to the interval from -limit to limit.

    grads a list of arrays, limit a number above 0 -> a list of new arrays.
    """
    ### BEGIN SOLUTION
    return [np.clip(g, -limit, limit) for g in grads]
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()
