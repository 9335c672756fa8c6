"""The built book and a specimen of the page elements, a server for each on this machine, and Chromium."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import specimen_book
from opened import Address
from playwright.sync_api import Browser, sync_playwright
from xdist.scheduler import LoadScopeScheduling

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


class _Dealt(LoadScopeScheduling):
    """What workers are handed: the files of tests, as what a file's tests share is made once, all that looks at the
    specimen, and the pages of the course one by one.

    pytest-xdist's own way, `--dist loadgroup`, does nothing with pytest 9.2 (pytest-xdist#1386).
    """

    def _split_scope(self, nodeid: str) -> str:
        if "[course:" in nodeid:
            return nodeid
        if "[specimen:" in nodeid or "test_elements_opened" in nodeid or "test_mistake_diary" in nodeid:
            return "specimen"
        return nodeid.partition("::")[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling:
    return _Dealt(config, log)


def pages() -> list[str]:
    """Every page of the built book and its search, then the specimen's; one stand-in where nothing is built."""
    found = sorted(path.relative_to(SITE).as_posix() for path in SITE.glob("book/**/*.html"))
    course = [*found, "search.html"] if found else ["(no page)"]
    return [*(f"course:{page}" for page in course), *(f"specimen:{page}" for page in specimen_book.pages())]


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
