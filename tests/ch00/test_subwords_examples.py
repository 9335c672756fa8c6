"""The worked tables of the notebook `subwords`, read from the prose and recomputed."""

import re

from solutions.ch00_sequences.subwords import apply_bpe
from tests.conftest import exercise
from tests.prose import section, table


def given(exercise_id):
    """The inputs of the first case, and the expected result."""
    spec = exercise(exercise_id).spec
    return spec.example.inputs, spec.oracle(**spec.example.inputs)


def test_the_word_that_is_split_step_by_step():
    text, (example, pieces) = section("ch00_sequences", "subwords", "Splitting a word"), given("apply_bpe")
    rows = table(text, "| merge | pieces after it |")
    assert [tuple(merge.split(" + ")) for merge, _ in rows[1:]] == example["merges"]
    for k, (_, shown) in enumerate(rows):
        assert shown.split(", ") == apply_bpe(example["word"], example["merges"][:k])
    assert f"`{pieces}`".replace("'", '"') in text
    assert apply_bpe("aaa", [("a", "a")]) == ["aa", "a"]


def test_the_merges_that_are_half_worked_out():
    text, (example, merges) = section("ch00_sequences", "subwords", "Learning the merges"), given("learn_bpe")
    word_counts = example["word_counts"]
    rows = table(text, "| step | the words in pieces |")
    assert len(rows) == len(merges) == example["num_merges"]
    for k, (step, words, counts, merge) in enumerate(rows):
        split = {word: apply_bpe(word, merges[:k]) for word in word_counts}
        assert (int(step), words) == (k, ", ".join(" ".join(pieces) for pieces in split.values()))
        expected = {}
        for word, pieces in split.items():
            for i in range(len(pieces) - 1):
                pair = " ".join(pieces[i : i + 2])
                expected[pair] = expected.get(pair, 0) + word_counts[word]
        found = dict(re.findall(r"([a-z]+ [a-z]+): (\d+|\?)", counts))
        assert list(found) == list(expected)
        assert len(set(expected.values())) == len(expected)  # no coincidences
        last = k == len(rows) - 1
        assert list(found.values()) == ["?" if last else str(count) for count in expected.values()]
        assert merge == ("?" if last else " + ".join(merges[k]))
