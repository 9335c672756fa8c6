"""Programs for the notebook `text` that no spec contains.

A nearly right program must fail and must not be given a false name: beside each is the diagnosis that is true of it,
or None. A program that is right in another style must pass.
"""

import numpy as np

from tests.loops import for_each
from tests.nearly_right import Programs, fails, passes

PROGRAMS = Programs()
wrong, right = PROGRAMS.wrong, PROGRAMS.right


# Nearly right --------------------------------------------------------------------------------------------------------


@wrong("encode_text", None)
def a_list_comprehension(text, vocab):
    return np.array([vocab[c] for c in text])


@wrong("encode_text", "empty_text_gives_floats")
def no_dtype(text, vocab):
    ids = []
    for c in text:
        ids.append(vocab["<unk>"] if c not in vocab and "<unk>" in vocab else vocab[c])
    return np.array(ids)


@wrong("encode_text", "unk_always_looked_up")
def get_with_a_default(text, vocab):
    ids = np.empty(len(text), dtype=int)
    for t in range(len(text)):
        ids[t] = vocab.get(text[t], vocab["<unk>"])
    return ids


@wrong("encode_text", "unknown_left_out")
def filtered(text, vocab):
    return np.array([*map(vocab.get, filter(vocab.__contains__, text))], dtype=int)


@wrong("encode_text", "unknown_id_invented")
def zero_if_unknown(text, vocab):
    return np.array([vocab.get(c, 0) for c in text], dtype=int)


@wrong("encode_text", "no_error_without_unk")
def zero_without_unk(text, vocab):
    unknown = vocab.get("<unk>", 0)
    return np.array([vocab.get(c, unknown) for c in text], dtype=int)


@wrong("encode_text", None)
def another_exception(text, vocab):
    if "<unk>" not in vocab and not set(text) <= set(vocab):
        raise ValueError("unknown character")
    return np.array([vocab.get(c, vocab.get("<unk>")) for c in text], dtype=int)


@wrong("encode_text", None)
def an_error_that_names_nothing(text, vocab):
    if "<unk>" not in vocab and not set(text) <= set(vocab):
        raise KeyError("unknown character!")
    return np.array([vocab.get(c, vocab.get("<unk>")) for c in text], dtype=int)


@wrong("encode_text", None)
def code_points(text, vocab):
    return np.array([ord(c) for c in text], dtype=int)


@wrong("decode_ids", "order_of_the_dict")
def list_of_keys(ids, vocab):
    keys = list(vocab)
    return "".join(keys[i] for i in ids)


@wrong("decode_ids", None)
def a_list_of_characters(ids, vocab):
    return [next(c for c in vocab if vocab[c] == i) for i in ids]


@wrong("decode_ids", "counterfactual: backward ids")
def backwards(ids, vocab):
    characters = {i: c for c, i in vocab.items()}
    return "".join(characters[i] for i in ids[::-1])


@wrong("decode_ids", "unk_not_shown")
def unknown_skipped(ids, vocab):
    return "".join(c for i in ids for c, j in vocab.items() if i == j and len(c) == 1)


@wrong("one_hot", "negative_ids_wrap")
def eye(ids, vocab_size):
    return np.eye(vocab_size)[ids]


@wrong("one_hot", "zeros_for_an_id_outside")
def compared(ids, vocab_size):
    return np.where(np.expand_dims(ids, -1) == np.arange(vocab_size), 1.0, 0.0)


@wrong("one_hot", None)
def integers(ids, vocab_size):
    if (ids < 0).any():
        raise IndexError
    return np.eye(vocab_size, dtype=int)[ids]


@wrong("one_hot", None)
def bounds_of_an_empty_array(ids, vocab_size):
    if ids.min() < 0 or ids.max() >= vocab_size:
        raise IndexError
    return np.eye(vocab_size)[ids]


@wrong("one_hot", None)
def a_value_error(ids, vocab_size):
    if not np.isin(ids, np.arange(vocab_size)).all():
        raise ValueError("id outside the vocabulary")
    return np.eye(vocab_size)[ids]


@wrong("one_hot", None)
def last_id_refused(ids, vocab_size):
    if (ids < 0).any() or (ids >= vocab_size - 1).any():
        raise IndexError
    return np.eye(vocab_size)[ids]


@wrong("embed", "columns_for_rows")
def take_along_columns(ids, E):
    return np.moveaxis(np.take(E, ids, axis=1), 0, -1)


@wrong("embed", "summed_over_positions")
def bag(ids, E):
    return E[ids].sum(axis=-2) if ids.ndim else E[ids]


@wrong("embed", None)
def flat(ids, E):
    return E[ids.ravel()]


@wrong("embed", None)
def normalised(ids, E):
    return E[ids] / np.linalg.norm(E[ids], axis=-1, keepdims=True)


# Right in another style ----------------------------------------------------------------------------------------------


@right("encode_text")
def the_name_in_a_sentence(text, vocab):
    ids = []
    for c in text:
        if c not in vocab and "<unk>" not in vocab:
            raise KeyError(f"{c!r} is not in the vocabulary")
        ids.append(vocab[c] if c in vocab else vocab["<unk>"])
    return np.asarray(ids, dtype="int64")


@right("encode_text")
def checked_first(text, vocab):
    if "<unk>" not in vocab:
        for c in text:
            vocab[c]
    return np.fromiter((vocab.get(c, vocab.get("<unk>")) for c in text), int, len(text))


@right("encode_text")
def an_own_exception_class(text, vocab):
    try:
        return np.array([vocab[c if c in vocab or "<unk>" not in vocab else "<unk>"] for c in text], dtype=int)
    except KeyError as error:
        raise KeyError(*error.args) from None


@right("decode_ids")
def searched(ids, vocab):
    return "".join(next(c for c, i in vocab.items() if i == index) for index in ids)


@right("decode_ids")
def an_array_of_characters(ids, vocab):
    characters = np.empty(len(vocab), dtype=object)
    for c, i in vocab.items():
        characters[i] = c
    return "".join(characters[ids])


@right("one_hot")
def zeros_and_ones(ids, vocab_size):
    if not ((ids >= 0) & (ids < vocab_size)).all():
        raise IndexError(ids)
    vectors = np.zeros((*ids.shape, vocab_size))
    vectors.reshape(-1, vocab_size)[np.arange(ids.size), ids.ravel()] = 1
    return vectors


@right("one_hot")
def shifted_for_negative(ids, vocab_size):
    return np.eye(vocab_size)[np.where(ids < 0, vocab_size, ids)]


@right("embed")
def one_row_each(ids, E):
    return np.array([E[i] for i in ids.ravel()]).reshape(*ids.shape, E.shape[1])


@right("embed")
def product_of_comparison(ids, E):
    return (ids[..., None] == np.arange(E.shape[0])) @ E


@for_each(("exercise_id", "function", "diagnosis"), PROGRAMS.nearly_right)
def test_a_nearly_right_program_fails_and_is_not_given_a_false_name(exercise_id, function, diagnosis):
    fails(exercise_id, function, diagnosis)


@for_each(("exercise_id", "function"), PROGRAMS.in_another_style)
def test_a_right_program_passes(exercise_id, function):
    passes(exercise_id, function)
