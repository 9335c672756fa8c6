def adagrad_step(theta, grad, cache, lr, eps=1e-08):
    cache = cache + np.sum(grad ** 2)
    return (theta - lr * grad / (np.sqrt(cache) + eps), cache)
