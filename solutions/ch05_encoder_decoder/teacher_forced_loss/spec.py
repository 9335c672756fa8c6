"""How `teacher_forced_loss` is checked: row by row, without padding, against PyTorch's cross-entropy."""

import numpy as np
import torch

from grader.spec.spec import Case, Facet, Fixture, Output, Spec, change, instead


def oracle(step, state, targets, mask, sos_id):
    """Each row by itself, up to its own end, so that no padding is ever read or counted."""
    logits, gold = [], []
    for b, n in enumerate(mask.sum(axis=1).tolist()):
        row = state[b : b + 1] if state.ndim == 1 else state[:, b : b + 1]
        sentence = targets[b, :n].tolist()
        for before, target in zip([sos_id, *sentence], sentence, strict=False):
            z, row = step(np.array([before]), row)
            logits.append(z[0])
            gold.append(target)
    return torch.nn.functional.cross_entropy(torch.tensor(np.array(logits)), torch.tensor(gold)).item() if gold else 0.0


ORDINARY, NONE = "ordinary", "no real token"
LOGITS = np.array(
    [
        [0.00, 0.00, 0.00, 0.00, 0.00],  # the state before ⟨sos⟩: no step leads here
        [-2.00, -3.00, 0.10, 1.50, 0.80],  # after ⟨sos⟩
        [-1.00, -2.50, 0.40, -0.60, 2.00],  # then 3
        [0.30, -2.00, 1.20, 0.90, -1.00],  # or 4
        [-0.50, -1.50, 2.20, 0.70, 0.00],  # then 3, then 4
        [1.10, -0.40, -1.20, 0.60, 0.50],  # everything else
    ]
)
CHILDREN = np.full((6, 5), 5)
CHILDREN[0, 1], CHILDREN[1, 3], CHILDREN[1, 4], CHILDREN[2, 4] = 1, 2, 3, 4
EXAMPLE = Case(
    sizes={"B": 2, "T": 3, "V": 5},
    inputs={
        "step": Fixture("table_decoder", {"logits": LOGITS, "children": CHILDREN}),
        "state": np.array([0, 0]),
        "targets": np.array([[3, 4, 2], [4, 2, 0]]),
        "mask": np.array([[True, True, True], [True, True, False]]),
        "sos_id": 1,
    },
)


def decoder(rng, V, D, H, L):
    layers = [
        {
            "W_x": rng.normal(size=(H if number else D, 3 * H)),
            "W_h": rng.normal(size=(H, 3 * H)) / np.sqrt(H),
            "b_x": rng.normal(size=3 * H) / 2,
            "b_h": rng.normal(size=3 * H) / 2,
        }
        for number in range(L)
    ]
    W_p, b_p = 2 * rng.normal(size=(H, V)) / np.sqrt(H), rng.normal(size=V) / 2
    return Fixture("gru_decoder", {"E": rng.normal(size=(V, D)), "layers": layers, "W_p": W_p, "b_p": b_p})


def case(rng, V, D, H, L, T, lengths, special=(0, 1, 2), kind=ORDINARY):
    """Sentences of so many targets, the last of them ⟨eos⟩; `special` has the ids of ⟨pad⟩, ⟨sos⟩ and ⟨eos⟩."""
    pad_id, sos_id, eos_id = special
    B, lengths = len(lengths), rng.permutation(lengths)
    words = [v for v in range(V) if v not in special] or [eos_id]
    targets = rng.choice(words, size=(B, T))
    for row, n in zip(targets, lengths.tolist(), strict=True):
        row[max(n - 1, 0) :], row[n:] = eos_id, pad_id
    inputs = {
        "step": decoder(rng, V, D, H, L),
        "state": rng.uniform(-0.9, 0.9, size=(L, B, H)),
        "targets": targets,
        "mask": np.arange(T) < lengths[:, None],
        "sos_id": sos_id,
    }
    return Case({"B": B, "T": T, "V": V, "D": D, "H": H, "L": L}, inputs, kind)


