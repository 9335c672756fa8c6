"""The directive `explorable`: a small machine to play with, and what stands there without script.

    ```{explorable} hello
    :label: The network that spells hello, step by step
    What the reader sees without script: MyST, such as a glued table of one step.
    ```

Each explorable is one script and one style sheet in `_static/explorables/`, loaded only where it is used, after
`parts.js` and `parts.css`, which all share; and one file of data, set into the page because a page opened as a file
may not fetch it. Scripts and data weigh 25 kB at most (tested).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from page_element import PageElement, attach, box, make, script_data
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

# Name → its data, and the parts of them that the script reads.
_DATA = {
    "hello": ("experiments/ch01/hello_weights.json", ("vocabulary", "text", "weights")),
    "tape": ("experiments/ch02/tape.json", ("x", "y", "h_0", "w_xh", "w_hh", "b_h")),
    "lag": ("experiments/ch03/lag.json", ("matrices", "w_xh", "dh", "x")),
    "gates": ("experiments/ch04/gates.json", ("w", "u", "pulse", "x")),
    "beam": ("experiments/ch05/tree.json", ("source", "max_length", "next")),
    "attention": ("experiments/ch06/attention.json", ("source", "target", "alignment", "pads", "networks")),
    "bpe": ("experiments/ch00/bpe.json", ("text", "merges", "longest", "most")),
}
_SHARED = ("explorables/parts.js", "explorables/parts.css")


class Explorable(PageElement):
    required_arguments = 1
    option_spec = {"label": directives.unchanged_required, "name": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in _DATA:
            return [self.refuse(f"there is no {name!r}. There is: {', '.join(_DATA)}.")]
        if not self.content:
            return [self.refuse(f"{name} shows nothing without script. Write what stands there instead, as its body.")]
        if any(self.state.document.findall(_named(name))):
            return [self.refuse(f"{name} stands on this page twice; its address can hold one state. Keep one.")]
        label = self.options.get("label", f"Explorable: {name}")
        instead = make("div", classes=["explorable-instead"])
        self.parse(instead)
        whole = make(
            "div", script_data(self._data(name), "explorable-data"), instead,
            classes=["explorable"], data_explorable=name, role="group", aria_label=label,
        )  # fmt: skip
        self.set_source_info(whole)
        self.add_name(whole)
        return [whole]

    def _data(self, name: str) -> str:
        path, parts = _DATA[name]
        self.env.note_dependency(path)
        record: dict[str, Any] = json.loads(Path(self.env.srcdir, path).read_text("utf-8"))
        return json.dumps({part: record[part] for part in parts}, separators=(",", ":"))


def setup(app: Sphinx) -> ExtensionMetadata:
    app.setup_extension("page_element")
    app.add_directive("explorable", Explorable)
    for name in _DATA:
        attach(app, _named(name), *_SHARED, f"explorables/{name}.js", f"explorables/{name}.css")
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _named(name: str) -> Callable[[nodes.Node], bool]:
    return lambda node: isinstance(node, box) and node["attributes"].get("data-explorable") == name
