# %% [markdown]
# # BLEU by hand
#
# How good is a translation? A sentence has many right translations, and two people rarely write the same one,
# so to count exact matches is too strict. **BLEU** counts how many short pieces of a candidate translation
# also occur in a translation made by a person, the **reference**.
# It is the number that most papers on translation report, so it is worth knowing exactly what it counts.
# In this notebook you write it, with several references for each sentence.
# Plan about 40 minutes.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("bleu")` asks you a question, `hint("bleu", 2)` explains the idea, and `hint("bleu", 3)` outlines the code.
#
# Read first, in the book: *Encoder–decoder, translation and captions › Decoding*.

# %%
from collections import Counter

import numpy as np

from grader import check, hint, progress

# %% [markdown]
# `Counter` counts the entries of any list of hashable values, such as strings or tuples. A missing key counts 0.
# `a | b` takes the larger of two counts of each key, `a & b` the smaller, and `a.total()` adds all counts.

# %% active="ipynb"
# a, b = Counter("banana"), Counter("bandana")
# print(a, b, a["x"])
# print(a | b, a & b, a.total())

# %% [markdown]
# ## BLEU
#
# Write `bleu`.
# A list of **tokens** is a sentence that has been split into words.
# An **n-gram** is a tuple of n tokens that follow each other:
# *the cat sat* has three 1-grams, two 2-grams and one 3-gram.
#
# **Matches, clipped.** An n-gram of a candidate matches if one of the candidate's references contains it.
# Without a limit, the candidate *the the the* would match with every word.
# So an n-gram counts at most as often as it occurs in the one reference that has most of it:
# its count in the candidate is **clipped** at the maximum of its counts in the references.
#
# **Precision.** $m_n$ is the number of clipped matches, and $c_n$ the number of all n-grams of the candidates,
# both added up over the *whole corpus*, that is, over all candidates. The precision of order $n$ is
#
# $$p_n = \frac{m_n}{c_n}$$
#
# **Brevity penalty.** A short candidate that contains only what is certain has a high precision.
# So BLEU compares the number of tokens of all candidates, $c$, with the number of tokens of their references, $r$.
# With several references, the one whose length is *closest* to that of the candidate counts;
# of two that are equally close, the shorter one.
#
# $$\mathrm{BP} = \begin{cases} 1 & \text{if } c \ge r \\ e^{\,1 - r / c} & \text{if } c < r \end{cases}$$
#
# **BLEU** is the geometric mean of the precisions of orders 1 to $N$ (`max_n`), times the penalty:
#
# $$\mathrm{BLEU} = \mathrm{BP} \cdot \left(p_1\, p_2 \cdots p_N\right)^{1/N}$$
#
# It lies between 0 and 1; papers multiply it by 100.
#
# **An example, half worked out.** Two candidates, with two references for the first and one for the second,
# and `max_n` = 2:
#
# | | tokens | length |
# |---|---|---|
# | candidate 0 | the cat the cat on the mat | 7 |
# | its references | the cat is on the mat | 6 |
# | | there is a cat on the mat today | 8 |
# | candidate 1 | a dog | 2 |
# | its reference | a black dog barks | 4 |
#
# | n-gram of candidate 0 | count | in reference 0 | in reference 1 | clipped |
# |---|---|---|---|---|
# | the | 3 | 2 | 1 | 2 |
# | cat | 2 | 1 | 1 | 1 |
# | on | 1 | 1 | 1 | 1 |
# | mat | 1 | 1 | 1 | 1 |
# | the cat | 2 | 1 | 0 | 1 |
# | cat the | 1 | 0 | 0 | 0 |
# | cat on | 1 | 0 | 1 | ? |
# | on the | 1 | 1 | 1 | ? |
# | the mat | 1 | 1 | 1 | ? |
#
# Candidate 1 has two 1-grams, which both match, and one 2-gram, *a dog*, which does not.
# So $p_1$ = (5 + 2) / (7 + 2) = 7/9. What is $p_2$?
# Both references of candidate 0 differ from it by one token, so the shorter one counts:
# $c$ = 7 + 2 = 9 and $r$ = 6 + 4 = 10. The penalty is $e^{1 - 10/9}$ = 0.895, and BLEU is 0.597.
# This example is the first case of the check.
#
# | name | type | what it is |
# |---|---|---|
# | `candidates` | a list of token lists | one or more candidates; a candidate may be an empty list |
# | `references` | a list of lists of token lists | one or more references for each candidate, none of them empty |
# | `max_n` | an integer above 0 | the highest order, $N$ |
# | result | a number | BLEU of the whole corpus, from 0 to 1 |
#
# A token list is a list of strings.
#
# **Where there is nothing to count.** The result is 0 as soon as one order has no match, because the product is 0.
# This includes an order of which the candidates have no n-gram at all, because all of them are too short.
# An empty candidate has no n-grams, but its reference still counts towards $r$.
# Nothing is added to any count to avoid a zero: this is BLEU without **smoothing**.


# %% exercise="bleu"
def bleu(candidates, references, max_n=4):
    """BLEU of a corpus, from 0 to 1, without smoothing.

    candidates: a list of token lists, references: for each candidate a list of token lists -> a number.
    """
    ### BEGIN SOLUTION
    matches, totals = np.zeros(max_n), np.zeros(max_n)
    candidate_length = reference_length = 0
    for candidate, its_references in zip(candidates, references, strict=True):
        candidate_length += len(candidate)
        reference_length += min((abs(len(ref) - len(candidate)), len(ref)) for ref in its_references)[1]
        for n in range(1, max_n + 1):
            counts, limits = Counter(tuple(candidate[i : i + n]) for i in range(len(candidate) - n + 1)), Counter()
            for ref in its_references:
                limits |= Counter(tuple(ref[i : i + n]) for i in range(len(ref) - n + 1))
            matches[n - 1] += (counts & limits).total()
            totals[n - 1] += counts.total()
    if matches.min() == 0:
        return 0.0
    penalty = min(1.0, np.exp(1 - reference_length / candidate_length))
    return penalty * np.prod(matches / totals) ** (1 / max_n)
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## What BLEU does not see
#
# This section is not graded.
# The cell below scores five translations of one sentence. Before you run it, order them by how good you find them.
# Which of them does BLEU rank first among those that differ from the reference?

# %% active="ipynb"
# reference = "the committee did not approve the plan for the new bridge on monday".split()
# try:
#     for text in (
#         "the committee did not approve the plan for the new bridge on monday",
#         "the committee did approve the plan for the new bridge on monday",
#         "the committee did not approve the plan for the new bridge on friday",
#         "on monday the committee did not approve the plan for the new bridge",
#         "on monday the commission rejected the plans for the new bridge",
#     ):
#         print(f"{bleu([text.split()], [[reference]]):.2f}   {text}")
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# The two candidates that say something wrong differ from the reference in one word, and the best paraphrase in most.
# BLEU knows nothing of meaning: every n-gram counts the same, *not* as much as *the*.
# It was made to compare systems over a whole corpus, in which such errors average out, and with several references.
# When you compare your numbers with a paper's, make sure that the tokens are made in the same way:
# the program `sacrebleu` exists because they often are not.
