"""How `cross_entropy_backward` is checked: against PyTorch's cross-entropy and its autograd."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Output, Spec, change, instead


def oracle(logits, targets):
    """PyTorch's mean cross-entropy, differentiated by autograd in float64."""
    z = torch.from_numpy(logits).requires_grad_()
    torch.nn.functional.cross_entropy(z.reshape(-1, z.shape[2]), torch.from_numpy(targets).reshape(-1)).backward()
    return z.grad.numpy()


EXAMPLE = Case(
    sizes={"B": 1, "T": 2, "V": 3},
    inputs={
        "logits": np.array([[[0.50, -1.00, 2.00], [1.20, 0.00, -0.30]]]),
        "targets": np.array([[2, 1]]),
    },
)


def case(rng, logits, highest, kind="ordinary"):
    """Draw targets from 0 to `highest`; `highest` itself is among them."""
    B, T, V = logits.shape
    targets = rng.integers(highest + 1, size=(B, T))
    targets[rng.integers(B), rng.integers(T)] = highest
    return Case(sizes={"B": B, "T": T, "V": V}, inputs={"logits": logits, "targets": targets}, kind=kind)


def cases(rng):
    for B, T, V in [(2, 5, 4), (3, 3, 3), (1, 4, 3), (4, 1, 5), (3, 2, 1)]:
        yield case(rng, 2 * rng.normal(size=(B, T, V)), highest=V - 1)
    yield case(rng, 2 * rng.normal(size=(3, 2, 5)), highest=3)  # the largest id of all is never a target
    yield case(rng, 2 * rng.normal(size=(2, 2, 4)), highest=0)
    large = "large logits"
    far_apart = rng.permutation(np.repeat([-1000, 1000], 3)).reshape(2, 3, 1)  # each batch has positions of both kinds
    yield case(rng, rng.normal(size=(2, 3, 4)) + far_apart, highest=3, kind=large)
    logits = rng.uniform(-1000, 1000, size=(2, 2, 5))
    logits[rng.integers(2), rng.integers(2), -1] = -1200  # so that the largest id is a target
    targets = logits.argmin(axis=2)  # the network is confident in another id
    yield Case({"B": 2, "T": 2, "V": 5}, {"logits": logits, "targets": targets}, large)


SPEC = Spec(
    outputs=[Output("dlogits", ("B", "T", "V"))],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[
        Facet("ordinary logits", share=3, kinds=("ordinary",)),
        Facet("large logits", share=1, kinds=("large logits",)),
    ],
)
NEVER_ZERO = [f"(softmax(logits) + {tiny})" for tiny in ("1e-8", "1e-9", "1e-10", "1e-12")] + [
    f"np.maximum(softmax(logits), {least})" for least in ("1e-12", "1e-15")
]
ONE_SHIFT = "np.exp(logits - logits.max())"
CLIPPED = [f"np.clip(logits, -{most}, {most})" for most in (20, 30, 50, 100, 500, 700)] + [
    f"np.minimum(logits, {most})" for most in (50, 100, 500, 700)
]


def softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def through_the_softmax_again(logits, targets):
    p = softmax(logits)
    d = p - np.eye(p.shape[2])[targets]
    return p * (d - (p * d).sum(axis=2, keepdims=True)) / targets.size


def next_of_the_next(logits, targets):
    dlogits = softmax(logits)
    dlogits[:, :-1] -= np.eye(dlogits.shape[2])[targets[:, 1:]]
    return dlogits / targets.size


def next_of_the_next_alone(logits, targets):
    dlogits = next_of_the_next(logits, targets)
    dlogits[:, -1] = 0
    return dlogits


