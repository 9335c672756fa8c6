def adagrad_step(theta, grad, cache, lr, eps=1e-8):
    cache = cache + grad**2
    theta = theta - lr * grad / (np.sqrt(cache) + 1e-8)
    return theta, cache
