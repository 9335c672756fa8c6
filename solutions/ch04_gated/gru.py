# %% [markdown]
# # The GRU
#
# The **gated recurrent unit** (GRU) keeps its memory in the hidden state itself and needs no separate cell state.
# It has two gates: one decides how much of the old state is kept, the other how much of it enters the candidate for
# the new state.
# In this notebook you write one step of the GRU in the two conventions that are in use, then the loop over time,
# and a function that counts the parameters of recurrent layers.
# Allow about 45 minutes.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("gru_step")` asks you a question, `hint("gru_step", 2)` explains the idea,
# and `hint("gru_step", 3)` outlines the code.
#
# Read first, in the book: *LSTM, GRU and deep networks › The gated recurrent unit*.
#
# The gates need the logistic function, which is given here as in *The LSTM cell*.

# %%
import numpy as np

from grader import check, hint, progress


def sigmoid(a):
    """The logistic function of every entry of an array."""
    return 0.5 + 0.5 * np.tanh(0.5 * a)


# %% [markdown]
# ## One step of the GRU
#
# Write `gru_step`.
# The weights have three **blocks** of H columns each, in the order r, z, n, which is PyTorch's order:
# the first H columns of `W_x`, `W_h`, `b_x` and `b_h` belong to the **reset gate** $r_t$,
# the next H to the **update gate** $z_t$ and the last H to the **candidate** $n_t$.
#
# $$r_t = \sigma(x_t W_{xr} + b_{xr} + h_{t-1} W_{hr} + b_{hr})$$
#
# $$z_t = \sigma(x_t W_{xz} + b_{xz} + h_{t-1} W_{hz} + b_{hz})$$
#
# $$n_t = \tanh\big(x_t W_{xn} + b_{xn} + r_t \odot (h_{t-1} W_{hn} + b_{hn})\big)$$
#
# $$h_t = (1 - z_t) \odot n_t + z_t \odot h_{t-1}$$
#
# ($\sigma$ is the logistic function, and $\odot$ stands for multiplication entry by entry.)
# The new state is a weighted mean: where $z_t$ is near 1, the old state is kept, and where it is near 0,
# the candidate takes its place.
#
# | name | shape | what it is |
# |---|---|---|
# | `x_t` | (B, D) | the input at this step, one row for each sequence of the batch |
# | `h_prev` | (B, H) | the previous state, $h_{t-1}$ |
# | `W_x` | (D, 3H) | the weights from the input, in the blocks r, z, n |
# | `W_h` | (H, 3H) | the weights from the previous state, in the same blocks |
# | `b_x`, `b_h` | (3H,) | the biases of the input's side and of the state's side |
# | result `h_t` | (B, H) | the new state |
#
# **A worked example.** One sequence (B = 1), one input (D = 1), two units (H = 2).
# Each block therefore has two columns, one for each unit:
#
# $$x_t = \begin{bmatrix} 1.50 \end{bmatrix} \quad
# h_{t-1} = \begin{bmatrix} 0.40 & -0.60 \end{bmatrix}$$
#
# | | block r | block z | block n |
# |---|---|---|---|
# | `W_x` | 0.60, −0.40 | 0.80, −0.20 | 0.50, −1.00 |
# | `W_h`, row 0 | 0.50, −0.30 | 0.20, 0.70 | 0.90, −0.50 |
# | `W_h`, row 1 | −0.80, 0.40 | −0.60, 0.10 | 0.30, 1.10 |
# | `b_x` | 0.10, −0.20 | 0.35, 0.20 | −0.40, 0.10 |
# | `b_h` | −0.30, 0.25 | 0.15, −0.35 | 0.25, 0.45 |
#
# The two products, each with its bias, give six numbers for each side. In the first column of the state's side,
# for example, 0.40 · 0.50 + (−0.60) · (−0.80) − 0.30 = 0.38.
#
# | | block r | block z | block n |
# |---|---|---|---|
# | input's side, `x_t @ W_x + b_x` | 1.00, −0.80 | 1.55, −0.10 | 0.35, −1.40 |
# | state's side, `h_prev @ W_h + b_h` | 0.38, −0.11 | 0.59, −0.13 | 0.43, −0.41 |
# | pre-activation | 1.38, −0.91 | 2.14, −0.23 | 0.69, −1.52 |
# | after the logistic function or the tanh | 0.80, 0.29 | 0.89, 0.44 | 0.60, −0.91 |
#
# In the blocks r and z the pre-activation is the sum of the two lines above it. In block n it is not:
# there the reset gate multiplies the state's side first, which gives 0.35 + 0.80 · 0.43 = 0.69 for unit 0.
# The new state of unit 0 is (1 − 0.89) · 0.60 + 0.89 · 0.40 = 0.42, close to its previous state, because
# its update gate is near 1. Unit 1 has $h_t$ = −0.77.
# (All entries are rounded; the code calculates with full precision.)
#
# This is the first case of the check.


