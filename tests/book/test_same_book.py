"""Two built books are compared byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.same_book import main

PAGE = b"<p>one</p>\n<p>two</p>\n"


def site(folder: Path, **files: bytes) -> str:
    for name, content in {".built_from.json": b"{}", "page.html": PAGE, **files}.items():
        (folder / "_static").mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return str(folder)


def test_equal_sites_are_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([site(tmp_path / "a"), site(tmp_path / "b")]) == 0
    assert capsys.readouterr().out == "The two are the same.\n"


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (
            {"page.html": PAGE.replace(b"two", b"too")},
            "page.html: line 2\n    b'<p>two</p>\\n'\n    b'<p>too</p>\\n'\n",
        ),
        ({"page.html": PAGE + b"\n"}, "page.html: line 3\n    b''\n    b'\\n'\n"),
        ({"page.html": PAGE.rstrip()}, "page.html: line 2\n"),
        ({".built_from.json": b"{ }"}, ".built_from.json: line 1\n"),
        ({"_static/more.css": b""}, "more.css: is not in "),
    ],
)
def test_what_differs_is_named(
    other: dict[str, bytes], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [site(tmp_path / "a"), site(tmp_path / "b", **other)]
    for words in (folders, folders[::-1]):
        assert main(words) == 1
        assert "1 differ." in capsys.readouterr().out
    main(folders)
    assert told in capsys.readouterr().out


def test_a_folder_that_is_missing_is_no_equal_one(tmp_path: Path) -> None:
    assert "two folders" in str(main([site(tmp_path / "a"), str(tmp_path / "b")]))
    (tmp_path / "empty").mkdir()
    assert "two folders" in str(main([str(tmp_path / "empty")] * 2))
    assert "two folders" in str(main([str(tmp_path / "a")]))
