"""The experiment on alignments of chapter 06: its parts, and what it recorded."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from statistics import mean, stdev
from typing import Any

import numpy as np
import pytest
import torch

from experiments.ch05.grammar import Phrase, by_length
from experiments.ch05.model import EOS, Fitted, fit
from experiments.ch05.phrases import as_pairs
from experiments.ch06 import alignments
from experiments.ch06.alignments import GROUPS, KINDS, SEEDS, SETTINGS, SHOWN
from experiments.ch06.model import Attending, AttentionSettings


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(alignments.RESULTS_FILE.read_text("utf-8"))
    return record


def little(**how: Any) -> tuple[Fitted, dict[int, list[Phrase]]]:
    """A network after a few updates, in float64 so that rounding decides no maximum, and sentences of two lengths."""
    phrases = by_length(20, 4, 5)
    settings = AttentionSettings(embed_size=8, hidden_size=8, attention_size=8, updates=4, batch=8, **how)
    fitted = fit(as_pairs(phrases), settings, build=Attending)
    fitted.model.double()
    return fitted, phrases


def test_the_record_has_settings_seeds_versions_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch06.alignments --record"
    assert record["seeds"] == list(SEEDS)
    assert len(set(SEEDS)) == 5
    assert {key: record["settings"][key] for key in SETTINGS} == SETTINGS
    assert set(record["versions"]) == {"torch"}
    assert alignments.RESULTS_FILE.stat().st_size < 250_000


def test_every_group_was_run_with_every_seed() -> None:
    runs = [(one["group"], one["seed"]) for one in recorded()["runs"]]
    assert runs == [(name, seed) for name in GROUPS for seed in SEEDS]


def test_the_summary_follows_from_the_runs() -> None:
    record = recorded()
    assert record["summary"] == alignments.summary(record["runs"])
    shares = [one["alignment"] for one in record["runs"] if one["group"] == "dot"]
    assert record["summary"]["dot"]["alignment"] == [round(mean(shares), 2), round(stdev(shares), 2)]
    assert record["summary"]["dot"]["lowest"] == min(shares)


def test_errors_and_kinds_add_up() -> None:
    for one in recorded()["runs"]:
        errors, words = sum(one["errors"].values()), one["words"]
        assert one["alignment"] == pytest.approx(100 * (words - errors) / words, abs=0.006)
        assert sum(one["words_by_kind"].values()) == words
        for name, count in one["erased"]["counts"].items():
            assert count == sum(of_kind.get(name, 0) for of_kind in one["erased"]["by_kind"].values())
        counts = one["erased"]["counts"]
        assert counts["words"] - counts.get("misaligned", 0) == counts["weight is aligned"]


def test_the_sentences_shown_are_the_grammars() -> None:
    translations: dict[str, set[str]] = {}
    for group in by_length(200, 3, 6, seed=3).values():
        for phrase in group:
            for french, at in zip(phrase.french, phrase.alignment, strict=True):
                translations.setdefault(phrase.english[at], set()).add(french)
    for phrase in SHOWN:
        assert sorted(phrase.alignment) == list(range(len(phrase.english)))
        for french, at in zip(phrase.french, phrase.alignment, strict=True):
            assert french in translations[phrase.english[at]]


def test_groups_and_kinds_of_errors() -> None:
    words = ["the", "red", "car", "and", "a", "cat", "that", "sees", "my", "big", "dog"]
    assert alignments.group_of(words) == [2, 2, 2, -1, 5, 5, -1, -1, 10, 10, 10]
    assert alignments.error_of(words, 0, 2) == "determiner: its own noun"
    assert alignments.error_of(words, 2, 1) == "noun: its own adjective"
    assert alignments.error_of(words, 4, 2) == "determiner: elsewhere"
    assert alignments.error_of(words, 3, 4) == "conjunction: the next word"
    assert alignments.error_of(words, 6, 3) == "conjunction: elsewhere"
    assert alignments.error_of(words, 7, 11) == "verb: ⟨eos⟩"
    assert set(alignments.KIND.values()) == set(KINDS)


def test_identity_on_a_known_case() -> None:
    assert alignments.identity({9: [SHOWN[0]]}) == pytest.approx(
        100 * 5 / 9, abs=0.006
    )  # les, blancs, quittent, mon, joli


@pytest.mark.parametrize("query", ["previous", "current"])
def test_alignments_are_counted_as_in_a_slow_loop(query: str) -> None:
    fitted, phrases = little(query=query)
    found = alignments.aligned(fitted, phrases)
    right, on_aligned, words = 0, 0.0, 0
    for group in phrases.values():
        for phrase in group:
            weights = alignments.weights_of(fitted, [phrase])[0].numpy()
            assert weights.shape == (len(phrase.french) + 1, len(phrase.english) + 1)
            np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=1e-5)
            for t, gold in enumerate(phrase.alignment):
                right += int(np.argmax(weights[t])) == gold
                on_aligned += weights[t, gold]
                words += 1
    assert found["words"] == words
    assert found["alignment"] == pytest.approx(100 * right / words, abs=0.006)
    assert found["weight_on_aligned"] == pytest.approx(100 * on_aligned / words, abs=0.01)


@pytest.mark.parametrize("query", ["previous", "current"])
def test_an_erased_word_is_a_word_whose_embedding_is_zero(query: str) -> None:
    fitted, phrases = little(query=query)
    some = phrases[5][:3]
    erased = alignments.erase_words(fitted, some)
    assert erased.loss.shape == erased.changed.shape == (3, 5, 5)
    model, ids, lengths, read, wanted = alignments.tensors(fitted, some)
    plain = torch.log_softmax(model(ids, lengths, read), -1)
    b, j = 1, 2
    table = model.source_embedding.weight
    kept = table[ids[b, j]].clone()
    with torch.no_grad():
        row = ids[b : b + 1]
        assert (row == ids[b, j]).sum() == 1
        table[ids[b, j]] = 0
        without = torch.log_softmax(model(row, lengths[b : b + 1], read[b : b + 1]), -1)[0]
        table[ids[b, j]] = kept
    for t in range(5):
        lost = plain[b, t, wanted[b, t]] - without[t, wanted[b, t]]
        assert erased.loss[b, t, j] == pytest.approx(lost.item(), abs=1e-5)


@pytest.mark.parametrize("how", [{"query": "previous"}, {"query": "current"}, {"score": "dot"}])
def test_an_erased_state_has_no_weight_at_one_step(how: dict[str, str]) -> None:
    """A state with almost all of the weight costs much, a state without weight nothing."""
    fitted, phrases = little(**how)
    some = phrases[4][:2]
    states = alignments.erase_states(fitted, some)
    assert states.loss.shape == (2, 4, 5)
    model, ids, lengths, read, wanted = alignments.tensors(fitted, some)
    source = model.encode(ids, lengths)
    state = model.start(source)
    with torch.no_grad():
        _, before, _ = model.decode_attending(read[:, :2], state, source)
        plain, _, weights = model.decode_attending(read[:, 2:3], before, source)
        mask = source.mask.clone()
        mask[:, 3] = False
        without, _, renormalised = model.decode_attending(read[:, 2:3], before, source._replace(mask=mask))
    assert (renormalised[:, 0, 3] == 0).all()
    np.testing.assert_allclose(renormalised[:, 0, 0], weights[:, 0, 0] / (1 - weights[:, 0, 3]), rtol=1e-4)
    lost = torch.log_softmax(plain, -1) - torch.log_softmax(without, -1)
    for b in range(2):
        assert states.loss[b, 2, 3] == pytest.approx(lost[b, 0, wanted[b, 2]].item(), abs=1e-5)


def test_uniform_weights_are_uniform() -> None:
    for how in ({"score": "dot"}, {"score": "bilinear"}, {"score": "additive"}):
        fitted, phrases = little(**how)
        model, ids, lengths, read, _ = alignments.tensors(fitted, phrases[4])
        assert (ids[:, -1] == EOS).all()
        source = model.encode(ids, lengths)
        flat = source._replace(projected=torch.zeros_like(source.projected))
        weights = model.decode_attending(read, model.start(source), flat)[2]
        np.testing.assert_allclose(weights.detach().numpy(), 1 / ids.shape[1], rtol=1e-5)


def test_sentences_of_two_lengths_are_refused() -> None:
    fitted, phrases = little()
    with pytest.raises(ValueError, match="one length"):
        alignments.weights_of(fitted, [phrases[4][0], phrases[5][0]])


def test_routes_are_parts_of_what_erasing_the_noun_changes() -> None:
    for one in recorded()["runs"]:
        assert ("routes" in one) == (one["group"] == "additive")
        if "routes" in one:
            changed = sum(
                one["erased"]["by_kind"][kind]["light noun changes output"] for kind in ("determiner", "adjective")
            )
            assert one["routes"]["decided"] == pytest.approx(changed, abs=2)  # batches of another size, other last bits
            assert max(one["routes"].values()) == one["routes"]["decided"]


def test_the_ways_of_a_noun_without_effect_are_none() -> None:
    """Without a decoder that reads the source, no noun decides anything."""
    fitted, phrases = little()
    with torch.no_grad():
        for weights in fitted.model.head.parameters():
            weights.zero_()
    assert alignments.routes(fitted, phrases) == {"decided": 0, "heaviest state": 0, "initial state": 0}


# What the page says ---------------------------------------------------------------------------------------------------

BOTH, CURRENT, FORWARD = "additive", "additive, current", "additive, forward"


def runs_of(group: str) -> list[dict[str, Any]]:
    return [one for one in recorded()["runs"] if one["group"] == group]


def own_noun(group: str, kind: str) -> list[float]:
    """Of each run, the share of these words whose largest weight is on their own noun, in percent."""
    return [100 * one["errors"].get(f"{kind}: its own noun", 0) / one["words_by_kind"][kind] for one in runs_of(group)]


def test_what_the_page_says_of_its_first_figure() -> None:
    """All largest weights are aligned; for *mon*, *garden* has no weight and decides."""
    (first, *_) = runs_of(BOTH)
    shown = first["shown"][0]
    assert first["seed"] == 0
    assert shown["found"] == shown["french"]
    assert [int(np.argmax(row)) for row in shown["weights"][:-1]] == shown["alignment"]
    mon, my, garden = shown["french"].index("mon"), shown["english"].index("my"), shown["english"].index("garden")
    weights, lost, changed = (shown[key][mon] for key in ("weights", "lost", "changed"))
    assert weights[garden] < 0.01
    assert weights[my] > 0.8
    assert lost[garden] > lost[my] + 2
    assert changed[garden]
    assert not changed[my]
    assert shown["french"][mon:] == ["mon", "joli", "jardin", "vert"]
    assert shown["english"][my:] == ["my", "pretty", "green", "garden"]
    assert max(max(row[my:]) for row in shown["lost"][mon:]) < 8, "a full cell is 8 nats"


def test_what_the_page_says_of_alignments() -> None:
    """High in every run with a bidirectional encoder and the previous state, more scattered with the current one."""
    found = recorded()["summary"]
    assert min(found[group]["lowest"] for group in ("dot", "bilinear", BOTH)) > 97
    assert abs(found[BOTH]["exact_all"][0] - found[CURRENT]["exact_all"][0]) < 2
    assert found[CURRENT]["alignment"][1] > 3 * found[BOTH]["alignment"][1]
    assert max(one["alignment"] for one in runs_of(FORWARD)) < found[BOTH]["lowest"] - 5


def test_what_the_page_says_of_the_exceptions() -> None:
    errors = sum((Counter(recorded()["summary"][group]["errors"]) for group in ("dot", "bilinear", BOTH)), Counter())
    assert errors.most_common(1)[0][1] < 0.2 * errors.total()  # mixed
    many = [share for share in own_noun(CURRENT, "determiner") if share > 5]
    assert 1 < len(many) < 4
    assert min(many) > 10
    assert max(own_noun(BOTH, "determiner")) < 3
    assert min(own_noun(FORWARD, "determiner")) > 10


def test_what_the_page_says_of_erasing() -> None:
    """Nouns with small weights decide determiners, other words do not, and mostly through the heaviest state.

    The control beside the noun says otherwise of adjectives: another adjective changes them more often than the noun.
    """
    for one in runs_of(BOTH):
        noun, beside, others = {}, {}, {}
        for kind in ("determiner", "adjective"):
            found = one["erased"]["by_kind"][kind]
            noun[kind] = found["light noun changes output"] / found["light nouns"]
            beside[kind] = found["light adjectives beside that change output"] / found["light adjectives beside"]
            others[kind] = found["light others that change output"] / found["light others"]
        assert noun["determiner"] > max(20 * beside["determiner"], 5 * others["determiner"])
        assert 5 * others["adjective"] < noun["adjective"] < beside["adjective"]
        way = one["routes"]
        assert way["heaviest state"] > max(10 * way["initial state"], 0.5 * way["decided"])


@pytest.mark.slow
def test_a_part_of_the_record_is_found_again() -> None:
    """One network of two kinds, on fewer sentences: another processor is like another seed."""
    alignments.sentences()  # raises if one of those shown is among those for training
    for name in (BOTH, FORWARD):
        then = runs_of(name)
        again = alignments.run(replace(GROUPS[name], seed=SEEDS[0]), each=20)
        assert again["alignment"] > min(one["alignment"] for one in then) - 5
        needed = [one["erased"]["counts"]["weight is needed"] for one in then]
        assert 0.8 * min(needed) < again["erased"]["counts"]["weight is needed"] < 1.2 * max(needed)
