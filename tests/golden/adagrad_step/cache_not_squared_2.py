def adagrad_step(theta, grad, cache, lr, eps=1e-08):
    cache = cache + grad
    return (theta - lr * grad / (np.sqrt(cache) + eps), cache)
