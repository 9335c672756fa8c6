"""`grader release`: exercises/ and grader/data/, of which only that is made whose sources have changed.

`released.txt`, which is committed, has a line for each exercise and notebook: hashes of what it was made from and of
what was made. So a fresh clone does not compute again what was committed with it. The hashes contain no versions,
because the same bytes are recorded on every machine; CI makes everything again and compares.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from grader.author.notebooks import data_files, notebooks_of, release_notebooks, source_path
from grader.checking.case import Checks
from grader.files import update_with_files, write_whole
from grader.manifest import Manifest, Place, load_manifest
from grader.released import CASES, FIXTURES, MESSAGES, OUTPUTS, OWN_JUDGE, Released
from grader.sources import PACKAGE, package_sources
from grader.spec.compute import PUBLIC_SEED
from grader.spec.folders import hints_path, mistakes_path
from grader.spec.kept import kept_checks, sources, states
from grader.spec.record import record
from grader.spec.spec import Spec

NOTE = "released.txt"
COURSE = "course.toml"
_DATA = Path("grader", "data")
_HEAD = "# Written by `grader release`: of each exercise and notebook, hashes of its sources and of what was made.\n"


class Made(msgspec.Struct, frozen=True):
    """Hashes of what something was made from and of the files that were made. `results` is that of what an exercise's
    results depend on (`kept.states`), which is less than all its sources.
    """

    sources: str
    made: str
    results: str = "-"


def release(root: Path, exercise: str | None = None, again: bool = False, workers: int | None = None) -> list[Path]:
    """Make what is out of date, or everything if `again`; return the files that changed. With an exercise, make only
    its data and its notebook. Raises UnknownIdError, ManifestError, ReleaseError, SpecError, MessageError.
    """
    manifest = load_manifest(root / COURSE)
    noted, now = read_note(root), present(root, manifest)
    names = list(now) if exercise is None else _of_exercise(manifest.place(exercise))
    due = [name for name in names if again or not _agree(noted.get(name), now[name])]
    results = states(root, [manifest.places[name] for name in due if name in manifest.places])
    whole = {name: again or not _only_words(noted.get(name), now[name], state) for name, state in results.items()}
    changed = release_notebooks(root, root / "exercises", due)
    changed += record(root, root / _DATA, workers or os.cpu_count() or 1, whole)
    for name, made in present(root, manifest, due).items():
        noted[name] = msgspec.structs.replace(made, results=results.get(name, "-"))
    return changed + _write_note(root, {name: noted[name] for name in now if name in noted})


def out_of_date(root: Path, manifest: Manifest) -> list[str]:
    """The exercises and notebooks ("CHAPTER/NOTEBOOK") whose released files are not those of the present sources, and
    "course.toml" if its copy is not. Nothing is computed.
    """
    noted = read_note(root)
    return [name for name, made in present(root, manifest).items() if not _agree(noted.get(name), made)]


def checks_of(root: Path, place: Place, seed: int, spec: Spec | None = None) -> Checks:
    """The checks on the cases of this seed, from where they are kept: those of the public seed from the release, if it
    is up to date with the sources that results depend on.
    """
    name = place.exercise.id
    if seed == PUBLIC_SEED:
        (now,) = present(root, load_manifest(root / COURSE), [name]).values()
        if _only_words(read_note(root).get(name), now, states(root, [place])[name]):
            return Released(root / _DATA).checks(name)
    return kept_checks(root, place, seed, spec)


def _of_exercise(place: Place) -> list[str]:
    return [COURSE, f"{place.chapter.id}/{place.notebook.name}", place.exercise.id]


def _agree(noted: Made | None, now: Made) -> bool:
    return noted is not None and (noted.sources, noted.made) == (now.sources, now.made)


def _only_words(noted: Made | None, now: Made, results: str) -> bool:
    """Whether an exercise's results are those on file, so that only hints and messages have to be written."""
    return noted is not None and (noted.made, noted.results) == (now.made, results)


def present(root: Path, manifest: Manifest, only: Collection[str] | None = None) -> dict[str, Made]:
    """The hashes of the sources and of the released files as they are now, without `results`."""
    computes, releases = package_sources("spec/record.py"), package_sources("author/notebooks.py")
    engines = {name: _hash(PACKAGE, files) for name, files in (("data", computes), ("notebooks", releases))}
    found = {}
    if only is None or COURSE in only:
        found[COURSE] = Made(_hash(root, [root / COURSE]), _hash(root, [root / _DATA / COURSE]))
    files = data_files(root, manifest)
    for name, (chapter, notebook) in notebooks_of(manifest).items():
        if only is None or name in only:
            beside = [(made, path) for made, path in files.items() if made.parts[0] == chapter.id]
            entry = msgspec.json.encode((chapter.id, notebook)).decode()
            from_ = [source_path(root, chapter, notebook), *(path for _, path in beside)]
            into = [root / "exercises" / each for each in (Path(f"{name}.ipynb"), *(made for made, _ in beside))]
            found[name] = Made(_hash(root, from_, engines["notebooks"] + entry), _hash(root, into))
    for name, place in manifest.places.items():
        if only is None or name in only:
            from_ = [*sources(root, place), hints_path(root, place), mistakes_path(root, place)]
            made = [each.format(name) for each in (CASES, OUTPUTS, MESSAGES, OWN_JUDGE)]
            into = [root / _DATA / each for each in (*made, FIXTURES.format(place.chapter.id))]
            found[name] = Made(_hash(root, from_, engines["data"]), _hash(root, into))
    return found


def _hash(root: Path, files: Iterable[Path], more: str = "") -> str:
    digest = hashlib.sha256(more.encode())
    update_with_files(digest, root, [path for path in files if path.is_file()])
    return digest.hexdigest()[:16]


def read_note(root: Path) -> dict[str, Made]:
    """What `released.txt` says of each exercise and notebook. What a merge has left in conflict does
    not count."""
    try:
        text = (root / NOTE).read_text("utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        return {}
    lines = [words for line in text.splitlines() if not line.startswith("#") and len(words := line.split()) == 4]
    times = Counter(name for name, *_ in lines)
    return {name: Made(*hashes) for name, *hashes in lines if times[name] == 1}


def _write_note(root: Path, entries: dict[str, Made]) -> list[Path]:
    path = root / NOTE
    lines = [f"{name} {made.sources} {made.made} {made.results}\n" for name, made in entries.items()]
    content = (_HEAD + "".join(lines)).encode()
    if path.is_file() and path.read_bytes() == content:
        return []
    write_whole(path, content)
    return [path]
