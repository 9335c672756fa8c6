"""How `train_char_rnn` is checked: by its calls of `loss_and_grads`, which `train_char_rnn_judge.py` judges.

In most cases that function gives scripted values: whatever they are, the next call shows what was made of them.
In the case "hello" it is a network, whose gradients come by central differences.
"""

import numpy as np

from grader.author.spec import Case, Facet, Fixture, Output, Spec, change

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

RESTART = "len(ids):\n    p, h = 0, np.zeros((1, H))"
STEP = "params[name], cache[name] = adagrad_step(params[name], grads[name], cache[name], lr)"
MOVE = "params[name] -= lr * grads[name] / (np.sqrt(cache[name]) + 1e-8)"


def matrices(made):
    """The three matrices start as `made`, with the shape in place of its braces."""
    pairs = [(f"0.1 * rng.normal(size={s})", made.format(s)) for s in ("(V, H)", "(H, H)", "(H, V)")]
    return change(*pairs[0], *pairs[1:])


SPEC.mistake(
    "targets_not_shifted",
    "The targets are the inputs. The target of each id is the id that comes *after* it: the slice for the targets "
    "begins one later and ends one later.",
    change("ids[p + 1 : p + T + 1]", "ids[p : p + T]"),
    tempts="Inputs and targets are the same text; a network that may copy its input learns nothing.",
    keeps=("state", "updates", "weights and losses"),
)
SPEC.mistake(
    "chunks_one_short",
    "The chunks have one input and one target too few. `seq_length` inputs with their targets take `seq_length + 1` "
    "ids of the text.",
    change("ids[p : p + T], ids[p + 1 : p + T + 1]", "ids[p : p + T - 1], ids[p + 1 : p + T]"),
    tempts="A chunk of seq_length ids, less its last one and less its first one, gives a pair so neatly.",
    keeps=("state", "updates", "weights and losses"),
)
SPEC.mistake(
    "last_chunk_kept",
    "At the end of the text a chunk is used that is not whole, if only because its last target is missing. A chunk "
    "takes `seq_length + 1` ids, with its last target: where fewer are left, begin again at the start of the text.",
    change("p + T + 1 >", "p + 2 >", ("ids[p : p + T]", "ids[:-1][p : p + T]")),
    change("p + T + 1 >", "p + 2 >"),
    change("p + T + 1 >", "p + T >"),
    change("p + T + 1 >", "p + T >", ("ids[p + 1 : p + T + 1]", "np.roll(ids, -1)[p : p + T]")),
    tempts="Slices end quietly at the end of the text; a shorter chunk's mean would weigh more a token.",
    keeps=("state", "updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "full_last_chunk_dropped",
    "A last chunk that fits exactly is dropped. A chunk takes `seq_length + 1` ids; if just as many are left, it is a "
    "whole one.",
    change("> len(ids)", ">= len(ids)"),
    tempts="A well-known script restarts at `p + seq_length + 1 >= len(data)`, one token too early.",
    keeps=("state", "updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "chunks_overlap",
    "Each chunk begins one id after the one before. It begins `seq_length` later: the state has read all that lies "
    "between.",
    change("p += T", "p += 1"),
    tempts="A window usually moves on by one; here the state has already read the rest of it.",
    keeps=("state", "updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "one_id_skipped",
    "Between two chunks one id is left out: each begins `seq_length` + 1 after the one before. The last target of a "
    "chunk has not been read yet, so it is the first input of the next one.",
    change("p += T", "p += T + 1"),
    tempts="A chunk takes seq_length + 1 ids; the last of them has been a target only, never an input.",
    keeps=("state", "updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "always_the_first_chunk",
    "Every update reads the first chunk. After each update the place in the text moves on by `seq_length`.",
    change("p += T", ""),
    tempts="A loop over updates looks as if it moved on by itself.",
    keeps=("updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "state_reset_at_each_chunk",
    "Every chunk starts from a state of zeros. The state that `loss_and_grads` gives back is `h_0` of the next chunk; "
    "only where the text begins anew it is zeros.",
    change("+ 1], h)", "+ 1], np.zeros((1, H)))"),
    tempts="h_0 is a state of zeros in every example; so nothing is learnt across a cut.",
    keeps=("chunks", "updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "state_never_reset",
    "The state is carried even from the end of the text to its beginning. Where the text begins anew, `h_0` is zeros "
    "again.",
    change(RESTART, "len(ids):\n    p = 0"),
    tempts="The state is to be carried; from the end of the text to its beginning there is nothing to.",
    keeps=("chunks", "updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "state_of_the_chunk_before",
    "A state is carried, but an old one. `h_0` of a chunk is the `h_T` that the very last call gave back.",
    change("losses[update]", "h_0, late = late if p else h, h\nlosses[update]", ("+ 1], h)", "+ 1], h_0)")),
    change("grads, h =", "grads, h_T =", ("p += T", "h = h if p else h_T\np += T")),
    tempts="A variable too many is soon there: the state goes through it and comes one chunk late.",
    keeps=("chunks", "updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "weights_never_move",
    "The weights are the same in every call. `adagrad_step` returns new arrays and leaves the old ones as they are: "
    "put what it returns in their place.",
    change("params[name], cache[name] =", ""),
    tempts="adagrad_step looks as if it moved them: it returns new arrays, and nobody takes them.",
    keeps=("chunks", "state", "weights and losses"),
)
SPEC.mistake(
    "uphill",
    "The weights go uphill. The gradient points to where the loss grows; the step is subtracted.",
    change("cache[name], lr)", "cache[name], -lr)"),
    tempts="An update adds something.",
    keeps=("chunks", "state", "weights and losses"),
)
SPEC.mistake(
    "plain_descent",
    "The steps are `lr * grad`. Adagrad divides that by the root of the cache, plus 1e-8.",
    change(STEP, "params[name] -= lr * grads[name]"),
    tempts="`theta - lr * grad` is the step that everybody knows.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "cache_not_kept",
    "Every step is made as if it were the first: the cache starts from zeros each time. Make it once, before the "
    "first update, and keep what `adagrad_step` returns of it.",
    change("params[name], cache[name] =", "params[name], _ ="),
    tempts="Zeros are made where they are used, inside the loop; then every step is lr long, for ever.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "cache_reset_with_the_text",
    "The caches start from zeros again where the text begins anew. Only the place and the state do: the weights go "
    "on, and a cache sums the squares of all their gradients.",
    change(RESTART, f"{RESTART}\n    cache = dict.fromkeys(params, 0)"),
    tempts="The place and the state begin anew there; a cache belongs to the weights, which go on.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "eps_inside_the_root",
    "`eps` stands under the root of the cache. Take the root, then add `eps`.",
    change(STEP, "cache[name] += grads[name] ** 2\nparams[name] -= lr * grads[name] / np.sqrt(cache[name] + 1e-8)"),
    tempts="Other optimisers have it there; the difference is small, and there.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "one_cache_for_all",
    "All weights share one number for a cache. Each of the five arrays has a cache of its own, of its own shape.",
    change(STEP, f"cache[name] += sum(np.sum(g**2) for g in grads.values())\n{MOVE}"),
    change(
        "cache = {name: np.zeros(theta.shape) for name, theta in params.items()}",
        "cache = 0",
        (STEP, "cache += np.sum(grads[name] ** 2)\nparams[name] -= lr * grads[name] / (np.sqrt(cache) + 1e-8)"),
    ),
    tempts="One `cache = 0` before the loop is less to write; then all weights slow down together.",
    keeps=("chunks", "state", "weights and losses"),
)
SPEC.mistake(
    "one_number_for_each_array",
    "Each array has one number for a cache. It has a number for each weight: an array of the weights' own shape.",
    change(STEP, f"cache[name] += np.sum(grads[name] ** 2)\n{MOVE}"),
    tempts="A dict of zeros, one for each name, is quickly made, and a sum of squares fits into it.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "gradients_clipped",
    "The gradients are clipped before the step. Use them as they come; clipping is a topic of the next chapter.",
    *(change("grads[name],", f"np.clip(grads[name], -{n}, {n}),") for n in (5, 1)),
    tempts="A well-known script clips to ±5, and long texts need something like it; chapter 3 tells when.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "last_update_missing",
    "The params that come back are those of the last call: its gradients were not used. Each update asks for the "
    "gradients first, then makes its step.",
    change("for name in params:", "if update == num_updates - 1:\n    break\nfor name in params:"),
    tempts="A loop that steps first and then asks for gradients looks the same; the last ones go unused.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "starts_from_zeros",
    "All weights start from zero. Then nothing passes through the network, neither forward nor back, and only the "
    "output's bias ever moves. Start the three matrices from small random numbers of `rng`.",
    matrices("np.zeros({})"),
    tempts="Biases start from zeros. Weights of zero pass nothing on, forward or back, and stay so.",
    keeps=("chunks", "state", "updates"),
)
SPEC.mistake(
    "units_all_alike",
    "All units of the state start alike, so they get the same gradients and stay alike: one unit in effect. Start the "
    "three matrices from small random numbers of `rng`.",
    matrices("np.full({}, 0.1)"),
    tempts="Any small number is better than 0; but units that start alike stay alike, one unit in effect.",
    keeps=("chunks", "state", "updates"),
)
SPEC.mistake(
    "chance_of_its_own",
    "Nothing is drawn from `rng`: the weights that you start from are not random, or their random numbers come from "
    "elsewhere. Draw them from `rng`, such as `rng.normal(size=shape)`: the caller decides whether a run can be "
    "repeated.",
    change("V, H, T =", "rng = np.random\nV, H, T ="),
    change("V, H, T =", "rng = np.random.default_rng(0)\nV, H, T ="),
    tempts="np.random.randn is what one remembers; a run that goes wrong cannot be run again.",
    keeps=("chunks", "state", "updates"),
)
SPEC.mistake(
    "losses_summed",
    "The losses are sums, over a chunk's tokens or over the updates. `loss_and_grads` gives the mean of a chunk; keep "
    "it as it is.",
    change("return losses", "return losses * T"),
    change("return losses", "return np.cumsum(losses)"),
    tempts="The loss of a chunk is a sum over its tokens, in many scripts; here it is their mean.",
    keeps=("chunks", "state", "updates", "hello"),
)
SPEC.mistake(
    "updates_as_epochs",
    "`num_updates` is taken for the number of passes through the text. Each chunk makes one update, so the loop ends "
    "after `num_updates` chunks, even in the middle of the text.",
    change("losses = np.zeros", "num_updates = num_updates * ((len(ids) - 1) // T)\nlosses = np.zeros"),
    tempts="Most training loops count epochs, with a loop over the chunks inside.",
    keeps=("hello",),
)
SPEC.mistake(
    "loss_after_the_step",
    "Each chunk is asked about twice, before the step and after it. One call for each update gives all that you need: "
    "its loss is that of the weights before the step, and that loss belongs into `losses`.",
    change(
        "losses[update], grads, h = loss_and_grads(params, ids[p : p + T], ids[p + 1 : p + T + 1], h)",
        "chunk = ids[p : p + T], ids[p + 1 : p + T + 1], h\n_, grads, h = loss_and_grads(params, *chunk)",
        ("p += T", "losses[update] = loss_and_grads(params, *chunk)[0]\np += T"),
    ),
    tempts="One wants to know how good the network is after the step.",
    keeps=("hello",),
)


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


def adagrad(params, grads, cache, lr):
    cache = {name: cache.get(name, 0) + grads[name] ** 2 for name in params}
    return {name: params[name] - lr * grads[name] / (np.sqrt(cache[name]) + 1e-8) for name in params}, cache


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
