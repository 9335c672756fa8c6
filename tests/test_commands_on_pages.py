"""Every command that a page, the README or CONTRIBUTING shows exists, with its options and chapters."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from grader.author.in_page import can_be_tried
from grader.cli import commands as cli
from grader.manifest import load_manifest

ROOT = Path(__file__).parents[1]
TEXTS = sorted([*ROOT.glob("book/**/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
BLOCK = re.compile(r"^( *)```(?:console|bash|yaml)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^|[|;&] *|do |run: )(?:\$ )?((?:grader|nbgrader) [^|;&#\n]*)", re.MULTILINE)


def shown(text):
    """The commands of grader and nbgrader in the blocks of a text, each as a list of words."""
    blocks = [re.sub(r"^ +", "", block, flags=re.MULTILINE) for _, block in BLOCK.findall(text)]
    return [shlex.split(command) for block in blocks for command in COMMAND.findall(block)]


def faults(words):
    """What is wrong with a command of grader."""
    group = typer.main.get_command(cli.app)
    command = group.commands.get(words[1])
    if command is None:
        return [f"there is no grader {words[1]}"]
    try:
        with command.make_context(words[1], list(words[2:])) as context:
            chapters = [context.params.get("chapter") or (), context.params.get("chapters") or ()]
    except typer.BadParameter.__base__ as error:  # typer's UsageError, which it does not export
        return [error.format_message()]
    known = {chapter.id for chapter in load_manifest(ROOT / "course.toml").chapters}
    named = {name for its in chapters for name in ([its] if isinstance(its, str) else its)}
    return [f"there is no chapter {name}" for name in sorted(named - known - {"CHAPTER", "$1"})]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_command_on_the_page_exists(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    for words in shown(path.read_text("utf-8")):
        if words[0] == "nbgrader":
            from nbgrader.apps.nbgraderapp import NbGraderApp

            assert words[1] in NbGraderApp.subcommands, words
        else:
            assert faults(words) == [], words


def test_commands_are_found_and_faults_noticed():
    text = (
        "```console\n$ grader autograde ch01_vanilla_rnn --workers 4\n$ make course\n```\n\n```bash\nfor x in y; do\n"
    )
    text += '    nbgrader collect ch\n    grader check "$x" || status=1\ndone\n```\n'
    assert shown(text) == [
        ["grader", "autograde", "ch01_vanilla_rnn", "--workers", "4"],
        ["nbgrader", "collect", "ch"],
        ["grader", "check", "$x"],
    ]
    assert faults(["grader", "autograde", "ch01_vanilla_rnn", "--workers", "4"]) == []
    assert faults(["grader", "autograde", "ch99"]) == ["there is no chapter ch99"]
    (fault,) = faults(["grader", "autograde", "ch01_vanilla_rnn", "--no-such-option"])
    assert "--no-such-option" in fault
    assert faults(["grader", "grade"]) == ["there is no grader grade"]


def test_the_readme_counts_the_exercises():
    places = load_manifest(ROOT / "course.toml").places
    tried = [name for name in places if can_be_tried(ROOT, name)]
    assert f"{len(tried)} of its {len(places)} exercises" in (ROOT / "README.md").read_text("utf-8")
