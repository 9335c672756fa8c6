"""How `train_char_rnn` is checked: by its calls of `loss_and_grads`, which `train_char_rnn_judge.py` judges.

In most cases that function gives scripted values: whatever they are, the next call shows what was made of them.
In the case "hello" it is a network, whose gradients come by central differences.
"""

import numpy as np

from grader.author.spec import Case, Facet, Fixture, Output, Spec

SCRIPTED, HELLO, BY_HAND = "ordinary", "hello", "the notebook's example"


def shapes(V, H):
    return {"W_xh": (V, H), "W_hh": (H, H), "b_h": (H,), "W_hy": (H, V), "b_y": (V,)}


def script(rng, V, H, num_updates):
    """A loss, gradients and a last state for each update; some gradients are large enough for clipping to show."""
    results = []
    for _ in range(num_updates):
        grads = {}
        for name, shape in shapes(V, H).items():
            grads[name] = rng.normal(size=shape)
            grads[name].flat[rng.integers(grads[name].size)] *= 20
        results.append((float(rng.uniform(0.5, 3)), grads, rng.uniform(-0.9, 0.9, size=(1, H))))
    return Fixture("scripted", {"names": ["params", "inputs", "targets", "h_0"], "results": results})


def text(rng, N, V, T):
    """Ids whose beginning comes nowhere else, so that a restart can be seen."""
    n = max(1, T - 1)
    while True:
        ids = rng.integers(V, size=N)
        if V == 1 or not any(np.array_equal(ids[p : p + n], ids[:n]) for p in range(1, N - n + 1)):
            return ids


def case(rng, N, V, H, T, num_updates, ids=None):
    inputs = {
        "ids": text(rng, N, V, T) if ids is None else np.array(ids),
        "vocab_size": V,
        "hidden_size": H,
        "seq_length": T,
        "num_updates": num_updates,
        "lr": float(rng.integers(5, 30) / 100),
        "rng": Fixture("rng", {"seed": int(rng.integers(2**31))}),
        "loss_and_grads": script(rng, V, H, num_updates),
    }
    return Case({"V": V, "H": H, "T": T}, inputs, SCRIPTED if ids is None else BY_HAND)


def hello(seed):
    return Case(
        {"V": 4, "H": 16, "T": 4},
        {
            "ids": np.array([0, 1, 2, 2, 3]),
            "vocab_size": 4,
            "hidden_size": 16,
            "seq_length": 4,
            "num_updates": 300,
            "lr": 0.1,
            "rng": Fixture("rng", {"seed": seed}),
            "loss_and_grads": Fixture("next_token_network", {"eps": 1e-5}),
        },
        HELLO,
    )


def cases(rng):
    yield case(rng, N=17, V=7, H=3, T=5, num_updates=9)  # three chunks, and one token over
    yield case(rng, N=9, V=4, H=4, T=4, num_updates=5)  # two chunks, to the last token
    yield case(rng, N=15, V=6, H=2, T=4, num_updates=7)  # three chunks, and a short one of two
    yield case(rng, N=12, V=5, H=1, T=3, num_updates=6)  # all inputs of a fourth chunk, and its last target missing
    yield case(rng, N=5, V=5, H=3, T=1, num_updates=6)
    yield case(rng, N=3, V=1, H=3, T=2, num_updates=3)
    yield case(rng, N=6, V=3, H=2, T=5, num_updates=4)  # one chunk
    yield hello(int(rng.integers(2**31)))


