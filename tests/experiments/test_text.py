"""Real text: what is kept of Python's documentation, how it is split, and what is said of a file that will not do."""

import json
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from experiments.text import (
    OVERLAP,
    SHORTEST,
    TOPICS_FILE,
    TextError,
    from_file,
    python_docs,
    topics,
    topics_source,
)

ROOT = Path(__file__).parents[2]
DOCS = python_docs()
WORDS = ["the", "value", "of", "an", "expression", "is", "found", "by", "reading", "it", "from", "left", "to", "right"]


def prose(seed, paragraphs=60):
    rng = np.random.default_rng(seed)
    return "\n\n".join(" ".join(rng.permutation(WORDS)).capitalize() + "." for _ in range(paragraphs))


# Python's documentation -----------------------------------------------------------------------------------------------


def test_it_is_prose_in_lower_case_one_paragraph_a_line():
    for part in (DOCS.train, DOCS.held_out):
        assert part == part.lower()
        assert part.endswith("\n")
        assert not any(mark in part for mark in ('"', "*", "\\", "`", ">>>", "::=", "\t"))
        lines = part.splitlines()
        assert min(map(len, lines)) > 40
        assert len(set(lines)) == len(lines)


def test_a_tenth_is_held_out_and_no_fifty_characters_in_a_row_are_in_both_parts():
    total = len(DOCS.train) + len(DOCS.held_out)
    assert 200_000 < total < 400_000
    assert 0.08 < len(DOCS.held_out) / total < 0.2
    held = {line[i : i + OVERLAP] for line in DOCS.held_out.splitlines() for i in range(len(line) - OVERLAP + 1)}
    # cutting rare characters out of a line may bring others together: as good as none
    shared = sum(DOCS.train[i : i + OVERLAP] in held for i in range(len(DOCS.train) - OVERLAP))
    assert shared < 10


def test_the_characters_are_few_sorted_and_frequent():
    assert DOCS.characters == "".join(sorted(set(DOCS.train)))
    assert set(DOCS.held_out) <= set(DOCS.characters)
    assert 40 < len(DOCS.characters) < 70
    assert min(DOCS.train.count(character) for character in DOCS.characters) >= 20


