def numerical_gradient(f, theta, eps=1e-05):
    return (f(theta + eps) - f(theta - eps)) / (2 * eps)
