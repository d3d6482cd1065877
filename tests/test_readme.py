"""The README is true: what it shows is what happens, and every command in it is run here.

Two are run only so far as a test can: `make run` without building the pages again, because other tests look at them
meanwhile, and `make test` dry, because this is a part of it. The targets that work on the sources are run dry too.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import NamedTuple

import pytest
from docs.pictures import PICTURES, THEMES

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
FIXTURES = ROOT / "tests" / "fixtures"
BIN = Path(sys.executable).parent
MOST_BYTES = 3_000_000  # of all pictures, because everybody who clones has them
MAKE_THEIRS = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(open(sys.argv[2]).read())"


class Command(NamedTuple):
    """A command as the README shows it, and what it is said to print."""

    line: str
    shown: str

    @property
    def words(self) -> list[str]:
        return self.line.split()

    def says(self, printed: str) -> bool:
        """Whether this was printed; … stands for anything."""
        return re.fullmatch(re.escape(self.shown).replace("…", ".*?"), printed, re.DOTALL) is not None


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def commands(*beginning: str) -> list[Command]:
    """The commands that begin with these words, in their order."""
    told = re.findall(r"(?m)^\$ (.+?)(?:\s+# .*)?\n((?:(?!\$ ).*\n)*)", "".join(blocks("console")))
    found = [Command(line, shown) for line, shown in told]
    return [command for command in found if command.words[: len(beginning)] == list(beginning)]


def importing(command: Command) -> bool:
    return command.words[:2] == ["li", "state"] and command.words[2].startswith("import")


def run(line: str, **more: str) -> str:
    """What a shell prints that finds our commands first."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **more}
    answer = subprocess.run(
        ["bash", "-eu", "-c", line], capture_output=True, text=True, timeout=180, env=environment, cwd=ROOT
    )
    assert answer.returncode == 0, f"{line}\n{answer.stderr}"
    return answer.stdout


def make(*words: str) -> list[str]:
    # The make that runs the tests must not speak for this one.
    return ["env", "-u", "MAKEFLAGS", "-u", "MAKELEVEL", "-u", "MFLAGS", "make", *words]


@pytest.fixture
def recorded(home: Path) -> None:
    """The example of the README was run."""
    (example,) = blocks("python")
    subprocess.run([sys.executable, "-c", example], capture_output=True, check=True)


def test_the_example_prints_what_the_readme_says(home: Path) -> None:
    (example,), (expected,) = blocks("python"), blocks("text")
    answer = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, timeout=60)
    assert answer.stderr == ""
    pattern = re.escape(expected).replace("…", "[0-9a-f-]{36}")
    assert re.fullmatch(pattern, answer.stdout), answer.stdout
    assert (home / "state.db").exists()


def test_no_command_is_left_out() -> None:
    known = [*commands("make"), *commands("curl")]
    known += [*commands("li", "record"), *commands("li", "agent"), *commands("li", "fanout")]
    known += [*commands("li", "runs"), *commands("li", "state")]
    assert sorted(known) == sorted(commands())
    assert len(known) == "".join(blocks("console")).count("$ ")


def test_make_run_prints_what_the_readme_says_and_the_studio_is_there(home: Path) -> None:
    (command,) = commands("make", "run")
    words = make("--old-file=web", f"BIN={BIN}", "run")
    with subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True) as studio:
        assert studio.stderr is not None
        try:
            first = studio.stderr.readline()
            if "is taken" in first:
                first = studio.stderr.readline()
            said = first + studio.stderr.readline()
            address = first.split()[-1]
            assert said == command.shown.replace("http://127.0.0.1:8765", address)
            with urllib.request.urlopen(address, timeout=30) as page:
                assert b"<title>Lion Studio" in page.read()
        finally:
            os.killpg(studio.pid, signal.SIGINT)  # Ctrl-C: to make and to what it started


def test_make_test_ends_as_the_readme_says(home: Path) -> None:
    command = commands("make", "test")[0]
    dry = subprocess.run(make("-n", "test"), cwd=ROOT, capture_output=True, text=True, check=True).stdout
    last = dry.splitlines()[-1]
    assert last in command.shown.splitlines()
    # What it runs last, on one file instead of all, for which one process is enough.
    line = last.replace(".venv/bin/python", f"env -u PYTEST_XDIST_WORKER {sys.executable}").replace("-n 2", "-n 0")
    assert command.says(f"…\n{last}\n{run(f'{line} -p no:cacheprovider tests/domain/test_timeline.py')}")


