"""How `greedy_decode` is checked: against a loop that reads all ids again at every step."""

from pathlib import Path

import numpy as np
import torch

from grader.author.spec import Case, Facet, Fixture, Output, Spec, change, on_grid
from grader.checking.fixtures import builders

DECODERS = builders(Path(__file__).with_name("ch05_encoder_decoder_fixtures.py").read_text("utf-8"))


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
    """A GRU that writes at least three different ids, if one is found in fifty draws. ⟨eos⟩ is chosen afterwards, as
    an id that it writes after the second step, or as one that it never writes.
    """
    for _ in range(50):
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
        ids = oracle(DECODERS["gru_decoder"](**params), state, sos_id, -1, T)
        late = [id_ for k, id_ in enumerate(ids) if k > 1 and id_ not in ids[:k] and id_ != sos_id]
        unused = sorted(set(range(V)) - {*ids, sos_id})
        if len(set(ids)) >= 3 and late and unused:
            break
    eos_id = ([*late, *unused] if kind == EOS else [*unused, sos_id])[0]
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
    why="""
Two things pass from one step to the next: the chosen id, which `step` reads next, and the state that `step` returns.
The largest logit belongs to the most probable id, because the softmax keeps the order, so no softmax is needed.
The test for `eos_id` comes between choosing an id and storing it, so ⟨eos⟩ ends the loop and is never in the result.
`range(max_length)` limits the calls, and if the loop ends without ⟨eos⟩, `ids` contains all that was chosen.
""",
)

