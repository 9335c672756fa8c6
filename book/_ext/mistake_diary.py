"""The directive `mistake-diary`: a box that says how to see the mistakes that one met and overcame in a chapter.

    ```{mistake-diary} ch01_vanilla_rnn
    ```

It belongs on the chapter's last page. With script (mistake_diary.js), the reader can also choose the diary's file; the
page lists its mistakes by itself and sends nothing. The titles of all mistakes of the chapter are in the page, because
a page that is opened as a file may not fetch them.
"""

from __future__ import annotations

import json
import posixpath
from typing import Any

from docutils import nodes
from page_element import PageElement, attach, has_class, make, script_data
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

from grader.manifest import Chapter, UnknownIdError
from grader.mistakes import GENERAL, GENERAL_KINDS, NO_MISTAKE, short_title
from grader.released import COURSE, MESSAGES

_WHAT = (
    " notes its result and the likely cause of a failure in the file ",
    ", on the computer that runs your notebooks. Nothing sends it anywhere. To see which mistakes of this chapter you "
    "have met and overcome, run this in a notebook:",
    "Or use a terminal: ",
)


class MistakeDiary(PageElement):
    required_arguments = 1
    has_content = False

    def run(self) -> list[nodes.Node]:
        try:
            chapter = COURSE.manifest.chapter(self.arguments[0])
        except UnknownIdError as error:
            return [self.refuse(str(error))]
        if any(self.state.document.findall(has_class("mistake-diary"))):
            return [self.refuse("stands on this page twice. Keep one.")]
        for name in ("course.toml", *(MESSAGES.format(exercise.id) for exercise in chapter.exercises)):
            self.env.note_dependency(str(COURSE.folder / name))
        code = f'from grader import diary\n\ndiary("{chapter.id}")'
        data = diary_data(chapter, self.env.docname)
        box = make(
            "div",
            make("p", nodes.Text("Your mistake diary"), classes=["mistake-diary-title"]),
            make(
                "p", nodes.Text("Each "), nodes.literal("", "check"), nodes.Text(_WHAT[0]),
                nodes.literal("", "~/.unrolled/diary.jsonl"), nodes.Text(_WHAT[1]),
            ),
            nodes.literal_block(code, code, language="python"),
            make("p", nodes.Text(_WHAT[2]), nodes.literal("", f"grader diary {chapter.id}"), nodes.Text(".")),
            script_data(json.dumps(data, ensure_ascii=False, separators=(",", ":")), "mistake-diary-data"),
            classes=["mistake-diary"],
        )  # fmt: skip
        self.set_source_info(box)
        return [box]


def diary_data(chapter: Chapter, page: str) -> dict[str, Any]:
    """What the script needs: the titles of the chapter's mistakes, and the address of each exercise seen from a page.

    `exercises` maps an id to its title, its address, and the titles of its mistakes by their ids.
    """
    exercises = {}
    for exercise in chapter.exercises:
        address = COURSE.manifest.place(exercise.id).page_address
        mistakes = COURSE.messages(exercise.id).mistakes
        titles = {cause: short_title(message) for cause, message in mistakes.items()}
        exercises[exercise.id] = [exercise.title, posixpath.relpath(address, posixpath.dirname(page) or "."), titles]
    return {"exercises": exercises, "general": GENERAL, "kinds": GENERAL_KINDS, "none": NO_MISTAKE}


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_element")
    app.add_directive("mistake-diary", MistakeDiary)
    attach(app, has_class("mistake-diary"), "mistake_diary.js")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
