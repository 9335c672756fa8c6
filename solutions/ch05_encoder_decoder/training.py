# %% [markdown]
# # Training with teacher forcing
#
# A decoder writes one token at a time, and each token it writes is its next input.
# In training we know what it should have written, so we can feed it the right tokens instead.
# In this notebook you write the loss of a padded batch, the loop that computes this loss for a decoder,
# and the choice between right tokens and the decoder's own.
# Plan about 15 minutes for the first exercise, 20 for the second and 5 for the third.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("masked_cross_entropy")` asks you a question, `hint("masked_cross_entropy", 2)` explains the idea,
# and `hint("masked_cross_entropy", 3)` outlines the code.
#
# Read first, in the book: *Encoder–decoder, translation and captions › Training an encoder–decoder*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# The logarithm of the softmax is given. For finite logits it is finite, however large they are,
# because it never computes a probability.


# %%
def log_softmax(z):
    """Log-probabilities along the last axis: logits z (…, V) -> (…, V)."""
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


# %% [markdown]
# ## Cross-entropy without the padding
#
# Write `masked_cross_entropy`.
# The sentences of a batch have different lengths, so the shorter ones are padded.
# A decoder computes logits at the padded positions too, but they mean nothing.
# The loss is the mean of $-\ln p$ of the target over the *real* tokens of the whole batch:
#
# $$L = \frac{\sum_{b,t} m_{b,t}\, \ell_{b,t}}{\sum_{b,t} m_{b,t}} \qquad
# \ell_{b,t} = -\ln p_{b,t}[y_{b,t}]$$
#
# Here $m_{b,t}$ is 1 at a real token and 0 at padding.
# If there is no real token at all, the loss is 0.0.
#
# | name | shape | what it is |
# |---|---|---|
# | `logits` | (B, T, V) | the logits of the decoder, finite everywhere, but possibly huge, at padding too |
# | `targets` | (B, T) | the target ids, integers from 0 to V − 1; at padding, any of these ids |
# | `mask` | (B, T) | True at real tokens, False at the padding behind them; a row may be all padding |
# | result `loss` | a number | the mean in nats over the real tokens; 0.0 if there are none |
#
# **A worked example.** Two sentences of three tokens and of one, with V = 3:
#
# | row | t | logits | target | real | $\ell$ |
# |---|---|---|---|---|---|
# | 0 | 0 | 2.00, 0.50, −1.00 | 0 | yes | 0.24 |
# | 0 | 1 | 0.30, −1.20, 1.00 | 0 | yes | 1.17 |
# | 0 | 2 | −0.50, 1.50, 0.20 | 2 | yes | 1.64 |
# | 1 | 0 | 0.00, 0.80, 1.40 | 1 | yes | 1.19 |
# | 1 | 1 | −1.00, 3.00, 0.60 | 0 | no | *4.10* |
# | 1 | 2 | 0.90, 0.10, −2.00 | 0 | no | *0.41* |
#
# The four real losses add up to 4.24, so the result is 4.24 / 4 = 1.06.
# With the padding it would be 1.46.
# Note that the padding has the id 0 here, and so have two of the real tokens: only the mask tells them apart.
#
# This example is the first case of the check.


# %% exercise="masked_cross_entropy"
def masked_cross_entropy(logits, targets, mask):
    """The mean cross-entropy of the real tokens, in nats; 0.0 if there are none.

    logits (B, T, V), targets (B, T), mask (B, T), True at real tokens -> a number.
    """
    ### BEGIN SOLUTION
    losses = -np.take_along_axis(log_softmax(logits), targets[:, :, None], axis=2)[:, :, 0]  # (B, T)
    return (losses * mask).sum() / max(mask.sum(), 1)
    ### END SOLUTION


# %% [markdown]
# ## The loss with teacher forcing
#
# Write `teacher_forced_loss`.
# With **teacher forcing**, the decoder reads the right previous token at every step, whatever it has predicted itself.
# The first input is ⟨sos⟩, which stands for $y_0$:
#
# | t, counted from 0 | 0 | 1 | 2 | … | T − 1 |
# |---|---|---|---|---|---|
# | input | ⟨sos⟩ | $y_1$ | $y_2$ | … | $y_{T-1}$ |
# | target, `targets[:, t]` | $y_1$ | $y_2$ | $y_3$ | … | $y_T$ |
#
# So `targets` contains ⟨eos⟩ as the last real token of a sentence, but never ⟨sos⟩.
#
# The decoder is a function, `step`, and you need not know what is inside it.
# It maps the previous tokens and the decoder's state to the logits of the next tokens and the next state.
# It changes nothing in place, and the form of the state is its own affair: pass on what it returns.
#
# | name | shape | what it is |
# |---|---|---|
# | `step` | a function | one step of the decoder: `step(y_prev, state)` returns `logits, state` |
# | its `y_prev` | (B,) | the previous token of each row, an array of integers |
# | its `logits` | (B, V) | the logits of the next token of each row |
# | `state` | any | the decoder's state before its first step |
# | `targets` | (B, T) | the target ids; at padding, any ids |
# | `mask` | (B, T) | True at real tokens, False at the padding behind them; a row may be all padding |
# | `sos_id` | an integer | the id of ⟨sos⟩ |
# | result `loss` | a number | the mean cross-entropy in nats over the real tokens; 0.0 if there are none |
#
# Your `masked_cross_entropy` may do the last part of the work.
#
# **An example, half worked out.** This decoder has a table for its memory.
# Its state is one number for each row, and it knows the following steps:
#
# | state | `y_prev` | next state | logits of ids 0 to 4 |
# |---|---|---|---|
# | 0 | 1 | 1 | −2.00, −3.00, 0.10, 1.50, 0.80 |
# | 1 | 3 | 2 | −1.00, −2.50, 0.40, −0.60, 2.00 |
# | 1 | 4 | 3 | 0.30, −2.00, 1.20, 0.90, −1.00 |
# | 2 | 4 | 4 | −0.50, −1.50, 2.20, 0.70, 0.00 |
# | any other pair | | 5 | 1.10, −0.40, −1.20, 0.60, 0.50 |
#
# The ids are 0 for padding, 1 for ⟨sos⟩, 2 for ⟨eos⟩, and 3 and 4 for two words.
# Both rows start in state 0. The targets are 3, 4, 2 in row 0, and 4, 2 in row 1, which is padded with 0.
#
# | t | `y_prev` of both rows | states before | states after | targets | $\ell$ of both rows |
# |---|---|---|---|---|---|
# | 0 | 1, 1 | 0, 0 | 1, 1 | 3, 4 | 0.58, 1.28 |
# | 1 | 3, ? | 1, 1 | 2, ? | 4, ? | 0.29, ? |
# | 2 | ?, ? | 2, ? | ?, ? | ?, *padding* | ?, *not counted* |
#
# At t = 0 the largest logit of row 1 is that of id 3, but its target is 4.
# Which of the two ids does row 1 read at t = 1? Fill in the question marks.
# The mean over the five real tokens is 0.67. This example is the first case of the check;
# in the other cases the decoder is a GRU.


