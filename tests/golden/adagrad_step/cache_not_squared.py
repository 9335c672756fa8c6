def adagrad_step(theta, grad, cache, lr, eps=1e-08):
    cache = cache + np.abs(grad)
    return (theta - lr * grad / (np.sqrt(cache) + eps), cache)
