# %% [markdown]
# # Subwords
#
# A model that reads characters needs many steps for a sentence; one that reads whole words meets words that
# it has never seen. **Byte pair encoding** (BPE) lies between the two.
# It starts from characters and learns, from counts alone, which neighbours to join:
# frequent words become one piece, and rare words are still made of smaller pieces.
# There is no neural network in it.
# In this notebook you first split words with merges that have been learned, then you learn the merges.
# Plan about 15 minutes for the first function and 30 for the second.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("apply_bpe")` asks you a question, `hint("apply_bpe", 2)` explains the idea,
# and `hint("apply_bpe", 3)` outlines the code.
#
# Read first, in the book: *Sequences and language models › Text into numbers*.

# %%
from grader import check, hint, progress

# %% [markdown]
# ## Splitting a word
#
# Write `apply_bpe`.
# A **merge** is a pair of pieces that are joined wherever the second follows the first.
# To split a word, start from its characters and go through the merges in the order in which they were learned.
# Apply each merge *everywhere* in the word before you look at the next one.
#
# **A worked example.** The word *banana*, with the merges `("a", "n")`, `("an", "a")` and `("b", "an")`:
#
# | merge | pieces after it |
# |---|---|
# | none yet | b, a, n, a, n, a |
# | a + n | b, an, an, a |
# | an + a | b, an, ana |
# | b + an | ban, ana |
#
# So the result is `["ban", "ana"]`. The first merge applies twice.
# The second needs the piece `an`, which exists only after the first.
# The third applies to the pieces `b` and `an`, but not inside `ana`, because a piece is never split again.
# This example is the first case of the check.
#
# Read a word from left to right. If two occurrences of a pair overlap, the left one is merged:
# with the merge `("a", "a")`, the pieces a, a, a become `aa`, `a`.
#
# | name | type | what it is |
# |---|---|---|
# | `word` | a string | the word to be split, possibly empty |
# | `merges` | a list of pairs of strings | in the order learned; each part is a character or an earlier result |
# | result `pieces` | a list of strings | the pieces of the word, from left to right |
#
# A merge whose parts do not occur next to each other changes nothing.
# Joined together, the pieces always give the word again.


# %% exercise="apply_bpe"
def apply_bpe(word, merges):
    """Split a word into pieces: start from its characters, apply each merge everywhere, in the order learned.

    word: a string, merges: a list of pairs (str, str) -> a list of strings.
    """
    ### BEGIN SOLUTION
    pieces = list(word)
    for first, second in merges:
        i = 0
        while i < len(pieces) - 1:
            if pieces[i] == first and pieces[i + 1] == second:
                pieces[i : i + 2] = [first + second]
            i += 1
    return pieces
    ### END SOLUTION


# %% [markdown]
# ## Learning the merges
#
# Write `learn_bpe`.
# It gets words, each with its count, that is, how often it occurs in a text.
# At first, every word is split into its characters.
# Then one step is repeated `num_merges` times:
#
# 1. Count every pair of neighbouring pieces. A pair is counted at each place of each word, times the count of the word.
# 2. Take the pair with the largest count. It is the next merge.
# 3. Apply it everywhere in all words.
#
# **An example, half worked out.** Four words: *sea* occurs 4 times, *seal* 3 times, *meal* 5 times and *tea* twice.
#
# | step | the words in pieces | counts of the pairs | merge |
# |---|---|---|---|
# | 0 | s e a, s e a l, m e a l, t e a | s e: 7, e a: 14, a l: 8, m e: 5, t e: 2 | e + a |
# | 1 | s ea, s ea l, m ea l, t ea | s ea: 7, ea l: 8, m ea: 5, t ea: 2 | ea + l |
# | 2 | s ea, s eal, m eal, t ea | s ea: ?, s eal: ?, m eal: ?, t ea: ? | ? |
#
# The pair s ea has the count 7 at step 1, 4 from *sea* and 3 from *seal*. What remains of it at step 2?
# With `num_merges` = 3, the result is the list of the three merges, as pairs: `[("e", "a"), ("ea", "l"), (?, ?)]`.
# This example is the first case of the check.
#
# Three rules make the result unique:
#
# - **Ties.** If several pairs have the largest count, take the smallest pair in Python's order of tuples:
#   `("a", "t") < ("b", "c")`, and `("a", "bc") < ("ab", "b")`.
# - **Overlaps.** Each place counts, even if two of them overlap: the pieces a, a, a contain the pair (a, a) twice.
#   They are merged as `apply_bpe` does it, from left to right.
# - **Stopping early.** If no pair is left, because every word is a single piece, return the merges found so far.
#   A pair that occurs only once is still a pair.
#
# | name | type | what it is |
# |---|---|---|
# | `word_counts` | a dict from string to integer | how often each word occurs, at least once; it may be empty |
# | `num_merges` | an integer, 0 or more | how many merges to learn at most |
# | result `merges` | a list of tuples of two strings | the merges in the order in which they were found |
#
# Words are separate: the end of one word and the start of the next are not a pair.
# Many programs add a mark such as `</w>` to the end of each word; here there is none.
# You may call your `apply_bpe`.


# %% exercise="learn_bpe"
def learn_bpe(word_counts, num_merges):
    """Learn the merges of byte pair encoding; ties go to the smallest pair, and it stops when no pair is left.

    word_counts: a dict from word to count, num_merges: an integer -> a list of pairs (str, str).
    """
    ### BEGIN SOLUTION
    words = {word: list(word) for word in word_counts}
    merges = []
    for _ in range(num_merges):
        counts = {}
        for word, pieces in words.items():
            for i in range(len(pieces) - 1):
                pair = pieces[i], pieces[i + 1]
                counts[pair] = counts.get(pair, 0) + word_counts[word]
        if not counts:
            break
        best = min(counts, key=lambda pair: (-counts[pair], pair))
        merges.append(best)
        words = {word: apply_bpe(pieces, [best]) for word, pieces in words.items()}
    return merges
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## What the merges find
#
# The rest of this notebook is not graded.
# The cell learns merges from a small text that every Python contains, the documentation of the methods of `str`.
# It splits four words with more and more merges. The last of them does not occur in the text.
# Which of the words do you expect to become one piece first?

# %% active="ipynb"
# import re
# from collections import Counter
#
# text = " ".join(getattr(str, name).__doc__ or "" for name in dir(str))
# word_counts = Counter(re.findall("[a-z]+", text.lower()))
# try:
#     merges = learn_bpe(word_counts, 200)
#     print("the first merges:", ", ".join(first + "+" + second for first, second in merges[:12]))
#     for number in (0, 10, 50, 200):
#         pieces = [apply_bpe(word, merges[:number]) for word in ("string", "characters", "suffixes", "unrolled")]
#         print(f"{number:3} merges:", "   ".join(" ".join(split) for split in pieces))
# except (NotImplementedError, TypeError, ValueError, IndexError, KeyError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# Frequent words become one piece after a few dozen merges; the word that the text lacks is still split,
# into pieces that are parts of other words. Every piece of it is known, so no word is ever unknown,
# as long as each of its characters is.
# The pieces need not be syllables or endings: the counts know nothing about meaning.
