def adagrad_step(theta, grad, cache, lr, eps=1e-8):
    """Move each weight downhill, by a step that shrinks with the gradients it has had.

    theta, grad, cache of one shape, lr and eps numbers -> theta, cache after the step, new arrays.
    """
    raise NotImplementedError("adagrad_step: replace this line with your code")
