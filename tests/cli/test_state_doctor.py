"""`li state doctor`: the health of every run with its evidence, and failing those that are certainly dead."""

import io
import os
import subprocess
import sys
import time

import pytest

from lionstudio.services import admin, sessions
from lionstudio.services.context import Context
from tests.cli.conftest import Li
from tests.factories import start_run
from tests.services.test_health import record_dead_process, say_something


@pytest.fixture
def ctx(ctx: Context) -> Context:
    """These runs are judged by a command, which asks the real clock."""
    return Context(ctx.db, now=time.time)


def put_dead(ctx: Context, session_id: str = "dead") -> None:
    start_run(ctx, session_id, name="a dead one")
    say_something(ctx, session_id)
    record_dead_process(ctx, session_id)


def status(ctx: Context, session_id: str) -> str | None:
    return sessions.get_session(ctx, session_id).status


def test_it_lists_runs_with_their_evidence(li: Li, ctx: Context) -> None:
    put_dead(ctx)
    start_run(ctx, "fine")
    answer = li("state", "doctor")
    assert (answer.code, answer.err) == (0, "")
    rows = answer.out.splitlines()
    assert rows[1].startswith("dead")
    assert "stale" in rows[1]
    assert "The process ended and the run never said how." in rows[1]
    counts = dict(line.split() for line in rows[rows.index("") + 1 :])
    assert counts == {"healthy": "1", "idle": "0", "unresponsive": "0", "stale": "1", "orphaned": "0", "zombie": "0"}
    assert status(ctx, "dead") == "running"


@pytest.mark.parametrize("wish", [["--transition-stale"], ["--transition-stale", "--dry-run"], []])
def test_a_plan_that_nobody_reads_is_not_carried_out_and_that_is_said(
    li: Li, location: str, ctx: Context, wish: list[str]
) -> None:
    put_dead(ctx)
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "wb") as nobody:
        ended = subprocess.run(
            [sys.executable, "-u", "-m", "lionstudio", "state", "doctor", *wish],
            stdin=subprocess.DEVNULL, stdout=nobody, stderr=subprocess.PIPE, text=True, timeout=60,
        )  # fmt: skip
    is_planned = wish == ["--transition-stale"]
    said = "Nothing was changed: whoever was to read the plan has gone. To throw it away: >/dev/null\n"
    assert (ended.returncode, ended.stderr) == (141, said if is_planned else "")
    assert status(ctx, "dead") == "running"


def test_it_gives_programs_one_object_a_run_and_a_summary(li: Li, ctx: Context) -> None:
    put_dead(ctx)
    run, summary = li("state", "doctor", "--json").objects
    assert (run["type"], run["id"], run["health"], run["process"]) == ("run", "dead", "stale", "dead")
    assert run["reasons"][0]["code"] == "run.health.process_dead"
    assert run["process_sentence"]
    assert (summary["type"], summary["counts"]["stale"], summary["changed"]) == ("summary", 1, 1)


def test_with_nothing_running_it_says_so(li: Li, ctx: Context) -> None:
    answer = li("state", "doctor")
    assert answer.code == 0
    assert "No run is running." in answer.err
    assert "healthy       0" in answer.out


def test_it_fails_only_what_is_stale_and_confirmed_dead(li: Li, ctx: Context) -> None:
    put_dead(ctx)
    start_run(ctx, "unseen", started_at=time.time() - 90_000)  # no process is recorded, so nobody can say it is dead
    start_run(ctx, "fine")
    wish = ("state", "doctor", "--transition-stale", "--json")
    planned = [one for one in li(*wish, "--dry-run").objects if one["type"] == "transition"]
    assert [(one["id"], one["done"]) for one in planned] == [("dead", False)]
    assert status(ctx, "dead") == "running"
    ended = [one for one in li(*wish).objects if one["type"] == "transition"]
    assert [(one["id"], one["done"]) for one in ended] == [("dead", True)]
    assert ended[0]["reasons"][0]["code"] == "run.health.process_dead"
    assert [status(ctx, id) for id in ("dead", "unseen", "fine")] == ["failed", "running", "running"]
    assert "transition" in [event.action for event in admin.list_events(ctx)]


def test_a_dry_run_writes_nothing_at_all(li: Li, ctx: Context) -> None:
    put_dead(ctx)
    answer = li("state", "doctor", "--transition-stale", "--dry-run")
    assert answer.code == 0
    assert "TO BE FAILED" in answer.out
    assert admin.list_events(ctx) == []


def test_on_a_narrow_terminal_ids_are_short_so_that_there_is_room_for_why(li: Li, ctx: Context, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    put_dead(ctx, "0190abcd-0001-7000-8000-000000000001")
    lines = li("state", "doctor", "--transition-stale", "--dry-run", terminal=True).out.splitlines()
    rows = [line for line in lines if line.startswith("0190abcd  ")]
    assert len(rows) == 2
    assert all(len(row) <= 80 and "-0001" not in row for row in rows)
    assert "0190abcd-0001-7000-8000-000000000001" in li("state", "doctor").out


@pytest.mark.parametrize(("reply", "after"), [("n\n", "running"), ("y\n", "failed")])
def test_on_a_terminal_it_asks(li: Li, ctx: Context, monkeypatch: pytest.MonkeyPatch, reply: str, after: str) -> None:
    class Keyboard(io.StringIO):
        def isatty(self) -> bool:
            return True

    put_dead(ctx)
    monkeypatch.setattr(sys, "stdin", Keyboard(reply))
    answer = li("state", "doctor", "--transition-stale", terminal=True)
    assert "Fail 1 run? [y/N]" in answer.err
    assert status(ctx, "dead") == after


def test_a_run_that_dies_while_it_asks_is_not_failed(li: Li, ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    class Keyboard(io.StringIO):
        def isatty(self) -> bool:
            return True

        def readline(self, size: int | None = -1, /) -> str:
            put_dead(ctx, "later")
            return "y\n"

    put_dead(ctx)
    monkeypatch.setattr(sys, "stdin", Keyboard())
    answer = li("state", "doctor", "--transition-stale", terminal=True)
    assert "Failed 1 run." in answer.err
    assert [status(ctx, id) for id in ("dead", "later")] == ["failed", "running"]


def test_with_nothing_to_fail_it_asks_nobody(li: Li, ctx: Context) -> None:
    start_run(ctx, "fine")
    answer = li("state", "doctor", "--transition-stale", terminal=True)
    assert answer.code == 0
    assert "nothing to fail" in answer.err


def test_a_dry_run_of_nothing_is_wrong_usage(li: Li, ctx: Context) -> None:
    answer = li("state", "doctor", "--dry-run")
    assert (answer.code, answer.out) == (2, "")
    assert "--transition-stale" in answer.err
