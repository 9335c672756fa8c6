"""Work on the exercises of `decoding` that no spec names: what is nearly right must fail and get no wrong name, what is
right in another way must pass.
"""

import heapq
import math

import numpy as np
import pytest

from tests.conftest import exercise
from tests.loops import for_each
from tests.nearly_right import fails, passes

# greedy_decode --------------------------------------------------------------------------------------------------------


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


def old_state(step, state, sos_id, eos_id, max_length):
    """Each step gets the state of the step before the previous one."""
    ids, y, later = [], sos_id, state
    for _ in range(max_length):
        now, (logits, later) = later, step(np.array([y]), state)
        state, y = now, int(logits.argmax())
        if y == eos_id:
            break
        ids.append(y)
    return ids


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


def in_place(step, state, sos_id, eos_id, max_length):
    """The initial state is overwritten."""
    ids, y = [], sos_id
    for _ in range(max_length):
        logits, state[...] = step(np.array([y]), state)
        y = int(logits.argmax())
        if y == eos_id:
            break
        ids.append(y)
    return ids


WRONG_GREEDY = {
    "starts with eos": (greedy(first=lambda sos, eos: eos), "starts_with_another_id"),
    "starts with 0": (greedy(first=lambda sos, eos: 0), "starts_with_another_id"),
    "least probable": (greedy(choose=np.argmin), "smallest_logit_chosen"),
    "one too many": (greedy(steps=lambda n: n + 1), "one_id_too_many"),
    "one too few": (greedy(steps=lambda n: n - 1), "last_id_missing"),
    "stops at sos": (greedy(ends=lambda k, ids, sos, eos: k in (sos, eos)), "stops_at_a_chosen_sos"),
    "stops at a repeated id": (greedy(ends=lambda k, ids, sos, eos: k == eos or k in ids), "stops_at_a_repetition"),
    "never stops": (greedy(ends=lambda *given: False), "eos_ignored"),
    "eos at the end": (greedy(finish=lambda ids, sos, eos: [*ids, eos]), "eos_always_at_the_end"),
    "sos in front": (greedy(finish=lambda ids, sos, eos: [sos, *ids]), "sos_kept"),
    "sos in front, eos behind": (greedy(finish=lambda ids, sos, eos: [sos, *ids, eos]), "sos_and_eos_kept"),
    "first id cut off": (greedy(finish=lambda ids, sos, eos: ids[1:]), "after: [1:]"),
    "last id cut off": (greedy(finish=lambda ids, sos, eos: ids[:-1]), "last_id_cut"),
    "first id fed back": (greedy(feed=lambda k, ids: ids[0]), "first_id_fed_back"),
    "previous but one fed back": (greedy(feed=lambda k, ids: ids[-2] if len(ids) > 1 else k), None),
    "without repetitions": (greedy(finish=lambda ids, sos, eos: list(dict.fromkeys(ids))), "repetitions_left_out"),
    "sorted": (greedy(finish=lambda ids, sos, eos: sorted(ids)), None),
    "special ids removed": (greedy(finish=lambda ids, sos, eos: [k for k in ids if k > 2]), "other_ids_left_out"),
    "state one step late": (old_state, "state_one_step_late"),
    "whole prefix on a new state": (whole_prefix, None),
}


@for_each("name", WRONG_GREEDY)
def test_nearly_right_greedy_decoding(name):
    fails("greedy_decode", *WRONG_GREEDY[name])


def test_an_initial_state_that_is_overwritten_is_named():
    verdict = exercise("greedy_decode").verdict(in_place)
    assert any("changes `state`" in problem.text for case in verdict.cases for problem in case.problems)


def test_an_array_of_ids_is_told_how_to_become_a_list():
    verdict = exercise("greedy_decode").verdict(greedy(finish=lambda ids, sos, eos: np.array(ids, dtype=np.int64)))
    assert "`list(…)` converts it" in verdict.cases[0].problems[0].text