@pytest.mark.parametrize("target", sorted({command.words[1] for command in commands("make")}))
def test_every_make_target_exists(target: str) -> None:
    subprocess.run(make("-n", target), cwd=ROOT, capture_output=True, check=True)
    assert re.search(rf"^{target}: .*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_a_run_is_recorded_over_http_as_the_readme_says(home: Path) -> None:
    told = commands("curl")
    assert len(told) == 5
    li = [sys.executable, "-m", "lionstudio", "studio", "--port", "0"]
    with subprocess.Popen(li, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            place = server.stderr.readline().split("//")[-1].strip()
            printed = [run(command.line.replace("localhost:8765", place)) for command in told]
        finally:
            server.terminate()
    for command, said in zip(told, printed, strict=True):
        assert said
        assert not command.shown or command.says(said), command.line
    assert '"content":{"instruction":"Build it"}' in printed[3]
    assert printed[3].rstrip().endswith('data: {"status":"completed","deleted":false}')


def test_a_command_is_recorded_as_the_readme_says(home: Path) -> None:
    (command,) = commands("li", "record")
    with pytest.raises(AssertionError):
        run(command.line)
    assert run(f"{command.line} || echo code $?") == f"{command.shown}code 3\n"
    assert "Failed · exit 3" in run("li runs ls")


def test_agents_answer_as_the_readme_says(home: Path) -> None:
    told = [*commands("li", "agent"), *commands("li", "fanout")]
    assert [run(command.line) for command in told] == [command.shown for command in told]
    assert run("li runs ls").count("Completed") == len(told)


def test_what_one_has_is_imported(home: Path, tmp_path: Path) -> None:
    told = [command for command in commands("li", "state") if importing(command)]
    assert len(told) == 4
    shutil.copytree(FIXTURES / "run_folders", home / "runs")
    (home / "teams").mkdir()
    shutil.copy(FIXTURES / "teams" / "signals.json", home / "teams")
    theirs = tmp_path / "theirs.db"
    sql = FIXTURES / "lionagi_db" / "lionagi-0.36.0.sql"
    subprocess.run([sys.executable, "-c", MAKE_THEIRS, theirs, sql], check=True)
    for command in told:
        counted = run(command.line.replace("FILE", str(theirs)), LIONAGI_SHOWS_ROOT=str(FIXTURES / "shows"))
        assert re.search(r"[1-9]", counted), command.line
    assert run("li runs ls --json")


def test_every_command_that_asks_works_after_the_example(recorded: None) -> None:
    told = [*commands("li", "runs"), *(one for one in commands("li", "state") if not importing(one))]
    assert len(told) == 6
    for command in told:
        assert run(command.line), command.line


def test_the_commands_within_sentences_work(recorded: None) -> None:
    told = [code for code in re.findall(r"`([^`\n]+)`", README) if re.match(r"(li|source) ", code)]
    only_named = ["li play", "li flow", "li studio", "li runs kill RUN"]  # they want a file, go on, or end something
    assert told == [*only_named, "li --help", "source <(li completion bash)"]
    for line in told:
        run(f"{line.removesuffix(' RUN')} --help" if line in only_named else line)


def test_every_link_and_picture_leads_somewhere() -> None:
    for page in (ROOT / "README.md", ROOT / "docs" / "index.md", ROOT / "docs" / "studio.md"):
        text = page.read_text()
        links = re.findall(r"\]\(([^)#:]+)[^)]*\)", text) + re.findall(r'(?:src|srcset)="([^"]+)"', text)
        assert links
        assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_picture_is_shown_in_both_themes_and_all_of_them_are_small() -> None:
    pages = README + (ROOT / "docs" / "studio.md").read_text()
    files = {path.name: path for path in (ROOT / "docs" / "images").iterdir()}
    assert sorted(files) == sorted(f"{picture.name}-{theme}.webp" for picture in PICTURES for theme in THEMES)
    assert [name for name in files if name not in pages] == []
    assert sum(path.stat().st_size for path in files.values()) < MOST_BYTES
