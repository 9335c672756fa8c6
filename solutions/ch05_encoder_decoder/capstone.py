# %% [markdown]
# # Capstone: your own translator
#
# In this notebook your `encode`, your `decode_step` and your `beam_search` become a translator:
# they run a network that has been trained to translate English numbers, written in words, into French.
# You translate your own numbers, compare greedy decoding with a beam of 4,
# and measure how often the translator is right.
# Then you look for its limits: you tell mistakes of the search from mistakes of the model,
# give it sentences unlike those it was trained on, and examine the one thing that the decoder knows of a sentence,
# its context.
#
# Nothing here is checked automatically, and there is nothing to implement.
# Run the cells in order, predict the output of each one before you run it, and change whatever you like.
# At the end there is one question to answer in words. A person, not a program, grades the answer.
# Allow 45 to 60 minutes. All cells together run for less than a minute.
#
# ## Your functions
#
# The next two cells open your notebooks *encoder*, *decoder* and *decoding*,
# which must be in the same folder as this one,
# run their cells without showing the output, and take your functions from them.
# If you fix one of these functions, save its notebook and run this notebook again from here.

# %%
import json
import re
import time
from pathlib import Path

import numpy as np

from grader import take, waits_for

# %% active="ipynb"
# (encode,) = take("encoder", "encode")
# (decode_step,) = take("decoder", "decode_step")
# (beam_search,) = take("decoding", "beam_search")

# %% [markdown]
# ## The network
#
# The file `capstone_translator.json` came with the exercises. It contains a GRU encoder–decoder without attention:
# two layers of 48 units in the encoder and in the decoder, and embeddings of 32 numbers.
# The network was trained on 8,000 of the numbers from 0 to 9999, drawn at random
# (600 updates with Adam, learning rate 0.002, batches of 64, gradients clipped at norm 1).
# It was stopped early, on purpose: a perfect translator would teach you nothing about mistakes.
#
# In the English sentences there are no hyphens and no commas, and *and* stands where British English has it:
# *four thousand two hundred and ten*. The French ones have no hyphens either: 97 is *quatre vingt dix sept*.
# The source ends with ⟨eos⟩, which is a convention of ours.
# The ids 0, 1 and 2 are ⟨pad⟩, ⟨sos⟩ and ⟨eos⟩, and the ids of the words follow.
#
# The file also contains a hundred of the 2,000 numbers that were held out, with their translations.

# %%
PAD, SOS, EOS = 0, 1, 2
MAX_LENGTH = 12  # steps of the decoder; no translation in the training data has more than 9, ⟨eos⟩ included


def arrays(layer):
    """The weights of a layer as arrays."""
    return {name: np.array(values) for name, values in layer.items()}