SPEC = Spec(
    outputs=[Output("losses", ("U",)), Output("params")],
    example=case(np.random.default_rng(2), N=8, V=10, H=2, T=3, num_updates=4, ids=[7, 1, 4, 4, 9, 0, 2, 5]),
    cases=cases,
    facets=[
        Facet("chunks", 2, outputs=("chunks",), kinds=(SCRIPTED, BY_HAND)),
        Facet("state", 2, outputs=("state",), kinds=(SCRIPTED, BY_HAND)),
        Facet("updates", 2, outputs=("updates",), kinds=(SCRIPTED, BY_HAND)),
        Facet("weights and losses", 1, outputs=("params", "losses"), kinds=(SCRIPTED, BY_HAND)),
        Facet("hello", 1, outputs=("chunks", "params", "losses", "learning"), kinds=(HELLO,)),
    ],
    why="""
A place in the text and a state go along from chunk to chunk: what the network has read lies in the state, and where it
goes on reading is the place. When no whole chunk is left, both start again: the state of the text's end says nothing
about its beginning. Every target is the id that follows its input, so a chunk takes `seq_length` + 1 ids, and the next
one begins with the id that was the last target.
The weights start from small random numbers. Were all units of the state alike, they would get the same gradients and
stay alike for ever; the biases may be 0. Each array of weights has a cache of its own shape that lives as long as the
training.
""",
)


def loop(
    ids, vocab_size, hidden_size, seq_length, num_updates, lr, rng, loss_and_grads, *,
    start=None, chunk=None, fits=None, stride=None, carry=None, reset=True, step=None, report=None, last=True,
):  # fmt: skip
    """Training with one thing changed; without any it is right."""
    T, N = seq_length, len(ids)
    start = start or (lambda rng, shape: 0.1 * rng.normal(size=shape))
    params = {name: start(rng, shape) for name, shape in shapes(vocab_size, hidden_size).items()}
    chunk = chunk or (lambda p: (ids[p : p + T], ids[p + 1 : p + T + 1]))
    fits = fits or (lambda p: p + T + 1 <= N)
    step = step or adagrad
    cache, losses, p = {}, [], 0
    zeros = np.zeros((1, hidden_size))
    states = [zeros]
    for k in range(num_updates):
        if not fits(p):
            p = 0
            states = [zeros] if reset else states
        loss, grads, h_T = loss_and_grads(params, *chunk(p), carry(states, zeros) if carry else states[-1])
        losses.append(loss)
        states.append(h_T)
        if last or k < num_updates - 1:
            params, cache = step(params, grads, cache, lr)
        p += stride or T
    return np.array(report(losses, T) if report else losses), params


def adagrad(params, grads, cache, lr):
    cache = {name: cache.get(name, 0) + grads[name] ** 2 for name in params}
    return {name: params[name] - lr * grads[name] / (np.sqrt(cache[name]) + 1e-8) for name in params}, cache


@SPEC.misconception(keeps=["state", "updates", "weights and losses"])
def targets_not_shifted(ids, seq_length, **others):
    """Tempting because inputs and targets are the same text; a network that may copy its input learns nothing."""
    return loop(ids, seq_length=seq_length, chunk=lambda p: (ids[p : p + seq_length],) * 2, **others)


@SPEC.misconception(keeps=["state", "updates", "weights and losses"])
def chunks_one_short(ids, seq_length, **others):
    """Tempting because a chunk of seq_length ids, less its last one and less its first one, gives a pair so neatly."""
    T = seq_length
    return loop(ids, seq_length=T, chunk=lambda p: (ids[p : p + T - 1], ids[p + 1 : p + T]), **others)


@SPEC.misconception(keeps=["state", "updates", "weights and losses", "hello"])
def last_chunk_kept(ids, seq_length, **others):
    """Tempting because slices end quietly at the end of the text; a shorter chunk's mean would weigh more a token."""
    T = seq_length
    return loop(
        ids,
        seq_length=T,
        chunk=lambda p: (ids[p : p + T][: len(ids) - p - 1], ids[p + 1 : p + T + 1]),
        fits=lambda p: p + 1 < len(ids),
        **others,
    )


@SPEC.misconception("last_chunk_kept")
def last_chunk_kept_unevenly(ids, seq_length, **others):
    """The same with one input more than targets, since the slices end differently."""
    return loop(ids, seq_length=seq_length, fits=lambda p: p + 1 < len(ids), **others)


