"""Experiments of chapter 00: each module has its command and a file with its recorded results."""
