"""How `generate` is checked: against a loop in PyTorch."""

from dataclasses import replace

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead


def oracle(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """PyTorch's cell and softmax, with one-hot inputs."""
    V, H = W_xh.shape
    cell = torch.nn.RNNCell(V, H, dtype=torch.float64)
    ids, state = [start_id], torch.from_numpy(h_0)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.from_numpy(W_xh.T))
        cell.weight_hh.copy_(torch.from_numpy(W_hh.T))
        cell.bias_ih.copy_(torch.from_numpy(b_h))
        cell.bias_hh.zero_()
        for step in range(num_steps):
            one_hot = torch.nn.functional.one_hot(torch.tensor(ids[-1:]), V).to(torch.float64)
            state = cell(one_hot, state)
            logits = state @ torch.from_numpy(W_hy) + torch.from_numpy(b_y)
            if u is None:
                ids.append(int(logits[0].argmax()))
            else:
                totals = torch.cumsum(torch.softmax(logits[0], 0), 0).tolist()
                ids.append(next(index for index, total in enumerate(totals) if total > u[step]))
    return np.array(ids[1:], dtype=np.int64)


EXAMPLE = Case(
    sizes={"T": 4, "V": 3, "H": 1},
    inputs={
        "start_id": 1,
        "num_steps": 4,
        "h_0": np.array([[-0.80]]),
        "W_xh": np.array([[0.90], [-1.40], [4.00]]),
        "W_hh": np.array([[-0.20]]),
        "b_h": np.array([-1.00]),
        "W_hy": np.array([[2.20, 0.70, -0.10]]),
        "b_y": np.array([0.20, 0.30, -0.10]),
    },
)
GREEDY, SAMPLED, LARGE, NONE = "ordinary", "sampled", "large logits", "no steps"


def draw(rng, T, V, H, sampled):
    """The inputs of one call."""
    inputs = {
        "start_id": int(rng.integers(V)),
        "num_steps": T,
        "h_0": rng.uniform(-0.9, 0.9, size=(1, H)),
        "W_xh": 1.5 * rng.normal(size=(V, H)),
        "W_hh": 1.5 * rng.normal(size=(H, H)) / np.sqrt(H),
        "b_h": rng.normal(size=H),
        "W_hy": 2 * rng.normal(size=(H, V)) / np.sqrt(H),
        "b_y": rng.normal(size=V) / 2,
    }
    return {**inputs, "u": rng.uniform(size=T)} if sampled else inputs


SLIPS = ("not fed back", "h_0 at every step", "late", "late, and its own", "no tanh", "not cleared", "read again")


def tells(inputs):
    """Whether no choice is close, at least three different ids occur, and each slip in the loop gives other ids."""
    ids, closest = run_loop(**inputs)
    others = [run_loop(**inputs, slip=slip)[0] for slip in SLIPS]
    others.append((*ids[:-1], 0))  # the last id was never written
    if "u" in inputs:
        others += [run_loop(**{**inputs, "u": u})[0] for u in (None, np.full(len(ids), inputs["u"][0]))]
        logits, exponentials = (run_loop(**inputs, sums_of=f)[0] for f in (np.positive, np.exp))
        others.append((0,) * len(ids))
        if exponentials in (ids, *others):
            return False
        others += [logits, run_loop(**inputs, slip="most probable fed back")[0], run_loop(**inputs, sums_of=tanh)[0]]
    return closest > 1e-4 and len(set(ids)) >= 3 and len({ids, *others}) == 1 + len(others)


def tanh(z):
    """The probabilities if the logits pass through a tanh first."""
    e = np.exp(np.tanh(z))
    return e / e.sum()