@SPEC.misconception("last_chunk_kept")
def last_target_missing(ids, seq_length, **others):
    """The same where all inputs are there: p + seq_length > len(ids) asks for those, and forgets the last target."""
    return loop(ids, seq_length=seq_length, fits=lambda p: p + seq_length <= len(ids), **others)


@SPEC.misconception("last_chunk_kept")
def last_target_from_the_beginning(ids, seq_length, **others):
    """The same with np.roll, which puts the text's first id after its last one."""
    T, following = seq_length, np.roll(ids, -1)
    return loop(
        ids,
        seq_length=T,
        chunk=lambda p: (ids[p : p + T], following[p : p + T]),
        fits=lambda p: p + T <= len(ids),
        **others,
    )


@SPEC.misconception(keeps=["state", "updates", "weights and losses", "hello"])
def full_last_chunk_dropped(ids, seq_length, **others):
    """Tempting because a well-known script restarts at `p + seq_length + 1 >= len(data)`, one token too early."""
    return loop(ids, seq_length=seq_length, fits=lambda p: p + seq_length + 1 < len(ids), **others)


@SPEC.misconception(keeps=["state", "updates", "weights and losses", "hello"])
def chunks_overlap(**inputs):
    """Tempting because a window usually moves on by one; here the state has already read the rest of it."""
    return loop(**inputs, stride=1)


@SPEC.misconception(keeps=["state", "updates", "weights and losses", "hello"])
def one_id_skipped(seq_length, **others):
    """Tempting because a chunk takes seq_length + 1 ids; the last of them has been a target only, never an input."""
    return loop(seq_length=seq_length, stride=seq_length + 1, **others)


@SPEC.misconception(keeps=["updates", "weights and losses", "hello"])
def always_the_first_chunk(seq_length, **others):
    """Tempting because a loop over updates looks as if it moved on by itself."""
    T = seq_length
    return loop(seq_length=T, chunk=lambda p: (others["ids"][:T], others["ids"][1 : T + 1]), reset=False, **others)


@SPEC.misconception(keeps=["chunks", "updates", "weights and losses", "hello"])
def state_reset_at_each_chunk(**inputs):
    """Tempting because h_0 is a state of zeros in every example; so nothing is learnt across a cut."""
    return loop(**inputs, carry=lambda states, zeros: zeros)


@SPEC.misconception(keeps=["chunks", "updates", "weights and losses", "hello"])
def state_never_reset(**inputs):
    """Tempting because the state is to be carried; from the end of the text to its beginning there is nothing to."""
    return loop(**inputs, reset=False)


@SPEC.misconception(keeps=["chunks", "updates", "weights and losses", "hello"])
def state_of_the_chunk_before(**inputs):
    """Tempting because a variable too many is soon there: the state goes through it and comes one chunk late."""
    return loop(**inputs, carry=lambda states, zeros: states[-2] if len(states) > 1 else zeros)


@SPEC.misconception("state_of_the_chunk_before")
def state_of_the_first_chunk(**inputs):
    """The same with the state that the first chunk left, kept for good."""
    return loop(**inputs, carry=lambda states, zeros: states[1] if len(states) > 1 else zeros)


@SPEC.misconception(keeps=["chunks", "state", "weights and losses"])
def weights_never_move(**inputs):
    """Tempting because adagrad_step looks as if it moved them: it returns new arrays, and nobody takes them."""
    return loop(**inputs, step=lambda params, grads, cache, lr: (params, cache))


@SPEC.misconception(keeps=["chunks", "state", "weights and losses"])
def uphill(**inputs):
    """Tempting because an update adds something."""
    return loop(**inputs, step=lambda params, grads, cache, lr: adagrad(params, grads, cache, -lr))


@SPEC.misconception(keeps=["chunks", "state", "weights and losses", "hello"])
def plain_descent(**inputs):
    """Tempting because `theta - lr * grad` is the step that everybody knows."""
    return loop(
        **inputs,
        step=lambda params, grads, cache, lr: ({name: params[name] - lr * grads[name] for name in params}, cache),
    )


