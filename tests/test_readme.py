"""The README: the report that it opens with is what the checks say, its pictures are there, and it is short."""

import re
import struct
from pathlib import Path

import numpy as np
import pytest

from grader import check

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PICTURES = sorted((ROOT / "docs" / "pictures").glob("*.png"))


def block(language):
    return re.search(rf"^```{language}\n(.*?)^```$", README, re.M | re.S)[1]


def on_one_line(text):
    return " ".join(text.split())


def test_the_report_is_that_of_the_function_above_it():
    """It is shortened where it has an ellipsis, and otherwise word for word."""
    names = {"np": np}
    exec(block("python"), names)
    said = on_one_line(str(check("rnn_step", names["rnn_step"])))
    at = 0
    for part in block("text").split("…"):
        found = said.find(on_one_line(part), at)
        assert found >= 0, part
        at = found + len(on_one_line(part))


def test_it_is_short():
    assert len(README.split()) <= 900


def test_its_pictures_are_there_by_day_and_by_night():
    named = re.findall(r'(?:src|srcset)="(docs/pictures/[^"]*)"', README)
    assert sorted(named) == [picture.relative_to(ROOT).as_posix() for picture in PICTURES]
    for picture in re.findall(r"<picture>(.*?)</picture>", README, re.S):
        dark, light = re.findall(r'(?:src|srcset)="([^"]*)"', picture)
        assert light == dark.replace("-dark", "-light")
        assert re.search(r'alt="[^"]{40,}"', picture)


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.name)
def test_a_picture_is_small(picture):
    data = picture.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", data[16:24])[0] <= 1200
    assert len(data) < 120_000
