"""The notebook `text`: its functions and their oracles equal PyTorch and each other on random sizes and edge cases."""

import numpy as np
import pytest
import torch

from solutions.ch00_sequences.text import decode_ids, embed, encode_text, one_hot
from tests.conftest import exercise
from tests.loops import for_each

LETTERS = list("abcdefgh xyzéß你")
SHAPES = [(), (1,), (5,), (0,), (2, 3), (1, 4), (3, 1), (2, 0), (2, 3, 4), (1, 1, 1)]


def both(exercise_id, function):
    return [function, exercise(exercise_id).spec.oracle]


def vocabulary(rng, V, unk):
    keys = rng.permutation(LETTERS)[:V].tolist()
    return dict(zip([*keys[: V - unk], "<unk>"][:V], rng.permutation(V).tolist(), strict=True))


@for_each("seed", range(10))
def test_decoding_is_the_inverse_of_encoding(seed):
    rng = np.random.default_rng(seed)
    for unk in (True, False):
        vocab = vocabulary(rng, 6, unk)
        known = [key for key in vocab if key != "<unk>"]
        text = "".join(rng.choice(known, size=rng.integers(12)))
        for encode in both("encode_text", encode_text):
            ids = encode(text, vocab)
            assert (ids.dtype, ids.shape) == (np.int64, (len(text),))
            assert all(decode(ids, vocab) == text for decode in both("decode_ids", decode_ids))


@pytest.mark.parametrize("encode", both("encode_text", encode_text))
def test_unknown_characters_and_the_empty_text(encode):
    vocab = {"b": 2, "<unk>": 1, "a": 0}
    np.testing.assert_array_equal(encode("axbß", vocab), [0, 1, 2, 1])
    del vocab["<unk>"]
    np.testing.assert_array_equal(encode("ab", vocab), [0, 2])
    with pytest.raises(KeyError, match="ß"):
        encode("aß", vocab)
    for vocab in ({}, {"a": 0}, {"<unk>": 0}):
        assert encode("", vocab).dtype == np.int64
        assert encode("", vocab).shape == (0,)


@for_each("shape", SHAPES)
def test_one_hot_vectors_and_embeddings_of_ids_of_any_shape(shape):
    rng = np.random.default_rng([7, *shape])
    V, D = rng.integers(1, 7, size=2)
    ids, E = rng.integers(V, size=shape), rng.normal(size=(V, D))
    ids = np.array(ids)
    expected = torch.nn.functional.one_hot(torch.from_numpy(ids), int(V)).double().numpy()
    for function in both("one_hot", one_hot):
        got = function(ids, int(V))
        assert got.dtype == np.float64
        np.testing.assert_array_equal(got, expected)
    for function in both("embed", embed):
        np.testing.assert_array_equal(function(ids, E), E[ids])
        np.testing.assert_allclose(function(ids, E), expected @ E, rtol=1e-15)


@for_each("function", both("one_hot", one_hot))
@for_each("wrong", [-1, -3, -4, 3, 4, 100])
@for_each("shape", [(), (1,), (4,), (2, 3)])
def test_an_id_outside_the_vocabulary_is_an_index_error(function, wrong, shape):
    ids = np.zeros(shape, dtype=np.int64)
    ids[(-1,) * len(shape)] = wrong
    with pytest.raises(IndexError):
        function(ids, 3)
