# %% [markdown]
# # Backward through the LSTM
#
# An LSTM can often be trained where a tanh network forgets, and its backward pass shows a part of the reason.
# In this notebook you write that backward pass.
# First you compute the derivative along the direct path, from one cell state to a later one.
# Then you backpropagate through one step with all its gates, and finally through a whole sequence.
# Allow about 50 minutes.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("cell_gradient")` asks you a question, `hint("cell_gradient", 2)` explains the idea,
# and `hint("cell_gradient", 3)` outlines the code.
#
# Read first, in the book: *LSTM, GRU and deep networks › Backward through the gates*.
# The forward pass is given, so you do not need your functions from the previous notebook.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## The forward pass, given
#
# The equations of the LSTM, with states as rows:
#
# $$a_t = x_t W_x + h_{t-1} W_h + b$$
#
# $$i_t = \sigma(a_i), \quad f_t = \sigma(a_f), \quad g_t = \tanh(a_g), \quad o_t = \sigma(a_o)$$
#
# $$c_t = f_t \odot c_{t-1} + i_t \odot g_t, \qquad h_t = o_t \odot \tanh(c_t)$$
#
# The pre-activation $a_t$ has shape (B, 4H). Its four blocks of H columns belong to the input gate i,
# the forget gate f, the candidate g and the output gate o, in this order,
# and so do the columns of `W_x`, `W_h` and `b`.
# Run the cell below. Your own functions can use the functions that it defines.


# %%
def sigmoid(a):
    """The logistic function of every entry of an array."""
    return 0.5 + 0.5 * np.tanh(0.5 * a)  # the same as 1 / (1 + exp(-a)), but it cannot overflow


def lstm_gates(x_t, h_prev, W_x, W_h, b):
    """The gates and the candidate of one step: i, f, g, o, each (B, H)."""
    a_i, a_f, a_g, a_o = np.split(x_t @ W_x + h_prev @ W_h + b, 4, axis=1)  # (B, H) each
    return sigmoid(a_i), sigmoid(a_f), np.tanh(a_g), sigmoid(a_o)


def lstm_step(x_t, h_prev, c_prev, W_x, W_h, b):
    """One step: h_t (B, H), c_t (B, H)."""
    i_t, f_t, g_t, o_t = lstm_gates(x_t, h_prev, W_x, W_h, b)
    c_t = i_t * g_t + f_t * c_prev
    return o_t * np.tanh(c_t), c_t


def lstm_forward(x, h_0, c_0, W_x, W_h, b):
    """All steps: h (B, T, H), c (B, T, H)."""
    states = [(h_0, c_0)]
    for x_t in np.moveaxis(x, 1, 0):  # (B, D) at each step
        states.append(lstm_step(x_t, *states[-1], W_x, W_h, b))
    h, c = (np.stack(each[1:], axis=1) for each in zip(*states, strict=True))
    return h, c


# %% [markdown]
# ## The direct path through the cell
#
# Write `cell_gradient`.
# A change of an early cell state can reach a later one along many paths:
# it changes the hidden state, which changes the gates of the next step, and so on.
# But one path leads through no pre-activation at all, because each step multiplies the previous cell state
# by the forget gate and adds something:
#
# $$c_s = f_s \odot c_{s-1} + \dots$$
#
# This is the **direct path**. Along it, the gates are treated as fixed numbers.
# What is the derivative of $c_t$ with respect to an earlier $c_k$ along this path?
# Each unit has a cell of its own, so the Jacobian is diagonal,
# and your function returns its diagonal for each sequence.
#
# **A worked neighbour: a leaking tank.** In each hour the share $r_s$ of the water stays in the tank,
# and 5.00 litres are added, so $m_s = r_s \, m_{s-1} + 5.00$.
# With $r_1$ = 0.90, $r_2$ = 0.70 and $r_3$ = 0.80, one litre more at the start, in $m_0$, is 0.90 litres more in $m_1$,
# 0.90 · 0.70 = 0.63 more in $m_2$ and 0.63 · 0.80 = 0.504 more in $m_3$.
# How much is added makes no difference.
#
# **Your example.** One sequence of four steps, two units. Steps are counted from 0:
#
# | s | `f[0, s]` |
# |---|---|
# | 0 | [0.30, 0.85] |
# | 1 | [0.90, 0.40] |
# | 2 | [0.80, 0.60] |
# | 3 | [0.95, 0.70] |
#
# The gate `f[:, s]` acts in the step that leads from `c[:, s - 1]` to `c[:, s]`.
# Write down the derivative of `c[:, 2]` with respect to `c[:, 0]` for both units. This is the first case of the check,
# and *What you wrote down*, near the end of this notebook, prints it.
#
# | name | shape | what it is |
# |---|---|---|
# | `f` | (B, T, H) | the forget gates of all steps |
# | `k`, `t` | integers | steps, counted from 0, with k ≤ t |
# | result | (B, H) | the derivative of `c[:, t]` with respect to `c[:, k]` along the direct path |
#
# If k = t, there is no step in between. What is the derivative of a quantity with respect to itself?


