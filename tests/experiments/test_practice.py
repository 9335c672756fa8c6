"""What the boxes *In practice* say of the records, and that their pages show exactly the numbers that there are."""

from __future__ import annotations

import re

import pytest

from experiments import practice
from experiments.practice import record_of
from tests.book.conftest import BOOK
from tests.loops import for_each

LAST_PAGES = [
    "ch00_sequences/window",
    "ch01_vanilla_rnn/results",
    "ch02_bptt/real_text",
    "ch03_gradients/initialisation",
    "ch04_gated/brackets",
    "ch05_encoder_decoder/captions",
    "ch06_attention/where_next",
]


def numbers_of(chapter: int) -> dict[str, str]:
    found: dict[str, str] = getattr(practice, f"chapter_{chapter}")()
    return found


def box_of(chapter: int) -> str:
    text = BOOK.joinpath(f"{LAST_PAGES[chapter]}.md").read_text("utf-8")
    (box,) = re.findall(r"^:::\{admonition\} In practice\n:class: practice\n(.*?)^:::$", text, re.MULTILINE | re.DOTALL)
    return str(box)


@pytest.mark.parametrize("chapter", range(7))
def test_a_box_shows_all_its_numbers_and_is_short(chapter: int) -> None:
    box = box_of(chapter)
    assert set(re.findall(r"\{glue:text\}`practice-([^`]+)`", box)) == set(numbers_of(chapter))
    plain = re.sub(r"\{glue:text\}`[^`]*`", "1", box)
    plain = re.sub(r"\]\([^)]*\)|\{cite\}`[^`]*`|---|\|", " ", plain)
    assert len(plain.split()) <= 150


@pytest.mark.parametrize("chapter", range(7))
def test_each_line_of_a_box_rests_on_a_number_or_says_that_it_does_not(chapter: int) -> None:
    rows = [line for line in box_of(chapter).splitlines() if line.startswith("|")][2:]
    assert 4 <= len(rows) <= 6
    without = [row for row in rows if "practice-" not in row and "rule of thumb" not in row]
    # That a float32 overflows, and what five networks that memorise a word did, is computed by their pages.
    assert len(without) == (1 if chapter in (0, 2) else 0)


def test_chapter_0_counting_wins_and_longer_windows_overfit() -> None:
    found = {name: float(text) for name, text in numbers_of(0).items()}
    assert found["counted"] < found["window"] - 0.2
    assert found["lr-0.005"] < found["lr-0.002"] - 0.1
    assert found["train-16"] < found["train-4"]
    assert found["held-out-16"] > found["held-out-4"] + 0.1


def test_chapter_1_larger_networks_solve_the_task() -> None:
    found = numbers_of(1)
    assert (found["solved-8"], found["solved-2"]) == (found["runs"], "0")
    assert 0 < int(found["solved-4"]) < int(found["runs"])
    assert float(found["lost-error"]) > 2 * record_of("ch01/temporal_xor")["settings"]["solved_below"]
    assert 0.2 < float(found["halfway"]) < 0.25
    assert float(found["stray"]) > 20 * float(found["third"])


def test_chapter_2_float64_short_chunks_and_a_carried_state() -> None:
    found = numbers_of(2)
    steps = record_of("ch02/steps")
    usual = steps["steps"].index(1e-05)
    assert steps["errors"]["float64"]["most"][usual] < 1e-8
    assert steps["errors"]["float32"]["least"][usual] > 1e-4
    assert 0.95 < float(found["cosine"]) < 1
    assert all(run["reset"] - run["carried"] > 0.2 for run in record_of("ch04/first_loop")["runs"])


def test_chapter_3_clipping_acts_on_outliers_and_stops_divergence() -> None:
    found = numbers_of(3)
    least, most = (float(number) for number in found["norms"].split(" to "))
    assert 0.5 < least < most < 1, "the threshold of 1 is above the usual norm, the page says"
    assert float(found["acted"].split(" to ")[1]) < 20
    assert (found["diverged"], found["held"]) == ("five", "no")
    free = [run for run in record_of("ch03/clipping")["runs"] if run["diverged_at"] is not None and run["lr"] == 1.0]
    assert all(run["cell"] == "tanh" and run["norm_largest"] > 1e16 for run in free)
    assert (found["lstm-early"], found["lstm"]) == ("0 of 5", "5 of 5")
    assert (found["gru"], found["tanh"]) == ("5 of 5", "0 of 15")
    of = {name: found[name].split(" in ") for name in ("default", "orthogonal")}
    assert int(of["default"][1].replace(",", "")) > 10 * int(of["orthogonal"][1])


def test_chapter_4_biases_cells_and_rates() -> None:
    found = numbers_of(4)
    assert int(found["20-0"]) < 3 < 18 < int(found["20-1"])
    assert int(found["50-1"]) < 3 < 15 < int(found["50-3"])
    assert float(found["lr-0.03"]) < float(found["lr-0.01"]) - 0.05
    assert float(found["gap"]) > 0.3
    table = {row["cell"]: row for row in record_of("ch04/text_cells")["summary"]}
    assert abs(table["gru"]["bits_mean"] - table["lstm"]["bits_mean"]) < table["lstm"]["bits_sd"], "no cell is better"
    assert 3 * int(found["gru-adding"]) < int(found["lstm_1-adding"].replace(",", ""))


def test_chapter_5_search_context_and_length() -> None:
    found = numbers_of(5)
    assert int(found["distinct"]) < 0.5 * int(found["distinct-real"])
    assert int(found["gain-first"]) > 3
    assert abs(float(found["gain-last"])) < 0.2
    assert int(found["bleu-1"]) < int(found["bleu-0.5"]) == int(found["bleu-0"])
    contexts = {(one["train"], one["context"], one["way"]): one for one in record_of("ch05/contexts")["summary"]}
    once, every = (contexts[300, "final", way] for way in ("initial state", "every step"))
    assert every["worst"][0] > once["mean"][0] + once["sd"][0]
    assert int(found["short"]) > 90
    assert int(found["long"]) < 10


def test_chapter_6_attention_lengths_and_cost() -> None:
    found = numbers_of(6)
    means = {name: float(found[name].split("\u00a0")[0]) for name in ("attention", "every")}
    assert means["attention"] > means["every"] + 2
    assert int(found["15-at-15"]) > 85
    assert 20 < int(found["15-at-20"]) < 50
    assert found["15-at-30"] == "0"
    assert int(found["30-at-30"]) > 60
    assert 25 < int(found["erased"]) < 35
    assert 1_000 <= int(found["gru"].replace(",", "")) <= 1_200


@for_each(("value", "text"), [(2e-09, "2\u00a0×\u00a010⁻⁹"), (5.78e17, "6\u00a0×\u00a010¹⁷")])
def test_powers_of_ten(value: float, text: str) -> None:
    assert practice.scientific(value) == text
