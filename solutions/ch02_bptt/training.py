# %% [markdown]
# # A network that learns
#
# You can find out which way each weight of a network has to go. Now let it go there.
# In this notebook you build the step that moves a weight, then the loop that reads a text again and again
# until the network knows it.
#
# As always: replace the line `raise NotImplementedError(…)` with your code, and run the cell below it.
# `hint("adagrad_step")` asks you a question, `hint("adagrad_step", 2)` names the idea,
# `hint("adagrad_step", 3)` shows the shape of the code.
#
# Read first: *Backpropagation through time › Learning from real text*, in the book.
# Nothing from the notebooks before is needed here: who calls your loop also hands it the function that it asks
# for gradients. In this notebook that function makes them up; in the capstone it is made of your own functions.

# %%
import numpy as np

from grader import check, hint, progress

# %% [markdown]
# ## A step for each weight
#
# Write `adagrad_step`.
# Some weights get large gradients all the time, others a small one now and then: a letter that is rare, for example.
# *Adagrad* (Duchi, Hazan and Singer, 2011) gives each weight a step size of its own.
# It remembers, for each weight by itself, the sum of all its squared gradients so far, and divides by the root of that:
#
# $$c \leftarrow c + g^2, \qquad \theta \leftarrow \theta - \text{lr} \, \frac{g}{\sqrt{c} + \varepsilon}$$
#
# | name | shape | what it is |
# |---|---|---|
# | `theta` | any | weights, $\theta$ |
# | `grad` | that of `theta` | their gradients, $g$ |
# | `cache` | that of `theta` | the sums before this step, $c$ |
# | `lr` | a number | the learning rate |
# | `eps` | a number | $\varepsilon$, so that 0 / 0 cannot happen; 1e-8 if it is left out |
# | result `theta`, `cache` | that of `theta` | both after this step: new arrays, in this order |
#
# **By hand, once.** Three weights, `lr` = 0.10; the third has never had a gradient.
#
# | | weight 0 | weight 1 | weight 2 |
# |---|---|---|---|
# | `theta` | 1.00 | 1.00 | 1.00 |
# | `grad` | 3.00 | −0.03 | 0.00 |
# | `cache` before | 16.00 | 0.00 | 0.00 |
# | `cache` after | 25.00 | 0.00 | 0.00 |
# | its root | 5.00 | 0.03 | 0.00 |
# | step | −0.06 | 0.10 | 0.00 |
# | `theta` after | 0.94 | 1.10 | 1.00 |
#
# Weight 1 has a gradient a hundred times smaller than weight 0 and makes the longer step: it is its first.
#
# When the check passes, you can train any network whose gradients you have.


# %% exercise="adagrad_step"
def adagrad_step(theta, grad, cache, lr, eps=1e-8):
    """Move each weight downhill, by a step that shrinks with the gradients it has had.

    theta, grad, cache of one shape, lr and eps numbers -> theta, cache after the step, new arrays.
    """
    ### BEGIN SOLUTION
    cache = cache + grad**2
    return theta - lr * grad / (np.sqrt(cache) + eps), cache
    ### END SOLUTION