RIGHT_GREEDY = {
    "as it is": greedy(),
    "softmax first": greedy(choose=lambda z: (np.exp(z - z.max()) / np.exp(z - z.max()).sum()).argmax()),
    "argsort": greedy(choose=lambda z: np.argsort(z)[-1]),
    "NumPy integers": greedy(finish=lambda ids, sos, eos: [np.int64(k) for k in ids]),
    "a tuple": greedy(finish=lambda ids, sos, eos: tuple(ids)),
    "one more call at the start": second_step_twice,
}


@pytest.mark.parametrize("name", RIGHT_GREEDY)
def test_right_greedy_decoding_in_another_style(name):
    passes("greedy_decode", RIGHT_GREEDY[name])


# beam_search ----------------------------------------------------------------------------------------------------------


def log_softmax(z):
    z = z - z.max()
    return z - math.log(np.exp(z).sum())


def beam(
    log_p=log_softmax,
    per_beam=lambda new, W: new,
    rank=lambda h: h["sum"],
    width=lambda W, step: W,
    steps=lambda T: T,
    over=lambda ids, eos: bool(ids) and ids[-1] == eos,
    stop=lambda beams, W: all(h["over"] for h in beams),
    score=lambda h, a: h["sum"] / len(h["ids"]) ** a,
    words=lambda ids, sos, eos: ids[:-1] if ids[-1] == eos else ids,
    finish=lambda results: results,
    merge=lambda candidates: candidates,
):
    """A student's program with one part replaced. Hypotheses are dictionaries."""

    def student(step, state, sos_id, eos_id, beam_width, max_length, length_penalty=0.0):
        beams = [{"ids": [], "sum": 0.0, "state": state, "over": False, "log_p": []}]
        for t in range(steps(max_length)):
            candidates = []
            for h in beams:
                if h["over"]:
                    candidates.append(h)
                    continue
                y = h["ids"][-1] if h["ids"] else sos_id
                logits, new_state = step(np.array([y]), h["state"])
                new = []
                for k, p in enumerate(log_p(logits[0])):
                    ids = [*h["ids"], k]
                    more = {"state": new_state, "over": over(ids, eos_id), "log_p": [*h["log_p"], p]}
                    new.append({"ids": ids, "sum": h["sum"] + p, **more})
                candidates += per_beam(new, beam_width)
            candidates = merge(candidates)
            candidates.sort(key=rank, reverse=True)
            beams = candidates[: width(beam_width, t)]
            if stop(beams, beam_width):
                break
        results = [(words(h["ids"], sos_id, eos_id), score(h, length_penalty)) for h in beams]
        results.sort(key=lambda pair: pair[1], reverse=True)
        return finish(results)

    return student


def best_of_beam(new, W):
    return sorted(new, key=lambda h: -h["sum"])[:W]


def merged_by_last_id(candidates):
    """Of the hypotheses with the same last id only the best stays."""
    best = {}
    for h in candidates:
        if h["ids"][-1] not in best or h["sum"] > best[h["ids"][-1]]["sum"]:
            best[h["ids"][-1]] = h
    return list(best.values())


def done_when_enough(step, state, sos_id, eos_id, beam_width, max_length, length_penalty=0.0):
    """Finished hypotheses are put aside, and the search ends when there are beam_width of them."""
    live, done = [([], 0.0, state)], []
    for _ in range(max_length):
        candidates = []
        for ids, total, s in live:
            logits, new = step(np.array([ids[-1] if ids else sos_id]), s)
            candidates += [([*ids, k], total + p, new) for k, p in enumerate(log_softmax(logits[0]))]
        candidates.sort(key=lambda c: -c[1])
        live = []
        for c in candidates:
            if len(live) == beam_width:
                break
            (done if c[0][-1] == eos_id else live).append(c)
        if len(done) >= beam_width:
            break
    results = [(ids, total / len(ids) ** length_penalty) for ids, total, _ in [*done, *live]]
    results.sort(key=lambda r: -r[1])
    return [([k for k in ids if k != eos_id], score) for ids, score in results[:beam_width]]


