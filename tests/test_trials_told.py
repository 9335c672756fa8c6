"""What the report on some of the trials says beyond the name of a mistake."""

import numpy as np

from tests.conftest import exercise
from tests.trials_judged import program


def test_where_the_step_is_wrong_it_is_to_be_fixed_first():
    logistic = program("jacobian_product", "the logistic's derivative")
    verdict = exercise("jacobian_product").verdict(logistic, wrong_needs=("step_jacobian",))
    assert verdict.diagnosis.id == "needs"


def test_an_order_of_the_gates_is_told_in_words():
    verdict = exercise("lstm_step").verdict(program("lstm_step", "in the order fgio"))
    assert "are read in the order f, g, i, o instead of i, f, g, o." in verdict.diagnosis.text


def test_an_initial_state_that_is_overwritten_is_named():
    def in_place(step, state, sos_id, eos_id, max_length):
        ids, y = [], sos_id
        while len(ids) < max_length:
            logits, new = step([y], state)
            state[:] = new
            if (y := int(logits[0].argmax())) == eos_id:
                break
            ids.append(y)
        return ids

    verdict = exercise("greedy_decode").verdict(in_place)
    assert any("changes `state`" in problem.text for case in verdict.cases for problem in case.problems)


def test_a_list_in_place_of_a_pair_is_told():
    verdict = exercise("beam_search").verdict(program("beam_search", "lists for pairs"))
    assert "beams[0]: a tuple of 2; got a list of 2" in verdict.cases[0].problems[0].text


def test_an_array_of_ids_is_told_how_to_become_a_list():
    right = exercise("greedy_decode").spec.oracle
    verdict = exercise("greedy_decode").verdict(lambda **inputs: np.array(right(**inputs), dtype=np.int64))
    assert "`list(…)` converts it" in verdict.cases[0].problems[0].text
