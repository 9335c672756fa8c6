"""A page as a reader meets it, what it must not do while it loads, and what is found wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, Response, Route

WIDE, PHONE = (1280, 900), (390, 844)


# All that is folded is unfolded first: what has no size cannot be too wide.
_UNFOLDED = "for (const each of document.querySelectorAll('main details')) each.open = true;"


@dataclass(frozen=True)
class Address:
    """Where a page of the course or of the specimen is: over http, and as a file."""

    path: str
    http: str
    folder: Path


@dataclass
class Troubles:
    """What a page must not do while it loads."""

    requests_that_leave: list[str] = field(default_factory=list)
    failed_requests: list[str] = field(default_factory=list)
    console_errors: list[str] = field(default_factory=list)


@contextmanager
def opened(
    browser: Browser, base: str, path: str, size: tuple[int, int] = WIDE, scheme: str = "light", script: bool = True
) -> Iterator[tuple[Page, Troubles]]:
    """The page, loaded and typeset; any request beyond `base` is noted and refused."""
    troubles = Troubles()

    def gate(route: Route) -> None:
        if route.request.url.startswith((base, "data:", "blob:")):
            route.continue_()
        else:
            troubles.requests_that_leave.append(route.request.url)
            route.abort()

    def note_failure(request: Request) -> None:
        if request.failure == "net::ERR_ABORTED" and request.url.endswith("/_static/favicon.svg"):
            return  # the browser drops what it asked for its tab when the address changes, and asks again
        troubles.failed_requests.append(f"{request.url}: {request.failure}")

    def note_response(response: Response) -> None:
        if response.status >= 400:
            troubles.failed_requests.append(f"{response.url}: {response.status}")

    def note_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            troubles.console_errors.append(message.text)

    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if scheme == "dark" else "light",
        java_script_enabled=script,
    )
    try:
        page = context.new_page()
        page.route("**/*", gate)
        page.on("requestfailed", note_failure)
        page.on("response", note_response)
        page.on("console", note_console)
        page.on("pageerror", lambda error: troubles.console_errors.append(str(error)))
        page.goto(base + path, wait_until="load")
        if script:
            page.evaluate("() => window.MathJax?.startup?.promise.then(() => true)")
            page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
            page.wait_for_function("document.fonts.status === 'loaded'")  # asked for when something is drawn in them
        yield page, troubles
    finally:
        context.close()


def overflow(page: Page) -> list[str]:
    """What sticks out sideways, be it cut off, other than what scrolls in a box of its own."""
    found: list[str] = page.evaluate(
        """() => {
        const box = e => ["auto", "scroll"].includes(getComputedStyle(e).overflowX);
        const scrolls = e => e !== null && (box(e) || scrolls(e.parentElement));
        const cut = e => e.getBoundingClientRect().right > innerWidth + 1 && e.checkVisibility();
        const wide = document.documentElement.scrollWidth;
        return [
          ...(wide <= innerWidth ? [] : [`document is ${wide} px wide`]),
          ...[...document.querySelectorAll("main :is(h1, h2, h3, p, li, a, table, figure, svg, button, input, pre)")]
          .filter(e => cut(e) && !scrolls(e.parentElement)).slice(0, 5).map(e => e.outerHTML.slice(0, 120))];
        }"""
    )
    return found


def maths_faults(page: Page) -> list[str]:
    """Formulas that are not typeset, are typeset as an error, or have no MathML for a screen reader."""
    found: list[str] = page.evaluate(
        """() => {
        const faults = [];
        for (const formula of document.querySelectorAll(".math")) {
          const container = formula.querySelector("mjx-container");
          const source = formula.textContent.slice(0, 80);
          if (!container) faults.push(`not typeset: ${source}`);
          else if (!container.querySelector("mjx-assistive-mml > math")) faults.push(`no MathML: ${source}`);
        }
        for (const error of document.querySelectorAll("mjx-merror, [data-mjx-error]"))
          faults.push(`TeX error: ${error.dataset.mjxError || error.textContent}`);
        return faults;
        }"""
    )
    return found


def images_without_words(page: Page) -> list[str]:
    """Pictures in the text whose alternative is missing, too short to say anything, or a file name."""
    found: list[str] = page.evaluate(
        r"""() => [...document.querySelectorAll("main article img, main article svg[role=img]")]
        .filter(e => {
          const words = (e.getAttribute("alt") ?? e.getAttribute("aria-label") ?? "").trim();
          return words.split(/\s+/).length < 5 || /\.(png|svg|jpe?g|webp)$/i.test(words);
        })
        .map(e => e.outerHTML.slice(0, 160))"""
    )
    return found


def boxes_without_keyboard(page: Page) -> list[str]:
    """Boxes of the text that scroll sideways and that the tab key does not reach."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll("main article *")]
        .filter(e => e.scrollWidth > e.clientWidth && e.tabIndex < 0)
        .filter(e => ["auto", "scroll"].includes(getComputedStyle(e).overflowX))
        .map(e => e.outerHTML.slice(0, 120))"""
    )
    return found


def axe_violations(page: Page, only: Sequence[str] = (), without: Sequence[str] = ()) -> list[str]:
    """What the accessibility checker finds, by all its rules, only by these or without these."""
    page.wait_for_function("document.getAnimations().every(one => one.playState !== 'running')")  # colours stand still
    # It would list all that is right, which takes as long, and fetch all style sheets once more.
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    options |= {"runOnly": list(only)} if only else {"rules": {rule: {"enabled": False} for rule in without}}
    response = Axe().run(page, options=options).response
    return [
        f"{violation['id']} ({violation['impact']}): {node['html'][:160]} {node.get('failureSummary', '')[:300]}"
        for violation in response["violations"]
        for node in violation["nodes"]
    ]


def weight(page: Page) -> int:
    """Bytes of the page and of all that it loaded over http, uncompressed."""
    total: int = page.evaluate(
        """() => performance.getEntries().reduce((sum, entry) => sum + (entry.decodedBodySize || 0), 0)"""
    )
    return total


def equations_under_numbers(page: Page) -> list[str]:
    """The equations that their own number covers, at the present width."""
    found: list[str] = page.evaluate(
        """() => { UNFOLDED
        return [...document.querySelectorAll("main div.math > .eqno")].filter(number => {
            const equation = number.parentElement.querySelector("mjx-container");
            if (!equation) return false;
            const [a, b] = [number, equation].map(each => each.getBoundingClientRect());
            return a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
        }).map(number => number.textContent.trim()); }""".replace("UNFOLDED", _UNFOLDED)
    )
    return found


def code_wider_than_its_box(page: Page) -> list[str]:
    """The longest line of each block of Python that has to be scrolled at the present width."""
    found: list[str] = page.evaluate(
        """() => { UNFOLDED
        return [...document.querySelectorAll("main :is(.cell_input, .highlight-python, .highlight-ipython3) pre")]
            .filter(box => box.scrollWidth > box.clientWidth + 1)
            .map(box => box.innerText.split("\\n").reduce((a, b) => (b.length > a.length ? b : a), "")); }""".replace(
            "UNFOLDED", _UNFOLDED
        )
    )
    return found
