# %% [markdown]
# # A character language model
#
# A language model computes one logit for each character that may come next, and text is written by drawing from them.
# In this notebook you write two ways to turn logits into the probabilities that are drawn from,
# which decide whether the text is bold or careful: a temperature, and a limit to the $k$ most probable characters.
# After that you write the model itself, in PyTorch.
# Plan about 10 minutes for the first exercise, 15 for the second and 20 for the model.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("temperature_probs")` asks you a question, `hint("temperature_probs", 2)` explains the idea,
# and `hint("temperature_probs", 3)` outlines the code.
#
# Read first, in the book: *LSTM, GRU and deep networks › Text that writes itself*.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# The softmax of chapter 1 is given. It subtracts the largest logit of each row, so no exponential overflows,
# and it accepts $-\infty$ among the logits: its probability is 0.


# %%
def softmax(z):
    """The softmax along the last axis: z (…, V) -> probabilities (…, V)."""
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


# %% [markdown]
# ## Temperature
#
# Write `temperature_probs`.
# The **temperature** $\tau$ sharpens or flattens a distribution before a character is drawn:
#
# $$p = \operatorname{softmax}\left(\frac{z}{\tau}\right)$$
#
# With $\tau = 1$ these are the probabilities of the model.
# A small temperature prefers the most probable character even more, and the limit $\tau \to 0$ is **greedy**:
# the largest logit gets the probability 1. A large temperature makes all characters almost equally likely.
#
# **A worked example.** One row of three logits, $z$ = [2.00, 0.00, −1.00]:
#
# | $\tau$ | $z / \tau$ | their exponentials | sum | probabilities |
# |---|---|---|---|---|
# | 2 | 1.00, 0.00, −0.50 | 2.72, 1.00, 0.61 | 4.32 | 0.63, 0.23, 0.14 |
# | 1 | 2.00, 0.00, −1.00 | 7.39, 1.00, 0.37 | 8.76 | 0.84, 0.11, 0.04 |
# | 0.5 | 4.00, 0.00, −2.00 | 54.60, 1.00, 0.14 | 55.73 | 0.98, 0.02, 0.00 |
# | 0 | | | | 1, 0, 0 |
#
# | name | shape | what it is |
# |---|---|---|
# | `logits` | (…, V) | numbers between −1000 and 1000, with any number of axes in front of the last |
# | `temperature` | a number | 0, or a number from 1e-300 to 1000 |
# | result | (…, V) | the probabilities; every row along the last axis sums to 1 |
#
# All results must be finite: for 1e-300 too, although `z / temperature` is then huge.
# If the temperature is 0, return exactly 1 at the largest logit of each row and 0 elsewhere.
# (No row of the check then has two largest logits.)


# %% exercise="temperature_probs"
def temperature_probs(logits, temperature):
    """The probabilities of the next token at this temperature; 0 is greedy.

    logits (…, V), temperature a number, at least 0 -> probabilities (…, V).
    """
    ### BEGIN SOLUTION
    if temperature == 0:
        return np.eye(logits.shape[-1])[logits.argmax(axis=-1)]
    return softmax(logits / temperature)
    ### END SOLUTION


# %% [markdown]
# ## The k most probable
#
# Write `top_k_probs`.
# A model gives every character some probability, and many small ones add up:
# now and then a character is drawn that makes no sense. **Top-k sampling** allows only the $k$ most probable ones.
# All others get the probability 0, and the $k$ that are left are normalised to sum to 1.
#
# **An example, half worked out.** Five logits, with two equal ones: $z$ = [0.50, 2.00, −1.00, 1.00, 1.00].
#
# | k | ids that are kept | result |
# |---|---|---|
# | 1 | 1 | 0, 1, 0, 0, 0 |
# | 2 | 1 and 3 | 0, 0.73, 0, 0.27, 0 |
# | 3 | ? | ? |
# | 5 or more | all | softmax(z) |
#
# With k = 2, ids 3 and 4 are equally probable, but only one of them can be kept. It is the one with the lower id.
# Fill in the row for k = 3. Its numbers are not those of softmax(z), because they sum to 1 without the others.
#
# | name | shape | what it is |
# |---|---|---|
# | `logits` | (…, V) | numbers between −1000 and 1000, with any number of axes in front of the last |
# | `k` | an integer above 0 | how many tokens of each row are kept; all of them if `k` is V or more |
# | result | (…, V) | the probabilities, in the order of the ids; exactly `k` of each row are kept, the others are 0 |


# %% exercise="top_k_probs"
def top_k_probs(logits, k):
    """The softmax over the k largest logits of each row; among equal ones, the lower ids are kept.

    logits (…, V), k an integer above 0 -> probabilities (…, V), 0 outside the k largest.
    """
    ### BEGIN SOLUTION
    best = np.argsort(-logits, axis=-1, kind="stable")[..., :k]  # (…, k): equal logits stay in the order of their ids
    kept = np.full(logits.shape, -np.inf)
    np.put_along_axis(kept, best, np.take_along_axis(logits, best, axis=-1), axis=-1)
    return softmax(kept)
    ### END SOLUTION


# %% [markdown]
# ## What the two do to a text
#
# This section is not graded.
# The cell below counts which letter follows which in a short sentence, takes logarithms of these counts as logits,
# and draws texts from them with your functions.
# In which order of temperature will the texts become stranger? What will the greedy text look like after a while?

# %% active="ipynb"
# sentence = "she sells sea shells by the sea shore, and the shells that she sells are sea shells, i am sure. "
# letters = sorted(set(sentence))
# counts = np.full((len(letters), len(letters)), 0.02)  # a small number, so that no logarithm is infinite
# for a, b in zip(sentence, sentence[1:] + sentence[:1]):
#     counts[letters.index(a), letters.index(b)] += 1
# logits = np.log(counts)  # (V, V): row i has the logits after letter i
#
#
# def text(probs, length=60):
#     rng, i, out = np.random.default_rng(0), letters.index("s"), "s"
#     for _ in range(length):
#         i = rng.choice(len(letters), p=probs[i])
#         out += letters[i]
#     return out
#
#
# try:
#     for temperature in (0.0, 0.3, 1.0, 2.0):
#         print(f"temperature {temperature}   {text(temperature_probs(logits, temperature))}")
#     for k in (1, 2, 4):
#         print(f"top {k}             {text(top_k_probs(logits, k))}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()
