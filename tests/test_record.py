"""Recording: the same bytes each time, old outputs if they agree, and errors that say what is missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from grader.checking.case import DEFAULT_TOLERANCE, Observation, Tolerance
from grader.codec import Fixture, Raised, deflate, encode, inflate, inflated
from grader.manifest import load_manifest
from grader.messages import MessageError
from grader.released import Released, cases_tree
from grader.spec.compute import PUBLIC_SEED, draw_checks, make_checks, public_checks
from grader.spec.load import SpecError, load_spec, reference
from grader.spec.record import record, same, stray
from grader.spec.spec import on_grid

ROOT = Path(__file__).parents[1]
DEMO = Path(__file__).parent / "course"
OUTPUTS, CASES = "apply_twice.outputs.msgpack.zlib", "apply_twice.cases.msgpack.zlib"


@pytest.fixture
def course(tmp_path):
    return shutil.copytree(DEMO, tmp_path / "course", ignore=shutil.ignore_patterns("__pycache__"))


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_is_recorded(data):
    assert {path.name for path in record(DEMO, data)} == set(contents(data))
    assert set(contents(data)) == {
        "course.toml",
        *(
            f"{n}.{end}"
            for n in ("apply_twice", "keep_mask")
            for end in ("cases.msgpack.zlib", "outputs.msgpack.zlib", "md")
        ),
        "keep_mask_judge.py",
    }


def test_two_processes_record_the_same_as_one(data, tmp_path):
    record(DEMO, data)
    record(DEMO, tmp_path / "by two", workers=2)
    assert contents(tmp_path / "by two") == contents(data)


def test_recorded_twice_nothing_changes(data):
    record(DEMO, data)
    before = contents(data)
    assert record(DEMO, data) == []
    assert contents(data) == before


def altered(data, by):
    """Change a number of the recorded outputs, as another CPU would."""
    tree = inflate((data / OUTPUTS).read_bytes())
    results = tree["results"]
    results[tree["expected"][1]]["result"][0, 0] += by
    results[tree["mistakes"]["only_once"][0][1]]["result"][0, 0] -= by
    (data / OUTPUTS).write_bytes(deflate(tree))
    return contents(data)


def test_outputs_that_agree_keep_their_old_bytes(data):
    record(DEMO, data)
    before = altered(data, by=2e-11)
    assert record(DEMO, data) == []
    assert contents(data) == before


@pytest.mark.parametrize(("by", "kept"), [(1e-7, True), (1e-3, False)])
def test_fingerprints_keep_their_old_bytes_to_the_precision_of_float32(data, by, kept):
    record(DEMO, data)
    tree = inflate((data / OUTPUTS).read_bytes())
    assert tree["marks"].dtype == np.float32
    assert np.nansum(np.abs(tree["marks"])) > 0
    tree["marks"] = (tree["marks"] * (1 + by)).astype("f4")
    (data / OUTPUTS).write_bytes(deflate(tree))
    before = contents(data)
    changed = [path.name for path in record(DEMO, data)]
    assert (changed, contents(data) == before) == ([], True) if kept else ([OUTPUTS], False)


def test_outputs_that_differ_are_written_anew(data):
    record(DEMO, data)
    original = contents(data)
    altered(data, by=1e-6)
    assert [path.name for path in record(DEMO, data)] == [OUTPUTS]
    assert contents(data) == original


@pytest.mark.parametrize("spoilt", [b"", b"rubbish", encode({"expected": []})])
def test_outputs_that_cannot_be_read_are_written_anew(data, spoilt):
    record(DEMO, data)
    original = contents(data)
    (data / OUTPUTS).write_bytes(spoilt)
    record(DEMO, data)
    assert contents(data) == original


def test_a_stray_file_is_removed_and_the_package_stays(data):
    record(DEMO, data)
    (data / "gone.cases.msgpack.zlib").write_bytes(b"")
    (data / "apply_twice_judge.py").write_text("def judge(case, observation): return []\ndef largest(case): ...\n")
    (data / "__init__.py").write_text("")
    assert [path.name for path in stray(data, load_manifest(DEMO / "course.toml"))] == ["gone.cases.msgpack.zlib"]
    changed = record(DEMO, data)
    assert sorted(path.name for path in changed) == ["apply_twice_judge.py", "gone.cases.msgpack.zlib"]
    assert (data / "__init__.py").exists()
    assert not any(path.exists() for path in changed)


def test_a_changed_hint_is_recorded(course, data):
    record(course, data)
    path = course / "solutions/demo/apply_twice/hints.md"
    path.write_text(path.read_text().replace("can take again", "may take again"))
    assert [path.name for path in record(course, data)] == ["apply_twice.md"]


INPUTS = """
import sys
from pathlib import Path
from grader.codec import encode, deflate, inflate, inflated
from grader.manifest import load_manifest
from grader.spec.compute import draw_checks
from grader.spec.load import load_spec
from grader.released import cases_tree
for root in map(Path, sys.argv[1:]):
    for place in load_manifest(root / "course.toml").places.values():
        for seed in (0, 7):
            checks = draw_checks(root, place, load_spec(root, place), seed, seed == 0)
            print(place.exercise.id, seed, encode(cases_tree(checks)).hex())
