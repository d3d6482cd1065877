"""Exports that are sent piece by piece: whole, in order, and without keeping anybody waiting."""

import gc
import json
import os
from pathlib import Path
from typing import Any

import pytest

from lionstudio.domain.errors import Conflict, InvalidRequest, Refused, SessionNotFound, Unavailable
from lionstudio.services import admin, messages, sessions
from lionstudio.services.context import Context
from lionstudio.services.export_stream import (
    PIECE,
    Export,
    export_everything,
    export_legacy,
    export_sessions,
    export_sessions_file,
    export_snapshot,
)
from lionstudio.services.legacy import backfill_legacy
from lionstudio.services.maintenance import checkpoint
from lionstudio.services.prune_selected import prune_selected
from lionstudio.store.open import open_database
from tests.factories import Clock, line_of, start_run, user_says
from tests.services.prune_world import put_session
from tests.services.test_health import end_run
from tests.services.test_legacy import bring_in


def put_runs(ctx: Context) -> None:
    for name in ("one", "two", "three"):
        start_run(ctx, name)
        messages.append_messages(ctx, line_of(name), [user_says(f"{name} {number}") for number in range(3)])


def lines(export: Export) -> list[dict[str, Any]]:
    return [json.loads(line) for line in b"".join(export.pieces).splitlines()]


def told(export: Export) -> list[tuple[str, str]]:
    return [(line["type"], line["id"]) for line in lines(export) if line["type"] == "session"]


def test_chosen_runs_are_sent_as_lines_in_the_order_asked_for(ctx: Context):
    put_runs(ctx)
    export = export_sessions(ctx, ["three", "one"], actor="ana")
    assert (export.media_type, export.size) == ("application/x-ndjson", None)
    found = lines(export)
    assert [line["id"] for line in found if line["type"] == "session"] == ["three", "one"]
    said = [line["content"]["instruction"] for line in found if line["type"] == "message"]
    assert said == ["three 0", "three 1", "three 2", "one 0", "one 1", "one 2"]


def test_everything_is_sent_as_lines(ctx: Context):
    put_runs(ctx)
    assert sorted(told(export_everything(ctx, actor="ana"))) == [
        ("session", "one"),
        ("session", "three"),
        ("session", "two"),
    ]


def test_legacy_runs_are_sent_and_stay(ctx: Context):
    bring_in(ctx, "old-1")
    put_session(ctx, "done")
    assert told(export_legacy(ctx, actor="ana")) == [("session", "old-1")]
    assert sessions.get_session(ctx, "old-1").status is None
    assert admin.list_events(ctx)[0].details["sessions"] == 1


def test_an_export_is_named_by_its_time_and_leaves_an_event(ctx: Context):
    put_runs(ctx)
    export = export_sessions(ctx, ["one"], actor="ana")
    (event,) = admin.list_events(ctx)
    assert (event.id, event.action, event.actor) == (export.event_id, "export", "ana")
    assert event.details == {"what": "sessions", "session_ids": ["one"], "file_name": "runs-20260921-141320.jsonl"}
    assert export.file_name == "runs-20260921-141320.jsonl"


def test_a_long_run_comes_in_pieces_and_nobody_waits_between_two(ctx: Context):
    start_run(ctx)
    for number in range(200):
        messages.append_message(ctx, line_of("run-1"), user_says("x" * 2_000, id=f"m-{number}"))
    pieces = export_sessions(ctx, ["run-1"], actor="ana").pieces
    first = next(pieces)
    assert PIECE <= len(first) < 2 * PIECE
    # No transaction is open: others write, and the log can be emptied to its end.
    messages.append_message(ctx, line_of("run-1"), user_says("meanwhile", id="late"))
    if ctx.db.dialect.local:
        moved = checkpoint(ctx, "TRUNCATE", actor="ana")
        assert (moved.busy, moved.log_size_after) == (False, 0)
    rest = list(pieces)
    assert all(len(piece) < 2 * PIECE for piece in rest)
    sent = [json.loads(line)["id"] for line in b"".join([first, *rest]).splitlines()]
    assert sent[2:] == [f"m-{number}" for number in range(200)]  # as it was when it began


