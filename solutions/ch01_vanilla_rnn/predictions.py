# %% [markdown]
# # From states to predictions
#
# A state is a row of numbers between −1 and 1.
# Nobody asked for that: we want to know which class, which letter, how likely.
# In this notebook you build what stands between the state and the answer,
# and the number that says how good the answer was.
#
# As always: replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("softmax")` asks you a question, `hint("softmax", 2)` names the idea,
# `hint("softmax", 3)` shows the shape of the code.
#
# Read first: *The vanilla RNN › Unrolling* and *Hello, network*, in the book.
# Nothing from the notebook before is needed here.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## From numbers to probabilities
#
# Write `softmax`.
# A network's output layer gives one number $z_i$ for each possibility, a *logit*: any number at all.
# The softmax turns them into probabilities, all positive, that add up to 1:
#
# $$p_i = \frac{e^{z_i}}{\sum_j e^{z_j}}$$
#
# | name | shape | what it is |
# |---|---|---|
# | `z` | any | numbers |
# | `axis` | an integer | the axis along which the results add up to 1; the last one if it is left out |
# | result `p` | that of `z` | probabilities |
#
# In an array of shape (B, V), `axis=-1` makes each row add up to 1, and `axis=0` each column.
#
# **By hand, once.** One row of three:
#
# | | id 0 | id 1 | id 2 | sum |
# |---|---|---|---|---|
# | `z` | 1.00 | 3.00 | 0.50 | |
# | $e^{z}$ | 2.72 | 20.09 | 1.65 | 24.45 |
# | `p` | 0.11 | 0.82 | 0.07 | 1.00 |
#
# Now add 1000 to all three numbers. On paper nothing changes: the factor $e^{1000}$ is above and below the line.
# In the machine `np.exp(1001.0)` is infinite, and `np.exp(-999.0)` is 0.
# Your function has to return the same three probabilities for numbers of any size,
# also where one row of an array lies near 1000 and another near −1000.
#
# When the check passes, you can turn the output of any network into probabilities, along any axis of any array.


# %% exercise="softmax"
def softmax(z, axis=-1):
    """Turn numbers into probabilities that add up to 1 along an axis, however large the numbers are.

    z of any shape, axis an integer -> p of the same shape.
    """
    ### BEGIN SOLUTION
    e = np.exp(z - z.max(axis=axis, keepdims=True))  # the largest exponent is 0, so nothing overflows
    return e / e.sum(axis=axis, keepdims=True)
    ### END SOLUTION


# %% [markdown]
# ## One answer for a whole sequence
#
# Write `classify_last`.
# Read each sequence to its end, and let an output layer make C logits, one for each class, from its last state:
#
# $$\text{logits} = h_{\text{last}} W_{hy} + b_y$$
#
# Sequences of different lengths share one array: the shorter ones are filled up with *padding*,
# numbers that mean nothing.
# Each row's last state is therefore the one after its own last *real* input.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (B, T, D) | a batch of sequences, padded to T steps |
# | `lengths` | (B,) | how many steps of each row are real, from 1 to T |
# | `h_0` | (B, H) | the state before the first step |
# | `W_xh`, `W_hh`, `b_h` | (D, H), (H, H), (H,) | the recurrence: $h_t = \tanh(x_t W_{xh} + h_{t-1} W_{hh} + b_h)$ |
# | `W_hy`, `b_y` | (H, C), (C,) | the output layer |
# | result `logits` | (B, C) | one row for each sequence |
#
# **By hand, once.** Two sequences (B = 2), one input, one unit, two classes:
# `W_xh` = [[1.00]], `W_hh` = [[0.50]], `b_h` = [0.00], both states start at 0.00, `W_hy` = [[2.00, −1.00]],
# `b_y` = [0.10, 0.00].
#
# | row | `x[row, :, 0]` | length | states | last real one | logits |
# |---|---|---|---|---|---|
# | 0 | 1.00, −1.00, 0.50 | 3 | 0.76, −0.55, 0.22 | 0.22 | 0.54, −0.22 |
# | 1 | 0.50, 2.00, 1.00 | 1 | 0.46, 0.98, 0.90 | 0.46 | 1.02, −0.46 |
#
# The second row is one step long. Its other two inputs are padding, and so are the two states that they make.
#
# You need the recurrence here: write its loop out again,
# or copy your `rnn_forward` into a cell of its own above this one.
# When the check passes, you can sort sequences of any length: reviews, sensor readings, melodies.


