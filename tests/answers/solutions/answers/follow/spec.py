"""How `follow` is checked: against a walk that keeps every state."""

from pathlib import Path

import numpy as np

from grader.checking.fixtures import builders
from grader.spec.spec import Case, Fixture, Output, Spec, change

OWN = builders(Path(__file__).parents[1].joinpath("fixtures.py").read_text("utf-8"))


def case(table, bonus, first, max_length):
    V = len(table)
    inputs = {
        "step": Fixture("table_step", {"table": table, "bonus": bonus}),
        "state": (np.array([1.0]), np.zeros(V)),
        "first": first,
        "end": 0,
        "max_length": max_length,
    }
    return Case({"V": V, "N": max_length}, inputs)


def drawn(rng, V, N, meets_end):
    """A walk that meets the end before it must stop, or does not, and is no single id again and again."""
    while True:
        given = case(rng.normal(size=(V, V)), 0.5, int(rng.integers(V)), N)
        step = OWN["table_step"](**given.inputs["step"].params)
        ids = oracle(**{**given.inputs, "step": step})
        if (len(ids) < N) == meets_end and (len(set(ids)) > 1 or 1 in (V, N)):
            return given


def cases(rng):
    yield drawn(rng, V=6, N=9, meets_end=True)
    yield drawn(rng, V=5, N=7, meets_end=False)
    yield drawn(rng, V=7, N=12, meets_end=True)
    yield drawn(rng, V=4, N=1, meets_end=False)
    yield drawn(rng, V=1, N=3, meets_end=True)


def oracle(step, state, first, end, max_length):
    ids, states = [first], [state]
    while len(ids) <= max_length:
        logits, new = step(np.array([ids[-1]]), states[-1])
        states.append(new)
        best = sorted(range(logits.shape[1]), key=lambda k: -logits[0, k])[0]
        if best == end:
            break
        ids.append(best)
    return ids[1:]


SPEC = Spec(
    outputs=[Output("ids")],
    example=case(np.array([[0.0, 1.0, 0.5], [2.0, 0.5, 1.0], [1.0, 0.25, 0.5]]), 0.5, 0, 4),
    cases=cases,
    oracle=oracle,
)

SPEC.mistakes(
    {
        "forgets_the_state": change("logits, state =", "logits, _ ="),
        "keeps_the_end": change(
            "if y_prev[0] == end:\n    break\nids.append(int(y_prev[0]))",
            "ids.append(int(y_prev[0]))\nif y_prev[0] == end:\n    break",
        ),
    }
)


@SPEC.alternative
def recursively(step, state, first, end, max_length):
    """One id, and the rest of the walk."""
    if max_length == 0:
        return []
    logits, state = step(state=state, y_prev=np.array([first]))
    best = int(np.argmax(logits))
    return [] if best == end else [best, *recursively(step, state, best, end, max_length - 1)]
