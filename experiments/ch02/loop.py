"""The training loop that the book's page prints: it is made of the functions of the exercises."""

from __future__ import annotations

from itertools import islice

import numpy as np

from experiments.ch02.char_rnn import Params, chunks
from solutions.ch01_vanilla_rnn.predictions import sequence_loss
from solutions.ch01_vanilla_rnn.recurrence import rnn_forward
from solutions.ch02_bptt.logits_and_embedding import cross_entropy_backward
from solutions.ch02_bptt.through_time import rnn_backward
from solutions.ch02_bptt.training import adagrad_step


def train(
    ids: np.ndarray,
    params: Params,
    lr: float,
    num_updates: int,
    batch: int = 16,
    chunk: int = 25,
) -> tuple[np.ndarray, np.ndarray]:
    """Train params in place: losses (nats a character) and the last state."""
    one_hot = np.eye(len(params["W_xh"]))  # (V, V)
    cache = {name: np.zeros_like(theta) for name, theta in params.items()}
    losses = []
    stream = islice(chunks(ids, batch, chunk), num_updates)
    for inputs, targets, restart in stream:  # both (B, T)
        W_xh, W_hh, b_h, W_hy, b_y = params.values()
        if restart:  # the first chunk of the text
            h_0 = np.zeros((batch, len(b_h)))  # (B, H)

        # forward: from the ids to the loss
        x = one_hot[inputs]  # (B, T, V)
        h = rnn_forward(x, h_0, W_xh, W_hh, b_h)  # (B, T, H)
        logits = h @ W_hy + b_y  # (B, T, V)
        losses.append(sequence_loss(logits, targets))

        # backward: from the loss to the gradients
        dlogits = cross_entropy_backward(logits, targets)  # (B, T, V)
        dW_hy = np.tensordot(h, dlogits, axes=([0, 1], [0, 1]))  # (H, V)
        db_y = dlogits.sum(axis=(0, 1))  # (V,)
        dh = dlogits @ W_hy.T  # (B, T, H)
        _, _, dW_xh, dW_hh, db_h = rnn_backward(dh, x, h_0, h, W_xh, W_hh)

        # update: one step of the optimizer for every weight
        grads = [dW_xh, dW_hh, db_h, dW_hy, db_y]
        for name, grad in zip(params, grads, strict=True):
            step = adagrad_step(params[name], grad, cache[name], lr)
            params[name], cache[name] = step
        h_0 = h[:, -1]  # the state passes on to the next chunk
    return np.array(losses), h_0
