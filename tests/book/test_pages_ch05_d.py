"""Each labelled equation of chapter 5's page on translation, compared with a direct computation."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from experiments.ch05 import phrases
from experiments.ch05.model import EOS, SOS, Settings, Translator, Vocabulary, batch_of


@pytest.mark.parametrize("S", [1, 2, 5, 8])
def test_steps_between_a_word_and_its_translation(S: int) -> None:
    """Equation (translation-distance): counted in the batches that the networks of the experiments read."""
    names = [f"word{i}" for i in range(1, S + 1)]
    pair = (names, names)
    vocabulary = Vocabulary([names])
    found = {}
    for order, reverse in (("forward", False), ("reversed", True)):
        ids, lengths, read, wanted = batch_of([pair], vocabulary, vocabulary, reverse)
        assert ids[0, -1] == EOS
        assert read[0, 0] == SOS
        everything = [*ids[0].tolist(), *wanted[0].tolist()]  # one step of a GRU each
        assert lengths[0] == S + 1
        found[order] = [
            S + 1 + wanted[0].tolist().index(vocabulary.id[name]) - everything.index(vocabulary.id[name])
            for name in names
        ]
    assert found["forward"] == [S + 1] * S
    assert found["reversed"] == [2 * i for i in range(1, S + 1)]
    assert np.mean(found["reversed"]) == S + 1


@pytest.mark.parametrize("order", [False, True])
def test_the_distance_is_that_of_the_graph(order: bool) -> None:
    """Equation (translation-distance) counts states: with GRUs that only pass on, the input arrives so late."""
    names, size = ["a", "b", "c"], 12
    vocabulary = Vocabulary([names])
    model = Translator(len(vocabulary), len(vocabulary), Settings(embed_size=size, hidden_size=size, reverse=order))
    shift = torch.roll(torch.eye(size), 1, dims=0)
    with torch.no_grad():  # update gates of zero, candidates that move the state by one unit
        for part in (model.encoder, model.decoder):
            for weights in part.parameters():
                weights.zero_()
            part.bias_ih_l0[size : 2 * size] = -50.0
            part.bias_ih_l0[:size] = 50.0
            part.weight_hh_l0[2 * size :] = 0.5 * shift
        model.source_embedding.weight.zero_()
        model.source_embedding.weight[vocabulary.id["a"], 0] = 1.0
        model.encoder.weight_ih_l0[2 * size :] = torch.eye(size)
    ids, lengths, read, wanted = batch_of([(names, names)], vocabulary, vocabulary, order)
    state = model.encode(ids, lengths)
    states, _ = model.decoder(model.target_embedding(read), state)
    at = wanted[0].tolist().index(vocabulary.id["a"])
    moved = int(states[0, at].abs().argmax())  # the unit in which the first word has arrived
    assert moved == (2 if order else len(names) + 1)


def test_a_sentence_is_right_if_all_its_tokens_are() -> None:
    """Equation (whole-sentence): the share of 200,000 drawn sentences without a mistake."""
    rng = np.random.default_rng(0)
    for p, T in ((0.99, 14), (0.9, 5), (0.5, 1)):
        assert np.mean((rng.uniform(size=(200_000, T)) < p).all(axis=1)) == pytest.approx(p**T, abs=0.005)


def test_sentences_have_about_as_many_tokens_as_the_page_says() -> None:
    """Five tokens in the shortest bucket and fourteen in the longest, on average, ⟨eos⟩ included."""
    _, held_out = phrases.data()
    for bucket, tokens in (("3–5", 5), ("11–15", 14)):
        targets = [len(french) + 1 for _, french in phrases.as_pairs(held_out, phrases.BUCKETS[bucket])]
        assert np.mean(targets) == pytest.approx(tokens, abs=1e-9)
