# %% [markdown]
# # Greedy and beam search
#
# A trained decoder does not give us a sentence. It gives us, for every beginning of a sentence,
# the probabilities of the next token, and we have to search for a sentence that is probable as a whole.
# Greedy decoding takes the most probable token at every step. Beam search keeps several beginnings at once,
# so that a sentence whose first token is not the most probable one still has a chance.
# Plan about 15 minutes for the first exercise and 35 for the second, whose frame is given.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("greedy_decode")` asks you a question, `hint("greedy_decode", 2)` explains the idea,
# and `hint("greedy_decode", 3)` outlines the code.
#
# Read first, in the book: *Encoder–decoder, translation and captions › Decoding*.
#
# Beam search needs the logarithms of a softmax, which are given here.

# %%
import numpy as np

from grader import check, hint, progress


def log_softmax(z):
    """The logarithms of the softmax along the last axis: z of any shape -> the same shape."""
    shifted = z - z.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


# %% [markdown]
# ## The decoder that you are given
#
# Both functions work with any decoder, because they know only one thing about it: a function for a single step.
#
#     logits, state = step(y_prev, state)
#
# | name | shape | what it is |
# |---|---|---|
# | `y_prev` | (1,) | the previous id, an array of one integer (int64): at the first step ⟨sos⟩ |
# | `state` | depends on the decoder | whatever the decoder has to remember; pass it on as it is |
# | result `logits` | (1, V) | the logits of the next id |
# | result `state` | as `state` | the state after this step, which belongs to the next one |
#
# `step` changes neither of its arguments, and the same arguments give the same results again.
# So you can call it several times with the same state.
#
# In the examples of this notebook, id 0 is ⟨pad⟩, 1 is ⟨sos⟩, 2 is ⟨eos⟩, and 3 and 4 are words.
# These are the probabilities, the softmax of the logits, after each beginning that we need:
#
# | ids so far | 0 | 1 | 2 ⟨eos⟩ | 3 | 4 |
# |---|---|---|---|---|---|
# | none | 0.01 | 0.01 | 0.03 | 0.55 | 0.40 |
# | 3 | 0.01 | 0.01 | 0.29 | 0.34 | 0.35 |
# | 4 | 0.01 | 0.01 | 0.60 | 0.20 | 0.18 |
# | 3, 4 | 0.01 | 0.01 | 0.90 | 0.05 | 0.03 |
#
# ## Greedy decoding
#
# Write `greedy_decode`.
# At each step, choose the id with the largest logit and feed it back as the next `y_prev`.
# Stop when this id is ⟨eos⟩, or after `max_length` steps.
#
# | name | shape | what it is |
# |---|---|---|
# | `step` | a function | one step of the decoder, see above |
# | `state` | depends on the decoder | the initial state |
# | `sos_id` | an integer | the first `y_prev` |
# | `eos_id` | an integer | the id that ends a sentence |
# | `max_length` | an integer above 0 | call `step` at most this many times |
# | result `ids` | a list of integers | the chosen ids, without the ⟨sos⟩ that you feed in and without the final ⟨eos⟩ |
#
# **A worked example**, with the probabilities above and `max_length` = 5:
#
# | step | `y_prev` | the largest probability | chosen id |
# |---|---|---|---|
# | 1 | [1] | 0.55 | 3 |
# | 2 | [3] | 0.35 | 4 |
# | 3 | [4] | 0.90 | 2, which is ⟨eos⟩: stop |
#
# So the result is `[3, 4]`. With `max_length` = 2 it is `[3, 4]` too, with `max_length` = 1 it is `[3]`.
#
# If ⟨eos⟩ is chosen at the first step, the result is an empty list.
# If ⟨eos⟩ is never chosen, the result has `max_length` ids.
# A decoder may choose `sos_id` although no training sentence contains it: treat it as an ordinary id.


