"""Reference solutions of chapter 02, backpropagation through time."""
