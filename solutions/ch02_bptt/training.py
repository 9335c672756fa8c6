# %% [markdown]
# # Training a network
#
# You can compute the gradient of every weight. How do you train a network with it?
# In this notebook you write the **optimizer**, which turns gradients into an **update** of the weights,
# and then the **training loop**, which reads a text in chunks and makes one update after each.
#
# As always, replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("adagrad_step")` asks you a question, `hint("adagrad_step", 2)` explains the idea,
# and `hint("adagrad_step", 3)` outlines the code.
#
# Read first, in the book: *Backpropagation through time › Learning from real text*,
# as far as the box of the exercise *Training a character-level RNN*.
# The rest of the page, on what such a network learns, can wait until you have written your own loop.
# You need no function from the earlier notebooks, because your loop gets the function that computes the gradients
# as an argument. Here most gradients are made up; in the capstone they come from your own functions.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## One update with Adagrad
#
# Write `adagrad_step`.
# **Adagrad** (Duchi, Hazan and Singer, 2011) gives each weight a step size of its own:
# it sums all squared gradients that the weight has had,
# and divides the **learning rate** by the square root of the sum.
#
# $$c \leftarrow c + g^2, \qquad \theta \leftarrow \theta - \text{lr} \, \frac{g}{\sqrt{c} + \varepsilon}$$
#
# | name | shape | what it is |
# |---|---|---|
# | `theta` | any | the weights, $\theta$ |
# | `grad` | that of `theta` | their gradients, $g$ |
# | `cache` | that of `theta` | the sums before this update, $c$ |
# | `lr` | a number | the learning rate |
# | `eps` | a number | $\varepsilon$, which prevents 0 / 0; 1e-8 by default |
# | result `theta`, `cache` | that of `theta` | both after the update, as new arrays, in this order |
#
# **A worked example.** Three weights and `lr` = 0.10; the gradients of the third have all been 0.
#
# | | weight 0 | weight 1 | weight 2 |
# |---|---|---|---|
# | `theta` | 1.00 | 1.00 | 1.00 |
# | `grad` | 3.00 | −0.03 | 0.00 |
# | `cache` before | 16.00 | 0.00 | 0.00 |
# | `cache` after | 25.00 | 0.0009 | 0.00 |
# | its square root | 5.00 | 0.03 | 0.00 |
# | change of `theta` | −0.06 | 0.10 | 0.00 |
# | `theta` after | 0.94 | 1.10 | 1.00 |
#
# The gradient of weight 1 is a hundred times smaller than that of weight 0, but weight 1 moves further,
# because this is its first gradient that is not 0.


# %% exercise="adagrad_step"
def adagrad_step(theta, grad, cache, lr, eps=1e-8):
    """Update each weight by a step that shrinks as its squared gradients add up.

    theta, grad, cache of one shape, lr and eps numbers -> theta, cache after the update, new arrays.
    """
    ### BEGIN SOLUTION
    cache = cache + grad**2
    return theta - lr * grad / (np.sqrt(cache) + eps), cache
    ### END SOLUTION