# %% exercise="cell_gradient"
def cell_gradient(f, k, t):
    """The derivative of c[:, t] with respect to c[:, k] along the direct path, through the forget gates alone.

    f (B, T, H), k <= t counted from 0 -> (B, H), the diagonal of the Jacobian.  Equation (cell-gradient).
    """
    ### BEGIN SOLUTION
    return np.prod(f[:, k + 1 : t + 1], axis=1)  # of no gates at all it is 1
    ### END SOLUTION


# %% [markdown]
# ## One LSTM step backward
#
# Write `lstm_step_backward`.
# Two gradients arrive at a step of the LSTM, because two states leave it.
# `dh_t` is the total gradient of the hidden state, $\partial L / \partial h_t$, as in chapter 2.
# `dc_next` is the gradient that reaches $c_t$ *from the next step*, which uses the cell state as well.
# In the equations it is $dc_t^{\text{next}}$.
# There is a second path from $c_t$ to the loss, through $h_t$ of the same step, which `dc_next` does not contain.
# The total, `dc` in code, is the sum of both:
#
# $$dc = dc_t^{\text{next}} + dh_t \odot o_t \odot (1 - \tanh^2 c_t)$$
#
# Your function computes the gradients with respect to the input, both previous states, the weights and the bias.
# It receives what the forward pass received, and recomputes the gates from it.
#
# **An example, half worked out.** With B = D = H = 1, every quantity is a single number,
# except that `W_x`, `W_h` and `b` have four columns, for i, f, g and o:
#
# | | i | f | g | o |
# |---|---|---|---|---|
# | `W_x` | 0.50 | −0.30 | 0.40 | 0.80 |
# | `W_h` | 0.25 | 0.60 | −0.90 | 0.35 |
# | `b` | 0.20 | 1.79 | −1.27 | −1.26 |
#
# The input is $x_t$ = 1.50 and the previous states are $h_{t-1}$ = −0.40 and $c_{t-1}$ = 1.20.
# The forward pass gives, rounded to two decimals:
#
# | i | f | g | o | $c_t$ | $\tanh(c_t)$ |
# |---|---|---|---|---|---|
# | 0.70 | 0.75 | −0.30 | 0.45 | 0.69 | 0.60 |
#
# Let `dh_t` = 2.50 and `dc_next` = −0.92. The derivative of $\tanh(c_t)$ is 1 − 0.60² = 0.64.
# The part through h and c is worked out with these rounded values:
#
# | gradient with respect to | rule | here |
# |---|---|---|
# | o | `dh_t` times the other factor of $h_t$, which is $\tanh(c_t)$ | 2.50 · 0.60 = 1.50 |
# | $c_t$, through $h_t$ | `dh_t` times o times the derivative of the tanh, 0.64 | 2.50 · 0.45 · 0.64 = 0.72 |
# | $c_t$, in total | add `dc_next` | −0.92 + 0.72 = −0.20 |
# | $c_{t-1}$ | `dc` times the forget gate | −0.20 · 0.75 = −0.15 |
#
# The part through the gates is yours:
#
# | | i | f | g | o |
# |---|---|---|---|---|
# | gradient with respect to the gate | ? | ? | ? | 1.50 |
# | derivative of its nonlinearity | ? | ? | ? | ? |
# | gradient with respect to its pre-activation | ? | ? | ? | ? |
#
# The derivative of the sigmoid is $\sigma(a) (1 - \sigma(a))$.
# Like that of the tanh, it needs no $a$ if $\sigma(a)$ is known.
# Fill in the table before you write any code.
# With a single sequence, its last row is `db`, which *What you wrote down* prints.
# Your numbers may differ from it by a few thousandths, because the table started from rounded values.
#
# From the pre-activations on, the step is a familiar one:
# `da` has the shape (B, 4H), and you backpropagate it through $a_t = x_t W_x + h_{t-1} W_h + b$
# exactly as in `rnn_step_backward`.
#
# | name | shape | what it is |
# |---|---|---|
# | `dh_t` | (B, H) | the total gradient of the hidden state |
# | `dc_next` | (B, H) | the gradient that reaches the cell state from the next step |
# | `x_t`, `h_prev`, `c_prev` | (B, D), (B, H), (B, H) | the input and the previous states |
# | `W_x`, `W_h`, `b` | (D, 4H), (H, 4H), (4H,) | the weights and the bias, in the order i, f, g, o |
# | result `dx_t`, `dh_prev`, `dc_prev` | as `x_t`, `h_prev`, `c_prev` | the gradients of the input and the states |
# | result `dW_x`, `dW_h`, `db` | as `W_x`, `W_h`, `b` | those of the weights and the bias, summed over the batch |
#
# Return all six, in this order. Each of them earns points of its own.