def test_a_run_that_is_deleted_while_it_is_sent_does_not_pass_for_a_whole_one(ctx: Context):
    start_run(ctx)
    for _ in range(500):
        messages.append_message(ctx, line_of("run-1"), user_says("x" * 1_000))
    end_run(ctx)
    pieces = export_sessions(ctx, ["run-1"], actor="ana").pieces
    next(pieces)
    prune_selected(ctx, ["run-1"], actor="ana")
    with pytest.raises(Conflict, match="deleted"):
        list(pieces)


def test_a_run_that_does_not_exist_is_named_before_the_first_byte(ctx: Context, tmp_path: Path):
    put_runs(ctx)
    with pytest.raises(SessionNotFound, match="ghost"):
        export_sessions(ctx, ["ghost"], actor="ana")
    with pytest.raises(Refused) as caught:
        export_sessions_file(ctx, ["one", "ghost", "two"], str(tmp_path), actor="ana")
    assert list(caught.value.refusals) == ["ghost"]
    assert admin.list_events(ctx) == []


def test_who_exports_must_be_known(ctx: Context):
    with pytest.raises(InvalidRequest, match="actor"):
        export_everything(ctx, actor=" ")


def receive(export: Export, path: Path) -> Context:
    data = b"".join(export.pieces)
    assert len(data) == export.size
    path.write_bytes(data)
    return Context(open_database(str(path), create=False))


def test_a_snapshot_can_be_opened_and_holds_everything_of_one_moment(ctx: Context, tmp_path: Path):
    put_runs(ctx)
    export = export_snapshot(ctx, str(tmp_path / "room"), actor="ana")
    start_run(ctx, "later")
    assert os.listdir(tmp_path / "room") == []  # nothing is left, whatever becomes of the reader
    assert (export.media_type, export.file_name) == ("application/vnd.sqlite3", "state-20260921-141320.db")
    copy = receive(export, tmp_path / "copy.db")
    for name in ("one", "two", "three"):
        assert sessions.get_session(copy, name) == sessions.get_session(ctx, name)
        assert messages.list_messages(copy, name) == messages.list_messages(ctx, name)
    with pytest.raises(SessionNotFound):
        sessions.get_session(copy, "later")
    copy.db.close()


def test_chosen_runs_can_be_sent_as_a_database(ctx: Context, tmp_path: Path):
    put_runs(ctx)
    copy = receive(export_sessions_file(ctx, ["two"], str(tmp_path / "room"), actor="ana"), tmp_path / "copy.db")
    assert messages.list_messages(copy, "two") == messages.list_messages(ctx, "two")
    with pytest.raises(SessionNotFound):
        sessions.get_session(copy, "one")
    copy.db.close()


def test_a_reader_that_goes_away_leaves_no_file_open(ctx: Context, tmp_path: Path):
    put_runs(ctx)
    before = set(os.listdir("/proc/self/fd"))
    export = export_snapshot(ctx, str(tmp_path / "room"), actor="ana")
    next(export.pieces)
    del export
    gc.collect()
    assert len(set(os.listdir("/proc/self/fd")) - before) <= 1  # a connection may stay in the pool


def test_a_snapshot_that_has_no_place_says_so(ctx: Context, tmp_path: Path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(Unavailable):
        export_snapshot(ctx, str(tmp_path / "file" / "room"), actor="ana")


def test_a_backfill_can_be_tried(ctx: Context, clock: Clock):
    bring_in(ctx, "old-1")
    assert backfill_legacy(ctx, actor="ana", dry_run=True) == 1
    assert sessions.get_session(ctx, "old-1").status is None
    assert admin.list_events(ctx) == []
