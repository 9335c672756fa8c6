def numerical_gradient(f, theta, eps=1e-5):
    """Find the gradient of f at theta by central differences.

    f(theta) -> a number, theta of any shape, eps a number -> an array like theta; theta is left as it was.
    """
    raise NotImplementedError("numerical_gradient: replace this line with your code")
