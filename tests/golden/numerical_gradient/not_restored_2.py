def each(theta):
    return np.ndindex(theta.shape)


def numerical_gradient(f, theta, eps=1e-05):
    gradient, old = (np.zeros(theta.shape), theta)
    for i in each(theta):
        theta[i] = old[i] + eps
        above = f(theta)
        theta[i] = old[i] - 2 * eps
        gradient[i] = (above - f(theta)) / (2 * eps)
        theta = old
    return gradient