def load_network(path=Path("capstone_translator.json")):
    """The network: its words, its held-out pairs, and its weights in the order of your functions' arguments."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} came with the exercises. Copy it to the folder of this notebook.")
    network = json.loads(path.read_text("utf-8"))
    w = network.pop("weights")
    network["encoder"] = np.array(w["E_source"]), [arrays(layer) for layer in w["encoder"]]
    decoder = np.array(w["E_target"]), [arrays(layer) for layer in w["decoder"]]
    network["decoder"] = *decoder, np.array(w["W_p"]), np.array(w["b_p"])
    return network


# %% active="ipynb"
# network = load_network()
# E_source, encoder_layers = network["encoder"]
# E_target, decoder_layers, W_p, b_p = network["decoder"]
# for name, E, layers in (("encoder", E_source, encoder_layers), ("decoder", E_target, decoder_layers)):
#     print(f"{name}: embeddings {E.shape}")
#     for number, layer in enumerate(layers):
#         print(f"    layer {number}:", ", ".join(f"{key} {array.shape}" for key, array in layer.items()))
# print(f"head: W_p {W_p.shape}, b_p {b_p.shape}")
# print("English:", *network["source_words"])
# print("French: ", *network["target_words"])

# %% [markdown]
# ## Do your functions run this network?
#
# The network was trained in PyTorch. For three sentences of different lengths, in one padded batch,
# the file contains what PyTorch computes: the context, and the logits and the state of the first decoder step.
# The next cell compares your `encode` and your `decode_step` with it,
# and your `beam_search` with the worked example of its notebook.
# PyTorch's results are rounded to six decimals, so differences of about 1e-06 are as small as you can expect.
#
# A function that does not agree would only produce confusing translations.
# So it is set aside, and the cells below tell you which function to finish first.
# (Your function's own check tests more than this comparison does.)


# %%
EXAMPLE = {  # the probabilities of the worked example of beam_search, by the ids so far
    (): [0.01, 0.01, 0.03, 0.55, 0.40],
    (3,): [0.01, 0.01, 0.29, 0.34, 0.35],
    (4,): [0.01, 0.01, 0.60, 0.20, 0.18],
    (3, 4): [0.01, 0.01, 0.90, 0.05, 0.03],
}
EXAMPLE_BEAMS = [([4], np.log(0.24)), ([3, 4], np.log(0.55 * 0.35 * 0.90))]


def example_step(y_prev, state):
    """One step of the decoder of the worked example. Its state contains the ids that it has read.

    A softmax does not change if all logits are larger by 2.
    """
    state = np.concatenate([state, y_prev])
    return 2 + np.log([EXAMPLE.get(tuple(state[1:].tolist()), [0.01, 0.01, 0.96, 0.01, 0.01])]), state


def largest_difference(found, expected):
    """The largest difference between two arrays, or between the arrays of two tuples."""
    if isinstance(expected, tuple):
        return max(largest_difference(a, b) for a, b in zip(found, expected, strict=True))
    if np.shape(found) != expected.shape:
        raise ValueError(f"the shape is {np.shape(found)} instead of {expected.shape}")
    return np.abs(found - expected).max()


def beams_differ(found):
    """How far the scores are from those of the worked example; infinitely far if the hypotheses are others."""
    if [list(ids) for ids, _ in found] != [ids for ids, _ in EXAMPLE_BEAMS]:
        return np.inf
    return max(abs(score - right) for (_, score), (_, right) in zip(found, EXAMPLE_BEAMS, strict=True))


def compared(network, encode, decode_step, beam_search):
    """The three functions. One that is missing or does not agree is replaced by a placeholder that says so."""
    known = {name: np.array(values) for name, values in network["probe"].items()}
    context, first = known["context"], np.full(len(known["ids"]), SOS)

    trials = {
        "encode": lambda: largest_difference(encode(known["ids"], known["lengths"], *network["encoder"]), context),
        "decode_step": lambda: largest_difference(
            decode_step(first, context, *network["decoder"]), (known["logits"], known["state"])
        ),
        "beam_search": lambda: beams_differ(beam_search(example_step, np.zeros(0, dtype=int), SOS, EOS, 2, 5)),
    }
    kept = []
    for function, (name, trial) in zip((encode, decode_step, beam_search), trials.items(), strict=True):
        reason = ""
        try:
            difference = float(trial())
            print(f"{name:11}  largest difference {difference:.0e}")
            if not difference < 1e-4:
                reason = f"{name}: its result is not the expected one, so finish it first"
        except NotImplementedError as not_yet:
            reason = str(not_yet)
            print(f"{name:11}  not written yet")
        except Exception as error:
            reason = f"{name}: it stopped with {type(error).__name__}, so finish it first"
            print(f"{name:11}  stopped with {type(error).__name__}: {error}")
        if reason:
            waits_for(reason)
        kept.append(waiting(reason) if reason else function)
    return kept


def waiting(reason):
    """A placeholder for a function that is not ready."""

    def not_ready(*_, **__):
        raise NotImplementedError(reason)

    return not_ready


# %% active="ipynb"
# functions = compared(network, encode, decode_step, beam_search)

# %% [markdown]
# ## Your own numbers
#
# `Translator` puts your functions together. Your `encode` turns a sentence into its context,
# and your `beam_search` looks for the most probable translation, calling your `decode_step` at every step.
# A beam of width 1 keeps only the most probable word at each step, so it is greedy decoding.
#
# You can enter a number in digits, which are turned into words first, or directly in English words.
# `in_english` and `in_french` spell numbers by rules, without a network, and serve as the judge:
# a translation is **right** if it equals `in_french` word for word.
# (So for this task, forty lines of rules beat any network. The network was told no rule, and that is the point:
# where the rules are too many to write down, a network can still learn from pairs of sentences.)
# For readers without French, each translation is followed by the number that it means, if it is one up to 9999.
#
# Replace the numbers with your own: your year of birth, your house number, a number in words.
# What will happen with the last one?


# %%
ENGLISH = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
ENGLISH_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
FRENCH = [
    "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix",
    "onze", "douze", "treize", "quatorze", "quinze", "seize", "dix sept", "dix huit", "dix neuf",
]  # fmt: skip
FRENCH_TENS = ["vingt", "trente", "quarante", "cinquante", "soixante", "soixante", "quatre vingt", "quatre vingt"]


def in_english(number):
    """The English words of a number from 0 to 999,999, spelled as in the training data."""
    if number < 20:
        return ENGLISH[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return ENGLISH_TENS[tens - 2] + (f" {ENGLISH[ones]}" if ones else "")
    size, word = (1000, "thousand") if number >= 1000 else (100, "hundred")
    many, rest = divmod(number, size)
    joint = " and " if rest < 100 else " "
    return f"{in_english(many)} {word}" + (joint + in_english(rest) if rest else "")


def in_french(number, last=True):
    """The French words of a number from 0 to 999,999. Only as the last words do vingt and cent get an s."""
    if number < 20:
        return FRENCH[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        ones += 10 * (tens in (7, 9))  # 70 to 79 and 90 to 99 count on to 19
        joint = " et " if ones in (1, 11) and number < 80 else " "
        plural = "s" if number == 80 and last else ""
        return FRENCH_TENS[tens - 2] + (joint + FRENCH[ones] if ones else plural)
    size, word = (1000, "mille") if number >= 1000 else (100, "cent")
    many, rest = divmod(number, size)
    plural = "s" if word == "cent" and many > 1 and not rest and last else ""
    head = (f"{in_french(many, last=False)} " if many > 1 else "") + word + plural
    return f"{head} {in_french(rest, last)}" if rest else head


NUMBER_OF = {in_french(number): number for number in range(10_000)}


def meaning(french):
    """The number from 0 to 9999 that the French words mean, as text."""
    return f"= {NUMBER_OF[french]}" if french in NUMBER_OF else "(no number up to 9999)"


class UnknownWordError(ValueError):
    """A sentence that the network cannot read."""


class Translator:
    """Your functions with the weights of the network."""

    def __init__(self, network, encode, decode_step, beam_search):
        self.network, self.encode, self.decode_step, self.beam_search = network, encode, decode_step, beam_search
        self.id_of = {word: i for i, word in enumerate(network["source_words"]) if i > EOS}

    def source_ids(self, sentence):
        """The ids of an English sentence, with ⟨eos⟩ at the end."""
        words = re.sub(r"[-,.]", " ", sentence.lower()).split()
        for word in words:
            if word not in self.id_of:
                raise UnknownWordError(
                    f"The network has never seen the word {word!r}. It knows: {', '.join(self.id_of)}."
                )
        return [*(self.id_of[word] for word in words), EOS]

    def contexts(self, sentences):
        """The contexts (L, B, H) of B sentences, which your encode reads as one padded batch."""
        rows = [self.source_ids(sentence) for sentence in sentences]
        ends = np.array([len(row) for row in rows])
        ids = np.full((len(rows), max(ends)), PAD)
        for b, row in enumerate(rows):
            ids[b, : ends[b]] = row
        return self.encode(ids, ends, *self.network["encoder"])

    def step(self, y_prev, s_prev):
        """One step of the decoder."""
        return self.decode_step(y_prev, s_prev, *self.network["decoder"])

    def best(self, context, width, length_penalty=0.0):
        """The hypotheses of a beam search from a context (L, 1, H), the best first: pairs of French and score."""
        found = self.beam_search(self.step, context, SOS, EOS, width, MAX_LENGTH, length_penalty)
        return [(" ".join(self.network["target_words"][i] for i in ids), score) for ids, score in found]

    def translate(self, sentence, width=1, length_penalty=0.0):
        """The best translation of a sentence, and its score."""
        return self.best(self.contexts([sentence]), width, length_penalty)[0]

    def word_by_word(self, sentence, french):
        """Each word of a translation and ⟨eos⟩, with the log-probabilities (V,) of all words at its place.

        The decoder reads the words of this translation, whether it would have chosen them or not.
        """
        s, y = self.contexts([sentence]), SOS
        for following in [*french.split(), self.network["target_words"][EOS]]:
            logits, s = self.step(np.array([y]), s)
            below_largest = logits[0] - logits[0].max()
            y = self.network["target_words"].index(following)
            yield following, below_largest - np.log(np.exp(below_largest).sum())

    def score_of(self, sentence, french):
        """The score of any translation, found or not: the sum of its log-probabilities, with that of ⟨eos⟩."""
        ids = self.network["target_words"]
        return sum(log_p[ids.index(word)] for word, log_p in self.word_by_word(sentence, french))


def show_translation(translator, number_or_words):
    """Translate a number or a sentence, greedily and with a beam of 4."""
    sentence = number_or_words
    if isinstance(sentence, int):
        if not 0 <= sentence < 1_000_000:
            print(f"{sentence}\n    Please enter a number from 0 to 999999.\n")
            return
        sentence = in_english(sentence)
    print(sentence)
    try:
        for name, width in (("greedy", 1), ("beam 4", 4)):
            french, score = translator.translate(sentence, width)
            print(f"    {name}  {score:6.2f}  {french}  {meaning(french)}")
    except UnknownWordError as unknown:
        print(f"    {unknown}")
    print()


# %% active="ipynb"
# translator = Translator(network, *functions)
# try:
#     for number in [4210, 1984, 9797, "seven thousand six hundred and fifty-four", "three million"]:
#         show_translation(translator, number)
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# The number in front of a translation is its **score**, $\sum_t \ln p(y_t \mid y_{<t}, x)$ with ⟨eos⟩ included.
# A score of −0.7 is a probability of about one half for the whole sentence.
#
# ## Greedy against a beam of 4
#
# Here are three numbers that the network was not trained on. For each one, the cell prints the greedy translation
# and all four hypotheses of the beam, with their scores and with the scores divided by their number of ids
# (⟨eos⟩ included), which is what a length penalty of 1 would compare.
#
# A wider beam examines more, so it should be better. Is it, for all three?
# For which number would the length penalty change the result?

# %% active="ipynb"
# try:
#     for number in (641, 4455, 9041):
#         context = translator.contexts([in_english(number)])
#         print(f"{number}, right: {in_french(number)}")
#         for name, width in (("greedy", 1), ("beam 4", 4)):
#             for french, score in translator.best(context, width):
#                 n = len(french.split()) + 1
#                 print(f"    {name}  score {score:6.2f}  per id {score / n:6.2f}  {french}  {meaning(french)}")
#         print()
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## A hundred numbers that it has not seen
#
# Three chosen examples show what can happen, not how often. The next cell translates all hundred
# held-out numbers of the file, which were drawn at random, and counts the right translations.
# It takes a few seconds. Make a guess first: how many of a hundred with greedy decoding, how many with a beam of 4?


# %%
def translations(translator, numbers, width, length_penalty=0.0):
    """The best translation of each number, with its score."""
    return {number: translator.translate(in_english(number), width, length_penalty) for number in numbers}


def share_right(found):
    """The share of right translations, in percent."""
    return 100 * np.mean([french == in_french(number) for number, (french, _) in found.items()])


# %% active="ipynb"
# numbers, found = [number for number, _, _ in network["held_out"]], {}
# try:
#     for name, width, length_penalty in (("greedy", 1, 0.0), ("beam 4", 4, 0.0), ("beam 4, penalty 1", 4, 1.0)):
#         before = time.perf_counter()
#         found[name] = translations(translator, numbers, width, length_penalty)
#         seconds = time.perf_counter() - before
#         print(f"{name:18} {share_right(found[name]):3.0f} of 100 are right   ({seconds:.1f} s)")
#     for number in numbers:
#         if any(result[number][0] != in_french(number) for result in found.values()):
#             print(f"\n{number}, right: {in_french(number)}")
#             for name, result in found.items():
#                 french, _ = result[number]
#                 print(f"    {name:18} {french}  {meaning(french)}{'  right' * (french == in_french(number))}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# (A hundred numbers are few: with another hundred, a share of 93 % could easily be 90 % or 96 %.)
#
# ## The search or the model?
#
# A translation can be wrong for two reasons. The network may give the right translation a higher score than
# the one that was found. Then the search has missed it, which is a **search error**.
# Or it gives the wrong translation the higher score. Then the search did what it was asked to do, and no wider beam
# would help: a **model error**.
#
# To tell them apart, we need the score of a translation that was perhaps never found.
# `score_of` computes it by feeding the decoder the right words one after another, as in teacher forcing.
# Look at the mistakes above, and predict for each of them which kind it is.

# %% active="ipynb"
# try:
#     if not found:
#         raise NotImplementedError("The hundred translations above come first")
#     print("                           score of")
#     print("number  search   its result   the right one   kind of error")
#     for name in ("greedy", "beam 4"):
#         for number, (french, score) in found.get(name, {}).items():
#             if french != in_french(number):
#                 right = translator.score_of(in_english(number), in_french(number))
#                 kind = "search" if right > score else "model"
#                 print(f"{number:6}  {name}   {score:10.2f}   {right:13.2f}   {kind}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# At which word do two translations part? The next cell feeds the decoder the right translation of a number,
# and prints the three most probable words at each place. Put other numbers from the table into it.

# %% active="ipynb"
# try:
#     for number in (641, 4455):
#         print(f"{number}, right: {in_french(number)}")
#         for word, log_p in translator.word_by_word(in_english(number), in_french(number)):
#             likely = [f"{network['target_words'][i]} {np.exp(log_p[i]):.2f}" for i in np.argsort(-log_p)[:3]]
#             print(f"    {word:10}  {',  '.join(likely)}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## Sentences unlike the training sentences
#
# The held-out numbers come from the same range as the training numbers, so they are new but not unusual.
# Of the numbers from 0 to 9999, 90 % have four digits, and only 1 % are below 100.
# The next cell measures the share of right translations, with greedy decoding, for five kinds of numbers.
# In the second kind, we only leave out the word *and*, as Americans do.
# Most of the numbers below 100 were even in the training data. Which kind will be the worst?


# %%
def kinds_of_sentences(held_out):
    """Numbers by kind, each with the sentence that the network reads."""
    drawn = np.random.default_rng(0).integers(10_000, 100_000, size=50).tolist()
    and_within = [number for number in held_out if " and " in in_english(number)]
    return {
        "held out": {number: in_english(number) for number in held_out},
        "held out, without and": {number: in_english(number).replace(" and ", " ") for number in and_within},
        "0 to 99": {number: in_english(number) for number in range(100)},
        "100, 200, …, 9900": {number: in_english(number) for number in range(100, 10_000, 100)},
        "10000 to 99999": {number: in_english(number) for number in drawn},
    }


# %% active="ipynb"
# try:
#     for kind, sentences in kinds_of_sentences(numbers).items():
#         results = {number: translator.translate(sentence) for number, sentence in sentences.items()}
#         print(f"{kind:22} {share_right(results):3.0f} % of {len(results)} are right, for example:")
#         for number in list(results)[: 5 * len(results) // 6 : len(results) // 3]:
#             french, score = results[number]
#             print(f"    {score:6.2f}  {sentences[number]}  →  {french}  {meaning(french)}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# And what does it do with sentences that are no numbers, or no numbers from its range?
# All their words are known. Does the score tell you that something is wrong? Add sentences of your own.

# %% active="ipynb"
# sentences = [
#     "twelve thousand three hundred and five",
#     "one hundred and twenty three thousand four hundred and fifty six",
#     "two hundred two hundred",
#     "nine hundred thousand",
#     "five and thirty and hundred four thousand six",
#     "seven seven seven",
#     "and",
# ]
# try:
#     for sentence in sentences:
#         show_translation(translator, sentence)
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## What the context holds
#
# After the last source word, the decoder gets 2 · 48 = 96 numbers, whether the sentence had one word or seven.
# It never sees the words themselves. So for the decoder, two sentences with the same context are the same sentence,
# and sentences whose contexts are close are hard to tell apart.
#
# Which sentences are close? For each of four numbers, your `encode` reads all 1,000 numbers with the same
# thousands digit in one batch, and the cell prints the three whose contexts have the smallest Euclidean distance.
# It also prints the median distance to all of them. The first number, 7777, is translated correctly, the other three
# are mistakes from above. Is the number that was written by mistake among the three?


# %%
def nearest(translator, number, how_many=3):
    """The numbers with the nearest contexts, among those with the same thousands digit, and the median distance."""
    others = [n for n in range(number // 1000 * 1000, number // 1000 * 1000 + 1000) if n != number]
    contexts = translator.contexts([in_english(n) for n in (number, *others)])  # (L, 1000, H)
    distances = np.sqrt(((contexts[:, 1:] - contexts[:, :1]) ** 2).sum(axis=(0, 2)))  # (999,)
    order = np.argsort(distances)[:how_many]
    return [(others[i], distances[i]) for i in order], np.median(distances)


def walk(translator, start, end, shares):
    """What greedy decoding writes from contexts on the line between those of two numbers."""
    contexts = translator.contexts([in_english(start), in_english(end)])
    a, b = contexts[:, :1], contexts[:, 1:]
    return {share: translator.best(a + share * (b - a), 1)[0][0] for share in shares}


# %% active="ipynb"
# try:
#     for number in (7777, 4455, 8155, 4011):
#         french, _ = translator.translate(in_english(number))
#         near, median = nearest(translator, number)
#         print(f"{number} is translated as {french}  {meaning(french)}")
#         print("    nearest:", ",  ".join(f"{n} at {d:.2f}" for n, d in near), f"   median {median:.2f}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# 7777 has a close neighbour too, so being close does not explain a mistake by itself. An experiment tells more.
# The next cell goes in a straight line from the context of one number to that of its nearest neighbour,
# and lets the decoder translate every point on the way: 0 is the context of the first number, 1 that of the second.
# It also takes one step in the opposite direction, away from the neighbour.
#
# Where do you expect the translation to change, for 7777 and for 4455?

# %% active="ipynb"
# try:
#     for start, end in ((7777, 7767), (4455, 4445)):
#         print(f"from {start} to {end}")
#         for share, french in walk(translator, start, end, (-0.25, 0, 0.25, 0.5, 0.75, 1)).items():
#             print(f"    {share:5.2f}  {french}  {meaning(french)}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## Explain why it fails
#
# **Explain where this translator fails, and why**, in eight to twelve sentences of your own,
# for a friend who has taken the same course up to here:
#
# 1. Choose one number that the beam of 4 translates correctly and greedy decoding does not.
#    What did greedy decoding do, and why could it not find the better translation?
# 2. Choose one number that both translate wrongly. Is it an error of the search or of the model,
#    and how do you know? What would a beam of 100 change, and what would a length penalty change?
# 3. Which kinds of sentences does it translate worst? Name two, with their numbers,
#    and say what they have in common.
# 4. What does the decoder know about the source sentence, and when is that not enough?
#    Use at least one measurement of the context. Say also what this measurement does not show,
#    and what you would change in the network or in its training, and how you would find out whether it helps.
#
# Change the cells above and try things out before you write.
# Numbers from your own outputs count more than what you have read. Write them into your answer.

# %% [markdown] question="why_it_fails"
# ### BEGIN SOLUTION
# **A good answer, in short.** (All students have the same network, so their numbers should be these.)
#
# (1) For 641, greedy decoding writes *six cent cinquante et un* (651), and the beam of 4 the right
# *six cent quarante et un*.
# After *six cent*, the network gives *cinquante* the probability 0.49 and *quarante* only 0.30, so greedy decoding
# takes *cinquante* and can never return. But the words that follow *cinquante* are less certain, whereas
# *et un* fits *quarante* (0.87 and 0.95), so the whole right sentence has the score −1.44 and the greedy one −1.77.
# The beam keeps both beginnings until their ends are known.
# (The other number is 8155, with −1.22 against −1.26. For 9041 the beam is wrong too, without a length penalty.)
# (2) 4455 becomes 4445 with both. The right translation has the score −1.21, the wrong one −1.00:
# a model error, because the search has found the better score. The beam of 4 even contains the right translation,
# in second place. A beam of 100 finds nothing better than −1.00, so it returns the same translation.
# A length penalty changes nothing either, because both translations have seven ids.
# (For 9041 it does: *neuf mille soixante*, −1.35, has four ids, and the right translation, −1.53, has six.
# By the raw score this is a model error too, which the penalty repairs by comparing something else.)
# (3) Above 9999: 0 of 50 are right. From 0 to 99: 45 %, although 75 of these 100 numbers were in the training data.
# Without *and*: 44 %, against 93 % with it. Numbers that end in 00: 65 %.
# All of them are rare or absent in training: 1 % of its numbers are below 100, 1 % end in 00, none is above 9999, and
# none leaves out *and*. Their words are all known, so what is missing is not vocabulary.
# The network has learned which sentences are common, not the rule by which numbers are spelled.
# The scores do not warn us: *nine hundred thousand* becomes *neuf mille huit* with −0.23, a probability of 0.8.
# (4) Everything that the decoder knows of the sentence is the context: always 96 numbers,
# computed before the first French word.
# What the encoder did not separate there, the decoder cannot tell apart. The contexts of 4455 and 4445 are
# nearest neighbours (1.50, the median is 4.98), and 4445 is what the network writes.
# The walk shows more than the distance: from 7777 to 7767 the translation changes half-way, but the context of 4455
# lies on the wrong side of the boundary already, and a step in the opposite direction, a quarter of the way, repairs
# it.
# What this does not show: 7777 has a neighbour at 1.32 and is right, and 4011 becomes 4001, which is not among its
# three nearest, so distance alone predicts nothing. Neither does the walk say whether the encoder has put the context
# in the wrong place or the decoder draws the boundary in the wrong place. And it does not prove that 96 numbers are
# too few: this network was stopped after 600 updates.
# To change: train longer, add short numbers and numbers without *and* to the training data,
# reverse the source, or give the decoder more than the final states (attention, chapter 6).
# A wider beam repairs search errors only. To find out, train with and without the change, with five random seeds,
# and compare the shares of right translations on held-out numbers of each kind.
#
# **How it is marked** (2 points, ½ for each part).
# (1) A number (641 or 8155; others if the student has searched further), the word at which the two translations part,
# and the reason: a choice that is best at one step is not best for the whole sentence, and greedy decoding
# cannot take it back.
# (2) The two scores are compared, and the conclusion follows from them. "The beam was too narrow" earns nothing
# if the right translation has the lower score. 9041 is accepted as either kind of error if the scores are given.
# (3) Two kinds with their numbers (¼), and what they have in common: they are rare or absent in training (¼).
# "They are long" does not fit the outputs, because the short numbers are among the worst.
# (4) The context has a fixed size and is all that the decoder gets (¼). A measurement of it, what it does not show,
# and a change together with a comparison that could prove it useless (¼).
#
# A part that is right but has no number from an output gets ¼ point.
# "The network has not understood numbers" alone is not an explanation.
# No points are deducted for language or length.
# ### END SOLUTION