# %% exercise="gru_step"
def gru_step(x_t, h_prev, W_x, W_h, b_x, b_h):
    """One step of a GRU in PyTorch's convention, with the blocks of columns in the order r, z, n.

    x_t (B, D), h_prev (B, H), W_x (D, 3H), W_h (H, 3H), b_x (3H,), b_h (3H,) -> h_t (B, H).  Equation (gru-step).
    """
    ### BEGIN SOLUTION
    x_r, x_z, x_n = np.split(x_t @ W_x + b_x, 3, axis=1)  # (B, H) each
    h_r, h_z, h_n = np.split(h_prev @ W_h + b_h, 3, axis=1)
    r = sigmoid(x_r + h_r)
    z = sigmoid(x_z + h_z)
    n = np.tanh(x_n + r * h_n)  # the reset gate acts on the state's side only
    return (1 - z) * n + z * h_prev
    ### END SOLUTION


# %% [markdown]
# ## The reset gate before the product
#
# Write `gru_step_cho`.
# The paper that introduced the GRU, Cho et al. (2014), applies the reset gate to the previous state *before* the
# product with the weights, and only the candidate is different:
#
# $$n_t = \tanh\big(x_t W_{xn} + b_{xn} + (r_t \odot h_{t-1}) W_{hn} + b_{hn}\big)$$
#
# (The paper has no biases. With them, the gate acts on the previous state alone, so $b_{hn}$ is not multiplied by it.)
# Arguments, shapes, both gates and the last equation are those of `gru_step`, so you can start from a copy of it.
#
# **The same example, half worked out.** The inputs are those above, and so are the gates.
# What the reset gate multiplies is now the previous state: `r * h_prev` is [0.32, −0.17], rounded.
#
# | | unit 0 | unit 1 |
# |---|---|---|
# | candidate of `gru_step` | 0.60 | −0.91 |
# | candidate of `gru_step_cho` | 0.68 | ? |
# | new state of `gru_step` | 0.42 | −0.77 |
# | new state of `gru_step_cho` | 0.43 | ? |
#
# The candidate of unit 0 depends on the reset gates of *both* units here. On which of them does it depend in
# `gru_step`?
# Work out the two missing numbers before you write any code, and compare them with *What you wrote down* below.
#
# Beware of a third convention. Chung et al. (2014) define the update gate the other way round,
# $h_t = (1 - z_t) \odot h_{t-1} + z_t \odot n_t$. Here $z_t$ multiplies the previous state, as in Cho et al. (2014).


# %% exercise="gru_step_cho"
def gru_step_cho(x_t, h_prev, W_x, W_h, b_x, b_h):
    """One step of a GRU as in Cho et al. (2014), with the blocks of columns in the order r, z, n.

    x_t (B, D), h_prev (B, H), W_x (D, 3H), W_h (H, 3H), b_x (3H,), b_h (3H,) -> h_t (B, H).  Equation (gru-step-cho).
    """
    ### BEGIN SOLUTION
    H = h_prev.shape[1]
    W_hn, b_hn = W_h[:, 2 * H :], b_h[2 * H :]  # (H, H), (H,)
    x_r, x_z, x_n = np.split(x_t @ W_x + b_x, 3, axis=1)  # (B, H) each
    h_r, h_z, _ = np.split(h_prev @ W_h + b_h, 3, axis=1)
    r = sigmoid(x_r + h_r)
    z = sigmoid(x_z + h_z)
    n = np.tanh(x_n + (r * h_prev) @ W_hn + b_hn)  # the reset gate acts on the previous state itself
    return (1 - z) * n + z * h_prev
    ### END SOLUTION


