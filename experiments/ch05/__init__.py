"""Experiments of chapter 05: encoder–decoder, translation and captions."""
