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
# **A worked neighbour.** Two lists of amounts exceed a common budget of 14.00,
# and all amounts are multiplied by the same factor to meet it. So there is *one* total, over both lists:
#
# | | first list | second list | total |
# |---|---|---|---|
# | asked for | 9.00, 3.00 | 8.00 | 20.00 |
# | factor | | | 14.00 / 20.00 = 0.70 |
# | granted | 6.30, 2.10 | 5.60 | 14.00 |
#
# The proportions stay the same: 9.00 is three times 3.00, and 6.30 is three times 2.10.
# If each list had been compared with the budget by itself, nothing would have been cut.
# And if the total had been 10.00, every amount would have been granted as it was, not multiplied by 1.4.
#
# **The gradient, half worked out.** Two arrays, and the limit `max_norm` = 1.05:
#
# $$dW = \begin{bmatrix} 0.60 \\ -1.20 \end{bmatrix}, \qquad db = \begin{bmatrix} 0.40 \end{bmatrix}$$
#
# | | `dW` | `db` | both |
# |---|---|---|---|
# | sum of squares | 0.36 + 1.44 = 1.80 | 0.16 | 1.96 |
# | norm | | | 1.40 |
#
# What is the factor, and what are the two clipped arrays?
# Write them down before you write any code.
# Your function computes them under *What you wrote down*, near the end of this notebook.
# This is the first case of the check.
#
# | name | shape | what it is |
# |---|---|---|
# | `grads` | a list of one or more arrays | gradients, each in the shape of its weights |
# | `max_norm` | a number above 0 | the largest norm that is allowed |
# | result `clipped` | a list of arrays | the clipped gradients in the order and shapes of `grads`, which stays as is |
# | result `norm` | a number | the norm of all gradients together, *before* clipping |
#
# The norm before clipping is returned because it is worth plotting: it shows when the gradient explodes.
#
# Two details. `torch.nn.utils.clip_grad_norm_` divides by the norm plus $10^{-6}$, so that it never divides by zero,
# and its clipped norm is slightly below the limit. Divide by the norm itself.
# But all gradients can be zero: then return zeros and the norm 0, and no nan.
#
# When the check passes, you can limit the length of any gradient step.


# %% exercise="clip_by_norm"
def clip_by_norm(grads, max_norm):
    """Scale gradients down if their common norm exceeds a limit.

    grads a list of arrays, max_norm a number above 0 -> clipped, a list of arrays; the norm before, a number.
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
# is replaced by the nearer end of the interval, and everything else stays as it is.
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
# | result `clipped` | a list of arrays | the clipped gradients in the order and shapes of `grads`, which stays as is |
#
# When the check passes, you have both rules, and can compare them.


# %% exercise="clip_by_value"
def clip_by_value(grads, limit):
    """Limit every entry of the gradients to the interval from -limit to limit.

    grads a list of arrays, limit a number above 0 -> a list of arrays.
    """
    ### BEGIN SOLUTION
    return [np.clip(g, -limit, limit) for g in grads]
    ### END SOLUTION


# %% [markdown]
# ## What you wrote down
#
# The next cell runs your functions on the examples above.
# If one of your numbers differs, go back to its table and work out that entry again.

# %% active="ipynb"
# dW, db = np.array([[0.60], [-1.20]]), np.array([0.40])
#
# try:
#     clipped, norm = clip_by_norm([dW, db], 1.05)
#     print("by norm   ", [np.round(g, 2).tolist() for g in clipped], "  norm before:", round(float(norm), 2))
#     print("by value  ", np.round(clip_by_value([np.array([0.60, -1.20, 0.40, -0.30])], 0.50)[0], 2).tolist())
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## Shorter, and turned?
#
# This section is not graded.
# The cell below runs a tanh network of 16 units for 40 steps without inputs, with random recurrent weights that are
# large enough for the gradient to explode, and backpropagates a random gradient of the last state.
# Then it clips the gradients of `W_hh` and `b_h` with both of your functions, at smaller and smaller limits, and prints
# how long the clipped gradient is and by which angle it has been turned.
#
# Which of the two rules turns the gradient? Does it turn it more or less as the limit becomes smaller?
# And how long can a gradient with N entries be after clipping by value? Write down your guesses, then run the cell.

# %% active="ipynb"
# rng = np.random.default_rng(0)
# T, H = 40, 16
# W_hh = 1.6 * rng.normal(size=(H, H)) / np.sqrt(H)
# h, dh = [1e-6 * rng.normal(size=H)], rng.normal(size=H)
# for t in range(T):
#     h.append(np.tanh(h[-1] @ W_hh))  # (H,)
#
# dW_hh, db_h = np.zeros((H, H)), np.zeros(H)
# for t in reversed(range(T)):
#     da = dh * (1 - h[t + 1] ** 2)  # (H,): through the tanh
#     dW_hh, db_h = dW_hh + np.outer(h[t], da), db_h + da
#     dh = da @ W_hh.T
#
#
# def length_and_angle(clipped):
#     before, after = (np.concatenate([g.ravel() for g in gs]) for gs in ([dW_hh, db_h], clipped))
#     cosine = before @ after / np.linalg.norm(before) / np.linalg.norm(after)
#     return f"length {np.linalg.norm(after):8.2g}, turned by {np.degrees(np.arccos(min(1, cosine))):2.0f}°"
#
#
# try:
#     print(f"norm before clipping: {clip_by_norm([dW_hh, db_h], 1.0)[1]:.2g}, entries: {dW_hh.size + db_h.size}")
#     for limit in (1e3, 1e2, 1e1, 1e0, 1e-1, 1e-2):
#         by_norm, by_value = clip_by_norm([dW_hh, db_h], limit)[0], clip_by_value([dW_hh, db_h], limit)
#         print(f"limit {limit:6g}   by norm: {length_and_angle(by_norm)}   by value: {length_and_angle(by_value)}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# Clipping by norm shortens the gradient to the limit and never turns it.
# Clipping by value turns it, and more so as the limit gets smaller: first only the largest entries are cut,
# in the end nearly all of them are −`limit` or `limit`, and little more than their signs is left of the gradient.
# With 272 entries its length can reach limit · √272, about 16 times the limit.
# The angle stays below 90°, though, because every entry keeps its sign:
# a small enough step along the clipped gradient still lowers the loss.
#
# This is one untrained network, and an extreme one. In training, clipping by value at a limit that few entries exceed
# turns the gradient only a little. And neither rule can do anything for a gradient that has *vanished*:
# scaling it up would scale up whatever is left of it, and the contribution of distant steps is no longer in it.
