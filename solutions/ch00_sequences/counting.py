# %% [markdown]
# # Counting
#
# The simplest language model is a table of counts: it predicts what comes next from what has followed before.
# In this notebook you count pairs of neighbouring ids and turn the counts into probabilities,
# you count what follows longer contexts, and you compute the **perplexity**, which measures how well a model predicts:
# the lower, the better.
# Plan about 15 minutes for each of the two counts and 5 for the perplexity.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("bigram_probs")` asks you a question, `hint("bigram_probs", 2)` explains the idea,
# and `hint("bigram_probs", 3)` outlines the code.
#
# Read first, in the book: *Sequences and language models › A language model*, and *How good is it?* for the perplexity.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## Bigram probabilities
#
# Write `bigram_probs`.
# Count how often each id is followed directly by each other id, and turn every row of counts into a probability
# distribution.
# So that a pair that never occurred does not get the probability 0, every count is increased by `alpha`
# (**add-alpha smoothing**). With $\#(i, j)$ for the number of times that id $j$ follows id $i$:
#
# $$P_{ij} = p(\text{next} = j \mid \text{current} = i) = \frac{\#(i, j) + \alpha}{\sum_{k} (\#(i, k) + \alpha)}$$
#
# | name | shape | what it is |
# |---|---|---|
# | `ids` | (T,) | the text as integers from 0 to V − 1; T ≥ 1, so it may be a single id without any pair |
# | `vocab_size` | an integer | V |
# | `alpha` | a number | greater than 0, not necessarily an integer |
# | result `probs` | (V, V) | row i is the distribution of the id that follows id i; each row sums to 1 |
#
# The pairs overlap: the text 0, 1, 0 contains the pairs (0, 1) and (1, 0). The last id is not followed by anything.
#
# **An example, half worked out.** `ids` = [0, 1, 0, 2, 0, 1, 1], V = 4 and α = 0.5, so there are six pairs:
#
# | current id | counts of 0, 1, 2, 3 | plus α | sum | probabilities |
# |---|---|---|---|---|
# | 0 | 0, 2, 1, 0 | 0.5, 2.5, 1.5, 0.5 | 5 | 0.10, 0.50, 0.30, 0.10 |
# | 1 | 1, 1, 0, 0 | 1.5, 1.5, 0.5, 0.5 | ? | ? |
# | 2 | ? | ? | ? | ? |
# | 3 | ? | ? | ? | ? |
#
# Id 3 does not occur. What does the formula give for its row?
# This example is the first case of the check.


# %% exercise="bigram_probs"
def bigram_probs(ids, vocab_size, alpha):
    """Probabilities of the next id after each id, from counts plus alpha.

    ids (T,), vocab_size V, alpha > 0 -> (V, V), rows sum to 1.
    """
    ### BEGIN SOLUTION
    counts = np.full((vocab_size, vocab_size), float(alpha))
    for t in range(len(ids) - 1):
        counts[ids[t], ids[t + 1]] += 1
    return counts / counts.sum(axis=1, keepdims=True)
    ### END SOLUTION


# %% [markdown]
# ## What follows each context
#
# Write `ngram_counts`.
# An **n-gram** is a run of n neighbouring ids.
# Its first n − 1 ids are the **context**, and its last one is what follows.
# A table with a row for every possible context would have $V^{n-1}$ rows, nearly all of them empty.
# So you store only what occurs, in a dict of dicts: each context leads to the ids that have followed it, with their
# counts.
#
# | name | shape | what it is |
# |---|---|---|
# | `ids` | (T,) | the text as integers; T ≥ 1 |
# | `n` | an integer | the order, at least 1 |
# | result `counts` | dict | `counts[context][i]` is how often id i follows the context, a tuple of n − 1 ids |
#
# A context is a tuple for every n: for n = 2 a tuple of one id, such as `(5,)`, and for n = 1 the empty tuple `()`.
# The ids of a context are in the order of the text.
# Only complete n-grams count: the text does not continue at its start, and one that is shorter than n contains none,
# which gives `{}`.
#
# **An example, half worked out.** `ids` = [3, 1, 4, 3, 1, 5, 3, 1, 4] and n = 3. The n-grams, from left to right:
#
# | n-gram | context | what follows | the entry of this context afterwards |
# |---|---|---|---|
# | 3, 1, 4 | (3, 1) | 4 | `{4: 1}` |
# | 1, 4, 3 | (1, 4) | 3 | `{3: 1}` |
# | 4, 3, 1 | (4, 3) | 1 | `{1: 1}` |
# | 3, 1, 5 | (3, 1) | 5 | `{4: 1, 5: 1}` |
# | 1, 5, 3 | (1, 5) | 3 | ? |
# | 5, 3, 1 | ? | ? | ? |
# | 3, 1, 4 | ? | ? | ? |
#
# There are 9 ids and 7 n-grams. How many are there of T ids? This example is the first case of the check.


