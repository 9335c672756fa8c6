"""The experiment of chapter 4 on Python source code: what it measures, and what it recorded."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pytest
import torch

from experiments.ch00.counts import choose_weights
from experiments.ch04 import python_source, source_text, units
from experiments.ch04.source_text import CLOSING, OPENING, structure
from experiments.char_lm import CharLM
from experiments.ngrams import Interpolated, WittenBell
from experiments.text import Text

WEIGHTS = [0.9, 0.7, 0.6, 0.5]
CODE = """\
def mean(xs, start=[0]):
    total = {'sum': (0,),
             'n': "a)b"}
    for x in xs:
        if x:
            total += x

    return total

print(mean([1, 2]))
"""


def recorded() -> dict[str, Any]:
    record: dict[str, Any] = json.loads(Path(python_source.RESULTS_FILE).read_text("utf-8"))
    return record


# The text -------------------------------------------------------------------------------------------------------------


def test_comments_and_docstrings_are_removed_and_nothing_else() -> None:
    source = (
        '"""Doc."""\nimport os  # a comment\n\n\n# another\nclass A:\n    """Doc\n    string."""\n\n'
        '    x = "# no comment"\n\n    def f(self):\n        """Only this."""\n'
    )
    want = 'import os\n\nclass A:\n\n    x = "# no comment"\n\n    def f(self):\n        pass\n\n'
    assert source_text.cleaned(source) == want


def test_the_library_of_this_python_is_read_and_split_by_module() -> None:
    text, held_out = source_text.python_source()
    assert source_text.TRAIN * 0.98 < len(text.train) < source_text.TRAIN * 1.1
    assert "".join(held_out.values()) == text.held_out
    assert set(text.held_out) <= set(text.characters)
    assert text.train.isascii()
    for name, source in held_out.items():
        ast.parse(source)
        assert source not in text.train, name
    known = {line for line in text.held_out.split("\n") if len(line) >= source_text.LONG_LINE}
    assert known.isdisjoint(text.train.split("\n"))


def test_the_structure_of_some_code() -> None:
    found = structure(CODE)
    assert all(OPENING.index(CODE[a]) == CLOSING.index(CODE[b]) for a, b in found.brackets)
    assert sorted(CODE[a : b + 1] for a, b in found.brackets if b - a < 7) == ["(0,)", "[0]", "[1, 2]"]
    assert [CODE[a : b + 1] for a, b in found.strings] == ["'sum'", "'n'", '"a)b"']
    depth = 0
    inside = np.zeros(len(CODE))
    for a, b in found.strings:
        inside[a:b] = 1
    for position, character in enumerate(CODE):
        if not inside[position]:
            depth += {**dict.fromkeys(OPENING, 1), **dict.fromkeys(CLOSING, -1)}.get(character, 0)
        assert found.depth[position] == depth
    np.testing.assert_array_equal(found.inside, inside)
    lines = [CODE[line:].split("\n", 1)[0].split()[0] for line, *_ in found.statements]
    assert lines == ["def", "total", "for", "if", "total", "return", "print(mean([1,"]
    assert [levels for _, levels, *_ in found.statements] == [(0,), (4,), (0, 4), (8,), (12,), (0, 4, 8, 12), (0, 4)]
    assert [CODE[header:].split()[0] for *_, header in found.statements[1:]] == ["def", "def", "for", "if", "if", "def"]


def test_the_scanner_agrees_with_the_tokenizer_on_real_code() -> None:
    for source in [CODE, *source_text.python_source()[1].values()]:
        found = python_source.scan(source)
        assert sorted(found["pairs"]) == sorted(structure(source).brackets)
        assert not any(found[key] for key in ("lost", "stray", "strings", "undecided"))


def test_the_scanner_finds_errors() -> None:
    found = python_source.scan("f(a]\nx = (1, [2\nreturn )\ny = 'ab\nz = {'a)'")
    assert found["lost"] == [1, 9, 13]
    assert found["stray"] == [3, 23]
    assert found["strings"] == [29]
    assert found["undecided"] == [37]
    counts = python_source.scanned(["f(a]\n", "g(a)"])
    assert (counts["closed"], counts["lost"], counts["stray"], counts["closed_share"]) == (1, 1, 1, 0.5)
    assert counts["characters_per_error"] == 4.5


# What is asked --------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_states_are_those_of_torch() -> None:
    torch.manual_seed(0)
    model = CharLM(9, 4, 6)
    texts = [torch.randint(0, 9, (length,)) for length in (5, 9, 1)]
    for ids, (h, c) in zip(texts, python_source.follow(model, texts), strict=True):
        states, (_, last) = model.rnn(model.embedding(ids)[None])
        torch.testing.assert_close(h, states[0])
        torch.testing.assert_close(c[-1], last[0, 0])


@torch.no_grad()
def test_readers_say_what_their_models_say() -> None:
    characters = "".join(sorted(set(CODE)))
    text = Text(CODE, CODE, characters, "a test")
    torch.manual_seed(0)
    model = CharLM(len(characters), 4, 6).eval()
    [network] = python_source.readers_of(model, text, [CODE])
    ids = text.ids(CODE * 3)
    for counted, as_there in (
        (python_source.Counted(ids, 4, len(characters)), WittenBell(ids.tolist(), 4, len(characters))),
        (
            python_source.Counted(ids, 4, len(characters), WEIGHTS),
            Interpolated(ids.tolist(), 4, len(characters), WEIGHTS),
        ),
    ):
        count = python_source.CountedReader(counted, text, CODE)
        for position in (0, 1, 5, CODE.index("total =")):
            before = text.ids("\n\n\n" + CODE[:position])
            want = [as_there.probability(before[-3:].tolist(), characters.index(c)) for c in ")x"]
            assert count.at([position], ")x")[0] == pytest.approx(want)
        assert count.truth()[7] == pytest.approx(count.at([7], CODE[7])[0, 0])
    place = CODE.index("total =")
    for position in (0, 1, place):
        ids = text.ids("\n" + CODE[:position])
        logits, _ = model(torch.from_numpy(ids)[None])
        p = torch.softmax(logits[0, -1], 0)
        want = [float(p[characters.index(c)]) for c in ")x"]
        assert network.at([position], ")x")[0] == pytest.approx(want, abs=1e-6)
    assert network.truth()[7] == pytest.approx(network.at([7], CODE[7])[0, 0])
    for reader in (network, count):
        line = place - 4  # followed by four spaces in the text
        found = reader.spaces([line, 0])
        for n in range(5):
            assert found[0, n] == pytest.approx(reader.at([line + n], " \n")[0], abs=1e-6)
        p = python_source.numbers_of_spaces(found)
        assert p.min() >= 0
        assert p.sum(axis=1).max() <= 1 + 1e-9


def test_the_weights_are_those_of_chapter_0() -> None:
    text = source_text.python_source()[0]
    ids, V = text.ids(text.train[:20_000]), len(text.characters)
    ours, theirs = python_source.chosen_weights(ids, 3, V), choose_weights(ids.tolist(), 3, V)[0]
    assert ours == pytest.approx(theirs, abs=0.051)  # the first tokens of the last tenth are not asked


def test_numbers_of_spaces() -> None:
    rng = np.random.default_rng(0)
    found = rng.dirichlet(np.ones(3), size=(2, 5))[:, :, :2]  # of a space, and of a line break, after 0 to 4 spaces
    p = python_source.numbers_of_spaces(found)
    for row, by_count in zip(found, p, strict=True):
        reached, ends, lines = 1.0, [], 0.0
        for space, line in row:
            ends.append(reached * (1 - space - line))
            lines += reached * line
            reached *= space
        np.testing.assert_allclose(by_count, np.array(ends) / (1 - lines))


class Certain(python_source.Reader):
    """A reader that knows the text."""

    def __init__(self, source: str) -> None:
        self.source = source + " "

    def at(self, positions: Any, characters: str) -> np.ndarray:
        found = [[self.source[position] == character for character in characters] for position in positions]
        return np.array(found, dtype=float).reshape(len(positions), len(characters))

    def spaces(self, positions: Any) -> np.ndarray:
        most = python_source.SETTINGS["most_spaces"] + 1
        found = np.zeros((len(positions), most, 2))
        for row, position in enumerate(positions):
            stripped = self.source[position:].lstrip(" ")
            found[row, : len(self.source) - position - len(stripped), 0] = 1
        return found


def test_who_knows_the_text_answers_everything() -> None:
    sources = list(source_text.python_source()[1].values())[:4]
    found = python_source.asked([Certain(one) for one in sources], sources, [structure(one) for one in sources])
    for name in ("brackets", "round", "other", "strings"):
        assert found[name]["all_p"] == found[name]["all_share"] == 1
    assert found["nothing_open"] == 0
    assert found["indentation"]["all_legal"] == found["indentation"]["after_colon"] == 1


def test_digits_and_thresholds() -> None:
    assert python_source.digits(np.arange(10.0)) == "0123456789"
    values = np.r_[np.linspace(0, 1, 50), np.linspace(2, 3, 50)]
    assert 0.95 < python_source.threshold(values, np.arange(100) >= 50) < 2


# What was recorded ----------------------------------------------------------------------------------------------------


def test_the_record_has_settings_seeds_versions_and_its_command() -> None:
    record = recorded()
    assert record["command"] == "python -m experiments.ch04.python_source --record"
    assert {key: record["settings"][key] for key in python_source.SETTINGS} == python_source.SETTINGS
    assert record["settings"]["small"] == python_source.SMALL
    assert record["settings"]["large"] == python_source.LARGE
    small = [one for one in record["runs"] if one["size"] == "small"]
    assert [one["seed"] for one in small] == record["seeds"] == list(python_source.SEEDS)
    large = [one["seed"] for one in record["runs"] if one["size"] == "large"]
    assert large == record["large_seeds"] == list(python_source.LARGE_SEEDS)
    assert record["summary"] == python_source.summary(record["runs"])
    assert all(record["versions"].values())
    assert "not shipped" in record["text"]["licence"]
    assert Path(python_source.RESULTS_FILE).stat().st_size < 60_000


def test_the_record_is_of_this_text_if_python_is_the_same() -> None:
    text, held_out = source_text.python_source()
    if recorded()["text"]["source"] != text.source:
        pytest.skip("recorded with another Python")
    assert recorded()["text"]["sha256"] == text.sha256
    parts = [structure(source) for source in held_out.values()]
    found = python_source.best_character(text, list(held_out.values()), parts)
    assert list(found) == recorded()["input_character"]
    assert python_source.halves(parts) == recorded()["text"]["first_part"]
    columns = np.eye(len(text.characters))[text.ids(text.held_out)]
    depth = np.concatenate([np.array(part.depth, float) for part in parts])
    assert np.abs(units.correlations(columns, depth)).max() < 0.5  # no character says the depth


def test_the_shown_texts_are_what_is_said_of_them() -> None:
    record = recorded()
    first, *others = [one for one in record["runs"] if one["size"] == "large"]
    assert all("stages" not in one for one in others)
    updates = [stage["updates"] for stage in first["stages"]]
    assert updates == [*record["settings"]["stages"], python_source.LARGE["updates"]]
    assert len(first["unit_shown"]) == len(first["stages"][-1]["text"]) == record["settings"]["shown"]
    assert set(first["unit_shown"]) <= set("0123456789")
    falling = [stage["train_bits"] for stage in first["stages"]]
    assert falling == sorted(falling, reverse=True)


def test_what_the_networks_know_and_counting_does_not() -> None:
    record = recorded()
    small = [one for one in record["runs"] if one["size"] == "small"]
    six, eight = (
        next(one for one in record["counted"]["models"] if one["model"] == f"{order}-gram, interpolated")
        for order in (6, 8)
    )
    assert min(record["counted"]["models"], key=lambda one: one["bits"]) == eight
    assert eight["bits"] < six["bits"] < min(one["bits"] for one in small) - 0.1  # counting wins in bits
    assert max(one["nothing_open"] for one in small) < 0.45 * min(six["nothing_open"], eight["nothing_open"])
    assert min(one["indentation"]["all_legal"] for one in small) > max(2 * six["indentation"]["all_legal"], 0.7)
    for one in small:
        for index in range(2, 5):  # in blocks of any length
            assert one["indentation"]["legal"][index] > eight["indentation"]["legal"][index] + 0.2
        for index in (1, 2):  # 6 to 50 characters
            assert one["brackets"]["p"][index] > eight["brackets"]["p"][index] + 0.01
        assert one["brackets"]["p"][0] < six["brackets"]["p"][0] - 0.04
        assert one["written"]["characters_per_error"] > 1.3 * eight["written"]["characters_per_error"]
    for large in (one for one in record["runs"] if one["size"] == "large"):
        assert large["bits"] < eight["bits"] - 0.05
        assert large["indentation"]["all_legal"] > max(one["indentation"]["all_legal"] for one in small) + 0.05
        assert large["nothing_open"] < min(one["nothing_open"] for one in small) - 1
        assert mean(large["other"]["share"][index] for index in (3, 4)) < eight["other"]["share"][3]
    for index in (3, 4):  # farther away the networks are no better
        assert abs(mean(one["brackets"]["p"][index] for one in small) - six["brackets"]["p"][index]) < 0.03
    for index in (2, 3, 4):  # nor do they know which bracket it is
        assert mean(one["other"]["share"][index] for one in small) < 0.3


def test_one_unit_says_whether_a_bracket_is_open() -> None:
    record = recorded()
    found = [one["units"] for one in record["runs"] if one["size"] == "small"]
    assert min(one["r"] for one in found) > 0.6 > 0.3 > max(one["untrained"] for one in found)
    assert record["input_character"][1] < 0.2
    assert all(one["readout"] > one["r"] for one in found)
    assert all(one["replaced"]["unit"] < -1 and one["replaced"]["rank"] <= 2 for one in found)
    assert all(0.8 < one["correct"]["depth 0"] < 1 and 0.85 < one["correct"]["depth 1"] < 0.95 for one in found)
