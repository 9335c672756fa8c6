# %% [markdown]
# # Back through time
#
# A weight of a recurrent network is used at every time step. So it is to blame at every time step,
# and its gradient is a sum over time.
# In this notebook you walk a sequence backward and collect that sum.
# It is the algorithm that this chapter is named after, and with it you can train every network of the chapter before.
#
# As always: replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("rnn_backward")` asks you a question, `hint("rnn_backward", 2)` names the idea,
# `hint("rnn_backward", 3)` shows the shape of the code.
#
# Read first, in the book: *Backpropagation through time › The unrolled graph*, then *The backward pass by hand*.
# The notebook *Gradients by hand* comes before this one, and has the calculus of one step.
# Where you need it here, write it out again, or copy your `rnn_step_backward` into a cell of its own,
# above the cell of `rnn_backward`.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## The whole sequence, backward
#
# Write `rnn_backward`.
# The forward pass has run, and all its states are kept:
#
# $$a_t = x_t W_{xh} + h_{t-1} W_{hh} + b_h, \qquad h_t = \tanh(a_t), \qquad t = 1, \dots, T$$
#
# Something looks at the states and makes a loss of them: an output layer at every step, or at the last one alone.
# It hands you `dh`: for each state, what it is to blame for *through what looked at it*.
# That is not yet all. A state also went into the next state.
# So the whole blame of $h_t$ comes from two sources: from what looked at it, and from the step after.
# `dh` is here a *part*; the whole is called $g_t$, as in the book.
# (In *Gradients by hand* somebody had put both together for you: its `dh_t` is this $g_t$.)
#
# **One number each, in full.** D = 1, H = 1, three steps.
# `W_xh` = −0.50, `W_hh` = 0.50, `b_h` = −0.15, `h_0` = 0.40.
# The three inputs were −1.00, −2.00 and 1.90, and the three states, rounded, 0.50, 0.80 and −0.60.
# Steps are counted as in Python, from 0: `h[0]` is the state *after* the first step, $h_1$ in the equations above.
# So `dh_0` belongs to `h_0`, one step before `h[0]`: it is not `dh[0]`.
# Read the table from the top: the last step comes first.
#
# | t | `dh[t]` | from the step after | together, `g[t]` | slope, `1 − h[t]²` | `da[t]` | to the step before |
# |---|---|---|---|---|---|---|
# | 2 | −1.25 | 0.00 | −1.25 | 0.64 | −1.25 · 0.64 = −0.80 | −0.80 · 0.50 = −0.40 |
# | 1 | 1.40 | −0.40 | 1.00 | 0.36 | 1.00 · 0.36 = 0.36 | 0.36 · 0.50 = 0.18 |
# | 0 | 0.62 | 0.18 | 0.80 | 0.75 | 0.80 · 0.75 = 0.60 | 0.60 · 0.50 = 0.30 |
#
# What is handed to the step before is made of `da[t]` alone: each line *replaces* what the line above handed on.
# What the last line hands on goes to the state before the first step: `dh_0` = 0.30.
#
# Each `x[t]` was used once, so `dx[t]` is `da[t]` · (−0.50), which is −0.30, −0.18 and 0.40 for t = 0, 1, 2.
# The weights and the bias were used at every step. Each step *adds* its part to theirs:
#
# | t | `x[t]` | state before | part of `dW_xh` | part of `dW_hh` | part of `db_h` |
# |---|---|---|---|---|---|
# | 2 | 1.90 | 0.80 | −1.52 | −0.64 | −0.80 |
# | 1 | −2.00 | 0.50 | −0.72 | 0.18 | 0.36 |
# | 0 | −1.00 | 0.40 | −0.60 | 0.24 | 0.60 |
# | sum | | | −2.84 | −0.22 | 0.16 |
#
# At t = 0 the state before is `h_0`, and it counts like any other.
#
# **What adds up, and what does not.** Every value adds up the blame from all the places where it was used.
# A weight was used at each step: its gradient grows through the whole walk.
# A state was used twice, by what looked at it and by the next step: two terms, and that is all.
# So what you carry from step to step is no sum over the steps. It belongs to one state, and then to the one before.
#
# **One row, half of it.** One input, two units, two steps, one sequence:
#
# $$x = \begin{bmatrix} -1.00 \\ 2.00 \end{bmatrix} \quad
# h_0 = \begin{bmatrix} 0.50 & -0.25 \end{bmatrix} \quad
# h = \begin{bmatrix} 0.50 & -0.60 \\ 0.80 & 0.60 \end{bmatrix} \quad
# dh = \begin{bmatrix} 0.30 & -0.10 \\ 1.00 & 0.50 \end{bmatrix}$$
#
# $$W_{xh} = \begin{bmatrix} 0.30 & 0.55 \end{bmatrix} \qquad
# W_{hh} = \begin{bmatrix} 0.50 & -0.25 \\ 1.00 & 0.75 \end{bmatrix}$$
#
# (The states came out with `b_h` = [0.85, 0.17], and are rounded. No gradient needs `b_h`: the slopes need the states.)
#
# | t | `dh[0, t]` | from the step after | together, `g` | slopes | `da` | to the step before |
# |---|---|---|---|---|---|---|
# | 1 | [1.00, 0.50] | [0.00, 0.00] | [1.00, 0.50] | [0.36, 0.64] | [0.36, 0.32] | [0.10, 0.60] |
# | 0 | [0.30, −0.10] | [0.10, 0.60] | [0.40, 0.50] | [0.75, 0.64] | ? | ? |
#
# To follow the last column of the first line: unit 0 of the state before reached both units,
# through the first row of $W_{hh}$, so its blame is 0.36 · 0.50 + 0.32 · (−0.25) = 0.10.
#
# | t | `dx[0, t]` | part of `dW_xh` | part of `dW_hh` | part of `db_h` |
# |---|---|---|---|---|
# | 1 | 0.28 | [0.72, 0.64] | [[0.18, 0.16], [−0.22, −0.19]] | [0.36, 0.32] |
# | 0 | ? | ? | ? | ? |
#
# Fill in the question marks before you program, and add up each column of parts.
# The check's first case is this very sequence. It sees your function, and not your paper:
# to compare the two, go to *What you wrote down*, at the end of this notebook, when the check passes.
#
# **The batch is yours.**
#
# | name | shape | what it is |
# |---|---|---|
# | `dh` | (B, T, H) | for each state a part of its gradient: what comes through what looked at it |
# | `x` | (B, T, D) | the inputs |
# | `h_0` | (B, H) | the state before the first step; it need not be zero |
# | `h` | (B, T, H) | all states, from the forward pass; `h[:, t]` is the one after reading `x[:, t]` |
# | `W_xh`, `W_hh` | (D, H), (H, H) | the weights |
# | result `dx`, `dh_0` | (B, T, D), (B, H) | gradients with respect to the inputs and to `h_0` |
# | result `dW_xh`, `dW_hh`, `db_h` | (D, H), (H, H), (H,) | those of weights and bias, summed over batch and time |
#
# Return all five, in this order. Each of them has points of its own.
# When the check passes, you have written what `loss.backward()` does for a recurrent network.


