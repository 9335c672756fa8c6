"""The zip of `grader submit`, as whoever collects it may get it: nothing in it is trusted."""

import io
import stat
import zipfile

import pytest

from grader.submission import archive as module
from grader.submission.archive import (
    ArchiveError,
    Course,
    SubmissionManifest,
    archive_bytes,
    described,
    is_submission,
    name_problem,
    read_archive,
)

CHANGED = "'data.csv' was changed: its size or checksum differs from manifest.json"
FILES = {"recurrence.ipynb": b"{}", "data.csv": b"1,2\n" * 1000}


def manifest_of(files, **changes):
    given = {"chapter": "ch01", "course": Course("0.1.0", "0" * 64), "created": "2026-03-01T12:00:00+00:00"}
    return SubmissionManifest(**{**given, "files": described(files), "notebooks": (), **changes})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "work.zip"


def problems(path):
    with pytest.raises(ArchiveError) as caught:
        read_archive(path)
    return list(caught.value.problems)


def test_there_and_back(path):
    path.write_bytes(archive_bytes(manifest_of(FILES), FILES))
    assert is_submission(path)
    manifest, files = read_archive(path)
    assert files == FILES
    assert manifest == manifest_of(FILES)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            FILES | {"data.csv": b"1,2\n" * 999},
            ["'data.csv' was changed: its size or checksum differs from manifest.json"],
        ),
        (
            FILES | {"data.csv": b"1,3\n" * 1000},
            ["'data.csv' was changed: its size or checksum differs from manifest.json"],
        ),
        (FILES | {"more.py": b""}, ["'more.py' was added: manifest.json does not list it"]),
        ({"data.csv": FILES["data.csv"]}, ["'recurrence.ipynb' is missing, but manifest.json lists it"]),
        (
            {"data.csv": b"", "more.py": b""},
            [
                CHANGED,
                "'more.py' was added: manifest.json does not list it",
                "'recurrence.ipynb' is missing, but manifest.json lists it",
            ],
        ),
    ],
)
def test_a_difference_from_the_manifest(path, files, expected):
    path.write_bytes(archive_bytes(manifest_of(FILES), files))
    assert problems(path) == expected


def test_a_zip_that_was_cut_off_or_damaged(path):
    whole = archive_bytes(manifest_of(FILES), FILES)
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        assert not is_submission(path)
        assert problems(path)[0].startswith("the zip is damaged or cut off")
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        try:
            _, files = read_archive(path)
        except ArchiveError:
            continue
        assert files == FILES  # the byte did not matter, such as one of a date


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("../evil.py", "its name contains /"),
        ("/etc/passwd", "its name contains /"),
        ("a/b.py", "its name contains /"),
        ("..\\evil.py", "its name contains \\"),
        ("C:evil.py", "its name contains :"),
        ("..", "its name begins or ends with a dot or a space"),
        (".bashrc", "its name begins or ends with a dot or a space"),
        ("a ", "its name begins or ends with a dot or a space"),
        ("", "its name begins or ends with a dot or a space"),
        ("a\nb", "its name contains characters that cannot be printed"),
        ("a\x1b[2J", "its name contains characters that cannot be printed"),
        ("\u202etxt.py", "its name contains characters that cannot be printed"),
        ("a\udce4", "its name contains characters that cannot be printed"),
        ("é" * 101, "its name is longer than 200 bytes"),
        ("timestamp.txt", "a submission has its own file of this name"),
        ("Manifest.JSON", "a submission has its own file of this name"),
        ("a.py", ""),
        ("Übung 1 (2).ipynb", ""),
    ],
)
def test_names(name, expected):
    assert name_problem(name) == expected


def written(path, entries, manifest=None, **how):
    """A zip with entries (name or ZipInfo, content) after the manifest of these files."""
    files = {getattr(name, "filename", name): content for name, content in entries}
    with zipfile.ZipFile(path, "w", **how) as archive:
        text = archive_bytes(manifest or manifest_of(files), {})
        archive.writestr("manifest.json", zipfile.ZipFile(io.BytesIO(text)).read("manifest.json"))
        for name, content in entries:
            archive.writestr(name, content)


