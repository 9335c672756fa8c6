"""The worked examples of the notebook `text`, read from the prose and recomputed, and what its last cell shows."""

import ast
import re

import numpy as np

from tests.conftest import exercise
from tests.prose import arrays, check_shown, numbers, run_notebook, section, table


def prose(heading):
    return section("ch00_sequences", "text", heading)


def given(exercise_id):
    spec = exercise(exercise_id).spec
    return spec.example.inputs, spec.oracle(**spec.example.inputs)


def test_from_text_to_ids():
    text, (example, ids) = prose("From text to ids"), given("encode_text")
    assert ast.literal_eval(re.search(r"`vocab` = `(\{.*?\})`", text)[1]) == example["vocab"]
    assert re.search(r'`text` = `"(\w+)"`', text)[1] == example["text"]
    rows = table(text, "| t | character |")
    assert [row[0] for row in rows] == [str(t) for t in range(len(ids))]
    assert "".join(row[1] for row in rows) == example["text"]
    assert [row[2] == "yes" for row in rows] == [c in example["vocab"] for c in example["text"]]
    assert [int(row[3]) for row in rows] == ids.tolist()
    assert "`KeyError: 'd'`" in text


def test_from_ids_to_text():
    text, (example, decoded) = prose("From ids to text"), given("decode_ids")
    assert example["vocab"] == given("encode_text")[0]["vocab"]  # "the vocabulary of the last example"
    assert ast.literal_eval(re.search(r"`(\{.*?\})`", text)[1]) == example["vocab"]
    assert ast.literal_eval(re.search(r"`ids` = (\[.*?\])", text)[1]) == example["ids"].tolist()
    rows = table(text, "| t | `ids[t]` |")
    assert [int(row[1]) for row in rows] == example["ids"].tolist()
    assert "".join(row[2] for row in rows) == decoded
    assert f'The result is `"{decoded}"`' in text


def test_one_hot_vectors():
    text, (example, vectors) = prose("One-hot vectors"), given("one_hot")
    rows = np.array([[int(cell) for cell in row] for row in table(text, "| id | entry 0 |")])
    np.testing.assert_array_equal(rows[:, 0], example["ids"])
    np.testing.assert_array_equal(rows[:, 1:], vectors)


def test_embeddings():
    text, (example, vectors) = prose("Embeddings"), given("embed")
    np.testing.assert_array_equal(arrays(text)["E"], example["E"])
    rows = table(text, "| t | id | one-hot vector |")
    assert [int(row[1]) for row in rows] == example["ids"].tolist()
    for (_, index, hot, product), vector in zip(rows, vectors, strict=True):
        np.testing.assert_array_equal([int(n) for n in hot.split(",")], np.eye(3)[int(index)])
        if product != "?, ?":
            check_shown(numbers(product), vector)
    assert rows[-1][-1] == "?, ?"


def test_what_the_last_cell_shows(capsys):
    printed = run_notebook("ch00_sequences", "text", capsys)[1][-1]
    decoded = re.findall(r"^'(.+?)' +'(.+?)'", printed, re.MULTILINE)
    assert decoded == [
        ("the man sat", "the man sat"),
        ("a tiny cat", "a t<unk>n<unk> cat"),
        ("Tom sat", "<unk>om sat"),
    ]
