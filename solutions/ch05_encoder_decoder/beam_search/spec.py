"""How `beam_search` is checked: against a search that stores ids only and reads them again from the first."""

from functools import reduce
from operator import add

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Fixture, Output, Spec, change, instead, on_grid


def oracle(step, state, sos_id, eos_id, beam_width, max_length, length_penalty=0.0):
    """Hypotheses are tuples of ids, with ⟨eos⟩; whatever else is needed is computed from their ids, in PyTorch."""
    known = {}

    def after(ids):
        """The log-probabilities of the ids that can follow, and the state, for which the first ids are read again."""
        if ids not in known:
            logits, new = step(np.array([ids[-1] if ids else sos_id]), after(ids[:-1])[1] if ids else state)
            known[ids] = torch.log_softmax(torch.from_numpy(np.array(logits)), dim=1)[0].tolist(), new
        return known[ids]

    def raw(ids):  # added up one by one: since Python 3.12, `sum` rounds differently, which decides between equal sums
        return reduce(add, (after(ids[:t])[0][id_] for t, id_ in enumerate(ids)), 0.0)

    def is_finished(ids):
        return ids[-1:] == (eos_id,)

    kept = [()]
    for _ in range(max_length):
        ranks = {}  # in the order in which equal sums are kept
        for ids in kept:
            for new in [ids] if is_finished(ids) else [(*ids, id_) for id_ in range(len(after(ids)[0]))]:
                ranks[new] = raw(new), -len(ranks)
        kept = sorted(ranks, key=ranks.get, reverse=True)[:beam_width]
    scored = [(raw(ids) / len(ids) ** length_penalty, ids) for ids in kept]
    scored.sort(reverse=True)
    return [([id_ for id_ in ids if id_ != eos_id], score) for score, ids in scored]


ONE, SEVERAL, TIES, PENALTY = "width 1", "ordinary", "ties", "length penalty"


def tree(after, V, sos_id, other, shift=0.0):
    """A decoder with these probabilities after the beginnings (tuples of ids) of `after`, and the probabilities
    `other` after every other one. The logits are their logarithms plus `shift`.
    """
    numbers = {ids: node for node, ids in enumerate(after, 1)}
    rows = [other, *after.values(), other]
    children = np.full((len(rows), V), len(rows) - 1)
    children[0, sos_id] = 1
    for ids, node in numbers.items():
        for last in range(V):
            children[node, last] = numbers.get((*ids, last), len(rows) - 1)
    return Fixture("table_decoder", {"logits": on_grid(np.log(rows)) + shift, "children": children})


def example(**more):
    """The call of the task."""
    after = {
        (): (0.01, 0.01, 0.03, 0.55, 0.40),
        (3,): (0.01, 0.01, 0.29, 0.34, 0.35),
        (4,): (0.01, 0.01, 0.60, 0.20, 0.18),
        (3, 4): (0.01, 0.01, 0.90, 0.05, 0.03),
    }
    step = tree(after, V=5, sos_id=1, other=(0.01, 0.01, 0.50, 0.30, 0.18))
    inputs = {"step": step, "state": np.array([0]), "sos_id": 1, "eos_id": 2, "beam_width": 2, "max_length": 5}
    return Case(sizes={"T": 5, "W": 2}, inputs={**inputs, **more}, kind=PENALTY if more else SEVERAL)


EXAMPLE = example()


def row(V, p):
    """These probabilities, with the rest spread over all other ids."""
    return [p.get(id_, (1 - sum(p.values())) / (V - len(p))) for id_ in range(V)]


def ties(rng):
    """Equal sums at the place where they decide: three ids of one beam for the last two places, and then two ids of
    each of two beams, again for the last two places. In the end no two scores are equal.
    """
    sos_id, eos_id, *words = rng.permutation(7).tolist()
    a, b, c, d, _ = sorted(words)

    after = {
        (): row(7, {a: 0.2, b: 0.2, c: 0.34, d: 0.2}),
        (c,): row(7, {a: 0.1, b: 0.2, c: 0.6}),
        **dict.fromkeys([(a,), (b,), (d,)], row(7, {b: 0.44, d: 0.44, eos_id: 0.06})),
        (c, c): row(7, {eos_id: 0.85}),
        (a, b): row(7, {eos_id: 0.8}),
        (a, d): row(7, {eos_id: 0.7}),
        (b, b): row(7, {eos_id: 0.75}),
        (b, d): row(7, {eos_id: 0.65}),
        (d, b): row(7, {eos_id: 0.78}),
        (d, d): row(7, {eos_id: 0.68}),
    }
    step = tree(after, V=7, sos_id=sos_id, other=row(7, {eos_id: 0.5, a: 0.2}), shift=0.75)
    inputs = {"step": step, "state": np.array([0]), "sos_id": sos_id, "eos_id": eos_id}
    return Case({"T": 4, "W": 3}, {**inputs, "beam_width": 3, "max_length": 4}, kind=TIES)