# %% [markdown]
# ## Training a character-level RNN
#
# Write `train_char_rnn`, the training loop.
# It reads the text chunk by chunk: it computes the loss and the gradients of one chunk, updates all weights,
# and starts the next chunk from the state in which this one ended.
# Its model is the loop `train` on the page, with three differences: it reads the text as one row instead of 16,
# it makes its own initial weights, and it calls `loss_and_grads` for the forward and the backward pass of a chunk.
#
# | name | shape | what it is |
# |---|---|---|
# | `ids` | (N,) | the text, as ids |
# | `vocab_size`, `hidden_size` | integers | V and H |
# | `seq_length` | an integer | the number of inputs in a chunk, T |
# | `num_updates` | an integer | the number of updates, one for each chunk |
# | `lr` | a number | Adagrad's learning rate; its `eps` is 1e-8 |
# | `rng` | a random generator | the source of the initial weights, for example `rng.normal(size=(V, H))` |
# | `loss_and_grads` | a function | see below |
# | result `losses` | (num_updates,) | the loss of each chunk, before its update, in nats per token |
# | result `params` | a dict | the weights after the last update |
#
# `params` holds five arrays: `W_xh` (V, H), `W_hh` (H, H), `b_h` (H,), `W_hy` (H, V) and `b_y` (V,).
# Start the three matrices as *small random numbers*, because units that start with equal weights and biases
# get equal gradients and stay equal. The scale is up to you; 0.1 times `rng.normal` works. The biases may start at 0.
#
# `loss_and_grads(params, inputs, targets, h_0)` runs one chunk forward and backward:
#
# | name | shape | what it is |
# |---|---|---|
# | `inputs` | (T,) | the ids that the network reads |
# | `targets` | (T,) | the id that follows each input |
# | `h_0` | (1, H) | the state before the first input |
# | returns `loss` | a number | the mean loss of the chunk |
# | returns `grads` | a dict | the gradients, with the keys and shapes of `params` |
# | returns `h_T` | (1, H) | the state after the last input |
#
# The first chunk starts from a state of zeros, and `h_T` of each chunk is `h_0` of the next.
# **Where no complete chunk is left, the text starts again**: at its first id, with a state of zeros.
# Ids left over at the end are not used, and gradients are not clipped.
#
# **A worked example.** `ids` = [7, 1, 4, 4, 9, 0, 2, 5], so N = 8; T = 3, `lr` = 0.10, and 4 updates.
# The last three columns follow a single weight: its gradient, its cache after the update, and its change.
#
# | update | starts at | `inputs` | `targets` | `h_0` | gradient | cache after | change |
# |---|---|---|---|---|---|---|---|
# | 0 | 0 | 7, 1, 4 | 1, 4, 4 | zeros | 2.00 | 4.00 | −0.10 |
# | 1 | 3 | 4, 9, 0 | 9, 0, 2 | `h_T` of update 0 | −1.50 | 6.25 | 0.06 |
# | 2 | 0 | 7, 1, 4 | 1, 4, 4 | zeros | 0.00 | 6.25 | 0.00 |
# | 3 | 3 | 4, 9, 0 | 9, 0, 2 | `h_T` of update 2 | 6.00 | 42.25 | −0.09 |
#
# A third chunk would start at position 6 and take the ids in positions 6 to 9, but the last position is 7.
# So an **epoch**, one pass through the text, consists of two updates here.
#
# The function `rehearse` in the next cell, which you need not read, runs these four updates with your loop.
# It prints every call of `loss_and_grads`, and how far the weight has moved since the previous call.
# The states are made up: each entry of `h_T` is 0.1 after update 0, 0.2 after update 1, and so on.
# The check works in the same way, except in its last case: there a real network of 16 units
# must have memorised *hello* after 300 updates.


# %%
def rehearse(train):
    """Run a training loop for the four updates of the table above, and print each call of `loss_and_grads`."""
    answers, before = [2.0, -1.5, 0.0, 6.0], []

    def loss_and_grads(params, inputs, targets, h_0):
        """Print the call, and return the gradient in the table for every weight."""
        k, weight = len(before), params["W_hh"][0, 0]
        moved = f"   W_hh[0, 0] moved by {weight - before[-1]:+.2f}" if before else ""
        before.append(weight)
        print(f"update {k}   inputs {inputs}   targets {targets}   h_0 {h_0}{moved}")
        grads = {name: np.full(np.shape(theta), answers[k % 4]) for name, theta in params.items()}
        return 2.0, grads, np.full((1, 2), (k + 1) / 10)

    ids = np.array([7, 1, 4, 4, 9, 0, 2, 5])
    losses, params = train(ids, 10, 2, 3, 4, 0.1, np.random.default_rng(0), loss_and_grads)
    moved = params["W_hh"][0, 0] - (before or [np.nan])[-1]
    print(f"at the end   losses {losses}   W_hh[0, 0] moved by {moved:+.2f}")


# %% exercise="train_char_rnn"
def train_char_rnn(ids, vocab_size, hidden_size, seq_length, num_updates, lr, rng, loss_and_grads):
    """Train a character RNN with Adagrad, chunk by chunk; where no complete chunk is left, the text starts again.

    ids (N,), loss_and_grads(params, inputs (T,), targets (T,), h_0 (1, H)) -> mean loss, grads, h_T (1, H)
    -> losses (num_updates,) in nats per token, params with the keys W_xh, W_hh, b_h, W_hy, b_y.
    """
    ### BEGIN SOLUTION
    V, H, T = vocab_size, hidden_size, seq_length
    params = {
        "W_xh": 0.1 * rng.normal(size=(V, H)),
        "W_hh": 0.1 * rng.normal(size=(H, H)),
        "b_h": np.zeros(H),
        "W_hy": 0.1 * rng.normal(size=(H, V)),
        "b_y": np.zeros(V),
    }
    cache = {name: np.zeros(theta.shape) for name, theta in params.items()}
    losses = np.zeros(num_updates)
    p, h = 0, np.zeros((1, H))
    for update in range(num_updates):
        if p + T + 1 > len(ids):  # no complete chunk is left
            p, h = 0, np.zeros((1, H))
        losses[update], grads, h = loss_and_grads(params, ids[p : p + T], ids[p + 1 : p + T + 1], h)
        for name in params:
            params[name], cache[name] = adagrad_step(params[name], grads[name], cache[name], lr)
        p += T
    return losses, params
    ### END SOLUTION


# %% [markdown]
# Run this cell as often as you like, even before the check passes:

# %% active="ipynb"
# try:
#     rehearse(train_char_rnn)
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Your progress

# %% active="ipynb"
# progress()
