"""How `generate` is checked: against a loop in PyTorch."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Output, Spec


def oracle(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """PyTorch's cell and softmax, fed with one-hot inputs."""
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

GREEDY, SAMPLED, NONE = "ordinary", "sampled", "no steps"


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


SLIPS = ("not fed back", "not carried", "late", "late, and its own")


def tells(inputs):
    """Whether no choice is a close one, at least three ids come, and each slip in the loop gives ids of its own."""
    ids, closest = walk(**inputs)
    others = [walk(**inputs, slip=slip)[0] for slip in SLIPS]
    if "u" in inputs:
        others += [walk(**{**inputs, "u": u})[0] for u in (None, np.full(len(ids), inputs["u"][0]))]
        logits, exponentials = (walk(**inputs, sums_of=f)[0] for f in (np.positive, np.exp))
        if exponentials in (ids, *others):
            return False
        others.append(logits)
    return closest > 1e-4 and len(set(ids)) >= 3 and len({ids, *others}) == 1 + len(others)


def walk(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None, slip="", sums_of=None):
    """The ids, and how close the closest choice was; with one slip, or with u among sums that are no probabilities."""
    ids, x, h, closest = [], start_id, h_0[0], np.inf
    for step in range(num_steps):
        before, h = h, np.tanh(W_xh[x] + h @ W_hh + b_h)
        z = (before if slip.startswith("late") else h) @ W_hy + b_y
        totals = np.cumsum(sums_of(z)) if sums_of else np.cumsum(np.exp(z)) / np.exp(z).sum()
        ids.append(int(z.argmax()) if u is None else int(np.argmax(totals > u[step])))
        closest = min([closest, *np.abs(totals - u[step])] if u is not None else [closest, np.ptp(np.sort(z)[-2:])])
        x = start_id if slip == "not fed back" else ids[-1]
        if slip == "not carried":
            h = h_0[0]
        elif slip == "late, and its own":
            h = np.tanh(W_xh[x] + before @ W_hh + b_h)
    return tuple(ids), closest


def case(rng, T, V, H, kind, sampled=False, **more):
    inputs = draw(rng, T, V, H, sampled)
    while V > 2 and T > 2 and not tells(inputs):
        inputs = draw(rng, T, V, H, sampled)
    return Case(sizes={"T": T, "V": V, "H": H}, inputs={**inputs, **more}, kind=kind)


def cases(rng):
    yield case(rng, T=7, V=5, H=3, kind=GREEDY)
    yield case(rng, T=5, V=4, H=4, kind=GREEDY, u=None)
    yield case(rng, T=6, V=4, H=1, kind=GREEDY)
    yield case(rng, T=4, V=1, H=3, kind=GREEDY)
    yield case(rng, T=1, V=4, H=2, kind=GREEDY, u=None)
    yield case(rng, T=8, V=5, H=3, kind=SAMPLED, sampled=True)
    yield case(rng, T=6, V=4, H=4, kind=SAMPLED, sampled=True)
    yield case(rng, T=1, V=3, H=2, kind=SAMPLED, sampled=True)
    yield case(rng, T=0, V=3, H=2, kind=NONE)
    yield case(rng, T=0, V=4, H=3, kind=NONE, sampled=True)


SPEC = Spec(
    outputs=[Output("ids", ("T",))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("greedy", share=5, kinds=(GREEDY,)),
        Facet("sampled", share=5, kinds=(SAMPLED,)),
        Facet("no steps", share=2, kinds=(NONE,)),
    ],
    why="""
Two things go round the loop: the state, which carries what has been read, and the id, which is read next.
A one-hot row times `W_xh` is the row of `W_xh` that belongs to the id, so `W_xh[id]` does without the product.
The logits are made from the *new* state: the network has to read an id before it can say what follows.
Where `u` is None the largest logit wins, and no softmax is needed for that, because a softmax keeps the order.
Otherwise each step has its own `u[t]`. The ids go into an array whose type is named, so that it holds integers even if
there are none in it.
""",
)


