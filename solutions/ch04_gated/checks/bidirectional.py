"""How `bidirectional` is checked: against both layers run on each sequence by itself, at its own length."""

import numpy as np

from grader.author.spec import Case, Facet, Fixture, Output, Spec, change


def oracle(x, lengths, run_forward, run_backward):
    """Each sequence alone, in a batch of one without padding, flipped for the backward layer."""
    h = None
    for row, length in enumerate(lengths):
        alone = x[row : row + 1, :length]  # (1, length, D)
        both = [run_forward(alone), np.flip(run_backward(np.flip(alone, axis=1)), axis=1)]
        if h is None:
            h = np.zeros((*x.shape[:2], 2 * both[0].shape[2]))
        h[row, :length] = np.dstack(both)[0]
    return h


FULL, PADDED = "full length", "padding"

EXAMPLE = Case(
    sizes={"B": 2, "T": 3, "D": 1, "H": 1},
    inputs={
        "x": np.array([[[1.00], [3.00], [5.00]], [[2.00], [8.00], [7.00]]]),
        "lengths": np.array([3, 2]),
        "run_forward": Fixture("leaky_layer", {"keep": 1.0, "scale": 1.0}),
        "run_backward": Fixture("leaky_layer", {"keep": 0.5, "scale": 1.0}),
    },
    kind=PADDED,
)


def layer(rng, D, H):
    return Fixture(
        "tanh_layer",
        {
            "W_xh": rng.normal(size=(D, H)) / np.sqrt(D),
            "W_hh": rng.normal(size=(H, H)) / np.sqrt(H),
            "b_h": rng.choice([-1, 1], size=H) * rng.uniform(0.3, 0.8, size=H),  # so that an input of 0 has an effect
        },
    )


def case(rng, lengths, T, D, H, kind):
    """Rows of these lengths, in this order."""
    B = len(lengths)
    return Case(
        sizes={"B": B, "T": T, "D": D, "H": H},
        inputs={
            "x": rng.normal(size=(B, T, D)),
            "lengths": np.array(lengths),
            "run_forward": layer(rng, D, H),
            "run_backward": layer(rng, D, H),
        },
        kind=kind,
    )


def cases(rng):
    yield case(rng, [4, 4], T=4, D=3, H=5, kind=FULL)
    yield case(rng, [3, 3, 3], T=3, D=3, H=3, kind=FULL)
    yield case(rng, [6], T=6, D=2, H=1, kind=FULL)
    yield case(rng, [1, 1, 1, 1], T=1, D=1, H=2, kind=FULL)
    yield case(rng, [5, 2, 1, 3], T=5, D=2, H=3, kind=PADDED)
    yield case(rng, [2, 5, 3], T=6, D=3, H=3, kind=PADDED)  # no row is full
    yield case(rng, [4], T=7, D=1, H=2, kind=PADDED)
    yield case(rng, [3, 6, 1, 5, 4], T=6, D=2, H=1, kind=PADDED)


