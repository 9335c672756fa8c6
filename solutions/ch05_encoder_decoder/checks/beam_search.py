"""How `beam_search` is checked: against a search that stores ids only and reads them again from the first."""

from functools import reduce
from operator import add

import numpy as np
import torch

from grader.author.spec import Case, Facet, Fixture, Output, Spec, change, on_grid


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


# Decoders by tables: node 0 is the state before ⟨sos⟩ -----------------------------------------------------------------


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
    beams, aside = [((), 0.0, children[0][inputs["sos_id"]])], []
    for _ in range(inputs["max_length"]):
        candidates = []
        for ids, total, node in beams:
            if ids[-1:] == (eos,) or (slip == "ends at sos" and ids[-1:] == (inputs["sos_id"],)):
                candidates += [(ids, total, node)] if slip != "dropped" else []
                continue
            last = node
            new = [((*ids, k), total + p, children[node][k]) for k, p in enumerate(log_p[node])]
            best = sorted(new, key=lambda c: -c[1])
            candidates += best[:W] if slip == "each beam" else best[:2] if slip == "two of each beam" else new
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
    why="""
A beam is a triple of ids, the sum of their log-probabilities and the state, so a candidate carries its parent's state
with it wherever the sorting puts it. There is one list of candidates for all beams, because the `beam_width` places
are for the best hypotheses, whichever beam they come from. A finished beam is put into that list unchanged: it keeps
its place only as long as no longer hypotheses are more probable. Python's `sorted` is stable, so candidates with equal
sums keep the order in which they were added, which is the order by beams and then by ids.
While ⟨eos⟩ is among the ids, it marks finished beams and counts in the length; it is removed only in the result.
Pruning compares sums. Divided by different lengths, the sums of finished and unfinished beams would compete as means,
which is what the length penalty does once, at the end.
""",
)


TEST = "if ids and ids[-1] == eos_id:\n    candidates.append((ids, total, s))\n    continue"
NEW = "([*ids, k], total + log_p[k], s_new)"
EXTEND = f"candidates += [{NEW} for k in range(len(log_p))]"
SORTED = "sorted(candidates, key=lambda c: -c[1])"
END = "if all(ids[-1] == eos_id for ids, _, _ in beams):"
SCORE = "score = total / len(ids) ** length_penalty"
IDS = "[k for k in ids if k != eos_id]"
RESULT = "sorted(results, key=lambda pair: -pair[1])"
UNPENALISED = ["width 1", "several beams", "ties"]

# Finished beams

SPEC.mistake(
    "finished_beams_dropped",
    "A beam that ends with ⟨eos⟩ is missing at the next step, because you do not add it to the candidates. Add it as "
    "it is: it is a complete sentence, and it keeps its place as long as its sum is large enough.",
    change("candidates.append((ids, total, s))", ""),
    tempts="`continue` skips what must not be extended, and with it the hypothesis itself.",
    keeps=["width 1"],
)
SPEC.mistake(
    "finished_beams_extended",
    "You extend hypotheses that already end with ⟨eos⟩, so their sums shrink and other ids follow ⟨eos⟩. Once a "
    "hypothesis ends with ⟨eos⟩, take it into the next step as it is.",
    change(TEST, ""),
    change(TEST, "", (IDS, "ids[: ids.index(eos_id)] if eos_id in ids else ids")),
    change(TEST, "", (IDS, "ids[:-1] if ids[-1] == eos_id else ids")),
    change(
        TEST,
        "",
        (IDS, "ids[: ids.index(eos_id)] if eos_id in ids else ids"),
        ("len(ids) **", "((ids + [eos_id]).index(eos_id) + (eos_id in ids)) **"),
    ),
    tempts="The loop treats all beams alike, and ⟨eos⟩ is removed at the end anyway.",
    keeps=["width 1"],
)
SPEC.mistake(
    "finished_beams_padded_at_a_cost",
    "You extend finished hypotheses by ⟨eos⟩ at every further step and add its log-probability again. Once a "
    "hypothesis ends with ⟨eos⟩, take it into the next step as it is: its sum does not change any more.",
    change(TEST, "", ("in range(len(log_p))]", "in ([eos_id] if eos_id in ids else range(len(log_p)))]")),
    tempts="With one more ⟨eos⟩ at each step, all beams have the same length.",
    keeps=["width 1"],
)
SPEC.mistake(
    "finished_beams_extended_at_no_cost",
    "You extend finished hypotheses by all ids without changing their sums, so one hypothesis fills several places. "
    "Once a hypothesis ends with ⟨eos⟩, take it into the next step once, as it is.",
    change(TEST, "", ("log_softmax(logits)[0]", "log_softmax(logits)[0] * (eos_id not in ids)")),
    change(
        TEST,
        "",
        ("log_softmax(logits)[0]", "log_softmax(logits)[0] * (eos_id not in ids)"),
        (IDS, "ids[: ids.index(eos_id)] if eos_id in ids else ids"),
    ),
    change(
        TEST,
        "",
        ("log_softmax(logits)[0]", "log_softmax(logits)[0] * (eos_id not in ids)"),
        (IDS, "ids[:-1] if ids[-1] == eos_id else ids"),
    ),
    change(
        TEST,
        "",
        ("log_softmax(logits)[0]", "log_softmax(logits)[0] * (ids[-1:] != [eos_id])"),
        (IDS, "ids[:-1] if ids[-1] == eos_id else ids"),
    ),
    tempts="A mask that sets the log-probabilities after ⟨eos⟩ to 0 keeps the sum as it is.",
    keeps=["width 1"],
)
SPEC.mistake(
    "loop_left_at_a_finished_beam",
    "You leave the loop over the beams at the first finished one, so the beams after it are lost. Add the finished "
    "hypothesis to the candidates and continue with the next beam.",
    change("continue", "break"),
    change("candidates.append((ids, total, s))", "", ("continue", "break")),
    tempts="In greedy decoding, ⟨eos⟩ leaves the loop.",
    keeps=["width 1"],
)
SPEC.mistake(
    "candidates_not_emptied",
    "You keep the candidates of earlier steps, so hypotheses that were pruned or extended long ago compete again. "
    "Start every step with an empty list of candidates.",
    change("    candidates = []\n", "", ("for _step in range", "candidates = []\nfor _step in range")),
    tempts="A list that is filled in a loop is often created before it.",
)
SPEC.mistake(
    "predicted_sos_ends_a_hypothesis",
    "You treat a hypothesis that ends with a predicted ⟨sos⟩ as finished. Only `eos_id` ends a hypothesis; `sos_id` is "
    "an ordinary id wherever the decoder predicts it.",
    change("ids and ids[-1] == eos_id", "ids and ids[-1] in (sos_id, eos_id)"),
    tempts="A new beginning looks like the end of the sentence.",
)
SPEC.mistake(
    "always_max_length_steps",
    "You always extend all beams for `max_length` steps, also those that end with ⟨eos⟩. Once a hypothesis ends with "
    "⟨eos⟩, take it into the next step as it is, and end the search when all beams are finished.",
    change(TEST, "", (END, "if False:")),
    change(TEST, "", (END, "if False:"), (IDS, "ids[: ids.index(eos_id)] if eos_id in ids else ids")),
    change(TEST, "", (END, "if False:"), (IDS, "ids[:-1] if ids[-1] == eos_id else ids")),
    tempts="In a batch, greedy decoding is often written with a fixed number of steps and cut off at ⟨eos⟩ afterwards.",
)


