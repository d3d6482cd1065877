"""The page about recording a command is true: every command on it is run, and prints what the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

from lionstudio.cli.commands import find_commands
from tests.test_agents_page import Shown

PAGE = (Path(__file__).parent.parent / "docs" / "recording.md").read_text()
BIN = Path(sys.executable).parent


def commands() -> list[Shown]:
    blocks = re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)
    told = [re.findall(r"(?m)^\$ (.*)\n((?:(?!\$ ).*\n)*)", block) for block in blocks]
    return [Shown(*one) for block in told for one in block]


def test_every_command_prints_what_the_page_says(home: Path, tmp_path: Path) -> None:
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "140"}
    shown, code = commands(), 0
    assert len(shown) >= 15
    for one in shown:
        answer = subprocess.run(
            ["bash", "-c", f"(exit {code}); {one.line}"], cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, timeout=60,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        code = answer.returncode
        assert one.says(answer.stdout), f"{one.line}\n{answer.stdout}"
        assert "Traceback" not in answer.stdout


def test_every_option_is_on_the_page() -> None:
    names = [name for option in find_commands("record")[""].options for name in option.names if name.startswith("-")]
    assert [name for name in names if name not in PAGE and name != "--db"] == []
