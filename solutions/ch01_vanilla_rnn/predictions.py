# %% [markdown]
# # From states to predictions
#
# A hidden state is a row of numbers between −1 and 1.
# What we want to know is which class a sequence belongs to, or how likely each letter is to come next.
# In this notebook you write the functions that turn states into such predictions,
# and the loss that measures how good the predictions were.
#
# As before, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("softmax")` asks a question, `hint("softmax", 2)` explains the idea, `hint("softmax", 3)` outlines the code.
#
# Read first: *The vanilla RNN › Unrolling through time* and *Predicting the next letter*.
# This notebook does not depend on the previous one.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## The softmax
#
# Write `softmax`.
# The output layer of a network computes one number $z_i$ for each possible answer, called a **logit**.
# Logits can have any size and any sign.
# The **softmax** turns them into probabilities, which are never negative and sum to 1:
#
# $$p_i = \frac{e^{z_i}}{\sum_j e^{z_j}}$$
#
# | name | shape | what it is |
# |---|---|---|
# | `z` | any | the logits |
# | `axis` | an integer | the axis along which the probabilities sum to 1; by default the last |
# | result `p` | as `z` | the probabilities |
#
# In an array of shape (B, V), `axis=-1` makes each row sum to 1, and `axis=0` each column.
#
# **A worked example.** One row of three logits:
#
# | | id 0 | id 1 | id 2 | sum |
# |---|---|---|---|---|
# | `z` | 1.00 | 3.00 | 0.50 | |
# | $e^{z}$ | 2.72 | 20.09 | 1.65 | 24.45 |
# | `p` | 0.11 | 0.82 | 0.07 | 1.00 |
#
# **Large logits.** Adding 1000 to all three logits, or subtracting 1000 from them, does not change the probabilities,
# because the factor $e^{1000}$ or $e^{-1000}$ appears in the numerator and in the denominator.
# In floating point, however, `np.exp(1001.0)` overflows to infinity and `np.exp(-999.0)` underflows to 0.
# Your function must still return the same three probabilities,
# even where one row of an array is near 1000 and another near −1000.
#
# When the check passes, you can turn the logits of any network into probabilities, along any axis.


# %% exercise="softmax"
def softmax(z, axis=-1):
    """Turn logits into probabilities that sum to 1 along an axis, without overflow.

    z of any shape, axis an integer -> p of the same shape.
    """
    ### BEGIN SOLUTION
    e = np.exp(z - z.max(axis=axis, keepdims=True))  # the largest exponent is 0, so nothing overflows
    return e / e.sum(axis=axis, keepdims=True)
    ### END SOLUTION


# %% [markdown]
# ## Classifying a whole sequence
#
# Write `classify_last`.
# It reads each sequence to its end, and computes C logits $z$ from the last state, one for each class:
#
# $$z = h_{\text{last}} W_{hy} + b_y$$
#
# Sequences of different lengths share one array, so the shorter ones are filled up with **padding**,
# values without meaning.
# The last state of a row is therefore the state after its last *real* input.
#
# | name | shape | what it is |
# |---|---|---|
# | `x` | (B, T, D) | a batch of sequences, padded to T steps |
# | `lengths` | (B,) | the number of real steps in each row, from 1 to T |
# | `h_0` | (B, H) | the initial state |
# | `W_xh`, `W_hh`, `b_h` | (D, H), (H, H), (H,) | the recurrence: $h_t = \tanh(x_t W_{xh} + h_{t-1} W_{hh} + b_h)$ |
# | `W_hy`, `b_y` | (H, C), (C,) | the output layer |
# | result `logits` | (B, C) | one row for each sequence |
#
# **A worked example.** Two sequences (B = 2), one input, one unit, two classes:
# `W_xh` = [[0.80]], `W_hh` = [[−0.90]], `b_h` = [0.10], both initial states are 0.00, `W_hy` = [[−1.00, −1.50]],
# `b_y` = [0.35, −0.40].
#
# | row | `x[row, :, 0]` | length | states | last real state | logits |
# |---|---|---|---|---|---|
# | 0 | −0.50, 0.20, −1.20 | 3 | −0.29, 0.48, −0.86 | −0.86 | 1.21, 0.89 |
# | 1 | 1.60, 1.80, 1.90 | 1 | 0.88, 0.63, 0.78 | 0.88 | −0.53, −1.72 |
#
# Row 1 has length 1. Its other two inputs are padding, so the states computed from them are not used.
#
# You need the recurrence here: write its loop out again,
# or copy your `rnn_forward` into a cell of its own above this one.
# When the check passes, you can classify sequences of any length: reviews, sensor readings, melodies.