def aside(kept, ended, stop, returned, limit="[:beam_width]"):
    """The change to a search with a list `done` of finished hypotheses: the candidates of which the unfinished ones are
    the next beams, those of which the finished ones are stored, when to stop, and what is returned.
    """
    return change(
        f"beams = {SORTED}[:beam_width]",
        f"candidates = {SORTED}\nkept = {kept}\nended = {ended}",
        (END, f"done += [c for c in ended if c[0][-1] == eos_id]\nbeams = {UNFINISHED}\nif not beams{stop}:"),
        ("beams = [([]", "done = []\nbeams = [([]"),
        ("in beams:\n    score", f"in {returned}:\n    score"),
        ("-pair[1])", f"-pair[1]){limit}"),
    )


UNFINISHED = "[c for c in kept if c[0][-1] != eos_id][:beam_width]"
STOPS = ("", " or len(done) >= beam_width")
WITH_UNFINISHED = ("done + beams", "done or beams")
BEST_CANDIDATES = "candidates[:beam_width]"
FREE_PLACES = "candidates[: beam_width - len(done)]"
BEST_LIVE = "[c for c in candidates if c[0][-1] != eos_id][:beam_width]"
TO_THE_LAST_LIVE = f"candidates[: candidates.index({BEST_LIVE}[-1])] if len({BEST_LIVE}) == beam_width else candidates"
SPEC.mistake(
    "finished_beams_put_aside",
    "You put finished beams aside, where they no longer compete. Leave them among the beams, each as one candidate of "
    "the next step: it takes up one of the `beam_width` places, and it is pruned when hypotheses with larger sums need "
    "its place.",
    *(
        aside(BEST_CANDIDATES, "kept", stop, pool, limit)
        for stop in STOPS
        for pool in WITH_UNFINISHED
        for limit in ("[:beam_width]", "")
    ),
    *(aside(FREE_PLACES, "kept", "", pool) for pool in WITH_UNFINISHED),
    *(aside(BEST_LIVE, BEST_CANDIDATES, stop, pool) for stop in STOPS for pool in WITH_UNFINISHED),
    *(aside(BEST_LIVE, TO_THE_LAST_LIVE, stop, pool) for stop in STOPS for pool in WITH_UNFINISHED),
    tempts="Many implementations have a list of finished hypotheses, and rules of their own for when to stop.",
    keeps=["width 1"],
)
SPEC.mistake(
    "only_the_finished_put_aside",
    "You put finished beams aside, where they no longer compete, and return only these. Leave them among the beams, "
    "each as one candidate of the next step, and return all beams of the last step, finished or not.",
    *(aside(BEST_CANDIDATES, "kept", stop, "done") for stop in STOPS),
    aside(FREE_PLACES, "kept", "", "done"),
    *(aside(BEST_LIVE, BEST_CANDIDATES, stop, "done") for stop in STOPS),
    *(aside(BEST_LIVE, TO_THE_LAST_LIVE, stop, "done") for stop in STOPS),
    tempts="A list of finished sentences looks like the result.",
)
SPEC.mistake(
    "every_ended_candidate_stored",
    "You store candidates that end with ⟨eos⟩ even if they are not among the best of their step. Such a candidate must "
    "be one of the `beam_width` with the largest sums, and as a beam it goes on competing for its place.",
    *(aside(BEST_LIVE, "candidates", stop, pool) for stop in STOPS for pool in ("done + beams", "done")),
    *(
        aside(BEST_LIVE, "candidates[: 2 * beam_width]", stop, pool)
        for stop in STOPS
        for pool in ("done + beams", "done")
    ),
    tempts="A complete sentence is a result, so it seems a pity to lose it; and libraries look at twice the number of "
    "candidates, so that enough unfinished ones are left.",
)
SPEC.mistake(
    "eos_never_a_candidate",
    "You leave out the candidates that end with ⟨eos⟩, so no hypothesis is ever finished. Extend by all V ids; ⟨eos⟩ "
    "is one of them.",
    change("in range(len(log_p))]", "in range(len(log_p)) if k != eos_id]"),
    tempts="⟨eos⟩ must not be in the result, so it is left out where the ids come from.",
)
SPEC.mistake(
    "some_ids_never_candidates",
    "You do not extend by all V ids. Every id is a candidate, also 0, `sos_id` and the last one: how improbable an id "
    "is after this beginning, the decoder says.",
    change("in range(len(log_p))]", "in range(1, len(log_p))]"),
    change("in range(len(log_p))]", "in range(len(log_p) - 1)]"),
    change("in range(len(log_p))]", "in range(len(log_p)) if k != sos_id]"),
    change("in range(len(log_p))]", "in range(1, len(log_p)) if k != sos_id]"),
    tempts="⟨pad⟩ and ⟨sos⟩ are no words, so they are left out where the ids come from.",
)
SPEC.mistake(
    "stops_at_the_first_finished",
    "You stop as soon as one beam is finished. End the search when *all* beams are finished, because an unfinished "
    "hypothesis may still become the best.",
    change("if all(", "if any("),
    tempts="In greedy decoding, the first ⟨eos⟩ ends the loop.",
    keeps=["width 1"],
)
SPEC.mistake(
    "stops_when_the_best_is_finished",
    "You stop as soon as the first beam is finished. End the search when *all* beams are finished: the others are part "
    "of the result, and with a length penalty one of them may overtake the first.",
    change(END, "if beams[0][0][-1] == eos_id:"),
    change(TEST, "", (END, "if beams[0][0][-1] == eos_id:")),
    change(TEST, "", (END, "if beams[0][0][-1] == eos_id:"), (IDS, "ids[:-1] if ids[-1] == eos_id else ids")),
    tempts="Without a penalty, no other hypothesis can overtake the first one any more.",
    keeps=["width 1"],
)
SPEC.mistake(
    "stops_when_the_last_is_finished",
    "You stop as soon as the last beam is finished. End the search when *all* beams are finished: test each of them, "
    "not only one.",
    change(END, "if beams[-1][0][-1] == eos_id:"),
    tempts="After a loop over the beams, the variable `ids` contains the last one.",
    keeps=["width 1"],
)
SPEC.mistake(
    "last_step_missing",
    "Your search makes one step too few. The limit counts the calls of `step` along a hypothesis, the one that reads "
    "⟨sos⟩ included, so an unfinished hypothesis has `max_length` ids.",
    change("range(max_length)", "range(max_length - 1)"),
    change("range(max_length)", "range(max(1, max_length - 1))"),
    change("range(max_length)", "range(max_length - 1)", ("len(ids) **", "(len(ids) + 1) **")),
    tempts="The first of max_length ids seems to be ⟨sos⟩.",
)
SPEC.mistake(
    "returns_after_the_first_step",
    "You return the beams of the first step. Look at the indentation: only when the loop over the steps has ended, the "
    "scores are computed and the result is returned.",
    change("range(max_length)", "range(1)"),
    tempts="A `return` that is indented too far ends the loop in its first pass.",
)
SPEC.mistake(
    "unfinished_left_out",
    "Your result lacks the beams that are not finished after `max_length` steps. Return all beams, because an "
    "unfinished sentence is better than none.",
    change("in beams:\n    score", "in [c for c in beams if c[0][-1] == eos_id]:\n    score"),
    tempts="A sentence without an end looks like a failure.",
)
SPEC.mistake(
    "unfinished_left_out_beside_finished",
    "Your result lacks the unfinished beams if at least one beam is finished. Return all beams, each with its score, "
    "because the caller may want to choose among them.",
    change("in beams:\n    score", "in [c for c in beams if c[0][-1] == eos_id] or beams:\n    score"),
    tempts="Libraries return unfinished sentences only if there is nothing else.",
    keeps=["width 1"],
)
SPEC.mistake(
    "finished_first_in_the_result",
    "In your result, finished hypotheses come before unfinished ones. Sort all of them by their scores alone.",
    change(
        "for ids, total, _ in beams:\n",
        "for ids, total, _ in sorted(beams, key=lambda c: c[0][-1] != eos_id):\n",
        (RESULT, "sorted(results, key=lambda pair: (pair[2], -pair[1]))"),
        (f"({IDS}, score)", f"({IDS}, score, ids[-1] != eos_id)"),
        ("(pair[2], -pair[1]))", "(pair[2], -pair[1]))\nreturn [pair[:2] for pair in results]"),
        ("return sorted(", "results = sorted("),
    ),
    tempts="A complete sentence seems to be worth more than an unfinished one.",
    keeps=["width 1"],
)
SPEC.mistake(
    "eos_forced_at_the_end",
    "You end the unfinished hypotheses with an ⟨eos⟩ after the last step and add its log-probability. Give them their "
    "scores as they are, because the search has made its `max_length` steps.",
    change(
        "for ids, total, _ in beams:\n",
        "for ids, total, s in beams:\n"
        "    if ids[-1] != eos_id:\n"
        "        total += log_softmax(step(np.array(ids[-1:]), s)[0])[0][eos_id]\n"
        "        ids = [*ids, eos_id]\n",
    ),
    tempts="A sentence without ⟨eos⟩ looks incomplete, and its score better than it would be.",
)

