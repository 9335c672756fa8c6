# %% [markdown]
# # Capstone: see what your translator looks at
#
# In this notebook your `additive_score`, your `masked_softmax`, your `attend` and your `attention_step` run a network
# that has been trained to translate English phrases into French.
# You translate sentences of your own, draw where the decoder looks, and measure with your `alignment_accuracy`
# how often it looks at the word that it translates.
# Then you test what the picture says: you erase words, you erase states, and you give the network
# sentences that are longer than all those it was trained on.
#
# Nothing here is checked automatically, and there is nothing to implement.
# Run the cells in order, predict the output of each one before you run it, and change whatever you like.
# At the end there is one question to answer in words. A person, not a program, grades the answer.
# Allow 45 to 60 minutes. All cells together run for a few seconds.
#
# ## Your functions
#
# The next two cells open your notebooks *scores* and *decoder*, which must be in the same folder as this one,
# run their cells without showing the output, and take your functions from them.
# If you fix one of these functions, save its notebook and run this notebook again from here.

# %%
import difflib
import json
import re
from pathlib import Path

import numpy as np

from grader import take, waits_for

# %% active="ipynb"
# additive_score, masked_softmax, attend = take("scores", "additive_score", "masked_softmax", "attend")
# attention_step, alignment_accuracy = take("decoder", "attention_step", "alignment_accuracy")

# %% [markdown]
# ## The network
#
# The file `capstone_attention.json` came with the exercises. It contains a GRU encoder–decoder with additive attention.
# The encoder reads the sentence in both directions, with 24 units each, so each source word has a key of 48 numbers.
# The decoder has 48 units, and its previous state is the query. The embeddings have 32 numbers, and the small network
# of the score has 32 units.
# The network was trained on 1,000 English sentences of each length from 3 to 10 words, with their translations
# (500 updates with Adam, learning rate 0.004, batches of 64, gradients clipped at norm 1).
# It was never told which French word translates which English word.
#
# The sentences come from a small grammar of our own. Most French adjectives follow their noun,
# and determiners and adjectives agree with it in gender and number: *my red car* is *ma voiture rouge*,
# *my red book* is *mon livre rouge*. Each English word becomes exactly one French word,
# which is not always the one that a dictionary gives first: *ram* is *mouton*, *love* *chérir*, *hear* *percevoir*.
# The source ends with ⟨eos⟩, which is a convention of ours.
#
# The file also contains sentences that were held out, with their translations and alignments.

# %%
PAD, SOS, EOS = 0, 1, 2
LONGEST = 10  # English words of the longest sentences in training
MAX_LENGTH = 25  # steps of the decoder