# %% exercise="greedy_decode"
def greedy_decode(step, state, sos_id, eos_id, max_length):
    """Choose the most probable id at each step, until it is eos_id.

    step(y_prev (1,), state) -> logits (1, V), state; three integers -> ids, a list of at most max_length integers.
    """
    ### BEGIN SOLUTION
    ids, y_prev = [], sos_id
    for _ in range(max_length):
        logits, state = step(np.array([y_prev]), state)
        y_prev = int(np.argmax(logits[0]))
        if y_prev == eos_id:
            break
        ids.append(y_prev)
    return ids
    ### END SOLUTION


# %% [markdown]
# ## Beam search
#
# Write `beam_search`.
# The beginning of a sentence, with the sum of the log-probabilities of its ids, is called a **hypothesis**.
# Beam search keeps up to `beam_width` hypotheses, its **beams**, in order:
#
# 1. It starts with a single hypothesis: no ids, the sum 0, the initial state.
# 2. At each step, every beam contributes **candidates**.
#    If it does not end with ⟨eos⟩, it is extended by each of the V ids:
#    `step` gets the last id of the beam and the *beam's own* state,
#    and the log-probability of the new id is added to the sum.
#    If it ends with ⟨eos⟩, it is **finished**: it is not extended, and is a candidate as it is, with the same sum.
# 3. Of all candidates together, the `beam_width` with the largest sums are the beams of the next step,
#    the largest first. All others are **pruned**.
#    Lengths play no part here. If sums are equal, the candidate of the earlier beam comes first,
#    and of the same beam the one with the lower id.
# 4. The search ends as soon as all beams are finished, at the latest after `max_length` steps.
# 5. Every beam, finished or not, gets its **score**,
#
#    $$\text{score} = \frac{\sum_t \ln p(y_t \mid y_{<t}, x)}{n^{\,a}}$$
#
#    where $n$ is the number of its ids, ⟨eos⟩ included, the sum includes the log-probability of ⟨eos⟩,
#    and $a$ is the `length_penalty`. It is used here and nowhere else.
#
# | name | shape | what it is |
# |---|---|---|
# | `step`, `state`, `sos_id`, `eos_id` | | as in `greedy_decode` |
# | `beam_width` | an integer above 0 | the number of hypotheses to keep |
# | `max_length` | an integer above 0 | the number of steps at most |
# | `length_penalty` | a number | $a$; with 0, the score is the sum itself; with 1, the mean over the ids |
# | result | a list of tuples `(ids, score)` | the beams, the best score first |
#
# In the result, `ids` is a list of integers, without the ⟨sos⟩ that you feed in and without the final ⟨eos⟩.
#
# **An example, half worked out**, with the probabilities above and `beam_width` = 2.
# Instead of sums of logarithms, the table shows products of probabilities, which have the same order:
#
# | step | the best candidates | the two beams |
# |---|---|---|
# | 1 | [3] 0.55, [4] 0.40, [2] 0.03 | [3] 0.55, [4] 0.40 |
# | 2 | [4, 2] 0.24 = 0.4 · 0.6, [3, 4] 0.1925, [3, 3] 0.187, [3, 2] 0.1595 | [4, 2] 0.24, [3, 4] 0.1925 |
# | 3 | [4, 2] ?, [3, 4, 2] ?, [3, 4, 3] 0.0096 | ? |
#
# Fill in the question marks. Then both beams end with ⟨eos⟩, so the search ends, although `max_length` is 5.
#
# | hypothesis | sum | n | score with `length_penalty` = 0 | score with `length_penalty` = 1 |
# |---|---|---|---|---|
# | [4, 2] | ln 0.24 = −1.427 | 2 | −1.427 | −1.427 / 2 = −0.714 |
# | [3, 4, 2] | −1.753 | ? | −1.753 | −0.584 |
#
# Without a length penalty the result is `[([4], -1.427), ([3, 4], -1.753)]`, and the best sentence is not
# the greedy one. With a length penalty of 1 the order is reversed: `[([3, 4], -0.584), ([4], -0.714)]`.
#
# In the check, no two results have equal scores, but sums of candidates can be equal.
# There can be fewer candidates than `beam_width`. In that case, keep all of them.
#
# The frame is given. Three parts are missing: the candidates of one beam, the beams of the next step with the test for
# the end, and the result. You may also delete the frame and write your own.


