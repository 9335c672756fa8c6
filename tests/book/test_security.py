"""The table of surfaces in *Security model* counts what the tests try."""

import re
import sys

from tests.conftest import ROOT

sys.path.append(str(ROOT / "tests" / "attacks"))


def test_the_cases_are_as_many_as_the_page_says():
    from attack import ATTACKS
    from torch_attacks import UNEARNED

    from tests.hostile_answers import HOSTILE as ANSWERS
    from tests.hostile_zips import HOSTILE as UPLOADS
    from tests.test_sizes import FORGED, LARGE

    zips = sum(ending == ".zip" for ending, _ in UPLOADS.values())
    page = (ROOT / "book" / "security.md").read_text("utf-8")
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \|", page, re.MULTILINE)
    counted = [int(number) for _, number in rows]
    assert counted[:7] == [
        len(ATTACKS), 3 * len(UNEARNED), len(UPLOADS), zips, len(LARGE), len(FORGED), len(ANSWERS)
    ]  # fmt: skip
    assert f"{len(UNEARNED)} attacks on each of three" in page
    assert f"contains {len(ATTACKS)} hostile notebooks" in page
    assert sum(counted) >= 300
