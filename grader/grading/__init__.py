"""Grading a chapter: from a term's folder to stored results, the gradebook and what is printed.

- before: `release` (has `course.toml` been released?), `preflight` (who has submitted, what there is to grade),
  `session` (what a chapter needs, loaded once), `hidden` (a term's hidden cases), `rules` (by which a chapter was
  graded)
- one submission: `grade`, `score`, `judging` (verdicts, found in a process with limits of its own), `missing` (failed
  imports)
- many: `run` (a chapter or all: the order of the steps, the exit status), `chapter` (its submissions), `pool` (workers:
  local, Dask), `warm` (the process of which local ones are copies)
- after: `store` (results on disk), `attempts` (kept submissions, and which one counts), `changes` (of points),
  `recorder` (results into the gradebook), `report` (printed output), `watched` (progress)

*A result is stored on disk before it is recorded*, as a whole, under a key of everything that it depends on, with
separate parts for the submission, the checks, the points and the limits. A run may be killed at any moment: the next
one uses what is stored and grades the rest. A change of points is reported once, with its reason: the stored result
contains it before the log does.

*A worker's failure is no zero.* If no child could be started, nothing is written for that student.

*Only released chapters are graded.* `course.toml`, the released notebooks and `grader/data` must agree on exercises and
points before anything is written. The check cell itself is not run: a submission that redefines `check` would lose its
points, or could forge them.

*Hidden cases* come from the generator of the public ones with the term's secret seed, in a process of their own, and
are in `TERM/hidden/` (mode 0600). They are computed again if the seed, the checks or the versions change. What is told
about them is points, status and likely cause: no input, no value, no text of an exception, and no factor by which
results are off, because that could be an input.

*What is done once.* One process imports what workers need, and they are its copies. It starts with the command, and the
sandbox is tested while the command looks through the term; no submission is given to a worker before that. A worker is
one process with one pre-warmed sandbox, because its other tasks keep a core as busy as the child does. It keeps its
latest verdicts with a digest of the answers and of which exercises below are wrong (`judging.VerdictCache`), as many
submissions give the same results; all others are judged in a copy of the worker with limits of its own.

*The rules of a term* stand in the term. What lateness costs and which attempt counts are in `term.toml`, and
`TERM/results/CHAPTER/rules.json` keeps what a chapter was graded by; other rules are refused.
"""
