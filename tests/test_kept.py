"""What is kept until something changes, and no longer: checks, releases, what passed lint, and grades."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from grader import sources
from grader.author import lint_notes, release
from grader.author.course import Course
from grader.author.lint import EXERCISE_RULES, lint_course
from grader.author.release import checks_of, out_of_date
from grader.codec import encode, inflated
from grader.grading import session
from grader.manifest import load_manifest
from grader.released import Released, cases_tree, outputs_tree
from grader.spec import kept
from grader.spec.compute import make_checks
from grader.spec.kept import kept_checks, states
from grader.spec.record import record
from tests.loops import for_each
from tests.small_course import CHAPTER, ROOT, write_small_course

SPEC = f"solutions/{CHAPTER}/rnn_step/spec.py"
WORDS = f"solutions/{CHAPTER}/rnn_step/mistakes.md"
HINTS = f"solutions/{CHAPTER}/rnn_step/hints.md"
NOTEBOOK = f"solutions/{CHAPTER}/recurrence.py"
PAGE = f"book/{CHAPTER}/one_step.md"
BOTH = {"rnn_step", "rnn_forward"}


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A small course, and a copy of `grader`, whose files a test may change for a moment; what runs is the original."""
    folder = tmp_path_factory.mktemp("copies")
    ignored = shutil.ignore_patterns("data", "__pycache__")
    return write(folder / "course"), shutil.copytree(sources.PACKAGE, folder / "grader", ignore=ignored)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "course")


def write(root: Path) -> Path:
    write_small_course(root)
    (root / PAGE).parent.mkdir(parents=True)
    (root / PAGE).write_text("# One step of a recurrent network\n\n```{exercise-link} rnn_step\n```\n", "utf-8")
    release.release(root)
    return root


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")


def hashes(root: Path) -> dict[str, dict[str, object]]:
    """Everything that decides whether something is made again, by kind and name."""
    manifest, term = load_manifest(root / "course.toml"), root / "term"
    (term / "hidden").mkdir(parents=True, exist_ok=True)
    (term / "hidden" / "seed").write_text("17")
    return {
        "results": dict(states(root, manifest.places.values())),
        "released": dict(release.present(root, manifest)),
        "linted": dict(lint_notes.hashes(Course(root), manifest.places.values())),
        "grades": {CHAPTER: session.state_of(root, term, manifest, manifest.chapters[0])},
    }


def add(path: str, text: str = "# a comment\n") -> Callable[[Path, Path], None]:
    """Append to a file of the course or, if its path begins so, of `grader`."""

    def change(root: Path, package: Path) -> None:
        where = package.parent / path if path.startswith("grader/") else root / path
        where.write_text(where.read_text("utf-8") + text, "utf-8")

    return change


def reword(old: str, new: str) -> Callable[[Path, Path], None]:
    return lambda root, package: edit(root / WORDS, old, new)


