"""Reference solutions of chapter 03, vanishing and exploding gradients."""