@SPEC.misconception(keeps=["chunks", "state", "weights and losses", "hello"])
def cache_not_kept(**inputs):
    """Tempting because zeros are made where they are used, inside the loop; then every step is lr long, for ever."""
    return loop(**inputs, step=lambda params, grads, cache, lr: adagrad(params, grads, {}, lr))


@SPEC.misconception(keeps=["chunks", "state", "weights and losses", "hello"])
def cache_reset_with_the_text(ids, seq_length, **others):
    """Tempting because the place and the state begin anew there; a cache belongs to the weights, which go on."""
    per_text, seen = (len(ids) - 1) // seq_length, []

    def step(params, grads, cache, lr):
        seen.append(1)
        return adagrad(params, grads, cache if (len(seen) - 1) % per_text else {}, lr)

    return loop(ids, seq_length=seq_length, step=step, **others)


@SPEC.misconception(keeps=["chunks", "state", "weights and losses", "hello"])
def eps_inside_the_root(**inputs):
    """Tempting because other optimisers have it there; the difference is small, and there."""

    def step(params, grads, cache, lr):
        cache = {name: cache.get(name, 0) + grads[name] ** 2 for name in params}
        return {name: params[name] - lr * grads[name] / np.sqrt(cache[name] + 1e-8) for name in params}, cache

    return loop(**inputs, step=step)


def with_one_number(params, grads, cache, lr):
    cache = {"all": cache.get("all", 0) + sum(np.sum(g**2) for g in grads.values())}
    return {name: params[name] - lr * grads[name] / (np.sqrt(cache["all"]) + 1e-8) for name in params}, cache


@SPEC.misconception(keeps=["chunks", "state", "weights and losses"])
def one_cache_for_all(**inputs):
    """Tempting because one `cache = 0` before the loop is less to write; then all weights slow down together."""
    return loop(**inputs, step=with_one_number)


@SPEC.misconception("one_cache_for_all", keeps=["chunks", "state", "weights and losses", "hello"])
def one_cache_renewed_by_each_array(**inputs):
    """The same with the number renewed within the loop over the arrays, so that later ones get a larger one."""

    def step(params, grads, cache, lr):
        total, moved = cache.get("all", 0), {}
        for name in params:
            total += np.sum(grads[name] ** 2)
            moved[name] = params[name] - lr * grads[name] / (np.sqrt(total) + 1e-8)
        return moved, {"all": total}

    return loop(**inputs, step=step)


@SPEC.misconception(keeps=["chunks", "state", "weights and losses", "hello"])
def one_number_for_each_array(**inputs):
    """Tempting because a dict of zeros, one for each name, is quickly made, and a sum of squares fits into it."""

    def step(params, grads, cache, lr):
        cache = {name: cache.get(name, 0) + np.sum(grads[name] ** 2) for name in params}
        return {name: params[name] - lr * grads[name] / (np.sqrt(cache[name]) + 1e-8) for name in params}, cache

    return loop(**inputs, step=step)


@SPEC.misconception(keeps=["chunks", "state", "weights and losses", "hello"])
def gradients_clipped(**inputs):
    """Tempting because a well-known script clips to ±5, and long texts need something like it; chapter 3 tells when."""

    def step(params, grads, cache, lr):
        return adagrad(params, {name: np.clip(grads[name], -5, 5) for name in grads}, cache, lr)

    return loop(**inputs, step=step)


@SPEC.misconception("gradients_clipped")
def gradients_clipped_at_one(**inputs):
    """The same at ±1."""

    def step(params, grads, cache, lr):
        return adagrad(params, {name: np.clip(grads[name], -1, 1) for name in grads}, cache, lr)

    return loop(**inputs, step=step)


@SPEC.misconception(keeps=["chunks", "state", "weights and losses", "hello"])
def last_update_missing(**inputs):
    """Tempting because a loop that steps first and then asks for gradients looks the same; the last ones go unused."""
    return loop(**inputs, last=False)


