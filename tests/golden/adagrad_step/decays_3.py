def adagrad_step(theta, grad, cache, lr, eps=1e-08):
    cache = 0.999 * cache + 0.001 * grad ** 2
    return (theta - lr * grad / (np.sqrt(cache) + eps), cache)