# %% [markdown]
# ## The GRU over time
#
# Write `gru_forward`.
# It runs PyTorch's convention over a batch of sequences: it starts from `h_0`, applies `gru_step` to each input in
# turn, and returns *all* the states.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (B, T, D) | a batch of sequences; `x[:, t]` holds the inputs of one time step |
# | `h_0` | (B, H) | the initial state; it need not be zero |
# | `W_x`, `W_h`, `b_x`, `b_h` | as above | the *same* weights at every step |
# | result `h` | (B, T, H) | `h[:, t]` is the state after reading `x[:, t]` |
#
# **An example.** With the weights from above, `h_0` = [[0.40, −0.60]] and three inputs, the states are:
#
# | t | `x[0, t]` | `h[0, t]` |
# |---|---|---|
# | 0 | 1.50 | [0.42, −0.77] |
# | 1 | 0.00 | [0.28, −0.47] |
# | 2 | −1.00 | [−0.17, 0.08] |
#
# This is the first case of the check. When it passes, you can run a GRU over sequences of any length.


# %% exercise="gru_forward"
def gru_forward(x, h_0, W_x, W_h, b_x, b_h):
    """Run a GRU in PyTorch's convention over a batch of sequences.

    x (B, T, D), h_0 (B, H), W_x (D, 3H), W_h (H, 3H), b_x (3H,), b_h (3H,) -> h (B, T, H).  Equation (gru-step).
    """
    ### BEGIN SOLUTION
    h, h_t = [], h_0
    for t in range(x.shape[1]):
        h_t = gru_step(x[:, t], h_t, W_x, W_h, b_x, b_h)  # (B, H)
        h.append(h_t)
    return np.stack(h, axis=1)  # (B, T, H)
    ### END SOLUTION


# %% [markdown]
# ## Counting parameters
#
# Write `count_parameters`.
# How many numbers does a recurrent layer of PyTorch learn?
# You need to know this to compare an LSTM with a GRU fairly, because the larger network has an advantage
# that has nothing to do with its gates.
#
# A tanh RNN has one block of weights, the GRU has three (r, z, n) and the LSTM four (i, f, g, o).
# In each block PyTorch has **two** biases, one for the input's side and one for the state's side.
# In a GRU you have seen why; in the other two cells only their sum matters, but both are learned, so both are counted.
#
# **A worked example.** `torch.nn.RNN(3, 2)` has three inputs and two units:
#
# | array | shape | entries |
# |---|---|---|
# | input weights | (3, 2) | 6 |
# | recurrent weights | (2, 2) | 4 |
# | two biases | (2,) each | 4 |
# | sum | | 14 |
#
# **Several layers, both directions.** If `num_layers` is larger than 1, every layer above the first reads the states
# of the layer below as its input.
# If `bidirectional` is true, every layer consists of two cells with weights of their own: one reads its input from the
# first step to the last, the other from the last to the first.
# Their states are joined, so the row that the next layer reads at each step has an entry for every unit of both.
#
# | call | parameters |
# |---|---|
# | `torch.nn.RNN(3, 2, num_layers=2)` | 26 |
# | `torch.nn.RNN(3, 2, bidirectional=True)` | 28 |
# | `torch.nn.RNN(3, 2, num_layers=2, bidirectional=True)` | 60 |
#
# Find out on paper where each of these numbers comes from: which part of the 14 changes in the second layer?
#
# | name | type | what it is |
# |---|---|---|
# | `kind` | a string | `"rnn"`, `"lstm"` or `"gru"` |
# | `input_size`, `hidden_size` | integers | D and H |
# | `num_layers` | an integer | the number of layers, at least 1 |
# | `bidirectional` | True or False | whether every layer runs in both directions |
# | result | an integer | the number of parameters, as PyTorch counts them |


