def each(theta):
    return np.ndindex(theta.shape)


def numerical_gradient(f, theta, eps=1e-05):
    gradient = np.zeros(theta.shape)
    for i in each(theta):
        gradient[i] = (f(theta + eps) - f(theta)) / eps
    return gradient