@SPEC.misconception()
def start_id_comes_first(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """Tempting because the text that one prints begins with it, and a list [start_id] starts the loop so well."""
    ids, h_t = [start_id], h_0
    for t in range(num_steps):
        h_t = np.tanh(W_xh[ids[-1]] + h_t @ W_hh + b_h)
        logits = (h_t @ W_hy + b_y)[0]
        p = np.exp(logits) / np.exp(logits).sum()
        ids.append(int(np.argmax(logits)) if u is None else int(np.argmax(np.cumsum(p) > u[t])))
    return np.array(ids)


@SPEC.misconception("start_id_comes_first")
def start_id_comes_first_and_the_last_is_missing(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """The same, cut to the right length from the wrong end."""
    ids, h_t = [start_id], h_0
    for t in range(num_steps - 1):
        h_t = np.tanh(W_xh[ids[-1]] + h_t @ W_hh + b_h)
        logits = (h_t @ W_hy + b_y)[0]
        p = np.exp(logits) / np.exp(logits).sum()
        ids.append(int(np.argmax(logits)) if u is None else int(np.argmax(np.cumsum(p) > u[t])))
    return np.array(ids)


@SPEC.misconception(keeps=["no steps"])
def id_not_fed_back(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """Tempting because the loop runs and changes its output, as the state moves on; but it always reads start_id."""
    ids, h_t = [], h_0
    for t in range(num_steps):
        h_t = np.tanh(W_xh[start_id] + h_t @ W_hh + b_h)
        logits = (h_t @ W_hy + b_y)[0]
        p = np.exp(logits) / np.exp(logits).sum()
        ids.append(int(np.argmax(logits)) if u is None else int(np.argmax(np.cumsum(p) > u[t])))
    return np.array(ids, dtype=np.int64)


@SPEC.misconception(keeps=["no steps"])
def state_not_carried(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """Tempting because the id goes round already; without the state the next id depends on the last one alone."""
    ids, x_t = [], start_id
    for t in range(num_steps):
        logits = (np.tanh(W_xh[x_t] + h_0 @ W_hh + b_h) @ W_hy + b_y)[0]
        p = np.exp(logits) / np.exp(logits).sum()
        x_t = int(np.argmax(logits)) if u is None else int(np.argmax(np.cumsum(p) > u[t]))
        ids.append(x_t)
    return np.array(ids, dtype=np.int64)


@SPEC.misconception(keeps=["no steps"])
def says_before_it_reads(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """Tempting because h_0 is there from the beginning, so that the loop starts with the output: one step late."""
    ids, x_t, h_t = [], start_id, h_0
    for t in range(num_steps):
        logits = (h_t @ W_hy + b_y)[0]
        h_t = np.tanh(W_xh[x_t] + h_t @ W_hh + b_h)
        p = np.exp(logits) / np.exp(logits).sum()
        x_t = int(np.argmax(logits)) if u is None else int(np.argmax(np.cumsum(p) > u[t]))
        ids.append(x_t)
    return np.array(ids, dtype=np.int64)


@SPEC.misconception("says_before_it_reads")
def says_before_it_reads_what_it_said(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """The same, reading each time the id that it has just said; start_id is never read."""
    ids, h_t = [], h_0
    for t in range(num_steps):
        logits = (h_t @ W_hy + b_y)[0]
        p = np.exp(logits) / np.exp(logits).sum()
        ids.append(int(np.argmax(logits)) if u is None else int(np.argmax(np.cumsum(p) > u[t])))
        h_t = np.tanh(W_xh[ids[-1]] + h_t @ W_hh + b_h)
    return np.array(ids, dtype=np.int64)


@SPEC.misconception(keeps=["greedy", "no steps"])
def always_greedy(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """Tempting because without u it is finished."""
    ids, x_t, h_t = [], start_id, h_0
    for _ in range(num_steps):
        h_t = np.tanh(W_xh[x_t] + h_t @ W_hh + b_h)
        x_t = int(np.argmax(h_t @ W_hy + b_y))
        ids.append(x_t)
    return np.array(ids, dtype=np.int64)


@SPEC.misconception(keeps=["greedy", "no steps"])
def softmax_forgotten(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """Tempting because greedily the logits are enough."""
    ids, x_t, h_t = [], start_id, h_0
    for t in range(num_steps):
        h_t = np.tanh(W_xh[x_t] + h_t @ W_hh + b_h)
        logits = (h_t @ W_hy + b_y)[0]
        x_t = int(np.argmax(logits)) if u is None else int(np.argmax(np.cumsum(logits) > u[t]))
        ids.append(x_t)
    return np.array(ids, dtype=np.int64)


@SPEC.misconception("softmax_forgotten")
def softmax_not_divided(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """The same, with the exponentials but without the division by their sum."""
    ids, x_t, h_t = [], start_id, h_0
    for t in range(num_steps):
        h_t = np.tanh(W_xh[x_t] + h_t @ W_hh + b_h)
        logits = (h_t @ W_hy + b_y)[0]
        x_t = int(np.argmax(logits)) if u is None else int(np.argmax(np.cumsum(np.exp(logits)) > u[t]))
        ids.append(x_t)
    return np.array(ids, dtype=np.int64)


@SPEC.misconception(keeps=["greedy", "no steps"])
def one_u_for_all_steps(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """Tempting because sample_id takes one number; each step has one of its own."""
    ids, x_t, h_t = [], start_id, h_0
    for _ in range(num_steps):
        h_t = np.tanh(W_xh[x_t] + h_t @ W_hh + b_h)
        logits = (h_t @ W_hy + b_y)[0]
        p = np.exp(logits) / np.exp(logits).sum()
        x_t = int(np.argmax(logits)) if u is None else int(np.argmax(np.cumsum(p) > u[0]))
        ids.append(x_t)
    return np.array(ids, dtype=np.int64)


@SPEC.misconception()
def ids_as_floats(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """Tempting because np.zeros(num_steps) makes floats unless it is told otherwise."""
    ids, x_t, h_t = np.zeros(num_steps), start_id, h_0
    for t in range(num_steps):
        h_t = np.tanh(W_xh[x_t] + h_t @ W_hh + b_h)
        logits = (h_t @ W_hy + b_y)[0]
        p = np.exp(logits) / np.exp(logits).sum()
        x_t = int(np.argmax(logits)) if u is None else int(np.argmax(np.cumsum(p) > u[t]))
        ids[t] = x_t
    return ids


@SPEC.misconception(keeps=["greedy", "sampled"])
def no_ids_are_floats(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """Tempting because np.array of a list of integers is right, until the list is empty: then it holds floats."""
    ids, x_t, h_t = [], start_id, h_0
    for t in range(num_steps):
        h_t = np.tanh(W_xh[x_t] + h_t @ W_hh + b_h)
        logits = (h_t @ W_hy + b_y)[0]
        p = np.exp(logits) / np.exp(logits).sum()
        x_t = int(np.argmax(logits)) if u is None else int(np.argmax(np.cumsum(p) > u[t]))
        ids.append(x_t)
    return np.array(ids)


@SPEC.misconception("no_ids_are_floats")
def no_ids_cannot_be_stacked(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """The same with np.stack, which raises ValueError where there is nothing to stack."""
    ids, x_t, h_t = [], start_id, h_0
    for t in range(num_steps):
        h_t = np.tanh(W_xh[x_t] + h_t @ W_hh + b_h)
        logits = (h_t @ W_hy + b_y)[0]
        p = np.exp(logits) / np.exp(logits).sum()
        x_t = np.argmax(logits) if u is None else np.argmax(np.cumsum(p) > u[t])
        ids.append(x_t)
    return np.stack(ids)


@SPEC.alternative
def one_hot_and_filled(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """One-hot inputs, an array made beforehand, and a search among the sums."""
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
    """The one row of the state as a vector, and greedy as a special choice of u."""
    ids, h_t, last = [], h_0[0], start_id
    for t in range(num_steps):
        h_t = np.tanh(W_xh[last] + h_t @ W_hh + b_h)
        e = np.exp(h_t @ W_hy + b_y)
        if u is None:
            last = max(range(len(e)), key=e.__getitem__)
        else:
            last = next(i for i in range(len(e)) if e[: i + 1].sum() > u[t] * e.sum())
        ids += [last]
    return np.array(ids, dtype=int)


@SPEC.alternative
def by_recursion(start_id, num_steps, h_0, W_xh, W_hh, b_h, W_hy, b_y, u=None):
    """The first new id, then the rest from there."""
    if num_steps == 0:
        return np.zeros(0, dtype=np.int64)
    h_1 = np.tanh(W_xh[[start_id]] + h_0 @ W_hh + b_h)
    logits = (h_1 @ W_hy + b_y)[0]
    totals = np.cumsum(np.exp(logits - logits.max()))
    new = logits.argmax() if u is None else (totals <= u[0] * totals[-1]).sum()
    later = None if u is None else u[1:]
    rest = by_recursion(new, num_steps - 1, h_1, W_xh, W_hh, b_h, W_hy, b_y, later)
    return np.concatenate([[new], rest])
