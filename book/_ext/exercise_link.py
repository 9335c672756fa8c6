"""The directive `exercise-link`: a box that sends the reader from a page to an exercise.

    ```{exercise-link} rnn_step
    ```

Title, points, notebook and what comes first are read from `course.toml`; an unknown id is a warning. The notebook is
named but not linked to: a browser would download a second copy, which `grader submit` does not find. The box can be
linked to, `[the exercise](#exercise-rnn_step)`. It ends with *Try it here* (`try_here.py`), or says where else an
exercise of PyTorch can be done. In the self-study edition the solution follows it, folded.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from edition import solution
from page_element import PageElement
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata
from try_here import place_for

from grader.author.in_page import can_be_tried
from grader.manifest import Place, UnknownIdError, load_manifest

_MANIFEST = "course.toml"


class ExerciseLink(PageElement):
    required_arguments = 1
    has_content = False

    def run(self) -> list[nodes.Node]:
        manifest = load_manifest(Path(self.env.srcdir, _MANIFEST))
        self.env.note_dependency(_MANIFEST)
        try:
            place = manifest.place(self.arguments[0])
        except UnknownIdError as error:
            return [self.refuse(str(error))]
        anchor = f"exercise-{place.exercise.id}"
        if any(anchor in node["ids"] for node in self.state.document.findall(nodes.admonition)):
            return [self.refuse(f"{place.exercise.id} has a box here already. Keep one, and link to #{anchor}.")]
        return [self._box(place, anchor), *solution(self, place)]

    def _box(self, place: Place, anchor: str) -> nodes.Element:
        exercise = place.exercise
        title = nodes.title("", f"Exercise: {exercise.title} ({_points(exercise.points)})")
        box = nodes.admonition("", title, classes=["exercise-link"], ids=[anchor], names=[anchor])
        self.state.document.note_explicit_target(box, box)
        path = f"exercises/{place.chapter.id}/{place.notebook.name}.ipynb"
        box += nodes.paragraph(
            "", "", nodes.Text("In the notebook "), nodes.emphasis("", place.notebook.title), nodes.Text(", "),
            nodes.literal("", path), nodes.Text(", write "), nodes.literal("", exercise.id),
            nodes.Text(" and run its check:"),
        )  # fmt: skip
        call = f'check("{exercise.id}", {exercise.id})'
        box += nodes.literal_block(call, call, language="python")
        after = [nodes.Text("Stuck? "), nodes.literal("", f'hint("{exercise.id}")'), nodes.Text(" asks a question.")]
        for needed in exercise.needs:
            after += [nodes.Text(" It builds on "), nodes.literal("", needed), nodes.Text(".")]
        box += nodes.paragraph("", "", *after)
        root = Path(self.env.srcdir)
        if can_be_tried(root, place.exercise.id):
            box += place_for(exercise.id)
        else:
            box += self._elsewhere(path)
        return box

    def _elsewhere(self, path: str) -> nodes.paragraph:
        """Where an exercise can be done whose check does not run in a page."""
        return nodes.paragraph(
            "", "",
            nodes.Text("Its check needs PyTorch, which does not run in a web page. On your own machine, run "),
            nodes.literal("", f"jupyter lab {path}"),
            nodes.Text(" once the course is installed. To install nothing, upload the notebook from the zip that your "
                       "class was given to an online service such as "),
            nodes.reference("", "Google Colab", refuri="https://colab.research.google.com/"),
            nodes.Text(", together with the zip: its "), nodes.literal("", "README.txt"), nodes.Text(" says how."),
        )  # fmt: skip


def _points(points: float) -> str:
    return f"{points:g} point" if points == 1 else f"{points:g} points"


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("edition")
    app.setup_extension("try_here")
    app.add_directive("exercise-link", ExerciseLink)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
