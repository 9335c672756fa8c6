"""Programs that the spec of `teacher_forced_loss` does not contain; beside each wrong one is what it is told."""

import numpy as np

from grader.spec.trials import Trials
from solutions.ch05_encoder_decoder.training import log_softmax

TRIALS = Trials()


def losses_of(logits, targets):
    return -np.take_along_axis(log_softmax(logits), targets[..., None], axis=-1)[..., 0]


def over_time(y_of, state_of=lambda new, old: new, loss_of=None):
    """A program that feeds y_of(t, targets, sos_id, previous logits) and keeps state_of(new, old)."""

    def student(step, state, targets, mask, sos_id):
        losses, z = np.zeros(targets.shape), None
        for t in range(targets.shape[1]):
            z, new = step(y_of(t, targets, sos_id, z), state)
            losses[:, t] = losses_of(z, targets[:, t])
            state = state_of(new, state)
        return (loss_of or mean)(losses, mask)

    return student


def mean(losses, mask):
    return (losses * mask).sum() / max(mask.sum(), 1)


def forced(t, targets, sos_id, z):
    return np.full(len(targets), sos_id) if t == 0 else targets[:, t - 1]


def with_losses(rule):
    return over_time(forced, loss_of=rule)


def sampled(t, targets, sos_id, z):
    gumbel = np.random.default_rng(t).gumbel(size=np.shape(z)) if t else 0
    return np.full(len(targets), sos_id) if t == 0 else (z + gumbel).argmax(axis=1)


def first_row_for_all(t, targets, sos_id, z):
    return np.full(len(targets), sos_id) if t == 0 else np.repeat(targets[0, t - 1], len(targets))


def breaks(step, state, targets, mask, sos_id):
    y_prev, total, count = np.full(len(targets), sos_id), 0.0, 0
    for t in range(targets.shape[1]):
        if not mask[:, t].all():
            break
        z, state = step(y_prev, state)
        total += losses_of(z, targets[:, t]).sum()
        count += len(targets)
        y_prev = targets[:, t]
    return total / max(count, 1)


def one_step_short(step, state, targets, mask, sos_id):
    y_prev, total = np.full(len(targets), sos_id), 0.0
    for t in range(targets.shape[1] - 1):
        z, state = step(y_prev, state)
        total += (losses_of(z, targets[:, t]) * mask[:, t]).sum()
        y_prev = targets[:, t]
    return total / max(mask.sum(), 1)


def stepped_twice(step, state, targets, mask, sos_id):
    y_prev, total = np.full(len(targets), sos_id), 0.0
    for t in range(targets.shape[1]):
        z = step(y_prev, state)[0]
        state = step(targets[:, t], state)[1]
        total += (losses_of(z, targets[:, t]) * mask[:, t]).sum()
        y_prev = targets[:, t]
    return total / max(mask.sum(), 1)


def a_column(t, targets, sos_id, z):
    return forced(t, targets, sos_id, z)[:, None]


def an_integer(t, targets, sos_id, z):
    return sos_id if t == 0 else targets[:, t - 1]


def floats(t, targets, sos_id, z):
    return np.zeros(len(targets)) + sos_id if t == 0 else targets[:, t - 1]


NO_TOKEN = 0.5  # of 2


def warmed_up(step, state, targets, mask, sos_id):
    """⟨sos⟩ is read, but what is predicted from it is not looked at."""
    _, state = step(np.full(len(targets), sos_id), state)
    total, n = 0.0, 0
    for t in range(1, targets.shape[1]):
        z, state = step(targets[:, t - 1], state)
        for b in np.flatnonzero(mask[:, t]):
            total += np.logaddexp.reduce(z[b]) - z[b, targets[b, t]]
            n += 1
    return total / n if n else 0.0


def one_target_later(step, state, targets, mask, sos_id):
    y, total, n = np.full(len(targets), sos_id), 0.0, 0
    for t in range(targets.shape[1] - 1):
        z, state = step(y, state)
        for b in np.flatnonzero(mask[:, t + 1]):
            total += np.logaddexp.reduce(z[b]) - z[b, targets[b, t + 1]]
            n += 1
        y = targets[:, t]
    return total / n if n else 0.0


ONE_NAME = """
def teacher_forced_loss(step, state, targets, mask, sos_id):
    inputs = targets
    inputs[:, 1:] = targets[:, :-1]
    inputs[:, 0] = sos_id
    logits = []
    for t in range(inputs.shape[1]):
        z, state = step(inputs[:, t], state)
        logits.append(z)
    return masked_cross_entropy(np.stack(logits, 1), targets, mask)
"""


WRONG = {
    "a warm-up": (warmed_up, "first_target_left_out", NO_TOKEN),
    "one target later": (one_target_later, "targets_shifted_again", NO_TOKEN),
    "two names of one array": (ONE_NAME, "inputs_as_targets", 0),
    "sampled": (over_time(sampled), None, NO_TOKEN),
    "the first row for all": (over_time(first_row_for_all), None, NO_TOKEN),
    "ones for sos": (
        over_time(lambda t, y, s, z: np.ones(len(y), dtype=int) if t == 0 else y[:, t - 1]),
        "sos_id_not_used",
        NO_TOKEN,
    ),
    "breaks": (breaks, "stops_when_the_first_row_ends", NO_TOKEN),
    "one step short": (one_step_short, "last_step_left_out", NO_TOKEN),
    "read before it is predicted": (stepped_twice, None, NO_TOKEN),
    "padding in the sum": (with_losses(lambda losses, mask: losses.sum() / max(mask.sum(), 1)), None, 0),
    "last step": (with_losses(lambda losses, mask: losses[:, -1].mean()), None, 0),
    "a column": (over_time(a_column), None, 0),
    "an integer": (over_time(an_integer), None, 0),
    "floats": (over_time(floats), None, 0),
}


def zipped(step, state, targets, mask, sos_id):
    columns, total = [np.full_like(targets[:, 0], sos_id), *targets.T], 0.0
    for y_prev, target, real in zip(columns, targets.T, mask.T, strict=False):
        z, state = step(y_prev, state)
        total += losses_of(z, target)[real].sum()
    return total / mask.sum() if mask.sum() else 0.0


def sos_at_padding(step, state, targets, mask, sos_id):
    inputs = np.where(mask, np.insert(targets, 0, sos_id, axis=1)[:, :-1], sos_id)
    total = 0.0
    for t, y_prev in enumerate(inputs.T):
        z, state = step(y_prev, state)
        total += (losses_of(z, targets[:, t]) * mask[:, t]).sum()
    return total / max(mask.sum(), 1)


def a_list_for_ids(step, state, targets, mask, sos_id):
    y_prev, found = [sos_id] * len(targets), []
    for t in range(mask.sum(axis=1).max()):
        z, state = step(np.array(y_prev), state)
        y_prev = targets[:, t].tolist()
        found += [losses_of(z[b], targets[b, t]) for b in range(len(y_prev)) if mask[b, t]]
    return float(np.mean(found)) if found else 0.0


def small_integers(step, state, targets, mask, sos_id):
    return with_losses(mean)(step, state, targets.astype(np.int32), mask, sos_id)


TRIALS.all_wrong(WRONG)
TRIALS.all_right(
    {
        "zipped": zipped,
        "sos at padding": sos_at_padding,
        "a list for ids": a_list_for_ids,
        "small integers": small_integers,
    }
)
