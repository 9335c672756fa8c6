"""What attention buys, the experiment of chapter 06: its functions, and what it recorded."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest
import torch

from experiments.ch03.record import mean_and_sd
from experiments.ch05 import contexts, phrases, translations
from experiments.ch05.grammar import Phrase, by_length
from experiments.ch05.model import EOS, Translator, batch_of, fit, greedy
from experiments.ch06 import gains
from experiments.ch06.gains import ADDITIVE, DOT, EVERY_STEP, GROUPS, as_pairs
from experiments.ch06.model import Attending, attention_weights

TORCH = torch.__version__.partition("+")[0]
PAGE = Path(__file__).parents[2] / "book" / "ch06_attention" / "gains.md"
SMALL = {"embed_size": 4, "hidden_size": 6}


def recorded(module: Any = gains) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(module.RESULTS_FILE.read_text("utf-8"))
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


# What the page says ---------------------------------------------------------------------------------------------------


def exact_of(name: str) -> list[float]:
    return [one["exact"] for one in recorded()["runs"] if one["group"] == name]


def test_the_settings_that_the_page_compares() -> None:
    """The rows of chapter 05 were trained as the page says, with the sizes of this experiment."""
    how, updates = recorded()["settings"], {name: one["updates"] for name, one in recorded()["summary"].items()}
    for module in (translations, contexts, phrases):
        other = recorded(module)["settings"]
        assert all(other[key] == how[key] for key in ("hidden_size", "embed_size", "batch", "lr", "clip"))
    assert all(recorded(phrases)["settings"][key] == how[key] for key in ("train_each", "held_out_each"))
    assert {updates[name] for name in updates if name.startswith("numbers") and "every" not in name} == {200}
    numbers = recorded(translations)["settings"]
    assert (numbers["updates"], numbers["few_updates"], updates["numbers, 300, every step"]) == (400, 600, 600)
    assert recorded(contexts)["look_at"] == {"8000": [100, 200, 300, 400], "300": [600]}
    assert updates["phrases to 15, additive"] == updates["phrases to 30, additive"] == 500
    assert recorded(phrases)["settings"]["updates"] == updates["phrases to 15, every step"] == 6 * 500


def test_what_the_page_says_of_the_controls() -> None:
    """From 300 numbers, each control gains, and the fair baseline is below every run with additive attention."""
    of_numbers = {one["trained_on"]: one for one in recorded(translations)["summary"] if is_named(one)}
    last = {(one["train"], one["way"]): one["mean"][-1] for one in recorded(contexts)["summary"] if is_final(one)}
    assert recorded(translations)["nearest"]["fr"]["exact"] == 0
    once, wider, every = (last[300, way] for way in ("initial state", "initial state, wider", "every step"))
    both, forward, additive, dot = (
        exact_of(f"numbers, 300, {name}") for name in ("every step", "forward", "additive", "dot")
    )
    assert once < wider < once + 0.5 * (every - once)
    assert every < min(both)
    assert max(both) < min(additive + forward)
    assert abs(mean(additive) - mean(forward)) < 1
    assert max(dot) < mean(both)
    many = [of_numbers[8000]["exact"][0], summary_of("numbers, 8,000, additive")["exact"][0]]
    many += [last[8000, way] for way in ("initial state, wider", "every step")]
    assert min(many) > 99
    losses = {
        score: mean(one["loss"] for one in recorded()["runs"] if one["group"] == f"numbers, 300, {score}")
        for score in ("dot", "additive")
    }
    assert losses["dot"] > 2 * losses["additive"]


def is_named(one: dict[str, Any]) -> bool:
    """Whether a summary of chapter 05 is of the translator that the page names."""
    return bool(one["language"] == "fr" and one["encoder"] == "forward")


def is_final(one: dict[str, Any]) -> bool:
    """Whether its context is the encoder's final state."""
    return bool(one["context"] == "final")


def summary_of(name: str) -> dict[str, Any]:
    found: dict[str, Any] = recorded()["summary"][name]
    return found


def test_what_the_page_says_of_phrases() -> None:
    """With attention, long sentences are far ahead; beyond the trained lengths, both networks fail."""
    fair, to_15, to_30 = (
        summary_of(f"phrases to {name}") for name in ("15, every step", "15, additive", "30, additive")
    )

    def between(low: int, high: int, one: dict[str, Any]) -> list[float]:
        return [one["exact"][str(length)][0] for length in range(low, high + 1)]

    plain = [recorded(phrases)["summary"][group]["exact"]["11–15"][0] for group in ("forward", "256 units")]
    assert mean(between(11, 15, to_15)) > max(*plain, mean(between(11, 15, fair))) + 15
    assert fair["exact"]["3"][0] > 99
    assert fair["exact"]["15"][0] < 8
    assert min(between(3, 16, to_15)) > 90
    assert 20 < to_15["exact"]["20"][0] < 60
    assert max(between(25, 40, to_15)) < 3
    assert min(between(3, 25, to_30)) > 90
    assert 55 < to_30["exact"]["30"][0] < 80
    assert to_30["exact"]["40"][0] < 20


def test_what_the_page_says_of_positions() -> None:
    """In sentences of 26 to 30 words, the network trained to 15 loses its place after the first words."""
    lost = summary_of("phrases to 15, additive")["by_position"]["aligned"]
    assert len(lost) == 26 == gains.LONG[0]
    assert min(lost[:2]) > 80
    assert lost[5] < 50
    assert max(lost[11:20]) < 10
    assert lost[25] > 40
    assert min(summary_of("phrases to 30, additive")["by_position"]["aligned"]) > 80


def test_the_page_shows_the_code_of_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its code trains the network of the first run with dot products, on the same numbers."""
    given = []

    def fit(*args: Any, **named: Any) -> None:
        given.append((args, named))
        raise RuntimeError("enough")

    def pairs(numbers: list[int], language: str) -> list[tuple[int, str]]:
        return [(number, language) for number in numbers]

    for place in ("experiments.ch05.model.fit", "experiments.ch06.gains.fit"):
        monkeypatch.setattr(place, fit)
    for place in ("experiments.ch05.numbers.pairs", "experiments.ch06.gains.pairs"):
        monkeypatch.setattr(place, pairs)  # numbers need not be spelled to be compared
    (code,) = re.findall(r"```\{code-block\} python\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    with pytest.raises(RuntimeError, match="enough"):
        exec(code, {})
    with pytest.raises(RuntimeError, match="enough"):
        gains.run(GROUPS["numbers, 300, dot"], gains.SEEDS[0])
    assert given[0] == given[1]
    assert 'wanted = pairs(held_out, "fr")' in code


def test_the_cost_as_recorded() -> None:
    """The dot score with s_t is nearly free, and the loop adds more to it than to the additive score."""
    assert [one["length"] for one in recorded()["cost"]] == [15, 30]
    for one in recorded()["cost"]:
        ratio = one["ratio"]
        assert one["machine"]
        assert ratio["dot, s_t"] < 1.25 < 1.4 < min(ratio[name] for name in list(gains.COSTED)[3:])
        loop = {score: ratio[f"{score}, s_{{t-1}}"] / ratio[f"{score}, s_t"] for score in ("dot", "additive")}
        assert loop["dot"] > loop["additive"] + 0.2


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
    fitted.model.double()  # so that rounding decides no maximum
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
