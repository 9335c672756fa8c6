"""The diary of a student's checks."""

from __future__ import annotations

import json

import pytest

from grader import check, journal


def wrong(x_t, h_prev, W_xh, W_hh, b_h):
    return x_t


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("UNROLLED_DIARY", str(tmp_path / "new" / "diary.jsonl"))
    return tmp_path / "new" / "diary.jsonl"


@pytest.mark.usefixtures("session")
def test_each_check_is_noted(file):
    check("rnn_step", wrong)
    check("rnn_step", wrong)
    found = journal.read()
    assert [(entry.exercise, entry.status, entry.earned, entry.points) for entry in found] == [
        ("rnn_step", "failed", 0.0, 2.0)
    ] * 2
    assert found[0].at.endswith("+00:00")
    assert set(json.loads(file.read_text().splitlines()[0])) == {
        "at", "exercise", "status", "earned", "points", "cause",
    }  # fmt: skip


@pytest.mark.usefixtures("session")
def test_damaged_lines_are_left_out(file):
    check("rnn_step", wrong)
    file.write_bytes(b"\xff\n{}\n" + file.read_bytes() + file.read_bytes()[:20])
    assert len(journal.read()) == 1


@pytest.mark.usefixtures("session")
def test_a_diary_that_cannot_be_written_is_no_trouble(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("UNROLLED_DIARY", str(tmp_path / "file" / "diary.jsonl"))
    assert not check("rnn_step", wrong)
    assert journal.read() == []


@pytest.mark.usefixtures("session")
def test_turned_off(monkeypatch, tmp_path):
    monkeypatch.setenv("UNROLLED_DIARY", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert journal.path() is None
    check("rnn_step", wrong)
    assert journal.read() == []
    assert list(tmp_path.iterdir()) == []
    monkeypatch.delenv("UNROLLED_DIARY")
    assert journal.path() == tmp_path / ".unrolled" / "diary.jsonl"
