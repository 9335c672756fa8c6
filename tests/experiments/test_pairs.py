"""Sentence pairs from a file: what is a token, what is skipped and said, and that nothing held out is trained on."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from experiments.pairs import from_file, join, report, tokens
from experiments.text import TextError
from tests.loops import for_each

LETTERS = "abcdefghij"


def lines(number: int = 60) -> list[str]:
    return [f"{LETTERS[i % 10]} {LETTERS[i // 10]}\t{LETTERS[i // 10]} {LETTERS[i % 10]} ." for i in range(number)]


def written(tmp_path: Path, content: list[str] | bytes) -> Path:
    path = tmp_path / "mine.tsv"
    path.write_bytes(content if isinstance(content, bytes) else "\n".join(content).encode())
    return path


def refused(path: Path) -> str:
    with pytest.raises(TextError) as error:
        from_file(path)
    return str(error.value)


# Tokens ---------------------------------------------------------------------------------------------------------------


@for_each(
    ("text", "expected"),
    [
        ("l'heure, s’il vous plaît !", ["l", "'", "heure", ",", "s", "'", "il", "vous", "plaît", "!"]),
        ("Quatre-vingt-dix  sept", ["Quatre", "-", "vingt", "-", "dix", "sept"]),
        ("3.5 % ...", ["3", ".", "5", "%", ".", ".", "."]),
        ("a\xa0b\u202fc\x0bd\x07e", ["a", "b", "c", "d", "e"]),  # spaces of other widths, and control characters
        ("नमस्ते दुनिया", ["नमस्ते", "दुनिया"]),  # vowel signs belong to their word
        ("snake_case 🙂🙂", ["snake_case", "🙂", "🙂"]),
        (" \t ", []),
        ("", []),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_composed_and_decomposed_letters_are_the_same() -> None:
    assert tokens(unicodedata.normalize("NFD", "À l'été")) == tokens("À l'été") == ["À", "l", "'", "été"]


def test_a_sentence_is_joined_with_the_spaces_of_its_side(tmp_path: Path) -> None:
    french = ["J'ai (très) faim, Léa !", "quatre-vingt-dix ?", "Oui.", "- Non !"]
    path = written(
        tmp_path, [f"word {i}, well!\t{french[i % 4]} {LETTERS[i % 10]}{LETTERS[i // 10]}." for i in range(40)]
    )
    source, target = from_file(path).spacing
    for sentence in [*french[:3], "(a), b !"]:
        assert join(tokens(sentence), target) == sentence
    assert join(tokens("word 3, well!"), source) == "word 3, well!"
    assert join([], target) == ""
    assert join(["⟨unk⟩", "!"], target) == "⟨unk⟩ !"


# What is read ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty. Save your text in it"),
        (b"PK\x03\x04\0\0", "is a binary file (byte 0 at position 4)"),
        ("a\tb".encode("utf-16"), "is encoded in UTF-16. Save it as UTF-8"),
        ("\n".join(lines()).encode() + "\ncafé\tcafé".encode("latin-1"), "line 61 is not UTF-8 (byte 0xe9)"),
        (b"one\tun\n", "1 different usable pair; at least 20 are needed. Write one pair a line: the source, a tab, "),
        (
            b"one,un\ntwo,deux\n",
            "0 different usable pairs; at least 20 are needed. 2 lines are broken (line 1: no tab)",
        ),
        (b"one\tun\n" * 30, "1 different usable pair; at least 20 are needed. (29 duplicates were removed.)"),
        ("\n".join(f"one\tun {c}" for c in "abcdefghijklmnopqrstuvwxyz").encode(), "almost all pairs have the same so"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, content: bytes, says: str) -> None:
    path = written(tmp_path, content)
    message = refused(path)
    assert message.startswith(f"{path}: ")
    assert says in message


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    assert "there is no such file, relative to" in refused(tmp_path / "no.tsv")
    assert "is a folder" in refused(tmp_path)


def test_broken_lines_are_skipped_and_named_by_their_number(tmp_path: Path) -> None:
    long = " ".join("a" * 41)
    bad = ["no tab", "\tb", "a\t \t", "", "  ", f"{long}\tb", f"b\t{long}"]
    found = from_file(written(tmp_path, [*lines(30), *bad, *lines(60)[30:]]))
    assert found.broken == [
        (31, "no tab"),
        (32, "the source is empty"),
        (33, "the target is empty"),
        (36, "the source has 41 tokens, more than 40"),
        (37, "the target has 41 tokens, more than 40"),
    ]
    assert len(found.train) + len(found.held_out) == 60
    assert report(found)[2:] == [
        "5 broken lines skipped:",
        "  line 31: no tab",
        "  line 32: the source is empty",
        "  line 33: the target is empty",
        "  and 2 more",
    ]
    assert len(from_file(written(tmp_path, [*lines(), f"{long}\tb"]), 41).broken) == 0


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_line_ends_further_columns_and_a_byte_order_mark_change_nothing(tmp_path: Path, end: bytes) -> None:
    plain = from_file(written(tmp_path, lines()))
    content = b"\xef\xbb\xbf" + end.join(f"{line}\tby me\t7".encode() for line in lines()) + end
    found = from_file(written(tmp_path, content))
    assert found == plain
    assert found.label == plain.label


# The split ------------------------------------------------------------------------------------------------------------


def test_duplicates_count_once(tmp_path: Path) -> None:
    found = from_file(written(tmp_path, [*lines(), *lines(7), "a  a\ta a."]))  # equal tokens, other spaces
    assert found.duplicates == 8
    assert len(found.train) + len(found.held_out) == 60
    assert "8 duplicates removed" in report(found)


def test_no_held_out_source_is_trained_on(tmp_path: Path) -> None:
    several = [f"{line.split(chr(9))[0]}\tsynonym {i % 3}" for i, line in enumerate(lines())]
    shouted = [f"{line.split(chr(9))[0].upper()} !\tx" for line in lines()]
    found = from_file(written(tmp_path, lines() + several + shouted))

    def bare(source: list[str]) -> tuple[str, ...]:
        return tuple(token.lower() for token in source if token.isalnum())

    trained, held_out = {bare(s) for s, _ in found.train}, {bare(s) for s, _ in found.held_out}
    assert not trained & held_out
    assert len(trained) + len(held_out) == 60
    assert 18 <= len(found.held_out) <= 20
    assert len(found.references) == 2 * len(held_out)
    assert sorted(map(len, found.references.values())) == [1] * len(held_out) + [2] * len(held_out)
    assert sum(map(len, found.references.values())) == len(found.held_out)


def test_marks_alone_are_sources_too(tmp_path: Path) -> None:
    content = [f"{a} {b}\t{b}" for a in "?!.,;" for b in "+-*/="]
    found = from_file(written(tmp_path, content))
    assert (len(found.train), len(found.held_out)) == (23, 2)


def test_the_fewest_pairs_are_split(tmp_path: Path) -> None:
    found = from_file(written(tmp_path, lines(20)))
    assert (len(found.train), len(found.held_out)) == (18, 2)


def test_another_content_has_another_hash(tmp_path: Path) -> None:
    one = from_file(written(tmp_path, lines()))
    assert from_file(written(tmp_path, lines(59))).sha256 != one.sha256 == from_file(written(tmp_path, lines())).sha256


@pytest.mark.slow
def test_as_a_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "experiments.pairs"]
    root = Path(__file__).parents[2]
    result = subprocess.run([*command, written(tmp_path, lines())], cwd=root, capture_output=True, text=True)
    assert result.stdout.splitlines()[1] == "60 pairs: 54 to train on, 6 held out with other sources"
    result = subprocess.run([*command, tmp_path], cwd=root, capture_output=True, text=True)
    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
