"""Programs that the spec of `encode_text` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


@TRIALS.wrong()
def a_list_comprehension(text, vocab):
    return np.array([vocab[c] for c in text])


@TRIALS.wrong("empty_text_gives_floats")
def no_dtype(text, vocab):
    ids = []
    for c in text:
        ids.append(vocab["<unk>"] if c not in vocab and "<unk>" in vocab else vocab[c])
    return np.array(ids)


@TRIALS.wrong("unk_always_looked_up")
def get_with_a_default(text, vocab):
    ids = np.empty(len(text), dtype=int)
    for t in range(len(text)):
        ids[t] = vocab.get(text[t], vocab["<unk>"])
    return ids


@TRIALS.wrong()
def another_exception(text, vocab):
    if "<unk>" not in vocab and not set(text) <= set(vocab):
        raise ValueError("unknown character")
    return np.array([vocab.get(c, vocab.get("<unk>")) for c in text], dtype=int)


@TRIALS.wrong()
def an_error_that_names_nothing(text, vocab):
    if "<unk>" not in vocab and not set(text) <= set(vocab):
        raise KeyError("unknown character!")
    return np.array([vocab.get(c, vocab.get("<unk>")) for c in text], dtype=int)


@TRIALS.wrong()
def code_points(text, vocab):
    return np.array([ord(c) for c in text], dtype=int)


@TRIALS.right
def the_name_in_a_sentence(text, vocab):
    ids = []
    for c in text:
        if c not in vocab and "<unk>" not in vocab:
            raise KeyError(f"{c!r} is not in the vocabulary")
        ids.append(vocab[c] if c in vocab else vocab["<unk>"])
    return np.asarray(ids, dtype="int64")


@TRIALS.right
def checked_first(text, vocab):
    if "<unk>" not in vocab:
        for c in text:
            vocab[c]
    return np.fromiter((vocab.get(c, vocab.get("<unk>")) for c in text), int, len(text))


@TRIALS.right
def an_own_exception_class(text, vocab):
    try:
        return np.array([vocab[c if c in vocab or "<unk>" not in vocab else "<unk>"] for c in text], dtype=int)
    except KeyError as error:
        raise KeyError(*error.args) from None


@TRIALS.wrong("positions_for_ids")
def numbered_again(text, vocab):
    number_of = {key: number for number, key in enumerate(vocab)}
    ids = []
    for c in text:
        if c not in number_of and "<unk>" not in number_of:
            raise KeyError(c)
        ids.append(number_of.get(c, number_of.get("<unk>")))
    return np.array(ids, dtype=np.int64)


@TRIALS.wrong("positions_for_ids")
def sorted_characters_and_unk_last(text, vocab):
    characters = sorted(c for c in vocab if len(c) == 1)
    if "<unk>" in vocab:
        characters.append("<unk>")
    number_of = dict(zip(characters, range(len(characters)), strict=True))
    return np.array([number_of[c if c in vocab or "<unk>" not in vocab else "<unk>"] for c in text], dtype=np.int64)


@TRIALS.wrong("no_error_without_unk")
def skipped_without_unk(text, vocab):
    unk, ids = vocab.get("<unk>"), []
    for c in text:
        index = vocab.get(c, unk)
        if index is not None:
            ids.append(index)
    return np.array(ids, dtype=np.int64)


@TRIALS.wrong()
def an_error_that_names_unk(text, vocab):
    return np.array([vocab[c] if c in vocab else vocab["<unk>"] for c in text], dtype=np.int64)


@TRIALS.wrong("words_for_characters")
def words(text, vocab):
    ids = []
    for token in text.split():
        if token not in vocab and "<unk>" not in vocab:
            raise KeyError(token)
        ids.append(vocab[token] if token in vocab else vocab["<unk>"])
    return np.array(ids, dtype=np.int64)