def equally(*ids):
    """These of six ids with equal probabilities, the others practically with 0."""
    return np.exp([0.0 if id_ in ids else -45.0 for id_ in range(6)])


def ties_across_lengths(rng):
    """Four equal sums for three places, those of hypotheses with two ids, one of them finished, and with three. The
    earliest beam has the larger ids. All probabilities are 1, 1/2 or practically 0 until the last step, so the sums are
    equal for every way of adding them up.
    """
    sos_id = int(rng.integers(6))
    w, y, x, v, eos_id = (id_ for id_ in range(6) if id_ != sos_id)

    after = {
        (): equally(x, y),
        (x,): equally(w),
        (y,): equally(w, eos_id),
        (x, w): equally(v, x),
        (y, w): equally(y),
        (x, w, x): row(6, {eos_id: 0.8}),
        (x, w, v): row(6, {w: 0.7}),
        (y, w, y): row(6, {eos_id: 0.6}),
    }
    step = tree(after, V=6, sos_id=sos_id, other=row(6, {eos_id: 0.5}))
    inputs = {"step": step, "state": np.array([0]), "sos_id": sos_id, "eos_id": eos_id}
    return Case({"T": 4, "W": 3}, {**inputs, "beam_width": 3, "max_length": 4}, kind=TIES)


def ties_behind_a_finished_one(rng):
    """Four equal sums for three places: two of the first beam, then a finished hypothesis, then a longer one."""
    sos_id = int(rng.integers(6))
    eos_id, p, q, r, s = (id_ for id_ in range(6) if id_ != sos_id)

    after = {
        (): equally(p, q),
        (p,): equally(eos_id, r),
        (q,): equally(s),
        (q, s): equally(p, r),
        (p, r): equally(r),
        (q, s, p): row(6, {eos_id: 0.8}),
        (q, s, r): row(6, {q: 0.7}),
        (p, r, r): row(6, {eos_id: 0.6}),
    }
    step = tree(after, V=6, sos_id=sos_id, other=row(6, {eos_id: 0.5}))
    inputs = {"step": step, "state": np.array([0]), "sos_id": sos_id, "eos_id": eos_id}
    return Case({"T": 4, "W": 3}, {**inputs, "beam_width": 3, "max_length": 4}, kind=TIES)


def lengths(labels, **more):
    """A finished hypothesis of one id competes with longer ones. Pruned by the mean, it loses its place at step 2;
    pruned by the score with a penalty of 0.5, at step 3; pruned by the sum, it keeps it. `labels` are six ids.
    """
    sos_id, eos_id, a, b, c, d = labels
    after = {(): row(6, {a: 0.5, eos_id: 0.3}), (a,): row(6, {b: 0.55, c: 0.3}), (a, b): row(6, {c: 0.48, d: 0.46})}
    inputs = {"step": tree(after, V=6, sos_id=sos_id, other=row(6, {eos_id: 0.4, b: 0.3})), "state": np.array([0])}
    inputs |= {"sos_id": sos_id, "eos_id": eos_id, "beam_width": 2, "max_length": 3}
    return Case({"T": 3, "W": 2}, {**inputs, **more}, kind=PENALTY if more else SEVERAL)


def path_case(rng, path, V, sos_id, eos_id, T, rival=False):
    """A decoder whose most probable id is the next one of `path`, as long as it gets the right ids and states. Any
    other id leads astray, where the sentence ends at once if the path does not end, and never if it does. The search
    has width 1. With a `rival`, ending at once would have a larger sum than the path.
    """
    stray = 4
    N = len(path) + 1 + stray
    logits = rng.normal(size=(N, V))
    others = [id_ for id_ in range(V) if id_ != eos_id] if path[-1] == eos_id else [eos_id]
    favourites = [*rng.choice(others, size=1), *path, *rng.choice(others, size=stray)]  # node 0 is the initial state
    logits[np.arange(N), favourites] = logits.max(axis=1) + rng.uniform(0.2, 1.0, size=N)
    if rival:
        logits[1, eos_id] = logits[1, path[0]] - 0.1
    children = rng.integers(len(path) + 1, N, size=(N, V))
    for node, id_ in enumerate([sos_id, *path[:-1]]):
        children[node, id_] = node + 1
    inputs = {"step": Fixture("table_decoder", {"logits": logits, "children": children}), "state": np.array([0])}
    inputs |= {"sos_id": sos_id, "eos_id": eos_id, "beam_width": 1, "max_length": T}
    return Case({"T": T, "W": 1}, inputs, kind=ONE)


