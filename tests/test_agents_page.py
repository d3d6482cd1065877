"""The page about agents is true: every command on it is run, and prints what the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from lionstudio.cli.commands import find_commands
from tests.cli.test_play import on_terminal
from tests.fakes.talking_agent import talking_claude

PAGE = (Path(__file__).parent.parent / "docs" / "agents.md").read_text()
BIN = Path(sys.executable).parent
# What the program that stands in for Claude Code answers.
ANSWERS = {
    "Find the failing test": "It is test_parse: the parser drops the last line.",
    "Review the last commit": "It has no test.",
    "Fix it": "It keeps the last line now, and the test passes.",
    "Explain it": "A line without a newline at its end was dropped.",
}


class Shown(NamedTuple):
    """A command of the page, and what it is said to print."""

    line: str
    output: str

    def says(self, printed: str) -> bool:
        """Whether this was printed; … stands for anything, and how wide a column is for nothing."""
        shown, said = (re.sub(" +", " ", text) for text in (self.output, printed))
        return re.fullmatch(re.escape(shown).replace("…", ".*?"), said, re.DOTALL) is not None


def commands() -> list[Shown]:
    blocks = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    told = [re.findall(r"(?m)^\$ (.*)\n((?:(?!\$ ).*\n)*)", block) for block in blocks]
    return [_with_text(*one) for block in told for one in block]


def _with_text(line: str, output: str) -> Shown:
    """What is typed into a command is a part of it."""
    typed = re.search(r"<<'(\w+)'$", line)
    if typed is None:
        return Shown(line, output)
    text, _, output = output.partition(f"{typed[1]}\n")
    return Shown(f"{line}\n{text}{typed[1]}", output)


@pytest.fixture
def shell(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A machine on which the commands can be typed."""
    program = talking_claude(tmp_path / "bin", answers=ANSWERS)
    (tmp_path / "notes.md").write_text("Mind the parser.\n")
    subprocess.run("git init -q && echo a > new && git add new && echo b > new", shell=True, cwd=tmp_path, check=True)
    path = f"{program.parent}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "COLUMNS": "140"}


def test_every_command_prints_what_the_page_says(shell: dict[str, str], tmp_path: Path) -> None:
    shown = commands()
    assert len(shown) > 20
    code = 0
    for one in shown:
        # One shell after the other, and each knows how the one before it ended; what is said comes before what is told.
        script = f"(exit {code}); {one.line}"
        answer = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, env=shell, stdin=subprocess.DEVNULL, timeout=60,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        code = answer.returncode
        assert one.says(answer.stdout), f"{one.line}\n{answer.stdout}"
        assert "Traceback" not in answer.stdout


def test_a_terminal_shows_what_the_page_says(shell: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", shell["PATH"])
    [told] = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert Shown("", told).says(on_terminal("agent", "claude", "Find the failing test")[2])


def test_every_option_is_on_the_page() -> None:
    elsewhere = {"--db", "-f", "--cwd"}
    names = [name for option in find_commands("agent")[""].options for name in option.names if name.startswith("-")]
    assert [name for name in names if name not in PAGE and name not in elsewhere] == []
