"""The mutants, and what is told of them; those of the course's exercises are tried in `chNN/test_mutants.py`."""

import ast
import textwrap
from itertools import islice

from grader.spec.load import reference, reference_code
from tests.conftest import ROOT, exercise
from tests.mutants import bounded, mutants
from tests.mutants_tried import PLACES, wrong_about


def by_public_case(on_public, on_others):
    """Work that does one thing on the public cases and another on all others."""
    known = {case.inputs["W_xh"].tobytes() for case in exercise("rnn_step").checks(0).cases}
    return lambda **inputs: (on_public if inputs["W_xh"].tobytes() in known else on_others)(**inputs)


def test_a_hole_in_the_cases_and_a_false_name_are_told():
    right, spec = reference(ROOT, PLACES["rnn_step"]), exercise("rnn_step").spec
    (no_bias,) = spec.named_mistakes["no_bias"].functions
    (no_tanh,) = spec.named_mistakes["no_tanh"].functions
    assert list(wrong_about(exercise("rnn_step"), right)) == []
    assert list(wrong_about(exercise("rnn_step"), no_bias)) == []
    (told,) = wrong_about(exercise("rnn_step"), by_public_case(right, no_bias))
    assert told == "passes with seed 0 and fails with seed 1: the cases have a hole"
    assert list(wrong_about(exercise("rnn_step"), by_public_case(no_bias, no_tanh))) == [
        "is named no_bias with seed 0, which is not true with seed 1",
        "is named no_tanh with seed 1, which is not true with seed 0",
    ]


def test_mutants_are_the_same_each_time_and_none_is_the_original():
    code = reference_code(ROOT, PLACES["rnn_backward"])
    first, second = (list(islice(mutants(code), 100)) for _ in range(2))
    assert first == second
    assert len({changed for _, changed in first}) == 100
    assert ast.unparse(ast.parse(code)) not in {changed for _, changed in first}


WITH_LOOPS = textwrap.dedent("""\
    def pieces(ids, size):
        found, i = [], 0
        while i < len(ids):
            found.append([])
            for each in ids[i : i + size]:
                found[-1].append(each)
            i += size
        return found
    """)


def ending(code: str) -> object:
    """What `pieces` returns, or how it ends: of every mutant there is one."""
    namespace: dict = {}
    exec(bounded(code), namespace)
    try:
        return namespace["pieces"](list(range(7)), 3)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


def test_every_mutant_of_a_loop_ends():
    endings = {what: ending(code) for what, code in mutants(WITH_LOOPS)}
    assert ending(WITH_LOOPS) == [[0, 1, 2], [3, 4, 5], [6]]
    for change in ("pass", "i = size"):
        assert endings[f"line 7: i += size → {change}"] == "BaseException: a loop has no end"


def test_a_bounded_loop_may_be_begun_often_and_keeps_its_else():
    code = """
        total = 0
        for _ in range(300):
            for _ in range(100):
                total += 1
            else:
                total += 1
        """
    namespace: dict = {}
    exec(bounded(textwrap.dedent(code)), namespace)
    assert namespace["total"] == 300 * 101
