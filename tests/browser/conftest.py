"""The built book, a server for it on this machine, and Chromium with the network blocked."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "book" / "_build" / "html"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pages() -> list[str]:
    """Every page of the built book and its search; one stand-in where nothing is built."""
    found = sorted(path.relative_to(SITE).as_posix() for path in SITE.glob("book/**/*.html"))
    return [*found, "search.html"] if found else ["(no page)"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "page_path" in metafunc.fixturenames:
        metafunc.parametrize("page_path", pages())


@pytest.fixture(scope="session")
def site() -> Path:
    if not (SITE / "index.html").is_file():
        pytest.fail(f"the book is not built: {SITE} has no index.html. Run `make book` first.", pytrace=False)
    return SITE


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_request(self, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def base_url(site: Path) -> Iterator[str]:
    """The book over http, on a free port of the loopback address."""
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail("Chromium is missing: install Debian's package `chromium`.", pytrace=False)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        running.close()
