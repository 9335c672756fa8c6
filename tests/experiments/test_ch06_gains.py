"""What attention buys, the experiment of chapter 06: its functions, and what it recorded."""

from __future__ import annotations

import json
from dataclasses import replace
from statistics import mean, stdev
from typing import Any

import pytest
import torch

from experiments.ch03.record import mean_and_sd
from experiments.ch05 import phrases
from experiments.ch05.grammar import Phrase, by_length
from experiments.ch05.model import EOS, Translator, batch_of, fit, greedy
from experiments.ch06 import gains
from experiments.ch06.gains import ADDITIVE, DOT, EVERY_STEP, GROUPS, as_pairs
from experiments.ch06.model import Attending, attention_weights

TORCH = torch.__version__.partition("+")[0]
SMALL = {"embed_size": 4, "hidden_size": 6}


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(gains.RESULTS_FILE.read_text("utf-8"))
    return record


# The record -----------------------------------------------------------------------------------------------------------


def test_the_record_has_settings_seeds_versions_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch06.gains --record"
    assert {key: record["settings"][key] for key in gains.SETTINGS} == gains.SETTINGS
    assert record["settings"]["longest"] == gains.LONGEST
    assert record["seeds"] == {name: list(group.seeds) for name, group in GROUPS.items()}
    assert set(record["versions"]) == {"torch", "num2words"}
    assert gains.RESULTS_FILE.stat().st_size < 200_000


def test_every_group_was_run_with_every_seed() -> None:
    found = [(one["group"], one["seed"]) for one in recorded()["runs"]]
    assert found == [(name, seed) for name, group in GROUPS.items() for seed in group.seeds]


def test_the_summary_follows_from_the_runs() -> None:
    record = recorded()
    assert record["summary"] == gains.summary(record["runs"])
    name = "numbers, 300, additive"
    exact = [one["exact"] for one in record["runs"] if one["group"] == name]
    assert record["summary"][name]["exact"] == [round(mean(exact), 2), round(stdev(exact), 2)]
    assert record["summary"][name]["lowest"] == min(exact)


