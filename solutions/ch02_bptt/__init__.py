"""Chapter 02, backpropagation through time: the notebooks with their solutions."""
