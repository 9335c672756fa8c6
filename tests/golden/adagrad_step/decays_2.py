def adagrad_step(theta, grad, cache, lr, eps=1e-08):
    cache = 0.99 * cache + 0.01 * grad ** 2
    return (theta - lr * grad / (np.sqrt(cache) + eps), cache)
