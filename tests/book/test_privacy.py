"""The page on privacy: what is said to be stored is also said to be deleted."""

import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "book" / "privacy.md").read_text("utf-8")


def test_every_place_with_data_of_a_student_is_deleted_or_named():
    """`term/students.csv`, which has names and addresses, was missing where one student is deleted."""
    stored, deleted = PAGE.split("## How do you delete data?")
    rows = [line for line in stored.splitlines() if line.startswith("| `term/") and "about students" not in line]
    places = {name for row in rows for name in re.findall(r"term/([\w.]+)", row.split("|")[1])}
    assert places >= {"students.csv", "gradebook.db", "submitted", "reports"}
    told = deleted.partition("$ student=ann")[2].replace("db student remove", "gradebook.db")
    assert {place for place in places if place not in told} == set()
