"""What is written of the figures: the summary, and the parts of the book's page, are those of the recorded ones, and
say nothing that other figures would make false.
"""

import copy
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

import autograde  # noqa: E402
from autograding.book import PAGE, RESULTS, recorded, with_figures  # noqa: E402
from autograding.report import summary  # noqa: E402

from grader.manifest import load_manifest  # noqa: E402


@pytest.fixture(scope="module")
def found():
    return recorded()


def test_each_part_is_recorded(found):
    assert autograde.PARTS.keys() <= found[0].keys()


def test_the_figures_are_of_whole_classes(found):
    sizes = autograde.Sizes()
    assert {each["submissions"] for each in (*found[0]["ours"], *found[0]["dask"])} == {sizes.ours}
    assert found[0]["nbgrader"]["submissions"] >= sizes.nbgrader
    assert [each["submissions"] for each in found[0]["growth"]][:2] == list(sizes.growth)
    assert found[1]["submissions"] >= 100


def test_the_summary_is_that_of_the_figures(found):
    assert (RESULTS / "autograde.md").read_text("utf-8") == summary(found[0])


def test_the_page_is_that_of_the_figures(found):
    page = PAGE.read_text("utf-8")
    assert with_figures(page, *found) == page


def test_the_figures_are_of_the_chapter_as_it_is(found):
    chapter = load_manifest(ROOT / "course.toml").chapter(autograde.CHAPTER)
    assert found[0]["chapter"] == {"exercises": len(chapter.exercises), "notebooks": len(chapter.notebooks)}


def test_the_page_has_no_measured_number_elsewhere(found):
    other = re.sub(r"(?ms)^% measured: .*?^% end$|^```.*?^```$", "", PAGE.read_text("utf-8"))
    assert re.findall(r"\d+(?:\.\d+)? (?:s|ms|MB|GB|submissions|students)\b", other) == []


def test_dask_is_called_slower_only_where_it_was(found):
    grading, gradebook = copy.deepcopy(found)
    local, cluster = grading["ours"][-1], grading["dask"][-1]
    for wall, cpu, slower in ((2, 2, True), (2, 0.5, False), (0.5, 2, False), (0.5, 0.5, False)):
        cluster |= {"wall_s": wall * local["wall_s"], "cpu_s": cpu * local["cpu_s"]}
        page = with_figures(PAGE.read_text("utf-8"), grading, gradebook)
        assert ("Dask only adds time" in page) == slower


def test_a_target_that_is_not_met_is_named(found):
    grading = copy.deepcopy(found[0])
    theirs = grading["nbgrader"]["warm_per_second"]
    for ratio, named in ((autograde.TARGET_RATIO * 1.1, False), (autograde.TARGET_RATIO * 0.9, True)):
        grading["ours"][-1]["warm_per_second"] = ratio * theirs
        assert any("nbgrader's throughput" in each for each in autograde.missed(grading)) == named
    grading["memory"]["pss_mb"] = autograde.TARGET_MB
    assert any("MB" in each for each in autograde.missed(grading))
