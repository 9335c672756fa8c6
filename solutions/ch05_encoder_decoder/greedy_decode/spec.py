"""How `greedy_decode` is checked: against a loop that reads all ids again at every step."""

from pathlib import Path

import numpy as np
import torch

from grader.checking.fixtures import builders
from grader.spec.spec import Case, Facet, Fixture, Output, Spec, change, instead, on_grid

DECODERS = builders((Path(__file__).parents[1] / "fixtures.py").read_text("utf-8"))


def oracle(step, state, sos_id, eos_id, max_length):
    """Every step starts from the initial state and reads everything that has been written so far."""
    written = []
    while len(written) < max_length and eos_id not in written:
        current = state
        for id_ in [sos_id, *written]:
            logits, current = step(np.array([id_]), current)
        written.append(int(torch.from_numpy(logits)[0].argmax()))
    return [id_ for id_ in written if id_ != eos_id]


EOS, NEVER, LAST = "ordinary", "⟨eos⟩ never chosen", "no step to spare"


def example_decoder():
    """The decoder of the task, whose state is a node: 0 before ⟨sos⟩, 1 after it, then one for each beginning."""
    after = {(): (0.01, 0.01, 0.03, 0.55, 0.40), (3,): (0.01, 0.01, 0.29, 0.34, 0.35)}
    after |= {(4,): (0.01, 0.01, 0.60, 0.20, 0.18), (3, 4): (0.01, 0.01, 0.90, 0.05, 0.03)}
    other = (0.01, 0.01, 0.50, 0.30, 0.18)
    rows, numbers = [other, *after.values(), other], {ids: n for n, ids in enumerate(after, 1)}
    children = np.full((len(rows), 5), len(rows) - 1)
    children[0] = 1
    for ids, node in numbers.items():
        for last in range(5):
            children[node, last] = numbers.get((*ids, last), len(rows) - 1)
    return Fixture("table_decoder", {"logits": on_grid(np.log(rows)), "children": children})


EXAMPLE = Case(
    sizes={"T": 5},
    inputs={"step": example_decoder(), "state": np.array([0]), "sos_id": 1, "eos_id": 2, "max_length": 5},
    kind=EOS,
)


def path_case(rng, path, V, sos_id, eos_id, T, kind):
    """A decoder whose most probable id is the next one of `path`, as long as it gets the right ids and states. Any
    other id leads astray, where the sentence ends at once if the path does not end, and never if it does. If the kind
    is LAST, no step can follow the path.
    """
    stray = 4  # nodes beside the path
    N = len(path) + 1 + stray
    logits = rng.normal(size=(N, V))
    others = [id_ for id_ in range(V) if id_ != eos_id] if path[-1] == eos_id else [eos_id]
    favourites = [*rng.choice(others, size=1), *path, *rng.choice(others, size=stray)]  # node 0 is the initial state
    logits[np.arange(N), favourites] = logits.max(axis=1) + rng.uniform(0.2, 1.0, size=N)
    children = rng.integers(len(path) + 1, N, size=(N, V))
    for node, id_ in enumerate([sos_id, *path[:-1]]):
        children[node, id_] = node + 1
    if kind == LAST:
        children[len(path)] = -1
    inputs = {
        "step": Fixture("table_decoder", {"logits": logits, "children": children}),
        "state": np.array([0]),
        "sos_id": sos_id,
        "eos_id": eos_id,
        "max_length": T,
    }
    return Case(sizes={"T": T}, inputs=inputs, kind=kind)


def path_of(rng, V, sos_id, eos_id, length, ends):
    """Ids of which one is sos_id, neither the first nor the last word, if there are at least three words. `eos_id`
    occurs only at their end, if they end.
    """
    words = [id_ for id_ in range(V) if id_ not in (sos_id, eos_id)]
    words = rng.permutation(words).tolist()
    ids = [words[k % len(words)] for k in range(length - ends)]
    if len(ids) > 2:
        ids[int(rng.integers(1, len(ids) - 1))] = sos_id
    return ids + [eos_id] * ends


def table_case(rng, V, T, length, kind):
    sos_id, eos_id = (int(id_) for id_ in rng.choice(V, size=2, replace=False))
    path = path_of(rng, V, sos_id, eos_id, length, kind == EOS)
    return path_case(rng, path, V, sos_id, eos_id, T, kind)


def every_id_case(rng, T, kind):
    """All ids but ⟨eos⟩ are chosen, one of them again at once and again at the end. ⟨sos⟩ and ⟨eos⟩ have unusual
    numbers, and the first logits are negative.
    """
    sos_id, eos_id = int(rng.choice([2, 4])), int(rng.choice([1, 3]))
    a, b, c = rng.permutation([id_ for id_ in range(5) if id_ not in (sos_id, eos_id)]).tolist()
    path = [a, a, sos_id, b, c, a, eos_id if kind == EOS else b]
    case = path_case(rng, path, 5, sos_id, eos_id, T, kind)
    case.inputs["step"].params["logits"][1] -= 4
    return case


