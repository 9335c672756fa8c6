"""Exam sheets on paper: the questions of a chapter with numbers that a seed decides, and their solutions.

- `numbers` (exact numbers, rounding, TeX), `draw` (random choices from a seed), `tables` (values of functions that are
  printed on a sheet)
- `question` (what a question consists of), `working` (its solution, while it is written)
- `load` (the questions of a chapter: `solutions/CHAPTER/exam.py`), `sheet` (both pages as HTML), `write` (both files)

*A result has one right rounding.* The solution is calculated as a reader would, with exact numbers, values from the
printed tables and intermediate results of four decimals; the oracles of the exercises compute the results once more, in
floating point. Both must be rounded to the same printed number, and neither may be within a tenth of the last decimal
of a boundary between two roundings. Otherwise other numbers are drawn. If the two are further apart than rounding can
explain, the question is wrong, and that is an error.

*The same bytes for the same seed.* Only `random.random()` is used, whose sequence does not depend on the version of
Python, and every number on the page is exact or rounded at a distance from the boundary. Each question draws from the
seed and its own name, so a change of one leaves the others as they are.

*Solvable by hand.* A question gives numbers of at most two decimals, and needs at most 20 multiplications and
divisions.
"""