# Which candidates stay

SPEC.mistake(
    "pruned_by_score",
    "You prune by the sums divided by the lengths. Compare the sums themselves while you search, and use "
    "`length_penalty` only for the scores of the result.",
    change("-c[1])", "-c[1] / len(c[0]) ** length_penalty)"),
    change("-c[1])", "-c[1] / (len(c[0]) ** length_penalty if c[0][-1] == eos_id else 1))"),
    tempts="The score is what counts in the end, so it seems right to prune by it.",
    keeps=UNPENALISED,
)
SPEC.mistake(
    "pruned_by_the_mean",
    "You prune by the mean of the log-probabilities. Compare the sums themselves while you search: lengths count only "
    "in the scores of the result.",
    change("-c[1])", "-c[1] / len(c[0]))"),
    tempts="Finished hypotheses are shorter, and a mean makes hypotheses of different lengths comparable.",
    keeps=["width 1"],
)
SPEC.mistake(
    "finished_pruned_by_the_mean",
    "You compare the means of finished hypotheses with the sums of unfinished ones. Compare the sums of all of them "
    "while you search: lengths count only in the scores of the result.",
    change("-c[1])", "-c[1] / (len(c[0]) if c[0][-1] == eos_id else 1))"),
    tempts="The length of a sentence is known only when it is finished.",
)
SPEC.mistake(
    "pruned_by_the_last_id",
    "You prune by the log-probability of the last id alone. Compare the sums over all ids of a hypothesis.",
    change(
        "sorted(candidates, key=lambda c: -c[1])",
        "sorted(candidates, key=lambda c: -c[3])",
        (NEW, "([*ids, k], total + log_p[k], s_new, log_p[k])"),
        ("candidates.append((ids, total, s))", "candidates.append((ids, total, s, last))"),
        ("0.0, state)", "0.0, state, 0.0)"),
        ("for ids, total, s in", "for ids, total, s, last in"),
        ("for ids, _, _ in", "for ids, *_ in"),
        ("for ids, total, _ in", "for ids, total, *_ in"),
    ),
    tempts="The log-probabilities of the new ids are at hand, and `argsort` is applied to them.",
    keeps=["width 1"],
)
SPEC.mistake(
    "divided_at_every_step",
    "You divide the sum by the length at every step, so early ids count less and less. Add up the log-probabilities "
    "while you search, and divide once, for the score of the result.",
    change("total + log_p[k]", "(total + log_p[k]) / (len(ids) + 1)"),
    change("total + log_p[k]", "(total + log_p[k]) / (len(ids) + 1)", (SCORE, "score = total")),
    change("total + log_p[k]", "(total * len(ids) + log_p[k]) / (len(ids) + 1)", (SCORE, "score = total")),
    change("total + log_p[k]", "(total * len(ids) + log_p[k]) / (len(ids) + 1)"),
    tempts="A mean is kept up to date as the hypothesis grows.",
)
SPEC.mistake(
    "penalty_at_every_step",
    "You apply `length_penalty` at every step. Add up the log-probabilities while you search, and divide once, for the "
    "score of the result.",
    change("total + log_p[k]", "(total + log_p[k]) / (len(ids) + 1) ** length_penalty"),
    change("total + log_p[k]", "(total + log_p[k]) / (len(ids) + 1) ** length_penalty", (SCORE, "score = total")),
    change("total + log_p[k]", "total + log_p[k] / (len(ids) + 1) ** length_penalty", (SCORE, "score = total")),
    tempts="A score that is kept up to date needs no second loop.",
    keeps=UNPENALISED,
)
SPEC.mistake(
    "not_sorted",
    "You keep the first `beam_width` candidates without sorting them. Sort them by their sums first, "
    "the largest first.",
    change(SORTED, "candidates"),
    tempts="The slice keeps the right number, so the result has the right form.",
)
SPEC.mistake(
    "not_pruned",
    "You keep all candidates of every step and cut the list only at the end. Cut it at every step: the number of "
    "hypotheses would otherwise grow exponentially with the steps.",
    change(f"{SORTED}[:beam_width]", SORTED, ("-pair[1])", "-pair[1])[:beam_width]")),
    tempts="The result has the right number of entries, and with a large width it is right.",
)
SPEC.mistake(
    "ties_in_another_order",
    "Your search is right except where candidates have equal sums. Of these, keep the one from the earlier beam, and "
    "from the same beam the one with the lower id. `sorted(…, reverse=True)` leaves equal entries in their order; "
    "`sorted(…)[::-1]` and the reversed result of `argsort` do not.",
    change(SORTED, "sorted(candidates, key=lambda c: c[1])[::-1]"),
    change(SORTED, "sorted(candidates, key=lambda c: (-c[1], c[0][-1]))"),
    change(SORTED, "sorted(candidates, key=lambda c: (-c[1], -c[0][-1]))"),
    change(SORTED, "sorted(candidates, key=lambda c: (c[1], c[0]), reverse=True)"),
    change(SORTED, "sorted(candidates, key=lambda c: (-c[1], c[0]))"),
    change("for ids, total, s in beams:", "for ids, total, s in reversed(beams):"),
    tempts="`argsort` sorts in ascending order, so its result is reversed.",
    keeps=["width 1", "several beams", "length penalty"],
)
SPEC.mistake(
    "finished_preferred",
    "You give finished hypotheses an advantage: one of them is kept, although candidates of an earlier beam have sums "
    "that are as large. Let it compete for the `beam_width` places like every other candidate of its beam.",
    change(SORTED, "sorted(candidates, key=lambda c: (-c[1], c[0][-1:] != [eos_id]))"),
    tempts="A finished hypothesis seems to be worth more than one that still has to end.",
    keeps=["width 1", "several beams", "length penalty"],
)
SPEC.mistake(
    "unfinished_preferred",
    "You give unfinished hypotheses an advantage: one of them is kept, although a finished hypothesis of an earlier "
    "beam has a sum that is as large. Put finished beams into the list of candidates in their turn.",
    change(SORTED, "sorted(candidates, key=lambda c: (-c[1], c[0][-1:] == [eos_id]))"),
    tempts="The finished beams are added after the loop, so they are the last in the list.",
    keeps=["width 1", "several beams", "length penalty"],
)
BEST = f"sorted([{NEW} for k in range(len(log_p))], key=lambda c: -c[1])"
SPEC.mistake(
    "width_for_each_beam",
    "You keep `beam_width` candidates of each beam. There are `beam_width` places for all beams together: collect the "
    "candidates of all beams in one list, and cut that list.",
    change(EXTEND, f"candidates += {BEST}[:beam_width]", (f"{SORTED}[:beam_width]", SORTED)),
    change(
        EXTEND,
        f"candidates += {BEST}[:beam_width]",
        (f"{SORTED}[:beam_width]", SORTED),
        ("-pair[1])", "-pair[1])[:beam_width]"),
    ),
    tempts="The loop over the beams is the place where the best ids of a beam are known.",
    keeps=["width 1"],
)
SPEC.mistake(
    "one_candidate_for_each_beam",
    "After the first step, every beam has exactly one successor, its own best one. Let the candidates of all beams "
    "compete: one beam may get several places, and another one none.",
    change(EXTEND, f"candidates += {BEST}[: beam_width if not ids else 1]"),
    tempts="Beams are pictured as separate paths that continue side by side.",
    keeps=["width 1"],
)
SPEC.mistake(
    "two_candidates_for_each_beam",
    "You take only the two best candidates of each beam, whatever `beam_width` is. Let all V candidates of every beam "
    "compete, or at least the `beam_width` best ones.",
    change(EXTEND, f"candidates += {BEST}[:2]"),
    tempts="In the example, the width is 2.",
    keeps=["width 1"],
)
SPEC.mistake(
    "only_the_best_extended",
    "You extend only the first beam. Extend every beam that is not finished: a hypothesis that is not the best one now "
    "may become the best, and that is why several are kept.",
    change("for ids, total, s in beams:", "for ids, total, s in beams[:1]:"),
    change(
        "for ids, total, s in beams:",
        "for number, (ids, total, s) in enumerate(beams):",
        ("if ids and ids[-1]", "if number > 0 or ids and ids[-1]"),
    ),
    tempts="In greedy decoding, only the best beginning is extended.",
    keeps=["width 1"],
)
SPEC.mistake(
    "one_beam_for_each_last_id",
    "You keep only one hypothesis for each last id. Hypotheses with the same last id are different sentences with "
    "different states: let all of them compete.",
    change(
        f"beams = {SORTED}[:beam_width]",
        f"best = {{}}\nfor c in {SORTED}:\n    best.setdefault(c[0][-1], c)\nbeams = list(best.values())[:beam_width]",
    ),
    tempts="The search for the most probable path through a graph (Viterbi) keeps one path for each node.",
    keeps=["width 1"],
)
SPEC.mistake(
    "starts_with_copies",
    "You start with `beam_width` copies of the empty hypothesis, and all of them have the same candidates, so your "
    "beams are copies of each other. Start with a single hypothesis.",
    change("state)]\n", "state)] * beam_width\n"),
    tempts="Beams of a batch are often stored in arrays with beam_width rows from the start.",
    keeps=["width 1"],
)

