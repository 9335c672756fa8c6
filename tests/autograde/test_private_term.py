"""A term folder holds personal data, so whatever creates it keeps other users of the machine out."""

import os
import stat
from contextlib import suppress
from pathlib import Path

import pytest
from gradebook_course import register_first, write_course
from test_exports_of_chapters import table

from grader.author import demo_class
from grader.gradebook import gradebook_url, open_gradebook
from grader.grading import hidden
from grader.lms.options import Format
from grader.lms.table import Policy
from grader.lms.write import write_export
from grader.running.sandbox import SandboxError
from grader.running.selftest import prove

pytestmark = pytest.mark.usefixtures("own_hidden")
ROOT = Path(__file__).parents[2]


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def open_to_all():
    """The umask of most machines, with which a new folder is readable by everyone."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def by_release(term, tmp_path):
    register_first(gradebook_url(term), write_course(tmp_path / "course"))


def by_roster(term, _):
    with open_gradebook(gradebook_url(term)):
        pass


def by_hidden_cases(term, _):
    hidden.hidden_seed(term)


def by_sandbox_test(term, _):
    with suppress(SandboxError):  # where there is no sandbox, the folder is there all the same
        prove(ROOT, term, "ch01_vanilla_rnn")


def by_export(term, _):
    write_export(Format.csv, term, table(), Policy(), None, None, None)


def by_demo_class(term, _):
    demo_class.demo_class(ROOT, term, "ch01_vanilla_rnn", 1, 1)


def by_nbgrader(term, tmp_path):
    """As nbgrader reads its configuration."""

    class Section:
        def __getattr__(self, name):
            self.__dict__[name] = found = Section()
            return found

    source = (ROOT / "nbgrader_config.py").read_text("utf-8")
    exec(
        compile(source, "nbgrader_config.py", "exec"),
        {"__file__": str(tmp_path / "nbgrader_config.py"), "get_config": Section},
    )
    assert not (tmp_path / "term").exists()


WAYS = [by_release, by_roster, by_hidden_cases, by_sandbox_test, by_export, by_demo_class, by_nbgrader]


@pytest.mark.parametrize("create", WAYS)
@pytest.mark.parametrize("is_new", [True, False], ids=["new", "existing"])
def test_a_new_term_folder_is_its_owners_alone_and_an_existing_one_stays_as_it_is(
    tmp_path, monkeypatch, create, is_new
):
    term = tmp_path / "terms" / "autumn"
    monkeypatch.setenv("UNROLLED_TERM", str(term))
    if not is_new:
        term.mkdir(parents=True)
        term.chmod(0o750)
    create(term, tmp_path)
    assert mode(term) == (0o700 if is_new else 0o750)
    assert mode(tmp_path / "terms") == 0o755
