def numerical_gradient(f, theta, eps=1e-05):
    return np.full(theta.shape, (f(theta + eps) - f(theta - eps)) / (2 * eps))
