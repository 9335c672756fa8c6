"""The built book, and the pieces that slides take from it: exactly what its pages show, without their links."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path

from bs4 import BeautifulSoup, Tag
from docutils.nodes import make_id

from grader.manifest import Manifest
from slides.panels import beside, side_by_side
from slides.source import Reference, SlidesError

_POINTS = re.compile(r"(url\(|^)#")
_VIEW = re.compile(r"[\d.eE+-]+")
_LEFT_OUT = "a.headerlink, button, details.made, script.explorable-data, .copybtn"


@dataclass(frozen=True)
class Piece:
    """HTML for a slide; the settings of the experiment behind it, for the notes; width / height if it is drawn; and
    whether it fills the place that it is given.
    """

    html: str
    made: str = ""
    ratio: float | None = None
    grows: bool = False


@dataclass(frozen=True)
class Frame:
    """An explorable, which runs in a page of its own: its name, label and HTML with data."""

    name: str
    label: str
    html: str


@dataclass
class Book:
    """The site that `make book` built, and the manifest. Pages are read when a slide first asks for them."""

    site: Path
    manifest: Manifest
    frames: dict[str, Frame] = field(default_factory=dict)
    _pages: dict[str, BeautifulSoup] = field(default_factory=dict)
    _glued: dict[str, dict[str, str]] = field(default_factory=dict)
    _pieces: int = 0

    @cached_property
    def _kinds(self) -> dict[str, Callable[[Reference], Piece]]:
        return {
            "figure": self._figure,
            "equation": self._equation,
            "explorable": self._explorable,
            "table": self._table,
            "code": self._code,
            "output": self._output,
            "written": self._written,
            "exercises": self._exercises,
        }

    def piece(self, reference: Reference) -> Piece:
        """What a reference names. Raises SlidesError, which lists what there is, if the book does not have it."""
        return self._kinds[reference.kind](reference)

    def title(self, page: str, where: str) -> str:
        """The heading of a page."""
        heading = self._page(page, where).select_one("article h1, h1")
        return re.sub(r"#$", "", heading.get_text()).strip() if heading else page

    def number(self, page: str, name: str, where: str) -> str:
        """The text that a page glues under this name."""
        if page not in self._glued:
            file = self.site.parent / "jupyter_execute" / "book" / f"{page}.glue.json"
            self._page(page, where)
            found = json.loads(file.read_text("utf-8")) if file.is_file() else {}
            texts = ((key, value["data"].get("text/plain")) for key, value in found.items())
            self._glued[page] = {key: _plain(text) for key, text in texts if text is not None}
        if name not in self._glued[page]:
            raise SlidesError(f"{where}: {page} glues no {name!r}. It glues: {_some(self._glued[page])}")
        return self._glued[page][name]

    def _page(self, page: str, where: str) -> BeautifulSoup:
        if page not in self._pages:
            file = self.site / "book" / f"{page}.html"
            if not file.is_file():
                raise SlidesError(f"{where}: the built book has no page {page}. Correct the name, or run: make book")
            self._pages[page] = BeautifulSoup(file.read_text("utf-8"), "html.parser")
        return self._pages[page]

    def _figure(self, reference: Reference) -> Piece:
        page = self._page(reference.page, reference.where)
        marked = page.find(id=make_id(f"figure-{reference.name}"))
        found = marked if marked is None or marked.name == "figure" else marked.find_parent("figure")
        if found is None:
            known = [each["id"].removeprefix("figure-") for each in page.select("[id^=figure-]")]
            raise _missing(reference, known)
        made = re.sub(r"\\[()]", "", " ".join(_words(each) for each in _made_below(found)))  # TeX, as it is written
        taken = self._taken(found, reference.where)
        picture = taken.find("svg")
        return Piece(str(taken), made, _ratio(picture) if picture else None, grows=True)

    def _equation(self, reference: Reference) -> Piece:
        page = self._page(reference.page, reference.where)
        found = page.find(id=make_id(f"equation-{reference.name}"))
        if found is None:
            raise _missing(reference, [each["id"].removeprefix("equation-") for each in page.select("[id^=equation-]")])
        return Piece(str(self._taken(found, reference.where)))

    def _explorable(self, reference: Reference) -> Piece:
        page = self._page(reference.page, reference.where)
        found = page.find(attrs={"data-explorable": reference.name})
        if found is None:
            raise _missing(reference, [str(each["data-explorable"]) for each in page.select("[data-explorable]")])
        label = str(found["aria-label"])
        self.frames[reference.name] = Frame(reference.name, label, str(found))
        address = f"explorables/{reference.name}.html"
        return Piece(f'<iframe class="explorable-frame" src="{address}" title="{escape(label)}"></iframe>', grows=True)

    def _table(self, reference: Reference) -> Piece:
        tables = self._page(reference.page, reference.where).find_all("table")
        heads = {_head(table): table for table in reversed(tables)}
        found = next((heads[head] for head in heads if head.startswith(reference.name)), None)
        if found is None:
            raise _missing(reference, [head for head in heads if head])
        return Piece(f'<div class="table-box">{self._taken(found, reference.where)}</div>')

    def _code(self, reference: Reference) -> Piece:
        block, at = self._line(reference)
        pre = block.find("pre")
        assert isinstance(pre, Tag)
        shown = pre.decode_contents().removeprefix("<span></span>").rstrip("\n").split("\n")
        last = _end_of_block(pre.get_text().rstrip("\n").split("\n"), at)
        code = "\n".join(shown[at:last])
        html = f'<div class="highlight" style="--lines: {last - at}"><pre>{code}\n</pre></div>'
        return Piece(html)

    def _output(self, reference: Reference) -> Piece:
        block, _ = self._line(reference)
        cell = block.find_parent(class_="cell")
        found = cell.find(class_="cell_output") if cell else None
        if found is None:
            raise SlidesError(f"{reference.where}: the cell on {reference.page} with {reference.name!r} shows nothing")
        taken = self._taken(found, reference.where)
        picture = taken.select_one("svg.plot")
        ratio = _ratio(picture) if picture else None
        lines = len(found.get_text().strip().split("\n"))
        style = "" if ratio else f' style="--lines: {lines}"'
        return Piece(f'<div class="output"{style}>{taken}</div>', ratio=ratio, grows=ratio is not None)

    def _written(self, reference: Reference) -> Piece:
        texts = self._page(reference.page, reference.where).select(".written figure:has(figcaption)")
        captions = {_words(text.figcaption): text for text in reversed(texts) if text.figcaption}
        found = next((captions[each] for each in captions if each.startswith(reference.name)), None)
        if found is None:
            raise _missing(reference, list(captions))
        lines = len(found.get_text().strip().split("\n"))
        html = self._taken(found, reference.where)
        return Piece(f'<div class="written" style="--lines: {lines}">{html}</div>')

    def _line(self, reference: Reference) -> tuple[Tag, int]:
        """The listing with a line that begins with the name, and the number of this line, from 0."""
        first_lines = []
        for block in self._page(reference.page, reference.where).select("div.highlight"):
            lines = block.get_text().split("\n")
            first_lines.append(next((line for line in lines if line.strip()), ""))
            for at, line in enumerate(lines):
                if line.startswith(reference.name):
                    return block, at
        raise _missing(reference, first_lines)

    def _exercises(self, reference: Reference) -> Piece:
        chapter_id, _, name = reference.page.partition("/")
        chapter = self.manifest.chapter(chapter_id)
        notebook = next((each for each in chapter.notebooks if each.name == name), None)
        if notebook is None:
            raise _missing(reference, [each.name for each in chapter.notebooks])
        items = "".join(f"<li>{escape(each.title)} <code>{each.id}</code></li>" for each in notebook.items)
        file = f"exercises/{chapter_id}/{name}.ipynb"
        head = f"<p><strong>{escape(notebook.title)}</strong>, <code>{file}</code></p>"
        return Piece(f'<div class="exercises">{head}<ul>{items}</ul></div>')

    def _taken(self, found: Tag, where: str) -> Tag:
        """A copy for a slide: no links, no buttons, stacked panels side by side, and ids that no other piece has."""
        taken = copy(found)
        for each in taken.select(_LEFT_OUT):
            each.decompose()
        for link in taken.find_all("a"):
            link.unwrap()
        for picture in taken.find_all("svg", role="group"):
            picture["role"] = "img"
        if taken.find("img"):
            raise SlidesError(f"{where}: shows a picture file, which no deck can take: {taken.find('img')}")
        if [plot for plot in taken.select("svg.plot") if side_by_side(plot)]:
            for text in taken.select("figcaption"):
                for words in list(text.find_all(string=True)):
                    words.replace_with(beside(words))
        self._pieces += 1
        prefix = f"p{self._pieces}-"
        for each in [taken, *taken.find_all(True)]:
            for name, value in list(each.attrs.items()):
                if name == "id":
                    each[name] = prefix + str(value)
                elif name == "href" or "url(#" in value:
                    each[name] = _POINTS.sub(rf"\1#{prefix}", value)
            if each.has_attr("tabindex"):
                del each["tabindex"]
        return taken


def _plain(text: str) -> str:
    """A glued value as a page shows it: a text without its quotes."""
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
    return value if isinstance(value, str) else text


def _made_below(figure: Tag) -> Iterator[Tag]:
    """The folded notes that follow a figure: how it was made."""
    for each in figure.find_next_siblings():
        if "made" not in (each.get("class") or []):
            return
        inside = each.find("div")
        if isinstance(inside, Tag):
            yield inside


def _head(table: Tag) -> str:
    """The words of a table's first row, with a bar between cells."""
    row = table.find("tr")
    return " | ".join(_words(cell) for cell in row.find_all(["th", "td"])) if row else ""


def _words(element: Tag) -> str:
    return " ".join(element.get_text().split())


def _end_of_block(lines: list[str], at: int) -> int:
    """One past the last line of the block that a line begins, or of the listing if it begins none."""
    if not lines[at].rstrip().endswith((":", "(", "[", "{")) or lines[at].startswith(" "):
        return len(lines)
    end = at + 1
    while end < len(lines) and (not lines[end].strip() or lines[end][0] in " )]}"):
        end += 1
    while not lines[end - 1].strip():
        end -= 1
    return end


def _ratio(picture: Tag) -> float:
    view = picture.get("viewbox") or picture.get("viewBox") or "0 0 1 1"
    _, _, width, height = (float(number) for number in _VIEW.findall(str(view)))
    return width / height


def _missing(reference: Reference, known: list[str]) -> SlidesError:
    kind, page, name = reference.kind, reference.page, reference.name
    return SlidesError(f"{reference.where}: {page} has no {kind} {name!r}. It has: {_some(known)}")


def _some(known: object) -> str:
    names = [repr(each) for each in known]  # type: ignore[attr-defined]
    return ", ".join(names[:40]) + (", …" if len(names) > 40 else "") if names else "none"
