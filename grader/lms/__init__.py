"""Rosters and points in the formats of Canvas, Moodle and Gradescope.

`rosters` (which file, which ids), `submission_times` (when students submitted), `table` (final points, and whether they
are final), `matching` (rows to students), `canvas`, `moodle` (which cells of a row are filled), `gradescope`, `plain`,
`exported` (an export as it was read), `options`, `write` (reads the file that is filled in, and writes it).
CSV itself is read and written by `grader.sheets`, which also neutralises formulas.
"""
