"""The worked numbers of the notebook `counting`, read from the prose and recomputed, and what its last cell shows."""

import ast
import re
from functools import partial

import numpy as np

from tests.conftest import exercise
from tests.prose import arrays, check_shown, run_notebook, section, table

prose = partial(section, "ch00_sequences", "counting")


def given(exercise_id):
    """The inputs of the first case, and the expected result."""
    spec = exercise(exercise_id).spec
    return spec.example.inputs, spec.oracle(**spec.example.inputs)


def test_the_bigrams_that_are_half_worked_out():
    text, (example, probs) = prose("Bigram probabilities"), given("bigram_probs")
    np.testing.assert_array_equal(arrays(text)["ids"], example["ids"])
    assert f"V = {example['vocab_size']} and α = {example['alpha']}, so there are six pairs" in text
    rows = table(text, "| current id |")
    for i, (current, *cells) in enumerate(rows):
        assert int(current) == i
        counts = [
            sum(pair == (i, j) for pair in zip(example["ids"], example["ids"][1:], strict=False)) for j in range(4)
        ]
        plus = [count + example["alpha"] for count in counts]
        for cell, value in zip(cells, (counts, plus, [sum(plus)], probs[i]), strict=True):
            if cell == "?":
                assert i > 0
            else:
                check_shown([float(number) for number in cell.split(", ")], value)
    np.testing.assert_array_equal(probs[3], 0.25)


def test_the_ngrams_that_are_half_worked_out():
    text, (example, counts) = prose("What follows each context"), given("ngram_counts")
    np.testing.assert_array_equal(arrays(text)["ids"], example["ids"])
    n, ids, seen = example["n"], example["ids"].tolist(), {}
    rows = table(text, "| n-gram |")
    assert len(rows) == len(ids) - n + 1 == 7
    for t, (gram, context, follows, entry) in enumerate(rows):
        assert [int(i) for i in gram.split(", ")] == ids[t : t + n]
        key, following = tuple(ids[t : t + n - 1]), ids[t + n - 1]
        followers = seen.setdefault(key, {})
        followers[following] = followers.get(following, 0) + 1
        assert context == "?" or ast.literal_eval(context) == key
        assert follows == "?" or int(follows) == following
        assert entry == "?" or ast.literal_eval(entry.strip("`")) == followers
    assert seen == counts


def test_the_perplexity_of_three_tokens():
    text, (example, value) = prose("Perplexity"), given("perplexity")
    rows = np.array([[float(cell) for cell in row] for row in table(text, "| token |")])
    np.testing.assert_array_equal(rows[:, 2], example["token_nll"])
    check_shown(rows[:, 2], -np.log(rows[:, 1]))
    mean, shown = re.search(r"is (\d\.\d\d), and the exponential of the mean is (\d\.\d\d)\.", text).groups()
    assert (float(mean), float(shown)) == (round(rows[:, 2].mean(), 2), round(value, 2))
    assert f"between {shown} equally" in text


def test_how_much_smoothing(capsys, session):
    _, printed = run_notebook("ch00_sequences", "counting", capsys)
    first, _, *lines, last = printed[-1].splitlines()
    alpha, new, old = np.array([[float(n) for n in line.split()] for line in lines]).T
    V = int(first.removeprefix("V = "))
    assert old.argmin() == 0  # "predicted best with the smallest alpha"
    assert (np.diff(old) > 0).all()
    assert 0 < new.argmin() < len(alpha) - 1  # for a new line neither the smallest nor the largest
    assert old[-1] < V
    assert last.startswith("After 'th' came {'")
