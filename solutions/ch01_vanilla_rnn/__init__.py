"""Reference solutions of chapter 01, the vanilla RNN."""