SPEC.mistake(
    "worst_candidates_kept",
    "You keep the candidates with the smallest sums. Keep those with the largest: log-probabilities are negative, so "
    "the best sum is the one closest to 0.",
    change("-c[1])", "c[1])"),
    change("log_softmax(logits)[0]", "-log_softmax(logits)[0]"),
    tempts="`sort` and `argsort` put the smallest first.",
)

# What a beam carries

SPEC.mistake(
    "state_of_another_beam",
    "Some beams continue with the state of another beam. Keep the state with its hypothesis: a candidate continues "
    "from the state that `step` returned for the beam that it extends.",
    change(
        SORTED + "[:beam_width]", SORTED + "[:beam_width]\nbeams = [(ids, total, s_new) for ids, total, _ in beams]"
    ),
    change(
        "candidates = []",
        "candidates, states = [], []",
        ("candidates.append((ids, total, s))", "candidates.append((ids, total, s))\nstates.append(s)"),
        (EXTEND, f"{EXTEND}\nstates.append(s_new)"),
        (END, f"beams = [(*c[:2], states[min(i, len(states) - 1)]) for i, c in enumerate(beams)]\n{END}"),
    ),
    change(
        "candidates = []",
        "candidates = []\nnow = state",
        ("np.array([y_prev]), s)", "np.array([y_prev]), now)\nnow = state = s_new"),
    ),
    change("np.array([y_prev]), s)", "np.array([y_prev]), beams[0][2])"),
    tempts="One variable for the state is enough in greedy decoding; or a list of states keeps its order while the "
    "beams are sorted.",
    keeps=["width 1"],
)
SPEC.mistake(
    "state_not_passed_on",
    "You call `step` with the initial state every time. Store the state that `step` returns with each new hypothesis, "
    "because otherwise the decoder knows only the last id.",
    change("log_p[k], s_new)", "log_p[k], s)"),
    tempts="The old and the new state are one letter apart.",
)
SPEC.mistake(
    "id_not_fed_back",
    "You feed in ⟨sos⟩ at every step. Feed in the last id of the hypothesis: the decoder has to know what it has "
    "written so far.",
    change("y_prev = ids[-1] if ids else sos_id", "y_prev = sos_id"),
    tempts="The first step needs ⟨sos⟩, and the loop repeats it.",
)
SPEC.mistake(
    "first_id_fed_back",
    "You feed in the first id of the hypothesis at every step. Feed in its last id, `ids[-1]`, which the decoder has "
    "not read yet.",
    change("y_prev = ids[-1]", "y_prev = ids[0]"),
    tempts="In a list that grows at its front, the newest entry is the first.",
)
SPEC.mistake(
    "id_of_another_beam_fed_back",
    "You feed the last id of the first beam to every beam. Feed in the last id of the hypothesis that you extend.",
    change("y_prev = ids[-1]", "y_prev = beams[0][0][-1]"),
    tempts="One variable for the previous id is enough in greedy decoding.",
    keeps=["width 1"],
)
SPEC.mistake(
    "starts_with_another_id",
    "Your first call of `step` does not get `sos_id`. Start with the `sos_id` that you are given: its number depends "
    "on the vocabulary.",
    change("else sos_id", "else eos_id"),
    change("else sos_id", "else 0"),
    change("else sos_id", "else 1"),
    tempts="In many vocabularies ⟨sos⟩ has the number 1, or 0.",
)