def cases(rng):
    yield case(rng, V=6, D=3, H=4, L=1, T=4, lengths=[4, 2])
    yield case(rng, V=5, D=2, H=3, L=2, T=5, lengths=[5, 2, 0, 4])
    yield case(rng, V=7, D=4, H=5, L=2, T=6, lengths=[6, 3, 1], special=(3, 6, 4))
    yield case(rng, V=5, D=3, H=2, L=1, T=5, lengths=[4], special=(4, 0, 1))  # padding in the last column
    yield case(rng, V=6, D=1, H=3, L=1, T=1, lengths=[1, 1, 0], special=(2, 5, 0))
    yield case(rng, V=6, D=2, H=1, L=3, T=3, lengths=[3, 3], special=(0, 4, 1))  # no padding
    yield case(rng, V=1, D=2, H=2, L=1, T=3, lengths=[3, 1], special=(0, 0, 0))
    yield case(rng, V=4, D=2, H=2, L=1, T=3, lengths=[0, 0], kind=NONE)


SPEC = Spec(
    outputs=[Output("loss")],
    example=EXAMPLE,
    cases=cases,
    oracle=oracle,
    facets=[Facet("sentences", share=3, kinds=(ORDINARY,)), Facet("no real token", share=1, kinds=(NONE,))],
)
START, CALL, NEXT = "np.full(len(targets), sos_id)", "step(y_prev, state)", "y_prev = targets[:, t]"
LOOP = "for t in range(targets.shape[1]):"
LOSS = "masked_cross_entropy(np.stack(logits, axis=1), targets, mask)"
# the losses at all positions, in one expression
LOSSES = (
    "-np.take_along_axis(log_softmax(np.stack(logits, axis=1)), targets[:, :, None], axis=2)[:, :, 0]\n"
    "losses = np.where(mask, losses, 0.0)"
)


def of_losses(result):
    """A change: the result is this expression of `losses` (B, T), which are 0 at padding, and `mask`."""
    return change(f"return {LOSS}", f"losses = {LOSSES}\nreturn {result}")


def like_a_language_model(step, state, targets, mask, sos_id):
    total = 0.0
    for t in range(targets.shape[1] - 1):
        z_t, state = step(targets[:, t], state)
        losses = np.logaddexp.reduce(z_t, axis=1) - z_t[np.arange(len(z_t)), targets[:, t + 1]]
        total += (losses * mask[:, t + 1]).sum()
    return total / max(mask[:, 1:].sum(), 1)