WRONG_BEAMS = {
    "mean of the log-probabilities": (beam(score=lambda h, a: np.mean(h["log_p"])), "divided_by_the_length"),
    "multiplied by the length": (
        beam(score=lambda h, a: h["sum"] * len(h["ids"]) ** a),
        "counterfactual: negated length_penalty",
    ),
    "penalty times the length": (
        beam(score=lambda h, a: h["sum"] / max(1, a * len(h["ids"]))),
        "penalty_not_an_exponent",
    ),
    "penalty by Wu et al.": (beam(score=lambda h, a: h["sum"] / ((5 + len(h["ids"])) / 6) ** a), "penalty_of_wu"),
    "sign of the score": (beam(score=lambda h, a: -h["sum"] / len(h["ids"]) ** a), "scores_negated"),
    "score with bits": (beam(score=lambda h, a: h["sum"] / len(h["ids"]) ** a / math.log(2)), "another_base"),
    "score of the last id": (beam(score=lambda h, a: h["log_p"][-1]), None),
    "perplexity": (beam(score=lambda h, a: math.exp(-h["sum"] / len(h["ids"]))), "perplexities"),
    "logits as log-probabilities": (beam(log_p=lambda z: z), "logits_summed"),
    "unnormalised": (beam(log_p=lambda z: z - z.max()), "logits_summed"),
    "log2": (beam(log_p=lambda z: log_softmax(z) / math.log(2)), "another_base"),
    "pruned by the last id": (beam(rank=lambda h: h["log_p"][-1]), "pruned_by_the_last_id"),
    "pruned by the mean": (beam(rank=lambda h: h["sum"] / len(h["ids"])), "pruned_by_the_mean"),
    "worst kept": (beam(rank=lambda h: -h["sum"]), "worst_candidates_kept"),
    "one beam too many": (beam(width=lambda W, t: W + 1), "counterfactual: more beam_width"),
    "one beam too few": (beam(width=lambda W, t: max(1, W - 1)), None),
    "always one beam": (beam(width=lambda W, t: 1), "counterfactual: one beam_width"),
    "one step too many": (beam(steps=lambda T: T + 1), "counterfactual: more max_length"),
    "one step too few": (beam(steps=lambda T: max(1, T - 1)), "last_step_missing"),
    "two best of each beam": (beam(per_beam=lambda new, W: best_of_beam(new, 2)), "two_candidates_for_each_beam"),
    "best of each beam": (beam(per_beam=lambda new, W: best_of_beam(new, 1)), "counterfactual: one beam_width"),
    "merged by the last id": (beam(merge=merged_by_last_id), "one_beam_for_each_last_id"),
    "never finished": (beam(over=lambda ids, eos: False), "always_max_length_steps"),
    "finished by any earlier eos": (
        beam(stop=lambda beams, W: any(h["over"] for h in beams)),
        "stops_at_the_first_finished",
    ),
    "stops at the best": (beam(stop=lambda beams, W: beams[0]["over"]), "stops_when_the_best_is_finished"),
    "last id cut off": (beam(words=lambda ids, sos, eos: ids[:-1]), "last_id_cut"),
    "eos kept": (beam(words=lambda ids, sos, eos: ids), "eos_kept"),
    "sos in front, eos behind": (beam(words=lambda ids, sos, eos: [sos, *ids]), "sos_and_eos_kept"),
    "best first, by length": (beam(finish=lambda r: sorted(r, key=lambda p: -len(p[0]))), None),
    "ids only": (beam(finish=lambda r: [ids for ids, _ in r]), None),
    "score first": (beam(finish=lambda r: [(s, ids) for ids, s in r]), None),
    "the best only": (beam(finish=lambda r: r[:1]), "only_the_best"),
    "empty ones left out": (beam(finish=lambda r: [p for p in r if p[0]]), None),
    "ids in arrays": (beam(finish=lambda r: [(np.array(ids, dtype=np.int64), s) for ids, s in r]), None),
    "lists for pairs": (beam(finish=lambda r: [[ids, s] for ids, s in r]), None),
    "done when enough": (done_when_enough, {"finished_beams_put_aside"}),
}


@for_each("name", WRONG_BEAMS)
def test_a_nearly_right_beam_search(name):
    fails("beam_search", *WRONG_BEAMS[name])


