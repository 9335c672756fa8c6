def adagrad_step(theta, grad, cache, lr, eps=1e-08):
    cache = 0.9 * cache + 0.1 * grad ** 2
    return (theta - lr * grad / (np.sqrt(cache) + eps), cache)
