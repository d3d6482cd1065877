"""Completion: the right words for every place, from a real shell too, and never an error."""

import os
import pty
import select
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lionstudio.cli.commands import GROUPS, find_commands
from lionstudio.domain.session import SessionStatus
from lionstudio.services import shows, teams
from lionstudio.services.context import Context
from tests.cli.conftest import Li, run_li
from tests.factories import start_run

LI = Path(sys.executable).parent / "li"


def complete(*typed: str) -> list[str]:
    answer = run_li("completion", "words", "--", *typed)
    assert (answer.code, answer.err) == (0, "")
    return [line.split("\t")[0] for line in answer.out.splitlines()]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        pytest.param((), list(GROUPS), id="nothing"),
        pytest.param(("",), list(GROUPS), id="an empty word"),
        pytest.param(("ru",), ["runs"], id="a group"),
        pytest.param(("-",), ["--help", "--version", "--db"], id="options before a command"),
        pytest.param(("runs", ""), list(find_commands("runs")), id="commands"),
        pytest.param(("state", "import-"), ["import-shows", "import-teams", "import-db"], id="some commands"),
        pytest.param(("runs", "ls", "--st"), ["--status"], id="an option"),
        pytest.param(("runs", "ls", "--status", ""), list(SessionStatus), id="values"),
        pytest.param(("runs", "ls", "--status", "c"), ["completed", "cancelled"], id="some values"),
        pytest.param(("runs", "ls", "--status=c"), ["--status=completed", "--status=cancelled"], id="one word"),
        pytest.param(("runs", "ls", "--status", "=", "c"), ["completed", "cancelled"], id="as bash splits it"),
        pytest.param(("runs", "ls", "--status", "="), list(SessionStatus), id="as bash splits an empty one"),
        pytest.param(("runs", "ls", "--status", "failed", "--sta"), [], id="an option is offered once"),
        pytest.param(("team", "send", "t", "x", "--to", "a", "--to"), ["--to"], id="unless it may come again"),
        pytest.param(("runs", "tail", "-n", "3", "-f", "r", "--j"), ["--json"], id="behind arguments"),
        pytest.param(("--db", "x", "ru"), ["runs"], id="behind a database"),
        pytest.param(("--db=x", "runs", "k"), ["kill"], id="behind a database in one word"),
        pytest.param(("--db", "x"), [], id="a place is a file"),
        pytest.param(("state", "restore", ""), [], id="a file is the shell's"),
        pytest.param(("help", "ru"), ["runs"], id="help"),
        pytest.param(("help", "runs", "k"), ["kill"], id="help for a command"),
        pytest.param(("help", "runs", "kill", ""), [], id="help for no more"),
        pytest.param(("nonsense", ""), [], id="an unknown group"),
        pytest.param(("runs", "nonsense", ""), [], id="an unknown command"),
        pytest.param(("completion", ""), ["bash", "zsh", "fish", "words"], id="itself"),
    ],
)
def test_the_words_that_may_come_next(home: Path, typed, expected):
    assert complete(*typed) == expected


def test_where_no_argument_is_left_options_are_offered(home: Path):
    assert complete("state", "stats", "") == ["--json", "--db", "--help"]


def test_every_place_of_every_command_has_an_answer(home: Path):
    for group in GROUPS:
        for name, command in find_commands(group).items():
            for option in command.options:
                complete(group, name, option.names[0], "")


def test_runs_are_offered_by_name_and_by_id(li: Li, ctx: Context):
    start_run(ctx, "0199-one", name="triage")
    start_run(ctx, "0199-two", name="two words")
    start_run(ctx, "0199-six", name="$(reboot)\n\x1b[2J")
    assert sorted(complete("runs", "show", "")) == ["0199-one", "0199-six", "0199-two", "triage"]
    assert complete("runs", "wait", "triage", "0199-t") == ["0199-two"]
    answer = li("completion", "words", "--", "runs", "show", "0199")
    assert "\x1b" not in answer.out
    assert len(answer.out.splitlines()) == 3


def test_teams_and_shows_are_offered_by_name(li: Li, ctx: Context):
    teams.put_team(ctx, "team-1", actor="me", name="crew", members=["ana"])
    shows.put_show(ctx, "ledger", actor="me", show_dir="/shows/ledger", goal="Split it")
    assert complete("team", "show", "") == ["crew"]
    assert complete("team", "send", "cr") == ["crew"]
    assert complete("runs", "ls", "--show", "") == ["ledger"]


