# %% [markdown]
# # Both directions, many layers
#
# So far, a recurrent network has read its sequence once, from the first step to the last, with a single layer.
# In this notebook you write three functions that work with any recurrent layer, whatever cell is inside it:
# one runs two layers in opposite directions, one stacks layers, and one draws the masks that drop units at random.
# Plan about 20 minutes for the first exercise, 5 for the second and 15 for the third.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("bidirectional")` asks you a question, `hint("bidirectional", 2)` explains the idea,
# and `hint("bidirectional", 3)` outlines the code.
#
# Read first, in the book: *LSTM, GRU and deep networks › Both directions, many layers*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## Both directions
#
# Write `bidirectional`.
# To tag a word, it often helps to know what comes after it.
# A **bidirectional** network has two layers: one reads the sequence forward, the other from its end to its beginning.
# At each step, the result is the forward state followed by the backward state of the *same* step:
#
# $$h_t = [\overrightarrow{h}_t,\; \overleftarrow{h}_t]$$
#
# Here $\overrightarrow{h}_t$ has read the inputs $x_1, \dots, x_t$,
# and $\overleftarrow{h}_t$ has read $x_n, \dots, x_t$, where $n$ is the length of the sequence.
# Both have read $x_t$ itself.
#
# The two layers are given as functions, and you need not know what is inside them.
# Each reads what it gets from the first step to the last, every row by itself, starting from a zero state.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (B, T, D) | a batch of sequences, padded to T steps |
# | `lengths` | (B,) | the number of real steps in each row, from 1 to T |
# | `run_forward` | a function | the layer that reads forward: (B, T, D) to its states, (B, T, H), for any B and T |
# | `run_backward` | a function | the layer that reads backward: the same shapes; it does *not* reverse anything |
# | result `h` | (B, T, 2H) | in each real step: H entries of the forward state, then H of the backward state |
#
# At the padded steps of the result, from `lengths[b]` on in row `b`, you may return any values.
# They are not graded. But padding must not change the states of the real steps.
#
# **A worked example.** Two sequences, one input, H = 1. These two layers are simple enough to compute by hand:
# each state of `run_forward` is the previous state plus the input,
# and each state of `run_backward` is *half* the previous state plus the input.
#
# | row | length | `x[row, :, 0]` | forward | the backward layer reads | its states in this order | the same, by step |
# |---|---|---|---|---|---|---|
# | 0 | 3 | 1, 3, 5 | 1, 4, 9 | 5, 3, 1 | 5, 5.5, 3.75 | 3.75, 5.5, 5 |
# | 1 | 2 | 2, 8, *7* | 2, 10, *any* | 8, 2 | 8, 6 | 6, 8, *any* |
#
# The 7 in row 1 is padding.
# If the backward layer read it first, its states would be 7, 11.5 and 7.75,
# and both real steps of the row would have a wrong backward state: 7.75 and 11.5 in place of 6 and 8.
# So the result is
#
# $$h[0] = \begin{bmatrix} 1 & 3.75 \\ 4 & 5.5 \\ 9 & 5 \end{bmatrix} \qquad
# h[1] = \begin{bmatrix} 2 & 6 \\ 10 & 8 \\ \text{any} & \text{any} \end{bmatrix}$$
#
# This example is the first case of the check. In most other cases, the layers are tanh networks with a bias,
# so that an input of 0 changes the state too.


# %% exercise="bidirectional"
def bidirectional(x, lengths, run_forward, run_backward):
    """Run one layer forward and one backward over padded sequences, and join their states.

    x (B, T, D), lengths (B,), run_forward and run_backward each (B, T, D) -> (B, T, H) -> h (B, T, 2H).
    """
    ### BEGIN SOLUTION
    rows, steps = np.arange(len(x))[:, None], np.arange(x.shape[1])  # (B, 1), (T,)
    last = lengths[:, None] - 1  # (B, 1)
    order = np.where(steps <= last, last - steps, steps)  # (B, T): real steps reversed, padding where it was
    forward = run_forward(x)
    backward = run_backward(x[rows, order])[rows, order]  # reversed twice, so each state is at its step again
    return np.concatenate([forward, backward], axis=2)
    ### END SOLUTION


# %% [markdown]
# ## Many layers
#
# Write `stack_layers`.
# In a **stacked** or **deep** recurrent network, each layer reads the states of the layer below it, step by step;
# only the lowest layer, number 0, reads the inputs.
# Return the states of the top layer, and for every layer the state after the last step:
# with these final states you can later continue where the sequence ended.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (B, T, D) | a batch of sequences, all of full length |
# | `layers` | a list of one or more functions | the layers, the lowest first; each maps (B, T, ·) to states (B, T, H) |
# | result `top` | (B, T, H) | all states of the top layer |
# | result `final` | a list of arrays (B, H) | the last state of each layer, the lowest layer first |
#
# **An example, half worked out.** One sequence, one unit in each layer, `x[0, :, 0]` = 2, 1, 4.
# In layer 0, each state is the previous state plus the input;
# in layer 1, half the previous state plus three times the input.
#
# | t | input of layer 0 | state of layer 0 | input of layer 1 | state of layer 1 |
# |---|---|---|---|---|
# | 0 | 2 | 2 | 2 | 0.5 · 0 + 3 · 2 = 6 |
# | 1 | 1 | 3 | 3 | 0.5 · 6 + 3 · 3 = 12 |
# | 2 | 4 | 7 | ? | ? |
#
# Fill in the question marks.
# Then `top[0, :, 0]` is the last column, and `final` contains two arrays of one number each.
# Which two numbers are they? This example is the first case of the check.