# %% exercise="lstm_step_backward"
def lstm_step_backward(dh_t, dc_next, x_t, h_prev, c_prev, W_x, W_h, b):
    """The gradients of one step of the LSTM; the gates are recomputed.

    dh_t (B, H), dc_next (B, H), x_t (B, D), h_prev (B, H), c_prev (B, H), W_x (D, 4H), W_h (H, 4H), b (4H,)
    -> dx_t (B, D), dh_prev (B, H), dc_prev (B, H), dW_x (D, 4H), dW_h (H, 4H), db (4H,).
    Equation (lstm-step-backward).
    """
    ### BEGIN SOLUTION
    i, f, g, o = lstm_gates(x_t, h_prev, W_x, W_h, b)  # (B, H) each
    c_t = i * g + f * c_prev
    tanh_c = np.tanh(c_t)
    do = dh_t * tanh_c
    dc = dc_next + dh_t * o * (1 - tanh_c**2)  # from the next step and through h_t
    dc_prev = dc * f
    di, df, dg = dc * g, dc * c_prev, dc * i
    da_i, da_f, da_g, da_o = di * i * (1 - i), df * f * (1 - f), dg * (1 - g**2), do * o * (1 - o)
    da = np.concatenate([da_i, da_f, da_g, da_o], axis=1)  # (B, 4H)
    return da @ W_x.T, da @ W_h.T, dc_prev, x_t.T @ da, h_prev.T @ da, da.sum(axis=0)
    ### END SOLUTION


