def adagrad_step(theta, grad, cache, lr, eps=1e-8):
    grad = np.clip(grad, -5, 5)
    cache = cache + grad**2
    theta = theta - lr * grad / (np.sqrt(cache) + eps)
    return theta, cache
