"""The course's sources, each read once, for the rules that concern all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from grader.author.notebooks import generate, instructor_notebook, source_path
from grader.author.shown_solutions import shown_pieces
from grader.manifest import Chapter, Manifest, Notebook, load_manifest
from grader.spec.folders import HINTS

if TYPE_CHECKING:
    from nbformat import NotebookNode


TEXTS = {
    "book": ("*.py", "*.js", "*.svg"),
    "solutions": ("*.md", "*.py"),
    "grader": ("*.py",),
    "experiments": ("*.py",),
    "slides": ("*.md", "*.py"),
}  # by folder, besides the pages; notebooks and recorded data are made from these


@dataclass(frozen=True)
class Made:
    """One notebook as `grader release` makes it."""

    root: Path
    manifest: Manifest
    chapter: Chapter
    notebook: Notebook

    @cached_property
    def instructor(self) -> NotebookNode:
        return instructor_notebook(self.root, self.manifest, self.chapter, self.notebook)

    @cached_property
    def student(self) -> NotebookNode:
        return generate(self.instructor, source_path(self.root, self.chapter, self.notebook))


@dataclass(frozen=True)
class Course:
    """The course that is checked. Sources that several exercises need are read once."""

    root: Path
    read: dict[str, list[tuple[int, str, str]]] = field(default_factory=dict, compare=False)  # pieces by text

    @cached_property
    def manifest(self) -> Manifest:
        return load_manifest(self.root / "course.toml")

    @cached_property
    def pages(self) -> dict[Path, str]:
        return {path: path.read_text("utf-8") for path in sorted((self.root / "book").rglob("*.md"))}

    @cached_property
    def texts(self) -> dict[Path, str]:
        """All texts that authors write: pages, notebooks, messages, documents and code."""
        patterns = ["*.md", *(f"{folder}/**/{name}" for folder, names in TEXTS.items() for name in names)]
        found = {path for pattern in patterns for path in self.root.glob(pattern)} - self.pages.keys()
        made = self.root / "grader" / "data"
        written = {path: path.read_text("utf-8") for path in found if not path.is_relative_to(made)}
        return dict(sorted((self.pages | written).items()))

    @cached_property
    def shown(self) -> dict[str, list[tuple[Path, int, str]]]:
        """Every piece of code that a page or a hint shows, in its comparable form: path, line and source."""
        hints = sorted((self.root / "solutions").glob(f"*/*/{HINTS}"))
        found: dict[str, list[tuple[Path, int, str]]] = {}
        for path, text in {**self.pages, **{path: path.read_text("utf-8") for path in hints}}.items():
            if text not in self.read:
                self.read[text] = list(shown_pieces(text))
            for line, source, piece in self.read[text]:
                found.setdefault(piece, []).append((path, line, source))
        return found

    @cached_property
    def made(self) -> tuple[Made, ...]:
        """All notebooks, in the order of the manifest."""
        return tuple(Made(self.root, self.manifest, c, n) for c in self.manifest.chapters for n in c.notebooks)

    @cached_property
    def notebooks(self) -> dict[str, Made]:
        """The notebook of each exercise, by the exercise's id."""
        return {exercise.id: made for made in self.made for exercise in made.notebook.exercises}

    def where(self, path: Path) -> str:
        return str(path.relative_to(self.root))
