def numerical_gradient(f, theta, eps=1e-5):
    gradient = np.zeros_like(theta)
    for index in np.ndindex(theta.shape):
        plus, minus = theta.copy(), theta.copy()
        plus[index] += eps
        minus[index] -= eps
        gradient[index] = (f(minus) - f(plus)) / (2 * eps)
    return gradient