def run_loop(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None, slip="", sums_of=None):
    """The ids, and how close the closest choice was; with one slip, or with sums of numbers other than probs."""
    ids, x, h, closest = [], start_id, h_0[0], np.inf
    for step in range(num_steps):
        read = W_xh[[*{start_id, *ids}]].sum(axis=0) if slip == "not cleared" else W_xh[x]
        for again in (start_id, *ids[:-1]) if slip == "read again" and ids else ():
            h = np.tanh(W_xh[again] + h @ W_hh + b_h)
        before, h = h, (np.positive if slip == "no tanh" else np.tanh)(read + h @ W_hh + b_h)
        z = (before if slip.startswith("late") else h) @ W_hy + b_y
        e = np.exp(z - z.max())
        totals = np.cumsum(sums_of(z)) if sums_of else np.cumsum(e) / e.sum()
        ids.append(int(z.argmax()) if u is None else int(np.argmax(totals > u[step])))
        closest = min([closest, *np.abs(totals - u[step])] if u is not None else [closest, np.ptp(np.sort(z)[-2:])])
        x = {"not fed back": start_id, "most probable fed back": int(z.argmax())}.get(slip, ids[-1])
        if slip == "h_0 at every step":
            h = h_0[0]
        elif slip == "late, and its own":
            h = np.tanh(W_xh[x] + before @ W_hh + b_h)
    return tuple(ids), closest


def case(rng, T, V, H, kind, sampled=False, **more):
    inputs = draw(rng, T, V, H, sampled)
    while V > 2 and T > 2 and not tells(inputs):
        inputs = draw(rng, T, V, H, sampled)
    return Case(sizes={"T": T, "V": V, "H": H}, inputs={**inputs, **more}, kind=kind)


def u_of_zero(rng, V, H):
    """One step with u = 0, which draws id 0, where another id is the most probable."""
    while True:
        inputs = {**draw(rng, 1, V, H, sampled=True), "u": np.zeros(1)}
        if run_loop(**{**inputs, "u": None})[0] != (0,):
            return Case(sizes={"T": 1, "V": V, "H": H}, inputs=inputs, kind=SAMPLED)


def far_from_zero(rng, T, V, H, distance):
    """All logits shifted by the same distance, which changes no probability."""
    case_ = case(rng, T, V, H, LARGE, sampled=True)
    return replace(case_, inputs={**case_.inputs, "b_y": case_.inputs["b_y"].round(6) + distance})


def cases(rng):
    yield case(rng, T=7, V=5, H=3, kind=GREEDY)
    yield case(rng, T=5, V=4, H=4, kind=GREEDY, u=None)
    yield case(rng, T=6, V=4, H=1, kind=GREEDY)
    yield case(rng, T=4, V=1, H=3, kind=GREEDY)
    yield case(rng, T=1, V=4, H=2, kind=GREEDY, u=None)
    twice = case(rng, T=8, V=5, H=3, kind=SAMPLED, sampled=True)
    yield twice
    yield case(rng, T=6, V=4, H=4, kind=SAMPLED, sampled=True)
    yield twice  # the same call again, which shows a student's own random numbers
    yield u_of_zero(rng, V=3, H=2)
    yield far_from_zero(rng, T=6, V=5, H=3, distance=1000)
    yield far_from_zero(rng, T=5, V=4, H=4, distance=-1000)
    yield case(rng, T=0, V=3, H=2, kind=NONE)
    yield case(rng, T=0, V=4, H=3, kind=NONE, sampled=True)


SPEC = Spec(
    outputs=[Output("ids", ("T",))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("greedy", share=5, kinds=(GREEDY,)),
        Facet("sampled", share=4, kinds=(SAMPLED,)),
        Facet("large logits", share=1, kinds=(LARGE,)),
        Facet("no steps", share=2, kinds=(NONE,)),
    ],
)
STEP = "h_t = np.tanh(W_xh[x_t] + h_t @ W_hh + b_h)"
DRAWN = "sample_id(e / e.sum(), u[t])"
FILLED = (
    "ids, x_t, h_t = [], start_id, h_0",
    "ids = np.zeros(num_steps, dtype=np.int64)\nids[0] = start_id\nx_t, h_t = start_id, h_0",
    ("range(num_steps)", "range(num_steps - 1)"),
    ("ids.append(x_t)", "ids[t + 1] = x_t"),
    ("np.array(ids, dtype=np.int64)", "ids"),
)