def load_network(path=Path("capstone_attention.json")):
    """The network: its words, its held-out sentences, and its weights in the order of your functions' arguments."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} came with the exercises. Copy it to the folder of this notebook.")
    network = json.loads(path.read_text("utf-8"))
    network["weights"] = in_ones(network.pop("thousandths"))
    for part in ("held_out", "longer"):
        network[part] = [
            (english.split(), french.split(), np.array([int(j) for j in gold.split()]))
            for english, french, gold in network[part]
        ]
    return network


def in_ones(value):
    """The weights, which are stored in thousandths, as arrays."""
    return {name: in_ones(part) for name, part in value.items()} if isinstance(value, dict) else np.array(value) / 1000


# %% active="ipynb"
# network = load_network()
# for name, part in network["weights"].items():
#     arrays = part if isinstance(part, dict) else {"": part}
#     print(f"{name:9}", ", ".join(f"{key} {array.shape}".strip() for key, array in arrays.items()))
# print("English:", *network["source_words"])
# print("French: ", *network["target_words"])

# %% [markdown]
# ## Do your functions run this network?
#
# The network was trained in PyTorch. For three sentences of different lengths, in one padded batch,
# the file contains what PyTorch computes in the first decoder step: scores, weights, contexts, logits and states.
# The next cell compares your functions with it, and your `alignment_accuracy` with the example of its notebook.
# PyTorch's results are rounded to six decimals, so differences of about 1e-06 are as small as you can expect.
#
# A function that does not agree would only produce confusing pictures.
# So it is set aside, and the cells below tell you which function to finish first.
# In the notebook *decoder*, `attention_step` calls a `masked_softmax` and an `attend` that were given.
# If yours agree with PyTorch, they take the place of the given ones.
# (Your function's own check tests more than this comparison does.)


# %%
EXAMPLE_WEIGHTS = [[0.70, 0.20, 0.10], [0.15, 0.40, 0.45], [0.05, 0.30, 0.65], [0.25, 0.60, 0.15]]
EXAMPLE_GOLD = [0, 1, -1, 1]


def largest_difference(found, expected):
    """The largest difference between two arrays, or between the arrays of two tuples."""
    if isinstance(expected, tuple):
        return max(largest_difference(a, b) for a, b in zip(found, expected, strict=True))
    if np.shape(found) != expected.shape:
        raise ValueError(f"the shape is {np.shape(found)} instead of {expected.shape}")
    return np.abs(found - expected).max()


def decoder_weights(w):
    """The arguments of attention_step that follow `score`."""
    return *(w["decoder"][name] for name in ("W_x", "W_h", "b_x", "b_h")), w["W_p"], w["b_p"]


def compared(network, additive_score, masked_softmax, attend, attention_step, alignment_accuracy):
    """The functions that this notebook calls: additive_score, attention_step and alignment_accuracy.

    One that is missing or does not agree is replaced by a placeholder that says so.
    """
    known = {name: np.array(values) for name, values in network["probe"].items()}
    w, first, arguments = network["weights"], np.full(len(known["ids"]), SOS), dict(known)

    def known_score(query, keys):
        return arguments["scores"]

    def one_step():
        use_in(attention_step, ready)
        return attention_step(
            first, known["query"], known["keys"], known["mask"], w["E_target"], known_score, *decoder_weights(w)
        )

    def accuracy():
        return np.array(alignment_accuracy(np.array(EXAMPLE_WEIGHTS), np.array(EXAMPLE_GOLD)))

    trials = {
        "additive_score": (lambda: additive_score(known["query"], known["keys"], **w["score"]), known["scores"]),
        "masked_softmax": (lambda: masked_softmax(known["scores"], known["mask"]), known["weights"]),
        "attend": (lambda: attend(known["weights"], known["keys"]), known["context"]),
        "attention_step": (one_step, (known["logits"], known["state"], known["weights"])),
        "alignment_accuracy": (accuracy, np.array(2 / 3)),
    }
    functions = (additive_score, masked_softmax, attend, attention_step, alignment_accuracy)
    ready, kept = {}, []
    for function, (name, (trial, expected)) in zip(functions, trials.items(), strict=True):
        reason = ""
        try:
            difference = float(largest_difference(trial(), expected))
            print(f"{name:18}  largest difference {difference:.0e}")
            if not difference < 1e-4:
                reason = f"{name}: its result is not the expected one, so finish it first"
        except NotImplementedError as not_yet:
            reason = str(not_yet)
            print(f"{name:18}  not written yet")
        except Exception as error:
            reason = f"{name}: it stopped with {type(error).__name__}, so finish it first"
            print(f"{name:18}  stopped with {type(error).__name__}: {error}")
        if name in ("masked_softmax", "attend"):
            if reason:
                print(f"{'':18}  attention_step keeps the {name} that was given")
            else:
                ready[name] = function
            continue
        if reason:
            waits_for(reason)
        kept.append(waiting(reason) if reason else function)
    return kept


def use_in(attention_step, functions):
    """Let attention_step call these functions instead of those of the same names in its own notebook."""
    getattr(attention_step, "__globals__", {}).update(functions)


def waiting(reason):
    """A placeholder for a function that is not ready."""

    def not_ready(*_, **__):
        raise NotImplementedError(reason)

    return not_ready


# %% active="ipynb"
# additive_score, attention_step, alignment_accuracy = compared(
#     network, additive_score, masked_softmax, attend, attention_step, alignment_accuracy
# )

# %% [markdown]
# ## Your own sentences
#
# `Translator` puts your functions together. It computes the encoder's states, the keys, with the GRU cell of chapter 4,
# which is given here. Then it calls your `attention_step` for one word after the other, with your `additive_score`,
# and always takes the most probable word, until ⟨eos⟩.
#
# `show` prints the translation and a **heat map** of the weights. Each row is a French word,
# each column an English one, and the numbers are the weights in hundredths; a dot is less than half a hundredth.
# The fuller the block before a number, the larger the weight.
# Brackets mark the English words that a dictionary pairs with the French word, wherever they are in the sentence.
#
# Replace the sentences with your own, of 3 to 10 of the English words printed above.
# (*that* begins a relative clause, as in *the cat that sees a dog*.) What will happen with the last one?


# %%
def gru_cell(x_t, h_prev, W_x, W_h, b_x, b_h):
    """One step of a GRU: x_t (B, inputs), h_prev (B, H) -> the next state (B, H). Gates in the order r, z, n."""
    size = h_prev.shape[1]
    read, recalled = x_t @ W_x + b_x, h_prev @ W_h + b_h  # (B, 3H)
    gates = 0.5 + 0.5 * np.tanh(0.5 * (read + recalled)[:, : 2 * size])
    candidate = np.tanh(read[:, 2 * size :] + gates[:, :size] * recalled[:, 2 * size :])
    return candidate + gates[:, size:] * (h_prev - candidate)


class UnreadableError(ValueError):
    """A sentence that the network cannot read."""


class Translator:
    """Your functions with the weights of the network, for one sentence at a time."""

    def __init__(self, network, additive_score, attention_step):
        self.w, self.additive_score, self.attention_step = network["weights"], additive_score, attention_step
        self.french = network["target_words"]
        self.id_of = {word: i for i, word in enumerate(network["source_words"]) if i > EOS}

    def words(self, sentence):
        """The words of an English sentence, all of them known."""
        words = re.sub(r"[-,.!?]", " ", sentence.lower()).split()
        if not words:
            raise UnreadableError("There is no word in this sentence.")
        for word in words:
            if word not in self.id_of:
                similar = difflib.get_close_matches(word, self.id_of)
                instead = f" Similar words that it knows: {', '.join(similar)}." if similar else ""
                raise UnreadableError(
                    f"The network has never seen the word {word!r}.{instead} All its words are printed above."
                )
        return words

    def encode(self, english, without=None):
        """English words -> keys (1, S, K), of which the last is that of ⟨eos⟩, and the decoder's first state (1, H).

        The embedding of the word at the index `without` is replaced by zeros.
        """
        x = self.w["E_source"][[*(self.id_of[word] for word in english), EOS]]  # (S, D)
        if without is not None:
            x[without] = 0.0
        directions = []
        for name, rows in (("forward", x), ("backward", x[::-1])):
            layer = self.w[name]
            h, states = np.zeros((1, layer["W_h"].shape[0])), []
            for row in rows:
                h = gru_cell(row[None], h, **layer)
                states.append(h)
            directions.append(states)
        forward, backward = directions
        keys = np.stack([np.concatenate(both, axis=1) for both in zip(forward, backward[::-1], strict=True)], axis=1)
        return keys, np.concatenate([forward[-1], backward[-1]], axis=1)

    def score(self, query, keys):
        """The scores (1, S)."""
        return self.additive_score(query, keys, **self.w["score"])

    def step(self, y_prev, s_prev, keys, without=None):
        """One step of the decoder: log-probabilities (V,), the new state (1, H) and the weights (S,).

        The key at the index `without` is masked.
        """
        mask = np.arange(keys.shape[1])[None] != (-1 if without is None else without)
        logits, s, weights = self.attention_step(
            np.array([y_prev]), s_prev, keys, mask, self.w["E_target"], self.score, *decoder_weights(self.w)
        )
        below_largest = logits[0] - logits[0].max()
        return below_largest - np.log(np.exp(below_largest).sum()), s, weights[0]

    def translate(self, english):
        """The French words of greedy decoding, and their weights (T, S)."""
        keys, s = self.encode(english)
        y, french, rows = SOS, [], []
        for _ in range(MAX_LENGTH):
            log_p, s, weights = self.step(y, s, keys)
            y = int(log_p.argmax())
            if y == EOS:
                break
            french.append(self.french[y])
            rows.append(weights)
        return french, np.array(rows).reshape(len(french), keys.shape[1])

    def follow(self, english, french, without=None):
        """Feed these French words to the decoder: log-probabilities (T, V), weights (T, S) and its states before them.

        The word at the index `without` of the English sentence is erased.
        """
        keys, s = self.encode(english, without)
        y, log_ps, rows, states = SOS, [], [], []
        for word in french:
            states.append(s)
            log_p, s, weights = self.step(y, s, keys)
            y = self.french.index(word)
            log_ps.append(log_p)
            rows.append(weights)
        return np.array(log_ps), np.array(rows), states


def table(english, french, cells):
    """Print cells, one text for each French and English word, with the English words as the heads of the columns."""
    widths = [max(len(word), 6) for word in english]
    label = max((len(word) for word in french), default=0)
    for head, row in zip(["", *french], [english, *cells], strict=True):
        line = " ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True))
        print(f"    {head:{label}} {line}")


def in_dictionary(network, english, french):
    """For each French word (rows), which of the English words (columns) a dictionary pairs with it."""
    return [[word in network["translates"].get(of, []) for word in english] for of in french]


def heat_map(network, english, french, weights):
    """Print the weights (T, S) in hundredths; the last column is ⟨eos⟩."""
    columns, cells = [*english, "⟨eos⟩"], []
    for pairs, row in zip(in_dictionary(network, columns, french), weights, strict=True):
        texts = [" ░▒▓█"[round(4 * a)] + (f"{100 * a:3.0f}" if a >= 0.005 else "  ·") for a in row]
        cells.append([f"[{text}]" if pair else f"{text} " for text, pair in zip(texts, pairs, strict=True)])
    table(columns, french, cells)


def show(network, translator, sentence):
    """Translate a sentence and print where the decoder looked."""
    print(sentence)
    try:
        english = translator.words(sentence)
        french, weights = translator.translate(english)
        print("    " + " ".join(french))
        if len(english) > LONGEST:
            print(f"    ({len(english)} words; no sentence in training has more than {LONGEST}.)")
        heat_map(network, english, french, weights)
    except UnreadableError as unreadable:
        print(f"    {unreadable}")
    print()


# %% active="ipynb"
# translator = Translator(network, additive_score, attention_step)
# sentences = [
#     "my red car follows two small cats",
#     "the young queen loves a big grey wolf",
#     "every pretty house with a heavy green door",
#     "my red bicycle follows two small cats",
# ]
# try:
#     for sentence in sentences:
#         show(network, translator, sentence)
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## Ninety-six sentences that it has not seen
#
# For the held-out sentences, the file contains the alignment of every French word, so your `alignment_accuracy` can
# measure what you have seen in a few pictures.
# The cell translates 96 sentences, twelve of each length from 3 to 10 words, and counts those without a mistake.
# Then it feeds the decoder the right translations, and compares the largest weights with the alignments.
# At the end it lists all French words whose largest weight is elsewhere.
#
# How many of the 96 translations will be right? And what will the words at the end have in common?


# %%
def exact_share(translator, sentences):
    """The share of sentences that are translated without a mistake, in percent."""
    return 100 * np.mean([translator.translate(english)[0] == french for english, french, _ in sentences])


def all_weights(translator, sentences):
    """The weights (T, S) for all words of all right translations, below each other, and their alignments (T,).

    Shorter sentences get weights of 0 at the end of their rows.
    """
    rows = [translator.follow(english, french)[1] for english, french, _ in sentences]
    longest = max(weights.shape[1] for weights in rows)
    weights = [np.pad(w, [(0, 0), (0, longest - w.shape[1])]) for w in rows]
    return np.concatenate(weights), np.concatenate([gold for _, _, gold in sentences])


def elsewhere(translator, sentences):
    """The words whose largest weight is not on the word that they translate: lines of text."""
    for english, french, gold in sentences:
        _, weights, _ = translator.follow(english, french)
        for t, (row, j) in enumerate(zip(weights, gold, strict=True)):
            if row.argmax() != j:
                most = [*english, "⟨eos⟩"][row.argmax()]
                pair = f"{french[t]} ({english[j]})"
                yield f"word {t + 1}: {pair:16} {row[j]:.2f},  but {row.max():.2f} on {most:8} {' '.join(english)}"


# %% active="ipynb"
# try:
#     sentences = network["held_out"]
#     print(f"{exact_share(translator, sentences):.1f} % of {len(sentences)} translations are right")
#     weights, gold = all_weights(translator, sentences)
#     print(f"{100 * alignment_accuracy(weights, gold):.1f} % of {len(gold)} French words have their largest weight")
#     print("on the word that they translate. The others:")
#     for line in elsewhere(translator, sentences):
#         print("   ", line)
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# (All sentences are from the same grammar as the training sentences. Of 704 other held-out sentences, the network
# translates 96.7 % without a mistake, and two networks trained from other random weights 95.7 % and 93.9 %;
# for their words, the alignment accuracies are 93.8 %, 98.1 % and 96.6 %.)
#
# ## What if a word were missing?
#
# A weight says how much of a *state* enters the context. It does not say how much the translation depends on a *word*.
# To test that, the next cell **erases** one English word at a time: its embedding is replaced by zeros,
# and both directions of the encoder read the sentence again. The decoder is fed the translation from above,
# and the table shows how much log-probability each of its words loses, in nats:
# a loss of 3.0 means that the probability becomes 20 times smaller.
# An asterisk marks a word that the network would no longer write: now another one is more probable.
# A dot is a loss below 0.05, or a gain. Brackets mean the same as before.
#
# In the first sentence, look at *ma* and *voiture*, with the weights of your heat map beside you.
# Which erased word do you expect to cost *ma* most: *my*, *red* or *car*? Of what will *petite* in the second sentence
# depend on?


# %%
def losses(before, after, word):
    """Log-probabilities (V,) before and after erasing -> what the word with this id loses, and if another one wins."""
    return before[word] - after[word], before.argmax() != after.argmax()


def erase_words(translator, english, french):
    """What each French word loses (T, S) if one English word is erased, and whether another word wins (T, S)."""
    ids = [translator.french.index(word) for word in french]
    before, _, _ = translator.follow(english, french)
    found = []
    for j in range(len(english)):
        after, _, _ = translator.follow(english, french, without=j)
        found.append([losses(*of_word) for of_word in zip(before, after, ids, strict=True)])
    lost, wins = np.moveaxis(np.array(found), 2, 0)  # (S, T) each
    return lost.T, wins.T != 0


def erase_states(translator, english, french):
    """What each French word loses (T, S) if one key is masked at this step alone, and whether another word wins."""
    keys, _ = translator.encode(english)
    before, _, states = translator.follow(english, french)
    found = []
    for t, word in enumerate(french):
        y = translator.french.index(french[t - 1]) if t else SOS
        after = [translator.step(y, states[t], keys, without=j)[0] for j in range(keys.shape[1])]
        found.append([losses(before[t], row, translator.french.index(word)) for row in after])
    lost, wins = np.moveaxis(np.array(found), 2, 0)
    return lost, wins != 0


def show_losses(network, english, french, lost, wins):
    """Print the losses in nats, with an asterisk where another word wins."""
    columns, cells = [*english, "⟨eos⟩"][: lost.shape[1]], []
    for pairs, row, row_wins in zip(in_dictionary(network, columns, french), lost, wins, strict=True):
        texts = [
            (f"{x:.1f}" if x >= 0.05 else "·") + ("*" if win else " ") for x, win in zip(row, row_wins, strict=True)
        ]
        cells.append([f"[{text}]" if pair else f"{text} " for text, pair in zip(texts, pairs, strict=True)])
    table(columns, french, cells)


# %% active="ipynb"
# sentences_to_erase = ["my red car follows two small cats", "the happy queens watch my small round table"]
# try:
#     for sentence in sentences_to_erase:
#         english = translator.words(sentence)
#         french, _ = translator.translate(english)
#         print("a word erased:", sentence)
#         show_losses(network, english, french, *erase_words(translator, english, french))
#         print()
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## What if a state were missing?
#
# Now we erase a state instead of a word. One key is masked at one step only, so its weight is exactly 0,
# and the other weights still sum to 1. Nothing else changes, neither the other keys nor the decoder's state.
# Your `masked_softmax` does this, because the mask says which keys may be attended to, not only where the padding is.
#
# Compare each table with the one above. In which rows do the two kinds of erasure disagree?

# %% active="ipynb"
# try:
#     for sentence in sentences_to_erase:
#         english = translator.words(sentence)
#         french, _ = translator.translate(english)
#         print("a state erased:", sentence)
#         show_losses(network, english, french, *erase_states(translator, english, french))
#         print()
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# Two sentences are no evidence. The next cell erases every word and every state of the 96 held-out sentences
# and asks of each French word: is the place with the largest weight the one whose erasure costs most?
# It also counts how often another word wins if the erased word had less than 5 % of the weight.
# (⟨eos⟩ is not erased as a word, but as a state. It takes a few seconds.)


# %%
def erasures(translator, sentences):
    """For all French words: the shares, in percent, of what the weights find, and the light words that decide."""
    word, state, aligned, decided = [], [], [], []
    for english, french, gold in sentences:
        _, weights, _ = translator.follow(english, french)
        lost, wins = erase_words(translator, english, french)
        of_states, _ = erase_states(translator, english, french)
        word += list(lost.argmax(axis=1) == weights.argmax(axis=1))
        state += list(of_states.argmax(axis=1) == weights.argmax(axis=1))
        aligned += list(lost.argmax(axis=1) == gold)
        decided += list((wins & (weights[:, :-1] < 0.05)).any(axis=1))
    return {
        "the state whose erasure costs most has the largest weight": 100 * np.mean(state),
        "the word whose erasure costs most has the largest weight": 100 * np.mean(word),
        "the word whose erasure costs most is the translated word": 100 * np.mean(aligned),
        "an erased word with a weight below 0.05 makes another word win": 100 * np.mean(decided),
    }


# %% active="ipynb"
# try:
#     for fact, share in erasures(translator, network["held_out"]).items():
#         print(f"{share:5.1f} %  {fact}")
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## Longer sentences than in training
#
# The network has never read more than 10 words. The file contains 30 longer sentences, six of each length
# from 11 to 15, of the same words and the same grammar. The next cell measures them as it did above, for each length,
# and draws the heat map of one.
#
# Without attention, one context had to contain all words, however many there were. That problem is gone.
# So does the translator work for any length? What do you expect?

# %% active="ipynb"
# try:
#     for n in range(11, 16):
#         sentences = [row for row in network["longer"] if len(row[0]) == n]
#         weights, gold = all_weights(translator, sentences)
#         right, accuracy = exact_share(translator, sentences), 100 * alignment_accuracy(weights, gold)
#         print(f"{n} words: {right / 100 * len(sentences):.0f} of {len(sentences)} right, accuracy {accuracy:.1f} %")
#     english, french, _ = network["longer"][-1]
#     print("\nright:", *french)
#     show(network, translator, " ".join(english))
# except NotImplementedError as not_yet:
#     waits_for(not_yet)

# %% [markdown]
# ## Explain what it looks at
#
# **Explain what this translator looks at, and what its weights do not tell**, in eight to twelve sentences of your own,
# for a friend who has taken the same course up to here:
#
# 1. Choose a cell from the heat map of a sentence of your own in which the largest weight of a row is not on the word
#    that a dictionary pairs with the French word. (If all your largest weights are in brackets, the list of the
#    held-out words tells you where to look for another sentence.) What could the decoder find in that state,
#    and which erasure supports your explanation or speaks against it?
# 2. Choose a French word and an English word with a weight below 0.05 whose erasure makes another word win.
#    How can a word with hardly any weight decide the translation?
#    Compare erasing the word with erasing its state.
# 3. Choose a large weight, of 0.4 at least, where erasing the state costs little or nothing.
#    What does a weight tell us, then, and what does it not tell? Use the shares over the 96 sentences too.
# 4. What happens in sentences of more than 10 words? Which part of the translator fails there, as far as you can tell
#    from the weights? Say also what your measurements do not show, and which comparison would.
#
# Change the cells above and try things out before you write: put your own sentences into the erasures.
# Numbers from your own outputs count more than what you have read. Write them into your answer.

# %% [markdown] question="what_it_looks_at"
# ### BEGIN SOLUTION
# **A good answer, in short.** (All students have the same network, but their own sentences. Here are the given ones.)
#
# (1) In *my red car follows two small cats*, *ma* has a weight of 0.49 on *car* and 0.42 on *my*.
# *ma* or *mon* depends on the gender of the noun, so the decoder could look for the gender there.
# Erasing the word *car* supports this: *ma* loses 3.0 nats and another word wins, whereas erasing *my* costs 0.9.
# But erasing the state of *car* costs only 0.1, so the decoder does not need this state: the gender is also in others,
# probably in that of *my*, because the backward direction has read *car* before *my*.
# (The list shows a second pattern: of the 26 words, 25 are determiners, and 23 are the first word of the translation,
# when the query is the first state of the decoder. Later determiners have their weight on the English determiner:
# *ma* in *the happy queens watch my small round table*, 0.91. Why the first step is different, we have not tested.)
# (2) This later *ma* has 0.91 on *my* and 0.02 on *table*. Erasing the word *table* costs it 5.5 nats, and another word
# wins; erasing the state of *table* costs less than 0.05, erasing that of *my* 2.1.
# So the gender of *table* reaches the decoder through the state of *my*: a key is computed from the whole sentence.
# (*petite*, which agrees with *table* too, loses nothing without it, because the decoder has just read *ma*.
# Other losses, such as 4.6 for *chats* without *small*, may only mean that a gap confuses the network.)
# (3) *les* in the same sentence has a weight of 0.76 on *queens*, but erasing this state costs less than 0.05:
# the weights of the other states grow, and these also say that the subject is plural. A weight is the share of a
# state in the context. It does not say that the state is needed, nor which words are in it.
# Over the 96 sentences, the largest weight is on the state that matters most for 96.6 % of the words, but on
# the word that matters most for only 87.5 %, and for 23.7 % a word with a weight below 0.05 makes another word win.
# (4) Of six sentences of each length, all with 11 words are right, two with 12 and two with 13, none with 14 or 15.
# The alignment accuracy falls from 95.8 % to 27.8 %, although for this measurement the decoder is fed the right words.
# In the heat map, *mon* has 0.60 on *boat*, *bateau* is left out, and *et* has 0.40 on *follow*.
# So the keys of all words are there, but the decoder does not find the right one at the right time;
# near the end it does again (*porte*, 0.92).
# Whether the fault is in the keys, in the first state or in the later states of the decoder, the weights do not tell.
# Six sentences of each length are few. To find out, one could train again, with several seeds, on sentences of up to
# 15 words, and measure the same shares; or start the decoder with zeros, in training too, so that nothing in it
# depends on the sentence's length, and compare at each length.
#
# **How it is marked** (2 points, ½ for each part).
# (1) A cell with its weights and a reason that fits French or the encoder (¼), and an erasure that tests the reason,
# whether it supports it or not (¼). A student whose erasure contradicts the reason and who says so has full marks.
# (2) A pair of words with the weight and both losses (¼), and the explanation that a state contains more than
# its word, because the encoder reads both ways, or that the decoder knows it from the words it has read (¼).
# (3) A weight and the small loss (¼), and a statement of what the weight means that goes beyond "how important it is",
# with a share (¼). "Attention is no explanation" without a number earns nothing.
# (4) Numbers for at least two lengths, and an observation from a heat map (¼). A limit of the measurement and
# a comparison that could prove the student wrong (¼). "The context is too small" does not fit, because there is a key
# for every word.
#
# A part that is right but has no number from an output gets ¼ point. No points are deducted for language or length.
# ### END SOLUTION
