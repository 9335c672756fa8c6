"""The built book and a specimen of the page elements, a server for each on this machine, and Chromium."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import specimen_book
from opened import Address
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


def pages() -> list[Any]:
    """Every page of the built book and its search, then the specimen's; one stand-in where nothing is built.

    Tests of a group run in one worker, so that what they share is made once: here the specimen.
    """
    found = sorted(path.relative_to(SITE).as_posix() for path in SITE.glob("book/**/*.html"))
    course = [*found, "search.html"] if found else ["(no page)"]
    return [
        *(pytest.param(f"course:{page}") for page in course),
        *(
            pytest.param(f"specimen:{page}", marks=pytest.mark.xdist_group("specimen"))
            for page in specimen_book.pages()
        ),
    ]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "page_path" in metafunc.fixturenames:
        metafunc.parametrize("page_path", pages())


@pytest.fixture(scope="session")
def site() -> Path:
    if not (SITE / "index.html").is_file():
        pytest.fail(f"the book is not built: {SITE} has no index.html. Run `make book` first.", pytrace=False)
    return SITE


@pytest.fixture(scope="session")
def specimen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a small book in which every page element stands, built once."""
    return specimen_book.build(tmp_path_factory.mktemp("specimen"))


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A folder over http, on a free port of the loopback address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def base_url(site: Path) -> Iterator[str]:
    with served(site) as url:
        yield url


@pytest.fixture(scope="session")
def specimen_url(specimen: Path) -> Iterator[str]:
    with served(specimen) as url:
        yield url


@pytest.fixture
def address(page_path: str, request: pytest.FixtureRequest) -> Address:
    book, _, path = page_path.partition(":")
    names = ("base_url", "site") if book == "course" else ("specimen_url", "specimen")
    return Address(path, *(request.getfixturevalue(name) for name in names))


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.fail("Chromium is missing: install Debian's package `chromium`.", pytrace=False)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        running.close()
