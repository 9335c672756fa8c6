"""The worked numbers of the notebook `encoder`, read from the prose and recomputed, and what its last cell shows."""

import re
from functools import partial

import numpy as np

from tests.conftest import exercise
from tests.prose import arrays, check_shown, numbers, run_notebook, section, table

prose = partial(section, "ch05_encoder_decoder", "encoder")
KEYS = "W_x", "W_h", "b_x", "b_h"


def integers(cell):
    return [int(n) for n in re.findall(r"\d+", cell)]


def test_the_padded_batch():
    text, example = prose("A padded batch"), exercise("pad_batch").spec.example.inputs
    rows = [[integers(cell) for cell in row] for row in table(text, "| sequence | row of `ids` |")]
    assert [row[0] for row in rows] == example["sequences"]
    assert f"`pad_id` = {example['pad_id']}:" in text
    ids, lengths = exercise("pad_batch").spec.oracle(**example)
    np.testing.assert_array_equal([row[1] for row in rows], ids)
    np.testing.assert_array_equal([row[2] for row in rows], lengths[:, None])


def test_the_mask_that_is_half_worked_out():
    text, example = prose("Which entries are real"), exercise("length_mask").spec.example.inputs
    np.testing.assert_array_equal(arrays(text)["lengths"], example["lengths"])
    assert f"`max_length` = {example['max_length']}:" in text
    mask = exercise("length_mask").spec.oracle(**example)
    for (length, *cells), n, row in zip(table(text, "| length | position 0 |"), example["lengths"], mask, strict=True):
        assert int(length) == n
        assert [cell for cell in cells if cell != "?"] == ["True"] * (len(cells) - cells.count("?"))
        assert row[: len(cells) - cells.count("?")].all()


def test_the_worked_encoder():
    text, example = prose("The encoder"), exercise("encode").spec.example.inputs
    np.testing.assert_array_equal(arrays(text)["E"], example["E"])
    for cells, layer in zip(table(text, "| | `W_x`: r, z, n |"), example["layers"], strict=True):
        for cell, key in zip(cells[1:], KEYS, strict=True):
            np.testing.assert_array_equal(numbers(cell), layer[key].ravel())

    def contexts(length):
        """The context of both rows at this length, from the oracle."""
        return exercise("encode").spec.oracle(**{**example, "lengths": np.full(2, length)})[:, :, 0]  # (L, B)

    states = np.stack([contexts(length) for length in (1, 2, 3)], axis=-1)  # (L, B, S)
    seen = []
    for b, (_, ids, embeddings, *layers) in enumerate(table(text, "| row | ids |")):
        n = example["lengths"][b]
        assert integers(ids) == example["ids"][b].tolist()
        assert ids.count("*") == 2 * (3 - n)
        np.testing.assert_array_equal(numbers(embeddings), example["E"][example["ids"][b, :n], 0])
        for shown, row in zip(layers, states[:, b], strict=True):
            check_shown(numbers(shown), row[:n])
            assert shown.count("*any*") == 3 - n
            seen += numbers(shown)
    assert len({abs(n) for n in seen}) == len(seen)  # no coincidences
    expected = exercise("encode").spec.oracle(**example)
    found = re.findall(r"context\}\[(\d)\] = \\begin\{bmatrix\} (\S+) \\\\ (\S+) \\end", text)
    check_shown([[float(n) for n in each[1:]] for each in found], expected[:, :, 0])
    read = text.partition("row 1 would end with ")[2].partition(", and the encoder")[0]
    check_shown(numbers(read), states[:, 1, 2])
    inputs = text.partition("in row 0, its inputs are ")[2].partition("Row 1 ends")[0]
    check_shown(numbers(inputs), states[0, 0])


def test_a_batch_changes_nothing(capsys, session):
    namespace, printed = run_notebook("ch05_encoder_decoder", "encoder", capsys)
    lines = printed[-1].splitlines()
    assert len(lines) == 5
    assert all(line.startswith("0.00   '") for line in lines)

    ids, lengths = namespace["pad_batch"](namespace["sources"], 0)
    padded = namespace["encode"](ids, np.full_like(lengths, ids.shape[1]), namespace["E"], namespace["layers"])
    differs = np.abs(padded - namespace["together"]).max(axis=(0, 2)) >= 0.005
    np.testing.assert_array_equal(differs, lengths < ids.shape[1])  # as the last paragraph says