# %% exercise="beam_search"
def beam_search(step, state, sos_id, eos_id, beam_width, max_length, length_penalty=0.0):
    """Keep the beam_width most probable hypotheses at each step.

    step(y_prev (1,), state) -> logits (1, V), state; four integers and a number
    -> a list of at most beam_width tuples (ids, score), the best score first.
    """
    beams = [([], 0.0, state)]  # the ids, the sum of their log-probabilities, and the state that belongs to them
    for _step in range(max_length):
        candidates = []  # tuples of the same form
        for ids, total, s in beams:
            ### BEGIN SOLUTION
            if ids and ids[-1] == eos_id:
                candidates.append((ids, total, s))
                continue
            y_prev = ids[-1] if ids else sos_id
            logits, s_new = step(np.array([y_prev]), s)
            log_p = log_softmax(logits)[0]
            candidates += [([*ids, k], total + log_p[k], s_new) for k in range(len(log_p))]
            ### END SOLUTION
        ### BEGIN SOLUTION
        beams = sorted(candidates, key=lambda c: -c[1])[:beam_width]  # equal sums stay in order
        if all(ids[-1] == eos_id for ids, _, _ in beams):
            break
        ### END SOLUTION
    results = []  # tuples of ids and score
    ### BEGIN SOLUTION
    for ids, total, _ in beams:
        score = total / len(ids) ** length_penalty
        results.append(([k for k in ids if k != eos_id], score))
    return sorted(results, key=lambda pair: -pair[1])
    ### END SOLUTION


# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()

# %% [markdown]
# ## What a wider beam does
#
# The rest of this notebook is not graded.
# Here is a decoder that translates *one thousand six hundred* into French: *mille six cents*.
# Its probabilities were made up, after a mistake of a trained model, and they depend on the last word alone,
# so its state contains nothing. Words that a row does not list have a probability close to 0.
#
# The greedy translation takes the most probable word at every step.
# Follow it through the rows: which word does it choose after *six*, and where does that lead?
# From which beam width on will the right translation be found, and will it have the best score?
# Make a guess, then run the cell.

# %% active="ipynb"
# words = ["<pad>", "<sos>", "<eos>", "mille", "six", "cent", "cents", "dix"]
# following = {
#     "<sos>": {"mille": 0.62, "six": 0.31, "cent": 0.07},
#     "mille": {"six": 0.55, "<eos>": 0.27, "cent": 0.18},
#     "six": {"cent": 0.50, "cents": 0.38, "mille": 0.05, "<eos>": 0.07},
#     "cent": {"dix": 0.42, "six": 0.33, "<eos>": 0.25},
#     "cents": {"<eos>": 0.94, "six": 0.06},
#     "dix": {"<eos>": 0.58, "six": 0.42},
# }
#
#
# def french(y_prev, state):
#     row = following.get(words[y_prev[0]], {"<eos>": 1.0})
#     return np.log([[row.get(word, 1e-9) for word in words]]), state
#
#
# try:
#     nothing = np.zeros((1, 0))
#     print("greedy     ", *(words[i] for i in greedy_decode(french, nothing, 1, 2, 5)))
#     for width in (1, 2, 3, 4):
#         for ids, score in beam_search(french, nothing, 1, 2, width, 5):
#             print(f"{width} {score:8.3f}  ", *(words[i] for i in ids))
# except (NotImplementedError, TypeError, ValueError, IndexError) as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# A narrow beam prunes *mille six cents* and cannot find it again. A beam of 3 finds it, but a shorter sentence wins:
# *mille*, which stops after one word, has fewer probabilities to multiply.
# Now pass `length_penalty=1.0` as one more argument. Which sentence is the best for each width?