def path_cases(rng, V, T):
    """A greedy path with a predicted ⟨sos⟩ that ends, and one that does not. In the first, id 0 comes before ⟨eos⟩."""
    eos_id = int(rng.integers(1, V))
    sos_id, *words = (id_ for id_ in rng.permutation(V).tolist() if id_ != eos_id)
    words.sort(key=lambda id_: id_ != 0)
    a, b = words
    yield path_case(rng, [a, sos_id, b, eos_id], V, sos_id, eos_id, T, rival=True)
    yield path_case(rng, [b, a, sos_id, b, a], V, b, eos_id, 4)


def table_inputs(rng, V, T, W, at_once=False, ends=False, **more):
    """A decoder with four nodes for each step, which lead to those of the next step at random, so that no two
    hypotheses have equal sums. ⟨eos⟩ is more probable than most ids. If a sentence can end `at_once`, it is the most
    probable first id. If the table `ends`, step T + 1 raises an exception; otherwise, it stays at the last nodes.
    """
    eos_id = int(rng.integers(1, V))
    sos_id = int(rng.choice([id_ for id_ in range(2 if V > 3 else 0, V) if id_ != eos_id]))
    N = 1 + 4 * T
    logits = 1.2 * rng.normal(size=(N, V))
    depth = (np.arange(N) + 3) // 4  # of each node: 0, 1, 1, 1, 1, 2, …
    children = 4 * np.minimum(depth, T - 1)[:, None] + rng.integers(1, 5, size=(N, V))
    if ends:
        children[depth == T] = -1
    logits[:, eos_id] += rng.uniform(0.3, 1.0)
    logits[:, [0, sos_id]] += 0.6
    if at_once:
        logits[1:5, eos_id] = logits[1:5].max(axis=1) + 0.5
    logits += rng.integers(-3, 4, size=(N, 1))
    inputs = {"step": Fixture("table_decoder", {"logits": logits, "children": children}), "state": np.array([0])}
    inputs |= {"sos_id": sos_id, "eos_id": eos_id, "beam_width": W, "max_length": T}
    return {**inputs, **more}


SLIPS = (
    "dropped",
    "aside",
    "aside, fewer beams",
    "first finished",
    "each beam",
    "two of each beam",
    "unfinished lost",
    "last state",
    "one state",
    "ends at sos",
    "finished first",
)


def quick_search(inputs, slip=""):
    """The same search in plain Python, for tables, with one of the slips. Returns (ids, score) as tuples, best first,
    or None if the closest decision is too close.
    """
    params = inputs["step"].params
    logits, children = np.asarray(params["logits"]), np.asarray(params["children"]).tolist()
    log_p = (logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)).tolist()
    eos, W, penalty = inputs["eos_id"], inputs["beam_width"], inputs.get("length_penalty", 0.0)
    beams, aside, shared = [((), 0.0, children[0][inputs["sos_id"]])], [], -1
    for _ in range(inputs["max_length"]):
        candidates, reached = [], []
        for ids, total, node in beams:
            if ids[-1:] == (eos,) or (slip == "ends at sos" and ids[-1:] == (inputs["sos_id"],)):
                candidates += [(ids, total, node)] if slip != "dropped" else []
                continue
            if slip == "one state" and ids:
                node = children[shared][ids[-1]]
            reached.append(node)
            last = node
            new = [((*ids, k), total + p, children[node][k]) for k, p in enumerate(log_p[node])]
            best = sorted(new, key=lambda c: -c[1])
            candidates += best[:W] if slip == "each beam" else best[:2] if slip == "two of each beam" else new
        shared = next(iter(reached), shared)
        candidates.sort(key=lambda c: -c[1])
        if not slip and np.diff([-c[1] for c in candidates[: W + 1]]).min(initial=1.0) < 1e-6:
            return None
        beams = candidates if slip == "each beam" else candidates[: W - (len(aside) if "fewer" in slip else 0)]
        if "aside" in slip:
            aside += [c for c in beams if c[0][-1] == eos]
            beams = [c for c in beams if c[0][-1] != eos]
        if slip == "last state" and beams:
            beams = [(ids, total, children[last][ids[-1]]) for ids, total, _ in beams]
        ended = [c[0][-1] == eos for c in beams]
        if all(ended) or (slip == "first finished" and any(ended)):
            break
    found = [c for c in [*aside, *beams] if slip != "unfinished lost" or c[0][-1] == eos]
    scored = sorted(((total / len(ids) ** penalty, ids) for ids, total, _ in found), reverse=True)[:W]
    if slip == "finished first":
        scored.sort(key=lambda pair: pair[1][-1] != eos)
    return tuple((ids, round(score, 9)) for score, ids in scored)


