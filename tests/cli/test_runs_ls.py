"""`li runs ls`: which runs there are, and how they are doing."""

import re
import time

import pytest

from lionstudio.domain.conversation import ACTION_REQUEST_CLASS, MessageDraft
from lionstudio.services.context import Context
from lionstudio.services.messages import append_message
from lionstudio.services.sessions import finish_session
from tests.cli.conftest import Li
from tests.factories import Clock, assistant_says, line_of, start_run, user_says

FAR_BACK = "2020-01-01"  # before the clock of these tests


def two_runs(ctx: Context, clock: Clock) -> None:
    """One that ended badly and one that waits for a tool."""
    start_run(ctx, "run-failed", name="triage", kind="flow", agent="architect", playbook="bugs", show_topic="tour")
    append_message(ctx, line_of("run-failed"), user_says("find it"))
    usage = {"model": "m", "usage": {"input_tokens": 5, "output_tokens": 2, "cost_usd": 0.5}}
    append_message(ctx, line_of("run-failed"), assistant_says("no", node_metadata=usage))
    clock.pass_seconds(192)
    finish_session(ctx, "run-failed", "failed", exit_code=3)
    start_run(ctx, "run-works", kind="agent", parent_session_id="run-failed")
    append_message(ctx, line_of("run-works"), user_says("count the files in this folder"))
    call = MessageDraft("action", {"function": "bash", "arguments": {"cmd": "ls"}}, ACTION_REQUEST_CLASS)
    append_message(ctx, line_of("run-works"), call)


def test_a_row_says_how_a_run_is_doing(li: Li, ctx: Context, clock: Clock) -> None:
    two_runs(ctx, clock)
    answer = li("runs", "ls")
    assert (answer.code, answer.err) == (0, "")
    title, works, failed = answer.out.splitlines()
    assert title.split() == ["RUN", "NAME", "KIND", "STATE", "ACTIVITY", "SIZE", "TOOK", "UPDATED"]
    assert re.match(r"run-works +count the files in this folder +Agent +Running · quiet \d+d · process unknown ", works)
    assert re.search(r" process unknown +1 br · 2 msg +\d+d +\d+d ago$", works)  # who is gone waits for nothing
    assert re.match(r"run-failed +triage +Flow +Failed · exit 3 · 2 messages +1 br · 2 msg +3m 12s +\d+d ago$", failed)


def test_a_row_says_what_a_run_waits_for(li: Li, ctx: Context, clock: Clock) -> None:
    clock.now = time.time() - 200
    two_runs(ctx, clock)
    _, works, _ = li("runs", "ls").out.splitlines()
    assert re.search(r" bash \d+s +1 br · 2 msg +\d+s +\d+s ago$", works)
    [row] = li("runs", "ls", "--status", "running", "--json").objects
    assert (row["activity"]["kind"], row["activity"]["tool"]) == ("tool", "bash")


def test_states_are_coloured_by_their_tone_on_a_terminal(li: Li, ctx: Context, clock: Clock) -> None:
    two_runs(ctx, clock)
    answer = li("runs", "ls", terminal=True)
    assert "\x1b[31mFailed" in answer.out
    assert len({len(re.sub("\x1b\\[[0-9]*m", "", line)) for line in answer.out.splitlines()}) <= 3
    assert max(len(re.sub("\x1b\\[[0-9]*m", "", line)) for line in answer.out.splitlines()) <= 120


