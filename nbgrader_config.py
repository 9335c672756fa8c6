"""nbgrader's settings for this course. nbgrader reads this file several times a run: it only sets values, and makes
the term's folder.
"""

import os
from contextlib import suppress
from pathlib import Path

COURSE = Path(__file__).resolve().parent
# UNROLLED_TERM=build/demo is the demo class: a path from the current folder on, as for  grader --term
TERM = Path(os.environ.get("UNROLLED_TERM") or COURSE / "term").resolve()
os.environ["UNROLLED_TERM"] = str(TERM)  # nbgrader changes folders between two readings
with suppress(OSError):
    TERM.mkdir(mode=0o700, parents=True, exist_ok=True)  # nbgrader makes a gradebook, but no folder for it

c = get_config()  # noqa: F821 (nbgrader provides it)

# TERM/submitted, TERM/autograded and TERM/feedback, each with STUDENT/CHAPTER/NOTEBOOK, and TERM/gradebook.db
c.CourseDirectory.root = str(TERM)
c.CourseDirectory.db_url = os.environ.get("UNROLLED_DB_URL", f"sqlite:///{TERM / 'gradebook.db'}")
# formgrader lists the assignments that it finds here
c.CourseDirectory.source_directory = str(COURSE / "exercises")

# One grading path: `grader autograde` runs students' code, and nothing else does
c.Autograde.exporter_class = "grader.plugins.nbgrader_steps.RefuseAutograde"
c.Autograde.sanitize_preprocessors = ["grader.plugins.nbgrader_steps.RefuseToRun"]
c.Autograde.autograde_preprocessors = ["grader.plugins.nbgrader_steps.RefuseToRun"]
c.GenerateAssignment.exporter_class = "grader.plugins.nbgrader_steps.RefuseGenerate"

# What lateness costs stands in TERM/term.toml, under [late]: all that decides about points is kept with the term.

# What students wrote is shown as text, pictures and formulas: none of it runs, and nothing is fetched for it
c.HTMLExporter.filters = {
    "markdown2html": "grader.plugins.nbgrader_display.clean_markdown",
    "clean_html": "grader.plugins.nbgrader_display.clean",
}

# `nbgrader collect` follows no link that a student has put into the exchange directory of a JupyterHub
c.ExchangeFactory.collect = "grader.plugins.exchange_collect.Collect"

# `nbgrader zip_collect` reads downloads of Canvas, Moodle and Gradescope from TERM/downloaded/CHAPTER/archive
c.ZipCollectApp.extractor_plugin = "grader.plugins.unpacking.Unpacker"
c.ZipCollectApp.collector_plugin = "grader.plugins.downloads.Downloads"
c.FileNameCollectorPlugin.valid_ext = [".ipynb", ".py", ".csv", ".npy", ".npz"]
c.CourseDirectory.release_directory = str(COURSE / "exercises")  # the names that notebooks have