def special(name, mode):
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = mode << 16
    return entry


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ([("../../evil.py", b"")], "'../../evil.py': its name contains /"),
        ([("/tmp/evil.py", b"")], "'/tmp/evil.py': its name contains /"),
        ([("below/", b"")], "'below/' is a folder"),
        ([("timestamp.txt", b"2020-01-01")], "'timestamp.txt': a submission has its own file of this name"),
        ([(special("link.py", stat.S_IFLNK | 0o777), b"/etc/passwd")], "'link.py' is a link or a special file"),
        ([(special("pipe", stat.S_IFIFO | 0o644), b"")], "'pipe' is a link or a special file"),
        ([("a.py", b"1"), ("A.py", b"2")], "'A.py' is there twice"),
        ([(f"{n}.txt", b"") for n in range(81)], "the zip contains 81 files; the limit is 80"),
    ],
)
def test_hostile_entries(path, entries, expected):
    written(path, entries)
    assert problems(path) == [expected]


def test_a_zip_bomb_is_not_unpacked(path, monkeypatch):
    written(path, [("a.txt", bytes(3_000_000))], compression=zipfile.ZIP_DEFLATED)
    monkeypatch.setattr(module, "MAX_TOTAL", 2_000_000)
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(zipfile.ZipFile, "read", only_the_manifest(zipfile.ZipFile.read))
    assert problems(path) == ["the files have 3,000,000 bytes; the limit is 2,000,000"]


def only_the_manifest(read):
    def called(archive, entry):
        assert entry.filename == "manifest.json"
        return read(archive, entry)

    return called


def test_an_entry_that_understates_its_size(path):
    """Where the size that the zip claims for an entry is too small, no more than that is read, and its CRC is wrong."""
    written(path, [("a.txt", bytes(3_000_000))], compression=zipfile.ZIP_DEFLATED)
    data = path.read_bytes()
    claimed = (3_000_000).to_bytes(4, "little")
    assert data.count(claimed) == 2
    path.write_bytes(data.replace(claimed, (1000).to_bytes(4, "little")))
    assert "CRC" in problems(path)[0]


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"format": "other"}', b"\xff", b"[" * 100_000])
def test_other_manifests(path, text):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", text)
    assert not is_submission(path)
    assert problems(path)[0].startswith("manifest.json is not that of a submission")


def test_no_manifest_two_of_them_a_huge_one_and_one_of_the_future(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.py", "")
    assert problems(path) == ["the zip contains no manifest.json; grader submit did not make it"]
    with pytest.warns(UserWarning, match="Duplicate name"):
        written(path, [("manifest.json", b"{}")])
    assert problems(path) == ["the zip contains 2 files manifest.json, not one; grader submit did not make it"]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", " " * 1_000_001)
    assert problems(path) == ["manifest.json has 1,000,001 bytes; the limit is 1,000,000"]
    path.write_bytes(archive_bytes(manifest_of({}, version=2), {}))
    assert problems(path) == ["manifest.json has version 2; this grader reads version 1. Update the grader"]


def test_what_is_no_zip(path, tmp_path):
    path.write_text("my work")
    assert not is_submission(path)
    assert not is_submission(tmp_path / "none.zip")
    assert not is_submission(tmp_path)


def test_a_zip_that_is_too_large_is_not_opened(path, monkeypatch):
    path.write_bytes(archive_bytes(manifest_of(FILES), FILES))
    monkeypatch.setattr(module, "MAX_TOTAL", 100)
    monkeypatch.setattr(module, "MAX_MANIFEST", 100)
    assert problems(path)[0].endswith("the limit is 200")


def test_an_encrypted_entry(path):
    written(path, [("a.py", b"1")])
    data = bytearray(path.read_bytes())
    central = data.rindex(b"PK\x01\x02")
    data[central + 8] |= 1
    path.write_bytes(bytes(data))
    assert problems(path) == ["'a.py' is encrypted"]