# %% [markdown]
# ## Backpropagation through the LSTM
#
# Write `lstm_backward`.
# It is the loop of `rnn_backward`, with a second gradient that is carried from step to step.
# The hidden state $h_t$ is used by the output at step $t$ and by the next step,
# so its total gradient is `dh[:, t] + dh_next`.
# The cell state is used by the next step, and by $h_t$ of its own step, which `lstm_step_backward` takes care of.
# So what is `dc_next` at each step?
#
# | step | `dh_t` | `dc_next` | passes back |
# |---|---|---|---|
# | T − 1, the last one | `dh[:, T - 1]` | `dc_T` | `dh_next`, `dc_next` |
# | T − 2 | `dh[:, T - 2] + dh_next` | ? | ? |
# | … | | | |
# | 0 | ? | ? | the gradients of `h_0` and `c_0` |
#
# `dc_T` is the gradient that reaches the last cell state from later:
# it is zero if the sequence ends there, but not if another chunk of the same text, or another network,
# continues from it.
#
# The first case of the check has two steps with the weights of the previous example (B = D = H = 1):
#
# | t | `x[0, t]` | `dh[0, t]` | previous `h` | previous `c` |
# |---|---|---|---|---|
# | 0 | 0.50 | −0.60 | 0.20 | −0.80 |
# | 1 | −1.00 | 1.40 | −0.26 | −1.21 |
#
# With `dc_T` = 0.30, the last step passes back `dh_next` = −0.11 and `dc_next` = 0.29.
# Which `dh_t` and `dc_next` does the step at t = 0 therefore receive?
#
# The step function needs the previous hidden and cell state of each step, but no states are given.
# Run the forward pass again, with `lstm_forward`, to have them all.
#
# | name | shape | what it is |
# |---|---|---|
# | `dh` | (B, T, H) | for each hidden state, the contribution of its output to the gradient |
# | `dc_T` | (B, H) | the gradient that reaches the last cell state from later |
# | `x`, `h_0`, `c_0` | (B, T, D), (B, H), (B, H) | the inputs and the initial states, which need not be zero |
# | `W_x`, `W_h`, `b` | (D, 4H), (H, 4H), (4H,) | the weights and the bias |
# | result `dx`, `dh_0`, `dc_0` | as `x`, `h_0`, `c_0` | the gradients with respect to inputs and initial states |
# | result `dW_x`, `dW_h`, `db` | as `W_x`, `W_h`, `b` | those of the weights and the bias, summed over batch and time |
#
# Return all six, in this order. Use your `lstm_step_backward`.
# When the check passes, you have written what `loss.backward()` does for `torch.nn.LSTM`.


# %% exercise="lstm_backward"
def lstm_backward(dh, dc_T, x, h_0, c_0, W_x, W_h, b):
    """The gradients of an LSTM over a batch of sequences, by backpropagation through time.

    dh (B, T, H), dc_T (B, H), x (B, T, D), h_0 (B, H), c_0 (B, H), W_x (D, 4H), W_h (H, 4H), b (4H,)
    -> dx (B, T, D), dh_0 (B, H), dc_0 (B, H), dW_x (D, 4H), dW_h (H, 4H), db (4H,).
    """
    ### BEGIN SOLUTION
    h, c = lstm_forward(x, h_0, c_0, W_x=W_x, W_h=W_h, b=b)  # (B, T, H) each
    dx, dW_x, dW_h, db = np.zeros(x.shape), np.zeros(W_x.shape), np.zeros(W_h.shape), np.zeros(b.shape)
    dh_next, dc_next = np.zeros(h_0.shape), dc_T
    for t in reversed(range(x.shape[1])):
        h_prev = h[:, t - 1] if t > 0 else h_0
        c_prev = c[:, t - 1] if t > 0 else c_0
        dh_t = dh[:, t] + dh_next
        dx_t, dh_next, dc_next, dW_x_t, dW_h_t, db_t = lstm_step_backward(
            dh_t, dc_next, x[:, t], h_prev, c_prev, W_x, W_h, b
        )
        dx[:, t] = dx_t
        dW_x += dW_x_t
        dW_h += dW_h_t
        db += db_t
    return dx, dh_next, dc_next, dW_x, dW_h, db
    ### END SOLUTION


# %% [markdown]
# ## What you wrote down
#
# The next cell runs your functions on the three examples.
# If one of your numbers differs by more than rounding, go back to its table and work out that entry again.

