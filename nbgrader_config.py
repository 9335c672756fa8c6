"""nbgrader's settings for this course. nbgrader reads this file several times a run: it only sets values."""

import os
from pathlib import Path

COURSE = Path(__file__).resolve().parent
TERM = COURSE / os.environ.get("UNROLLED_TERM", "term")  # UNROLLED_TERM=build/demo: the demo class

c = get_config()  # noqa: F821 (nbgrader provides it)

# TERM/submitted, TERM/autograded and TERM/feedback, each with STUDENT/CHAPTER/NOTEBOOK, and TERM/gradebook.db
c.CourseDirectory.root = str(TERM)
c.CourseDirectory.db_url = os.environ.get("UNROLLED_DB_URL", f"sqlite:///{TERM / 'gradebook.db'}")
# formgrader lists the assignments that it finds here
c.CourseDirectory.source_directory = str(COURSE / "exercises")

# One grading path: `grader autograde` runs students' code, and nothing else does
c.Autograde.exporter_class = "grader.autograde.nbgrader_steps.RefuseAutograde"
c.Autograde.sanitize_preprocessors = ["grader.autograde.nbgrader_steps.RefuseToRun"]
c.Autograde.autograde_preprocessors = ["grader.autograde.nbgrader_steps.RefuseToRun"]
c.GenerateAssignment.exporter_class = "grader.autograde.nbgrader_steps.RefuseGenerate"

# What students wrote is shown as text, pictures and formulas: none of it runs, and nothing is fetched for it
c.HTMLExporter.filters = {
    "markdown2html": "grader.autograde.nbgrader_display.clean_markdown",
    "clean_html": "grader.autograde.nbgrader_display.clean",
}