# %% exercise="rnn_backward"
def rnn_backward(dh, x, h_0, h, W_xh, W_hh):
    """The gradients of a tanh RNN over a batch of sequences, by backpropagation through time.

    dh (B, T, H), x (B, T, D), h_0 (B, H), h (B, T, H), W_xh (D, H), W_hh (H, H)
    -> dx (B, T, D), dh_0 (B, H), dW_xh (D, H), dW_hh (H, H), db_h (H,).  Equation (rnn-backward).
    """
    ### BEGIN SOLUTION
    dx = np.zeros(x.shape)
    dW_xh, dW_hh, db_h = np.zeros(W_xh.shape), np.zeros(W_hh.shape), np.zeros(len(W_hh))
    dh_next = np.zeros(h_0.shape)  # (B, H): what comes back from the step after; from the end nothing does
    for t in reversed(range(x.shape[1])):
        h_prev = h[:, t - 1] if t > 0 else h_0  # (B, H)
        da_t = (dh[:, t] + dh_next) * (1 - h[:, t] ** 2)  # (B, H)
        dx[:, t] = da_t @ W_xh.T  # (B, D)
        dW_xh += x[:, t].T @ da_t
        dW_hh += h_prev.T @ da_t
        db_h += da_t.sum(axis=0)
        dh_next = da_t @ W_hh.T  # (B, H)
    return dx, dh_next, dW_xh, dW_hh, db_h
    ### END SOLUTION


