def adagrad_step(theta, grad, cache, lr, eps=1e-8):
    cache += grad**2
    theta -= lr * grad / (np.sqrt(cache) + eps)
    return theta, cache
