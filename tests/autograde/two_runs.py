"""Processes that write one gradebook at the same time, and what must hold of it afterwards."""

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import nbgrader_api
from sqlalchemy import create_engine, select

PROGRAM = Path(__file__).parent / "one_of_two_runs.py"


@contextmanager
def run(db_url, course, share, students):
    """A run that is ready to go."""
    command = [sys.executable, PROGRAM, db_url, course, share, *students]
    with subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def go(process):
    process.stdin.write("\n")
    process.stdin.flush()


def scores_by_student(db_url):
    """The scores of each student's exercises, in order; all rows are whole, and those of one run."""
    nbgrader_api.rows(db_url)  # nothing belongs to nothing
    t = {table.name: table.c for table in nbgrader_api.api.Base.metadata.sorted_tables}
    query = select(t["submitted_assignment"].student_id, t["base_cell"].name, t["grade"].auto_score).where(
        t["grade"].cell_id == t["base_cell"].id,
        t["grade"].notebook_id == t["submitted_notebook"].id,
        t["submitted_notebook"].assignment_id == t["submitted_assignment"].id,
    )
    engine = create_engine(db_url)
    with engine.connect() as connection:
        found = {}
        for student, cell, score in connection.execute(query):
            assert cell not in found.setdefault(student, {}), f"{student} has {cell} twice"
            found[student][cell] = score
        comments = connection.execute(select(t["comment"].id)).all()
    engine.dispose()
    cells = ["double-check", "halve-check", "square-check", "why"]
    assert all(sorted(scores) == cells for scores in found.values())
    assert len(comments) == len(cells) * len(found)
    return {student: tuple(scores[cell] for cell in cells[:3]) for student, scores in found.items()}


def check_two_runs(db_url, course):
    """Two runs make the gradebook, register the chapter and record the same and different students."""
    same = [f"same{n}" for n in range(25)]
    ours, others = [f"a{n}" for n in range(10)], [f"b{n}" for n in range(10)]
    with run(db_url, course, 1.0, [*same, *ours]) as first, run(db_url, course, 0.5, [*others, *same]) as second:
        go(first)
        go(second)
        assert first.stdout.read().split() == [*same, *ours]
        assert second.stdout.read().split() == [*others, *same]
        assert (first.wait(), second.wait()) == (0, 0)
    found = scores_by_student(db_url)
    full, half = (2.0, 1.5, 1.0), (1.0, 0.75, 0.5)
    assert sorted(found) == sorted([*same, *ours, *others])
    assert {found[student] for student in ours} == {full}
    assert {found[student] for student in others} == {half}
    assert {found[student] for student in same} <= {full, half}
