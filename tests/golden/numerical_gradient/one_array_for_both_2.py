def numerical_gradient(f, theta, eps=1e-05):
    gradient, entries = np.zeros(theta.size), theta.flatten()
    for i in range(theta.size):
        old = entries[i]
        entries[i] = old + eps
        above = f(theta)
        entries[i] = old - eps
        below = f(theta)
        entries[i] = old
        gradient[i] = (above - below) / (2 * eps)
    return gradient.reshape(theta.shape)
