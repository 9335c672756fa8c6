"""The silent errors of evaluating a language model: what each program computes, and what was recorded of it."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from experiments.ch00 import bpe, museum
from experiments.text import python_docs
from solutions.ch00_sequences.counting import ngram_counts


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(museum.RESULTS_FILE.read_text("utf-8"))
    return record


def test_the_record_has_settings_seeds_versions_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch00.museum --record"
    assert record["seeds"] == list(museum.SEEDS)
    assert len(set(record["seeds"])) >= 5
    assert record["versions"].keys() == {"python"}
    assert record["settings"] == json.loads(json.dumps(museum.SETTINGS))
    assert museum.RESULTS_FILE.stat().st_size < 20_000


def test_the_summary_follows_from_the_runs() -> None:
    record = recorded()
    assert len(record["shuffled"]) == len(museum.SEEDS)
    assert record["shuffled_summary"] == museum.summary(record["shuffled"])


def test_the_parts_contain_the_whole_text() -> None:
    text = "\n\n".join(f"block {number} of this text" for number in range(100))
    blocks, held_out = museum.last_tenth(text)
    assert "\n\n".join(blocks) + held_out == text
    assert len(held_out) == len(text) // 10
    blocks, held_out = museum.shuffled(text, 3)
    assert sorted([*blocks, *held_out.split("\n\n")]) == sorted(text.split("\n\n"))
    assert len(text) / 10 <= len(held_out) + 2 < len(text) / 10 + 30
    assert (blocks, held_out) == museum.shuffled(text, 3) != museum.shuffled(text, 4)


def test_blocks_that_leak_are_dropped_and_the_control_is_as_short() -> None:
    def block(word: str) -> str:
        return " ".join(f"{word}{number}" for number in range(12))  # more than 50 characters

    held_out = "\n\n".join([block("same"), block("other")])
    blocks = [block("same"), *(block(f"block{number}") for number in range(9)), "short"]
    texts = museum.training_texts(blocks, held_out)
    assert texts["clean"] == "\n\n".join(blocks[1:])
    assert museum.shared(held_out, texts["clean"]) == 0 < museum.shared(held_out, texts["leaking"])
    assert block("same") in texts["control"]
    assert 0 <= len(texts["clean"]) - len(texts["control"]) < 2 * len(block("block1"))


def test_the_share_of_runs_in_common() -> None:
    fifty = "".join(chr(ord("a") + i % 26) for i in range(museum.OVERLAP))
    assert museum.shared(fifty + "!", f"--{fifty}--") == pytest.approx(1 / 2)
    assert museum.shared(fifty, fifty[:-1]) == 0


@pytest.mark.parametrize("order", [1, 2, 4])
def test_frequencies_are_those_of_the_exercise(order: int) -> None:
    ids, held_out = [0, 1, 0, 2, 0, 1, 1, 2, 0, 1], [0, 1, 1, 2, 2, 0, 1, 0]
    counts = ngram_counts(ids, order)
    expected = []
    for i in range(order - 1, len(held_out)):
        followers = counts.get(tuple(held_out[i - order + 1 : i]), {})
        expected.append(followers.get(held_out[i], 0) / sum(followers.values()) if followers else 0)
    assert museum.frequencies(ids, held_out, order) == expected


def test_unsmoothed_frequencies_leave_something_impossible() -> None:
    record = recorded()
    for found in record["unsmoothed"]:
        assert found["unseen"] > 0  # so the mean is infinite
        assert found["skipped"] < found["smoothed"] < found["floors"]["1e-08"] < found["floors"]["1e-12"]
        unseen = found["unseen"] / found["predicted"]
        gap = found["floors"]["1e-12"] - found["floors"]["1e-08"]
        assert gap == pytest.approx(unseen * 4 * math.log2(10), abs=1e-3)
    assert museum.unsmoothed(python_docs(), 2) == record["unsmoothed"][0]


def test_bits_per_character_are_the_same_for_every_segmentation_of_a_uniform_model() -> None:
    """Nothing is counted, so each of V tokens costs log2 V bits; the first token costs nothing."""
    found = museum.costs([], ["ab", "c", "abc", "c"], ["ab", "c", "abc", "d"], 3)
    assert found["perplexity"] == pytest.approx(4)
    assert found["bits_per_character"] == pytest.approx(3 * 2 / 5)
    assert found["characters"] == 5


def test_costs_follow_from_each_other() -> None:
    record = recorded()
    for found in [record["characters"], *record["pieces"], *record["words"]]:
        assert found["perplexity"] == pytest.approx(2 ** found["bits_per_token"], rel=1e-4)
        per_character = found["bits_per_token"] * found["tokens"] / found["characters"]
        assert found["bits_per_character"] == pytest.approx(per_character, abs=1e-4)


def test_spelling_unknown_words_pays_for_every_letter_and_every_end() -> None:
    # nothing but one end was counted, so letters have the probability 1/8, and an end has 5/8
    assert museum.spelt([[], ["ab", "c"]], "abc") == pytest.approx(3 * 3 - 2 * math.log2(5 / 8))
    assert museum.spelt([["ab"], []], "abc") == 0
    assert museum.spelt([["ab"] * 50, ["ab"]], "abc") < museum.spelt([["ab"] * 50, ["bc"]], "abc")


def test_tokenizations_recorded() -> None:
    record, text = recorded(), python_docs()
    assert museum.of_characters(text) == record["characters"]
    merges = bpe.learn(bpe.word_counts(text.train), 500)
    assert museum.of_pieces(text, merges) == record["pieces"][museum.MERGES.index(500)]
    assert museum.of_words(text, 100) == record["words"][museum.RARE.index(100)]


def test_what_the_page_says_of_the_record() -> None:
    record = recorded()
    tenth, summary = record["last_tenth"], record["shuffled_summary"]
    gaps = [tenth["bits"][str(order)]["clean"] - tenth["bits"][str(order)]["leaking"] for order in museum.ORDERS]
    assert gaps == sorted(gaps)
    assert gaps[0] > 0.02
    for bits in tenth["bits"].values():
        assert abs(bits["control"] - bits["leaking"]) < 0.01 < bits["clean"] - bits["control"]
    assert summary["clean_minus_leaking"][0] > 2 * summary["clean_minus_leaking"][1] > 0
    assert abs(summary["control_minus_leaking"][0]) < 0.02
    perplexities = [found["perplexity"] for found in record["words"]]
    spelt = [found["bits_per_character_spelt"] for found in record["words"]]
    assert perplexities == sorted(perplexities, reverse=True)
    assert spelt[-1] > spelt[0]
    assert [found["perplexity"] for found in record["pieces"]] == sorted(f["perplexity"] for f in record["pieces"])
    bits = {found["merges"]: found["bits_per_character"] for found in record["pieces"]}
    assert bits[max(bits)] > min(bits.values()) + 0.005, "rises at the end"
    words = {found["least"]: found for found in record["words"]}
    characters, pieces = record["characters"], record["pieces"][museum.MERGES.index(500)]
    assert words[1000]["perplexity"] < characters["perplexity"] < pieces["perplexity"]
    assert words[2]["bits_per_character"] < pieces["bits_per_character"] < characters["bits_per_character"] - 0.01
    assert words[1000]["bits_per_character_spelt"] > characters["bits_per_character"]


@pytest.mark.slow
def test_everything_is_recorded() -> None:
    record = recorded()
    found = json.loads(json.dumps(museum.measured()))
    assert found == {key: record[key] for key in found}