SPEC.mistakes(
    {
        "not_divided": change(" / (B * T)", ""),
        **instead(
            "(B * T)",
            {
                "divided_by_the_batch_only": "B",
                "divided_by_time_only": "T",
                "divided_by_every_entry": "logits.size",
                "divided_and_multiplied": "B * T",
                "divided_by_the_ids": "V",
            },
        ),
        "multiplied_by_positions": change("/ (B * T)", "* (B * T)"),
        "one_part_divided": [
            change("(softmax(logits) - one_hot) / (B * T)", "softmax(logits) / (B * T) - one_hot"),
            change("(softmax(logits) - one_hot)", "softmax(logits) - one_hot"),
        ],
        **instead(
            "softmax(logits) - one_hot",
            {
                "sign": "one_hot - softmax(logits)",
                "one_in_place_of_the_difference": "np.where(one_hot > 0, -1, softmax(logits))",
                "probabilities_left_out": "-one_hot",
            },
        ),
        "one_hot_forgotten": change(" - one_hot", ""),
        "only_at_the_target": change("- one_hot)", "- 1) * one_hot"),
        **instead(
            "- one_hot",
            {
                "one_subtracted_everywhere": "- 1",
                "ids_for_one_hot": "- targets[..., None]",
                "one_added": "+ one_hot",
            },
        ),
        "with_respect_to_the_probabilities": [
            change("(softmax(logits) - one_hot)", "-one_hot / softmax(logits)"),
            *(change("(softmax(logits) - one_hot)", f"-one_hot / {p}") for p in NEVER_ZERO),
            change("(softmax(logits) - one_hot)", "-np.where(one_hot > 0, 1 / softmax(logits), 0)"),
        ],
        **instead(
            "softmax(logits)",
            {
                "logits_for_probabilities": "logits",
                "logistic_for_softmax": "(1 / (1 + np.exp(-logits)))",
            },
        ),
        "softmax_over_time": [*(change("softmax(logits)", f"softmax(logits, axis={axis})") for axis in (1, 0, None))],
        "every_target_at_every_place": [
            *(
                change("np.eye(V)[targets]", f"np.zeros(logits.shape)\none_hot[{places}, targets] = 1")
                for places in (":, :", ":, np.arange(T)", "np.arange(B)[:, None], :")
            )
        ],
        "in_place": change(
            "return (softmax(", "dlogits = logits\ndlogits[:] = (softmax(", ("(B * T)", "(B * T)\nreturn dlogits")
        ),
        **instead(
            "one_hot = np.eye(V)[targets]",
            {
                "indices_side_by_side": (
                    "one_hot = np.zeros(logits.shape)\none_hot[np.arange(B), np.arange(T), targets] = 1"
                ),
                "predicted_id_for_the_target": "one_hot = np.eye(V)[logits.argmax(axis=2)]",
                "targets_index_the_batch": "one_hot = np.zeros(logits.shape)\none_hot[targets] = 1",
            },
        ),
        "last_step_only": [
            change(
                "return (softmax(logits) - one_hot) / (B * T)",
                f"dlogits = 0 * logits\ndlogits[:, -1] = (softmax(logits) - one_hot)[:, -1] / {n}\nreturn dlogits",
            )
            for n in ("(B * T)", "B")
        ],
        "through_the_softmax_again": through_the_softmax_again,
        "targets_shifted_again": [next_of_the_next, next_of_the_next_alone],
        "log_probabilities": [
            change("softmax(logits)", "np.log(softmax(logits))"),
            change(
                "softmax(logits)",
                "(lambda z: z - np.log(np.sum(np.exp(z), -1, "
                "keepdims=True)))(logits - np.max(logits, -1, "
                "keepdims=True))",
            ),
        ],
    }
)
SPEC.mistakes(
    {
        **instead(
            "softmax(logits)",
            {
                "overflows": "np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)",
                "one_shift_for_all": f"{ONE_SHIFT} / {ONE_SHIFT}.sum(axis=2, keepdims=True)",
            },
        ),
        "logits_clipped": [*(change("softmax(logits)", f"softmax({clipped})") for clipped in CLIPPED)],
    },
    keeps=["ordinary logits"],
)
SPEC.mistakes(
    {
        "as_many_ids_as_the_largest_target": change("np.eye(V)", "np.eye(targets.max() + 1)"),
    },
    keeps=["large logits"],
)


@SPEC.alternative
def one_subtracted_by_index(logits, targets):
    """The usual code: subtract 1 at each target of a copy of the probabilities, with three index arrays."""
    B, T, _ = logits.shape
    e = np.exp(logits - logits.max(axis=2, keepdims=True))
    dlogits = e / e.sum(axis=2, keepdims=True)
    dlogits[np.arange(B)[:, None], np.arange(T), targets] -= 1
    return dlogits / (B * T)


@SPEC.alternative
def position_by_position(logits, targets):
    """Two loops, and one row of V numbers at a time."""
    B, T, V = logits.shape
    dlogits = np.zeros((B, T, V))
    for b in range(B):
        for t in range(T):
            e = np.exp(logits[b, t] - max(logits[b, t]))
            dlogits[b, t] = e / sum(e) / (B * T)
            dlogits[b, t, targets[b, t]] -= 1 / (B * T)
    return dlogits


@SPEC.alternative
def flat(logits, targets):
    """All positions in one axis."""
    z, y = logits.reshape(-1, logits.shape[2]), targets.ravel()
    p = np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True))
    p[np.arange(len(y)), y] -= 1
    return (p / len(y)).reshape(logits.shape)


@SPEC.alternative
def along_the_last_axis(logits, targets):
    """The one-hot rows are written by np.put_along_axis."""
    one_hot = np.zeros(logits.shape)
    np.put_along_axis(one_hot, targets[:, :, None], 1.0, axis=2)
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=2, keepdims=True))
    return (p - one_hot) / targets.size


@SPEC.alternative
def backward_step_by_step(logits, targets):
    """The two terms of the loss, the log of the sum and the target's logit, differentiated separately."""
    ids = np.arange(logits.shape[2])
    weight = 1 / targets.size
    log_sum = np.logaddexp.reduce(logits, axis=2, keepdims=True)
    from_the_sum = weight * np.exp(logits - log_sum)
    from_the_target = np.where(ids == targets[..., None], -weight, 0.0)
    return from_the_sum + from_the_target
