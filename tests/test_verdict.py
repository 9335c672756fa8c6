"""The verdict: its truth, its first problem, and its JSON with the format's version."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from grader.checking.verdict import FORMAT_VERSION, CaseResult, Diagnosis, FacetResult, Grid, Problem, Verdict

GOLDEN = Path(__file__).parent / "verdict.json"

PROBLEMS = (
    Problem(
        "values",
        "1 of 6 entries, first at [0, 1]: got 1, expected 2",
        "h_t",
        grid=Grid("H", "B", ("010",)),
        beside=("      yours     expected", "[0]       1  ≠         2"),
    ),
    Problem("raised", "ValueError: «no» \N{SNOWMAN} </script>", lines=("line 2, in f: raise",)),
)

FAILED = Verdict(
    id="rnn_step",
    title="One step",
    status="failed",
    earned=0.5,
    points=2.0,
    page="The vanilla RNN › One step",
    cases=(
        CaseResult("B=1", "rnn_step(x (1, 2))", "h_t float64 (1, 2)"),
        CaseResult("B=2", "rnn_step(x (2, 2))", "h_t float64 (2, 2)", PROBLEMS),
    ),
    facets=(FacetResult("several", 0.0, 1.5), FacetResult("one", 0.5, 0.5)),
    diagnosis=Diagnosis("no_bias", "The bias `b_h` is missing from the sum."),
    note="a note",
    unwritten="rnn_step",
)


@pytest.mark.parametrize("status", ["passed", "failed", "error", "unimplemented", "timeout"])
def test_only_a_passed_verdict_is_true(status):
    assert bool(Verdict("f", "F", status, 0, 1, "p")) is (status == "passed")


def test_the_first_problem_is_that_of_the_first_case_that_has_one():
    assert FAILED.first_problem == (FAILED.cases[1], PROBLEMS[0])
    assert Verdict("f", "F", "passed", 1, 1, "p", FAILED.cases[:1]).first_problem is None


def test_json_is_as_recorded_with_this_version():
    """A change here is a change of the format: raise FORMAT_VERSION, tell CHANGELOG.md, and write the file anew."""
    recorded = json.loads(GOLDEN.read_text("utf-8"))
    assert recorded["format"] == FORMAT_VERSION
    assert json.loads(FAILED.to_json()) == recorded
    assert list(json.loads(FAILED.to_json())) == list(recorded)


def test_json_holds_all_that_the_verdict_holds():
    tree = json.loads(FAILED.to_json())
    assert tree.pop("format") == FORMAT_VERSION
    assert tree == json.loads(json.dumps(asdict(FAILED)))


def test_json_of_a_short_verdict():
    tree = json.loads(Verdict("f", "F", "unimplemented", 0.0, 1.5, "p").to_json())
    assert tree == {
        "format": FORMAT_VERSION,
        "id": "f",
        "title": "F",
        "status": "unimplemented",
        "earned": 0.0,
        "points": 1.5,
        "page": "p",
        "cases": [],
        "facets": [],
        "diagnosis": None,
        "note": "",
        "unwritten": "",
    }