# The sum

SPEC.mistake(
    "logits_summed",
    "You add up logits. Add up log-probabilities, that is the `log_softmax` of the logits: logits of different steps "
    "are not comparable, because adding a constant to all logits of a step changes no probability.",
    change("log_softmax(logits)[0]", "logits[0]"),
    change("log_softmax(logits)[0]", "logits[0] - logits[0].max()"),
    tempts="For greedy decoding, the logits are enough.",
)
SPEC.mistake(
    "sum_not_carried_on",
    "Your sums contain only the last log-probability. Add the log-probability of the new id to the sum of the "
    "hypothesis that it extends.",
    change("total + log_p[k]", "log_p[k]"),
    tempts="The values that `step` gives are those of a single step.",
)
SPEC.mistake(
    "sums_mixed_up",
    "You add the log-probabilities of several ids to one sum, because `total` changes in the loop over the ids. Every "
    "candidate gets the beam's sum plus the log-probability of *its* id.",
    change(
        EXTEND, "for k in range(len(log_p)):\n    total += log_p[k]\n    candidates.append(([*ids, k], total, s_new))"
    ),
    change("total + log_p[k]", "total + log_p.sum()"),
    change("total + log_p[k]", "total + log_p.max()"),
    tempts="`+=` is how sums grow.",
)
SPEC.mistake(
    "log_probabilities_multiplied",
    "You multiply log-probabilities. Add them up: the logarithm of a product is the sum of the logarithms.",
    change("total + log_p[k]", "total * log_p[k]", ("0.0, state", "1.0, state")),
    tempts="Probabilities are multiplied, and their logarithms are easily treated alike.",
)
SPEC.mistake(
    "sum_starts_at_one",
    "Your sums start at 1. Start at 0, the logarithm of the probability 1 that the empty hypothesis has.",
    change("0.0, state", "1.0, state"),
    tempts="A product of probabilities starts at 1.",
)
SPEC.mistake(
    "softmax_twice",
    "You apply a softmax twice. `log_softmax` takes the logits themselves and returns log-probabilities.",
    change("log_softmax(logits)[0]", "log_softmax(np.exp(log_softmax(logits)))[0]"),
    tempts="A softmax first, then its logarithm: but `log_softmax` does both.",
)
SPEC.mistake(
    "log_taken_twice",
    "You take a logarithm too many: your sums are NaN, because log-probabilities are negative. `log_softmax` takes the "
    "logits themselves and returns log-probabilities, which you add up as they are.",
    change("log_softmax(logits)[0]", "np.log(log_softmax(logits)[0])"),
    tempts="The sum needs logarithms, so one is taken to be safe.",
)
SPEC.mistake(
    "another_base",
    "Your logarithms have another base. Use the natural logarithm, as `log_softmax` does.",
    change("log_softmax(logits)[0]", "log_softmax(logits)[0] / np.log(2)"),
    change("log_softmax(logits)[0]", "log_softmax(logits)[0] / np.log(10)"),
    tempts="Information is often measured in bits.",
)
SPEC.mistake(
    "sums_stay_zero",
    "All your sums stay 0. Add the log-probability of each id to the sum, with the softmax over the V ids, the last "
    "axis. Over the batch axis every id has the probability 1, and a product that starts at 0 stays 0.",
    change("log_softmax(logits)[0]", "log_softmax(logits.T)[:, 0]"),
    tempts="In an array of shape (V,) the first axis would be the right one.",
)
SPEC.mistake(
    "perplexities",
    "Your scores are perplexities. A score is the sum of log-probabilities, divided by a power of the length, without "
    "an exponential function.",
    change(SCORE, "score = np.exp(-total / len(ids) ** length_penalty)"),
    change(SCORE, "score = np.exp(-total / len(ids) ** length_penalty)", ("-pair[1])", "pair[1])")),
    change(SCORE, "score = np.exp(-total / len(ids))"),
    change(SCORE, "score = np.exp(-total / len(ids))", ("-pair[1])", "pair[1])")),
    tempts="Language models are compared by their perplexities.",
)
SPEC.mistake(
    "probabilities_multiplied",
    "Your scores are made of products of probabilities. Add up log-probabilities instead: a product of many "
    "probabilities underflows, and a mean over the ids needs a sum.",
    change(
        "log_softmax(logits)[0]",
        "np.exp(log_softmax(logits)[0])",
        ("0.0, state", "1.0, state"),
        ("total + log", "total * log"),
    ),
    change(SCORE, "score = np.exp(total) / len(ids) ** length_penalty"),
    change(SCORE, "score = np.exp(total / len(ids) ** length_penalty)"),
    tempts="The probability of a sentence is the product of those of its tokens.",
)
SPEC.mistake(
    "probabilities_summed",
    "You add up probabilities. Add up their logarithms: the probability of a hypothesis is a product, and the "
    "logarithm turns a product into a sum.",
    change("log_softmax(logits)[0]", "np.exp(log_softmax(logits)[0])"),
    tempts="A softmax gives probabilities, and the logarithm is easily forgotten.",
)
SPEC.mistake(
    "eos_not_in_the_sum",
    "Your sums lack the log-probability of ⟨eos⟩. Add it as that of any other id: it says how probable it is that the "
    "sentence ends here.",
    change("total + log_p[k]", "total + log_p[k] * (k != eos_id)"),
    change(
        "log_p[k], s_new)",
        "log_p[k], s_new if k != eos_id else total)",
        ("total, _ in beams:\n    score", "total, s in beams:\n    score"),
        (SCORE, "score = (s if ids[-1] == eos_id else total) / len(ids) ** length_penalty"),
    ),
    change("total + log_p[k]", "total + log_p[k] * (k != eos_id)", ("len(ids) **", f"max(1, len({IDS})) **")),
    change(
        "log_p[k], s_new)",
        "log_p[k], s_new if k != eos_id else total)",
        ("total, _ in beams:\n    score", "total, s in beams:\n    score"),
        (SCORE, f"score = (s if ids[-1] == eos_id else total) / max(1, len({IDS})) ** length_penalty"),
    ),
    tempts="⟨eos⟩ is no word of the sentence, so it seems to cost nothing.",
)