# %% active="ipynb"
# W_x, W_h = np.array([[0.50, -0.30, 0.40, 0.80]]), np.array([[0.25, 0.60, -0.90, 0.35]])
# b = np.array([0.20, 1.79, -1.27, -1.26])
# f = np.array([[[0.30, 0.85], [0.90, 0.40], [0.80, 0.60], [0.95, 0.70]]])
# dh_t, dc_next, x_t, h_prev, c_prev = np.array([[[2.50]], [[-0.92]], [[1.50]], [[-0.40]], [[1.20]]])
# dh, x = np.array([[[[-0.60], [1.40]]], [[[0.50], [-1.00]]]])
# dc_T, h_0, c_0 = np.array([[[0.30]], [[0.20]], [[-0.80]]])
# names = "dx", "dh_0", "dc_0", "dW_x", "dW_h", "db"
#
# try:
#     print("direct path ", np.round(cell_gradient(f, 0, 2), 3).tolist())
#     *_, dc_prev, dW_x, dW_h, db = lstm_step_backward(dh_t, dc_next, x_t, h_prev, c_prev, W_x, W_h, b)
#     print("one step     dc_prev", np.round(dc_prev, 3).tolist(), "  db", np.round(db, 3).tolist())
#     for name, gradient in zip(names, lstm_backward(dh, dc_T, x, h_0, c_0, W_x, W_h, b), strict=True):
#         print(f"two steps    {name:5s}", np.round(gradient, 3).tolist())
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## How much takes the direct path?
#
# This section is not graded.
# An LSTM with 16 units and random weights reads sequences of 1, 5, 10, 20 and 40 steps.
# The last cell state has a random gradient `dc_T`, and there is no other loss.
# The cell below prints the norm of `dc_0`, relative to that of `dc_T`, in two ways:
# along all paths, by your `lstm_backward`, and along the direct path alone, by your `cell_gradient`.
# It does so for three values of the bias of the forget gate.
# Which of the two numbers will be larger, and how does the forget bias change them?
# Write down a guess, then run the cell.

# %% active="ipynb"
# rng = np.random.default_rng(0)
# B, D, H = 8, 4, 16
# inputs, dc_T = rng.normal(size=(B, 40, D)), rng.normal(size=(B, H))
# W_x, W_h = 0.5 * rng.normal(size=(D, 4 * H)), 0.144 * rng.normal(size=(H, 4 * H))
# h_0, c_0 = np.zeros((B, H)), np.zeros((B, H))
#
# try:
#     for bias in (0.0, 1.0, 3.0):
#         b = np.repeat([0.0, bias, 0.0, 0.0], H)  # i, f, g, o
#         for T in (1, 5, 10, 20, 40):
#             x = inputs[:, :T]
#             h, c = lstm_forward(x, h_0, c_0, W_x, W_h, b)
#             h_prev = np.concatenate([h_0[:, None], h[:, :-1]], axis=1)
#             f = np.stack([lstm_gates(x[:, t], h_prev[:, t], W_x, W_h, b)[1] for t in range(T)], axis=1)
#             _, _, dc_0, *_ = lstm_backward(np.zeros((B, T, H)), dc_T, x, h_0, c_0, W_x, W_h, b)
#             direct = dc_T * cell_gradient(f, 0, T - 1) * f[:, 0]  # from c[:, T - 1] to c[:, 0], then to c_0
#             all_paths, along_f = (np.linalg.norm(dc) / np.linalg.norm(dc_T) for dc in (dc_0, direct))
#             print(f"forget bias {bias:.0f}  {T:2d} steps   all paths {all_paths:.1e}   direct path {along_f:.1e}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# Over one step the two are equal, because the hidden state that this step reads, `h_0`, does not depend on `c_0`.
# The direct path alone shrinks by the forget gate at every step.
# With bias 0 the gate is about 0.5, and after 40 steps 12 powers of ten are gone;
# with bias 3 it is about 0.93, and several hundredths of the gradient are left.
# This is the argument for a large forget bias at the start of training
# when something has to be remembered for a long time.
#
# The direct path is not the whole gradient, though.
# After 20 steps the gradient along all paths is at least twice as large here,
# because the other paths, through `h` and the gates of later steps, contribute as well.
# They can also make the gradient grow: make `W_h` four times as large, and look at bias 3.
#
# These are random weights without any training. Change the seed in the first line and run the cell again:
# the gradient along all paths over 40 steps can easily differ by a factor of 2 to 5.