def with_the_batch_axis(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    ids, x_t, h_t = np.zeros((num_steps, 1), dtype=np.int64), start_id, h_0
    for t in range(num_steps):
        h_t = np.tanh(W_xh[x_t] + h_t @ W_hh + b_h)
        logits = h_t @ W_hy + b_y
        e = np.exp(logits - logits.max())
        totals = np.cumsum(e / e.sum(), axis=1)
        ids[t] = x_t = np.argmax(logits if u is None else totals > u[t], axis=1)
    return ids if num_steps > 0 else np.array([], dtype=np.int64)


SPEC.mistakes(
    {
        "start_id_comes_first": [
            change("x_t, h_t = []", "x_t, h_t = [start_id]"),
            change("x_t, h_t = []", "x_t, h_t = [start_id]", ("range(num_steps)", "range(num_steps - 1)")),
            change(*FILLED),
            change(*FILLED, ("u[t]", "u[t + 1]")),
        ],
        "ids_as_floats": change("dtype=np.int64", "dtype=float"),
        **instead(
            "np.array(ids, dtype=np.int64)",
            {
                "last_id_only": "x_t",
                "list_of_ids": "ids",
            },
        ),
    }
)


def read_again(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    ids, h_t = [], h_0[0]
    for t in range(num_steps):
        for x_t in (start_id, *ids):
            h_t = np.tanh(W_xh[x_t] + h_t @ W_hh + b_h)
        logits = h_t @ W_hy + b_y
        e = np.exp(logits - logits.max())
        ids.append(int(np.argmax(logits if u is None else np.cumsum(e / e.sum()) > u[t])))
    return np.array(ids, dtype=np.int64)


SPEC.mistakes(
    {
        "text_read_again": read_again,
        "stores_the_id_it_reads": change("ids.append(x_t)", "", (STEP, f"ids.append(x_t)\n{STEP}")),
        "id_not_fed_back": change("W_xh[x_t]", "W_xh[start_id]"),
        "h_0_used_at_every_step": change("h_t @ W_hh", "h_0 @ W_hh"),
        "logits_before_the_step": [
            change(STEP, "", ("b_y)[0]", f"b_y)[0]\n{STEP}")),
            change(STEP, "", ("ids.append(x_t)", f"ids.append(x_t)\n{STEP}")),
        ],
        "first_step_left_out": change("range(num_steps)", "range(1, num_steps)"),
        "last_id_never_written": change(
            "range(num_steps)",
            "range(num_steps - 1)",
            ("np.array(ids, ", "np.array(ids + [0] * (num_steps - len(ids)), "),
        ),
        "one_hot_not_cleared": change(
            "h_t = []",
            "h_t, x = []",
            ("start_id, h_0", "start_id, h_0, np.zeros((1, len(W_xh)))"),
            (STEP, "x[0, x_t] = 1\nh_t = np.tanh(x @ W_xh + h_t @ W_hh + b_h)"),
        ),
        "no_tanh": change(STEP, "h_t = W_xh[x_t] + h_t @ W_hh + b_h"),
        "ids_in_a_column": with_the_batch_axis,
    },
    keeps=["no steps"],
)
SPEC.mistakes(
    {
        "always_greedy": change(DRAWN, "int(np.argmax(logits))"),
        "no_softmax": [
            *(change(DRAWN, f"int(np.argmax(np.cumsum({p}) > u[t]))") for p in ("logits", "np.exp(logits)")),
            change("e / e.sum()", "logits"),
        ],
        "one_u_for_all_steps": change("u[t]", "u[0]"),
        "every_sampled_id_is_0": change("e / e.sum()", "np.ones_like(logits)"),
        "tanh_of_the_logits": change("(h_t @ W_hy + b_y)[0]", "np.tanh(h_t @ W_hy + b_y)[0]"),
        "most_probable_id_fed_back": change(
            "x_t = int(np.argmax(logits))",
            "new_id = int(np.argmax(logits))",
            (f"x_t = {DRAWN}", f"new_id = {DRAWN}"),
            ("ids.append(x_t)", "ids.append(new_id)\nx_t = int(np.argmax(logits))"),
        ),
        "sampled_id_not_fed_back": change(
            f"x_t = {DRAWN}",
            f"new_id = {DRAWN}",
            ("x_t = int(np.argmax(logits))", "new_id = x_t = int(np.argmax(logits))"),
            ("ids.append(x_t)", "ids.append(new_id)"),
        ),
        "truth_of_u": change("if u is None:", "if not u:"),
    },
    keeps=["greedy", "no steps"],
)
SPEC.mistakes(
    {
        "no_integers_without_steps": [
            change(", dtype=np.int64", ""),
            change("np.array(ids, dtype=np.int64)", "np.stack(ids)"),
        ],
    },
    keeps=["greedy", "sampled", "large logits"],
)
SPEC.mistakes(
    {
        "none_not_handled": change("if u is None:", "if False:"),
    },
    keeps=["sampled", "large logits", "no steps"],
)
SPEC.mistakes(
    {
        "softmax_overflows": [
            change(" - logits.max()", ""),
            change(" - logits.max()", "", (DRAWN, "int(np.argmax(np.cumsum(e / e.sum()) > u[t]))")),
        ],
        "logits_clipped": [
            change("e =", f"z = np.{clipped}\ne =", ("logits - logits.max()", "z - z.max()"))
            for clipped in ("clip(logits, -500, 500)", "minimum(logits, 500)", "clip(logits, None, 50)")
        ],
    },
    keeps=["greedy", "sampled", "no steps"],
)


@SPEC.alternative
def one_hot_and_filled(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """One-hot inputs, a preallocated array, and np.searchsorted."""
    ids = np.zeros(num_steps, dtype=np.int64)
    x_t, h_t = np.zeros((1, W_xh.shape[0])), h_0
    x_t[0, start_id] = 1
    for t in range(num_steps):
        h_t = np.tanh(x_t @ W_xh + h_t @ W_hh + b_h)
        logits = h_t @ W_hy + b_y
        p = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))[0]
        ids[t] = p.argmax() if u is None else np.searchsorted(np.cumsum(p), u[t], side="right")
        x_t = np.zeros_like(x_t)
        x_t[0, ids[t]] = 1
    return ids


@SPEC.alternative
def with_a_vector_for_a_state(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """The only row of the state as a vector."""
    ids, h_t, last = [], h_0[0], start_id
    for t in range(num_steps):
        h_t = np.tanh(W_xh[last] + h_t @ W_hh + b_h)
        logits = h_t @ W_hy + b_y
        e = np.exp(logits - logits.max())
        if u is None:
            last = max(range(len(e)), key=e.__getitem__)
        else:
            last = next(i for i in range(len(e)) if e[: i + 1].sum() > u[t] * e.sum())
        ids += [last]
    return np.array(ids, dtype=int)


@SPEC.alternative
def by_recursion(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """The first new id, then the rest, starting from it."""
    if num_steps == 0:
        return np.zeros(0, dtype=np.int64)
    h_1 = np.tanh(W_xh[[start_id]] + h_0 @ W_hh + b_h)
    logits = (h_1 @ W_hy + b_y)[0]
    totals = np.cumsum(np.exp(logits - logits.max()))
    new = logits.argmax() if u is None else (totals <= u[0] * totals[-1]).sum()
    later = None if u is None else u[1:]
    rest = by_recursion(new, num_steps - 1, h_1, W_xh, W_hh, b_h, W_hy, b_y, later)
    return np.concatenate([[new], rest])
