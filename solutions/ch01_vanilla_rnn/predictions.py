# %% [markdown]
# # From states to predictions
#
# The output layer of a network turns a hidden state into logits, one number for each possible answer.
# What we want to know is how likely each answer is, for example each letter that may come next.
# In this notebook you write the function that turns logits into probabilities,
# and the loss that measures how good the predictions of a language model were.
#
# As before, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("softmax")` asks a question, `hint("softmax", 2)` explains the idea, `hint("softmax", 3)` outlines the code.
#
# Read first, in the book: *The vanilla RNN › Predicting the next letter*.
# You need no function from the earlier notebooks.

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
# To pick the target's logit at every position, a loop over the positions is good enough;
# the third hint names a NumPy function that needs none.
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
# ## How sure should a prediction be?
#
# This section is not graded.
# Of ten letters that come next, seven are an `a` (id 0) and three are a `b` (id 1).
# A model predicts all ten with the same two logits, `z` for `a` and 0 for `b`.
# The cell below computes its loss for several values of `z`.
# Which probability of `a` gives the smallest loss: 0.50, 0.70, or one as close to 1 as possible?
# Make a prediction, then run the cell.

# %% active="ipynb"
# targets = np.array([[0, 0, 1, 0, 0, 1, 0, 0, 1, 0]])  # (1, 10): seven times a, three times b
#
# try:
#     for z in (-1.00, 0.00, 0.40, 0.85, 1.50, 3.00, 6.00):
#         logits = np.tile([z, 0.0], (1, 10, 1))  # (1, 10, 2): the same prediction ten times
#         p, loss = softmax(logits)[0, 0, 0], sequence_loss(logits, targets)
#         print(f"z {z:5.2f}  p {p:.2f}  loss {loss:.2f}  perplexity {np.exp(loss):.2f}  ", "●" * round(20 * loss))
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# The loss is smallest where the probability equals the frequency, 0.70:
# the cross-entropy rewards a model that is as sure as the text justifies, and no surer.
# With two equally likely letters the loss is 0.69 nats, a perplexity of 2.
# With `z` = 6.00 the model does worse than that, because it gives the `b` almost no probability.