# %% exercise="classify_last"
def classify_last(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    """Read padded sequences and give each its logits, from its last real state.

    x (B, T, D), lengths (B,), h_0 (B, H), W_xh (D, H), W_hh (H, H), b_h (H,), W_hy (H, C), b_y (C,) -> logits (B, C).
    """
    ### BEGIN SOLUTION
    h, h_t = [], h_0
    for t in range(x.shape[1]):
        h_t = np.tanh(x[:, t] @ W_xh + h_t @ W_hh + b_h)  # (B, H)
        h.append(h_t)
    last = np.stack(h, axis=1)[np.arange(len(lengths)), lengths - 1]  # (B, H)
    return last @ W_hy + b_y  # (B, C)
    ### END SOLUTION


# %% [markdown]
# ## How surprised the network is
#
# Write `sequence_loss`.
# At each step a network that reads text gives V logits, its guess at the next id; then the next id comes.
# The loss of that step is $-\ln p$ of the id that came: 0 if the network was sure of it,
# large if it was sure of another one.
# The loss of a batch is the *mean over all its tokens*, in nats:
#
# $$L = -\frac{1}{B\,T} \sum_{b,\,t} \ln p_{b,t}, \qquad
# p_{b,t} = \text{softmax}(\text{logits}_{b,t}) \text{ at the target}$$
#
# | name | shape | what it is |
# |---|---|---|
# | `logits` | (B, T, V) | the guesses, before the softmax |
# | `targets` | (B, T) | the ids that came, integers from 0 to V − 1 |
# | result `loss` | a number | nats a token |
#
# **By hand, once.** One sequence, two steps, two ids:
#
# | t | `logits[0, t]` | `targets[0, t]` | p of the target | its loss |
# |---|---|---|---|---|
# | 0 | [1.00, 0.00] | 0 | 0.73 | 0.31 |
# | 1 | [0.00, 2.00] | 0 | 0.12 | 2.13 |
#
# The loss is their mean, 1.22.
#
# Now think of a network that is very sure, and wrong: logits [0.00, 1000.00], target 0.
# The loss is 1000, a perfectly good number.
# But the probability is $e^{-1000}$, which the machine rounds to 0, and $\ln 0$ is no number at all.
# Your function has to return 1000.00. (Take the logarithm of the softmax apart on paper first.)
#
# When the check passes, you have the number that every language model is trained to make small.


# %% exercise="sequence_loss"
def sequence_loss(logits, targets):
    """Cross-entropy of the next ids, averaged over all tokens, however large the logits are.

    logits (B, T, V), targets (B, T) -> a number, in nats a token.
    """
    ### BEGIN SOLUTION
    largest = logits.max(axis=2, keepdims=True)  # (B, T, 1)
    log_sum = largest[:, :, 0] + np.log(np.exp(logits - largest).sum(axis=2))  # (B, T)
    picked = np.take_along_axis(logits, targets[:, :, None], axis=2)[:, :, 0]  # (B, T)
    return (log_sum - picked).mean()
    ### END SOLUTION


# %% [markdown]
# ## Where you are

# %% active="ipynb"
# progress()

# %% [markdown]
# ## A lamp that remembers
#
# Nothing is graded here.
# A network with a single unit watches two buttons: `+` switches the lamp on, `-` switches it off, `.` is silence.
# Nobody trained it; its few weights are chosen by hand.
# The rows below have different lengths, and are padded with button presses that never happened.
# Which lamps are on at the end? Say it to yourself, then run the cell.

# %% active="ipynb"
# rows = ["+", "+..........", "+....-", "-.-.-.+.....", "+-+-+-+-", "-..........."]
#
# T = max(map(len, rows))
# padded = [row.ljust(T, "-" if row[0] == "+" else "+") for row in rows]
# pressed = {"+": 1.0, "-": -1.0, ".": 0.0}
# x = np.array([[pressed[button] for button in row] for row in padded])  # (6, 12)
# lengths = np.array([len(row) for row in rows])
#
# try:
#     logits = classify_last(
#         x=x[:, :, None],  # (6, 12, 1)
#         lengths=lengths,
#         h_0=np.zeros((6, 1)),
#         W_xh=np.array([[6.0]]),  # a button is stronger than what the unit remembers
#         W_hh=np.array([[2.0]]),  # and without a button, it tells itself what it knew
#         b_h=np.zeros(1),
#         W_hy=np.array([[-2.0, 2.0]]),  # classes: 0 is off, 1 is on
#         b_y=np.zeros(2),
#     )
#     for row, (_, on) in zip(rows, softmax(logits), strict=True):
#         print(f"{row:12}  {'●' if on > 0.5 else '○'}  on with probability {on:.2f}")
#     guesses = np.zeros((1, 12, 27))  # a network that knows nothing: 26 letters and the space are all the same to it
#     loss = sequence_loss(guesses, np.arange(12)[None])
#     print(f"\nKnowing nothing of 27 characters costs {loss:.2f} nats each: like a die with {np.exp(loss):.0f} sides.")
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# The lamp remembers the last button through eleven silent steps, with one number.
# `W_hh` is what makes it stay: replace 2.0 by 0.5, and see how soon it forgets.
