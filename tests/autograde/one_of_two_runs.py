"""A process that registers the chapter and records students: `python one_of_two_runs.py DB_URL COURSE FULL STUDENT…`

It says "ready", waits for a line, and says each student when written. FULL is the share of the points that all get.
"""

import sys
from pathlib import Path

from gradebook_course import register_first

from grader.gradebook import open_writer
from grader.imports import nbgrader_tables

if __name__ == "__main__":
    db_url, course, share, *students = sys.argv[1:]
    nbgrader_tables()
    print("ready", flush=True)
    sys.stdin.readline()
    register_first(db_url, Path(course))
    full = float(share)
    with open_writer(db_url, "ch01") as writer:
        for student in students:
            scores = {"first": {"double": 2 * full, "halve": 1.5 * full}, "second": {"square": full}}
            writer.record(student, scores)
            print(student, flush=True)
