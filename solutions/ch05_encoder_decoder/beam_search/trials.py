"""Programs that the spec of `beam_search` does not contain; beside each wrong one is what it is told."""

import heapq
import math

import numpy as np

from grader.spec.trials import Trials

TRIALS = Trials()


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


def one_state(step, state, sos_id, eos_id, beam_width, max_length, length_penalty=0.0):
    """All beams go on from the state that the first of them has led to."""
    beams = [((), 0.0)]
    for _ in range(max_length):
        later, candidates = None, []
        for ids, total in beams:
            if ids[-1:] == (eos_id,):
                candidates.append((ids, total))
                continue
            logits, new = step(np.array([ids[-1] if ids else sos_id]), state)
            later = new if later is None else later
            candidates += [((*ids, k), total + p) for k, p in enumerate(log_softmax(logits[0]))]
        state = later
        beams = sorted(candidates, key=lambda c: c[1], reverse=True)[:beam_width]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    results = [([k for k in ids if k != eos_id], total / len(ids) ** length_penalty) for ids, total in beams]
    return sorted(results, key=lambda pair: pair[1], reverse=True)


WRONG = {
    "one state for all": (one_state, "state_of_another_beam"),
    "the best of each beam": (
        beam(per_beam=lambda new, W: [max(new, key=lambda h: h["sum"])]),
        "one_hypothesis_only",
    ),
    "multiplied by the length": (
        beam(score=lambda h, a: h["sum"] * len(h["ids"]) ** a),
        "altered input: negated length_penalty",
    ),
    "score of the last id": (beam(score=lambda h, a: h["log_p"][-1]), None),
    "perplexity": (beam(score=lambda h, a: math.exp(-h["sum"] / len(h["ids"]))), "perplexities"),
    "one beam too many": (beam(width=lambda W, t: W + 1), "altered input: more beam_width"),
    "one beam too few": (beam(width=lambda W, t: max(1, W - 1)), None),
    "always one beam": (beam(width=lambda W, t: 1), "one_hypothesis_only"),
    "one step too many": (beam(steps=lambda T: T + 1), "altered input: more max_length"),
    "best first, by length": (beam(finish=lambda r: sorted(r, key=lambda p: -len(p[0]))), None),
    "ids only": (beam(finish=lambda r: [ids for ids, _ in r]), None),
    "score first": (beam(finish=lambda r: [(s, ids) for ids, s in r]), None),
    "empty ones left out": (beam(finish=lambda r: [p for p in r if p[0]]), None),
    "ids in arrays": (beam(finish=lambda r: [(np.array(ids, dtype=np.int64), s) for ids, s in r]), None),
    "lists for pairs": (beam(finish=lambda r: [[ids, s] for ids, s in r]), None),
}


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


RIGHT = {
    "summed at the end": beam(score=lambda h, a: math.fsum(h["log_p"]) / len(h["ids"]) ** a),
    "a heap": heap,
}

TRIALS.all_wrong(WRONG)
TRIALS.all_right(RIGHT)