TEST = "if y_prev == eos_id:\n    break"
CALL = "logits, state = step(np.array([y_prev]), state)"
BOTH = ["ends at max_length", "number of calls"]
SPEC.mistake(
    "eos_kept",
    "Your result contains the final ⟨eos⟩. Test whether the chosen id is `eos_id` *before* you store it: ⟨eos⟩ says "
    "that the sentence is over and is not a part of it.",
    change(TEST + "\nids.append(y_prev)", "ids.append(y_prev)\n" + TEST),
    change(TEST, "", ("ids.append(y_prev)", "ids.append(y_prev)\nif ids[-1] == eos_id:\n    break")),
    change("return ids", "return ids + [eos_id] if len(ids) < max_length else ids"),
    tempts="Store first, then see whether it was the last.",
    keeps=BOTH,
)
SPEC.mistake(
    "eos_always_at_the_end",
    "You put ⟨eos⟩ at the end of your result, also where it was not chosen. Return the chosen ids without ⟨eos⟩, which "
    "says that the sentence is over and is not a part of it.",
    change("return ids", "return ids + [eos_id]"),
    tempts="A sentence in the training data always ends with ⟨eos⟩.",
)
SPEC.mistake(
    "padded",
    "You fill your result up to `max_length` ids. Return only the chosen ids: without a batch there is nothing to pad.",
    change("return ids", "return ids + [eos_id] * (max_length - len(ids))"),
    change("return ids", "return ids + [0] * (max_length - len(ids))"),
    change("return ids", "return ids + [sos_id] * (max_length - len(ids))"),
    tempts="In a batch, all rows need the same length.",
    keeps=BOTH,
)
SPEC.mistake(
    "sos_kept",
    "Your result begins with ⟨sos⟩. You feed it in, but the decoder has not chosen it: start with an empty list of "
    "ids.",
    change("[], sos_id", "[sos_id], sos_id"),
    change("[], sos_id", "[sos_id], sos_id", ("range(max_length)", "range(max_length - 1)")),
    change("ids.append(y_prev)", "", (CALL, f"ids.append(y_prev)\n{CALL}")),
    tempts="A list [sos_id] is a convenient start: its last entry is always the next y_prev.",
)
SPEC.mistake(
    "sos_and_eos_kept",
    "Your result contains ⟨sos⟩ and ⟨eos⟩. You feed the one in, and the other says that the sentence is over: start "
    "with an empty list, and test for `eos_id` before you store an id.",
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
    tempts="The sentences of the training data have both.",
)
SPEC.mistake(
    "eos_ignored",
    "You do not stop at ⟨eos⟩, so your result contains it and what comes after it. End the loop as soon as `eos_id` is "
    "chosen: a decoder was never trained to continue after the end of a sentence.",
    change(TEST, ""),
    tempts="The loop over max_length steps is finished without it.",
    keeps=BOTH,
)
SPEC.mistake(
    "continues_after_eos",
    "You leave ⟨eos⟩ out but continue after it. End the loop as soon as `eos_id` is chosen: a decoder was never "
    "trained to continue after the end of a sentence.",
    change("    break", "    continue"),
    change(TEST, "if y_prev == eos_id:\n    y_prev = ids[-1] if ids else sos_id\n    continue"),
    change(TEST, "", ("return ids", "return [k for k in ids if k != eos_id]")),
    tempts="The special ids are filtered out at the end, as if they were padding.",
    keeps=BOTH,
)
SPEC.mistake(
    "last_id_cut",
    "You remove the last id of the result in every case. Remove it only where it is ⟨eos⟩: the last id of an "
    "unfinished sentence belongs to it. Better still, test for `eos_id` before you store an id.",
    change(TEST, "", ("return ids", "return ids[:-1]")),
    change("return ids", "return ids[:-1]"),
    tempts="In the worked example, the last chosen id is ⟨eos⟩.",
)
SPEC.mistake(
    "smallest_logit_chosen",
    "You choose the id with the smallest logit. Choose the one with the largest: the larger the logit, the more "
    "probable the id.",
    change("np.argmax", "np.argmin"),
    tempts="A loss is minimised, and `argsort` puts the smallest first.",
)
SPEC.mistake(
    "second_best_chosen",
    "You choose the id with the second largest logit. In an ascending order, as `argsort` gives it, the most probable "
    "id is the last one, at `[-1]`.",
    change("np.argmax(logits[0])", "np.argsort(logits[0])[-2]"),
    change("np.argmax(logits[0])", "np.argsort(-logits[0])[1]"),
    tempts="An index is easily off by one.",
)
SPEC.mistake(
    "largest_absolute_logit_chosen",
    "You choose the id whose logit is farthest from 0. Choose the largest logit without `abs`: a very negative one "
    "belongs to a very improbable id.",
    change("np.argmax(logits[0])", "np.argmax(np.abs(logits[0]))"),
    tempts="The size of a number is its absolute value.",
)
SPEC.mistake(
    "argmax_over_the_batch",
    "You take the `argmax` along the batch axis, which has one entry, so the result is always 0. The V logits are "
    "along the last axis: choose with `logits[0]` or with `axis=1`.",
    change("np.argmax(logits[0])", "np.argmax(logits, axis=0)[0]"),
    tempts="The first axis is the one that comes to mind.",
)
SPEC.mistake(
    "id_not_fed_back",
    "You feed in ⟨sos⟩ at every step. Feed in the id that the previous step chose: the decoder has to know what it has "
    "written so far.",
    change("np.array([y_prev])", "np.array([sos_id])"),
    tempts="The state changes from step to step, so the ids change even with a constant input.",
)
SPEC.mistake(
    "first_id_fed_back",
    "You feed in the first chosen id at every further step. Feed in the id that the previous step chose, the last one "
    "of your list.",
    change("np.array([y_prev])", "np.array([ids[0] if ids else sos_id])"),
    tempts="In a list that grows at its front, the newest entry is the first.",
)
SPEC.mistake(
    "previous_but_one_fed_back",
    "You feed in an id one step late. Feed in the id that the previous step chose, the last one of your list.",
    change("np.array([y_prev])", "np.array([ids[-2] if len(ids) > 1 else sos_id])"),
    tempts="A variable is updated before it is used, or after.",
)
SPEC.mistake(
    "starts_with_another_id",
    "Your first call of `step` does not get `sos_id`. Start with the `sos_id` that you are given: its number depends "
    "on the vocabulary.",
    change("[], sos_id", "[], eos_id"),
    change("[], sos_id", "[], 0"),
    change("[], sos_id", "[], 1"),
    tempts="In many vocabularies ⟨sos⟩ has the number 1, or 0.",
)
SPEC.mistake(
    "state_not_passed_on",
    "You call `step` with the initial state every time. Pass it the state that its previous call returned, because "
    "otherwise the decoder knows only the last id.",
    change("logits, state =", "logits, _ ="),
    tempts="The ids are what counts, so the second result seems superfluous.",
)
SPEC.mistake(
    "state_one_step_late",
    "You pass each call the state from before the previous call. Pass it the state that the previous call returned, "
    "because that one knows all ids so far.",
    change(
        CALL, "logits, new = step(np.array([y_prev]), old)\nold, state = state, new", ("ids, y", "old = state\nids, y")
    ),
    tempts="With two variables for the state, they are easily assigned in the wrong order.",
)
SPEC.mistake(
    "step_called_twice",
    "You let the state take part in calls of `step` that choose no id. Call `step` exactly once for each chosen id: "
    "every call moves the state on by one id.",
    change("for _", CALL + "\nfor _"),
    change(CALL, CALL + "\n" + CALL),
    tempts="A first call before the loop starts the decoder, so it seems.",
)
SPEC.mistake(
    "unfinished_left_out",
    "Where ⟨eos⟩ is never chosen, you return an empty list. Return the ids that were chosen in the `max_length` steps, "
    "because an unfinished sentence is still the best answer that there is.",
    change("return ids", "return ids if y_prev == eos_id else []"),
    tempts="A sentence without an end looks like a failure.",
    keeps=["ends at ⟨eos⟩"],
)
SPEC.mistake(
    "chosen_sos_left_out",
    "You remove `sos_id` from the result where the decoder has chosen it. Treat it as an ordinary id: only the ⟨sos⟩ "
    "that you feed in at the start is no part of the result.",
    change("return ids", "return [k for k in ids if k != sos_id]"),
    change(TEST, TEST + "\nif y_prev == sos_id:\n    continue"),
    tempts="Special ids are no words, so all of them are filtered out.",
)
SPEC.mistake(
    "other_ids_left_out",
    "You remove ids that the decoder has chosen, such as id 0. Whatever its number is, every id except `eos_id` is an "
    "ordinary one.",
    change("return ids", "return [k for k in ids if k > 2]"),
    change("return ids", "return [k for k in ids if k != 0]"),
    change("return ids", "return [k for k in ids if k not in (0, sos_id)]"),
    tempts="In the example, 0, 1 and 2 are ⟨pad⟩, ⟨sos⟩ and ⟨eos⟩, which are no words.",
)
SPEC.mistake(
    "some_ids_never_chosen",
    "You exclude ids from the choice, such as `sos_id` or 0. Choose among all V ids: how improbable an id is, the "
    "decoder says.",
    change("np.argmax(logits[0])", "np.argmax(np.where(np.arange(len(logits[0])) == sos_id, -np.inf, logits[0]))"),
    change("np.argmax(logits[0])", "1 + np.argmax(logits[0, 1:])"),
    change("np.argmax(logits[0])", "np.argmax(logits[0, :-1])"),
    tempts="⟨pad⟩ and ⟨sos⟩ are no words.",
)
SPEC.mistake(
    "repetitions_left_out",
    "You store an id only once. A sentence may contain a word several times, so store every chosen id.",
    change("return ids", "return list(dict.fromkeys(ids))"),
    change("ids.append(y_prev)", "if y_prev not in ids:\n    ids.append(y_prev)"),
    tempts="Repetitions are a known weakness of greedy decoding.",
)
SPEC.mistake(
    "stops_at_a_chosen_sos",
    "You stop where the decoder chooses `sos_id`. Treat it as an ordinary id: only `eos_id` ends a sentence.",
    change("y_prev == eos_id", "y_prev in (sos_id, eos_id)"),
    tempts="A new beginning looks like the end of the sentence.",
)
SPEC.mistake(
    "stops_at_a_repetition",
    "You stop where an id is chosen again. Only `eos_id` ends a sentence: a word may occur several times.",
    change("y_prev == eos_id", "y_prev == eos_id or y_prev in ids"),
    change("y_prev == eos_id", "y_prev == eos_id or y_prev in ids[-1:]"),
    tempts="Repetitions are a known weakness of greedy decoding.",
)
SPEC.mistake(
    "stops_at_a_fixed_id",
    "You stop at an id with a fixed number. Stop at the `eos_id` that you are given: its number depends on the "
    "vocabulary.",
    change("y_prev == eos_id", "y_prev == 2"),
    change("y_prev == eos_id", "y_prev == 0"),
    change("y_prev == eos_id", "y_prev in (0, eos_id)"),
    tempts="In the example, ⟨eos⟩ has the number 2, and 0 is ⟨pad⟩.",
)
SPEC.mistake(
    "returns_after_the_first_step",
    "You return after the first step. Look at the indentation: the result is returned after the loop, not in it.",
    change("ids.append(y_prev)", "ids.append(y_prev)\nbreak"),
    tempts="A `return` that is indented too far ends the loop in its first pass.",
)
SPEC.mistake(
    "last_id_missing",
    "Where ⟨eos⟩ is never chosen, your result lacks the last id. `max_length` steps choose `max_length` ids, and each "
    "of them is stored in the step that chooses it.",
    change("range(max_length)", "range(max_length - 1)"),
    change("ids.append(y_prev)", "", (CALL, f"ids.append(y_prev)\n{CALL}"), ("return ids", "return ids[1:]")),
    tempts="The first of max_length ids seems to be ⟨sos⟩; or each step stores the id that it reads, and no step reads "
    "the last one.",
    keeps=["ends at ⟨eos⟩"],
)
SPEC.mistake(
    "one_id_too_many",
    "You call `step` more than `max_length` times, and your result has one id too many where ⟨eos⟩ is never chosen. "
    "The limit counts the steps, the one that reads ⟨sos⟩ included.",
    change("range(max_length)", "range(max_length + 1)"),
    tempts="⟨sos⟩ seems to be an id of its own, for which one more step is needed.",
    keeps=["ends at ⟨eos⟩"],
)
SPEC.mistake(
    "one_call_too_many",
    "Your ids are right, but you call `step` once more than `max_length` allows: after the last id has been chosen, "
    "its logits are computed and never used. Call `step` at the beginning of the loop's body.",
    change(CALL, "", ("for _", CALL + "\nfor _"), ("ids.append(y_prev)", "ids.append(y_prev)\n" + CALL)),
    tempts="The first call stands before the loop, so every pass of the loop ends with the call for the next one.",
    keeps=["ends at ⟨eos⟩", "ends at max_length"],
)
SPEC.mistake(
    "each_id_in_an_array",
    "Your list contains arrays of shape (1,). Take the only row of the logits, `logits[0]`, before you choose, or "
    "convert the result of `argmax` with `int`.",
    change("int(np.argmax(logits[0]))", "np.argmax(logits, axis=1)", ("np.array([y_prev])", "np.ravel(y_prev)")),
    tempts="`argmax(axis=1)` keeps the batch axis, and its result can be passed to `step` as it is.",
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
