"""Pairs of submissions with similar code.

`own` (a student's own code; what all were given), `fingerprints` (copydetect's), `pairs` (index, comparison), `look` (a
chapter), `page`.
"""