# %% [markdown]
# ## Back into the embedding
#
# Write `embedding_backward`.
# An embedding is a table $E$ with one row of D numbers for each of the V ids.
# Going forward, each place of each sequence copies the row of its id: `e = E[ids]`.
# Going backward, `de` says how much each of these *copies* is to blame. How much is each row of the table?
#
# A row that was copied once gets the gradient of its copy.
# A row that was copied several times is to blame for all of its copies.
# A row that nobody copied is to blame for nothing.
#
# **By hand, once.** One sequence of three places, four ids, D = 2:
#
# | t | `ids[0, t]` | `de[0, t]` |
# |---|---|---|
# | 0 | 2 | [0.10, −0.20] |
# | 1 | 0 | [0.30, 0.00] |
# | 2 | 2 | [0.05, 0.40] |
#
# | row of `dE` | gradient | |
# |---|---|---|
# | 0 | [0.30, 0.00] | copied at t = 1 |
# | 1 | [0.00, 0.00] | never copied |
# | 2 | [0.15, 0.20] | copied at t = 0 and t = 2 |
# | 3 | [0.00, 0.00] | never copied |
#
# Text is full of repeated ids: in this sentence alone the letter `e` stands more than ten times.
#
# | name | shape | what it is |
# |---|---|---|
# | `de` | (B, T, D) | the gradient with respect to each copied row |
# | `ids` | (B, T) | which row was copied where, integers from 0 to V − 1 |
# | `vocab_size` | an integer | V, the number of rows of the table |
# | result `dE` | (V, D) | the gradient with respect to the table |
#
# When the check passes, your backward pass reaches down to the letters themselves.


# %% exercise="embedding_backward"
def embedding_backward(de, ids, vocab_size):
    """The gradient of an embedding table: each row collects from all of its copies.

    de (B, T, D), ids (B, T), vocab_size V -> dE (V, D).  Equation (embedding-backward).
    """
    ### BEGIN SOLUTION
    dE = np.zeros((vocab_size, de.shape[2]))
    np.add.at(dE, ids, de)  # adds at every place, repeated ids included
    return dE
    ### END SOLUTION


# %% [markdown]
# ## What you wrote down
#
# Your `rnn_backward`, on the row of two steps above.
# Of `dx` you had one number to find. The gradients of weights and bias are the sums of your columns.

# %% active="ipynb"
# dh, h = np.array([[[[0.30, -0.10], [1.00, 0.50]]], [[[0.50, -0.60], [0.80, 0.60]]]])
# x, h_0 = np.array([[[-1.00], [2.00]]]), np.array([[0.50, -0.25]])
# W_xh, W_hh = np.array([[0.30, 0.55]]), np.array([[0.50, -0.25], [1.00, 0.75]])
#
# try:
#     gradients = rnn_backward(dh, x, h_0, h, W_xh, W_hh)
#     for name, gradient in zip(("dx", "dh_0", "dW_xh", "dW_hh", "db_h"), gradients, strict=True):
#         print(f"{name:6s}", np.round(gradient, 2).tolist())
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Where you are

# %% active="ipynb"
# progress()

# %% [markdown]
# ## Whose fault was it?
#
# Nothing is graded here.
# A network with eight units reads inputs for twelve steps, and only its last state is looked at.
# Your `rnn_backward` says how much the input of each step mattered for it.
# The loop below tries three sizes of `W_hh`. Which steps will matter most, and what will the size change?
# Say it to yourself, then run the cell.

# %% active="ipynb"
# rng = np.random.default_rng(3)
# x, h_0, W_xh = rng.normal(size=(1, 12, 5)), np.zeros((1, 8)), 0.05 * rng.normal(size=(5, 8))
# turn, _ = np.linalg.qr(rng.normal(size=(8, 8)))  # it turns a state, and neither stretches nor shrinks it
#
# try:
#     for size in (0.5, 0.9, 1.3):
#         W_hh, h_t, states = size * turn, h_0, []
#         for t in range(12):
#             h_t = np.tanh(x[:, t] @ W_xh + h_t @ W_hh)  # (1, 8)
#             states.append(h_t)
#         dh = np.zeros((1, 12, 8))
#         dh[:, -1] = rng.normal(size=(1, 8))  # the loss looks at the last state alone
#         dx, *_ = rnn_backward(dh, x, h_0, np.stack(states, axis=1), W_xh, W_hh)
#         blame = np.linalg.norm(dx[0], axis=1)  # (12,): one number for each step
#         print(f"size {size}")
#         for t, share in enumerate(blame / blame.max()):
#             print(f"  x[{t:2d}]  {share:4.2f} ", "●" * round(40 * share))
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# With the small `W_hh` the last few steps get nearly all the blame, and the first ones nearly none:
# from them this network can hardly learn.
# With the middle one the blame reaches all the way back, and with the large one it grows on its way.
# Why it fades or grows, and what can be done about it, is the subject of the next chapter.
