# %%
import numpy as np

from grader import check


# %% exercise="run_lengths"
def run_lengths(text):
    """text -> a list of pairs (letter, how often in a row), and the text with a number behind each letter."""
    pairs = []
    for letter in text:
        ### BEGIN SOLUTION
        if pairs and pairs[-1][0] == letter:
            pairs[-1] = (letter, pairs[-1][1] + 1)
        else:
            pairs.append((letter, 1))
        ### END SOLUTION
    ### BEGIN SOLUTION
    shortened = "".join(f"{letter}{count}" for letter, count in pairs)
    ### END SOLUTION
    return pairs, shortened


# %% exercise="through_layers"
def through_layers(x, layers):
    """x (B, T, D), each layer a function of (B, T, D) -> the top (B, T, D), and a list of each one's last step."""
    ### BEGIN SOLUTION
    last = []
    for layer in layers:
        x = layer(x)
        last.append(x[:, -1])
    return x, last
    ### END SOLUTION


# %% exercise="follow"
def follow(step, state, first, end, max_length):
    """step(y_prev (1,), state) -> logits (1, V), state. The best ids up to `end`, at most max_length: a list."""
    ### BEGIN SOLUTION
    ids, y_prev = [], np.array([first])
    while len(ids) < max_length:
        logits, state = step(y_prev, state)
        y_prev = logits.argmax(axis=1)
        if y_prev[0] == end:
            break
        ids.append(int(y_prev[0]))
    return ids
    ### END SOLUTION


# %% exercise="train_line"
def train_line(x, y, params, lr, num_updates):
    """x (N,), y (N,), params {"w": (1,), "b": (1,)} -> the loss before each update (num_updates,), params after all."""
    ### BEGIN SOLUTION
    params, losses = dict(params), []
    for _ in range(num_updates):
        off = params["w"] * x + params["b"] - y
        losses.append((off**2).mean())
        params["w"] = params["w"] - lr * 2 * (off * x).mean()
        params["b"] = params["b"] - lr * 2 * off.mean()
    return np.array(losses), params
    ### END SOLUTION
