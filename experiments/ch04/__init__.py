"""Experiments of chapter 04: networks with gates."""
