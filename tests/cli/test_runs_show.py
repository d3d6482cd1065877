"""`li runs show`: one run in full."""

import os
import re

from lionstudio import machine
from lionstudio.domain.conversation import ACTION_RESPONSE_CLASS, MessageDraft
from lionstudio.domain.process import ProcessRecord, ProcessRole
from lionstudio.services.branches import BranchDraft, create_branch
from lionstudio.services.context import Context
from lionstudio.services.messages import append_message
from lionstudio.services.sessions import count_lost, finish_session, put_process
from lionstudio.services.shows import put_play, put_show
from tests.cli.conftest import Li
from tests.factories import Clock, assistant_says, line_of, start_run, user_says


def tool_failed(text: str) -> MessageDraft:
    content = {"function": "bash", "arguments": {}, "output": text, "action_request_id": "c", "error": True}
    return MessageDraft("action", content, ACTION_RESPONSE_CLASS)


def a_run(ctx: Context, clock: Clock) -> None:
    start_run(ctx, "parent", name="planner")
    start_run(ctx, "run-1", name="triage", kind="agent", agent="architect", parent_session_id="parent", user="ana")
    start_run(ctx, "child-1", name="helper", parent_session_id="run-1")
    line = line_of("run-1")
    append_message(ctx, line, user_says("find it"))
    append_message(ctx, line, tool_failed("1 failed\nin detail"))
    append_message(ctx, line, tool_failed("1 failed\nin other detail"))
    append_message(ctx, line, tool_failed("no such file"))
    usage = {"model": "claude", "usage": {"input_tokens": 1900, "output_tokens": 40, "cost_usd": 0.25}}
    append_message(ctx, line, assistant_says("done", node_metadata=usage))
    clock.pass_seconds(1)
    fork = line._replace(branch_id="fork", branch_progression_id="fork-order")
    create_branch(ctx, BranchDraft(fork, "retry", parent_branch_id=line.branch_id, forked_at_ord=1))
    append_message(ctx, fork, user_says("again"))
    count_lost(ctx, "run-1", 2)
    own = machine.own_identity()
    put_process(
        ctx,
        ProcessRecord(
            "run-1", ProcessRole.AGENT, machine.here(), own.pid, own.start_time, os.getpgid(0), command="agent.py"
        ),
    )
    put_show(ctx, "tour", actor="test", show_dir="/shows/tour")
    put_play(ctx, "tour", "opening", actor="test", session_id="run-1")


def test_everything_about_a_run(li: Li, ctx: Context, clock: Clock) -> None:
    a_run(ctx, clock)
    answer = li("runs", "show", "triage")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0] == "triage  run-1"
    assert re.fullmatch(
        r"Running · quiet \d+d · process alive · 2 messages lost · 3 tool errors · 6 messages", lines[1]
    )
    assert re.fullmatch(r"waits for the model since \d+d", lines[2])
    assert re.search(
        r"Its process is alive\.  run\.health\.process_alive\n    process \d+: pid \d+ is alive", answer.out
    )
    facts = dict(re.findall(r"(?m)^(\S[\w ]*?)  +(.+)$", answer.out))
    assert facts["agent"] == "architect"
    assert facts["play"] == "tour / opening (pending, attempt 1)"
    assert facts["started by"] == "planner (parent) running"
    assert facts["started"] == "helper (child-1) running"
    assert facts["messages lost"] == "2"
    assert f"pid {os.getpid()} is alive" in facts["agent process"]
    assert re.search(r"(?m)^run-1-main +5 +5 +\d{4}-\d\d-\d\d ", answer.out)
    assert re.search(r"(?m)^└─ retry +1 +2  fork at 1  waits for the model since", answer.out)
    assert re.search(r"(?m)^bash +2  .* 1 failed$", answer.out)
    assert re.search(r"(?m)^bash +1  .* no such file$", answer.out)
    assert re.search(r"(?m)^claude +1,900 +0 +0 +40 +0  \$0\.2500$", answer.out)
    assert re.search(r"(?m)  run +· → running +A recorder began the run\.$", answer.out)


def test_programs_get_one_object(li: Li, ctx: Context, clock: Clock) -> None:
    a_run(ctx, clock)
    (run,) = li("runs", "show", "run-1", "--json").objects
    assert (run["id"], run["status"], run["messages_lost"], run["user"]) == ("run-1", "running", 2, "ana")
    assert run["chain"][-1] == "6 messages"
    assert [(b["id"], b["message_count"], b["history_length"]) for b in run["branches"]] == [
        ("run-1-main", 5, 5), ("fork", 1, 2),
    ]  # fmt: skip
    assert [(e["tool"], e["sentence"], e["times"]) for e in run["tool_errors"]] == [
        ("bash", "1 failed", 2), ("bash", "no such file", 1),
    ]  # fmt: skip
    assert run["usage_by_model"]["claude"]["input_tokens"] == 1900
    (process,) = run["processes"]
    assert (process["pid"], process["state"], process["command"]) == (os.getpid(), "alive", "agent.py")
    assert run["plays"] == [{"show": "tour", "play": "opening", "status": "pending"}]
    assert run["parent"] == {"id": "parent", "display_name": "planner", "status": "running"}
    assert run["children"] == [{"id": "child-1", "display_name": "helper", "status": "running"}]
    assert [step["reason_code"] for step in run["history"]] == ["run.started"]
    assert "run.recording.lost" in [reason["code"] for reason in run["state"]["reasons"]]


def test_an_ended_run_says_how_it_ended(li: Li, ctx: Context, clock: Clock) -> None:
    start_run(ctx, "run-1")
    clock.pass_seconds(60)
    finish_session(ctx, "run-1", "failed", exit_code=3)
    out = li("runs", "show", "run-1").out
    assert "Failed · exit 3 · 0 messages" in out
    assert "The command ended with exit code 3.  run.failed.exit_nonzero" in out
    assert re.search(r"    fact ended_at: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \(\d+d ago\)", out)
    assert re.search(r"(?m)^took +1m$", out)


def test_an_unknown_run_suggests_a_close_one(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="triage")
    answer = li("runs", "show", "triagge")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "li: There is no run 'triagge'. Did you mean triage?\n"


def test_what_may_mean_several_is_refused_with_what_tells_them_apart(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1", name="triage")
    start_run(ctx, "run-2", name="review")
    finish_session(ctx, "run-2", "failed")
    answer = li("runs", "show", "run")
    assert (answer.code, answer.out) == (1, "")
    told = re.sub(r"\d+d ago", "… ago", answer.err)
    assert told == (
        "li: 'run' may mean run-1 (triage, running, created … ago), run-2 (review, failed, created … ago). "
        "Type more of the id.\n"
    )


def test_an_id_cannot_steer_the_terminal(li: Li, ctx: Context) -> None:
    start_run(ctx, "run\x1b[2J-1", name="triage")
    answer = li("runs", "show", "triage")
    assert answer.code == 0
    assert answer.out.startswith("triage  run")
    assert "\x1b" not in answer.out