ONE, NOTEBOOK_NAME = {"rnn_step"}, f"{CHAPTER}/recurrence"
TITLE = 'title = "One step of the recurrence"\n'
ALL = {"results": BOTH, "released": BOTH, "linted": BOTH, "grades": {CHAPTER}}
OF_SPECS = ("record", "compute", "load", "spec", "gates", "changes")
ENGINE = ["grader/codec.py", *(f"grader/spec/{name}.py" for name in OF_SPECS)]
CHECKING = [f"grader/checking/{name}.py" for name in ("compare", "drivers", "modules", "fixtures", "describe")]
CHANGES: list[tuple[str, Callable[[Path, Path], None], dict[str, set[str]]]] = [
    *((path, add(path), ALL) for path in ENGINE + CHECKING),
    ("a diagnosis", add("grader/checking/diagnose/order.py"), {"linted": BOTH, "grades": {CHAPTER}}),
    ("a rule of lint", add("grader/author/lint.py"), {"linted": BOTH}),
    ("the release", add("grader/author/notebooks.py"), {"released": {NOTEBOOK_NAME}, "linted": BOTH}),
    ("what runs a notebook", add("grader/inside/child.py"), {"grades": {CHAPTER}}),
    ("the sandbox", add("grader/running/seccomp.py"), {"grades": {CHAPTER}}),
    ("a command", add("grader/cli/grading.py"), {}),
    ("a command's help", add("grader/cli/author.py"), {}),
    ("a class report", add("grader/classreport/page.py"), {}),
    ("the demo class", add("grader/author/demo_class.py"), {}),
    ("a spec", add(SPEC), {"results": ONE, "released": ONE, "linted": ONE, "grades": {CHAPTER}}),
    ("a message", reword("You leave out the bias.", "You forget it."), {"released": ONE, "linted": ONE}),
    ("a hint", add(HINTS, "\nReally?\n"), {"released": ONE, "linted": BOTH}),
    ("a notebook", add(NOTEBOOK), {**ALL, "released": {*BOTH, NOTEBOOK_NAME}}),
    ("a judge", lambda root, _: (root / SPEC).with_name("judge.py").write_text("judge = largest = None"),
     {"results": ONE, "released": ONE, "linted": ONE, "grades": {CHAPTER}}),
    ("a file of mistakes", lambda root, _: (root / SPEC).with_name("mistakes.py").write_text("SPEC = None"),
     {"results": ONE, "released": ONE, "linted": ONE, "grades": {CHAPTER}}),
    ("fixtures", lambda root, _: (root / SPEC).parents[1].joinpath("fixtures.py").write_text(""), ALL),
    ("a page", add(PAGE, "\nA sentence.\n"), {"linted": BOTH}),
    ("points", lambda root, _: edit(root / "course.toml", f"{TITLE}points = 2", f"{TITLE}points = 3"),
     {"released": {"course.toml", NOTEBOOK_NAME}, "linted": BOTH, "grades": {CHAPTER}}),
]  # fmt: skip


