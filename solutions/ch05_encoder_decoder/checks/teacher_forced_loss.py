"""How `teacher_forced_loss` is checked: row by row, without padding, against PyTorch's cross-entropy."""

import numpy as np
import torch

from grader.author.spec import Case, Facet, Fixture, Output, Spec, change


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
    why=r"""
The decoder reads ⟨sos⟩ first and then the targets, each one step after it was to be predicted: at step $t$ it reads
$y_{t-1}$ and is compared with $y_t$. So the loop replaces `y_prev` *after* the call of `step`. What the decoder
predicts is never read, which is why one wrong prediction costs one loss and does not change any later input. The state
is the decoder's only memory of the source and of earlier tokens, so each call gets the state that the previous call
returned. The loop runs to the end of the longest row. What happens in a row after its ⟨eos⟩ cannot reach another row,
and the mask removes it from the loss.
""",
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


SPEC.mistake(
    "inputs_not_shifted",
    "At step t you feed the decoder the target of step t, so it reads the token that it has to predict. Feed the "
    "target of the *previous* step, and ⟨sos⟩ at the first. Otherwise the decoder learns to copy its input, and the "
    "loss falls to nearly zero although it cannot write a sentence.",
    change(CALL, "step(targets[:, t], state)"),
    tempts="Inputs and targets come from the same array, and `[:, t]` is the step at hand.",
    keeps=["no real token"],
)
SPEC.mistake(
    "own_predictions_fed",
    "You feed the decoder its own prediction, the id with the largest logit. That is free running. With teacher "
    "forcing, the next input is the target, whatever the decoder has predicted.",
    change(NEXT, "y_prev = z_t.argmax(axis=1)"),
    tempts="That is how the decoder writes, and what `generate` of chapter 1 does.",
    keeps=["no real token"],
)
SPEC.mistake(
    "sos_at_every_step",
    "You feed ⟨sos⟩ at every step. It is the input of the first step only; from then on, feed the target of the "
    "previous step.",
    change(NEXT, ""),
    tempts="The variable is set before the loop, and the line that replaces it is easily forgotten.",
    keeps=["no real token"],
)
SPEC.mistake(
    "state_not_carried",
    "Every call of `step` gets the initial state, so the decoder forgets all earlier tokens. Pass on the state that "
    "the previous call returned: `z_t, state = step(…)`.",
    change("z_t, state = step", "z_t, _ = step"),
    tempts="Only the logits are needed for the loss, and the second result looks like a by-product.",
    keeps=["no real token"],
)
SPEC.mistake(
    "sos_id_not_used",
    "Your first input is a fixed id. Use `sos_id`: another vocabulary has another id for ⟨sos⟩.",
    change(START, "np.zeros(len(targets), dtype=int)"),
    change(START, "np.ones(len(targets), dtype=int)"),
    tempts="In the example the id is 1, and `np.zeros` is what arrays mostly start with.",
    keeps=["no real token"],
)
SPEC.mistake(
    "first_target_fed_first",
    "At the first step you feed the first target, which is the token that the decoder has to predict there. Feed "
    "⟨sos⟩ at the first step; the first target is the input of the second.",
    change(START, "targets[:, 0]"),
    tempts="A loop over the targets seems to start with the first of them.",
    keeps=["no real token"],
)
SPEC.mistake(
    "last_target_fed_first",
    "At the first step you feed the last target of the row, as `np.roll` or the index −1 does. Feed ⟨sos⟩ there: when "
    "the decoder writes by itself, it starts from ⟨sos⟩.",
    change(START, "targets[:, -1]"),
    tempts="`np.roll(targets, 1, axis=1)` shifts all columns, but the last one comes back at the front.",
    keeps=["no real token"],
)
SPEC.mistake(
    "inputs_shifted_twice",
    "From the third step on, your inputs are two steps late: at step t you feed the target of step t − 2. Feed that of "
    "step t − 1, the latest one that the decoder may know.",
    change(NEXT, "y_prev = targets[:, t - 1]"),
    change(NEXT, "y_prev = targets[:, t - 1] if t > 0 else y_prev"),
    tempts="The input is called the previous token, which suggests `t - 1`; but here the line runs after the call.",
    keeps=["no real token"],
)
SPEC.mistake(
    "inputs_one_step_early",
    "From the second step on, you feed the decoder the target of the same step, which it has to predict. `y_prev` is "
    "replaced *after* the call of `step`, so `targets[:, t]` is already the previous token of the next call.",
    change(NEXT, "y_prev = targets[:, min(t + 1, targets.shape[1] - 1)]"),
    tempts="The line prepares the *next* step, which suggests `t + 1`.",
    keeps=["no real token"],
)
SPEC.mistake(
    "first_target_at_every_step",
    "From the second step on, you feed the first target at every step. Feed the target of the previous step, which is "
    "another one at each step.",
    change(NEXT, "y_prev = targets[:, 0]"),
    tempts="⟨sos⟩ is followed by the first target, and the index is not replaced by `t`.",
    keeps=["no real token"],
)
SPEC.mistake(
    "logits_one_step_late",
    "You leave out the logits of the first step, so each target is compared with the logits of a decoder that has just "
    "read it. Compare the target of step t with the logits of step t: with ⟨sos⟩ in front, the inputs are shifted, and "
    "nothing else needs a shift.",
    change(f"return {LOSS}", f"logits = [*logits[1:], {CALL}[0]]\nreturn {LOSS}"),
    tempts="With ⟨sos⟩ in front there is one input more than targets, so one result seems to be too many.",
    keeps=["no real token"],
)
SPEC.mistake(
    "logits_reshaped",
    "You reshape the logits from (T, B, V) to (B, T, V). `reshape` does not exchange the axes: it only cuts the same "
    "sequence of numbers into other rows. Stack the steps along axis 1, or exchange the axes with `transpose`.",
    change("np.stack(logits, axis=1)", "np.reshape(logits, (*targets.shape, -1))"),
    tempts="The shape is right afterwards.",
    keeps=["no real token"],
)
SPEC.mistake(
    "last_step_only",
    "Your result is the loss of the last step alone. Keep the losses or logits of *all* steps: a variable that is set "
    "in each pass of the loop contains only the last one afterwards.",
    of_losses("losses[:, -1].sum() / max(mask[:, -1].sum(), 1)"),
    tempts="`loss = …` inside the loop replaces the losses of the earlier steps.",
    keeps=["no real token"],
)
SPEC.mistake(
    "no_softmax",
    "You treat the logits as log-probabilities. Use `log_softmax`, or leave this part to `masked_cross_entropy`.",
    change(
        f"return {LOSS}",
        "z = np.take_along_axis(np.stack(logits, axis=1), targets[:, :, None], axis=2)[:, :, 0]\n"
        "return -(z * mask).sum() / max(mask.sum(), 1)",
    ),
    tempts="`masked_cross_entropy` does it, so it is forgotten where the loss is computed in the loop.",
    keeps=["no real token"],
)
SPEC.mistake(
    "inputs_as_targets",
    "You compare the logits of each step with its *input*. Compare them with the target of the step, `targets[:, t]`: "
    "the decoder predicts the token that comes next.",
    change(LOSS, f"masked_cross_entropy(np.stack(logits, axis=1), np.column_stack([{START}, targets[:, :-1]]), mask)"),
    tempts="Two arrays, one a shifted copy of the other, are easily confused.",
    keeps=["no real token"],
)
SPEC.mistake(
    "padding_counted",
    "Your loss also contains the padded positions. Count only the positions where the mask is True, because what "
    "the decoder predicts after the end of a sentence does not matter.",
    change("targets, mask)", "targets, np.ones_like(mask))"),
    tempts="A mean over all positions is the shortest thing to write.",
)
SPEC.mistake(
    "mask_inverted",
    "You average the losses where the mask is False, which is the padding. The mask is True at *real* tokens.",
    change("targets, mask)", "targets, ~mask)"),
    tempts="In PyTorch's attention, for example, True marks what is left out.",
)
SPEC.mistake(
    "padding_in_the_divisor",
    "You divide by B · T, the number of all positions. Divide by the number of real tokens, `mask.sum()`, or the loss "
    "becomes smaller the more padding there is.",
    of_losses("losses.mean()"),
    tempts="`(losses * mask).mean()` looks like a masked mean, but its zeros are counted.",
    keeps=["no real token"],
)
SPEC.mistake(
    "sum_for_mean",
    "You return the sum of all losses. Divide it by the number of real tokens.",
    of_losses("losses.sum()"),
    tempts="The loop adds up the losses, and the division comes after it.",
    keeps=["no real token"],
)
SPEC.mistake(
    "divided_by_the_batch",
    "You divide the sum of all losses by B, the number of rows. Divide it by the number of real tokens, `mask.sum()`.",
    of_losses("losses.sum() / len(targets)"),
    tempts="A mean over the rows at each step, added up over the steps, gives the same number.",
    keeps=["no real token"],
)
SPEC.mistake(
    "divided_by_time",
    "You divide the sum of all losses by T, the number of steps. Divide it by the number of real tokens, "
    "`mask.sum()`, in all rows together.",
    of_losses("losses.sum() / targets.shape[1]"),
    tempts="The loop has T passes.",
    keeps=["no real token"],
)
SPEC.mistake(
    "mean_of_step_means",
    "You average over the rows at each step, and then over the steps. Late steps have few real tokens, and each of "
    "them counts for more. Add up the losses of all real tokens and divide once, by their number.",
    of_losses("(losses.sum(axis=0) / np.maximum(mask.sum(axis=0), 1)).mean()"),
    of_losses("(losses.sum(axis=0) / np.maximum(mask.sum(axis=0), 1)).sum() / max(mask.any(axis=0).sum(), 1)"),
    tempts="The loop computes one step at a time, and `masked_cross_entropy` can be called inside it.",
    keeps=["no real token"],
)
SPEC.mistake(
    "sum_of_step_means",
    "You average over the rows at each step and add up these means. Add up the losses of all real tokens instead, and "
    "divide once, by their number.",
    of_losses("(losses.sum(axis=0) / np.maximum(mask.sum(axis=0), 1)).sum()"),
    tempts="`loss += …` in the loop, with the mean of the step on the right; many tutorials do this.",
    keeps=["no real token"],
)
SPEC.mistake(
    "mean_of_row_means",
    "You average each row first and then the rows, so a token of a short sentence counts for more than one of a long "
    "sentence. Add up the losses of all real tokens and divide once, by their number.",
    of_losses("(losses.sum(axis=1) / np.maximum(mask.sum(axis=1), 1)).mean()"),
    of_losses("(losses.sum(axis=1) / np.maximum(mask.sum(axis=1), 1)).sum() / max(mask.any(axis=1).sum(), 1)"),
    tempts="The loss of a batch is often the mean over its sentences.",
    keeps=["no real token"],
)
SPEC.mistake(
    "last_real_token_left_out",
    "You leave out the last real target of each row. Count it too: it is ⟨eos⟩, and the decoder has to learn where a "
    "sentence ends.",
    of_losses(
        "(losses[:, :-1] * mask[:, 1:]).sum() / max(mask[:, 1:].sum(), 1)",
    ),
    tempts="⟨eos⟩ is never an input, so it seems to be no target either.",
    keeps=["no real token"],
)
SPEC.mistake(
    "last_step_left_out",
    "Your loop stops one step early, so the last target of the longest rows is missing. There are as many inputs as "
    "targets, because ⟨sos⟩ comes in front: run the loop over all T steps.",
    of_losses("losses[:, :-1].sum() / max(mask.sum(), 1)"),
    of_losses("losses[:, :-1].sum() / max(mask[:, :-1].sum(), 1)"),
    tempts="A language model that predicts the next id of a text makes one prediction fewer than it has ids.",
    keeps=["no real token"],
)
SPEC.mistake(
    "no_tokens_not_handled",
    "Your result is right as long as there is a real token. Where there is none, your code divides 0 by 0. Return 0.0 "
    "then; `masked_cross_entropy` does that for you.",
    of_losses("losses.sum() / mask.sum()"),
    of_losses("float(losses.sum()) / int(mask.sum())"),
    tempts="Written without `masked_cross_entropy`, the division is easily left unguarded.",
    keeps=["sentences"],
)
SPEC.mistake(
    "stops_when_the_first_row_ends",
    "Your loop ends as soon as one row has ended, so the later tokens of all other rows are missing. Run it to the "
    "last step, T: the mask takes care of rows that have ended.",
    change("targets, mask)", "targets, mask & mask.all(axis=0))"),
    of_losses("losses[:, mask.all(axis=0)].sum() / max(mask.sum(), 1)"),
    tempts="Decoding stops at ⟨eos⟩, and with a single sentence there is no difference.",
    keeps=["no real token"],
)


@SPEC.mistake(
    "first_target_never_predicted",
    "You feed the first target at the first step and compare with the second, as a language model does with a text, "
    "so no loss tells the decoder how a sentence begins. Feed ⟨sos⟩ first and compare with the first target: `targets` "
    "does not contain ⟨sos⟩.",
    tempts="`ids[:-1]` in, `ids[1:]` out is how language models are trained, on ids that start with ⟨sos⟩.",
    keeps=["no real token"],
)
def like_a_language_model(step, state, targets, mask, sos_id):
    total = 0.0
    for t in range(targets.shape[1] - 1):
        z_t, state = step(targets[:, t], state)
        losses = np.logaddexp.reduce(z_t, axis=1) - z_t[np.arange(len(z_t)), targets[:, t + 1]]
        total += (losses * mask[:, t + 1]).sum()
    return total / max(mask[:, 1:].sum(), 1)


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