# %% exercise="classify_last"
def classify_last(x, lengths, h_0, W_xh, W_hh, b_h, W_hy, b_y):
    """Read padded sequences and compute the logits of each from its last real state.

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
# ## The cross-entropy of a sequence
#
# Write `sequence_loss`.
# At each step a language model outputs V logits, $z_{b,t}$, one for each token of its vocabulary:
# they are its prediction of the next token.
# The token that does come next is the **target**.
# The loss of the step is the **negative log-likelihood** of the target, $-\ln p$:
# it is 0 if the model was certain of the target, and the less probable the target was, the larger it is.
# The *mean over all tokens* of a batch is called the **cross-entropy**.
# With the natural logarithm its unit is the **nat**:
#
# $$L = -\frac{1}{B\,T} \sum_{b,\,t} \ln p_{b,t}, \qquad
# p_{b,t} = \text{softmax}(z_{b,t}) \text{ at the target}$$
#
# | name | shape | what it is |
# |---|---|---|
# | `logits` | (B, T, V) | the predictions, before the softmax |
# | `targets` | (B, T) | the ids of the tokens that came next, integers from 0 to V − 1 |
# | result `loss` | a number | the cross-entropy, in nats per token |
#
# **A worked example.** One sequence, two steps, three ids:
#
# | t | `logits[0, t]` | `targets[0, t]` | p of the target | its loss |
# |---|---|---|---|---|
# | 0 | [1.00, 0.20, −0.50] | 0 | 0.60 | 0.51 |
# | 1 | [0.40, 2.00, −0.30] | 2 | 0.08 | 2.56 |
#
# The result is their mean, 1.54.
#
# **Large logits.** Suppose a model is confident and wrong: its logits are [0.00, 1000.00], and the target is 0.
# The loss is then 1000.00, an ordinary number, and your function must return it.
# But the probability of the target, $e^{-1000}$, underflows to 0, and the logarithm of 0 is −∞.
# Before you write any code, simplify the logarithm of the softmax on paper.
#
# When the check passes, you have the loss with which language models are usually trained.


# %% exercise="sequence_loss"
def sequence_loss(logits, targets):
    """Cross-entropy of the targets, averaged over all tokens, however large the logits are.

    logits (B, T, V), targets (B, T) -> a number, in nats per token.
    """
    ### BEGIN SOLUTION
    largest = logits.max(axis=2, keepdims=True)  # (B, T, 1)
    log_sum = largest[:, :, 0] + np.log(np.exp(logits - largest).sum(axis=2))  # (B, T)
    picked = np.take_along_axis(logits, targets[:, :, None], axis=2)[:, :, 0]  # (B, T)
    return (log_sum - picked).mean()
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## A memory of one unit
#
# This section is not graded.
# The network below has a single unit, which controls a lamp:
# `+` switches the lamp on, `-` switches it off, and at `.` no button is pressed.
# Its weights were chosen by hand, not trained.
# The rows have different lengths, and their padding contains button presses that do not count.
# Which lamps are on at the end? Make a prediction, then run the cell.

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
#         W_xh=np.array([[6.0]]),  # large, so that a button press outweighs the previous state
#         W_hh=np.array([[2.0]]),  # without a press, the unit keeps its state
#         b_h=np.zeros(1),
#         W_hy=np.array([[-2.0, 2.0]]),  # classes: 0 is off, 1 is on
#         b_y=np.zeros(2),
#     )
#     for row, (_, on) in zip(rows, softmax(logits), strict=True):
#         print(f"{row:12}  {'●' if on > 0.5 else '○'}  on with probability {on:.2f}")
#     equal = np.zeros((1, 12, 27))  # the same logit for each of 27 characters: 26 letters and the space
#     loss = sequence_loss(equal, np.arange(12)[None])
#     print(f"\n27 equally likely characters: a loss of {loss:.2f} nats, a perplexity of {np.exp(loss):.0f}")
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# The unit stores the last button press through up to eleven steps without input.
# `W_hh` makes this possible: replace 2.0 with 0.5 and see how the probabilities return to 0.50.
#
# The **perplexity** is $e$ to the power of the loss: the number of equally likely tokens that would give the same loss.
