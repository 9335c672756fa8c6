"""How `train_char_rnn` is checked: by its calls of `loss_and_grads`, which `judge.py` judges.

In most cases that function returns scripted values, so the next call shows what the loop did with them. In the case
"hello" it is a network, whose gradients are central differences.
"""

import numpy as np

from grader.spec.spec import Case, Facet, Fixture, Output, Spec, change, instead

SCRIPTED, HELLO, BY_HAND = "ordinary", "hello", "the notebook's example"


def shapes(V, H):
    return {"W_xh": (V, H), "W_hh": (H, H), "b_h": (H,), "W_hy": (H, V), "b_y": (V,)}


def script(rng, V, H, num_updates):
    """A loss, gradients and a last state for each update. Some gradients are so large that clipping would show."""
    results = []
    for _ in range(num_updates):
        grads = {}
        for name, shape in shapes(V, H).items():
            grads[name] = rng.normal(size=shape)
            grads[name].flat[rng.integers(grads[name].size)] *= 20
        results.append((float(rng.uniform(0.5, 3)), grads, rng.uniform(-0.9, 0.9, size=(1, H))))
    return Fixture("scripted", {"names": ["params", "inputs", "targets", "h_0"], "results": results})


def text(rng, N, V, T):
    """Ids whose beginning occurs nowhere else, so that a restart can be recognised."""
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
    yield case(rng, N=17, V=7, H=3, T=5, num_updates=9)  # three chunks, and one id left over
    yield case(rng, N=9, V=4, H=4, T=4, num_updates=5)  # two chunks, which use every id
    yield case(rng, N=15, V=6, H=2, T=4, num_updates=7)  # three chunks, and two ids left over
    yield case(rng, N=12, V=5, H=1, T=3, num_updates=6)  # the last target of a fourth chunk is missing
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
)
RESTART = "len(ids):\n    p, h = 0, np.zeros((1, H))"
STEP = "params[name], cache[name] = adagrad_step(params[name], grads[name], cache[name], lr)"
MOVE = "params[name] -= lr * grads[name] / (np.sqrt(cache[name]) + 1e-8)"


def matrices(made, *more):
    """The three matrices start as `made`, in which the braces stand for the shape; `more` changes follow."""
    pairs = [(f"0.1 * rng.normal(size={s})", made.format(s)) for s in ("(V, H)", "(H, H)", "(H, V)")]
    return change(*pairs[0], *pairs[1:], *more)


RANDOM_BIASES = ('"b_h": np.zeros(H)', '"b_h": rng.normal(size=H)'), ('"b_y": np.zeros(V)', '"b_y": rng.normal(size=V)')


def smoothed(start):
    """Running means of the losses, with weights that fall exponentially."""
    loop = "for k, loss in enumerate(losses.copy()):\n    losses[k] = mean = 0.999 * mean + 0.001 * loss"
    return change("return losses", f"mean = {start}\n{loop}\nreturn losses")


def adagrad(params, grads, cache, lr):
    cache = {name: cache.get(name, 0) + grads[name] ** 2 for name in params}
    return {name: params[name] - lr * grads[name] / (np.sqrt(cache[name]) + 1e-8) for name in params}, cache


