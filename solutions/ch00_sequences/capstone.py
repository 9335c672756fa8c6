# %% [markdown]
# # Capstone: count and write
#
# In this notebook your `learn_bpe`, `apply_bpe` and `ngram_counts` become a language model of a text that you choose.
# It learns merges, cuts the text into tokens, counts what follows each context, and writes in the style of the text,
# from order 1, which knows no context at all, to order 6.
# Then you measure which order is best at predicting text that was not counted, and whether subwords beat characters.
#
# Nothing here is checked automatically, and there is nothing to implement.
# Run the cells in order, predict the output of each one before you run it, and change whatever you like.
# At the end there is one question to answer in words. A person, not a program, grades the answer.
# Allow 30 to 45 minutes. All cells together run for about five seconds.
#
# ## Your functions
#
# The next two cells open your notebooks *subwords* and *counting*, which must be in the same folder as this one,
# run their cells without showing the output, and take your functions from them.
# If you fix one of these functions, save its notebook and run this notebook again from here.

# %%
import hashlib
import platform
import re
import textwrap
from collections import Counter
from pathlib import Path

import numpy as np

from grader import take, waits_for

# %% active="ipynb"
# learn_bpe, apply_bpe = take("subwords", "learn_bpe", "apply_bpe")
# ngram_counts, perplexity = take("counting", "ngram_counts", "perplexity")

# %% [markdown]
# ## Do your functions agree with a known result?
#
# The next cell compares your functions with small results that are known.
# A function that does not agree would only produce confusing texts. So it is set aside,
# and the cells below tell you which function to finish first.
# (Your function's own check tests more than this comparison does.)


# %%
MERGES = [("a", "b"), ("ab", "a")]


def trials(learn_bpe, apply_bpe, ngram_counts, perplexity):
    """For each function: a call, and its known result."""
    return {
        "apply_bpe": (lambda: list(apply_bpe("ababaab", MERGES)), ["ab", "aba", "ab"]),
        "learn_bpe": (lambda: [tuple(pair) for pair in learn_bpe({"aba": 5, "abc": 3, "aab": 1}, 2)], MERGES),
        "ngram_counts": (
            lambda: [ngram_counts(np.array([1, 2, 1, 2, 1, 3]), n) for n in (1, 2)],
            [{(): {1: 3, 2: 2, 3: 1}}, {(1,): {2: 2, 3: 1}, (2,): {1: 2}}],
        ),
        "perplexity": (lambda: round(float(perplexity(np.log([2.0, 10.0, 5.0]))), 9), round(100 ** (1 / 3), 9)),
    }


def compared(learn_bpe, apply_bpe, ngram_counts, perplexity):
    """The four functions. One that is missing or does not agree is replaced by a placeholder that says so."""
    kept = {
        "learn_bpe": learn_bpe,
        "apply_bpe": apply_bpe,
        "ngram_counts": ngram_counts,
        "perplexity": perplexity,
    }
    for name, (trial, expected) in trials(**kept).items():
        reason = ""
        try:
            if trial() == expected:
                print(f"{name:12}  agrees")
            else:
                reason = f"{name}: its result is not the expected one, so finish it first"
                print(f"{name:12}  does not agree")
        except NotImplementedError as not_yet:
            reason = str(not_yet)
            print(f"{name:12}  not written yet")
        except Exception as error:
            reason = f"{name}: it stopped with {type(error).__name__}, so finish it first"
            print(f"{name:12}  stopped with {type(error).__name__}: {error}")
        if reason:
            waits_for(reason)
            kept[name] = waiting(reason)
    return kept.values()


def waiting(reason):
    """A placeholder for a function that is not ready."""

    def not_ready(*_, **__):
        raise NotImplementedError(reason)

    return not_ready


# %% active="ipynb"
# learn_bpe, apply_bpe, ngram_counts, perplexity = compared(learn_bpe, apply_bpe, ngram_counts, perplexity)

# %% [markdown]
# ## A text
#
# The documentation that comes with Python, `pydoc_data.topics`, is already on your machine.
# The next cell keeps its prose: every paragraph once, in lower case, without code and tables.
# The text differs slightly between versions of Python, so the version and a hash of the text are printed with it.
#
# A text of your own is more fun: any plain-text file of 20,000 characters or more, with a line for each paragraph or
# with empty lines between them. Remove the `#` from the second line and write the file's name there.
#
# A tenth of the paragraphs, drawn at random, is **held out**: nothing is learned or counted from it.
# Of the rest, 100,000 characters are used at most, so that no cell takes more than a few seconds.


