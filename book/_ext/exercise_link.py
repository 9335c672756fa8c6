"""The directive `exercise-link`: a box that sends the reader from a page to an exercise.

    ```{exercise-link} rnn_step
    ```

Title, points, notebook and what comes first are read from `course.toml`; an unknown id is a warning.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from grader.manifest import Place, UnknownIdError, load_manifest

_MANIFEST = "course.toml"


class ExerciseLink(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        manifest = load_manifest(Path(self.env.srcdir, _MANIFEST))
        self.env.note_dependency(_MANIFEST)
        try:
            place = manifest.place(self.arguments[0])
        except UnknownIdError as error:
            return [self.state.document.reporter.warning(f"exercise-link: {error}", line=self.lineno)]
        return [self._box(place)]

    def _box(self, place: Place) -> nodes.Element:
        exercise = place.exercise
        title = nodes.title("", f"Exercise: {exercise.title} ({_points(exercise.points)})")
        box = nodes.admonition("", title, classes=["exercise-link"], ids=[nodes.make_id(f"exercise-{exercise.id}")])
        path = f"exercises/{place.chapter.id}/{place.notebook.name}.ipynb"
        download = addnodes.download_reference(
            "", "", nodes.literal("", path), refdoc=self.env.docname, refdomain="", reftype="download",
            reftarget=f"/{path}", refexplicit=True, refwarn=True,
        )  # fmt: skip
        box += nodes.paragraph(
            "", "", nodes.Text("Open "), download, nodes.Text(", write "), nodes.literal("", exercise.id),
            nodes.Text(" and run its check:"),
        )  # fmt: skip
        call = f'check("{exercise.id}", {exercise.id})'
        box += nodes.literal_block(call, call, language="python")
        after = [nodes.Text("Stuck? "), nodes.literal("", f'hint("{exercise.id}")'), nodes.Text(" asks a question.")]
        for needed in exercise.needs:
            after += [nodes.Text(" It builds on "), nodes.literal("", needed), nodes.Text(".")]
        box += nodes.paragraph("", "", *after)
        return box


def _points(points: float) -> str:
    return f"{points:g} point" if points == 1 else f"{points:g} points"


def setup(app: Sphinx) -> ExtensionMetadata:
    app.add_directive("exercise-link", ExerciseLink)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
