"""How `beam_search` is checked: against a search that stores ids only and reads them again from the first."""

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

    def raw(ids):
        return sum(after(ids[:t])[0][id_] for t, id_ in enumerate(ids))

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


def ties_across_lengths(rng):
    """Four equal sums for three places, those of hypotheses with two ids, one of them finished, and with three. The
    earliest beam has the larger ids. All probabilities are 1, 1/2 or practically 0 until the last step, so the sums are
    equal for every way of adding them up.
    """
    sos_id = int(rng.integers(6))
    w, y, x, v, eos_id = (id_ for id_ in range(6) if id_ != sos_id)

    def equally(*ids):
        return np.exp([0.0 if id_ in ids else -45.0 for id_ in range(6)])

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
    """A greedy path with a predicted ⟨sos⟩ that ends, one that does not, and one that ends at once. In the first, id 0
    comes before ⟨eos⟩.
    """
    eos_id = int(rng.integers(1, V))
    sos_id, *words = (id_ for id_ in rng.permutation(V).tolist() if id_ != eos_id)
    words.sort(key=lambda id_: id_ != 0)
    yield path_case(rng, [words[0], sos_id, words[1], eos_id], V, sos_id, eos_id, T, rival=True)
    yield path_case(rng, [words[1], words[0], sos_id, words[1], words[0]], V, sos_id, eos_id, 4)
    yield path_case(rng, [eos_id], V, sos_id, eos_id, 3)


def table_inputs(rng, V, T, W, at_once=False, ends=False, **more):
    """A decoder with four nodes for each step, which lead to those of the next step at random, so that no two
    hypotheses have equal sums. ⟨eos⟩ is more probable than most ids. If a sentence can end `at_once`, it is the most
    probable first id. If the table `ends`, step T + 1 raises an exception; otherwise, it stays at the last nodes.
    """
    sos_id, eos_id = (int(id_) for id_ in rng.choice(V, size=2, replace=False))
    N = 1 + 4 * T
    logits = 1.2 * rng.normal(size=(N, V))
    depth = (np.arange(N) + 3) // 4  # of each node: 0, 1, 1, 1, 1, 2, …
    children = 4 * np.minimum(depth, T - 1)[:, None] + rng.integers(1, 5, size=(N, V))
    if ends:
        children[depth == T] = -1
    logits[:, eos_id] += rng.uniform(0.3, 1.0)
    logits[:, sos_id] += 0.5
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
    "unfinished lost",
    "last state",
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
            if ids[-1:] == (eos,):
                candidates += [(ids, total, node)] if slip != "dropped" else []
                continue
            new = [((*ids, k), total + p, children[node][k]) for k, p in enumerate(log_p[node])]
            candidates += sorted(new, key=lambda c: -c[1])[:W] if slip == "each beam" else new
        candidates.sort(key=lambda c: -c[1])
        if not slip and np.diff([-c[1] for c in candidates[: W + 1]]).min(initial=1.0) < 1e-6:
            return None
        beams = candidates if slip == "each beam" else candidates[: W - (len(aside) if "fewer" in slip else 0)]
        if "aside" in slip:
            aside += [c for c in beams if c[0][-1] == eos]
            beams = [c for c in beams if c[0][-1] != eos]
        if slip == "last state" and beams:
            beams = [(ids, total, children[beams[-1][2]][ids[-1]]) for ids, total, _ in beams]
        ended = [c[0][-1] == eos for c in beams]
        if all(ended) or (slip == "first finished" and any(ended)):
            break
    found = [c for c in [*aside, *beams] if slip != "unfinished lost" or c[0][-1] == eos]
    scored = sorted(((total / len(ids) ** penalty, ids) for ids, total, _ in found), reverse=True)[:W]
    return tuple((ids, round(score, 9)) for score, ids in scored)