def test_it_is_the_courses_copy_on_every_machine(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", None)  # whatever Python brings
    assert python_docs() == DOCS
    assert (len(DOCS.train), len(DOCS.held_out), len(DOCS.characters)) == (213_483, 32_753, 51)


def test_the_copy_is_that_of_the_python_that_it_names():
    if topics_source() == f"pydoc_data.topics of Python {platform.python_version()}":
        from pydoc_data.topics import topics as of_this_python

        assert topics() == of_this_python
    assert "PYTHON SOFTWARE FOUNDATION LICENSE" in TOPICS_FILE.with_suffix(".LICENSE.txt").read_text("utf-8")


def test_records_of_the_whole_text_are_of_this_one():
    """A new copy of the documentation needs new records."""
    hashes = {path: json.loads(path.read_text("utf-8")).get("text") for path in ROOT.glob("experiments/*/*.json")}
    named = {path.stem: text for path, text in hashes.items() if isinstance(text, dict) and "sha256" in text}
    otherwise = {"capstone_weights", "capstone_network", "capstone"}  # what their notebooks keep of the topics
    assert len(named) > 8
    code = named.pop("python_source")  # tests/experiments/test_ch04_source.py compares it
    assert code["source"] == topics_source().replace("pydoc_data.topics", "the standard library")
    assert {text["source"] for text in named.values()} == {topics_source()}
    assert {text["sha256"] for name, text in named.items() if name not in otherwise} == {DOCS.sha256}


def test_the_same_seed_gives_the_same_text_and_another_seed_another_split():
    assert python_docs() == DOCS
    assert python_docs(seed=1).held_out != DOCS.held_out
    assert python_docs(seed=1).sha256 != DOCS.sha256


def test_the_label_names_source_version_and_hash():
    assert DOCS.label == f"{topics_source()}, sha256 {DOCS.sha256[:12]}"
    assert len(DOCS.sha256) == 64


def test_ids_are_places_in_the_characters():
    ids = DOCS.ids("the end\n")
    assert ids.dtype == np.int64
    assert "".join(DOCS.characters[i] for i in ids) == "the end\n"
    assert DOCS.ids("").shape == (0,)
    with pytest.raises(TextError, match="'é' is not a character of this text; it has ⏎"):
        DOCS.ids("café")


# A file of one's own --------------------------------------------------------------------------------------------------


def test_paragraphs_of_a_file_are_unwrapped_and_split(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text(prose(0).replace(" of ", "\n  of “quoted” — "), "utf-8")
    text = from_file(path)
    assert text.train
    assert text.held_out
    assert 'of "quoted" - ' in text.train
    assert text.label == f"mine.txt, sha256 {text.sha256[:12]}"
    assert not set(text.train.splitlines()) & set(text.held_out.splitlines())


def test_without_blank_lines_every_line_is_a_paragraph(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text(prose(1).replace("\n\n", "\n"), "utf-8")
    lines = [*from_file(path).train.splitlines(), *from_file(path).held_out.splitlines()]
    assert set(lines) <= set(prose(1).lower().split("\n\n"))
    assert len(lines) > 40


@pytest.mark.parametrize("ends", ["\r\n", "\r"])
def test_line_ends_and_byte_order_marks_do_not_matter(tmp_path, ends):
    unix, other = tmp_path / "unix.txt", tmp_path / "other.txt"
    unix.write_bytes(prose(2).encode())
    other.write_bytes(b"\xef\xbb\xbf" + prose(2).replace("\n", ends).encode())
    assert from_file(unix).sha256 == from_file(other).sha256


BAD = {
    "empty": (b"", "is empty. Save your text in it"),
    "white": (b" \n\n\t", "is empty. Save your text in it"),
    "binary": (b"PK\x03\x04\0\0", "is a binary file (byte 0 at position 4). Export it as plain text."),
    "utf-16": (prose(3).encode("utf-16"), "is encoded in UTF-16. Save it as UTF-8"),
    "latin-1": (f"{prose(4)}\n\ncafé\n".encode("latin-1"), "line 121 is not UTF-8 (byte 0xe9). Save it as UTF-8"),
    "short": (b"A line.\n\nAnother one.\n", f"19 characters in 2 different paragraphs; at least {SHORTEST:,} in 2"),
    "one paragraph": (b"word " * 1000, "4,999 characters in 1 different paragraphs"),
    "the same again": ((" ".join(WORDS) + ".\n\n").encode() * 99, "in 1 different paragraphs"),
    "nearly the same": (
        "\n\n".join(f"{n} {' '.join(WORDS)}" for n in range(99)).encode(),
        "its paragraphs are too similar to be split",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_file_that_will_not_do_says_what_where_and_what_next(tmp_path, kind):
    content, says = BAD[kind]
    path = tmp_path / f"{kind}.txt"
    path.write_bytes(content)
    with pytest.raises(TextError) as error:
        from_file(path)
    assert str(error.value).startswith(f"{path}: ")
    assert says in str(error.value)


def test_a_missing_file_and_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TextError) as error:
        from_file("nowhere.txt")
    assert str(error.value) == f"nowhere.txt: there is no such file, relative to {tmp_path}. Give the full path."
    with pytest.raises(TextError, match=r"is a folder\. Name a text file in it\."):
        from_file(tmp_path)


def test_the_command_prints_the_label_or_the_error(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text(prose(5), "utf-8")
    run = [sys.executable, "-m", "experiments.text"]
    good = subprocess.run([*run, str(path)], capture_output=True, text=True, check=True)
    assert good.stdout.splitlines()[0] == from_file(path).label
    bad = subprocess.run([*run, str(tmp_path / "no.txt")], capture_output=True, text=True)
    assert bad.returncode == 1
    assert bad.stderr.count("\n") == 1
    assert "no.txt: there is no such file" in bad.stderr