def tells(inputs):
    """Whether each of the slips shows, some results are finished and some not, and ⟨sos⟩ and 0 are predicted."""
    right = quick_search(inputs)
    if right is None:
        return False
    finished = {ids[-1] == inputs["eos_id"] for ids, _ in right}
    penalty, W = inputs.get("length_penalty", 0.0), inputs["beam_width"]
    sums = [score * len(ids) ** penalty for ids, score in right]
    return (
        len(finished) == 2
        and any(inputs["sos_id"] in ids for ids, _ in right)
        and any(0 in ids for ids, _ in right)
        and (penalty == 0 or sums != sorted(sums, reverse=True))  # the order by scores is not that by sums
        and all(quick_search(inputs, slip) != right for slip in SLIPS if slip != "two of each beam" or W > 2)
    )


def table_case(rng, kind, T, W, **sizes):
    """The first of up to 4000 draws in which the slips show."""
    for _ in range(4000):
        inputs = table_inputs(rng, T=T, W=W, **sizes)
        if tells(inputs):
            break
    return Case({"T": T, "W": W}, inputs, kind=kind)


def gru_case(rng, V, D, H, L, T, W, kind, **more):
    """A GRU with L layers. Scores depend on the values of its states."""
    layers = [
        {
            "W_x": rng.normal(size=(H if number else D, 3 * H)),
            "W_h": rng.normal(size=(H, 3 * H)) / np.sqrt(H),
            "b_x": rng.normal(size=3 * H),
            "b_h": rng.normal(size=3 * H),
        }
        for number in range(L)
    ]
    sos_id, eos_id = (int(id_) for id_ in rng.choice(V, size=2, replace=False))
    params = {"E": rng.normal(size=(V, D)), "layers": layers, "W_p": 2 * rng.normal(size=(H, V)) / np.sqrt(H)}
    params["b_p"] = rng.normal(size=V)
    params["b_p"][eos_id] = 1.0
    inputs = {"step": Fixture("gru_decoder", params), "state": rng.uniform(-0.9, 0.9, size=(L, 1, H))}
    inputs |= {"sos_id": sos_id, "eos_id": eos_id, "beam_width": W, "max_length": T}
    return Case({"T": T, "W": W}, {**inputs, **more}, kind=kind)


def cases(rng):
    yield from path_cases(rng, V=4, T=6)
    yield table_case(rng, SEVERAL, V=5, T=4, W=3)
    yield gru_case(rng, V=4, D=2, H=3, L=2, T=3, W=2, kind=SEVERAL)
    yield Case({"T": 1, "W": 3}, table_inputs(rng, V=5, T=1, W=3), kind=SEVERAL)
    yield Case({"T": 2, "W": 9}, table_inputs(rng, V=3, T=2, W=9, at_once=True, ends=True), kind=SEVERAL)
    labels = rng.permutation(6).tolist()
    yield lengths(labels)
    yield ties(rng)
    yield ties_across_lengths(rng)
    yield ties_behind_a_finished_one(rng)
    yield example(length_penalty=1.0)
    yield lengths(labels, length_penalty=0.5)
    yield gru_case(rng, V=5, D=2, H=3, L=1, T=4, W=3, kind=PENALTY, length_penalty=1.4)
    yield table_case(rng, PENALTY, V=5, T=4, W=3, length_penalty=0.7)


SPEC = Spec(
    outputs=[Output("beams")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("width 1", share=2, kinds=(ONE,)),
        Facet("several beams", share=3, kinds=(SEVERAL,)),
        Facet("ties", share=1, kinds=(TIES, SEVERAL)),  # no order of ties explains a search that is wrong without them
        Facet("length penalty", share=2, kinds=(PENALTY,)),
    ],
)