def tells(inputs):
    """Whether each of the slips shows, some results are finished and some not, and ⟨sos⟩ is predicted."""
    right = quick_search(inputs)
    if right is None:
        return False
    finished = {ids[-1] == inputs["eos_id"] for ids, _ in right}
    penalty = inputs.get("length_penalty", 0.0)
    sums = [score * len(ids) ** penalty for ids, score in right]
    return (
        len(finished) == 2
        and any(inputs["sos_id"] in ids for ids, _ in right)
        and (penalty == 0 or sums != sorted(sums, reverse=True))  # the order by scores is not that by sums
        and all(quick_search(inputs, slip) != right for slip in SLIPS)
    )


def table_case(rng, kind, T, W, **sizes):
    """The first of up to 1000 draws in which the slips show."""
    for _ in range(1000):
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
    yield from path_cases(rng, V=5, T=6)
    yield gru_case(rng, V=5, D=3, H=4, L=2, T=5, W=1, kind=ONE)
    yield table_case(rng, SEVERAL, V=4, T=4, W=2)
    yield table_case(rng, SEVERAL, V=5, T=5, W=3)
    yield gru_case(rng, V=6, D=2, H=3, L=1, T=4, W=3, kind=SEVERAL)
    yield gru_case(rng, V=5, D=4, H=3, L=2, T=6, W=2, kind=SEVERAL)
    yield Case({"T": 1, "W": 3}, table_inputs(rng, V=5, T=1, W=3), kind=SEVERAL)
    yield Case({"T": 4, "W": 2}, table_inputs(rng, V=5, T=4, W=2, at_once=True), kind=SEVERAL)
    yield Case({"T": 3, "W": 40}, table_inputs(rng, V=3, T=3, W=40, ends=True), kind=SEVERAL)
    labels = rng.permutation(6).tolist()
    yield lengths(labels)
    yield ties(rng)
    yield ties_across_lengths(rng)
    yield example(length_penalty=1.0)
    yield lengths(labels, length_penalty=0.5)
    yield table_case(rng, PENALTY, V=4, T=5, W=3, length_penalty=1.0)
    yield table_case(rng, PENALTY, V=5, T=4, W=3, length_penalty=0.7)
    yield gru_case(rng, V=6, D=3, H=4, L=2, T=5, W=4, kind=PENALTY, length_penalty=1.4)