# The result

SPEC.mistake(
    "eos_not_counted",
    "You divide by the number of ids without ⟨eos⟩. Count ⟨eos⟩ as well, because its log-probability is part of the "
    "sum.",
    change(f"results.append(({IDS}, score))", f"results.append(({IDS}, total / max(1, len({IDS})) ** length_penalty))"),
    change(
        f"results.append(({IDS}, score))",
        f"words = {IDS}\nresults.append((words, np.float64(total) / np.float64(len(words)) ** length_penalty))",
    ),
    tempts="The length of the sentence that is returned is the number at hand.",
    keeps=UNPENALISED,
)
SPEC.mistake(
    "sos_counted",
    "You divide by a length that is one too large: it counts ⟨sos⟩. Count the ids whose log-probabilities are in the "
    "sum, ⟨eos⟩ included; the decoder has not predicted the ⟨sos⟩ that you feed in.",
    change("len(ids) **", "(len(ids) + 1) **"),
    change(
        "[([], 0.0",
        "[([sos_id], 0.0",
        ("if ids and ids[-1]", "if len(ids) > 1 and ids[-1]"),
        (IDS, "[k for k in ids[1:] if k != eos_id]"),
    ),
    tempts="A list of ids that begins with sos_id saves the distinction of the first step.",
    keeps=UNPENALISED,
)
SPEC.mistake(
    "eos_counted_in_unfinished",
    "You count an ⟨eos⟩ in unfinished hypotheses too, which have none. Divide by the number of ids whose "
    "log-probabilities are in the sum.",
    change("len(ids) **", f"(len({IDS}) + 1) **"),
    tempts="The number of words plus one is right for every finished hypothesis.",
    keeps=UNPENALISED,
)
SPEC.mistake(
    "same_length_for_all",
    "You divide all sums by the same number, whatever the lengths of the hypotheses are, so the penalty cannot change "
    "their order. Divide each sum by a power of the number of its own ids.",
    change("len(ids) **", "max_length **"),
    change("len(ids) **", "max(len(b[0]) for b in beams) **"),
    tempts="The number of steps is at hand, or finished hypotheses are padded with ⟨eos⟩.",
    keeps=UNPENALISED,
)
SPEC.mistake(
    "penalty_not_an_exponent",
    "You use `length_penalty` in another way. It is an exponent: divide the sum by n to the power of `length_penalty`.",
    change(SCORE, "score = total - length_penalty * len(ids)"),
    change(SCORE, "score = total + length_penalty * len(ids)"),
    change(SCORE, "score = total / (length_penalty * len(ids) if length_penalty else 1)"),
    change(SCORE, "score = total / max(1, length_penalty * len(ids))"),
    change(SCORE, "score = total / (1 + length_penalty * len(ids))"),
    change(SCORE, "score = total / (1 + length_penalty * (len(ids) - 1))"),
    change(SCORE, "score = total / (length_penalty ** len(ids) if length_penalty else 1)"),
    change(SCORE, "score = total / len(ids) if length_penalty else total"),
    tempts="A penalty is often a number that is subtracted or multiplied.",
    keeps=UNPENALISED,
)
SPEC.mistake(
    "power_of_the_mean",
    "You raise the mean to the power of `length_penalty`, sum and all. The exponent belongs to the length only: "
    "`**` comes before `/` where there are no parentheses.",
    change(SCORE, "score = -((-total / len(ids)) ** length_penalty)"),
    change(SCORE, "score = (total / len(ids)) ** length_penalty"),
    tempts="Parentheses around the quotient look harmless.",
)
SPEC.mistake(
    "penalty_ignored",
    "Your scores are the sums themselves, whatever `length_penalty` is. Divide each sum by the number of ids to the "
    "power of `length_penalty`.",
    change(SCORE, "score = total"),
    tempts="The penalty is an optional argument, and without it the score is the sum.",
    keeps=UNPENALISED,
)
SPEC.mistake(
    "divided_by_the_length",
    "You always divide by the number of ids. Divide by the number of ids to the power of `length_penalty`: with the "
    "default of 0 that is 1, so the score is the sum itself.",
    change(" ** length_penalty", ""),
    tempts="The mean log-probability per token is the best-known way to normalise.",
)
SPEC.mistake(
    "penalty_of_wu",
    "You use another length penalty, ((5 + n) / 6) to the power of `length_penalty`. It is that of Wu et al. (2016); "
    "here, divide by n to the power of `length_penalty`.",
    change("len(ids) **", "((5 + len(ids)) / 6) **"),
    tempts="It is in the paper on Google's translator and in many libraries.",
    keeps=UNPENALISED,
)
SPEC.mistake(
    "sorted_by_the_sum",
    "Your results are in the order of their sums. Sort them by their scores once more, because the length penalty can "
    "change the order.",
    change(RESULT, "results"),
    tempts="The beams are sorted already.",
    keeps=UNPENALISED,
)
SPEC.mistake(
    "sums_returned",
    "You sort by the scores, but return the sums. The second entry of each tuple is the score, the sum divided by n to "
    "the power of `length_penalty`.",
    change("score))", "score, total))", (RESULT, f"[(pair[0], pair[2]) for pair in {RESULT}]")),
    tempts="The sum is what the search has stored with each hypothesis.",
    keeps=UNPENALISED,
)
SPEC.mistake(
    "sorted_by_the_ids",
    "Your results are in the order of their ids. `sorted` compares tuples by their first entries: sort with a `key` "
    "that takes the score.",
    change(RESULT, "sorted(results)"),
    change(RESULT, "sorted(results, reverse=True)"),
    tempts="Sorting a list of tuples without a key raises no exception.",
    keeps=["width 1"],
)
SPEC.mistake(
    "unfinished_not_divided",
    "You divide only the sums of finished beams. Divide those of the unfinished ones as well, because scores can be "
    "compared only if all of them are made in the same way.",
    change(SCORE, f"{SCORE} if ids[-1] == eos_id else total"),
    tempts="The length of a sentence is known only when it is finished.",
    keeps=UNPENALISED,
)
SPEC.mistake(
    "scores_negated",
    "Your scores have the opposite sign. A score is the sum of log-probabilities, divided by a power of the length, so "
    "it is negative, and the best one is the largest.",
    change("score))", "-score))", ("-pair[1])", "pair[1])")),
    change("score))", "-score))"),
    tempts="A loss is a negative log-likelihood.",
)
SPEC.mistake(
    "worst_first",
    "Your results begin with the worst score. Begin with the best one, the largest: scores are negative, so it is the "
    "one closest to 0.",
    change("-pair[1])", "pair[1])"),
    tempts="`sorted` puts the smallest first, and with negative numbers that is easily overlooked.",
    keeps=["width 1"],
)
SPEC.mistake(
    "only_the_best",
    "You return only the best hypothesis. Return all beams, because the caller may want to choose among them.",
    change(RESULT, f"{RESULT}[:1]"),
    tempts="In the end, one sentence is needed.",
    keeps=["width 1"],
)
SPEC.mistake(
    "eos_kept",
    "Your ids contain ⟨eos⟩. Remove it from the ids that you return; it counts only in the sum and in the length.",
    change(IDS, "ids"),
    tempts="During the search, the final ⟨eos⟩ marks what is finished.",
)
SPEC.mistake(
    "sos_and_eos_kept",
    "Your ids contain ⟨sos⟩ and ⟨eos⟩. Return only what the decoder has predicted, without the final ⟨eos⟩, which "
    "counts only in the sum and in the length.",
    change(IDS, "[sos_id] + ids"),
    change(IDS, "[sos_id] + ids", ("len(ids) **", "(len(ids) + 1) **")),
    tempts="The list of ids is returned as the search has stored it.",
)
SPEC.mistake(
    "first_id_cut",
    "You remove the first id of every hypothesis. Remove ⟨sos⟩ only if you have stored it: the first id that the "
    "decoder has predicted belongs to the sentence.",
    change("if k != eos_id]", "if k != eos_id][1:]"),
    change("if k != eos_id]", "if k != eos_id][1:]", ("len(ids) **", "max(1, len(ids) - 1) **")),
    tempts="Where lists of ids begin with ⟨sos⟩, the first one is cut off.",
)
SPEC.mistake(
    "last_id_cut",
    "You remove the last id of every beam. Remove it only where it is ⟨eos⟩: the last id of an unfinished beam belongs "
    "to the sentence.",
    change(IDS, "ids[:-1]"),
    tempts="In an example whose beams are all finished, the last id is always ⟨eos⟩.",
)
SPEC.mistake(
    "list_shared",
    "The candidates of a beam share one list, so each of them also contains the ids of the others: `append` changes "
    "the list that all of them refer to. Make a new list for each candidate from the beam's ids, as `[*ids, k]` or "
    "`ids + [k]` does.",
    change(
        EXTEND, "for k in range(len(log_p)):\n    ids.append(k)\n    candidates.append((ids, total + log_p[k], s_new))"
    ),
    change(
        EXTEND,
        "for k in range(len(log_p)):\n    ids.append(k)\n    candidates.append((ids[:], total + log_p[k], s_new))",
    ),
    change(
        EXTEND,
        "new = [ids, total, s_new]\n"
        "for k in range(len(log_p)):\n"
        "    new[0], new[1] = [*new[0], k], new[1] + log_p[k]\n"
        "    candidates.append(new)",
    ),
    change(
        EXTEND,
        "for k in range(len(log_p)):\n    ids.append(k)\n    candidates.append((ids, total + log_p[k], s_new))",
        (IDS, "ids[:-1] if ids[-1] == eos_id else ids"),
    ),
    change(
        EXTEND,
        "for k in range(len(log_p)):\n    ids.append(k)\n    candidates.append((ids[:], total + log_p[k], s_new))",
        (IDS, "ids[:-1] if ids[-1] == eos_id else ids"),
    ),
    tempts="`append` is how lists grow, and a name looks like a copy.",
)
SPEC.mistake(
    "sos_kept",
    "Your ids begin with ⟨sos⟩. You feed it in, but the decoder has not predicted it: remove it from the ids that you "
    "return.",
    change(IDS, f"[sos_id] + {IDS}"),
    change("[([], 0.0", "[([sos_id], 0.0", ("if ids and ids[-1]", "if len(ids) > 1 and ids[-1]")),
    tempts="A list of ids that begins with sos_id saves the distinction of the first step.",
)
SPEC.mistake(
    "predicted_sos_left_out",
    "You remove every `sos_id` from your ids. Where the decoder has predicted it, treat it as an ordinary id: only the "
    "⟨sos⟩ that you feed in at the start is no part of the result.",
    change("if k != eos_id]", "if k not in (sos_id, eos_id)]"),
    tempts="Special ids are no words, so all of them are filtered out.",
)
SPEC.mistake(
    "other_ids_left_out",
    "You remove ids from the result that the decoder has predicted, such as id 0. Remove the final ⟨eos⟩ only, and "
    "treat every other id as a word, whatever its number is.",
    change("if k != eos_id]", "if k not in (0, eos_id)]"),
    change("if k != eos_id]", "if k not in (0, sos_id, eos_id)]"),
    change("if k != eos_id]", "if k > 2]"),
    tempts="In the examples, 0, 1 and 2 are ⟨pad⟩, ⟨sos⟩ and ⟨eos⟩, which are no words.",
)
SPEC.mistake(
    "a_pair_in_place_of_a_list",
    "You return a single pair. Return a list of pairs, one for each beam, also if there is only one.",
    change(RESULT, f"{RESULT}[0]"),
    tempts="In the end, one sentence is needed.",
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
