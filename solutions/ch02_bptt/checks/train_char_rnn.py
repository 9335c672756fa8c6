"""How `train_char_rnn` is checked: by its calls of `loss_and_grads`, which `train_char_rnn_judge.py` judges.

In most cases that function returns scripted values, so the next call shows what the loop did with them. In the case
"hello" it is a network, whose gradients are central differences.
"""

import numpy as np

from grader.author.spec import Case, Facet, Fixture, Output, Spec, change

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
    why="""
A position in the text and a state are passed on from chunk to chunk: the state summarises what the network has read,
and the position says where it reads on. Where no complete chunk is left, both start again, because the state at the end
of the text says nothing about its beginning. Every target is the id that follows its input, so a chunk takes
`seq_length` + 1 ids, and the next one starts with the id that was the last target.
Memory is saved here: each call needs the states of one chunk only, however long the text is.
The matrices start as small random numbers. If all units of the state started with equal weights and biases, they would
get equal gradients and stay equal forever; the biases may be 0. Each array of weights has a cache of its own shape,
which lasts as long as the training.
""",
)

RESTART = "len(ids):\n    p, h = 0, np.zeros((1, H))"
STEP = "params[name], cache[name] = adagrad_step(params[name], grads[name], cache[name], lr)"
MOVE = "params[name] -= lr * grads[name] / (np.sqrt(cache[name]) + 1e-8)"


def matrices(made, *more):
    """The three matrices start as `made`, in which the braces stand for the shape; `more` changes follow."""
    pairs = [(f"0.1 * rng.normal(size={s})", made.format(s)) for s in ("(V, H)", "(H, H)", "(H, V)")]
    return change(*pairs[0], *pairs[1:], *more)


RANDOM_BIASES = ('"b_h": np.zeros(H)', '"b_h": rng.normal(size=H)'), ('"b_y": np.zeros(V)', '"b_y": rng.normal(size=V)')