@SPEC.misconception(keeps=["chunks", "state", "updates"])
def starts_from_zeros(**inputs):
    """Tempting because biases start from zeros. Weights of zero pass nothing on, forward or back, and stay so."""

    def start(rng, shape):
        return np.zeros(shape)

    return loop(**inputs, start=start)


@SPEC.misconception(keeps=["chunks", "state", "updates"])
def units_all_alike(**inputs):
    """Tempting because any small number is better than 0; but units that start alike stay alike, one unit in effect."""
    return loop(**inputs, start=lambda rng, shape: np.full(shape, 0.1))


@SPEC.misconception(keeps=["chunks", "state", "updates"])
def chance_of_its_own(**inputs):
    """Tempting because np.random.randn is what one remembers; a run that goes wrong cannot be run again."""
    return loop(**inputs, start=lambda rng, shape: 0.1 * np.random.standard_normal(shape))


@SPEC.misconception("chance_of_its_own")
def a_generator_of_its_own(**inputs):
    """The same with a generator made inside, always from the same seed."""
    mine = np.random.default_rng(0)
    return loop(**inputs, start=lambda rng, shape: 0.1 * mine.normal(size=shape))


@SPEC.misconception(keeps=["chunks", "state", "updates", "hello"])
def losses_summed(**inputs):
    """Tempting because the loss of a chunk is a sum over its tokens, in many scripts; here it is their mean."""
    return loop(**inputs, report=lambda losses, T: np.array(losses) * T)


@SPEC.misconception("losses_summed")
def losses_added_up(**inputs):
    """The same over the updates: a total that only grows."""
    return loop(**inputs, report=lambda losses, T: np.cumsum(losses))


@SPEC.alternative
def in_place(ids, vocab_size, hidden_size, seq_length, num_updates, lr, rng, loss_and_grads):
    """Own arrays changed in place, larger random numbers, chunks taken from a list made beforehand."""
    params = {
        "b_y": np.zeros(vocab_size),
        "b_h": np.zeros(hidden_size),
        "W_hy": rng.standard_normal((hidden_size, vocab_size)),
        "W_hh": rng.uniform(-0.5, 0.5, size=(hidden_size, hidden_size)),
        "W_xh": rng.standard_normal((vocab_size, hidden_size)),
    }
    cache = {name: np.zeros_like(theta) for name, theta in params.items()}
    starts = range(0, len(ids) - seq_length, seq_length)
    losses, h = np.empty(num_updates), None
    for update in range(num_updates):
        p = starts[update % len(starts)]
        if p == 0:
            h = np.zeros((1, hidden_size))
        chunk = ids[p : p + seq_length + 1]
        losses[update], grads, h = loss_and_grads(inputs=chunk[:-1], targets=chunk[1:], params=params, h_0=h)
        for name, grad in grads.items():
            cache[name] += grad**2
            params[name] -= lr * grad / (np.sqrt(cache[name]) + 1e-8)
    return losses, params


@SPEC.alternative
def asked_twice(ids, vocab_size, hidden_size, seq_length, num_updates, lr, rng, loss_and_grads):
    """The loss and the gradients asked for in calls of their own; state weights that start from a unit matrix."""
    arrays = {name: rng.normal(size=shape) / 100 for name, shape in shapes(vocab_size, hidden_size).items()}
    arrays["W_hh"] = np.eye(hidden_size)
    cache, losses, p, h = {}, [], 0, np.zeros((1, hidden_size))
    while len(losses) < num_updates:
        call = (arrays, list(ids[p : p + seq_length]), list(ids[p + 1 : p + 1 + seq_length]), h)
        losses.append(loss_and_grads(*call)[0])
        grads, h = loss_and_grads(*call)[1:]
        arrays, cache = adagrad(arrays, grads, cache, lr)
        p += seq_length
        if len(ids) - p <= seq_length:
            p, h = 0, 0 * h
    return np.array(losses), arrays