def gru_case(rng, V, D, H, L, T, kind):
    """A GRU that writes at least three different ids, if one is found in a hundred draws. ⟨eos⟩ is chosen afterwards,
    as an id that it writes after the second step, or as one that it would write after some more than T + 1 steps.
    """
    for _ in range(100):
        layers = [
            {
                "W_x": 2 * rng.normal(size=(H if number else D, 3 * H)),
                "W_h": 2 * rng.normal(size=(H, 3 * H)) / np.sqrt(H),
                "b_x": rng.normal(size=3 * H),
                "b_h": rng.normal(size=3 * H),
            }
            for number in range(L)
        ]
        params = {"E": rng.normal(size=(V, D)), "layers": layers}
        params |= {"W_p": 3 * rng.normal(size=(H, V)), "b_p": rng.normal(size=V)}
        state, sos_id = rng.uniform(-0.9, 0.9, size=(L, 1, H)), int(rng.integers(V))
        step = DECODERS["gru_decoder"](**params)
        ids = oracle(step, state, sos_id, -1, T)
        more = oracle(step, state, sos_id, -1, 4 * T)[T:] if kind == NEVER else []
        late = [id_ for k, id_ in enumerate(ids) if k > 1 and id_ not in ids[:k] and id_ != sos_id]
        unused = sorted(set(range(V)) - {*ids, sos_id})
        ends_later = [id_ for k, id_ in enumerate(more) if id_ in unused and k > 1 and id_ not in more[:k]]
        if len(set(ids)) >= 3 and (late and unused if kind == EOS else ends_later):
            break
    eos_id = ([*late, *unused] if kind == EOS else [*ends_later, *unused, sos_id])[0]
    inputs = {"step": Fixture("gru_decoder", params), "state": state, "sos_id": sos_id, "eos_id": eos_id}
    return Case(sizes={"T": T}, inputs={**inputs, "max_length": T}, kind=kind)


def cases(rng):
    yield every_id_case(rng, T=9, kind=EOS)
    yield every_id_case(rng, T=6, kind=NEVER)
    yield table_case(rng, V=4, T=3, length=1, kind=EOS)
    yield table_case(rng, V=4, T=1, length=1, kind=EOS)
    yield table_case(rng, V=5, T=1, length=2, kind=NEVER)
    yield table_case(rng, V=4, T=4, length=4, kind=EOS)
    yield gru_case(rng, V=8, D=3, H=4, L=2, T=6, kind=EOS)
    yield gru_case(rng, V=7, D=2, H=5, L=1, T=5, kind=NEVER)
    yield table_case(rng, V=5, T=4, length=4, kind=LAST)


SPEC = Spec(
    outputs=[Output("ids")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("ends at ⟨eos⟩", share=4, kinds=(EOS,)),
        Facet("ends at max_length", share=3, kinds=(NEVER,)),
        Facet("number of calls", share=1, kinds=(LAST, NEVER)),
    ],
)
TEST = "if y_prev == eos_id:\n    break"
CALL = "logits, state = step(np.array([y_prev]), state)"
BOTH = ["ends at max_length", "number of calls"]