def test_the_parameters_are_those_of_the_layers() -> None:
    """GRUs, embeddings, head, and for attention the score; the vocabularies are chapter 05's."""
    H, E, A = 128, 64, 128

    def gru(inputs: int, units: int) -> int:
        return 3 * units * (inputs + units + 2)

    for name, found in recorded()["summary"].items():
        how = GROUPS[name].how
        source, target = (31 + 3, 27 + 3) if GROUPS[name].task == "numbers" else (90 + 3, 136 + 3)
        reads_context = how.every_step or (isinstance(how, type(ADDITIVE)) and how.query == "previous")
        expected = (source + target) * E + (2 * gru(E, H // 2) if how.bidirectional else gru(E, H))
        expected += gru(E + H * reads_context, H)
        expected += ((2 if isinstance(how, type(ADDITIVE)) else 1) * H + 1) * target
        expected += 2 * H * A + A if isinstance(how, type(ADDITIVE)) and how.score == "additive" else 0
        assert found["parameters"] == expected, name


def test_the_cost_is_in_proportion_to_the_network_without_attention() -> None:
    for one in recorded()["cost"]:
        assert list(one["milliseconds"]) == list(one["ratio"]) == list(gains.COSTED)
        for name, time in one["milliseconds"].items():
            assert one["ratio"][name] == pytest.approx(time / one["milliseconds"]["none"], abs=0.02)


# Its functions --------------------------------------------------------------------------------------------------------


def some(length: int, count: int = 6) -> list[Phrase]:
    return by_length(count, length, length, seed=5)[length]


def test_shares_and_columns() -> None:
    rows = [[True, False, True], [True, True]]
    assert gains.share(rows) == 80.0
    assert gains.columns(rows) == [100.0, 50.0]
    assert gains.columns([]) == []
    assert mean_and_sd([1.0, 4.0], 2) == [2.5, 2.12]
    assert mean_and_sd([3.0], 2) == [3.0, 0.0]


@pytest.mark.parametrize("how", [ADDITIVE, DOT, replace(ADDITIVE, bidirectional=False), EVERY_STEP])
def test_words_fed_with_the_reference_are_those_of_single_sentences(how: Any) -> None:
    """Phrases of different lengths in one batch, against one sentence and one word at a time."""
    group = some(4, 3) + some(7, 3)
    how = replace(how, **SMALL, updates=8)
    fitted = fit(as_pairs(group), how, build=gains.network(how))
    predicted, aligned = gains.fed_reference(fitted, group)
    assert isinstance(fitted.model, Attending) == bool(aligned)
    for index, phrase in enumerate(group):
        pair = (phrase.english, phrase.french)
        ids, lengths, read, targets = batch_of([pair], fitted.source, fitted.target, reverse=False)
        assert targets[0, -1] == EOS
        logits = fitted.model(ids, lengths, read)[0]
        assert predicted[index] == [int(logits[t].argmax()) == int(targets[0, t]) for t in range(len(phrase.french))]
        if aligned:
            weights = attention_weights(fitted, [pair])[0]
            expected = [int(weights[t].argmax()) == word for t, word in enumerate(phrase.alignment)]
            assert aligned[index] == expected


def test_what_is_measured_of_phrases() -> None:
    held_out = {4: some(4), 27: some(27)}
    how = replace(ADDITIVE, **SMALL, updates=2)
    fitted = fit(as_pairs([*held_out[4], *held_out[27]]), how, build=Attending)
    found = gains.measured(fitted, held_out)
    predicted, aligned = gains.fed_reference(fitted, held_out[27])
    assert found["tokens"]["27"] == gains.share(predicted)
    assert found["aligned"]["27"] == gains.share(aligned)
    assert found["by_position"] == {"tokens": gains.columns(predicted), "aligned": gains.columns(aligned)}
    assert len(found["by_position"]["tokens"]) == 27  # every French sentence has as many words as the English one
    written = greedy(fitted, [phrase.english for phrase in held_out[4]], max_length=60)
    assert found["written"]["4"] == pytest.approx(100 * sum(map(len, written)) / (4 * 6), abs=0.01)
    assert 0 <= found["exact"]["4"] <= 100


def test_settings_decide_the_network() -> None:
    assert gains.network(EVERY_STEP) is Translator
    assert gains.network(ADDITIVE) is Attending
    assert gains.network(DOT) is Attending
    assert {group.how.hidden_size for group in GROUPS.values()} == {128}
    assert {(group.how.batch, group.how.lr, group.how.clip) for group in GROUPS.values()} == {(64, 2e-3, 1.0)}


# Slow -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_phrases_are_held_out_and_of_every_length() -> None:
    train, held_out = gains.data()
    known = {" ".join(phrase.english) for group in train.values() for phrase in group}
    assert list(train) == list(range(3, 31))
    assert list(held_out) == list(range(3, gains.LONGEST + 1))
    assert {len(group) for group in train.values()} == {gains.SETTINGS["train_each"]}
    assert {len(group) for group in held_out.values()} == {gains.SETTINGS["held_out_each"]}
    assert {length: train[length] for length in range(3, 16)} == phrases.data()[0]
    assert {length: held_out[length] for length in range(3, 16)} == phrases.data()[1]
    assert not known & {" ".join(phrase.english) for group in held_out.values() for phrase in group}


@pytest.mark.slow
def test_a_part_of_the_record_is_found_again() -> None:
    record = recorded()
    if record["versions"]["torch"] != TORCH:
        pytest.skip("recorded with another torch")
    name = "numbers, 300, additive"
    once = next(one for one in record["runs"] if (one["group"], one["seed"]) == (name, 0))
    again = gains.run(GROUPS[name], 0)
    assert again["parameters"] == once["parameters"]
    for key in ("exact", "exact_last_1000"):
        assert again[key] == pytest.approx(once[key], abs=2)  # CPUs differ in the last bit, and training grows it
