"""The directive `made`: how the figure, table or numbers above it were made, folded, with the command that repeats it.

    :::{made} experiments.ch03.adding
    Adam, 32 sequences per update. Mean ± standard deviation of five seeds.
    :::

The argument is the module of an experiment that keeps a record. The last sentence, which names its command, is always
there, so the content may be empty.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from page_element import PageElement, folded, make
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

ROOT = Path(__file__).parents[2]
_MODULE = re.compile(r"experiments(\.\w+)+\Z")


class Made(PageElement):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        module = self.arguments[0]
        if not _MODULE.match(module):
            return [self.refuse(f"{module!r} is not the module of an experiment, such as experiments.ch03.adding")]
        program = ROOT / (module.replace(".", "/") + ".py")
        if not program.exists():
            return [self.refuse(f"there is no {program.relative_to(ROOT)}")]
        if '"--record"' not in program.read_text("utf-8"):
            return [self.refuse(f"{program.relative_to(ROOT)} has no --record, so it made no record")]
        told = make("div")
        if any(line.strip() for line in self.content):
            self.parse(told)
        command = nodes.literal("", f"python -m {module} --record")
        told += make("p", nodes.Text("Recorded with "), command, nodes.Text("."))
        note = folded("How this was made", told, classes=["made"])
        self.set_source_info(note)
        return [note]


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_element")
    app.add_directive("made", Made)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
