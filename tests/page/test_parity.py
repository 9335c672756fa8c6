"""`check` says the same in a page's Python as in this one, of every program that the course knows of."""

from __future__ import annotations

import json

import pytest

from tests.conftest import ROOT
from tests.page.conftest import COURSE, EXERCISES, Page
from tests.page.programs import reports

IN_EVERY_RUN = ("ch01_vanilla_rnn", "ch06_attention")
# Its mistakes depend on the order and the signs of eigenvectors, which LAPACK leaves open. A page, whose LAPACK is
# another one, rejects them with the same points, but some of them without their name.
OPEN_TO_LAPACK = ("linear_gradient",)


def _each() -> list[object]:
    slow = pytest.mark.slow
    return [
        pytest.param(name, marks=() if COURSE.place(name).chapter.id in IN_EVERY_RUN else slow) for name in EXERCISES
    ]


@pytest.mark.parametrize("name", _each())
def test_reports_are_the_same(name: str, authors_page: Page):
    here = reports(ROOT, name)
    there = json.loads(authors_page.ask(python=f"programs.in_page({name!r})"))
    assert there.keys() == here.keys()
    assert sum(title.startswith("way") for title in here) > 4
    for title, (result, text) in here.items():
        kind = title.partition(": ")[0]
        if name in OPEN_TO_LAPACK and kind != "right":
            assert there[title][0].split()[1] == result.split()[1], title
        elif kind in ("right", "way"):
            assert there[title] == [result, text], title
        else:
            assert there[title][0] == result, title