@for_each(("what", "change", "outdated"), CHANGES)
def test_what_a_change_outdates(
    copies: tuple[Path, Path],
    what: str,
    change: Callable[[Path, Path], None],
    outdated: dict[str, set[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (sources, kept, release, lint_notes, session):
        monkeypatch.setattr(module, "PACKAGE", copies[1])
    before, files = hashes(copies[0]), contents(*copies)
    try:
        change(*copies)
        after = hashes(copies[0])
    finally:
        for path in contents(*copies).keys() - files.keys():
            path.unlink()
        for path, content in files.items():
            path.write_bytes(content)
    differ = {kind: {name for name in after[kind] if after[kind][name] != before[kind][name]} for kind in before}
    assert {kind: names for kind, names in differ.items() if names} == {kind: n for kind, n in outdated.items() if n}


def contents(*folders: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file()}


def test_every_module_that_a_result_is_computed_with_is_found() -> None:
    """A process that computes checks of every kind has imported no module of `grader` that the hash leaves out."""
    code = (
        "import sys, types; from pathlib import Path; from grader.spec.compute import make_checks\n"
        "student = sys.modules['grader.student'] = types.ModuleType('student')\n"
        "student.check = student.hint = student.progress = student.diary = print  # which notebooks import\n"
        "from grader.manifest import load_manifest\n"
        f"root = Path({str(ROOT)!r}); places = load_manifest(root / 'course.toml').places\n"
        "for name in ('rnn_step', 'CharLM', 'orthogonal_init', 'train_char_rnn', 'pad_batch', 'lstm_step'):\n"
        "    tuple(make_checks(root, places[name], 0, True).altered_inputs)\n"
        "files = [getattr(m, '__file__', None) for n, m in sys.modules.items() if n.startswith('grader.')]\n"
        "print(*filter(None, files))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # A package may import more than the one module of it that is needed.
    packages = {str(path) for path in sources.package_sources("checking/diagnose/__init__.py")}
    packages |= {str(path) for path in sources.PACKAGE.rglob("__init__.py")}
    found = {str(path) for path in sources.package_sources("spec/record.py")}
    assert set(done.stdout.split()) - packages <= found


def test_imports_are_followed_within_functions_and_through_one_another(tmp_path: Path) -> None:
    for name, text in {
        "solutions/ch01/a.py": "def f():\n    from solutions.ch01 import b",
        "solutions/ch01/b.py": "import experiments.ch01.c as c",
        "experiments/ch01/c.py": "import solutions.ch01.a, numpy",
        "solutions/ch01/other.py": "",
        "solutions/ch01/broken.py": "import solutions.ch01.other(",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    start = [tmp_path / "solutions/ch01" / name for name in ("a.py", "broken.py", "missing.py")]
    found = sources.with_imports(tmp_path, start)
    assert [path.name for path in found] == ["c.py", "a.py", "b.py", "broken.py"]


def test_kept_checks_are_those_that_would_be_computed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = load_manifest(root / "course.toml").place("rnn_forward")
    computed = make_checks(root, place, 5, example=False)
    for _ in range(2):
        checks = kept_checks(root, place, 5)
        assert encode(cases_tree(checks)) == encode(cases_tree(computed))
        assert encode(outputs_tree(checks)) == encode(outputs_tree(computed))
        monkeypatch.setattr(kept, "make_checks", lambda *_: pytest.fail("nothing has changed"))


def test_kept_checks_that_cannot_be_read_are_computed(root: Path) -> None:
    place = load_manifest(root / "course.toml").place("rnn_step")
    kept_checks(root, place, 5)
    path = root / kept.KEPT / "5" / "rnn_step.msgpack"
    whole = path.read_bytes()
    for content in (b"torn", encode([1]), encode({"state": 1})):
        path.write_bytes(content)
        assert len(kept_checks(root, place, 5).cases) > 1
        assert path.read_bytes() == whole


def test_the_public_checks_come_from_the_release_while_it_is_current(root: Path) -> None:
    place = load_manifest(root / "course.toml").place("rnn_step")
    checks = checks_of(root, place, 0)
    assert not (root / kept.KEPT).exists()
    assert encode(outputs_tree(checks)) == inflated((root / "grader/data/rnn_step.outputs.msgpack.zlib").read_bytes())
    edit(root / SPEC, "yield case(rng, B=1, D=3, H=2)", "yield case(rng, B=1, D=3, H=4)")
    assert any(case.sizes == {"B": 1, "D": 3, "H": 4} for case in checks_of(root, place, 0).cases)


def test_only_what_has_changed_is_released_and_it_is_what_everything_would_give(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[str] = []
    real = release.record
    monkeypatch.setattr(release, "record", lambda *given: computed.append(str(given[3])) or real(*given))
    manifest = load_manifest(root / "course.toml")
    data = root / "grader" / "data"
    shutil.rmtree(data)  # outputs of another machine may differ in the last bits
    release.release(root)
    computed.clear()

    def released() -> list[str]:
        return sorted(str(path.relative_to(root)) for path in release.release(root))

    assert (released(), computed.pop()) == ([], "{}")
    edit(root / WORDS, "You leave out the bias.", "You forget the bias.")
    assert out_of_date(root, manifest) == ["rnn_step"]
    assert (released(), computed.pop()) == (["grader/data/rnn_step.md", "released.txt"], "{'rnn_step': False}")
    edit(root / SPEC, 'change(" + b_h", "")', 'change(" + b_h", " - b_h")')
    assert released() == ["grader/data/rnn_step.outputs.msgpack.zlib", "released.txt"]
    assert computed.pop() == "{'rnn_step': True}"
    for path in (data / "rnn_step.outputs.msgpack.zlib", root / "exercises" / CHAPTER / "recurrence.ipynb"):
        content = path.read_bytes()
        path.write_bytes(content + b" ")
        assert len(out_of_date(root, manifest)) == 1
        assert released() == [str(path.relative_to(root))]
        assert path.read_bytes() == content
    before = {path: path.read_bytes() for path in data.iterdir()}
    assert release.release(root, again=True) == []
    assert {path: path.read_bytes() for path in data.iterdir()} == before
    record(root, root / "all of it")
    assert {path.name: path.read_bytes() for path in (root / "all of it").iterdir()} == {
        path.name: content for path, content in before.items()
    }
    assert Released(data).checks("rnn_step").id == "rnn_step"


def test_one_exercise_is_released_and_the_others_stay_out_of_date(root: Path) -> None:
    manifest = load_manifest(root / "course.toml")
    for name in BOTH:
        path = root / "solutions" / CHAPTER / name / "hints.md"
        path.write_text(path.read_text("utf-8").replace("## Hint 1\n", "## Hint 1\n\nReally:\n"), "utf-8")
    assert {path.name for path in release.release(root, "rnn_step")} == {"rnn_step.md", "released.txt"}
    assert out_of_date(root, manifest) == ["rnn_forward"]


def test_what_a_merge_leaves_of_the_note_does_not_count(root: Path) -> None:
    note = root / release.NOTE
    whole = note.read_text("utf-8")
    line = next(line for line in whole.splitlines() if line.startswith("rnn_step "))
    note.write_text(whole.replace(line, f"<<<<<<< ours\n{line} \n=======\n{line[:-1]}\n>>>>>>> theirs"), "utf-8")
    release.release(root)
    assert note.read_text("utf-8") == whole


def test_lint_follows_again_only_the_rules_that_a_change_concerns(root: Path) -> None:
    def followed(**options: bool) -> list[str]:
        found = list(lint_course(root, "rnn_step", **options))
        assert [problem for _, problems in found for problem in problems] == []
        rules = {
            f"rnn_step: {(rule.__doc__ or '').splitlines()[0].rstrip('.')}": rule.__name__ for rule in EXERCISE_RULES
        }
        return [rules[what] for what, _ in found if what in rules]

    everything = [rule.__name__ for rule in EXERCISE_RULES]
    assert followed() == everything
    assert followed() == []
    assert followed(again=True) == everything
    edit(root / WORDS, "You leave out the bias.", "You forget the bias.")
    assert followed() == ["why_is_told", "messages_do_not_shout"]
    (root / PAGE).write_text((root / PAGE).read_text("utf-8") + "\nA sentence.\n", "utf-8")
    assert followed() == ["page_links_to_it", "solution_is_not_shown"]
    edit(root / SPEC, "yield case(rng, B=1, D=3, H=2)", "yield case(rng, B=1, D=4, H=2)")
    assert followed()[:3] == everything[:3]


def test_lint_does_not_forget_a_problem(root: Path) -> None:
    edit(root / SPEC, '"bi,ij->bj"', '"bi,ji->bj"')
    for _ in range(2):
        found = {what: problems for what, problems in lint_course(root, "rnn_step") if problems}
        assert ["with_einsum fails" in problem for problems in found.values() for problem in problems].count(True)


@pytest.mark.parametrize("written", ["", "1"], ids=["bytecode is written", "no bytecode is written"])
def test_two_versions_of_a_file_that_were_saved_within_a_second(tmp_path: Path, written: str) -> None:
    """Both have the same size. Python would take the bytecode of the first one for that of the second."""
    spec, module = tmp_path / "spec.py", tmp_path / "solutions" / "module.py"
    module.parent.mkdir()
    (module.parent / "__init__.py").write_text("")
    code = (
        "import os, sys; from pathlib import Path\n"
        "from grader.sources import load_module, read_course_from_text\n"
        "read_course_from_text(); from solutions import module\n"
        f"print(load_module(Path({str(spec)!r}), 'spec').value, module.value)"
    )
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": written, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    run = partial(subprocess.run, check=True, env=environment, cwd=tmp_path, capture_output=True, text=True)
    for value in (1, 2):
        for path in (spec, module):
            path.write_text(f"value = {value}\n")
            os.utime(path, (1_000_000, 1_000_000))
            if value == 1:  # as any other tool may have done
                run([sys.executable, "-m", "py_compile", str(path)])
        assert run([sys.executable, "-c", code]).stdout == f"{value} {value}\n"


def test_numbers_are_the_same_after_they_were_kept(root: Path) -> None:
    place = load_manifest(root / "course.toml").place("rnn_step")
    first, again = kept_checks(root, place, 9), kept_checks(root, place, 9)
    assert np.array_equal(np.asarray(first.expected[0].result), np.asarray(again.expected[0].result))
