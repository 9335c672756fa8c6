"""The autograder for Gradescope: `pack` (the zip), `scripts` (`setup.sh`, `run_autograder`), `run` (in the container),
`results` (every `results.json`, for the container and for `grader export`).
"""
