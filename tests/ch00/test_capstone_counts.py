"""The capstone of chapter 00, its cells run as a notebook runs them, beside the chapter's other notebooks."""

import re

import numpy as np
import pytest

from experiments.ngrams import WittenBell
from solutions.ch00_sequences import capstone
from solutions.ch00_sequences.counting import ngram_counts
from tests.capstones import MANIFEST, ROOT, asked, recorded, run_cells, write_notebooks

CHAPTER = MANIFEST.chapter("ch00_sequences")
SOURCE = (ROOT / "solutions" / "ch00_sequences" / "capstone.py").read_text("utf-8")
NOTEBOOK_OF = asked("ch00_sequences")
TITLES = {
    "functions": "## Your functions",
    "compared": "## Do your functions agree with a known result?",
    "text": "## A text",
    "written": "## The style of the text, order by order",
    "bits": "## Bits per character",
    "quoted": "## Is it writing or quoting?",
    "subwords": "## Your subwords",
    "question": "## Explain what the order does",
}
SIBLINGS = {*NOTEBOOK_OF.values()}
NEEDS_COUNTS = ("written", "bits", "quoted", "subwords")
LESS = {"most=100_000": "most=18_000", "num_merges = 150": "num_merges = 40"}  # a fifth of the text


def run(folder, unwritten=(), without=(), changed=None, replace=LESS):
    """Run all cells of the capstone in this folder: what each part printed. `unwritten` notebooks are the students'."""
    write_notebooks(folder, CHAPTER.id, unwritten=unwritten, without=without, changed=changed)
    return run_cells(folder, TITLES, replace)[0]


def columns(text, heading):
    """The rows of numbers below the line that begins with this heading."""
    lines = text[text.index(heading) :].splitlines()[1:7]
    return np.array([[float(n) for n in re.findall(r"[\d.]+", line)] for line in lines]).T


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    return run(tmp_path_factory.mktemp("reference"))


def test_all_functions_agree_and_no_cell_waits(printed):
    assert printed["functions"] == ""
    assert printed["compared"].count("  agrees") == len(NOTEBOOK_OF)
    assert "waits" not in "".join(printed.values())


def test_each_order_writes_and_higher_orders_have_more_contexts(printed):
    found = [int(n.replace(",", "")) for n in re.findall(r"^order \d, ([\d,]+) contexts", printed["written"], re.M)]
    assert found[0] == 1
    assert found == sorted(found)
    assert len(found) == 6


def test_the_bits_fall_on_the_counted_text_but_not_on_the_held_out_one(printed):
    _, held_out, value, counted, once = columns(printed["bits"], "order ")
    assert (np.diff(counted) < 0).all()
    assert (counted < held_out)[1:].all()
    assert held_out[5] > held_out.min()
    np.testing.assert_allclose(value, 2**held_out, rtol=2e-3)
    assert once[0] == once.min() == 0
    assert once[5] == once.max()


def test_bits_per_character_of_subwords_are_fewer_than_per_token(printed):
    order, per_token, per_character = columns(printed["subwords"], "order ")
    assert order.tolist() == [1, 2, 3, 4, 5, 6]
    assert (per_character < per_token).all()
    mean = float(re.search(r"([\d.]+) characters in each on average", printed["subwords"])[1])
    np.testing.assert_allclose(per_token / per_character, mean, rtol=0.1)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_the_model_is_that_of_the_experiments_and_draws_from_it(order):
    rng = np.random.default_rng(0)
    ids = rng.integers(4, size=300)
    ours, theirs = (
        capstone.NGramModel([ngram_counts(ids, n) for n in range(1, order + 1)], 5),
        WittenBell(ids, order, 5),
    )
    assert abs(ours.nll(ids[:50]).mean() / np.log(2) - theirs.bits(ids[:50])) < 1e-12
    context = tuple(ids[: order - 1].tolist())
    p = np.array([ours.probability(context, token) for token in range(5)])
    assert abs(p.sum() - 1) < 1e-12
    drawn = np.bincount([ours.draw(context, rng.random(2)) for _ in range(20_000)], minlength=5) / 20_000
    np.testing.assert_allclose(drawn, p, atol=0.02)


