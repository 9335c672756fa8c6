"""Write a demo class: submissions made of right solutions, alternatives, mistakes and broken notebooks, with the
score that each should get.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
import re
import shutil
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from grader.author.breakages import BREAKAGES
from grader.author.known_work import ENDLESS, MISTAKE, SLIPS, Work, all_work
from grader.author.notebooks import student_notebooks
from grader.author.planted import PLANTED, DemoError, read_planted
from grader.cells import grade_id, notebook_bytes
from grader.files import private_folder, update_with_files, write_whole
from grader.manifest import Chapter, load_manifest
from grader.sources import PACKAGE, package_sources, with_imports

MADE = "made.json"  # hashes of what the class was made from, and of the class
# the contents of a demo class's folder
OURS = ("submitted", "autograded", "results", "feedback", "reports", "hidden", "gradebook.db", PLANTED, MADE)
STUDENTS = 14  # enough for every form of work and every breakage in every chapter


def demo_class(root: Path, out: Path, chapter_id: str | None, students: int, seed: int) -> dict[str, dict[str, Any]]:
    """Write `OUT/submitted/STUDENT/CHAPTER/…` and `OUT/planted.json` for a chapter, or for all if None; return the
    expected results by student and exercise.

    The same numbers give the same class. If OUT contains the same demo class already, it is kept with its results, so
    that it need not be graded again; a different demo class is deleted. A folder with anything else is refused with
    DemoError.
    """
    if students < 1:
        raise DemoError(f"a class needs at least one student, not {students}")
    _refuse_what_is_no_demo(out)
    manifest = load_manifest(root / "course.toml")
    chapters = manifest.chapters if chapter_id is None else [manifest.chapter(chapter_id)]
    made_from = _made_from(root, [chapter.id for chapter in chapters], students, seed)
    if _is_there(out, made_from):
        return read_planted(out)
    names = [f"student{number + 1:0{len(str(students))}d}" for number in range(students)]
    planted: dict[str, dict[str, Any]] = {student: {} for student in names}
    files: dict[Path, bytes] = {}
    for chapter in chapters:
        rng = random.Random(f"{chapter.id} {seed}")
        releases = student_notebooks(root, manifest, chapter)
        works = _with_one_endless(releases, {e.id: all_work(root, manifest.place(e.id)) for e in chapter.exercises})
        decks = _decks(rng, works)
        breakages = _shuffled(rng, list(BREAKAGES))
        for number, student in enumerate(names):
            broken = next(breakages) if is_broken(number) else None
            submitted, expected = _student(chapter, releases, works, decks, broken)
            planted[student] |= expected
            folder = Path("submitted", student, chapter.id)
            files |= {folder / f"{name}.ipynb": content for name, content in submitted.items()}
    files[Path(PLANTED)] = (json.dumps(planted, indent=1) + "\n").encode()
    if _contents(out) != files:
        _replace(out, files)
    write_whole(out / MADE, json.dumps([made_from, _digest_of(out)]).encode())
    return planted


def _made_from(root: Path, chapters: list[str], students: int, seed: int) -> str:
    """A hash of everything that a demo class is made from."""
    digest = hashlib.sha256(repr((chapters, students, seed)).encode())
    for package in ("jupytext", "nbformat", "nbgrader", "numpy"):
        digest.update(f"{package} {version(package)} ".encode())
    modules = (path for chapter in chapters for path in (root / "solutions" / chapter).rglob("*.py"))
    update_with_files(digest, root, with_imports(root, [root / "course.toml", *modules]))
    update_with_files(digest, PACKAGE, package_sources("author/demo_class.py"))
    return digest.hexdigest()


def _is_there(out: Path, made_from: str) -> bool:
    """Whether OUT contains the class that would be made from the same, unchanged."""
    try:
        return bool(json.loads((out / MADE).read_text("utf-8")) == [made_from, _digest_of(out)])
    except (OSError, ValueError):
        return False


def _digest_of(out: Path) -> str:
    digest = hashlib.sha256()
    update_with_files(digest, out, _files_of(out))
    return digest.hexdigest()


def _contents(out: Path) -> dict[Path, bytes]:
    """The submissions and expected results in OUT."""
    return {path.relative_to(out): path.read_bytes() for path in _files_of(out)}


def _files_of(out: Path) -> list[Path]:
    return [path for path in [out / PLANTED, *(out / "submitted").rglob("*")] if path.is_file()]


def _replace(out: Path, files: dict[Path, bytes]) -> None:
    for name in OURS:
        if (out / name).is_dir():
            shutil.rmtree(out / name)
        else:
            (out / name).unlink(missing_ok=True)
    private_folder(out)
    for path, content in files.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        (out / path).write_bytes(content)


def _refuse_what_is_no_demo(out: Path) -> None:
    """Refuse to replace anything but another demo class, such as a term's seed, gradebook or submissions."""
    if not out.exists():
        return
    if not out.is_dir():
        raise DemoError(f"{out} is a file; choose another folder with --out")
    found = {path.name for path in out.iterdir()}
    strange = found - set(OURS) if PLANTED in found else found
    if strange:
        raise DemoError(
            f"{out} contains {sorted(strange)[0]!r}, which is not of a demo class; choose another with --out"
        )
    if found:
        planted = set(read_planted(out))
        others = [path.name for path in sorted((out / "submitted").glob("*")) if path.name not in planted]
        if others:
            raise DemoError(
                f"{out}/submitted contains {others[0]!r}, who is not in the demo class; choose another with --out"
            )


