"""The torch assignment of chapter 04, the notebook `char_lm`, as a course of its own, graded by ours and by nbgrader.

nbgrader's notebooks have plain asserts in place of our check cells, as those of chapter 01; for the torch module they
compare logits and look at the state and the gradients. Its cells that take long are left out, since ours skips them.
"""

from __future__ import annotations

import pickle
import re
import shutil
from pathlib import Path
from typing import Any

from autograding import nbgrader_course, ours
from autograding.classes import ROOT, make_class
from autograding.plain_course import HELPER, Plain, plain
from grader.author.notebooks import release_notebooks
from grader.cells import notebook_bytes
from grader.manifest import load_manifest
from grader.released import Released
from grader.spec.folders import FIXTURES

CHAPTER, NOTEBOOK = "ch04_gated", "char_lm"
SIZE, NBGRADER_SIZE = 60, 4
MODULE_HELPER = """

_test_function = test


def test(name, thing):
    import torch

    if not isinstance(thing, type):
        return _test_function(name, thing)
    for inputs, (due, _) in CASES[name]:
        run = inputs["run"]
        texts = [torch.from_numpy(each["ids"]) for each in (*run["before"], inputs)]
        others = [torch.from_numpy(each["ids"]) for each in run["between"]]
        found = []
        for seed in (0, 1):
            torch.manual_seed(seed)
            model = thing(**inputs["init"]).double().train(run["mode"] == "train")
            model.load_state_dict({name: torch.from_numpy(array) for name, array in inputs["weights"].items()})
            state = None
            for ids in texts[:-1]:
                _, state = model(ids, state if run["carry"] else None)
            for ids in others:
                model(ids)
            logits, state = model(texts[-1], state if run["carry"] else None)
            found.append(logits.detach().numpy())
        if isinstance(due, str):
            assert not np.array_equal(*found), "dropout is off in training"
        else:
            assert found[0].shape == due.shape, f"shape {found[0].shape}, not {due.shape}"
            np.testing.assert_allclose(found[0], due, rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(found[1], due, rtol=1e-9, atol=1e-11)
        tensors = list(state.values()) if isinstance(state, dict) else list(state)
        while any(isinstance(each, tuple) for each in tensors):
            tensors = [part for each in tensors for part in each]
        assert not any(each.requires_grad for each in tensors), "the state is not detached"
        logits.sum().backward()
        assert all(weight.grad is not None for weight in model.parameters()), "a weight gets no gradient"
"""


def grade(folder: Path, most: int | None = None) -> dict[str, Any]:
    """What each of the two graders takes, in time, and with the memory of all its processes, with so many submissions
    at most.
    """
    root, term, course = write_course(folder / "course"), folder / "class", folder / "nbgrader"
    make_class(term, most or SIZE, root, CHAPTER)
    without_checks = Plain(root, CHAPTER, lambda beside: write_helpers(root, beside), plain_notebook)
    nbgrader_course.make_course(course, term, most or NBGRADER_SIZE, without_checks)
    where: dict[str, Any] = {"root": root, "chapter": CHAPTER}
    return {
        "ours": ours.grade(term, 2, **where),
        "ours_memory": ours.grade(term, 2, memory=True, **where),
        "nbgrader": nbgrader_course.grade(course, without_checks, memory=True),
    }


def write_course(root: Path) -> Path:
    """Write a course that consists of this one notebook, released; return its root."""
    data = root / "grader" / "data"
    data.mkdir(parents=True)
    for path in (root / "course.toml", data / "course.toml"):
        path.write_text(one_notebook((ROOT / "course.toml").read_text("utf-8")), "utf-8")
    sources, copies = ROOT / "solutions" / CHAPTER, root / "solutions" / CHAPTER
    copies.mkdir(parents=True)
    for path in (sources / "__init__.py", sources / f"{NOTEBOOK}.py", *sources.glob(FIXTURES)):
        shutil.copy(path, copies)
    for exercise in load_manifest(root / "course.toml").chapter(CHAPTER).exercises:
        for path in (ROOT / "grader" / "data").glob(f"{exercise.id}.*"):
            shutil.copy(path, data)
        shutil.copytree(sources / exercise.id, copies / exercise.id, ignore=shutil.ignore_patterns("__pycache__"))
    release_notebooks(root, root / "exercises")
    return root


def one_notebook(manifest: str) -> str:
    """The text of `course.toml` with this chapter and this notebook alone."""
    head, *chapters = re.split(r"(?m)^(?=\[\[chapters\]\]$)", manifest)
    (chapter,) = (each for each in chapters if f'id = "{CHAPTER}"' in each)
    beginning, *notebooks = re.split(r"(?m)^(?=\[\[chapters\.notebooks\]\]$)", chapter)
    return head + beginning + "".join(each for each in notebooks if f'name = "{NOTEBOOK}"' in each)


def write_helpers(root: Path, beside: Path) -> None:
    """What a notebook of this course needs beside it."""
    recorded, cases = Released(root / "grader" / "data"), {}
    for exercise in load_manifest(root / "course.toml").chapter(CHAPTER).exercises:
        checks = recorded.checks(exercise.id)
        cases[exercise.id] = [
            (dict(case.inputs), due.result) for case, due in zip(checks.cases, checks.expected, strict=True)
        ]
    beside.mkdir(parents=True, exist_ok=True)
    (beside / "tests.pickle").write_bytes(pickle.dumps(cases))
    (beside / "plain_tests.py").write_text(HELPER + MODULE_HELPER)


def plain_notebook(path: Path) -> bytes:
    """A notebook with asserts for checks, and without the cells that take long."""
    import nbformat

    notebook: Any = nbformat.reads(plain(path).decode(), as_version=4)
    notebook.cells = [cell for cell in notebook.cells if "long" not in cell.metadata.get("tags", ())]
    return notebook_bytes(notebook)