"""


def test_the_inputs_are_the_same_bytes_in_every_process_and_in_the_data_that_is_shipped():
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", INPUTS, str(ROOT), str(DEMO)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
        )
        for seed in (1, 2)
    ]
    runs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert runs[0] == runs[1]
    lines = {tuple(line.split()[:2]): line.split()[2] for line in runs[0].splitlines()}
    for name in ("rnn_step", "rnn_forward"):
        assert (
            lines[name, "0"] == inflated((ROOT / "grader" / "data" / f"{name}.cases.msgpack.zlib").read_bytes()).hex()
        )
        assert lines[name, "0"] != lines[name, "7"]


def arrays(tree):
    """Every array in a tree, those that a fixture is built from among them."""
    if isinstance(tree, np.ndarray):
        return [tree]
    if isinstance(tree, Fixture):
        tree = tree.params
    items = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list | tuple) else []
    return [array for item in items for array in arrays(item)]


def test_no_two_exercises_and_no_two_seeds_share_their_numbers():
    places = load_manifest(ROOT / "course.toml").places
    made = [draw_checks(ROOT, p, load_spec(ROOT, p), seed, example=False) for p in places.values() for seed in (0, 1)]
    assert len({encode(cases_tree(checks)["cases"]) for checks in made}) == len(made)
    floats = [[a.flat[0] for a in arrays(dict(c.cases[0].inputs)) if a.dtype.kind == "f"] for c in made]
    firsts = [numbers[0] for numbers in floats if numbers]  # an input that is a random generator has no numbers
    assert len(set(firsts)) == len(firsts) > len(made) / 2


def test_the_example_comes_first_and_only_among_public_cases():
    place = load_manifest(ROOT / "course.toml").place("rnn_step")
    example = load_spec(ROOT, place).example
    assert encode(dict(public_checks(ROOT, place).cases[0].inputs)) == encode(dict(example.inputs))
    assert len(make_checks(ROOT, place, PUBLIC_SEED, example=False).cases) == len(public_checks(ROOT, place).cases) - 1


def test_of_a_mistakes_exception_only_the_type_is_kept():
    place = load_manifest(ROOT / "course.toml").place("rnn_step")
    (first, *_), *_ = public_checks(ROOT, place).mistakes["weights_from_the_left"]
    assert first.raised == Raised("ValueError", "")
    shipped = Released(ROOT / "grader" / "data").checks("rnn_step")
    assert all(
        o.raised in (None, Raised("ValueError", "")) for ways in shipped.mistakes.values() for way in ways for o in way
    )


def test_no_source_of_a_solution_or_a_mistake_is_in_what_is_recorded():
    shipped = b"".join(inflated(path.read_bytes()) for path in (ROOT / "grader" / "data").glob("*.msgpack.zlib"))
    assert b"W_hh" in shipped
    for piece in (b"@ W_hh", b"np.tanh", b"def ", b"return ", b"solutions"):
        assert piece not in shipped


# A spec that is not as it should be ----------------------------------------------------------------------------------


def edit(course, name, old, new):
    path = course / "solutions" / "demo" / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize(
    ("spoil", "error", "says"),
    [
        (lambda c: (c / "solutions/demo/apply_twice/spec.py").unlink(), SpecError, "apply_twice/spec.py: is missing"),
        (
            lambda c: (c / "solutions/demo/apply_twice/hints.md").unlink(),
            MessageError,
            "apply_twice/hints.md: is missing",
        ),
        (lambda c: (c / "solutions/demo/keep_mask/judge.py").unlink(), SpecError, "judge.py"),
        (lambda c: edit(c, "apply_twice/spec.py", "SPEC = Spec(", "OTHER = SPEC = Spec("), None, ""),
        (lambda c: edit(c, "keep_mask/spec.py", "SPEC = Spec(", "SPEC = dict("), SpecError, "keep_mask/spec.py"),
        (
            lambda c: edit(c, "apply_twice/spec.py", "import numpy as np", "import nunpy as np"),
            SpecError,
            "ModuleNotFound",
        ),
        (lambda c: edit(c, "apply_twice/spec.py", "    oracle=oracle,\n", ""), SpecError, "either an oracle or a file"),
        (lambda c: edit(c, "apply_twice/spec.py", "f(np.eye(n))", "f(np.eye(n + 1))"), SpecError, "its oracle raises"),
        (lambda c: edit(c, "apply_twice/hints.md", "## Hint 2", "## Tip 2"), MessageError, "hints.md: "),
        (
            lambda c: edit(c, "keep_mask/judge.py", '{"drops', '{"a": None, "drops'),
            SpecError,
            "the spec has no mistake 'a'",
        ),
        (
            lambda c: edit(c, "keep_mask/judge.py", '"drops_with_p": _dropped, ', ""),
            SpecError,
            "no entry 'drops_with_p'",
        ),
    ],
)
def test_a_bad_spec_stops_the_release_and_says_why(course, data, spoil, error, says):
    spoil(course)
    if error is None:
        assert record(course, data)
        return
    with pytest.raises(error, match=says):
        record(course, data)
    assert not data.exists()


KINDS = "Use arrays, numbers, strings, None, and lists, tuples and dicts of these."


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("{1, 2}", "`y` is a set of 2, which cannot be recorded; `sorted(…)` converts it to a list. "),
        (
            "[0, {'W': [b'']}]",
            "`y[1]['W'][0]` is a value of type bytes, which cannot be recorded; `.decode()` converts it to a ",
        ),
        (
            "(n for n in [1.0])",
            "`y` is a value of type generator, which cannot be recorded; `list(…)` converts it to a list",
        ),
        ("[np.ones((2, 3)).view(np.matrix)]", "`y[0]` is a NumPy matrix of shape (2, 3), which cannot be recorded; "),
        ("np.array(['a'])", "`y` is an array of text, shape (1,), which cannot be recorded. Use arrays"),
        (
            "[1j]",
            "`y[0]` is a value of type complex, which cannot be recorded; `np.complex128(…)` converts it to a number",
        ),
        ("object()", "`y` is a value of type object, which cannot be recorded. Use arrays, numbers, strings, None, "),
    ],
)
def test_what_cannot_be_compared_is_no_expected_value_and_no_input(course, data, value, says):
    edit(course, "apply_twice/spec.py", "    return (x @ weight + bias) @ weight + bias", f"    return {value}")
    with pytest.raises(SpecError) as caught:
        record(course, data)
    assert f"apply_twice: case 'B=1, N=2': its oracle's {says}" in str(caught.value)
    assert str(caught.value).endswith(KINDS)
    edit(course, "apply_twice/spec.py", '"x": x}', f'"x": x, "y": {value}}}')
    with pytest.raises(SpecError) as caught:
        record(course, data)
    assert f"apply_twice: case 'B=1, N=2': its input {says}" in str(caught.value)
    assert not data.exists()


def test_a_tensor_is_no_expected_value(course, data):
    pytest.importorskip("torch")
    edit(course, "apply_twice/spec.py", "import numpy as np", "import numpy as np\nimport torch")
    edit(
        course,
        "apply_twice/spec.py",
        "    return (x @ weight + bias) @ weight + bias",
        "    return {'a': torch.ones(2)}",
    )
    says = r"oracle's `y\['a'\]` is a torch tensor of shape \(2,\), .*; `.detach\(\).numpy\(\)` converts it to an array"
    with pytest.raises(SpecError, match=says):
        record(course, data)


def test_an_oracle_returns_as_many_results_as_there_are_outputs(course, data):
    edit(course, "apply_twice/spec.py", '[Output("y", ("B", "N"))]', '[Output("y"), Output("z")]')
    says = (
        "apply_twice: its oracle does not return its outputs on case 'B=1, N=2': 2 results, `return y, z`; got float64"
    )
    with pytest.raises(SpecError, match=says):
        record(course, data)


def test_a_missing_reference_says_where_it_should_be(course):
    place = load_manifest(course / "course.toml").place("apply_twice")
    assert reference(course, place)(lambda x: x + 1, 3) == 5
    (course / "solutions/demo/first.py").write_text("")
    with pytest.raises(SpecError, match=r"first.py: defines no apply_twice"):
        reference(course, place)


# When two trees are the same -----------------------------------------------------------------------------------------

TREE = {"a": [1, (2.0, None)], "b": np.array([1.0, 2.0]), "c": Observation().raised, "n": np.array([2**60, 5])}


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        ({}, True),
        ({"b": np.array([1.0, 2.0 + 1e-11])}, True),
        ({"b": np.array([1.0, 2.0 + 1e-8])}, False),
        ({"b": np.array([1.0])}, False),
        ({"b": np.array([[1.0, 2.0]])}, False),
        ({"b": np.array([1.0, 2.0], np.float32)}, False),
        ({"b": np.array([1.0, np.nan])}, False),
        ({"a": [1, (2.0 + 1e-12, None)]}, True),
        ({"a": [1, (2.1, None)]}, False),
        ({"a": [1, [2.0, None]]}, False),
        ({"a": [True, (2.0, None)]}, False),
        ({"a": [1, (2, None)]}, False),
        ({"a": [1]}, False),
        ({"c": Raised("E", "")}, False),
        ({"d": 1}, False),
        ({"n": np.array([2**60 + 1, 5])}, False),
    ],
)
def test_same_is_form_and_values(change, verdict):
    assert same(TREE, {**TREE, **change}, DEFAULT_TOLERANCE) is verdict
    assert same({**TREE, **change}, TREE, DEFAULT_TOLERANCE) is verdict


def test_same_knows_what_is_not_finite():
    tree = [np.nan, np.array([np.nan, np.inf]), -np.inf]
    assert same(tree, [np.nan, np.array([np.nan, np.inf]), -np.inf], DEFAULT_TOLERANCE)
    assert not same([np.inf], [-np.inf], DEFAULT_TOLERANCE)


def test_what_is_the_same_is_a_tenth_of_what_the_exercise_allows():
    wide = Tolerance(relative=0, absolute=1e-3)
    assert same([0.0, np.zeros(2)], [9e-5, np.full(2, -9e-5)], wide)
    assert not same([0.0], [2e-4], wide)
    assert not same([np.zeros(2)], [np.full(2, 2e-4)], wide)
    assert not same([1e-13], [1e-11], DEFAULT_TOLERANCE)  # small numbers are no less settled than large ones
    single = np.ones(2, np.float32)
    assert same(single, single * np.float32(1 + 9e-7), DEFAULT_TOLERANCE)
    assert not same(single, single * np.float32(1 + 5e-6), DEFAULT_TOLERANCE)


def test_on_the_grid_the_last_bits_are_gone_and_nothing_else():
    values = np.tanh(np.random.default_rng(0).normal(size=(50, 4)))
    settled = on_grid(values)
    assert np.array_equal(on_grid(np.nextafter(values, 2)), settled)
    assert np.array_equal(on_grid(settled), settled)
    assert np.abs(settled - values).max() < 1e-9
    assert not np.array_equal(settled.astype(np.float32), settled)
    assert on_grid([0.25, -3]).tolist() == [0.25, -3.0]
