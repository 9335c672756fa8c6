def adagrad_step(theta, grad, cache, lr, eps=1e-8):
    total = cache + grad**2
    return theta - lr * grad / (np.sqrt(total) + eps), cache
