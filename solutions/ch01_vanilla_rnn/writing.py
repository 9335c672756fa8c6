# %% [markdown]
# # Sampling and generating text
#
# A language model predicts the next token. To make it write, we choose a token from its prediction,
# feed that token back as the next input, and repeat.
# This takes two functions: one that draws a token at random, and the loop around the network.
#
# As before, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("sample_id")` asks a question, `hint("sample_id", 2)` explains the idea,
# `hint("sample_id", 3)` outlines the code.
#
# Read first, in the book: *The vanilla RNN › Sampling text and training*,
# as far as the box of the exercise *Generating text*.
# The rest of the page, on training, can wait until your network writes.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## Sampling one token
#
# Write `sample_id`.
# The network assigns a probability to each id. We want to draw one id at random,
# such that in the long run each id comes up as often as its probability says.
# The caller draws a random number `u`, uniformly between 0 and 1, and passes it to your function,
# which is itself deterministic:
# **it returns the first id whose cumulative probability exceeds `u`.**
# This method is called **inverse-CDF sampling**, after the cumulative distribution function.
#
# | name | shape | what it is |
# |---|---|---|
# | `probs` | (V,) | the probabilities of the ids 0 … V − 1; some may be 0 |
# | `u` | a number | at least 0 and less than 1 |
# | result | an integer | the id |
#
# **A worked example.** Four ids, of which id 1 has probability 0:
#
# | id | 0 | 1 | 2 | 3 |
# |---|---|---|---|---|
# | `probs` | 0.20 | 0.00 | 0.50 | 0.30 |
# | cumulative | 0.20 | 0.20 | 0.70 | 1.00 |
#
# | `u` | 0.00 | 0.10 | 0.20 | 0.65 | 0.99 |
# |---|---|---|---|---|---|
# | id | 0 | 0 | 2 | 2 | 3 |
#
# At `u` = 0.20 the cumulative probabilities of ids 0 and 1 equal `u` but do not exceed it, so the result is id 2.
# An id of probability 0 is never drawn, whatever `u` is.
#
# **Rounding.** In floating point, probabilities may sum to slightly less than 1, say to 0.999999.
# If `u` is 0.9999995, no cumulative probability exceeds it.
# In that case, return the last id whose probability is not 0.
#
# When the check passes, you can sample from any distribution over a vocabulary,
# and get the same sample again by passing the same `u`.


# %% exercise="sample_id"
def sample_id(probs, u):
    """Sample one id by inverting the cumulative distribution function.

    probs (V,), u a number in [0, 1) -> the first id whose cumulative probability exceeds u, an integer.
    """
    ### BEGIN SOLUTION
    exceeds = np.flatnonzero(np.cumsum(probs) > u)
    if len(exceeds) == 0:  # rounding left the sum below 1
        return int(np.flatnonzero(probs)[-1])
    return int(exceeds[0])
    ### END SOLUTION


