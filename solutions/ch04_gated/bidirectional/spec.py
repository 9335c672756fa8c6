"""How `bidirectional` is checked: against both layers run on each sequence by itself, at its own length."""

import numpy as np

from grader.spec.spec import Case, Facet, Fixture, Output, Spec, change


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
)
JOINED = "return np.concatenate([forward, backward], axis=2)"
REAL = "np.where(steps <= last, last - steps, steps)"

SPEC.mistakes(
    {
        "padding_reversed_too": [
            change(REAL, "np.broadcast_to(steps[::-1], x.shape[:2])"),
            change("[rows, order])[rows, order]", "[rows, order])[:, ::-1]"),
            change("x[rows, order])[rows, order]", "x[rows, order] * (steps <= last)[:, :, None])[:, ::-1]"),
            change("x[rows, order])", "x[:, ::-1])"),
        ],
        "first_padded_step_reversed_too": change(
            "lengths[:, None] - 1", "np.minimum(lengths[:, None], x.shape[1] - 1)"
        ),
        "padding_set_to_zero": change(
            "x[rows, order])[rows, order]",
            "(x * (steps <= last)[:, :, None])[:, ::-1])[:, ::-1]",
        ),
        "one_length_for_all": [
            *(change("lengths[:, None] - 1", f"lengths{one} - 1") for one in ("[0]", ".max()", ".min()"))
        ],
    },
    keeps=["rows of full length"],
)
SPEC.mistakes(
    {
        "not_reversed_back": [
            change("x[rows, order])[rows, order]", "x[rows, order])"),
            change("x[rows, order])[rows, order]", "x[:, ::-1])"),
        ],
        "not_reversed_before": [
            change("x[rows, order])[rows, order]", "x)[rows, order]"),
            change("x[rows, order])[rows, order]", "x)[:, ::-1]"),
        ],
        "never_reversed": change("x[rows, order])[rows, order]", "x)"),
        "backward_states_first": change("[forward, backward]", "[backward, forward]"),
        "states_combined_entry_by_entry": [
            change("np.concatenate([forward, backward], axis=2)", "forward + backward"),
            change("np.concatenate([forward, backward], axis=2)", "(forward + backward) / 2"),
            change("np.concatenate([forward, backward], axis=2)", "forward * backward"),
        ],
        "joined_along_another_axis": [
            change("axis=2", "axis=1"),
            change("axis=2", "axis=0"),
            change("np.concatenate([forward, backward], axis=2)", "np.stack([forward, backward], axis=-1)"),
            change("np.concatenate([forward, backward], axis=2)", "np.stack([forward, backward], axis=2)"),
            change("np.concatenate([forward, backward], axis=2)", "np.stack([forward, backward])"),
        ],
        "entries_interleaved": change(
            "np.concatenate([forward, backward], axis=2)",
            "np.stack([forward, backward], axis=-1).reshape(*x.shape[:2], -1)",
        ),
        "batch_reversed": change("x[rows, order])[rows, order]", "x[::-1])"),
        "all_axes_reversed": [
            change("x[rows, order])[rows, order]", "np.flip(x))[rows, order]"),
            change("run_backward(x[rows, order])[rows, order]", "np.flip(run_backward(np.flip(x)))"),
            change("x[rows, order])[rows, order]", "x[rows, order][:, :, ::-1])[rows, order]"),
            change("x[rows, order])[rows, order]", "x[rows, order])[rows, order][:, :, ::-1]"),
            change("x[rows, order])[rows, order]", "x[rows, order][:, :, ::-1])[rows, order][:, :, ::-1]"),
        ],
        "entries_of_each_step_reversed": [
            change("x[rows, order])[rows, order]", "x[:, :, ::-1])"),
            change("x[rows, order])[rows, order]", "x[:, :, ::-1])[:, :, ::-1]"),
        ],
        "backward_states_one_step_off": [
            change(
                JOINED,
                "later = np.append(backward[:, 1:], 0 * backward[:, :1], axis=1) * (steps < last)[:, :, None]\n"
                + JOINED.replace("backward", "later"),
            ),
            change(
                JOINED,
                "earlier = np.append(0 * backward[:, :1], backward[:, :-1], axis=1)\n"
                + JOINED.replace("backward", "earlier"),
            ),
        ],
        "last_backward_state_at_every_step": change(
            "x[rows, order])[rows, order]", "x[rows, order])[rows, np.broadcast_to(last, order.shape)]"
        ),
        "forward_layer_reads_backward_too": [
            change("run_forward(x)", "run_forward(x[rows, order])[rows, order]"),
            change("run_forward(x)", "run_forward(x[rows, order])"),
        ],
        "overwritten_while_reversed": [
            change("last - steps, steps)", "np.maximum(steps, last - steps), steps)"),
            change(
                "x[rows, order])[rows, order]",
                "x[rows, np.where(steps <= last, np.maximum(steps, last - steps), steps)])[rows, order]",
            ),
        ],
        "lengths_off_by_one": [
            change("lengths[:, None] - 1", "lengths[:, None] - 2"),
            change("lengths[:, None] - 1", "lengths[:, None]"),
            change("last - steps", "last - steps + 1"),
            change("last - steps", "last - steps - 1"),
        ],
    }
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
