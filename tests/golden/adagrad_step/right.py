def adagrad_step(theta, grad, cache, lr, eps=1e-8):
    cache = cache + grad**2
    return theta - lr * grad / (np.sqrt(cache) + eps), cache
