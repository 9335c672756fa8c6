"""Documents of several sentences: what the grammar writes, what the networks compute, and what was recorded of them."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from experiments.ch06 import documents
from experiments.ch06.documents import (
    BAD,
    EMBEDDINGS,
    ENCODERS,
    FILM,
    GOOD,
    GRU,
    LONGER,
    MEAN,
    ONE,
    POOLINGS,
    TWO,
    VOCABULARY,
)
from solutions.ch06_attention.building_blocks import hierarchical_attention

TORCH = torch.__version__.partition("+")[0]


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(documents.RESULTS_FILE.read_text("utf-8"))
    return record


def of(encoder: str, pooling: str) -> list[dict[str, Any]]:
    return [one for one in recorded()["runs"] if (one["encoder"], one["pooling"]) == (encoder, pooling)]


def test_the_record_has_settings_seeds_versions_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch06.documents --record"
    assert record["seeds"] == list(documents.SEEDS) == [0, 1, 2, 3, 4]
    assert record["versions"].keys() == {"torch", "numpy"}
    assert {key: record["settings"][key] for key in documents.SETTINGS} == documents.SETTINGS
    assert documents.RESULTS_FILE.stat().st_size < 120_000


def test_the_summary_follows_from_the_runs() -> None:
    record = recorded()
    assert [(one["encoder"], one["pooling"], one["seed"]) for one in record["runs"]] == list(
        product(ENCODERS, POOLINGS, documents.SEEDS)
    )
    assert record["summary"] == documents.summary(record["runs"])


def test_what_the_grammar_writes() -> None:
    made = documents.documents(200, np.random.default_rng(0))
    assert made.ids.shape[1] == 7
    assert 0.4 < made.classes.double().mean() < 0.6
    for b in range(200):
        sentences = [[VOCABULARY[i] for i in ids if i] for ids in made.ids[b].tolist() if any(ids)]
        assert 3 <= len(sentences) <= 7
        assert [FILM in sentence for sentence in sentences].count(True) == 1
        assert all(sum(word in GOOD + BAD for word in sentence) == 1 for sentence in sentences)
        film = sentences[made.sentence[b]]
        assert FILM in film
        assert film[made.adjective[b]] in (BAD, GOOD)[made.classes[b]]


@pytest.mark.parametrize("sentences", [(3, 3), (4, 6), documents.SENTENCES])
def test_the_best_that_a_bag_of_words_can_do(sentences: tuple[int, int]) -> None:
    """All documents one by one: which adjectives are good, and which of them is the film's."""
    shares = []
    for K in range(sentences[0], sentences[1] + 1):
        right = 0.0
        for goods in product((0, 1), repeat=K):
            says = sum(goods) * 2 > K
            right += sum(good == says for good in goods) / K
        shares.append(right / 2**K)
    assert documents.best_bag(sentences) == pytest.approx(100 * sum(shares) / len(shares))


@torch.no_grad()
def test_two_softmaxes_are_the_exercise() -> None:
    torch.manual_seed(0)
    made = documents.documents(20, np.random.default_rng(1))
    for encoder in ENCODERS:
        model = documents.Reader(encoder, TWO).double()
        assert model.of_words is not None
        assert model.of_sentences is not None
        weights = []
        for level in (model.of_words, model.of_sentences):
            weights += [level.project.weight.T.numpy(), level.query.weight[0].numpy()]
        states, words = model.states(made.ids).numpy(), made.words.numpy()
        vector, of_words, of_sentences = hierarchical_attention(states, words, words.any(axis=2), *weights)
        logits, found_words, found_sentences = model(made.ids)
        assert found_words is not None
        assert found_sentences is not None
        np.testing.assert_allclose(found_words.numpy(), of_words, atol=1e-12)
        np.testing.assert_allclose(found_sentences.numpy(), of_sentences, atol=1e-12)
        np.testing.assert_allclose(logits.numpy(), model.head(torch.from_numpy(vector)).numpy(), atol=1e-12)


@torch.no_grad()
def test_a_gru_reads_each_sentence_by_itself() -> None:
    torch.manual_seed(0)
    made, model = documents.documents(5, np.random.default_rng(2)), documents.Reader(GRU, MEAN)
    states = model.states(made.ids)
    assert (states[~made.words] == 0).all()
    alone = made.ids[1, :1]
    alone = alone[alone > 0][None, None]
    torch.testing.assert_close(model.states(alone)[0, 0], states[1, 0, : alone.shape[2]])


@torch.no_grad()
def test_without_a_context_one_softmax_cannot_see_sentences() -> None:
    """With embeddings, a mean and one softmax read the words in any order: the page says that they cannot tell."""
    torch.manual_seed(0)
    ids = documents.documents(1, np.random.default_rng(3)).ids
    words = ids[ids > 0]
    shuffled = words[torch.randperm(len(words), generator=torch.Generator().manual_seed(0))]
    for pooling in (MEAN, ONE):
        model = documents.Reader(EMBEDDINGS, pooling).double()
        torch.testing.assert_close(model(words[None, None])[0], model(shuffled[None, None])[0])
        torch.testing.assert_close(model(words[None, None])[0], model(ids)[0])


def test_the_accuracies_as_recorded() -> None:
    """What the page says of its table."""
    bag = recorded()["bag"]
    for pooling in (MEAN, ONE):
        for one in of(EMBEDDINGS, pooling):
            assert one["as_long"]["accuracy"] < bag["as_long"] + 5  # 1,000 documents: a standard deviation of 1.5
            assert one["longer"]["accuracy"] < bag["longer"] + 5
    assert min(one["as_long"]["accuracy"] for one in of(EMBEDDINGS, TWO)) > 99
    assert bag["longer"] == pytest.approx(documents.best_bag(LONGER), abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_network_trains_as_recorded(pooling: str) -> None:
    record = recorded()
    if record["versions"]["torch"] != TORCH:
        pytest.skip("recorded with another torch")
    today = documents.run(EMBEDDINGS, pooling, 0, updates=60)
    assert today["curve"] == pytest.approx(of(EMBEDDINGS, pooling)[0]["curve"][:3], abs=0.05)