def test_a_list_in_place_of_a_pair_is_told():
    verdict = exercise("beam_search").verdict(WRONG_BEAMS["lists for pairs"][0])
    assert "beams[0]: a tuple of 2; got a list of 2" in verdict.cases[0].problems[0].text


def rows_of_arrays(step, state, sos_id, eos_id, beam_width, max_length, length_penalty=0.0):
    """Ids in an array with a column for each step, filled with ⟨eos⟩; finished beams have one candidate."""
    ids, sums, states = np.full((1, max_length), eos_id), np.zeros(1), [state]
    lengths = np.zeros(1, dtype=int)
    for t in range(max_length):
        rows = []
        for b in range(len(ids)):
            if t > 0 and ids[b, t - 1] == eos_id:
                rows.append([(sums[b], b, eos_id, states[b])])
                continue
            z, new = step(ids[b, t - 1 : t] if t else np.array([sos_id]), states[b])
            rows.append([(sums[b] + p, b, k, new) for k, p in enumerate(log_softmax(z[0]))])
        flat = [c for row in rows for c in row]
        best = [flat[i] for i in np.argsort([-c[0] for c in flat], kind="stable")[:beam_width]]
        parents = [b for _, b, _, _ in best]
        lengths = lengths[parents] + [len(rows[b]) > 1 for b in parents]
        ids, sums, states = ids[parents], np.array([c[0] for c in best]), [c[3] for c in best]
        ids[:, t] = [c[2] for c in best]
        if (ids[:, t] == eos_id).all():
            break
    scores = sums / lengths**length_penalty
    order = np.argsort(-scores, kind="stable")
    return [([k for k in ids[b].tolist() if k != eos_id], scores[b]) for b in order]


def heap(step, state, sos_id, eos_id, beam_width, max_length, length_penalty=0.0):
    """A heap of the beam_width best so far, with negative ranks for ties."""
    beams = [(0.0, 0, (), state)]
    for _ in range(max_length):
        kept, number = [], 0

        def offer(total, ids, s, kept=kept):
            nonlocal number
            number -= 1
            entry = (total, number, ids, s)
            if len(kept) < beam_width:
                heapq.heappush(kept, entry)
            elif entry[:2] > kept[0][:2]:
                heapq.heapreplace(kept, entry)

        for total, _, ids, s in beams:
            if ids[-1:] == (eos_id,):
                offer(total, ids, s)
            else:
                z, new = step(np.array([*ids[-1:], sos_id][:1]), s)
                for k, p in enumerate(log_softmax(z[0])):
                    offer(total + p, (*ids, k), new)
        beams = sorted(kept, key=lambda e: e[:2], reverse=True)
        if {ids[-1] for _, _, ids, _ in beams} == {eos_id}:
            break
    out = [(float(total / len(ids) ** length_penalty), ids) for total, _, ids, _ in beams]
    return [([k for k in ids if k != eos_id], score) for score, ids in sorted(out, reverse=True)]


def all_steps(step, state, sos_id, eos_id, beam_width, max_length, length_penalty=0.0):
    """No early end: where all beams are finished, the further steps change nothing."""
    return beam(stop=lambda beams, W: False)(step, state, sos_id, eos_id, beam_width, max_length, length_penalty)


RIGHT_BEAMS = {
    "dictionaries": beam(),
    "the best of each beam first": beam(per_beam=best_of_beam),
    "no early end": all_steps,
    "ends before the loop": beam(stop=lambda beams, W: not any(not h["over"] for h in beams)),
    "exponents": beam(score=lambda h, a: h["sum"] * len(h["ids"]) ** -a),
    "summed at the end": beam(score=lambda h, a: math.fsum(h["log_p"]) / len(h["ids"]) ** a),
    "log of a softmax": beam(log_p=lambda z: np.log(np.exp(z - z.max()) / np.exp(z - z.max()).sum())),
    "rows of arrays": rows_of_arrays,
    "a heap": heap,
}


@for_each("name", RIGHT_BEAMS)
def test_a_right_beam_search_in_another_style(name):
    passes("beam_search", RIGHT_BEAMS[name])