def test_agents_and_playbooks_are_offered_by_name(home: Path):
    for path in ("agents/architect.md", "playbooks/audit.playbook.yaml"):
        (home / path).parent.mkdir(parents=True)
        (home / path).touch()
    assert complete("agents", "show", "") == complete("runs", "ls", "--agent", "") == ["architect"]
    assert complete("playbooks", "show", "a") == complete("runs", "ls", "--playbook", "") == ["audit"]
    assert complete("play", "a") == ["audit"]
    assert complete("fanout", "--agent", "") == ["architect"]


def test_the_database_that_was_typed_is_asked(home: Path, ctx: Context, location: str):
    start_run(ctx, "here")
    assert complete("runs", "show", "--db", location, "") == ["here"]
    assert complete("--db", location, "runs", "show", "") == ["here"]
    assert complete(f"--db={location}", "runs", "show", "") == ["here"]


def test_no_database_no_ids_and_none_is_made(home: Path):
    assert complete("runs", "show", "") == complete("team", "show", "") == []
    assert not home.exists()


@pytest.mark.parametrize("db", ["nonsense://x", "/dev/null", "a\tb/c", "postgresql://localhost:99999/x"])
def test_a_place_that_is_no_database_has_no_ids(home: Path, monkeypatch: pytest.MonkeyPatch, db):
    monkeypatch.setenv("LIONAGI_DB", db)
    assert complete("runs", "show", "") == []


def test_broken_settings_are_no_error(home: Path):
    home.mkdir()
    (home / "config.toml").write_text("db = [")
    assert complete("runs", "show", "") == complete("agents", "show", "") == []


def test_a_server_that_does_not_answer_does_not_hold_the_keyboard(home: Path, monkeypatch: pytest.MonkeyPatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("LIONAGI_DB", f"postgresql://ana@127.0.0.1:{silent.getsockname()[1]}/x")
        began = time.monotonic()
        assert complete("runs", "show", "") == []
        assert time.monotonic() - began < 5


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_asks_for_words(home: Path, shell):
    answer = run_li("completion", shell)
    assert (answer.code, answer.err) == (0, "")
    assert "completion words --" in answer.out
    assert f"li completion {shell}" in answer.out
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=answer.out, text=True, check=True)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("li ru", ["runs"]),
        ("li runs ls --status=c", ["completed", "cancelled"]),
        ("li state import-", ["import-shows", "import-teams", "import-db"]),
        ("li runs show ", ["triage", "0199-one"]),
        ("li nonsense ", []),
    ],
)
def test_bash_completes(li: Li, ctx: Context, line, expected):
    start_run(ctx, "0199-one", name="triage")
    words = line.replace("=", " = ").split(" ")  # as readline splits a line
    script = (
        f"source <(li completion bash) && COMP_WORDS=({' '.join(word or repr(word) for word in words)}) "
        f'&& COMP_CWORD={len(words) - 1} && _li && printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    asked = subprocess.run(["bash", "-uc", script], env=environment(), capture_output=True, text=True)
    assert (asked.returncode, asked.stderr) == (0, "")
    assert asked.stdout.split() == expected


def test_the_tab_key_completes_in_a_real_bash(home: Path):
    """A person's own bash: source the script, type a part of a command, press Tab."""
    terminal, inside = pty.openpty()
    streams = {"stdin": inside, "stdout": inside, "stderr": inside}
    with subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"], env=environment(), start_new_session=True, **streams
    ) as person:
        os.close(inside)
        try:
            os.write(terminal, b"source <(li completion bash); echo rea''dy\n")
            read_until(terminal, b"ready")
            os.write(terminal, b"li state che\t")
            read_until(terminal, b"checkpoint ")
        finally:
            person.kill()
            os.close(terminal)


def read_until(terminal: int, wanted: bytes, *, seconds: float = 20) -> None:
    seen = b""
    give_up = time.monotonic() + seconds
    while wanted not in seen:
        assert select.select([terminal], [], [], max(0, give_up - time.monotonic()))[0], seen
        seen += os.read(terminal, 4096)


def environment() -> dict[str, str]:
    """This one, with our `li` before all others."""
    return {**os.environ, "PATH": f"{LI.parent}:{os.environ['PATH']}", "TERM": "dumb", "INPUTRC": "/dev/null"}