SPEC.mistake(
    "targets_not_shifted",
    "Your targets are the inputs themselves. Start and end the slice of the targets one id later, because the target "
    "of each input is the id *after* it.",
    change("ids[p + 1 : p + T + 1]", "ids[p : p + T]"),
    tempts="Inputs and targets come from the same text, but a network that may copy its input learns nothing.",
    keeps=("state", "updates", "weights and losses"),
)
SPEC.mistake(
    "chunks_one_short",
    "Your chunks have one input and one target too few. Take `seq_length + 1` ids from the text, because the last of "
    "`seq_length` inputs needs a target too.",
    change("ids[p : p + T], ids[p + 1 : p + T + 1]", "ids[p : p + T - 1], ids[p + 1 : p + T]"),
    tempts="A slice of seq_length ids, once without its last id and once without its first, makes a neat pair.",
    keeps=("state", "updates", "weights and losses"),
)
SPEC.mistake(
    "last_chunk_kept",
    "At the end of the text you use a chunk that is incomplete, even if only its last target is missing. Start again "
    "at the first id where fewer than `seq_length + 1` ids are left, because every input of a chunk needs a target.",
    change("p + T + 1 >", "p + 2 >", ("ids[p : p + T]", "ids[:-1][p : p + T]")),
    change("p + T + 1 >", "p + 2 >"),
    change("p + T + 1 >", "p + T >"),
    change("p + T + 1 >", "p + T >", ("ids[p + 1 : p + T + 1]", "np.roll(ids, -1)[p : p + T]")),
    tempts="A slice beyond the end of the text raises no error. It is just shorter.",
    keeps=("state", "updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "full_last_chunk_dropped",
    "You drop a last chunk that fits exactly. Use it, because a chunk takes `seq_length + 1` ids: if just that many "
    "are left, it is complete.",
    change("> len(ids)", ">= len(ids)"),
    tempts="A well-known script restarts at `p + seq_length + 1 >= len(data)`, one id too early.",
    keeps=("state", "updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "chunks_overlap",
    "You start each chunk one id after the previous one. Start it `seq_length` ids later, because the state has "
    "already read everything in between.",
    change("p += T", "p += 1"),
    tempts="A sliding window moves on by one id, but here the state has already read the rest of the chunk.",
    keeps=("state", "updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "one_id_skipped",
    "You leave out one id between two chunks, because you start each `seq_length` + 1 ids after the previous one. "
    "Start it `seq_length` ids later: the last target has not been an input yet, so it is the first input of the next "
    "chunk.",
    change("p += T", "p += T + 1"),
    tempts="A chunk takes seq_length + 1 ids, but the last of them was only a target, never an input.",
    keeps=("state", "updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "always_the_first_chunk",
    "You read the first chunk in every update. Increase the position in the text by `seq_length` after each update, "
    "because the next chunk starts where this one ends.",
    change("p += T", ""),
    tempts="A loop over updates looks as if it moved through the text by itself.",
    keeps=("updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "state_reset_at_each_chunk",
    "You start every chunk from a state of zeros. Pass the state that `loss_and_grads` returns to the next chunk as "
    "`h_0`, because there the text continues; use zeros only where it starts again.",
    change("+ 1], h)", "+ 1], np.zeros((1, H)))"),
    tempts="In many examples h_0 is zero, but then the network forgets at each cut what it has read.",
    keeps=("chunks", "updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "state_never_reset",
    "You pass the state on even where the text starts again. Set `h_0` to zeros there, because the end of the text "
    "says nothing about its beginning.",
    change(RESTART, "len(ids):\n    p = 0"),
    tempts="The state is to be passed on, and it is easy to overlook the one place where it is not.",
    keeps=("chunks", "updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "h_T_of_an_earlier_chunk",
    "You pass on the state of an earlier chunk. Use the `h_T` that the latest call returned as `h_0`, because that "
    "call read the ids directly before this chunk.",
    change("losses[update]", "h_0, late = late if p else h, h\nlosses[update]", ("+ 1], h)", "+ 1], h_0)")),
    change("grads, h =", "grads, h_T =", ("p += T", "h = h if p else h_T\np += T")),
    tempts="With one variable too many, the state arrives one chunk late or not at all.",
    keeps=("chunks", "updates", "weights and losses", "hello"),
)
SPEC.mistake(
    "params_not_updated",
    "Your weights are the same in every call. Assign what `adagrad_step` returns to `params` and to the cache, "
    "because it returns new arrays and leaves the old ones unchanged.",
    change("params[name], cache[name] =", ""),
    tempts="adagrad_step looks as if it changed its arguments, but it returns new arrays.",
    keeps=("chunks", "state", "weights and losses"),
)
SPEC.mistake(
    "step_added",
    "You add the steps to the weights. Subtract them, because the gradient points in the direction in which the loss "
    "grows.",
    change("cache[name], lr)", "cache[name], -lr)"),
    tempts="The word update suggests that something is added.",
    keeps=("chunks", "state", "weights and losses"),
)
SPEC.mistake(
    "plain_gradient_descent",
    "Your steps are those of plain gradient descent, `lr * grad`. Divide by the root of the cache, to which 1e-8 is "
    "added, because Adagrad gives each weight a step size of its own.",
    change(STEP, "params[name] -= lr * grads[name]"),
    tempts="`theta - lr * grad` is the familiar step.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "cache_not_kept",
    "You start the cache from zeros in every update. Create it once, before the first update, and keep what "
    "`adagrad_step` returns, because the cache sums the squares of all gradients.",
    change("params[name], cache[name] =", "params[name], _ ="),
    tempts="It seems natural to create the zeros where they are used, but then every step has the length lr.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "cache_reset_with_the_text",
    "You set the caches to zeros where the text starts again. Reset only the position and the state there, because a "
    "cache belongs to its weights and sums the squares of all their gradients.",
    change(RESTART, f"{RESTART}\n    cache = dict.fromkeys(params, 0)"),
    tempts="Position and state start again there, so it seems that everything does.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "eps_inside_the_root",
    "You add `eps` inside the square root. Take the root of the cache first and then add `eps`, because the root "
    "would turn 1e-8 into 1e-4.",
    change(STEP, "cache[name] += grads[name] ** 2\nparams[name] -= lr * grads[name] / np.sqrt(cache[name] + 1e-8)"),
    tempts="Some texts and libraries put it there, and the difference is easy to miss.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "one_cache_for_all",
    "All your weights share one number as their cache. Give each of the five arrays a cache of its own, in the same "
    "shape, because Adagrad scales the step of each weight by that weight's gradients.",
    change(STEP, f"cache[name] += sum(np.sum(g**2) for g in grads.values())\n{MOVE}"),
    change(
        "cache = {name: np.zeros(theta.shape) for name, theta in params.items()}",
        "cache = 0",
        (STEP, "cache += np.sum(grads[name] ** 2)\nparams[name] -= lr * grads[name] / (np.sqrt(cache) + 1e-8)"),
    ),
    tempts="`cache = 0` before the loop is shorter to write, but then the gradients of all weights slow down each one.",
    keeps=("chunks", "state", "weights and losses"),
)
SPEC.mistake(
    "one_number_for_each_array",
    "You keep one number as the cache of each array. Keep an array of the same shape as the weights, because Adagrad "
    "scales the step of each weight by that weight's gradients.",
    change(STEP, f"cache[name] += np.sum(grads[name] ** 2)\n{MOVE}"),
    tempts="A dict with one zero for each name is quickly written, and a sum of squares fits into it.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "gradients_clipped",
    "You clip the gradients. Use them as they are, because clipping is not part of Adagrad; it is a topic of the next "
    "chapter.",
    *(change("grads[name],", f"np.clip(grads[name], -{n}, {n}),") for n in (5, 1)),
    tempts="A well-known script clips to ±5, and on some texts that helps; clipping is a topic of chapter 3.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "last_update_missing",
    "You return the weights of the last call, whose gradients you never used. Make a step after every call, the last "
    "one included, because each update consists of a call and a step.",
    change("for name in params:", "if update == num_updates - 1:\n    break\nfor name in params:"),
    tempts="A loop that makes the step of the previous call first looks the same, but leaves the last gradients "
    "unused.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "biases_not_updated",
    "You update the three matrices and leave the biases as they are. Update all five arrays of `params`, because `b_h` "
    "and `b_y` are trained as well.",
    change("for name in params:", 'for name in ("W_xh", "W_hh", "W_hy"):'),
    tempts="The matrices are called weights, the biases are not.",
    keeps=("chunks", "state", "weights and losses", "hello"),
)
SPEC.mistake(
    "matrices_and_b_h_zero",
    "You start the three matrices and `b_h` at zero. Draw the matrices as small random numbers from `rng`: if they "
    "are zero, every state is 0, nothing passes through the network, neither forward nor backward, and `b_y` is all "
    "that ever changes.",
    matrices("np.zeros({})"),
    tempts="Biases may start at zero, so it seems that matrices may too.",
    keeps=("chunks", "state", "updates"),
)
SPEC.mistake(
    "units_start_alike",
    "All your units start with the same weights and the same bias, so they get the same gradients and stay equal: in "
    "effect the network has a single unit. Draw the three matrices as small random numbers from `rng`.",
    matrices("np.full({}, 0.1)"),
    matrices("np.zeros({})", ('"b_h": np.zeros(H)', '"b_h": np.ones(H)')),
    tempts="Any small number seems better than 0, but units that start equal stay equal.",
    keeps=("chunks", "state", "updates"),
)
SPEC.mistake(
    "only_biases_random",
    "At the start your units differ in their biases alone: in the three matrices all of them have the same weights, "
    "such as zeros. Draw the matrices as small random numbers from `rng` too, because a unit responds to the text "
    "through its weights, and with equal weights all units respond alike, apart from their biases.",
    matrices("np.zeros({})", *RANDOM_BIASES),
    matrices("np.full({}, 0.1)", *RANDOM_BIASES),
    tempts="The word weights often includes the biases, and random biases do make the units differ.",
    keeps=("chunks", "state", "updates"),
)
SPEC.mistake(
    "rng_not_used",
    "You draw nothing from `rng`: your initial weights are not random, or their random numbers come from elsewhere. "
    "Draw them from `rng`, for example by `rng.normal(size=shape)`, because the caller chooses its random seed, to "
    "repeat a run or to vary it.",
    change("V, H, T =", "rng = np.random\nV, H, T ="),
    change("V, H, T =", "rng = np.random.default_rng(0)\nV, H, T ="),
    tempts="np.random.randn comes to mind first, but then the caller cannot choose the random seed.",
    keeps=("chunks", "state", "updates"),
)
SPEC.mistake(
    "losses_summed",
    "Your losses are sums, over the tokens of a chunk or over the updates. Keep what `loss_and_grads` returns, "
    "because it is already the mean loss of the chunk.",
    change("return losses", "return losses * T"),
    change("return losses", "return np.cumsum(losses)"),
    tempts="In many scripts the loss of a chunk is the sum over its tokens; here it is their mean.",
    keeps=("chunks", "state", "updates", "hello"),
)
SPEC.mistake(
    "updates_as_epochs",
    "You take `num_updates` for the number of epochs, that is, of passes through the whole text. Stop after "
    "`num_updates` chunks, even in the middle of the text, because each chunk makes one update.",
    change("losses = np.zeros", "num_updates = num_updates * ((len(ids) - 1) // T)\nlosses = np.zeros"),
    tempts="Most training loops count epochs and have a loop over the chunks inside.",
    keeps=("hello",),
)
SPEC.mistake(
    "loss_after_the_step",
    "You call `loss_and_grads` twice for each chunk, before the step and after it. Call it once, because a single "
    "call returns all that you need; the loss to keep is the one before the step.",
    change(
        "losses[update], grads, h = loss_and_grads(params, ids[p : p + T], ids[p + 1 : p + T + 1], h)",
        "chunk = ids[p : p + T], ids[p + 1 : p + T + 1], h\n_, grads, h = loss_and_grads(params, *chunk)",
        ("p += T", "losses[update] = loss_and_grads(params, *chunk)[0]\np += T"),
    ),
    tempts="It seems natural to ask how good the network is after the step.",
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


def adagrad(params, grads, cache, lr):
    cache = {name: cache.get(name, 0) + grads[name] ** 2 for name in params}
    return {name: params[name] - lr * grads[name] / (np.sqrt(cache[name]) + 1e-8) for name in params}, cache


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
