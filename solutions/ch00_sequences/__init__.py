"""Reference solutions of chapter 00, sequences and language models."""