SPEC.mistakes(
    {
        "eos_kept": change(TEST + "\nids.append(y_prev)", "ids.append(y_prev)\n" + TEST),
        "padded": [
            change("return ids", "return ids + [eos_id] * (max_length - len(ids))"),
            change("return ids", "return ids + [0] * (max_length - len(ids))"),
            change("return ids", "return ids + [sos_id] * (max_length - len(ids))"),
        ],
        "first_id_not_tested": [
            change(
                TEST, TEST.replace("==", "== eos_id and ids and y_prev ==").replace("ids and y_prev == eos_id:", "ids:")
            ),
            change(
                TEST + "\nids.append(y_prev)",
                "ids.append(y_prev)\nif y_prev == eos_id:\n    ids = ids[:1] if len(ids) == 1 else ids[:-1]\n    break",
            ),
        ],
        "eos_ignored": change(TEST, ""),
        "continues_after_eos": [
            change("    break", "    continue"),
            change(TEST, "if y_prev == eos_id:\n    y_prev = ids[-1] if ids else sos_id\n    continue"),
        ],
    },
    keeps=BOTH,
)
SPEC.mistakes(
    {
        "eos_always_at_the_end": change("return ids", "return ids + [eos_id]"),
        "sos_kept": [
            change("[], sos_id", "[sos_id], sos_id"),
            change("[], sos_id", "[sos_id], sos_id", ("range(max_length)", "range(max_length - 1)")),
        ],
        "sos_and_eos_kept": [
            change(
                "[], sos_id",
                "[sos_id], sos_id",
                (
                    TEST,
                    "",
                ),
                ("ids.append(y_prev)", "ids.append(y_prev)\n" + TEST),
            ),
            change("return ids", "return [sos_id] + ids + [eos_id]"),
        ],
        "last_id_cut": [change(TEST, "", ("return ids", "return ids[:-1]")), change("return ids", "return ids[:-1]")],
        "smallest_logit_chosen": change("np.argmax", "np.argmin"),
        "second_best_chosen": change("np.argmax(logits[0])", "np.argsort(logits[0])[-2]"),
        **instead(
            "np.argmax(logits[0])",
            {
                "largest_absolute_logit_chosen": "np.argmax(np.abs(logits[0]))",
                "argmax_over_the_batch": "np.argmax(logits, axis=0)[0]",
            },
        ),
        **instead(
            "np.array([y_prev])",
            {
                "id_not_fed_back": "np.array([sos_id])",
                "first_id_fed_back": "np.array([ids[0] if ids else sos_id])",
                "previous_but_one_fed_back": "np.array([ids[-2] if len(ids) > 1 else sos_id])",
            },
        ),
        "starts_with_another_id": [
            change("[], sos_id", "[], eos_id"),
            change("[], sos_id", "[], 0"),
            change("[], sos_id", "[], 1"),
        ],
        "state_not_passed_on": change("logits, state =", "logits, _ ="),
        "state_one_step_late": change(
            CALL,
            "logits, new = step(np.array([y_prev]), old)\nold, state = state, new",
            ("ids, y", "old = state\nids, y"),
        ),
        "step_called_twice": [change("for _", CALL + "\nfor _"), change(CALL, CALL + "\n" + CALL)],
        "chosen_sos_left_out": change("return ids", "return [k for k in ids if k != sos_id]"),
        "other_ids_left_out": [
            change("return ids", "return [k for k in ids if k > 2]"),
            change("return ids", "return [k for k in ids if k != 0]"),
            change("return ids", "return [k for k in ids if k not in (0, sos_id)]"),
        ],
        "some_ids_never_chosen": [
            change(
                "np.argmax(logits[0])", "np.argmax(np.where(np.arange(len(logits[0])) == sos_id, -np.inf, logits[0]))"
            ),
            change("np.argmax(logits[0])", "1 + np.argmax(logits[0, 1:])"),
            change("np.argmax(logits[0])", "np.argmax(logits[0, :-1])"),
        ],
        "repetitions_left_out": change("return ids", "return list(dict.fromkeys(ids))"),
        "stops_at_a_chosen_sos": change("y_prev == eos_id", "y_prev in (sos_id, eos_id)"),
        "stops_at_a_repetition": [
            change("y_prev == eos_id", "y_prev == eos_id or y_prev in ids"),
            change("y_prev == eos_id", "y_prev == eos_id or y_prev in ids[-1:]"),
        ],
        "stops_at_a_fixed_id": [
            change("y_prev == eos_id", "y_prev == 2"),
            change("y_prev == eos_id", "y_prev == 0"),
            change("y_prev == eos_id", "y_prev in (0, eos_id)"),
        ],
        "returns_after_the_first_step": change("ids.append(y_prev)", "ids.append(y_prev)\nbreak"),
        "each_id_in_an_array": change(
            "int(np.argmax(logits[0]))", "np.argmax(logits, axis=1)", ("np.array([y_prev])", "np.ravel(y_prev)")
        ),
    }
)
SPEC.mistakes(
    {
        "unfinished_left_out": change("return ids", "return ids if y_prev == eos_id else []"),
        "last_id_missing": change("range(max_length)", "range(max_length - 1)"),
        "max_length_ignored": change("range(max_length)", "range(100)"),
        "one_id_too_many": change("range(max_length)", "range(max_length + 1)"),
    },
    keeps=["ends at ⟨eos⟩"],
)
SPEC.mistakes(
    {
        "one_call_too_many": change(
            CALL, "", ("for _", CALL + "\nfor _"), ("ids.append(y_prev)", "ids.append(y_prev)\n" + CALL)
        ),
    },
    keeps=["ends at ⟨eos⟩", "ends at max_length"],
)


@SPEC.alternative
def with_a_while_loop(step, state, sos_id, eos_id, max_length):
    """The ids with ⟨sos⟩ and ⟨eos⟩, which are cut off in the end."""
    ids = [sos_id]
    while len(ids) <= max_length and (len(ids) == 1 or ids[-1] != eos_id):
        logits, state = step(y_prev=np.array(ids[-1:], dtype=np.int64), state=state)
        ids += logits.argmax(axis=1).tolist()
    return ids[1:-1] if ids[-1] == eos_id and len(ids) > 1 else ids[1:]


@SPEC.alternative
def by_recursion(step, state, sos_id, eos_id, max_length):
    """The first id, then the rest, starting from it."""
    if max_length == 0:
        return []
    logits, later = step(np.full(1, sos_id), state)
    first = max(range(logits.shape[1]), key=lambda k: logits[0, k])
    return [] if first == eos_id else [first, *by_recursion(step, later, first, eos_id, max_length - 1)]


@SPEC.alternative
def all_steps_then_cut(step, state, sos_id, eos_id, max_length):
    """All steps, then everything from the first ⟨eos⟩ on is cut off."""
    ids = np.zeros(max_length + 1, dtype=np.int64)
    ids[0] = sos_id
    for t in range(max_length):
        logits, state = step(ids[t : t + 1], state)
        ids[t + 1] = np.exp(logits).argmax()
    written = ids[1:].tolist()
    return written[: written.index(eos_id)] if eos_id in written else written