# %% [markdown]
# ## Reading until it knows
#
# Write `train_char_rnn`.
# It makes the weights of a network, reads a text chunk by chunk, and after each chunk makes one step
# with all weights: that is one *update*.
# How good the network is on a chunk, and in which direction its weights should go,
# a function tells you that comes as an argument, `loss_and_grads`.
#
# | name | shape | what it is |
# |---|---|---|
# | `ids` | (N,) | the text |
# | `vocab_size`, `hidden_size` | integers | V and H |
# | `seq_length` | an integer | how many ids the network reads in a chunk, T |
# | `num_updates` | an integer | how many updates to make |
# | `lr` | a number | Adagrad's learning rate; its `eps` is 1e-8 |
# | `rng` | a random generator | what the first weights are drawn from, such as `rng.normal(size=(V, H))` |
# | `loss_and_grads` | a function | see below |
# | result `losses` | (num_updates,) | the loss of each update's chunk, before its step, in nats a token |
# | result `params` | a dict | the weights after the last update |
#
# `params` is a dict of five arrays: `W_xh` (V, H), `W_hh` (H, H), `b_h` (H,), `W_hy` (H, V) and `b_y` (V,).
# The three matrices start from *small random numbers*, so that no two units of the state are alike.
# What "small" is, you choose; 0.1 times `rng.normal` is fine. The biases may start from zeros.
#
# `loss_and_grads(params, inputs, targets, h_0)` takes the weights, a chunk and a state:
#
# | name | shape | what it is |
# |---|---|---|
# | `inputs` | (T,) | what the network reads |
# | `targets` | (T,) | what comes next after each input: the same stretch of text, one further |
# | `h_0` | (1, H) | the state before the first input |
# | gives `loss` | a number | the mean loss of the chunk |
# | gives `grads` | a dict | the gradients, with the same keys and shapes as `params` |
# | gives `h_T` | (1, H) | the state after the last input |
#
# The state goes on from chunk to chunk: `h_T` of one is `h_0` of the next.
# Before the first chunk it is zeros.
# A chunk needs T inputs and as many targets.
# **Where no whole chunk is left, the text begins anew**: at its first id, with a state of zeros.
# What is left over at the end is not used. Gradients are used as they come, without clipping.
#
# **By hand, once.** `ids` = [7, 1, 4, 4, 9, 0, 2, 5], so N = 8; T = 3, and 4 updates:
#
# | update | begins at | `inputs` | `targets` | `h_0` |
# |---|---|---|---|---|
# | 0 | 0 | 7, 1, 4 | 1, 4, 4 | zeros |
# | 1 | 3 | 4, 9, 0 | 9, 0, 2 | `h_T` of update 0 |
# | 2 | 0 | 7, 1, 4 | 1, 4, 4 | zeros |
# | 3 | 3 | 4, 9, 0 | 9, 0, 2 | `h_T` of update 2 |
#
# A third chunk would begin at 6 and needs the ids in the places 6, 7, 8 and 9; the text ends with place 7.
#
# The weights move with every update, each array with a cache of its own. Let one weight start at 0.30, with `lr` = 0.10
# and the gradients 2.00, −1.50, 0.00 and 6.00:
#
# | update | gradient | cache after | its root | step | weight after |
# |---|---|---|---|---|---|
# | 0 | 2.00 | 4.00 | 2.00 | −0.10 | 0.20 |
# | 1 | −1.50 | 6.25 | 2.50 | 0.06 | 0.26 |
# | 2 | 0.00 | 6.25 | 2.50 | 0.00 | 0.26 |
# | 3 | 6.00 | 42.25 | 6.50 | −0.09 | 0.17 |
#
# The check mostly looks at what you ask:
# it gives you a `loss_and_grads` with made-up answers, and writes down every call.
# Its first case has the eight ids above.
# At the end it gives you a real network of 16 units and the word *hello*, which has to know it after 300 updates.
#
# `rehearse(train_char_rnn)`, in a cell of its own below, lets you look on before you check:
# it goes through both tables with your loop, and prints what was asked. `h_T` is all 0.1 after update 0, 0.2 after 1.
#
# Your `adagrad_step` is at hand.
# When the check passes, you have trained a network; all that is left to do is to give it a long text, and to wait.


# %%
def rehearse(train):
    """Let a training loop make the four updates of the tables above, and print what it asks for."""
    answers, before = [2.0, -1.5, 0.0, 6.0], []

    def loss_and_grads(params, inputs, targets, h_0):
        """No network: it prints what it is asked, and every weight gets the gradient of the second table."""
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
    """Train a character RNN with Adagrad, chunk by chunk, beginning the text anew where no whole chunk is left.

    ids (N,), loss_and_grads(params, inputs (T,), targets (T,), h_0 (1, H)) -> mean loss, grads, h_T (1, H)
    -> losses (num_updates,) in nats a token, params with the keys W_xh, W_hh, b_h, W_hy, b_y.
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
        if p + T + 1 > len(ids):  # no whole chunk is left
            p, h = 0, np.zeros((1, H))
        losses[update], grads, h = loss_and_grads(params, ids[p : p + T], ids[p + 1 : p + T + 1], h)
        for name in params:
            params[name], cache[name] = adagrad_step(params[name], grads[name], cache[name], lr)
        p += T
    return losses, params
    ### END SOLUTION


# %% [markdown]
# The rehearsal, as often as you like, also while the check does not pass yet:

# %% active="ipynb"
# try:
#     rehearse(train_char_rnn)
# except NotImplementedError as not_yet:
#     print(f"This cell waits for your code.  {not_yet}")

# %% [markdown]
# ## Where you are

# %% active="ipynb"
# progress()