# %% exercise="stack_layers"
def stack_layers(x, layers):
    """Run a stack of recurrent layers; each reads the states of the one below.

    x (B, T, D), layers a list of functions (B, T, ·) -> (B, T, H) -> top (B, T, H), final a list of arrays (B, H).
    """
    ### BEGIN SOLUTION
    top, final = x, []
    for layer in layers:
        top = layer(top)  # (B, T, H)
        final.append(top[:, -1])
    return top, final
    ### END SOLUTION


# %% [markdown]
# ## One mask for all steps
#
# Write `variational_dropout_mask`.
# Dropout sets random entries to zero during training, each with probability $p$,
# and divides the others by $1 - p$, so that the mean of every entry stays what it was.
# If a recurrent network drops different units at every step, a unit keeps its state for a few steps only.
# **Variational dropout** (Gal & Ghahramani, 2016) draws one mask for each sequence and uses it at *every* step.
#
# Draw these masks. The axis of length 1 stands for time:
# in `x * mask`, with `x` of shape (B, T, size), it broadcasts over all T steps.
#
# | name | shape | what it is |
# |---|---|---|
# | `rng` | a random generator | the only source of random numbers: `rng.random(size=…)` and so on |
# | `batch_size` | an integer above 0 | B, the number of sequences |
# | `size` | an integer above 0 | the number of entries at each step |
# | `p` | a number, 0 ≤ p < 1 | the probability that an entry is 0 |
# | result `mask` | (B, 1, size) | float64; each entry is 0 with probability p, otherwise 1 / (1 − p) |
#
# All entries are independent of each other, across the units and across the sequences of the batch.
# With p = 0 the mask contains only ones.
# For p = 0.2, for example, the entries are 0 and 1.25, and their mean is 0.2 · 0 + 0.8 · 1.25 = 1.
#
# No single result is right. The check calls your function several hundred times with one generator,
# and tests the values, the share of zeros, their independence,
# and that a new generator with the same seed gives the same masks again.


# %% exercise="variational_dropout_mask"
def variational_dropout_mask(rng, batch_size, size, p):
    """Draw one dropout mask for each sequence, to be used at all of its steps.

    rng a random generator, batch_size and size integers above 0, 0 <= p < 1 -> (batch_size, 1, size).
    """
    ### BEGIN SOLUTION
    keep = rng.random(size=(batch_size, 1, size)) >= p  # True with probability 1 - p
    return keep / (1 - p)
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## What two directions know
#
# The rest of this notebook is not graded.
# The layer below has a single unit, whose state remembers the last button that was pressed:
# near 1 after `+`, near −1 after `-`, and 0 as long as no button has been pressed. At `.` nothing is pressed.
# The cell runs this layer in both directions with your `bidirectional`,
# and prints for each step which button was pressed last, and which is pressed next.
# The rows are padded with button presses that must not count.
#
# At which steps will the two lines differ? Make a guess, then run the cell.

# %% active="ipynb"
# def last_button(x):
#     states, state = [], np.zeros((len(x), 1))
#     for t in range(x.shape[1]):
#         state = np.tanh(6 * x[:, t] + 2 * state)  # (B, 1)
#         states.append(state)
#     return np.stack(states, axis=1)
#
#
# rows = ["..+...-..", "-...", "+..-..+"]
# T = max(map(len, rows))
# pressed = {"+": 1.0, "-": -1.0, ".": 0.0}
# x = np.array([[[pressed[button]] for button in row.ljust(T, "+")] for row in rows])  # (3, 9, 1)
#
#
# def signs(states):
#     return "".join("+" if state > 0.5 else "-" if state < -0.5 else "." for state in states)
#
#
# try:
#     h = bidirectional(x, np.array([len(row) for row in rows]), last_button, last_button)
#     for row, states in zip(rows, h, strict=True):
#         print(f"buttons  {row}")
#         print(f"  last   {signs(states[: len(row), 0])}")
#         print(f"  next   {signs(states[: len(row), 1])}\n")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# A network that reads forward can never answer the second question, however large it is.
# Where no button follows, the backward state must be 0, shown as `.`: if you see `+` there, the padding was read.
#
# ## What one mask for all steps keeps
#
# Here the mask is applied at every step to the state of a unit that does nothing but keep it: $h_t = m \odot h_{t-1}$,
# without the division by $1 - p$.
# With a new mask at every step, a unit survives $T$ steps with probability $(1 - p)^T$, with one mask with probability
# $1 - p$.

# %% active="ipynb"
# rng, T, units, p = np.random.default_rng(0), 20, 1000, 0.1
# try:
#     one_mask = variational_dropout_mask(rng, 1, units, p)[0, 0] > 0  # (1000,)
#     many_masks = variational_dropout_mask(rng, T, units, p)[:, 0] > 0  # (20, 1000)
#     print(f"one mask for all steps:   {one_mask.mean():.0%} of the units keep their state for {T} steps")
#     print(f"a new mask at each step:  {many_masks.all(axis=0).mean():.0%}, and (1 - p)^T is {(1 - p) ** T:.0%}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")