SPEC = Spec(
    driver="padded",
    outputs=[Output("h", ("B", "T", "2H"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("rows of full length", share=1, kinds=(FULL,)),
        Facet("rows with padding", share=2, kinds=(PADDED,)),
    ],
    why=r"""
The forward layer needs no care: padding comes last, and a state depends on nothing later. The backward layer reads the
sequence in reverse, and what has to be reversed is its real part alone: in a row of length $n$, step $t < n$ is
exchanged with step $n - 1 - t$, and padding stays at the end, where no real state can depend on it. The index array
`order` contains this for every row. Exchanging twice changes nothing, so the same `order` puts each backward state at
the step of the input that it read last.
""",
)

REAL = "np.where(steps <= last, last - steps, steps)"
SPEC.mistake(
    "padding_reversed_too",
    "You reverse all T steps of a padded row. Reverse only its first `lengths[b]` steps, both before and after "
    "`run_backward`, because the padding is not part of the sequence.",
    change(REAL, "np.broadcast_to(steps[::-1], x.shape[:2])"),
    change("[rows, order])[rows, order]", "[rows, order])[:, ::-1]"),
    change("x[rows, order])", "x[:, ::-1])"),
    tempts="`x[:, ::-1]` reverses the whole batch in one expression, and is right as long as no row is padded.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "not_reversed_back",
    "You leave the backward states in the order in which the layer computes them. Reverse them once more, so that the "
    "result contains at each step the backward state that has read this step last.",
    change("x[rows, order])[rows, order]", "x[rows, order])"),
    change("x[rows, order])[rows, order]", "x[:, ::-1])"),
    tempts="The input is reversed, the layer runs, and the job looks done.",
)
SPEC.mistake(
    "not_reversed_before",
    "You run the backward layer on the sequence as it is, and reverse only its states. Reverse the real steps of the "
    "input as well: `run_backward` itself reads from the first step to the last.",
    change("x[rows, order])[rows, order]", "x)[rows, order]"),
    change("x[rows, order])[rows, order]", "x)[:, ::-1]"),
    tempts="The name of the function suggests that it reads backward by itself, or one of the two reversals is lost.",
)
SPEC.mistake(
    "never_reversed",
    "Your backward layer reads each sequence from its first step to its last, as the forward layer does. "
    "`run_backward` itself reverses nothing: reverse the real steps of each row, along axis 1, before it runs, and its "
    "states afterwards.",
    change("x[rows, order])[rows, order]", "x)"),
    change("x[rows, order])[rows, order]", "x[::-1])[::-1]"),
    tempts="The name of the function suggests that it reads backward by itself, or the batch is reversed instead of "
    "time.",
)
SPEC.mistake(
    "backward_states_first",
    "You put the backward states in front. Put the H entries of the forward state first, then those of the backward "
    "state.",
    change("[forward, backward]", "[backward, forward]"),
    tempts="The backward states are what the function works for, and they are computed last.",
)
SPEC.mistake(
    "states_combined_entry_by_entry",
    "You combine the two states entry by entry, so only H entries are left at each step. Put them side by side, 2H "
    "entries in all: `np.concatenate` along the last axis.",
    change("np.concatenate([forward, backward], axis=2)", "forward + backward"),
    change("np.concatenate([forward, backward], axis=2)", "(forward + backward) / 2"),
    change("np.concatenate([forward, backward], axis=2)", "forward * backward"),
    tempts="Some models add the two directions, and the shape of a single layer's states is what one expects.",
)
SPEC.mistake(
    "joined_along_another_axis",
    "You join the two directions along another axis than the last. Each step of each sequence must have 2H entries: "
    "`np.concatenate` along axis 2.",
    change("axis=2", "axis=1"),
    change("axis=2", "axis=0"),
    change("np.concatenate([forward, backward], axis=2)", "np.stack([forward, backward], axis=-1)"),
    change("np.concatenate([forward, backward], axis=2)", "np.stack([forward, backward], axis=2)"),
    change("np.concatenate([forward, backward], axis=2)", "np.stack([forward, backward])"),
    tempts="Axis 0 is what NumPy joins along by default, and `np.stack` has a similar name.",
)
SPEC.mistake(
    "batch_reversed",
    "You reverse the order of the sequences in the batch. Reverse the *steps* of each sequence, along axis 1.",
    change("x[rows, order])[rows, order]", "x[::-1])"),
    tempts="`x[::-1]` reverses the first axis, and time comes second here.",
)
SPEC.mistake(
    "lengths_off_by_one",
    "Your reversal ends one step too early or too late. In a row of length n, the last real step has the index n − 1, "
    "so step t changes places with step n − 1 − t.",
    change("lengths[:, None] - 1", "lengths[:, None] - 2"),
    change("lengths[:, None] - 1", "lengths[:, None]"),
    change("last - steps", "last - steps + 1"),
    change("last - steps", "last - steps - 1"),
    tempts="A row of length 3 seems to end at index 3.",
)
SPEC.mistake(
    "first_padded_step_reversed_too",
    "In a row with padding, you reverse one step too many, so the first padded step is read as part of the sequence. "
    "In a row of length n, the last real step has the index n − 1.",
    change("lengths[:, None] - 1", "np.minimum(lengths[:, None], x.shape[1] - 1)"),
    tempts="The index n does not exist in a row of full length, and limiting it hides the mistake.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "padding_set_to_zero",
    "You set the padding to 0, and then reverse all T steps, so the backward layer reads zeros first. Reverse the real "
    "steps only: an input of 0 is still an input, and changes the state through the bias.",
    change(
        "x[rows, order])[rows, order]",
        "(x * (steps <= last)[:, :, None])[:, ::-1])[:, ::-1]",
    ),
    tempts="An input of 0 seems to do nothing.",
    keeps=["rows of full length"],
)
SPEC.mistake(
    "one_length_for_all",
    "You reverse the same number of steps in every row. Use each row's own length.",
    *(change("lengths[:, None] - 1", f"lengths{one} - 1") for one in ("[0]", ".max()", ".min()")),
    tempts="A single slice for the whole batch is simpler.",
    keeps=["rows of full length"],
)


@SPEC.alternative
def row_by_row(x, lengths, run_forward, run_backward):
    """Each sequence by itself, without its padding; the padded positions of the result stay NaN."""
    forward = run_forward(x)
    backward = np.full(forward.shape, np.nan)
    for b, n in enumerate(lengths):
        backward[b, :n] = run_backward(x[b : b + 1, n - 1 :: -1])[0, ::-1]
    return np.concatenate([forward, backward], axis=-1)


@SPEC.alternative
def rolled(x, lengths, run_forward, run_backward):
    """All steps reversed, and each row rolled until its real steps are in front; then the same the other way round."""
    T = x.shape[1]
    flipped = np.stack([np.roll(row[::-1], n - T, axis=0) for row, n in zip(x, lengths, strict=True)])
    states = run_backward(flipped)
    backward = np.stack([np.roll(row, T - n, axis=0)[::-1] for row, n in zip(states, lengths, strict=True)])
    return np.dstack([run_forward(x), backward])


@SPEC.alternative
def by_length(x, lengths, run_forward, run_backward):
    """All rows of one length together; the padded positions of the result stay 0."""
    h = np.zeros((*x.shape[:2], 2 * run_forward(x[:1, :1]).shape[-1]))
    for n in set(lengths.tolist()):
        some = lengths == n
        real = x[some, :n]
        h[some, :n] = np.concatenate([run_forward(real), run_backward(real[:, ::-1])[:, ::-1]], axis=2)
    return h