SPEC = Spec(
    outputs=[Output("beams")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("width 1", share=2, kinds=(ONE,)),
        Facet("several beams", share=3, kinds=(SEVERAL,)),
        Facet("ties", share=1, kinds=(TIES,)),
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
    keeps=["width 1", "ties"],
)
SPEC.mistake(
    "finished_beams_extended",
    "You extend hypotheses that already end with ⟨eos⟩, so their sums shrink and other ids follow ⟨eos⟩. Once a "
    "hypothesis ends with ⟨eos⟩, take it into the next step as it is.",
    change(TEST, ""),
    change(TEST, "", (IDS, "ids[: ids.index(eos_id)] if eos_id in ids else ids")),
    change(TEST, "", (IDS, "ids[:-1] if ids[-1] == eos_id else ids")),
    tempts="The loop treats all beams alike, and ⟨eos⟩ is removed at the end anyway.",
    keeps=["width 1", "ties"],
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
ASIDE = (
    END,
    "done += [c for c in beams if c[0][-1] == eos_id]\nbeams = [c for c in beams if c[0][-1] != eos_id]\nif not beams:",
    ("beams = [([]", "done = []\nbeams = [([]"),
    ("in beams:\n    score", "in done + beams:\n    score"),
    ("-pair[1])", "-pair[1])[:beam_width]"),
)
SPEC.mistake(
    "finished_beams_put_aside",
    "You put finished beams aside, where they no longer compete. Leave them among the beams, each as one candidate of "
    "the next step: it takes up one of the `beam_width` places, and it is pruned when hypotheses with larger sums need "
    "its place.",
    change(*ASIDE),
    change(*ASIDE, ("-c[1])[:beam_width]", "-c[1])[: beam_width - len(done)]")),
    change(*ASIDE[:2], ASIDE[2], ASIDE[3]),
    change(ASIDE[0], ASIDE[1].replace("if not beams:", "if not beams or len(done) >= beam_width:"), *ASIDE[2:]),
    change(*ASIDE[:3], ("in beams:\n    score", "in done or beams:\n    score"), ASIDE[4]),
    tempts="Many implementations have a list of finished hypotheses, and rules of their own for when to stop.",
    keeps=["width 1"],
)
SPEC.mistake(
    "only_the_finished_put_aside",
    "You put finished beams aside, where they no longer compete, and return only these. Leave them among the beams, "
    "each as one candidate of the next step, and return all beams of the last step, finished or not.",
    change(*ASIDE[:3], ("in beams:\n    score", "in done:\n    score"), ASIDE[4]),
    tempts="A list of finished sentences looks like the result.",
)
SPEC.mistake(
    "every_ended_candidate_stored",
    "You store every candidate that ends with ⟨eos⟩, even if it is not among the best of its step. It must be one of "
    "the `beam_width` candidates with the largest sums, and as a beam it goes on competing for its place.",
    change(
        TEST,
        "",
        (END, "if not beams:"),
        ("beams = [([]", "done = []\nbeams = [([]"),
        (SORTED, "sorted((c for c in candidates if c[0][-1] != eos_id), key=lambda c: -c[1])"),
        ("if not beams:", "done += [c for c in candidates if c[0][-1] == eos_id]\nif not beams:"),
        ("in beams:\n    score", "in done + beams:\n    score"),
        ("-pair[1])", "-pair[1])[:beam_width]"),
    ),
    tempts="A complete sentence is a result, so it seems a pity to lose it.",
)
SPEC.mistake(
    "eos_never_a_candidate",
    "You leave out the candidates that end with ⟨eos⟩, so no hypothesis is ever finished. Extend by all V ids; ⟨eos⟩ "
    "is one of them.",
    change("in range(len(log_p))]", "in range(len(log_p)) if k != eos_id]"),
    tempts="⟨eos⟩ must not be in the result, so it is left out where the ids come from.",
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
    tempts="Without a penalty, no other hypothesis can overtake the first one any more.",
    keeps=["width 1", "ties"],
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

# Which candidates stay

SPEC.mistake(
    "pruned_by_score",
    "You prune by the sums divided by the lengths. Compare the sums themselves while you search, and use "
    "`length_penalty` only for the scores of the result.",
    change("-c[1])", "-c[1] / len(c[0]) ** length_penalty)"),
    tempts="The score is what counts in the end, so it seems right to prune by it.",
    keeps=UNPENALISED,
)
SPEC.mistake(
    "pruned_by_the_mean",
    "You prune by the mean of the log-probabilities. Compare the sums themselves while you search: lengths count only "
    "in the scores of the result.",
    change("-c[1])", "-c[1] / len(c[0]))"),
    tempts="Finished hypotheses are shorter, and a mean makes hypotheses of different lengths comparable.",
    keeps=["width 1", "ties"],
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

# The sum

SPEC.mistake(
    "logits_summed",
    "You add up logits. Add up log-probabilities, that is the `log_softmax` of the logits: logits of different steps "
    "are not comparable, because adding a constant to all logits of a step changes no probability.",
    change("log_softmax(logits)[0]", "logits[0]"),
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
    "last_id_cut",
    "You remove the last id of every beam. Remove it only where it is ⟨eos⟩: the last id of an unfinished beam belongs "
    "to the sentence.",
    change(IDS, "ids[:-1]"),
    tempts="In an example whose beams are all finished, the last id is always ⟨eos⟩.",
)
SPEC.mistake(
    "list_shared",
    "Your candidates share one list of ids: `append` changes the list that all candidates of a beam refer to. Make a "
    "new list for each candidate, as `[*ids, k]` or `ids + [k]` does.",
    change(
        EXTEND, "for k in range(len(log_p)):\n    ids.append(k)\n    candidates.append((ids, total + log_p[k], s_new))"
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
    keeps=["ties"],
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
