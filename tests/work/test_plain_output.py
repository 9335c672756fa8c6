"""What the commands print where characters are missing or lines are narrow."""

import io
import os
import subprocess
import sys

import pytest

from grader import check
from grader.cli.plain import PLAIN, make_plain
from grader.render.html import prose
from grader.render.text import verdict_text


def written(encoding, text):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    make_plain(stream)
    stream.write(text)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def test_similar_characters_take_the_place_of_missing_ones():
    assert written("ascii", "✓ a ✗ b ◐ ○ › … 漢\ud800") == "+ a x b ~ o > ... ??"
    assert written("cp1252", "✓ … ›") == "+ … ›"  # it has the last two
    assert written("utf-8", "✓ ◐ ›") == "✓ ◐ ›"
    assert "".join(PLAIN.values()).isascii()


def test_a_command_without_utf_8(tmp_path):
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "UNROLLED_DIARY": str(tmp_path / "diary.jsonl")}
    output = subprocess.run(
        [sys.executable, "-m", "grader", "progress", "ch01_vanilla_rnn"],
        env=environment,
        capture_output=True,
        check=True,
    ).stdout.decode("ascii")
    assert "  + 0 done, ~ 0 started, o 8 open; 0 of 15 points" in output
    assert "  page: The vanilla RNN > " in output


@pytest.mark.usefixtures("diary")
def test_sentences_of_a_report_are_wrapped_and_code_is_not():
    report = check("embed", lambda ids, E: E[:, ids])
    wide, narrow = verdict_text(report.verdict).splitlines(), verdict_text(report.verdict, 60).splitlines()
    assert " ".join(" ".join(wide).split()) == " ".join(" ".join(narrow).split())
    start = next(at for at, line in enumerate(narrow) if line.startswith("  likely cause"))
    assert max(map(len, narrow[start:])) <= 60 < max(map(len, wide))
    assert narrow[:start] == wide[:start]
    assert narrow[start + 1].startswith(" " * 17)


def test_emphasis():
    assert prose("a *row*, not *all of them*; `a * b * c` <i>") == (
        "a <em>row</em>, not <em>all of them</em>; <code>a * b * c</code> &lt;i&gt;"
    )
    assert prose("2*3*4 and **kwargs, a * b * c, `*x*`") == "2*3*4 and **kwargs, a * b * c, <code>*x*</code>"
