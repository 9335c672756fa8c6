"""The experiments of chapter 05 on translation: their parts, and what they recorded."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest
import torch

from experiments.ch05 import phrases, translations
from experiments.ch05.model import EOS, PAD, Settings, Translator, batch_of, fit, greedy, token_accuracy
from experiments.ch05.numbers import pairs, split, words

MODULES = {module.__name__: module for module in (translations, phrases)}
TORCH = torch.__version__.partition("+")[0]


def recorded(module: Any) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(Path(module.RESULTS_FILE).read_text("utf-8"))
    return record


@pytest.mark.parametrize("name", MODULES)
def test_a_record_has_settings_seeds_versions_and_its_command(name: str) -> None:
    module, record = MODULES[name], recorded(MODULES[name])
    assert record["command"] == f"python -m {name} --record"
    assert record["seeds"] == list(module.SEEDS)
    assert len(set(record["seeds"])) >= 5
    assert set(record["versions"]) <= {"torch", "sacrebleu", "num2words"}
    assert all(record["versions"].values())
    assert {key: record["settings"][key] for key in module.SETTINGS} == module.SETTINGS
    assert Path(module.RESULTS_FILE).stat().st_size < 80_000


# Numbers --------------------------------------------------------------------------------------------------------------


def test_the_summary_of_the_numbers_follows_from_the_runs() -> None:
    record = recorded(translations)
    assert len(record["summary"]) == 7
    assert record["summary"] == translations.summary(record["runs"])
    for found in record["summary"]:
        key = ("language", "encoder", "trained_on")
        runs = [one for one in record["runs"] if all(one[part] == found[part] for part in key)]
        assert [one["seed"] for one in runs] == record["seeds"]
        assert found["exact"] == [round(f([one["exact"] for one in runs]), 2) for f in (mean, stdev)]
        counts = [count for _, count in runs[0]["by_length"].values()]
        assert sum(counts) == 10_000 - record["settings"]["train"]
        for one in runs:
            by_length = sum(share * count for share, count in one["by_length"].values()) / sum(counts)
            assert by_length == pytest.approx(one["exact"], abs=0.01)


def test_the_baseline_and_the_parameters_are_those_of_today() -> None:
    record = recorded(translations)
    for language in ("fr", "de"):
        assert translations.nearest(language) == pytest.approx(record["nearest"][language], abs=0.01)
    assert translations.parameters("forward", "fr") == record["parameters"]["fr"]["forward"]
    V, E, H = record["vocabulary"], record["settings"]["embed_size"], record["settings"]["hidden_size"]
    grus = 2 * 3 * H * (E + H + 2)
    specials = 3
    counted = (V["en"] + V["fr"] + 2 * specials) * E + grus + (H + 1) * (V["fr"] + specials)
    assert counted == record["parameters"]["fr"]["forward"]


def test_bleu_of_translations() -> None:
    wanted = pairs([97, 1187, 42], "fr")
    assert translations.bleu([target for _, target in wanted], wanted) == pytest.approx(100)
    assert translations.bleu([["un"], ["un"], ["un"]], wanted) == 0


def test_a_log_probability_is_the_sum_over_its_tokens() -> None:
    wanted = pairs([7, 97, 4711], "fr")
    fitted = fit(wanted, Settings(embed_size=4, hidden_size=6, updates=2, reverse=True))
    together = translations.log_probs(fitted, wanted)
    for pair, log_p in zip(wanted, together, strict=True):
        ids, lengths, read, targets = batch_of([pair], fitted.source, fitted.target, reverse=True)
        each = torch.log_softmax(fitted.model(ids, lengths, read)[0], dim=-1)
        assert targets[0, -1] == EOS
        assert log_p == pytest.approx(sum(each[t, y].item() for t, y in enumerate(targets[0])), abs=1e-4)


def test_examples_tell_right_from_wrong() -> None:
    numbers = [97, 21, 3]
    fitted = fit(pairs(numbers, "fr"), Settings(embed_size=4, hidden_size=6, updates=1))
    shown = translations.examples(fitted, numbers, [words(97, "fr"), ["vingt"], ["trois", "trois"]], "fr")
    assert (shown["wrong"], shown["wrong_but_a_number"]) == (2, 1)
    assert [one["number"] for one in shown["shown_right"]] == [97]
    assert [one["reads_as"] for one in shown["shown_wrong"]] == [20, None]
    for one in shown["shown_right"]:
        assert one["log_p"] == one["reference_log_p"]


def test_recorded_examples() -> None:
    record = recorded(translations)
    numbers = {number: place for place, number in enumerate(split()[1])}
    for shown in record["examples"]:
        run = next(
            one
            for one in record["runs"]
            if (one["language"], one["encoder"], one["trained_on"], one["seed"])
            == ("fr", "forward", shown["trained_on"], shown["seed"])
        )
        assert 100 - 100 * shown["wrong"] / len(numbers) == pytest.approx(run["exact"], abs=0.01)
        for one in shown["shown_right"] + shown["shown_wrong"]:
            assert one["number"] in numbers
            assert one["reference"] == " ".join(words(one["number"], "fr"))
            if one["reads_as"] is not None:
                assert one["found"] == " ".join(words(one["reads_as"], "fr"))


@pytest.mark.slow
def test_numbers_are_learned_as_recorded() -> None:
    record = recorded(translations)
    if record["versions"]["torch"] != TORCH:
        pytest.skip("recorded with another torch")
    today, _, _ = translations.run("fr", "reversed", 1)
    then = next(
        one for one in record["runs"] if (one["language"], one["encoder"], one["seed"]) == ("fr", "reversed", 1)
    )
    assert today["exact"] == pytest.approx(then["exact"], abs=2)  # CPUs differ in the last bit, and training grows it
    assert today["curve"][:3] == pytest.approx(then["curve"][:3], abs=2)


# Phrases --------------------------------------------------------------------------------------------------------------


def test_the_phrases_are_held_out_and_of_every_length() -> None:
    train, held_out = phrases.data()
    known = {" ".join(phrase.english) for group in train.values() for phrase in group}
    assert list(train) == list(held_out) == list(range(3, 16))
    assert {len(group) for group in train.values()} == {phrases.SETTINGS["train_each"]}
    assert {len(group) for group in held_out.values()} == {phrases.SETTINGS["held_out_each"]}
    for length, group in held_out.items():
        for phrase in group:
            assert " ".join(phrase.english) not in known
            assert len(phrase.english) == len(phrase.french) == length
    assert {word for s, _ in phrases.as_pairs(held_out) for word in s} <= {w for text in known for w in text.split()}


def test_buckets_and_the_dictionary_are_those_of_today() -> None:
    record = recorded(phrases)
    assert phrases.dictionary(*phrases.data()) == record["dictionary_by_length"]
    assert phrases.in_buckets(record["dictionary_by_length"]) == record["dictionary"]
    assert phrases.in_buckets({"3": 90.0, "5": 70.0, "6": 10.0, "11": 4.0, "15": 2.0}) == {
        "3–5": 80.0,
        "6–10": 10.0,
        "11–15": 3.0,
    }


def test_a_bottleneck_leaves_both_grus_as_they_are() -> None:
    wide, narrow = (Translator(7, 8, Settings(embed_size=3, hidden_size=6, context_size=k)) for k in (0, 2))
    for name in ("encoder", "decoder"):
        shapes = [[weights.shape for weights in getattr(model, name).parameters()] for model in (wide, narrow)]
        assert shapes[0] == shapes[1]
    assert sum(weights.numel() for weights in wide.bottleneck.parameters()) == 0
    ids, lengths = torch.randint(3, 7, (20, 5)), torch.full((20,), 5)
    ranks = []
    for model in (wide, narrow):
        state = model.encode(ids, lengths)[0].detach().double()
        ranks.append(int(torch.linalg.matrix_rank(state - state.mean(0), rtol=1e-5)))
    assert ranks == [6, 2]


def test_accuracy_by_position_is_token_accuracy() -> None:
    _, held_out = phrases.data()
    wanted = phrases.as_pairs(held_out, (11, 11))
    fitted = fit(wanted, Settings(embed_size=4, hidden_size=6, updates=3))
    assert {len(french) for _, french in wanted} == {phrases.POSITIONS}
    found = phrases.by_position(fitted, wanted)
    ids, lengths, read, targets = batch_of(wanted, fitted.source, fitted.target, reverse=False)
    ends = (fitted.model(ids, lengths, read).argmax(-1)[:, -1] == EOS).double().mean().item()
    assert (targets[:, -1] == EOS).all()
    assert (targets != PAD).all()
    whole = (sum(found) + 100 * ends) / (phrases.POSITIONS + 1)
    assert whole == pytest.approx(token_accuracy(fitted, wanted, free=False), abs=0.02)
    with pytest.raises(ValueError, match="fewer than 11 tokens"):
        phrases.by_position(fitted, [(source[:3], target[:3]) for source, target in wanted[:5]])


def test_the_summary_of_the_phrases_follows_from_the_runs() -> None:
    record = recorded(phrases)
    assert record["summary"] == phrases.summary(record["runs"])
    assert record["runs"] == phrases.in_order(record["runs"])
    for name in record["summary"]:
        seeds = phrases.GROUPS[name][1]
        runs = [one for one in record["runs"] if one["group"] == name]
        assert [one["seed"] for one in runs] == list(seeds[: len(runs)])
        for one in runs:
            assert one["exact"] == phrases.in_buckets(one["by_length"])
            assert len(one["by_position"]) == phrases.POSITIONS
    sizes = {name: one["parameters"] for name, one in record["summary"].items()}
    assert sizes["64 units"] < sizes["forward"] == sizes["reversed"] < sizes["256 units"]


@pytest.mark.slow
def test_phrases_are_learned_as_recorded() -> None:
    """A tenth of the updates: the loss is that of the beginning, and short sentences come before long ones."""
    train, held_out = phrases.data()
    fitted = fit(phrases.as_pairs(train), replace(phrases.BASE, updates=300))
    assert mean(fitted.losses[-20:]) < 0.6 * mean(fitted.losses[:20])
    short, long = (
        token_accuracy(fitted, phrases.as_pairs(held_out, phrases.BUCKETS[name]), free=False)
        for name in ("3–5", "11–15")
    )
    assert short > long + 5
    assert len(greedy(fitted, [["the", "cat"]])) == 1