# %% [markdown]
# ## Generating text
#
# Write `generate`.
# It starts from an id and an initial state.
# Each step reads the current id, computes the new state and its logits, and chooses the next id,
# which the following step reads:
#
# $$h_t = \tanh(x_t W_{xh} + h_{t-1} W_{hh} + b_h), \qquad z_t = h_t W_{hy} + b_y$$
#
# Here $x_t$ is the **one-hot** row of the current id, 1 at the position of the id and 0 everywhere else,
# and $z_t$ are the logits.
#
# | name | shape | what it is |
# |---|---|---|
# | `start_id` | an integer | the id that the first step reads |
# | `num_steps` | an integer | the number of new ids; it may be 0 |
# | `h_0` | (1, H) | the initial state |
# | `W_xh`, `W_hh`, `b_h` | (V, H), (H, H), (H,) | the recurrence |
# | `W_hy`, `b_y` | (H, V), (V,) | the output layer |
# | `u` | (num_steps,) or None | random numbers, one per step; if None, take the largest logit (**greedy decoding**) |
# | result `ids` | (num_steps,) | the *new* ids, integers (int64), without `start_id` |
#
# **A worked example.** Three ids, one unit:
# `W_xh` = [[2.00], [−0.70], [−0.50]], `W_hh` = [[0.80]], `b_h` = [−1.10],
# `W_hy` = [[−2.40, −1.80, −0.90]], `b_y` = [−0.05, 0.15, −0.20]; `start_id` = 0, `h_0` = [[−0.30]].
#
# Greedy decoding, without `u`:
#
# | step | reads | new state | logits | new id |
# |---|---|---|---|---|
# | 0 | 0 | 0.58 | −1.44, −0.89, −0.72 | 2 |
# | 1 | 2 | −0.81 | 1.90, 1.61, 0.53 | 0 |
# | 2 | 0 | 0.24 | −0.64, −0.29, −0.42 | 1 |
#
# Sampling, with `u` = [0.25, 0.10, 0.45]:
#
# | step | reads | new state | probabilities | cumulative | `u` | new id |
# |---|---|---|---|---|---|---|
# | 0 | 0 | 0.58 | 0.21, 0.36, 0.43 | 0.21, 0.57, 1.00 | 0.25 | 1 |
# | 1 | 1 | −0.87 | 0.51, 0.37, 0.12 | 0.51, 0.88, 1.00 | 0.10 | 0 |
# | 2 | 0 | 0.20 | 0.28, 0.39, 0.33 | 0.28, 0.67, 1.00 | 0.45 | 1 |
#
# Step 0 has the same state in both tables. From step 1 on the states differ, because the steps read different ids.
#
# You need a step of the recurrence and a softmax; each is a line or two, and you may copy your own.
# Logits may be as large as 1000, so make sure that the softmax does not overflow.
# You can call your `sample_id`.
#
# When the check passes, your network can write.


# %% exercise="generate"
def generate(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """Generate ids: read an id, choose the next one, read that, and so on.

    start_id, num_steps integers, h_0 (1, H), W_xh (V, H), W_hh (H, H), b_h (H,), W_hy (H, V), b_y (V,),
    u (num_steps,) or None -> the new ids (num_steps,), int64; greedy where u is None.
    """
    ### BEGIN SOLUTION
    ids, x_t, h_t = [], start_id, h_0
    for t in range(num_steps):
        h_t = np.tanh(W_xh[x_t] + h_t @ W_hh + b_h)  # (1, H): a one-hot row times W_xh is a row of W_xh
        logits = (h_t @ W_hy + b_y)[0]  # (V,)
        if u is None:
            x_t = int(np.argmax(logits))
        else:
            e = np.exp(logits - logits.max())
            x_t = sample_id(e / e.sum(), u[t])
        ids.append(x_t)
    return np.array(ids, dtype=np.int64)
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## Spelling one word
#
# This section is not graded.
# These forty numbers are the network of the page *Predicting the next letter*: three units, trained on a single word.
# The cell gives it the letter h and lets your functions write four more, first greedily, then 20 times at random.
# How many of the 20 words will be spelled correctly? Make a prediction, then run the cell.

# %% active="ipynb"
# letters = "helo"
# hello = {
#     "W_xh": np.array([[0.96, -1.05, -0.61], [0.1, 0.45, -0.1], [-0.72, 0.26, 0.25], [0.0, 0.0, 0.0]]),
#     "W_hh": np.array([[0.2, 1.26, -1.4], [-0.75, -0.11, 0.26], [0.53, -0.7, 0.04]]),
#     "b_h": np.array([0.34, -0.35, -0.46]),
#     "W_hy": np.array([[0.11, 1.43, -0.29, -1.25], [0.2, -1.89, 2.6, -0.91], [0.3, -0.89, -1.26, 1.85]]),
#     "b_y": np.array([-1.23, -0.01, 0.82, 0.42]),
# }
#
# try:
#     greedy = generate(start_id=0, num_steps=4, h_0=np.zeros((1, 3)), **hello)
#     print("greedy decoding:", "h" + "".join(letters[id] for id in greedy), "\n")
#     rng = np.random.default_rng(1)
#     for line in range(4):
#         for word in range(5):
#             ids = generate(start_id=0, num_steps=4, h_0=np.zeros((1, 3)), u=rng.random(4), **hello)
#             print("h" + "".join(letters[id] for id in ids), end="   ")
#         print()
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# To write more freely, add `hello["W_hy"] /= 3` and `hello["b_y"] /= 3` above `try`, and run the cell again.
# This divides all logits by 3, a **temperature** that makes the probabilities more alike.
#
# In the notebook *capstone*, your functions run a network that was trained on a whole manual.
