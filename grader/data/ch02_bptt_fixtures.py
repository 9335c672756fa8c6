"""Inputs of this chapter's exercises that are functions. Students get this file with the library."""

from functools import cache

import numpy as np


def next_token_network(*, eps):
    """A small tanh network that guesses the next token: its loss, its gradients by central differences, its state.

    params W_xh (V, H), W_hh (H, H), b_h (H,), W_hy (H, V), b_y (V,); inputs (T,) and targets (T,) ids; h_0 (1, H) →
    mean loss in nats, gradients like params, h_T (1, H). It runs forward only, in many copies at once of which each
    has one weight moved: that shows nobody how to go back.
    """

    @cache
    def moves(n, m):
        sign, row, column = np.indices((2, n, m)).reshape(3, -1)
        return np.arange(row.size), row, column, eps * (1.0 - 2 * sign)

    def moved(weights, features):
        """weights (n, m), features (n, 1 or 2nm) → (m, 2nm): in copy k one weight is moved, first all up, then down."""
        copies, row, column, step = moves(*weights.shape)
        product = np.empty((weights.shape[1], copies.size))
        product[:] = weights.T @ features
        product[column, copies] += step * features[row, copies % features.shape[1]]
        return product

    def slopes(losses, weights):
        up, down = losses.reshape(2, *weights.shape)
        return (up - down) / (2 * eps)

    def loss_and_grads(params, inputs, targets, h_0):
        W = np.vstack([params["W_xh"], params["W_hh"], params["b_h"]])  # (V + H + 1, H): of x_t, h and 1 to the state
        U = np.vstack([params["W_hy"], params["b_y"]])  # (H + 1, V): of h and 1 to the logits
        V, H = np.shape(params["W_xh"])
        total = np.zeros(1 + 2 * W.size + 2 * U.size)  # of the network itself, of its copies with W moved and U moved
        features = np.zeros((V + H + 1, 1 + 2 * W.size))  # x_t, h_(t-1) and 1, a column for each
        features[V:-1], features[-1] = np.reshape(h_0, (-1, 1)), 1
        for t, target in enumerate(targets):
            features[:V], features[inputs[t]] = 0, 1
            before = np.hstack([W.T @ features[:, :1], moved(W, features[:, 1:])])
            features[V:-1] = np.tanh(before)
            state = features[V:]
            logits = np.hstack([U.T @ state, moved(U, state[:, :1])])  # (V, all)
            largest = logits.max(axis=0)
            total += np.log(np.exp(logits - largest).sum(axis=0)) - (logits[target] - largest)
        total /= len(targets)
        dW, dU = slopes(total[1 : 1 + 2 * W.size], W), slopes(total[1 + 2 * W.size :], U)
        grads = {"W_xh": dW[:V], "W_hh": dW[V:-1], "b_h": dW[-1], "W_hy": dU[:-1], "b_y": dU[-1]}
        h_T = features[V:-1, :1].T.copy()
        return float(total[0]), {name: g.reshape(np.shape(params[name])) for name, g in grads.items()}, h_T

    return loss_and_grads


BUILDERS = {"next_token_network": next_token_network}