SPEC.mistakes(
    {
        "targets_not_shifted": change("ids[p + 1 : p + T + 1]", "ids[p : p + T]"),
        "chunks_one_short": change("ids[p : p + T], ids[p + 1 : p + T + 1]", "ids[p : p + T - 1], ids[p + 1 : p + T]"),
    },
    keeps=("state", "updates", "weights and losses"),
)
SPEC.mistakes(
    {
        "last_chunk_kept": [
            change("p + T + 1 >", "p + 2 >", ("ids[p : p + T]", "ids[:-1][p : p + T]")),
            change("p + T + 1 >", "p + 2 >"),
            change("p + T + 1 >", "p + T >"),
            change("p + T + 1 >", "p + T >", ("ids[p + 1 : p + T + 1]", "np.roll(ids, -1)[p : p + T]")),
        ],
        "full_last_chunk_dropped": change("> len(ids)", ">= len(ids)"),
        **instead(
            "p += T",
            {
                "chunks_overlap": "p += 1",
                "one_id_skipped": "p += T + 1",
            },
        ),
    },
    keeps=("state", "updates", "weights and losses", "hello"),
)
SPEC.mistakes(
    {
        "always_the_first_chunk": change("p += T", ""),
    },
    keeps=("updates", "weights and losses", "hello"),
)
SPEC.mistakes(
    {
        "state_reset_at_each_chunk": change("+ 1], h)", "+ 1], np.zeros((1, H)))"),
        "state_never_reset": change(RESTART, "len(ids):\n    p = 0"),
        "h_T_of_an_earlier_chunk": [
            change("losses[update]", "h_0, late = late if p else h, h\nlosses[update]", ("+ 1], h)", "+ 1], h_0)")),
            change("grads, h =", "grads, h_T =", ("p += T", "h = h if p else h_T\np += T")),
        ],
    },
    keeps=("chunks", "updates", "weights and losses", "hello"),
)
SPEC.mistakes(
    {
        "params_not_updated": change("params[name], cache[name] =", ""),
        "some_arrays_not_updated": [
            change("for name in params:", f"for name in {names!r}:")
            for names in (("W_xh", "W_hh", "b_h"), ("W_hy", "b_y"))
        ],
        **instead(
            STEP,
            {
                "root_left_out": (
                    "cache[name] += grads[name] ** 2\nparams[name] -= lr * grads[name] / (cache[name] + 1e-8)"
                ),
                "old_cache_used": f"{MOVE}\ncache[name] += grads[name] ** 2",
            },
        ),
        "step_added": change("cache[name], lr)", "cache[name], -lr)"),
        "one_cache_for_all": [
            change(STEP, f"cache[name] += sum(np.sum(g**2) for g in grads.values())\n{MOVE}"),
            change(
                "cache = {name: np.zeros(theta.shape) for name, theta in params.items()}",
                "cache = 0",
                (STEP, "cache += np.sum(grads[name] ** 2)\nparams[name] -= lr * grads[name] / (np.sqrt(cache) + 1e-8)"),
            ),
        ],
    },
    keeps=("chunks", "state", "weights and losses"),
)
SPEC.mistakes(
    {
        **instead(
            STEP,
            {
                "plain_gradient_descent": "params[name] -= lr * grads[name]",
                "eps_inside_the_root": (
                    "cache[name] += grads[name] ** 2\nparams[name] -= lr * grads[name] / np.sqrt(cache[name] + 1e-8)"
                ),
                "one_number_for_each_array": f"cache[name] += np.sum(grads[name] ** 2)\n{MOVE}",
            },
        ),
        "cache_not_kept": change("params[name], cache[name] =", "params[name], _ ="),
        "cache_reset_with_the_text": change(RESTART, f"{RESTART}\n    cache = dict.fromkeys(params, 0)"),
        "gradients_clipped": [*(change("grads[name],", f"np.clip(grads[name], -{n}, {n}),") for n in (5, 1))],
        **instead(
            "for name in params:",
            {
                "last_update_missing": "if update == num_updates - 1:\n    break\nfor name in params:",
                "biases_not_updated": 'for name in ("W_xh", "W_hh", "W_hy"):',
            },
        ),
    },
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistakes(
    {
        "matrices_and_b_h_zero": matrices("np.zeros({})"),
        "units_start_alike": [
            matrices("np.full({}, 0.1)"),
            matrices("np.zeros({})", ('"b_h": np.zeros(H)', '"b_h": np.ones(H)')),
        ],
        "only_biases_random": [matrices("np.zeros({})", *RANDOM_BIASES), matrices("np.full({}, 0.1)", *RANDOM_BIASES)],
        "rng_not_used": [
            change("V, H, T =", "rng = np.random\nV, H, T ="),
            change("V, H, T =", "rng = np.random.default_rng(0)\nV, H, T ="),
        ],
    },
    keeps=("chunks", "state", "updates"),
)
SPEC.mistakes(
    {
        "losses_summed": [
            change("return losses", "return losses * T"),
            change("return losses", "return np.cumsum(losses)"),
        ],
        "losses_smoothed": [
            change("return losses", "return np.cumsum(losses) / np.arange(1, num_updates + 1)"),
            *(smoothed(start) for start in ("losses[0]", "np.log(V)", "np.log(V) * T")),
        ],
    },
    keeps=("chunks", "state", "updates", "hello"),
)
SPEC.mistakes(
    {
        "updates_as_epochs": change(
            "losses = np.zeros", "num_updates = num_updates * ((len(ids) - 1) // T)\nlosses = np.zeros"
        ),
        "loss_after_the_step": change(
            "losses[update], grads, h = loss_and_grads(params, ids[p : p + T], ids[p + 1 : p + T + 1], h)",
            "chunk = ids[p : p + T], ids[p + 1 : p + T + 1], h\n_, grads, h = loss_and_grads(params, *chunk)",
            ("p += T", "losses[update] = loss_and_grads(params, *chunk)[0]\np += T"),
        ),
    },
    keeps=("hello",),
)


@SPEC.alternative
def in_place(ids, vocab_size, hidden_size, seq_length, num_updates, lr, rng, loss_and_grads):
    """Arrays changed in place, larger random numbers, and the starts of the chunks listed beforehand."""
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
def called_twice(ids, vocab_size, hidden_size, seq_length, num_updates, lr, rng, loss_and_grads):
    """Separate calls for the loss and the gradients; `W_hh` starts as an identity matrix."""
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
