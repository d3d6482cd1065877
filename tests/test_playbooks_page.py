"""The page about playbooks is true: its files are written, its commands are typed, and they print what it says."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lionstudio.engines.playbook import STEP_KEYS, TOP_KEYS, UNUSED_KEYS, load_playbook
from lionstudio.engines.playbook_arguments import KEYS

PAGE = (Path(__file__).parent.parent / "docs" / "playbooks.md").read_text()
BIN = Path(sys.executable).parent
ON_TERMINAL = "# on a terminal"
FILE_OR_COMMANDS = re.compile(
    r"`(?P<path>[^`\n]+\.yaml)`:\n\n```yaml\n(?P<text>.*?)```|```console\n(?P<typed>.*?)```", re.DOTALL
)
COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


@pytest.fixture(autouse=True)
def place(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home.parent))
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def type_in(line: str) -> str:
    """What a command prints, and what it says, in one piece."""
    shell = ["bash", "-c", f"exec 2>&1; {line}"]
    return subprocess.run(shell, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, timeout=60).stdout


def type_on_terminal(line: str) -> str:
    """The same for somebody who looks at a terminal."""
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(["bash", "-c", line], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    printed = b""
    with open(ours, "rb", buffering=0) as terminal:
        while True:
            try:
                read = terminal.read(65536)
            except OSError:  # everybody has closed it
                break
            printed += read or b""
    assert shell.wait(60) == 0
    return printed.decode().replace("\r\n", "\n")


def says(shown: str, printed: str) -> bool:
    """Whether this was printed; … stands for anything, and how many spaces are between columns does not matter."""
    pattern = re.sub(r"(?:\\ )+", r"[ ]+", re.escape(shown)).replace("…", ".*?")
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


def test_every_command_prints_what_the_page_says(home: Path):
    typed = 0
    for found in FILE_OR_COMMANDS.finditer(PAGE):
        if found["path"]:
            path = Path(found["path"]).expanduser()
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(found["text"])
            continue
        for line, shown in COMMAND.findall(found["typed"]):
            printed = (type_on_terminal if line.endswith(ON_TERMINAL) else type_in)(line)
            assert says(shown, printed), f"{line}\n{printed}"
            typed += 1
    assert typed == PAGE.count("\n$ ") == 13


def test_every_key_is_on_the_page():
    keys = (*TOP_KEYS, *STEP_KEYS, *KEYS)
    assert [key for key in keys if f"`{key}`" not in PAGE and f"`{key.replace('_', '-')}`" not in PAGE] == []
    assert [key for key in UNUSED_KEYS if f"`{key.replace('_', '-')}`" not in PAGE] == []


def test_every_example_but_the_wrong_one_is_read(tmp_path: Path):
    files = {found["path"]: found["text"] for found in FILE_OR_COMMANDS.finditer(PAGE) if found["path"]}
    assert len(files) == 4
    for name, text in files.items():
        if name != "wrong.yaml":
            (tmp_path / "file.yaml").write_text(text)
            assert load_playbook(str(tmp_path / "file.yaml")).steps
