"""`li runs tail` and `li runs wait`: what runs say and how they end, as it happens."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lionstudio import machine
from lionstudio.domain.conversation import MessageDraft
from lionstudio.domain.process import ProcessRecord, ProcessRole
from lionstudio.services.branches import BranchDraft, create_branch
from lionstudio.services.context import Context
from lionstudio.services.messages import append_message, append_messages
from lionstudio.services.sessions import finish_session, get_session, put_process
from tests.cli.conftest import Li
from tests.factories import Clock, assistant_says, line_of, start_run, user_says
from tests.recorders.agents import IMPATIENT, Agent, let_go, locked, run_agent, spool_files

DEADLINE = 60.0


class Typed:
    """A command that runs as a process of its own."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lionstudio.cli.main", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": ""},
        )
        self._watchdog = threading.Timer(DEADLINE, self.process.kill)
        self._watchdog.daemon = True
        self._watchdog.start()

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def object(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.line())
        return found

    def warning(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.readline().rstrip("\n")

    def end(self) -> tuple[int, str, str]:
        """Its exit code and what else it printed."""
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        out, err = self.process.stdout.read(), self.process.stderr.read()
        return self.process.wait(), out, err

    def close(self) -> None:
        self._watchdog.cancel()
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            assert pipe is not None
            pipe.close()


@contextmanager
def typed(*words: str) -> Iterator[Typed]:
    command = Typed(*words)
    try:
        yield command
    finally:
        command.close()


def say(ctx: Context, session_id: str, text: str) -> None:
    append_message(ctx, line_of(session_id), user_says(text))


def say_many(ctx: Context, session_id: str) -> None:
    for number in range(50):
        say(ctx, session_id, str(number))


def test_the_last_messages_of_a_run(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="triage")
    for number in range(12):
        say(ctx, "run-1", f"message {number}\nsecond line")
    answer = li("runs", "tail", "triage", "-n", "2")
    assert (answer.code, answer.err) == (0, "")
    heads, lines = answer.out.splitlines()[::3], answer.out.splitlines()
    assert [head[19:] for head in heads] == ["  :11  user", "  :12  user"]
    assert lines[1:3] == ["    message 10", "    second line"]
    assert lines[4:6] == ["    message 11", "    second line"]
    assert len(li("runs", "tail", "triage").out.splitlines()) == 30
    assert li("runs", "tail", "triage", "-n", "0") == (0, "", "")


def test_messages_of_several_runs_and_branches_say_where_they_were_said(li: Li, ctx: Context, clock: Clock) -> None:
    start_run(ctx, "run-1", name="triage", branch_name="main")
    start_run(ctx, "run-2", name="review")
    say(ctx, "run-1", "first")
    clock.pass_seconds(1)
    say(ctx, "run-2", "second")
    clock.pass_seconds(1)
    side = line_of("run-1")._replace(branch_id="side", branch_progression_id="side-order")
    create_branch(ctx, BranchDraft(side, "sideways"))
    append_message(ctx, side, assistant_says("third"))
    lines = li("runs", "tail", "run-1", "run-2").out.splitlines()
    assert [line[21:] if number % 2 == 0 else line for number, line in enumerate(lines)] == [
        ":1  user  triage / main", "    first", ":1  user  review", "    second",
        "assistant  triage / sideways", "    third",
    ]  # fmt: skip
    first, second, third = li("runs", "tail", "run-1", "run-2", "--json").objects
    assert (first["session_id"], first["branch_ids"], first["position"]) == ("run-1", ["run-1-main"], 1)
    assert (second["session_id"], third["branch_ids"]) == ("run-2", ["side"])


def test_a_long_message_is_cut_for_people_and_whole_for_programs(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1")
    text = "\n".join(f"line {number} \x1b[2J" for number in range(1_000))
    append_message(ctx, line_of("run-1"), MessageDraft("assistant", {"assistant_response": text}))
    lines = li("runs", "tail", "run-1").out.splitlines()
    assert len(lines) == 42
    assert lines[1] == "    line 0 \\x1b[2J"
    assert lines[-1].endswith("more characters; --json gives all")
    (message,) = li("runs", "tail", "run-1", "--json").objects
    assert message["content"] == {"assistant_response": text}
    assert message["kind"] == "assistant"


def test_following_prints_each_message_once_and_ends_with_the_runs(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="one")
    start_run(ctx, "run-2", name="two")
    say(ctx, "run-1", "before")
    with typed("runs", "tail", "-f", "--json", "one", "two") as tail:
        assert tail.object()["content"] == {"instruction": "before"}
        say(ctx, "run-2", "live")
        assert tail.object()["session_id"] == "run-2"
        drafts = [user_says(f"{number}", id=f"m{number}") for number in range(300)]
        append_messages(ctx, line_of("run-1"), drafts)
        finish_session(ctx, "run-2", "completed")
        assert [tail.object()["id"] for _ in range(300)] == [f"m{number}" for number in range(300)]
        append_message(ctx, line_of("run-1"), user_says("299, said again", id="m299"))
        again = tail.object()
        assert (again["id"], again["position"], again["content"]) == ("m299", 301, {"instruction": "299, said again"})
        say(ctx, "run-1", "last")
        finish_session(ctx, "run-1", "failed")
        code, out, err = tail.end()
    assert code == 0
    ended = [line.partition(" · ")[0] for line in err.splitlines()]
    assert sorted(ended) == ["one (run-1) has ended: Failed", "two (run-2) has ended: Completed"]
    (last,) = map(json.loads, out.splitlines())
    assert (last["content"], last["position"]) == ({"instruction": "last"}, 302)


def test_what_grows_in_place_is_followed_as_it_grows(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="one")

    def grow(text: str, id: str) -> None:
        append_message(ctx, line_of("run-1"), assistant_says(text, id=id))

    def words() -> list[str]:
        return tail.line().split("  ")[1:]

    grow("one", "a")
    with typed("runs", "tail", "-f", "one") as tail:
        assert (words(), tail.line()) == ([":1", "assistant"], "    one")
        grow("one\ntwo", "a")
        assert tail.line() == "    two"
        grow("other", "b")
        assert (words(), tail.line()) == ([":2", "assistant"], "    other")
        grow("one\ntwo\nthree", "a")
        assert (words(), tail.line()) == ([":1", "assistant", "goes on"], "    three")
        grow("changed", "b")
        assert (words(), tail.line()) == ([":2", "assistant", "now says"], "    changed")
        grow("changed\nat last", "b")
        finish_session(ctx, "run-1", "completed")
        assert tail.end()[:2] == (0, "    at last\n")


def test_positions_are_those_that_a_fork_takes(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="one")
    for text in ("a", "b", "c"):
        say(ctx, "run-1", text)
    start_run(ctx, "run-2", name="two", parent_session_id="run-1", parent_branch_id="run-1-main", forked_at_ord=2)
    say(ctx, "run-2", "d")
    [told] = li("runs", "tail", "two", "--json").objects
    assert (told["position"], told["fork_position"]) == (1, 3)
    answer = li("runs", "tail", "two")
    assert answer.out.splitlines()[0].split("  ")[1:] == [":3", "user"]
    assert answer.err == "run-2 goes on after the first 2 messages of run-1: li runs tail run-1\n"


def test_following_runs_that_have_ended_prints_and_ends(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1")
    say(ctx, "run-1", "said")
    finish_session(ctx, "run-1", "completed")
    answer = li("runs", "tail", "-f", "run-1", "-n", "1")
    assert (answer.code, answer.out.splitlines()[1:]) == (0, ["    said"])
    assert answer.err.startswith("said (run-1) has ended: Completed · ")
    assert li("runs", "tail", "run-1").err == ""  # it was not followed


def test_several_writers_at_once_are_followed_in_their_order(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1")
    start_run(ctx, "run-2")
    say(ctx, "run-1", "begin")
    with typed("runs", "tail", "-f", "--json", "run-1", "run-2") as tail:
        writers = [threading.Thread(target=say_many, args=(ctx, id)) for id in ("run-1", "run-2")]
        assert tail.object()["content"] == {"instruction": "begin"}
        for writer in writers:
            writer.start()
        found = [tail.object() for _ in range(100)]
        for writer in writers:
            writer.join()
        for session_id in ("run-1", "run-2"):
            finish_session(ctx, session_id, "completed")
        code, out, err = tail.end()
        assert (code, out, err.count(" has ended: Completed")) == (0, "", 2)
    for session_id, first in (("run-1", 2), ("run-2", 1)):
        positions = [message["position"] for message in found if message["session_id"] == session_id]
        assert positions == list(range(first, first + 50))


def test_ctrl_c_ends_following(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1")
    say(ctx, "run-1", "said")
    with typed("runs", "tail", "-f", "--json", "run-1") as tail:
        tail.object()
        say(ctx, "run-1", "more")
        tail.object()
        tail.process.send_signal(signal.SIGINT)
        code, out, err = tail.end()
    assert (code, out) == (130, "")
    assert "stopped." in err


def test_wrong_usage_of_tail_and_wait(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1")
    assert li("runs", "tail", "run-1", "-n", "-1") == (2, "", "li: --lines must be 0 or more.\n")
    assert li("runs", "tail", "run-1", "nobody").code == 1
    assert "There is no run 'nobody'" in li("runs", "wait", "nobody").err
    for seconds in ("-1", "nan", "inf"):
        assert li("runs", "wait", "run-1", f"--timeout={seconds}") == (
            2,
            "",
            "li: --timeout must be 0 seconds or more.\n",
        )


@pytest.mark.parametrize(
    ("status", "exit_code", "expected"),
    [
        ("completed", None, 0),
        ("failed", None, 1),
        ("failed", 7, 7),
        ("timed_out", None, 124),
        ("aborted", None, 130),
        ("cancelled", None, 143),
    ],
)
def test_the_exit_code_says_how_a_run_ended(
    li: Li, ctx: Context, status: str, exit_code: int | None, expected: int
) -> None:
    start_run(ctx, "run-1", name="triage")
    finish_session(ctx, "run-1", status, exit_code=exit_code)
    answer = li("runs", "wait", "triage")
    assert (answer.code, answer.err) == (expected, "")
    assert answer.out.startswith("triage  run-1  ")
    (ended,) = li("runs", "wait", "triage", "--json").objects
    assert (ended["id"], ended["status"], ended["exit_code"]) == ("run-1", status, exit_code)
    assert ended["wait_exit_code"] == expected


def test_the_first_run_that_did_not_complete_gives_the_exit_code(li: Li, ctx: Context) -> None:
    for session_id, status in (("run-1", "completed"), ("run-2", "cancelled"), ("run-3", "failed")):
        start_run(ctx, session_id)
        finish_session(ctx, session_id, status)
    assert li("runs", "wait", "run-1", "run-2", "run-3").code == 143
    assert li("runs", "wait", "run-1", "run-3", "run-2").code == 1


def test_waiting_ends_as_soon_as_the_last_run_has_ended(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="one")
    start_run(ctx, "run-2", name="two")
    finish_session(ctx, "run-1", "completed")
    with typed("runs", "wait", "one", "two", "--timeout", "50") as waiting:
        assert waiting.line().startswith("one  run-1  Completed")
        finish_session(ctx, "run-2", "failed", exit_code=9)
        assert waiting.line().startswith("two  run-2  Failed · exit 9")
        assert waiting.end() == (9, "", "")


def test_an_id_that_was_waited_for_cannot_steer_the_terminal(li: Li, ctx: Context) -> None:
    start_run(ctx, "run\x1b[2J-1", name="triage")
    finish_session(ctx, "run\x1b[2J-1", "completed")
    answer = li("runs", "wait", "triage")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("triage  run")
    assert "\x1b" not in answer.out


def test_giving_up_names_who_still_runs(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="one")
    start_run(ctx, "run-2", name="two")
    finish_session(ctx, "run-1", "completed")
    answer = li("runs", "wait", "one", "two", "--timeout", "0.05")
    assert answer.code == 124
    assert answer.out.startswith("one  run-1")
    assert answer.err == "After 0.05 s still running: two (run-2)\n"
    answer = li("runs", "wait", "one", "two", "--timeout", "0.05", "--json")
    ended, running = answer.objects
    assert (answer.code, answer.err) == (124, "")
    assert ended.keys() == running.keys()
    assert (ended["id"], ended["timed_out"]) == ("run-1", False)
    assert (running["id"], running["status"], running["timed_out"]) == ("run-2", "running", True)
    assert (running["wait_exit_code"], running["process_gone"]) == (124, False)


def test_a_run_that_is_not_known_does_not_look_like_one_that_failed(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="one")
    start_run(ctx, "run-2", name="two")
    assert li("runs", "wait", "nobody").code == 127
    answer = li("runs", "wait", "run-", "--json")
    assert (answer.code, json.loads(answer.err)["error"]["code"]) == (127, "ambiguous")


def die(ctx: Context, session_id: str, role: ProcessRole = ProcessRole.AGENT) -> int:
    """Record a process that has ended for a run."""
    pid = int(run_agent("import os; print(os.getpid())").stdout)
    put_process(ctx, ProcessRecord(session_id, role, machine.here(), pid, 1))
    return pid


def test_a_run_whose_process_is_gone_is_not_waited_for(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="one")
    start_run(ctx, "run-2", name="two")
    say(ctx, "run-1", "last words")
    pid = die(ctx, "run-1")
    finish_session(ctx, "run-2", "failed")
    answer = li("runs", "wait", "one", "two")
    assert answer.code == 125
    assert [line[:21] for line in answer.out.splitlines()] == ["two  run-2  Failed · ", "one  run-1  Running ·"]
    assert "process gone" in answer.out.splitlines()[1]
    assert answer.err == (
        "The process of one (run-1) is gone, and the run never said how it ended. "
        f"pid {pid} is gone from {machine.here().host}. Fail such runs: li state doctor --transition-stale\n"
    )
    assert li("runs", "wait", "two", "one").code == 1
    (ended,) = li("runs", "wait", "one", "--json").objects
    assert (ended["status"], ended["wait_exit_code"], ended["process_gone"]) == ("running", 125, True)
    assert get_session(ctx, "run-1").status == "running"


def test_what_is_told_to_type_about_a_run_that_is_gone_ends_it(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="one")
    say(ctx, "run-1", "last words")
    die(ctx, "run-1")
    said = li("runs", "wait", "one", "--timeout", "0")
    assert said.code == 125
    assert li(*said.err.partition("Fail such runs: li ")[2].split()).code == 0
    assert li("runs", "wait", "one", "--json").objects[0]["process_gone"] is False
    assert get_session(ctx, "run-1").status == "failed"


def test_a_run_that_left_nothing_is_not_sent_to_the_doctor_who_would_not_end_it(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="one")
    die(ctx, "run-1")
    assert "li runs show run-1" in li("runs", "wait", "one", "--timeout", "0").err


def test_a_process_that_dies_while_it_is_waited_for_is_noticed(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="one")
    start_run(ctx, "run-2", name="two")
    finish_session(ctx, "run-2", "completed")
    with Agent("import sys; print('ready', flush=True); sys.stdin.readline()") as agent:
        assert agent.line() == "ready"
        seen = machine.look_at(agent.process.pid)
        assert seen is not None
        put_process(ctx, ProcessRecord("run-1", ProcessRole.AGENT, machine.here(), seen.pid, seen.start_time))
        with typed("runs", "wait", "two", "one") as waiting:
            assert waiting.line().startswith("two  run-2  Completed")
            agent.process.kill()
            assert waiting.line().startswith("one  run-1  Running")
            assert waiting.end()[0] == 125


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"place": machine.here()._replace(host="far-1")}, id="on another host"),
        pytest.param({"place": machine.here()._replace(pid_namespace="pid:[1]")}, id="in another container"),
        pytest.param({"pid": os.getpid(), "start_time": None}, id="not known by its start"),
    ],
)
def test_a_process_that_cannot_be_seen_is_not_called_gone(li: Li, ctx: Context, facts: dict[str, Any]) -> None:
    start_run(ctx, "run-1", name="one")
    put_process(ctx, ProcessRecord("run-1", ProcessRole.AGENT, machine.here(), 1, 1)._replace(**facts))
    answer = li("runs", "wait", "one", "--timeout", "0.05")
    assert (answer.code, answer.out, answer.err) == (124, "", "After 0.05 s still running: one (run-1)\n")


def test_a_recorder_that_outlives_its_agent_is_waited_for(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="one")
    die(ctx, "run-1")
    seen = machine.own_identity()
    put_process(ctx, ProcessRecord("run-1", ProcessRole.RECORDER, machine.here(), seen.pid, seen.start_time))
    assert li("runs", "wait", "one", "--timeout", "0.05").code == 124
    start_run(ctx, "run-2", name="two")
    finish_session(ctx, "run-2", "completed")
    with typed("runs", "wait", "two", "one") as waiting:
        assert waiting.line().startswith("two")
        finish_session(ctx, "run-1", "failed", exit_code=9)
        assert waiting.line().startswith("one  run-1  Failed · exit 9")
        assert waiting.end() == (9, "", "")


def test_following_ends_with_the_process_and_prints_its_last_words(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="one")
    say(ctx, "run-1", "last words")
    pid = die(ctx, "run-1")
    answer = li("runs", "tail", "-f", "one")
    assert (answer.code, answer.out.splitlines()[1]) == (0, "    last words")
    assert f"pid {pid} is gone from" in answer.err
    assert "li state doctor --transition-stale" in answer.err
    (message,) = li("runs", "tail", "-f", "one", "--json").objects
    assert message["content"] == {"instruction": "last words"}


SPOOLS_ITS_END = (
    IMPATIENT
    + """
import sys, lionstudio
with lionstudio.record("spools", db=sys.argv[1]) as run:
    run.user("work")
    print(run.session_id, flush=True)
    sys.stdin.readline()
"""
)


def test_an_end_that_waits_on_disk_is_brought_in_before_a_run_is_called_gone(
    sqlite_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONAGI_DB", str(sqlite_path))
    run_agent("import sys, lionstudio\nwith lionstudio.record('other', db=sys.argv[1]): pass", sqlite_path)
    with Agent(SPOOLS_ITS_END, sqlite_path) as agent:
        session_id = agent.line()
        with typed("runs", "wait", "other", session_id) as waiting:
            assert waiting.line().startswith("other")
            with locked(sqlite_path) as locker:
                assert agent.end().returncode == 0
                assert spool_files(home)
                let_go(locker)
            assert waiting.line().startswith(f"spools  {session_id}  Completed")
            assert waiting.end() == (0, "", "")
