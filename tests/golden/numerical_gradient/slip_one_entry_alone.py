def numerical_gradient(f, theta, eps=1e-5):
    gradient = np.zeros_like(theta)
    for index in np.ndindex(theta.shape):
        gradient[index] = (f(theta[index] + eps) - f(theta[index] - eps)) / (2 * eps)
    return gradient
