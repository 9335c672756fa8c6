"""Experiments of chapter 06, attention: each module has its command and a file with its recorded results."""