@SPEC.alternative
def with_arrays(step, state, sos_id, eos_id, beam_width, max_length, length_penalty=0.0):
    """One matrix of sums at each step, its largest entries found by a stable argsort."""
    rows, sums, states = [[]], np.zeros(1), [state]
    for _ in range(max_length):
        ended = [bool(ids) and ids[-1] == eos_id for ids in rows]
        if all(ended):
            break
        table, later = [], []
        for ids, total, s, is_over in zip(rows, sums, states, ended, strict=True):
            if is_over:
                table.append(None)
                later.append(s)
                continue
            z, new = step(np.array([ids[-1] if ids else sos_id], dtype=np.int64), s)
            p = np.exp(z[0] - z.max())
            table.append(total + np.log(p / p.sum()))
            later.append(new)
        width = max(len(row) for row in table if row is not None)
        matrix = np.full((len(rows), width), -np.inf)
        for b, row in enumerate(table):
            if row is None:
                matrix[b, eos_id] = sums[b]  # a finished beam: its own sum in place of one id
            else:
                matrix[b] = row
        best = np.argsort(-matrix, axis=None, kind="stable")[:beam_width]
        best = best[np.isfinite(matrix.flat[best])]
        parents, ids = np.unravel_index(best, matrix.shape)
        sums = matrix[parents, ids]
        rows = [rows[b] if ended[b] else [*rows[b], int(k)] for b, k in zip(parents, ids, strict=True)]
        states = [later[b] for b in parents]
    scores = [total / len(ids) ** length_penalty for ids, total in zip(rows, sums, strict=True)]
    order = sorted(range(len(rows)), key=scores.__getitem__, reverse=True)
    return [(rows[b][:-1] if rows[b][-1] == eos_id else rows[b], scores[b]) for b in order]


@SPEC.alternative
def with_a_heap(step, state, sos_id, eos_id, beam_width, max_length, length_penalty=0.0):
    """The best candidates by `heapq.nsmallest`, with negative log-likelihoods; hypotheses are dictionaries."""
    from heapq import nsmallest

    beams = [{"ids": (), "nll": 0.0, "state": state, "last": sos_id, "over": False}]
    steps = 0
    while steps < max_length and not all(beam["over"] for beam in beams):
        steps += 1
        candidates = []
        for beam in beams:
            if beam["over"]:
                candidates.append(beam)
                continue
            logits, new = step(y_prev=np.array([beam["last"]]), state=beam["state"])
            nll = np.logaddexp.reduce(logits[0]) - logits[0]
            for k, more in enumerate(nll.tolist()):
                candidates.append(
                    {
                        "ids": (*beam["ids"], k),
                        "nll": beam["nll"] + more,
                        "state": new,
                        "last": k,
                        "over": k == eos_id,
                    }
                )
        keyed = [(candidate["nll"], place) for place, candidate in enumerate(candidates)]
        beams = [candidates[place] for _, place in nsmallest(beam_width, keyed)]
    results = []
    for beam in beams:
        words = beam["ids"][:-1] if beam["over"] else beam["ids"]
        results.append((list(words), float(-beam["nll"] / len(beam["ids"]) ** length_penalty)))
    results.sort(key=lambda pair: pair[1])
    return results[::-1]


@SPEC.alternative
def by_recursion(step, state, sos_id, eos_id, beam_width, max_length, length_penalty=0.0):
    """A function that takes the beams of one step to those of the next, and calls itself."""

    def expand(rank, beam):
        ids, total, s = beam
        if ids[-1] == eos_id and len(ids) > 1:
            return [(-total, rank, 0, beam)]
        z, new = step(np.array(ids[-1:]), s)
        log_p = z[0] - z[0].max()
        log_p = log_p - np.log(np.sum(np.exp(log_p)))
        return [(-total - p, rank, k, ([*ids, k], total + p, new)) for k, p in enumerate(log_p)]

    def search(beams, steps):
        if steps == 0 or all(len(ids) > 1 and ids[-1] == eos_id for ids, _, _ in beams):
            return beams
        candidates = [c for rank, beam in enumerate(beams) for c in expand(rank, beam)]
        candidates.sort(key=lambda c: c[:3])
        return search([c[3] for c in candidates[:beam_width]], steps - 1)

    scored = [
        (total * (len(ids) - 1) ** -length_penalty, ids)
        for ids, total, _ in search([([sos_id], 0.0, state)], max_length)
    ]
    scored.sort(key=lambda entry: entry[0], reverse=True)
    return [(ids[1:-1] if ids[-1] == eos_id and len(ids) > 1 else ids[1:], score) for score, ids in scored]