def test_programs_get_one_object_a_run(li: Li, ctx: Context, clock: Clock) -> None:
    two_runs(ctx, clock)
    works, failed = li("runs", "ls", "--json").objects
    assert {name: failed[name] for name in ("id", "name", "display_name", "status", "effective_health")} == {
        "id": "run-failed", "name": "triage", "display_name": "triage", "status": "failed",
        "effective_health": "healthy",
    }  # fmt: skip
    reasons = failed["state"].pop("reasons")
    assert failed["state"] == {
        "lifecycle": "ended", "outcome": "failed", "health": "ok", "delivery": "not_expected", "severity": "critical",
        "tone": "danger",
    }  # fmt: skip
    assert reasons[0]["code"] == "run.failed.exit_nonzero"
    assert {"kind": "fact", "ref": "exit_code", "detail": "3"} in reasons[0]["evidence"]
    assert (failed["message_count"], failed["branch_count"], failed["duration_ms"]) == (2, 1, 192_000.0)
    assert failed["usage"] == {
        "input_tokens": 5, "cache_read_tokens": 0, "cache_write_tokens": 0, "output_tokens": 2, "reasoning_tokens": 0,
        "cost_usd": 0.5,
    }  # fmt: skip
    assert failed["provenance"] == {
        "source": "live", "kind": "flow", "agent": "architect", "playbook": "bugs", "show": "tour", "play": None,
        "parent": None,
    }  # fmt: skip
    assert failed["activity"] is None
    assert works["activity"] is None
    assert works["provenance"]["parent"] == "run-failed"
    assert works["ended_at"] is None


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--status", "failed"), ["run-failed"]),
        (("--kind", "agent"), ["run-works"]),
        (("--source", "live"), ["run-works", "run-failed"]),
        (("--health", "stale"), ["run-works"]),
        (("--agent", "architect"), ["run-failed"]),
        (("--playbook", "bugs"), ["run-failed"]),
        (("--show", "tour"), ["run-failed"]),
        (("--search", "tri"), ["run-failed"]),
        (("--view", "slow"), ["run-works"]),
        (("--since", FAR_BACK), ["run-works", "run-failed"]),
        (("--since", "1s"), []),
        (("--sort", "ended", "--status", "failed"), ["run-failed"]),
    ],
)
def test_every_filter(li: Li, ctx: Context, clock: Clock, words: tuple[str, ...], expected: list[str]) -> None:
    two_runs(ctx, clock)
    assert [row["id"] for row in li("runs", "ls", "--json", *words).objects] == expected


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--status", "bogus"), "'bogus' is not a status. Use one of: running, completed"),
        (("--health", "bogus"), "Use one of: healthy, idle"),
        (("--view", "bogus"), "Use one of: waiting, slow"),
        (("--sort", "bogus"), "'bogus' is not an order. Use one of: active, created, ended."),
        (("--since", "yesterday"), "'yesterday' is neither an age nor a date. Type 30m, 12h, 7d"),
        (("--cursor", "bogus"), "'bogus' is not a cursor."),
        (("--limit", "0"), "--limit must be 1 or more."),
    ],
)
def test_wrong_values_are_refused(li: Li, ctx: Context, words: tuple[str, ...], complaint: str) -> None:
    answer = li("runs", "ls", *words)
    assert (answer.code, answer.out) == (2, "")
    assert complaint in answer.err


def test_nothing_there_says_what_to_type(li: Li, ctx: Context) -> None:
    answer = li("runs", "ls")
    assert (answer.code, answer.out) == (0, "")
    assert "There are no runs yet." in answer.err
    assert "li state import" in answer.err
    assert li("runs", "ls", "--json") == (0, "", "")


def test_no_match_names_the_filters(li: Li, ctx: Context) -> None:
    start_run(ctx)
    answer = li("runs", "ls", "--agent", "the architect", "--status", "failed")
    assert (answer.code, answer.out) == (0, "")
    assert answer.err == "No run matches --status failed --agent 'the architect'. All of them: li runs ls\n"


def test_the_next_page_is_told(li: Li, ctx: Context, clock: Clock) -> None:
    for number in range(5):
        start_run(ctx, f"run-{number}", agent="a b")
        clock.pass_seconds(1)
    answer = li("runs", "ls", "--limit", "2", "--agent", "a b")
    assert len(answer.out.splitlines()) == 3
    found = re.fullmatch(r"More: li runs ls --limit 2 --agent 'a b' --cursor (\S+)\n", answer.err)
    assert found is not None
    *rows, last = li("runs", "ls", "--limit", "2", "--json").objects
    assert [row["id"] for row in rows] == ["run-4", "run-3"]
    assert last == {"next_cursor": found[1]}
    *rows, last = li("runs", "ls", "--limit", "2", "--json", "--cursor", found[1]).objects
    assert [row["id"] for row in rows] == ["run-2", "run-1"]
    (row,) = li("runs", "ls", "--limit", "2", "--json", "--cursor", last["next_cursor"]).objects
    assert row["id"] == "run-0"


def test_on_80_columns_a_state_is_told_to_its_end(li: Li, ctx: Context, clock: Clock, monkeypatch) -> None:
    start_run(ctx, "0190abcd-0001-7000-8000-000000000001", name="count the files of the whole project")
    clock.pass_seconds(13)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    title, row = li("runs", "ls", terminal=True).out.splitlines()
    assert "ACTIVITY" not in title
    assert re.match(r"0190abcd  count the .*…  Running · quiet \S+ · process unknown  ", row)
    assert len(row) <= 80


def test_ids_on_a_terminal_are_long_enough_to_tell_runs_apart(li: Li, ctx: Context) -> None:
    for name in ("0190abcd-0001", "0190abcd-0002"):
        start_run(ctx, name, name="same")
    shown = [line.split()[0] for line in li("runs", "ls", terminal=True).out.splitlines()[1:]]
    assert shown == ["0190abcd-0002", "0190abcd-0001"]


def test_a_hostile_name_cannot_steer_the_terminal(li: Li, ctx: Context) -> None:
    start_run(ctx, name="evil\x1b[2J\nname")
    assert "evil\\x1b[2J name" in li("runs", "ls").out
