"""The fast way to write a notebook gives the bytes of the slow one, which is nbformat's own."""

import nbformat
import pytest

from grader.author.notebooks import notebook_bytes
from grader.autograde.submission.notebook import as_file

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
    assert as_file(notebook) == notebook_bytes(notebook)
