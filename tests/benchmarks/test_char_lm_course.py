"""The torch assignment that nbgrader is given in the benchmark: its asserts tell right from wrong, as ours do."""

import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from autograding.char_lm_course import CHAPTER, plain_notebook, write_course, write_helpers  # noqa: E402
from autograding.classes import make_class  # noqa: E402

from grader.manifest import load_manifest  # noqa: E402
from grader.spec.load import load_spec, reference  # noqa: E402
from tests.conftest import exercise  # noqa: E402

EXERCISES = ("temperature_probs", "top_k_probs", "CharLM")
UNSEEN = {"gradient_cut_within_the_text"}  # these asserts look for gradients that are missing, not for wrong ones


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write_course(tmp_path_factory.mktemp("char_lm") / "course")


@pytest.fixture(scope="module")
def plain_test(root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("plain")
    write_helpers(root, folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return runpy.run_path("plain_tests.py")["test"]


def test_the_course_is_this_notebook_alone(root):
    (chapter,) = load_manifest(root / "course.toml").chapters
    assert tuple(exercise.id for exercise in chapter.exercises) == EXERCISES
    assert [path.name for path in sorted((root / "exercises" / CHAPTER).iterdir())] == ["char_lm.ipynb"]


def test_a_class_can_be_made_of_it(root, tmp_path):
    make_class(tmp_path / "class", 1, root, CHAPTER)
    assert len([*tmp_path.glob(f"class/submitted/*/{CHAPTER}/char_lm.ipynb")]) == 1


@pytest.mark.filterwarnings("ignore:dropout option adds dropout")
@pytest.mark.parametrize("name", EXERCISES)
def test_right_and_wrong(plain_test, name):
    place = load_manifest(ROOT / "course.toml").place(name)
    spec = load_spec(ROOT, place)
    for right in (reference(ROOT, place), *spec.alternatives.values()):
        plain_test(name, right)
    fooled = {entry.id for entry in spec.named_mistakes.values() if passes(plain_test, name, entry)}
    verdicts = [exercise(name).verdict(spec.named_mistakes[each].functions[0]) for each in fooled - UNSEEN]
    kinds = {problem.kind for verdict in verdicts for case in verdict.cases for problem in case.problems}
    assert kinds <= {"type", "dtype", "changed"}  # asserts on numbers see no wrong type


def passes(plain_test, name, entry):
    try:
        plain_test(name, entry.functions[0])
    except Exception:  # as a cell of a notebook it fails by any
        return False
    return True


def test_a_notebook_keeps_all_but_our_checks_and_what_takes_long(root):
    content = plain_notebook(root / "exercises" / CHAPTER / "char_lm.ipynb").decode()
    assert 'test(\\"CharLM\\", CharLM)' in content
    assert "check(" not in content
    assert '"long"' not in content
