"""Cells by their names, whatever their metadata holds; and a notebook's bytes, which are nbformat's own."""

import nbformat
import pytest

from grader.cells import cell_source, check_id, check_source, grade_id, notebook_bytes

ODD = "".join(map(chr, range(0xA1))) + "\u2028\u2029\x85 é ● 😀 \\ \" '\r\n\n  "


@pytest.mark.parametrize("text", ["", "\n", "one line", "two\nlines\n", "a\r\nb\rc", ODD, "x" * 100_000])
def test_the_same_bytes(text):
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": text}})
    code = {"cell_type": "code", "id": "a", "metadata": {"tags": [text]}, "execution_count": None, "source": text}
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": text},
        {"output_type": "error", "ename": "E", "evalue": text, "traceback": [text]},
        {
            "output_type": "execute_result",
            "data": {"text/plain": text, "text/html": text},
            "metadata": {},
            "execution_count": None,
        },
    ]
    words = {"cell_type": "markdown", "id": "b", "metadata": {}, "source": text}
    pictures = {"attachments": {"a.png": {"image/png": text}}}
    notebook.cells = [
        nbformat.from_dict(cell) for cell in ({**code, "outputs": outputs}, words, {**words, "id": "c", **pictures})
    ]
    assert notebook_bytes(notebook) == (nbformat.writes(notebook).rstrip("\n") + "\n").encode()


def cell(source="", **metadata):
    return nbformat.from_dict({"cell_type": "code", "source": source, "metadata": metadata})


@pytest.mark.parametrize("entry", [None, [], "rnn_step", {}, {"grade_id": None}, {"grade_id": ["rnn_step"]}])
def test_a_cell_without_a_name(entry):
    assert grade_id(cell(nbgrader=entry)) is None
    assert grade_id(cell()) is None


def test_a_cell_is_found_by_its_name():
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        cell("def rnn_step(): ...", nbgrader={"grade_id": "rnn_step"}),
        cell(check_source("rnn_step"), nbgrader={"grade_id": check_id("rnn_step")}),
    ]
    assert list(map(grade_id, notebook.cells)) == ["rnn_step", "rnn_step-check"]
    assert cell_source(notebook, "rnn_step") == "def rnn_step(): ..."
    assert cell_source(notebook, "rnn_step-check") == 'check("rnn_step", rnn_step)'
    with pytest.raises(KeyError, match="rnn_forward"):
        cell_source(notebook, "rnn_forward")
