"""Functions that are inputs of this chapter's exercises. Students get this file with the library."""

from functools import cache

import numpy as np


def next_token_network(*, eps):
    """Make the loss function of a small tanh network that predicts the next token, with numerical gradients.

    The function takes params W_xh (V, H), W_hh (H, H), b_h (H,), W_hy (H, V), b_y (V,); ids inputs (T,) and
    targets (T,); and h_0 (1, H). It returns the mean loss in nats, gradients with the shapes of params, and h_T (1, H).

    The gradients are central differences. Only forward passes are used, on many copies of the network at once, each
    with one weight perturbed, so the code does not give away the backward pass.
    """

    @cache
    def perturbations(n, m):
        sign, row, column = np.indices((2, n, m)).reshape(3, -1)
        return np.arange(row.size), row, column, eps * (1.0 - 2 * sign)

    def perturbed(weights, features):
        """weights (n, m), features (n, 1 or 2nm) → (m, 2nm). Copy k has one weight moved: up in the first nm copies,
        down in the others.
        """
        copies, row, column, step = perturbations(*weights.shape)
        product = np.empty((weights.shape[1], copies.size))
        product[:] = weights.T @ features
        product[column, copies] += step * features[row, copies % features.shape[1]]
        return product

    def central_differences(losses, weights):
        up, down = losses.reshape(2, *weights.shape)
        return (up - down) / (2 * eps)

    def loss_and_grads(params, inputs, targets, h_0):
        W = np.vstack([params["W_xh"], params["W_hh"], params["b_h"]])  # (V + H + 1, H): from x_t, h and 1 to the state
        U = np.vstack([params["W_hy"], params["b_y"]])  # (H + 1, V): from h and 1 to the logits
        V, H = np.shape(params["W_xh"])
        total = np.zeros(1 + 2 * W.size + 2 * U.size)  # the network, its copies with W and with U perturbed
        features = np.zeros((V + H + 1, 1 + 2 * W.size))  # x_t, h_(t-1) and 1, one column for each copy
        features[V:-1], features[-1] = np.reshape(h_0, (-1, 1)), 1
        for t, target in enumerate(targets):
            features[:V], features[inputs[t]] = 0, 1
            a_t = np.hstack([W.T @ features[:, :1], perturbed(W, features[:, 1:])])  # the pre-activations
            features[V:-1] = np.tanh(a_t)
            state = features[V:]
            logits = np.hstack([U.T @ state, perturbed(U, state[:, :1])])  # (V, number of copies)
            largest = logits.max(axis=0)
            total += np.log(np.exp(logits - largest).sum(axis=0)) - (logits[target] - largest)
        total /= len(targets)
        dW, dU = central_differences(total[1 : 1 + 2 * W.size], W), central_differences(total[1 + 2 * W.size :], U)
        grads = {"W_xh": dW[:V], "W_hh": dW[V:-1], "b_h": dW[-1], "W_hy": dU[:-1], "b_y": dU[-1]}
        h_T = features[V:-1, :1].T.copy()
        return float(total[0]), {name: g.reshape(np.shape(params[name])) for name, g in grads.items()}, h_T

    return loss_and_grads


BUILDERS = {"next_token_network": next_token_network}
