"""Reference solutions of chapter 04, gated and deep networks."""