SPEC.mistakes(
    {
        "inputs_not_shifted": change(CALL, "step(targets[:, t], state)"),
        **instead(
            NEXT,
            {
                "own_predictions_fed": "y_prev = z_t.argmax(axis=1)",
                "sos_at_every_step": "",
                "inputs_one_step_early": "y_prev = targets[:, min(t + 1, targets.shape[1] - 1)]",
                "first_target_at_every_step": "y_prev = targets[:, 0]",
            },
        ),
        "state_not_carried": change("z_t, state = step", "z_t, _ = step"),
        "sos_id_not_used": [
            change(START, "np.zeros(len(targets), dtype=int)"),
            change(START, "np.ones(len(targets), dtype=int)"),
        ],
        **instead(
            START,
            {
                "first_target_fed_first": "targets[:, 0]",
                "last_target_fed_first": "targets[:, -1]",
            },
        ),
        "inputs_shifted_twice": [
            change(NEXT, "y_prev = targets[:, t - 1]"),
            change(NEXT, "y_prev = targets[:, t - 1] if t > 0 else y_prev"),
        ],
        **instead(
            f"return {LOSS}",
            {
                "logits_one_step_late": f"logits = [*logits[1:], {CALL}[0]]\nreturn {LOSS}",
                "targets_shifted_again": "z = np.stack(logits, axis=1)[:, :-1]\n"
                "return masked_cross_entropy(z, targets[:, 1:], mask[:, 1:]) if len(logits) > 1 else 0.0",
                "no_softmax": "z = np.take_along_axis(np.stack(logits, axis=1), targets[:, :, None], axis=2)[:, :, 0]\n"
                "return -(z * mask).sum() / max(mask.sum(), 1)",
            },
        ),
        "logits_reshaped": change("np.stack(logits, axis=1)", "np.reshape(logits, (*targets.shape, -1))"),
        "last_step_only": of_losses("losses[:, -1].sum() / max(mask[:, -1].sum(), 1)"),
        "inputs_as_targets": change(
            LOSS, f"masked_cross_entropy(np.stack(logits, axis=1), np.column_stack([{START}, targets[:, :-1]]), mask)"
        ),
        "padding_in_the_divisor": of_losses("losses.mean()"),
        "sum_for_mean": of_losses("losses.sum()"),
        "divided_by_the_batch": of_losses("losses.sum() / len(targets)"),
        "divided_by_time": of_losses("losses.sum() / targets.shape[1]"),
        "mean_of_step_means": [
            of_losses("(losses.sum(axis=0) / np.maximum(mask.sum(axis=0), 1)).mean()"),
            of_losses("(losses.sum(axis=0) / np.maximum(mask.sum(axis=0), 1)).sum() / max(mask.any(axis=0).sum(), 1)"),
        ],
        "sum_of_step_means": of_losses("(losses.sum(axis=0) / np.maximum(mask.sum(axis=0), 1)).sum()"),
        "mean_of_row_means": [
            of_losses("(losses.sum(axis=1) / np.maximum(mask.sum(axis=1), 1)).mean()"),
            of_losses("(losses.sum(axis=1) / np.maximum(mask.sum(axis=1), 1)).sum() / max(mask.any(axis=1).sum(), 1)"),
        ],
        "last_real_token_left_out": of_losses(
            "(losses[:, :-1] * mask[:, 1:]).sum() / max(mask[:, 1:].sum(), 1)",
        ),
        "first_target_left_out": [
            of_losses("losses[:, 1:].sum() / max(mask[:, 1:].sum(), 1)"),
            of_losses("losses[:, 1:].sum() / max(mask.sum(), 1)"),
        ],
        "last_step_left_out": [
            of_losses("losses[:, :-1].sum() / max(mask.sum(), 1)"),
            of_losses("losses[:, :-1].sum() / max(mask[:, :-1].sum(), 1)"),
        ],
        "stops_when_the_first_row_ends": [
            change("targets, mask)", "targets, mask & mask.all(axis=0))"),
            of_losses("losses[:, mask.all(axis=0)].sum() / max(mask.sum(), 1)"),
        ],
        "first_target_never_predicted": like_a_language_model,
    },
    keeps=["no real token"],
)
SPEC.mistakes(
    {
        **instead(
            "targets, mask)",
            {
                "padding_counted": "targets, np.ones_like(mask))",
                "mask_inverted": "targets, ~mask)",
            },
        ),
    }
)
SPEC.mistakes(
    {
        "no_tokens_not_handled": [
            of_losses("losses.sum() / mask.sum()"),
            of_losses("float(losses.sum()) / int(mask.sum())"),
        ],
    },
    keeps=["sentences"],
)


@SPEC.alternative
def inputs_in_one_array(step, state, targets, mask, sos_id):
    """All inputs first, then a running sum and a count."""
    inputs = np.concatenate([np.full((len(targets), 1), sos_id), targets[:, :-1]], axis=1)  # (B, T)
    total = 0.0
    for t in range(targets.shape[1]):
        z_t, state = step(inputs[:, t], state)
        losses = np.logaddexp.reduce(z_t, axis=1) - z_t[np.arange(len(z_t)), targets[:, t]]
        total += losses[mask[:, t]].sum()
    return total / mask.sum() if mask.any() else 0.0


@SPEC.alternative
def columns(step, state, targets, mask, sos_id):
    """A loop over columns, which ends when the longest row has ended."""
    y_prev, total = np.repeat(sos_id, len(targets)), 0.0
    for target, real in zip(targets.T, mask.T, strict=True):
        if not real.any():
            break
        z_t, state = step(y_prev=y_prev, state=state)
        log_p = z_t - np.logaddexp.reduce(z_t, axis=1, keepdims=True)
        total -= sum(log_p[b, target[b]] for b in np.flatnonzero(real))
        y_prev = target
    return float(total) / max(int(np.sum(mask)), 1)


@SPEC.alternative
def recursive(step, state, targets, mask, sos_id):
    """The sum of the first step plus that of the rest, where the first target takes the place of ⟨sos⟩."""

    def sum_from(t, y_prev, state):
        if t == targets.shape[1]:
            return 0.0
        losses = (
            np.logaddexp.reduce(step(y_prev, state)[0], axis=1)
            - np.take_along_axis(step(y_prev, state)[0], targets[:, t : t + 1], axis=1).ravel()
        )
        return np.where(mask[:, t], losses, 0).sum() + sum_from(t + 1, targets[:, t], step(y_prev, state)[1])

    return sum_from(0, np.array([sos_id] * len(targets)), state) / max(mask.sum(), 1)
