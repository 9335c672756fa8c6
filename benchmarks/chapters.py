"""How long a correct class takes in every chapter, its capstone included: 10 submissions, two workers.

    python benchmarks/chapters.py [--record] [--size N]

Everything is right, so everything runs to its end: the time is that of the chapter's own cells and checks. With
--record the figures go to benchmarks/results/chapters.json and into the book's page about scaling.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from autograding import measure, ours
from autograding.book import RESULTS, write_page
from autograding.classes import ROOT, make_correct

from grader.manifest import load_manifest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="write the figures down")
    parser.add_argument("--size", type=int, default=10, help="submissions of each chapter")
    arguments = parser.parse_args()
    measure.patience = 600.0 if arguments.record else 0.0
    measure.compile_modules(sys.executable, ROOT / "grader")
    found = {}
    for chapter in load_manifest(ROOT / "course.toml").chapters:
        with tempfile.TemporaryDirectory() as name:
            make_correct(Path(name, "term"), chapter.id, arguments.size)
            found[chapter.id] = ours.grade(Path(name, "term"), 2, verify=False, chapter=chapter.id)
        print(chapter.id, json.dumps(found[chapter.id]), flush=True)
    if arguments.record:
        figures = {"machine": measure.machine(), "chapters": found}
        (RESULTS / "chapters.json").write_text(json.dumps(figures, indent=1) + "\n")
        write_page()


if __name__ == "__main__":
    main()