# %% exercise="ngram_counts"
def ngram_counts(ids, n):
    """What follows each context of n - 1 ids, and how often.

    ids (T,), n at least 1 -> {context, a tuple of n - 1 ids: {next id: count}}.
    """
    ### BEGIN SOLUTION
    counts = {}
    for t in range(n - 1, len(ids)):
        context = tuple(int(i) for i in ids[t - n + 1 : t])
        followers = counts.setdefault(context, {})
        followers[int(ids[t])] = followers.get(int(ids[t]), 0) + 1
    return counts
    ### END SOLUTION


# %% [markdown]
# ## Perplexity
#
# Write `perplexity`.
# A language model gives every token of a text a probability. The **negative log-likelihood** of a token is the
# negative natural logarithm of this probability, in nats: the less probable the token, the larger it is.
# The perplexity is the exponential of the mean over all tokens:
#
# $$\text{perplexity} = \exp\Big(\frac{1}{N} \sum_{t=1}^{N} -\ln p_t\Big)$$
#
# | name | shape | what it is |
# |---|---|---|
# | `token_nll` | (N,) | the negative log-likelihoods of the tokens, $-\ln p_t$, in nats; N ≥ 1 and possibly thousands |
# | result `value` | a number | the perplexity |
#
# **A worked example.** Three tokens:
#
# | token | probability | negative log-likelihood |
# |---|---|---|
# | 0 | 0.50 | 0.69 |
# | 1 | 0.10 | 2.30 |
# | 2 | 0.20 | 1.61 |
#
# The mean of the last column is 1.53, and the exponential of the mean is 4.63.
# On average, the model is as uncertain as if it chose between 4.63 equally probable tokens.
# This example is the first case of the check.


# %% exercise="perplexity"
def perplexity(token_nll):
    """The exponential of the mean negative log-likelihood. token_nll (N,), in nats -> a number."""
    ### BEGIN SOLUTION
    return float(np.exp(np.mean(token_nll)))
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## How much smoothing?
#
# The rest of this notebook is not graded.
# The cell counts the pairs of characters in seven lines of a nursery rhyme and predicts the eighth,
# with a smaller and a larger alpha. The last column is the perplexity of the seven lines that were counted.
# Without any counts, all V characters would be equally probable, and the perplexity would be V.
#
# Which alpha do you expect to be best for the new line, and which for the old ones? Make a guess, then run the cell.

# %% active="ipynb"
# LINES = [
#     "this is the farmer sowing his corn",
#     "that kept the cock that crowed in the morn",
#     "that waked the priest all shaven and shorn",
#     "that married the man all tattered and torn",
#     "that kissed the maiden all forlorn",
#     "that milked the cow with the crumpled horn",
#     "that tossed the dog that worried the cat",
#     "that killed the rat that ate the malt that lay in the house that jack built",
# ]
# characters = sorted(set("\n".join(LINES)))
# counted, new = (
#     np.array([characters.index(c) for c in text]) for text in ("\n".join(LINES[:7]), "\n" + LINES[7])
# )
# try:
#     print(f"V = {len(characters)}\n alpha   the new line   the lines counted")
#     for alpha in (0.001, 0.01, 0.1, 1, 10, 100):
#         probs = bigram_probs(counted, len(characters), alpha)
#         on_new, on_old = (perplexity(-np.log(probs[text[:-1], text[1:]])) for text in (new, counted))
#         print(f"{alpha:6}   {on_new:12.2f}   {on_old:17.2f}")
#     followers = ngram_counts(counted, 3)[tuple(characters.index(c) for c in "th")]
#     print("After 'th' came", {characters[i]: count for i, count in followers.items()})
# except (NotImplementedError, TypeError, ValueError, IndexError, KeyError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# The lines that were counted are predicted best with the smallest alpha, but a new line contains pairs that
# they do not, and each of them is expensive if alpha is small.
# So choose alpha by its perplexity on text that was not counted, and never on the text that was.
