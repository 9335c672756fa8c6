def adagrad_step(theta, grad, cache, lr, eps=1e-08):
    cache = cache + grad ** 2
    return (theta - lr * grad / (cache + eps), cache)
