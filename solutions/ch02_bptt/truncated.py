# %% [markdown]
# # Truncated backpropagation
#
# How can a network learn from a text that is too long for one backward pass?
# A backward pass runs from the last step to the first and uses every state on its way,
# so the memory that it needs grows with the length of the text.
# In practice the text is cut into **chunks**, and no gradient is passed from one chunk back to the previous one.
# This is **truncated backpropagation through time**.
# In this notebook you compute the gradient that it defines.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("truncated_bptt")` asks you a question, `hint("truncated_bptt", 2)` explains the idea,
# and `hint("truncated_bptt", 3)` outlines the code.
#
# Read first, in the book: *Backpropagation through time › Truncated backpropagation through time*.
# You need the backward pass of one step, as in the notebook *Backward through time*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## Truncated backpropagation through time
#
# Write `truncated_bptt`.
# Which gradient does truncated backpropagation use in place of the full one?
# Your function is the definition in code: it gets a whole sequence and returns its truncated gradient.
#
# The forward pass has run through all steps without interruption, so each state depends on all earlier inputs.
# The backward pass is cut: the steps are divided into chunks of `tau`, of which the last may be shorter,
# and nothing is passed from a chunk back to the previous one.
# **The state crosses a cut, the gradient does not.**
#
# In equations, which count from 1, a cut follows the steps τ, 2τ and so on.
# There the next step contributes nothing to the total gradient $dh_t$; everything else is as in `rnn_backward`:
#
# $$dh_t = dh_t^{\text{out}} + dh_t^{\text{next}}, \qquad da_t = dh_t \odot (1 - h_t^2)$$
#
# $$dh_t^{\text{next}} =
# \begin{cases} 0 & \text{if step } t \text{ is the last of its chunk} \\
# da_{t+1} W_{hh}^\top & \text{otherwise} \end{cases}$$
#
# $$dW_{xh} = \sum_t x_t^\top da_t, \qquad dW_{hh} = \sum_t h_{t-1}^\top da_t, \qquad db_h = \sum_t da_t$$
#
# (The sign $\odot$ stands for multiplication entry by entry. For a batch, $db_h$ is also summed over the rows.)
# In code the steps are counted from 0, so the chunks are the steps 0 to tau − 1, tau to 2·tau − 1, and so on.
#
# | name | shape | what it is |
# |---|---|---|
# | `dh` | (B, T, H) | for each state, the contribution of its output to the gradient, $dh_t^{\text{out}}$ |
# | `x` | (B, T, D) | the inputs |
# | `h_0` | (B, H) | the initial state; it need not be zero |
# | `h` | (B, T, H) | all states, from the forward pass; `h[:, t]` is the state after reading `x[:, t]` |
# | `W_xh`, `W_hh` | (D, H), (H, H) | the weights |
# | `tau` | an integer | the number of steps in a chunk, at least 1; it may be larger than T |
# | result `dW_xh`, `dW_hh`, `db_h` | (D, H), (H, H), (H,) | the truncated gradients, summed over batch and time |
#
# **A worked example.** One sequence of five steps, one input, one unit, `tau` = 3;
# `W_hh` = [[1.50]], `h_0` = [[0.70]], and `x`, `h` and `dh` are in the table.
# (The states were chosen so that every number has two decimals; no forward pass gives exactly these.)
# Read the table from the top, because the last step comes first.
#
# | t | `x` | `h` | `dh` | `dh_next`, from t + 1 | `da_t`, part of `db_h` | part of `dW_xh` | part of `dW_hh` |
# |---|---|---|---|---|---|---|---|
# | 4 | −1.00 | 0.80 | 2.50 | 0.00 | 0.90 | −0.90 | −0.54 |
# | 3 | 2.50 | −0.60 | −0.85 | 1.35 | 0.32 | 0.80 | 0.16 |
# | 2 | 2.00 | 0.50 | 0.40 | **0.00** | 0.30 | 0.60 | 0.18 |
# | 1 | −1.50 | 0.60 | −0.20 | 0.45 | 0.16 | −0.24 | −0.08 |
# | 0 | 1.00 | −0.50 | −0.64 | 0.24 | −0.30 | −0.30 | −0.21 |
# | sum | | | | | 1.38 | −0.04 | −0.49 |
#
# Without the cut, step 3 would pass 0.32 · 1.50 = 0.48 back to step 2.
# The part of `dW_hh` from step 3 is 0.32 · 0.50 = 0.16 with or without the cut,
# because the state of step 2, 0.50, crosses it.
# This sequence is the first case of the check.
#
# You can write one loop over all steps, or copy your `rnn_backward` into a cell above and call it for each chunk.
# Your `numerical_gradient` cannot check the result in the usual way,
# because a numerical gradient of the loss also counts the paths that the cuts remove.
#
# When the check passes, you have computed the gradient that is used on long texts.
# Your function itself saves no memory, because it gets all states at once.
# Memory is saved by a training loop that reads one chunk at a time,
# calls an ordinary backward pass such as `rnn_backward` for this chunk alone, and keeps only the chunk's last state.
# Then the gradient is cut simply because nothing is passed back.
# You write this loop in the next notebook, *Training a network*.
# It updates the weights after every chunk, so the state that it passes on was computed with slightly older weights.


# %% exercise="truncated_bptt"
def truncated_bptt(dh, x, h_0, h, W_xh, W_hh, tau):
    """Compute the gradients, truncated to chunks of tau steps: the state crosses a cut, the gradient does not.

    dh (B, T, H), x (B, T, D), h_0 (B, H), h (B, T, H), W_xh (D, H), W_hh (H, H), tau a number of steps
    -> dW_xh (D, H), dW_hh (H, H), db_h (H,), summed over all steps.
    """
    ### BEGIN SOLUTION
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(W_hh.shape[0])
    dh_next = np.zeros(h_0.shape)  # (B, H): passed back by the next step
    for t in reversed(range(x.shape[1])):
        if (t + 1) % tau == 0:  # the last step of a chunk
            dh_next = np.zeros(h_0.shape)
        da_t = (dh[:, t] + dh_next) * (1 - h[:, t] ** 2)  # (B, H)
        dW_xh += x[:, t].T @ da_t
        dW_hh += (h[:, t - 1] if t > 0 else h_0).T @ da_t
        db_h += da_t.sum(axis=0)
        dh_next = da_t @ W_hh.T
    return dW_xh, dW_hh, db_h
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()
