def each(theta):
    return np.ndindex(theta.shape)


def numerical_gradient(f, theta, eps=1e-05):
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        old = theta[i]
        theta[i] += eps
        above = f(theta)
        theta[i] -= eps
        gradient[i] = (above - f(theta)) / (2 * eps)
        theta[i] = old
    return gradient
