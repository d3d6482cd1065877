"""A small database with something in every table, for copying it about."""

from lionstudio.domain.conversation import ACTION_REQUEST_CLASS, Line, MessageDraft
from lionstudio.domain.process import Place, ProcessRecord, ProcessRole
from lionstudio.services import admin, shows, teams
from lionstudio.services.branches import BranchDraft, create_branch
from lionstudio.services.context import Context
from lionstudio.services.messages import append_message, send_message
from lionstudio.services.sessions import SessionDraft, finish_session, start_session
from tests.factories import assistant_says, line_of, start_run, user_says

FORK = Line("run-2", "run-2-fork", "run-2-order", "run-2-fork-order")


def fill(ctx: Context) -> None:
    """Three runs, of which the second has a branch forked from the first, and all that may stand around them."""
    _first_run(ctx)
    start_run(ctx, "run-2", name="second", parent_session_id="run-1")
    create_branch(ctx, BranchDraft(FORK, parent_branch_id="run-1-main", forked_at_ord=2))
    append_message(ctx, FORK, MessageDraft("user", {"text": "go on from here"}, "nobody.knows.This", id="m-4"))
    call = MessageDraft("action", {"function": "bash", "arguments": {}}, ACTION_REQUEST_CLASS, id="m-5")
    append_message(ctx, FORK, call)
    start_run(ctx, "run-3", name="third")
    send_message(ctx, "run-1", MessageDraft("user", {"text": "done"}, recipient="run-3", channel="handover", id="sent"))
    shows.put_show(ctx, "launch", actor="ana", show_dir="/shows/launch", goal="fly")
    shows.put_play(ctx, "launch", "draft", actor="ana", session_id="run-1")
    teams.put_team(ctx, "team-1", actor="ana", name="crew", members=["ana", "bo"])
    teams.add_message(
        ctx, "team-1", sender="ana", content="hello", session_id="run-1", node_metadata={"file": {"kind": "done"}}
    )
    admin.record_event(ctx, "vacuum", details={"freed": 3}, actor="ana")


def _first_run(ctx: Context) -> None:
    place = Place(host="here", boot_id="boot", pid_namespace="1")
    process = ProcessRecord(session_id="run-1", role=ProcessRole.RECORDER, place=place, pid=4, start_time=5)
    start_session(ctx, SessionDraft(line_of("run-1"), name="first", kind="agent", agent="scout"), process)
    line = line_of("run-1")
    append_message(ctx, line, user_says("look \ud800 here \0", id="m-1", embedding=[0.5, -1.25, 3e-5]))
    usage = {"input_tokens": 900, "output_tokens": 40, "cost_usd": 0.125}
    metadata = {"model": "claude/opus", "usage": usage}
    append_message(ctx, line, assistant_says("found it", id="m-2", node_metadata=metadata))
    append_message(ctx, line, user_says("thanks", id="m-3"))
    finish_session(ctx, "run-1", "completed", exit_code=0)