def test_the_numbers_of_the_good_answer_are_the_recorded_ones():
    found, _ = recorded(CHAPTER.id)
    answer = SOURCE[SOURCE.index("### BEGIN SOLUTION") :]
    assert found["A text"].startswith("pydoc_data.topics of Python 3.11.7, ")
    assert "of Python 3.11.7" in answer
    _, held_out, _, counted, once = columns(found["Bits per character"], "order ")
    assert held_out.argmin() == 4
    assert f"order 5 is best with {held_out[4]:.2f} bits, and order 6 has {held_out[5]:.2f}" in answer
    assert f"{once[5]:.0f} % of the contexts were followed only" in answer
    assert f"{counted[5]:.2f} bits" in answer
    per_character = columns(found["Your subwords"], "order ")[2]
    assert f"order {per_character.argmin() + 1} is best, {per_character.min():.2f} bits per character" in answer
    different = re.search(r"^(\d+) different tokens, ([\d.]+)", found["Your subwords"], re.M)
    assert f"with {different[1]} different pieces" in answer
    assert round(float(different[2])) == 2, "pieces of two characters on average"
    copied = re.search(r"order 6 +([\d.]+) %", found["Is it writing or quoting?"])[1]
    assert f"Only {copied} % of the runs of 20 characters" in answer
    written = found["The style of the text, order by order"].replace("\n", " ")
    for quoted in ("irfeacwobv", "an item will be", "the built-in variable object (a way to inserting represents"):
        assert f"*{quoted}*" in answer
        assert quoted in written


# Functions that are not ready -----------------------------------------------------------------------------------------


def test_with_nothing_written_yet_every_cell_says_what_it_waits_for(tmp_path):
    printed = run(tmp_path, unwritten=SIBLINGS)
    assert printed["compared"].count("not written yet") == 4
    for name, notebook in NOTEBOOK_OF.items():
        told = f"This cell waits for your code.  {name}: replace this line with your code, in {notebook}.ipynb."
        assert told in printed["compared"]
    for name in NEEDS_COUNTS:
        assert "This cell waits for " in printed[name], name


def test_a_function_that_is_not_right_is_set_aside(tmp_path):
    right, wrong = b"range(n - 1, len(ids))", b"range(n, len(ids))"
    printed = run(tmp_path, changed={"counting": {right: wrong}})
    told = "ngram_counts: its result is not the expected one, so finish it first, in counting.ipynb."
    assert printed["compared"].count("waits") == 1
    assert told in printed["compared"]
    assert told in printed["written"]
    assert "waits for the models" in printed["quoted"]


def test_without_the_subwords_the_characters_are_still_modelled(tmp_path):
    printed = run(tmp_path, without=["subwords"])
    assert printed["functions"].startswith("subwords.ipynb is not in this folder.")
    assert "learn_bpe is still missing, in subwords.ipynb." in printed["subwords"]
    for name in ("written", "bits", "quoted"):
        assert "waits" not in printed[name]


# A text of one's own --------------------------------------------------------------------------------------------------


def test_a_file_is_read_and_one_that_is_too_short_is_refused(tmp_path):
    file = tmp_path / "my_text.txt"
    file.write_text("One  line,\nTwo.\n\n\nThree\n", "utf-8")
    assert capstone.paragraphs_in(file) == ["one line, two.", "three"]
    file.write_text("One\nTwo\n", "utf-8")
    assert capstone.paragraphs_in(file) == ["one", "two"]
    with pytest.raises(ValueError, match="at least 20,000 characters"):
        capstone.prepared(["a short text"] * 3)


def test_no_paragraph_shares_fifty_characters_with_the_held_out_part():
    train, held_out = capstone.prepared(capstone.python_manual(), most=30_000)
    assert 2_500 < len(held_out) < 6_000
    assert not any(p[k : k + 50] in held_out for p in train.splitlines() for k in range(len(p) - 49))


def test_the_words_joined_are_the_text():
    text = " a text,\nwith  two spaces \n"
    assert "".join(capstone.words_of(text)) == text


# What it shares with other parts of the course ------------------------------------------------------------------------


def test_what_is_taken_from_another_capstone_is_unchanged():
    other = (ROOT / "solutions" / "ch06_attention" / "capstone.py").read_text("utf-8")
    pieces = [re.split(r"\n\n\n", text[text.index("def waiting(") :], maxsplit=1)[0] for text in (SOURCE, other)]
    assert pieces[0] == pieces[1]