# %% exercise="count_parameters"
def count_parameters(kind, input_size, hidden_size, num_layers=1, bidirectional=False):
    """The number of parameters of torch.nn.RNN, LSTM or GRU.

    kind "rnn", "lstm" or "gru", sizes and num_layers integers -> an integer.  Equation (parameter-count).
    """
    ### BEGIN SOLUTION
    blocks = {"rnn": 1, "gru": 3, "lstm": 4}[kind]
    directions = 2 if bidirectional else 1
    total, size = 0, input_size
    for _ in range(num_layers):
        total += directions * blocks * (size * hidden_size + hidden_size**2 + 2 * hidden_size)
        size = directions * hidden_size  # what the next layer reads
    return total
    ### END SOLUTION


# %% [markdown]
# ## What you wrote down
#
# The next cell runs your functions on the examples above.
# If one of your numbers differs, go back to its table and work out that entry again.

# %% active="ipynb"
# W_x = np.array([[0.60, -0.40, 0.80, -0.20, 0.50, -1.00]])
# W_h = np.array([[0.50, -0.30, 0.20, 0.70, 0.90, -0.50], [-0.80, 0.40, -0.60, 0.10, 0.30, 1.10]])
# b_x, b_h = np.array([0.10, -0.20, 0.35, 0.20, -0.40, 0.10]), np.array([-0.30, 0.25, 0.15, -0.35, 0.25, 0.45])
# x_t, h_prev = np.array([[1.50]]), np.array([[0.40, -0.60]])
#
# try:
#     print("gru_step     ", np.round(gru_step(x_t, h_prev, W_x, W_h, b_x, b_h), 2).tolist())
#     print("gru_step_cho ", np.round(gru_step_cho(x_t, h_prev, W_x, W_h, b_x, b_h), 2).tolist())
#     for kind in ("rnn", "gru", "lstm"):
#         sizes = [count_parameters(kind, 3, 2), count_parameters(kind, 3, 2, num_layers=2, bidirectional=True)]
#         print(f"{kind:13s}", sizes)
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## How long does a difference survive?
#
# This section is not graded.
# Two runs of the same GRU read the same random inputs but start from different states.
# For how many steps can you tell the two runs apart by their states?
# The cell prints the distance between the two states after 10, 20, 40 and 60 steps, relative to the distance at the
# start. It does so for several values of a single number, the bias $b$ of the update gate, which is the same for all
# 16 units. All other weights are random.
#
# If nothing but the update gate mattered, and if input and state did not change it,
# the gate would be $\sigma(b)$ at every step, and $\sigma(b)^t$ of the difference would be left after $t$ steps.
# For $b$ = 0 that is $0.5^t$. How large must $b$ be for a tenth to be left after 40 steps?
# Write down a guess, then run the cell.

# %% active="ipynb"
# rng = np.random.default_rng(0)
# D, H, T = 4, 16, 60
# x, (h_0, other_h_0) = rng.normal(size=(1, T, D)), rng.uniform(-1, 1, size=(2, 1, H))
# W_x, W_h = rng.uniform(-0.25, 0.25, size=(D, 3 * H)), rng.uniform(-0.25, 0.25, size=(H, 3 * H))
#
# try:
#     for b in (0.0, 1.0, 2.0, 3.0, 4.0):
#         b_x = np.zeros(3 * H)
#         b_x[H : 2 * H] = b  # the block of the update gate
#         h, other_h = (gru_forward(x, start, W_x, W_h, b_x, np.zeros(3 * H)) for start in (h_0, other_h_0))
#         distances = np.linalg.norm(h - other_h, axis=2)[0] / np.linalg.norm(h_0 - other_h_0)
#         print(f"b = {b:.0f}   " + "   ".join(f"t = {t}: {distances[t - 1]:.0e}" for t in (10, 20, 40, 60)))
#         print("   σ(b)^t   " + "   ".join(f"t = {t}: {sigmoid(b) ** t:.0e}" for t in (10, 20, 40, 60)))
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# For a large bias, the distance follows $\sigma(b)^t$ closely, as if the path through the update gate were the only
# one. For $b$ = 0, more is left than $\sigma(b)^t$ says, because the difference also
# travels through the candidate and the gates.
# A bias of 4 keeps about half of the difference for 40 steps.
#
# This is an untrained network with one draw of random weights.
# It shows what a GRU can keep if its bias is set well, not what a trained one learns to keep.