# %%
def paragraphs_of(topic):
    """The prose of one topic: its paragraphs in lower case, without markup, code and tables."""
    found = []
    for block in re.split(r"\n\s*\n", topic):
        lines = [line.strip() for line in block.strip("\n").split("\n")]
        joined = re.sub(r"\s+", " ", " ".join(lines))
        letters = sum(c.isalpha() or c == " " for c in joined)
        ruled = any(set(line) <= set('*=-~^+|"# ') for line in lines)
        code = "::=" in joined or ">>>" in joined
        if len(joined) >= 60 and letters > 0.85 * len(joined) and joined[-1] in ".:;)!?" and not ruled and not code:
            found.append(re.sub(r'["*`\\]', "", joined).lower())
    return found


def python_manual():
    """The prose paragraphs of Python's documentation topics."""
    from pydoc_data.topics import topics

    return [paragraph for topic in topics.values() for paragraph in paragraphs_of(topic)]


def paragraphs_in(path):
    """The paragraphs of a text file, in lower case."""
    text = Path(path).read_text("utf-8").lower()
    blocks = re.split(r"\n\s*\n", text) if re.search(r"\n\s*\n", text.strip()) else text.splitlines()
    return [" ".join(block.split()) for block in blocks if block.strip()]


def prepared(paragraphs, most=100_000, seed=0):
    """The training and the held-out text, each paragraph once and ended by a line break. Rare characters are left out.

    A paragraph that has 50 consecutive characters in common with a held-out one is not used at all.
    """
    paragraphs = list(dict.fromkeys(paragraphs))
    counts = Counter("".join(paragraphs))
    rare = {c for c, n in counts.items() if n < 20}
    paragraphs = ["".join(c for c in p if c not in rare) for p in paragraphs]
    if sum(map(len, paragraphs)) < 20_000 or len(paragraphs) < 10:
        raise ValueError("The text is too short. Use one of at least 20,000 characters in at least 10 paragraphs.")
    order = np.random.default_rng(seed).permutation(len(paragraphs))
    train, held_out, size = [], [], min(most // 9, sum(map(len, paragraphs)) // 10)
    seen = set()
    for i in order:
        p = paragraphs[i]
        pieces = {p[k : k + 50] for k in range(len(p) - 49)}
        if sum(map(len, held_out)) < size:
            held_out.append(p)
            seen |= pieces
        elif seen.isdisjoint(pieces) and sum(map(len, train)) < most:
            train.append(p)
    return tuple("".join(f"{p}\n" for p in part) for part in (train, held_out))


# %% active="ipynb"
# paragraphs, source = python_manual(), f"pydoc_data.topics of Python {platform.python_version()}"
# # paragraphs, source = paragraphs_in("my_text.txt"), "my_text.txt"
#
# train, held_out = prepared(paragraphs)
# print(f"{source}, sha256 {hashlib.sha256((train + held_out).encode()).hexdigest()[:12]}")
# print(f"{len(train):,} characters to count, {len(held_out):,} held out, {len(set(train))} of them different\n")
# print(textwrap.fill(train[:400], 100))

# %% [markdown]
# ## The style of the text, order by order
#
# `NGramModel` puts your counts of several orders together.
# A table of one order alone knows nothing after a context that it has never seen. So the orders are **interpolated**
# as Witten and Bell (1991) proposed: after a context $k$ that was followed $\#(k)$ times, by $d(k)$ different tokens,
# the probability of token $i$, which followed $\#(k, i)$ times, is
#
# $$p(i \mid k) = \frac{\#(k, i) + d(k)\; p(i \mid k')}{\#(k) + d(k)}$$
#
# where $k'$ is the context $k$ without its first token. The lowest order is interpolated with the uniform distribution.
#
# The next cell writes with orders 1 to 6. Which of them will be the first to write whole words?


# %%
class NGramModel:
    """Your n-gram counts (a list, one dict for each order from 1), interpolated after Witten and Bell."""

    def __init__(self, counts, vocab_size):
        self.counts, self.order, self.vocab_size = counts, len(counts), vocab_size

    def followers(self, context):
        """The counts (dict) after this context, from the lowest order to the highest one that has seen it."""
        for n, counts in enumerate(self.counts[: len(context) + 1]):
            found = counts.get(tuple(context[len(context) - n :]))
            if not found:
                return
            yield found

    def probability(self, context, token):
        """The probability of the token after the last order - 1 ids of a context (a tuple of ids)."""
        p = 1 / self.vocab_size
        for found in self.followers(context):
            p = (found.get(token, 0) + len(found) * p) / (sum(found.values()) + len(found))
        return p

    def nll(self, ids):
        """The negative log-likelihood of each id after the first, in nats."""
        ids = [int(i) for i in ids]
        reach = self.order - 1
        p = [self.probability(tuple(ids[max(0, t - reach) : t]), ids[t]) for t in range(1, len(ids))]
        return -np.log(p)

    def draw(self, context, u):
        """An id drawn after this context. u (2,), random numbers between 0 and 1."""
        found = list(self.followers(context))
        while found:
            c, d = sum(found[-1].values()), len(found[-1])
            if u[0] * (c + d) < c:
                ids = sorted(found[-1])
                cumulative = np.cumsum([found[-1][i] for i in ids])
                return ids[int(np.searchsorted(cumulative, u[1] * c, side="right"))]
            u = ((u[0] * (c + d) - c) / d, u[1])  # one order lower, and u[0] is uniform again
            found.pop()
        return int(u[1] * self.vocab_size)

    def write(self, start, num_tokens, rng):
        """So many new ids, each drawn after the ids before it, beginning after the ids `start`."""
        ids = list(start)
        for _ in range(num_tokens):
            reach = self.order - 1
            ids.append(self.draw(tuple(ids[max(0, len(ids) - reach) :]), rng.random(2)))
        return ids[len(start) :]


def show(text):
    print(textwrap.fill(text.replace("\n", " ¶ "), 100), "\n")


# %% active="ipynb"
# characters = sorted(set(train))
# id_of = {c: i for i, c in enumerate(characters)}
# ids, held_out_ids = (np.array([id_of[c] for c in text if c in id_of]) for text in (train, held_out))
#
# try:
#     counts = [ngram_counts(ids, order) for order in range(1, 7)]
#     models = {order: NGramModel(counts[:order], len(characters)) for order in range(1, 7)}
#     for order, model in models.items():
#         new = model.write([id_of["\n"]], 240, np.random.default_rng(1))  # another seed writes another text
#         print(f"order {order}, {len(model.counts[-1]):,} contexts")
#         show("".join(characters[i] for i in new))
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## Bits per character
#
# The texts of the higher orders look better. Do they predict better, too?
# The next cell computes the mean negative log-likelihood per character, in bits,
# on the held-out text and, for comparison, on the first 10,000 characters of the text that was counted.
# The perplexity of the held-out text, by your function, is beside it.
#
# Before you run it, sketch both columns: which one has its minimum at order 6?

# %% active="ipynb"
# try:
#     print(f"uniform   {np.log2(len(characters)):.2f} bits\n")
#     print("order   held out   perplexity   counted   contexts that occur once")
#     for order, model in models.items():
#         nll, old = model.nll(held_out_ids), model.nll(ids[:10_000])
#         once = np.mean([sum(found.values()) == 1 for found in model.counts[-1].values()])
#         print(
#             f"{order:5}   {nll.mean() / np.log(2):8.3f}   {perplexity(nll):10.2f}   {old.mean() / np.log(2):7.3f}"
#             f"   {100 * once:22.0f} %"
#         )
# except NotImplementedError as not_yet:
#     waits_for(not_yet)
# except NameError:
#     print("This cell waits for the models of the cell above.")

# %% [markdown]
# ## Is it writing or quoting?
#
# A text that looks good may be a copy.
# The next cell writes 2,000 characters with each order and prints how many of their runs of 20 characters
# occur literally in the text that was counted.

# %% active="ipynb"
# try:
#     for order, model in models.items():
#         new = "".join(characters[i] for i in model.write([id_of["\n"]], 2_000, np.random.default_rng(2)))
#         copied = np.mean([new[k : k + 20] in train for k in range(len(new) - 19)])
#         print(f"order {order}   {100 * copied:5.1f} % of the runs of 20 characters are copied")
# except NameError:
#     print("This cell waits for the models of the cell above.")

# %% [markdown]
# ## Your subwords
#
# Your `learn_bpe` learns merges from the words that occur at least ten times in the training text,
# each with the space or line break before it,
# and your `apply_bpe` cuts both texts into pieces.
# A piece is longer than a character, so the same order looks further back. But there are more different pieces,
# and each is counted less often.
#
# The number of tokens depends on the merges, so bits per *token* cannot be compared.
# The cell divides all bits by the number of *characters*.
# Predict: with 150 merges, which order will be best, and will it beat the best character model?


# %%
def words_of(text):
    """The words of a text, each with the white space before it. Joined together they give the text again."""
    return re.findall(r"\s?[^\s]+|\s", text)


def in_pieces(text, merges, apply_bpe, known):
    """The pieces of a text. `known` remembers the pieces of each word."""
    for word in set(words_of(text)) - known.keys():
        known[word] = list(apply_bpe(word, merges))
    return [piece for word in words_of(text) for piece in known[word]]


# %% active="ipynb"
# num_merges = 150
# try:
#     frequent = {word: count for word, count in Counter(words_of(train)).items() if count >= 10}
#     merges = learn_bpe(frequent, num_merges)
#     print("the first merges:", *("".join(pair).replace(" ", "␣") for pair in merges[:30]), "\n")
#     known = {}
#     pieces, held_out_pieces = (
#         in_pieces("".join(c for c in text if c in id_of), merges, apply_bpe, known) for text in (train, held_out)
#     )
#     vocabulary = sorted({*characters, *("".join(pair) for pair in merges)})
#     id_of_piece = {piece: i for i, piece in enumerate(vocabulary)}
#     piece_ids, held_out_piece_ids = (
#         np.array([id_of_piece[piece] for piece in text]) for text in (pieces, held_out_pieces)
#     )
#     length = sum(map(len, held_out_pieces[1:]))
#     print(f"{len(vocabulary)} different tokens, {len(train) / len(pieces):.2f} characters in each on average\n")
#     print("order   bits per token   bits per character")
#     piece_counts = [ngram_counts(piece_ids, order) for order in range(1, 7)]
#     piece_models = {order: NGramModel(piece_counts[:order], len(vocabulary)) for order in range(1, 7)}
#     for order, model in piece_models.items():
#         bits = model.nll(held_out_piece_ids) / np.log(2)
#         print(f"{order:5}   {bits.mean():14.3f}   {bits.sum() / length:18.3f}")
#     for order in (1, 2, 3, 4):
#         print(f"\norder {order}")
#         new = piece_models[order].write([id_of_piece["\n"]], 100, np.random.default_rng(1))
#         show("".join(vocabulary[i] for i in new))
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## Explain what the order does
#
# Answer in eight to fourteen sentences of your own, with numbers and samples from the outputs above.
# If you used a text of your own, say which, and copy the line with its hash.
#
# 1. What does each order add to the samples? Quote a piece of one sample that its order explains,
#    and one whose mistake needs a longer context than the model has.
# 2. The column *counted* falls with every order, whereas *held out* stops falling or hardly falls any more. Why?
#    Use the last column of that table, or the copied runs.
# 3. With subwords, which order was best, and why does it differ from the best one for characters, if it does?
#    Why is it fair to compare bits per character but not bits per token?
# 4. Change one thing that you expect to change the best order (the size of the text, the number of merges,
#    the text itself). Say beforehand what you expect, and report what happened.

# %% [markdown] question="what_the_order_does"
# ### BEGIN SOLUTION
# **A good answer.** (With the text as given, of Python 3.11.7, as recorded in `experiments/ch00/capstone.json`;
# another version or another text gives other numbers.)
# (1) Order 1 gets the frequencies of the characters right and nothing else, so vowels and spaces stand anywhere
# (*irfeacwobv*). Order 2 knows which characters may be neighbours, so most syllables can be pronounced.
# Order 4 writes short words such as *an item will be*, and order 6 mostly real words and pieces of phrases.
# In *the built-in variable object (a way to inserting represents*, every run of six characters is plausible,
# but *to* should be followed by *insert*, and a parenthesis is opened that is never closed:
# both need a context longer than five characters.
# (2) In the text that was counted, every context of order 6 has been seen, and 53 % of the contexts were followed only
# once, so the model is nearly certain of what follows: 0.97 bits. These counts are a record of this text rather than
# of its language: in the held-out text, what followed the one time is often not what follows the next time.
# Held out, order 5 is best with 1.91 bits, and order 6 has 1.96.
# (Only 0.6 % of the runs of 20 characters are copied even at order 6. The model quotes short runs, not sentences.)
# (3) With 150 merges, order 4 is best, 1.89 bits per character: four pieces of two characters on average look back
# as far as about eight characters, and with 205 different pieces each context occurs less often than one of
# characters at the same order. A piece contains about two characters, so its bits are those of two predictions.
# With more merges there are fewer tokens and more bits in each, whatever the model is worth; the number of characters
# is the same for all. The gain over 1.91 is small, for one text and one split.
# (4) Any change with a reason given beforehand. With more text, each context is counted more often, so a higher order
# should become the best one; with more merges, a lower one.
#
# **How it is marked** (2 points, ½ for each part).
# (1) A quoted piece that the order explains (¼), and a mistake with the context that it needs (¼).
# (2) Both columns with numbers (¼), and the reason: the long contexts are rare, so their counts describe the training
# text only (¼). "Overfitting" without a number or a reason earns nothing.
# (3) The best order with a reason (¼), and why the unit has to be the character (¼).
# (4) An expectation with a reason, stated beforehand (¼), and what happened (¼). A student whose expectation turned out
# wrong and who says so has full marks.
#
# No points are deducted for language or length.
# ### END SOLUTION