def _student(
    chapter: Chapter,
    releases: dict[str, Any],
    works: dict[str, list[Work]],
    decks: dict[str, Iterator[Work]],
    broken: str | None,
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """A student's notebooks by name, and the expected results. With broken notebooks there is no capstone, which would
    take most of the time.
    """
    submitted: dict[str, bytes] = {}
    planted: dict[str, Any] = {}
    for notebook in chapter.notebooks:
        if broken and not notebook.exercises:
            continue
        content = copy.deepcopy(releases[notebook.name])
        exercises = [exercise.id for exercise in notebook.exercises]
        questions = {question.id for question in notebook.questions}
        chosen = {name: works[name][0] if broken else next(decks[name]) for name in exercises}
        for cell in content.cells:
            name = grade_id(cell)
            if name in chosen and chosen[name].source is not None:
                cell.source = chosen[name].source
            elif name in questions and not broken:
                cell.source = "The state carries what was read, and the softmax says what may follow."
        submitted[notebook.name] = BREAKAGES[broken].file(content, exercises) if broken else notebook_bytes(content)
        keeping = exercises[BREAKAGES[broken].keeps] if broken else exercises
        for exercise in notebook.exercises:
            name = exercise.id
            work, kept = chosen[name], name in keeping
            # slips are diagnosed by patterns, which are tried only if what the exercise builds on is right
            outdone = work.what in SLIPS and any(planted[needed]["status"] != "passed" for needed in exercise.needs)
            planted[name] = {
                "what": broken or work.what,
                "points": work.points if kept else 0.0,
                "status": work.status if kept else None,
                "diagnosis": work.diagnosis if kept and not outdone else None,
            }
    return submitted, planted


def is_broken(number: int) -> bool:
    """Whether the notebooks of this student are broken: every second of the first, until each breakage was shown, and
    every fourth of the others.
    """
    return number % 4 == 3 or (number % 2 == 1 and number < 2 * len(BREAKAGES))


def _with_one_endless(releases: dict[str, Any], works: dict[str, list[Work]]) -> dict[str, list[Work]]:
    """Keep only one endless loop, because each cell that calls it takes up its whole time limit: that of the exercise
    that the fewest cells mention.
    """
    sources = [cell.source for notebook in releases.values() for cell in notebook.cells if cell.cell_type == "code"]
    able = [name for name, found in works.items() if any(work.what == ENDLESS for work in found)]
    one = min(able, key=lambda name: sum(bool(re.search(rf"\b{name}\b", each)) for each in sources), default=None)
    return {name: [w for w in found if w.what != ENDLESS or name == one] for name, found in works.items()}


def _decks(rng: random.Random, works: dict[str, list[Work]]) -> dict[str, Iterator[Work]]:
    """For each exercise, work for one student after another.

    The first students who submit whole notebooks show every form of work in the chapter, each on the exercise with
    the fewest so far, and different mistakes on the rest. Everything else comes after. The endless loop comes once and
    first, so that grading does not wait for it at the end.
    """
    first: dict[str, list[Work]] = {name: [] for name in works}
    able: dict[str, list[str]] = {}
    for name, found in works.items():
        for form in dict.fromkeys(work.form for work in found if work.form != MISTAKE):
            able.setdefault(form, []).append(name)
    for form in sorted(able, key=lambda form: len(able[form])):
        name = min(able[form], key=lambda name: len(first[name]))
        first[name].append(rng.choice([work for work in works[name] if work.form == form]))
    return {name: _dealt(rng, found, first[name]) for name, found in works.items()}


def _dealt(rng: random.Random, works: list[Work], first: list[Work]) -> Iterator[Work]:
    """These first, with mistakes among them that are all different; then the others; then all in another order."""
    ways: dict[str | None, list[Work]] = {}
    for work in works:
        if work.form == MISTAKE:
            ways.setdefault(work.diagnosis, []).append(work)
    free = sum(not is_broken(number) for number in range(STUDENTS)) - len(first)
    shown = first + [rng.choice(ways[name]) for name in rng.sample([*ways], min(len(ways), max(0, free)))]
    endless = [work for work in works if work.what == ENDLESS]
    rest = [work for work in works if work not in shown and work not in endless]
    yield from endless
    yield from rng.sample([work for work in shown if work not in endless], len(shown) - len(endless))
    yield from rng.sample(rest, len(rest))
    yield from _shuffled(rng, [work for work in works if work not in endless])


def _shuffled(rng: random.Random, items: list[Any]) -> Iterator[Any]:
    """All items in random order, repeatedly, so that a large enough class contains every one."""
    while True:
        yield from rng.sample(items, len(items))
