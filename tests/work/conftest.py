"""The commands, called as from the shell, with a diary of their own."""

import pytest
from typer.testing import CliRunner

from grader.cli import commands as cli


@pytest.fixture
def diary(tmp_path, monkeypatch):
    path = tmp_path / "diary.jsonl"
    monkeypatch.setenv("UNROLLED_DIARY", str(path))
    return path


@pytest.fixture
def grader(monkeypatch, tmp_path, diary):
    """Call a command in a folder; return exit status, stdout and stderr."""

    def call(*arguments, at=tmp_path):
        monkeypatch.chdir(at)
        result = CliRunner().invoke(cli.app, [str(a) for a in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert "Traceback" not in result.output
        return result.exit_code, result.stdout, result.stderr

    return call