# %% exercise="teacher_forced_loss"
def teacher_forced_loss(step, state, targets, mask, sos_id):
    """The mean cross-entropy of a decoder that reads the right previous token at every step; 0.0 without real tokens.

    step: y_prev (B,), state -> logits (B, V), state; targets (B, T), mask (B, T), sos_id an integer -> a number.
    """
    ### BEGIN SOLUTION
    y_prev, logits = np.full(len(targets), sos_id), []
    for t in range(targets.shape[1]):
        z_t, state = step(y_prev, state)  # (B, V)
        logits.append(z_t)
        y_prev = targets[:, t]  # what the decoder should have predicted, whatever it has
    return masked_cross_entropy(np.stack(logits, axis=1), targets, mask)
    ### END SOLUTION


# %% [markdown]
# ## Inputs for scheduled sampling
#
# Write `scheduled_inputs`.
# A decoder that is trained with teacher forcing has never read its own mistakes.
# With **scheduled sampling** (Bengio et al., 2015) it reads some of its own predictions during training:
# at every step, a coin is tossed for each row, and it decides whether the row's next input is the right token,
# the *gold* token, or the token that the decoder has predicted.
# The coins have been tossed already; your function makes the choice.
#
# | name | shape | what it is |
# |---|---|---|
# | `gold` | (B,) | the right token of each row, an integer |
# | `predicted` | (B,) | the decoder's own prediction for the same step, an integer |
# | `use_gold` | (B,) | True where the row's next input is the gold token, False where it is the prediction |
# | result | (B,) | the next input of each row, an integer |
#
# **An example.** Four rows:
#
# | row | `gold` | `predicted` | `use_gold` | result |
# |---|---|---|---|---|
# | 0 | 7 | 3 | True | 7 |
# | 1 | 4 | 4 | False | 4 |
# | 2 | 9 | 6 | False | ? |
# | 3 | 5 | 8 | True | ? |
#
# Fill in the question marks. This example is the first case of the check.
# Leave the three inputs as they are, because the gold tokens are still needed for the loss.


# %% exercise="scheduled_inputs"
def scheduled_inputs(gold, predicted, use_gold):
    """The next input of each row: its gold token where `use_gold` is True, otherwise the decoder's own prediction.

    gold (B,), predicted (B,) integers, use_gold (B,) truth values -> (B,) integers.
    """
    ### BEGIN SOLUTION
    return np.where(use_gold, gold, predicted)
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## What a decoder meets when it writes by itself
#
# The rest of this notebook is not graded.
# The decoder below has been "trained" to count: after each number it predicts the next one, from 0 to 19.
# It has one fault: after 5 it predicts 3.
# The cell runs it on 1,000 rows with your `scheduled_inputs`, and prints the share of right predictions
# when the gold token is the next input with probability 1, 0.75, 0.5, 0.25 and 0.
#
# With teacher forcing it makes one mistake in twenty. How many will it make when it writes by itself?
# Make a guess, then run the cell.

# %% active="ipynb"
# def count_up(y_prev):
#     return np.where(y_prev == 5, 3, y_prev + 1)
#
#
# rng, rows = np.random.default_rng(0), 1000
# try:
#     for share in (1, 0.75, 0.5, 0.25, 0):
#         y_prev, right = np.full(rows, -1), 0  # -1 plays the part of ⟨sos⟩
#         for number in range(20):
#             guess = count_up(y_prev)
#             right += (guess == number).sum()
#             y_prev = scheduled_inputs(np.full(rows, number), guess, rng.random(rows) < share)
#         print(f"gold tokens {share:4.0%}   right predictions {right / (20 * rows):.1%}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# One wrong prediction becomes an input that leads to further wrong predictions.
# The accuracy with teacher forcing does not show this, because every input is right there.
# The difference between the two is called **exposure bias**; the page measures it for a trained translator.
# This cell tells you nothing about whether scheduled sampling *helps* in training: here, nothing is trained.
