"""Programs that the spec of `greedy_decode` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


def greedy(
    first=lambda sos, eos: sos,
    choose=np.argmax,
    ends=lambda k, ids, sos, eos: k == eos,
    steps=lambda n: n,
    feed=lambda k, ids: k,
    finish=lambda ids, sos, eos: ids,
):
    """A student's program with one part replaced."""

    def student(step, state, sos_id, eos_id, max_length):
        ids, y, count = [], first(sos_id, eos_id), 0
        while count < steps(max_length):
            count += 1
            logits, state = step(np.array([y], dtype=np.int64), state)
            k = int(choose(logits[0]))
            if ends(k, ids, sos_id, eos_id):
                break
            ids.append(k)
            y = feed(k, ids)
        return finish(ids, sos_id, eos_id)

    return student


def whole_prefix(step, state, sos_id, eos_id, max_length):
    """The state is updated, and all ids so far are read again on top of it."""
    ids = []
    while len(ids) < max_length:
        for y in [sos_id, *ids]:
            logits, state = step(np.array([y]), state)
        if (k := int(logits.argmax())) == eos_id:
            break
        ids.append(k)
    return ids


def second_step_twice(step, state, sos_id, eos_id, max_length):
    """One call only to find out how many ids there are."""
    V = step(np.array([sos_id]), state)[0].shape[1]
    ids, y = [], sos_id
    for _ in range(max_length):
        logits, state = step(np.array([y]), state)
        y = max(range(V), key=logits[0].tolist().__getitem__)
        if y == eos_id:
            return ids
        ids.append(y)
    return ids


def without_a_limit(step, state, sos_id, eos_id, max_length):
    ids, y = [], np.array([sos_id])
    while True:
        logits, state = step(y, state)
        y = logits.argmax(axis=1)
        if y[0] == eos_id:
            return ids
        ids.append(int(y[0]))


def first_before_the_loop(step, state, sos_id, eos_id, max_length):
    logits, state = step(np.array([sos_id]), state)
    ids = [int(logits.argmax())]
    while len(ids) < max_length:
        logits, state = step(np.array(ids[-1:]), state)
        k = int(logits.argmax())
        if k == eos_id:
            break
        ids.append(k)
    return ids


WRONG = {
    "without a limit": (without_a_limit, "max_length_ignored"),
    "a limit of its own": (greedy(steps=lambda n: 50), "max_length_ignored"),
    "the first before the loop": (first_before_the_loop, "first_id_not_tested"),
    "one too many": (greedy(steps=lambda n: n + 1), "one_id_too_many"),
    "first id cut off": (greedy(finish=lambda ids, sos, eos: ids[1:]), "after: [1:]"),
    "previous but one fed back": (greedy(feed=lambda k, ids: ids[-2] if len(ids) > 1 else k), None),
    "sorted": (greedy(finish=lambda ids, sos, eos: sorted(ids)), None),
    "whole prefix on a new state": (whole_prefix, None),
}


RIGHT = {
    "NumPy integers": greedy(finish=lambda ids, sos, eos: [np.int64(k) for k in ids]),
    "a tuple": greedy(finish=lambda ids, sos, eos: tuple(ids)),
    "one more call at the start": second_step_twice,
}

TRIALS.all_wrong(WRONG)
TRIALS.all_right(RIGHT)
