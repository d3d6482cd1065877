"""Ctrl-Z: agents stand still while `li` does, and go on with it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lionstudio import machine
from lionstudio.services.context import Context
from tests.cli.crews import DEADLINE, agent, runs, type_li, write
from tests.engines.recorded import said
from tests.waiting import wait_until

WAITING = """\
cat > /dev/null
echo $$
read -r _ < "$(dirname "$0")/go.$LIONAGI_AGENT"
echo done
"""


@pytest.fixture
def model(home: Path, location: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An agent that says its pid, and waits."""
    monkeypatch.setenv("LIONAGI_DB", location)
    monkeypatch.chdir(tmp_path)
    for name in ("exec", "a", "b"):
        os.mkfifo(tmp_path / f"go.{name}")
    return agent(tmp_path / "wait.sh", WAITING)


@contextmanager
def typed(*words: str, **more: Any) -> Iterator["subprocess.Popen[str]"]:
    """A command that is typed, and gone when the block is left."""
    argv = [sys.executable, "-m", "lionstudio", *words]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, **more) as li:
        try:
            yield li
        finally:
            li.kill()


def state_of(pid: int) -> str | None:
    seen = machine.look_at(pid)
    return None if seen is None else seen.state


def is_alive(pid: int) -> bool:
    return state_of(pid) not in (None, "Z", "X")  # one alone is collected when li goes on


def words_for_agent(model: str, tmp_path: Path) -> list[str]:
    return ["agent", model, "Wait"]


def words_for_flow(model: str, tmp_path: Path) -> list[str]:
    file = write(tmp_path / "flow.yaml", f"model: {model}\nsteps: {{a: {{prompt: x}}, b: {{prompt: x}}}}\n")
    return ["flow", str(file)]


WAYS = pytest.mark.parametrize(("words", "names"), [(words_for_agent, ["exec"]), (words_for_flow, ["a", "b"])])
Words = Callable[[str, Path], list[str]]


def stop(ctx: Context, li: "subprocess.Popen[str]", agents: int) -> list[int]:
    """Let li and its agents stand still, as a terminal does for Ctrl-Z; the pids of those."""

    def answers() -> list[int]:
        told = [text for run in runs(ctx) for role, text in said(ctx, run.id) if role == "assistant"]
        return [int(text) for text in told if text.strip()]

    wait_until(lambda: len(answers()) == agents, within=DEADLINE)
    pids = answers()
    li.send_signal(signal.SIGTSTP)
    os.waitid(os.P_PID, li.pid, os.WSTOPPED)
    wait_until(lambda: [state_of(pid) for pid in pids] == ["T"] * len(pids), within=DEADLINE)
    return pids


@WAYS
def test_whoever_ends_us_while_we_stand_still_ends_no_less(
    ctx: Context, tmp_path: Path, model: str, words: Words, names: list[str]
) -> None:
    with typed(*words(model, tmp_path), process_group=0) as li:
        pids = stop(ctx, li, len(names))
        killed = type_li("runs", "kill", runs(ctx)[0].id, "--yes", "--json")
        assert (killed.code, killed.objects[0]["signals"]) == (0, ["SIGTERM"]), killed.err
        wait_until(lambda: not any(map(is_alive, pids)), within=DEADLINE)


@WAYS
def test_agents_do_not_stand_still_for_ever_when_we_are_killed(
    ctx: Context, tmp_path: Path, model: str, words: Words, names: list[str]
) -> None:
    with typed(*words(model, tmp_path), process_group=0) as li:
        pids = stop(ctx, li, len(names))
        li.kill()
    wait_until(lambda: "T" not in [state_of(pid) for pid in pids], within=DEADLINE)
    if len(names) == 1:
        (tmp_path / "go.exec").write_text("go on\n")
    wait_until(lambda: not any(map(is_alive, pids)), within=DEADLINE)


@WAYS
def test_agents_stop_and_go_on_with_us(
    ctx: Context, tmp_path: Path, model: str, words: Words, names: list[str]
) -> None:
    with typed(*words(model, tmp_path), process_group=0) as li:
        stop(ctx, li, len(names))
        li.send_signal(signal.SIGCONT)  # as a shell does for fg
        for name in names:
            (tmp_path / f"go.{name}").write_text("go on\n")
        out, _ = li.communicate(timeout=DEADLINE)
    assert (li.returncode, "done" in out) == (0, True)
    [run] = runs(ctx)
    assert sum("done" in text for _, text in said(ctx, run.id)) == len(names)


def test_where_nobody_could_let_us_go_on_nothing_stops(ctx: Context, tmp_path: Path, model: str) -> None:
    with typed("agent", model, "Wait", start_new_session=True) as li:
        wait_until(lambda: runs(ctx) and len(said(ctx, runs(ctx)[0].id)) == 2, within=DEADLINE)
        li.send_signal(signal.SIGTSTP)
        (tmp_path / "go.exec").write_text("go on\n")
        out, _ = li.communicate(timeout=DEADLINE)
    assert (li.returncode, "done" in out) == (0, True)
