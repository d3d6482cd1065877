"""Archive of legacy runs: in a file first, verified, then gone."""

import json
from pathlib import Path

import pytest

from lionstudio.domain.errors import InvalidRequest, SessionNotFound, Unavailable
from lionstudio.services import admin, legacy, sessions
from lionstudio.services.context import Context
from lionstudio.services.legacy_archive import archive_legacy
from tests.factories import Clock
from tests.services.prune_world import put_session
from tests.services.test_legacy import bring_in
from tests.services.test_prune import put_play


def test_legacy_runs_go_into_a_file_and_then_out_of_the_database(ctx: Context, tmp_path: Path):
    bring_in(ctx, "old-1")
    bring_in(ctx, "old-2")
    put_session(ctx, "done")
    done = archive_legacy(ctx, str(tmp_path / "backups"), actor="ana")
    assert done.path == str(tmp_path / "backups" / "legacy-20260921-141320.jsonl")
    found = [json.loads(line) for line in Path(done.path).read_text().splitlines()]
    assert sorted(line["id"] for line in found if line["type"] == "session") == ["old-1", "old-2"]
    assert sum(line["type"] == "message" for line in found) == 2
    assert (done.removed.sessions, done.removed.messages, done.kept) == (2, 2, ())
    assert legacy.count_legacy(ctx) == 0
    with pytest.raises(SessionNotFound):
        sessions.get_session(ctx, "old-1")
    assert sessions.get_session(ctx, "done").id == "done"


def test_a_legacy_run_of_a_clock_that_was_ahead_goes_too(ctx: Context, clock: Clock, tmp_path: Path):
    bring_in(ctx, "ahead-1")
    bring_in(ctx, "ahead-2")
    clock.pass_seconds(-(10**8))
    planned = archive_legacy(ctx, str(tmp_path), actor="ana", dry_run=True)
    assert (planned.removed.sessions, legacy.count_legacy(ctx)) == (2, 2)
    assert archive_legacy(ctx, str(tmp_path), actor="ana").removed.sessions == 2
    assert legacy.count_legacy(ctx) == 0


def test_an_archive_leaves_an_event_that_names_the_file(ctx: Context, tmp_path: Path):
    bring_in(ctx, "old-1")
    done = archive_legacy(ctx, str(tmp_path), actor="ana")
    (event,) = admin.list_events(ctx, action="prune")
    assert (event.id, event.actor, event.details["archive"]) == (done.event_id, "ana", done.path)


def test_a_dry_run_counts_what_then_goes_and_writes_nothing(ctx: Context, tmp_path: Path):
    bring_in(ctx, "old-1")
    planned = archive_legacy(ctx, str(tmp_path / "backups"), actor="ana", dry_run=True)
    assert (planned.path, planned.event_id, legacy.count_legacy(ctx)) == (None, None, 1)
    assert not (tmp_path / "backups").exists()
    assert archive_legacy(ctx, str(tmp_path / "backups"), actor="ana").removed == planned.removed


def test_a_run_that_a_play_points_to_stays_and_says_why(ctx: Context, tmp_path: Path):
    bring_in(ctx, "old-1")
    put_play(ctx, "old-1")
    done = archive_legacy(ctx, str(tmp_path), actor="ana")
    assert (done.path, [kept.session_id for kept in done.kept]) == (None, ["old-1"])
    assert "schema of the show ledger" in done.kept[0].sentence
    assert legacy.count_legacy(ctx) == 1


def test_nothing_is_deleted_when_the_file_cannot_be_written(ctx: Context, tmp_path: Path):
    bring_in(ctx, "old-1")
    (tmp_path / "file").write_text("x")
    with pytest.raises(Unavailable):
        archive_legacy(ctx, str(tmp_path / "file" / "backups"), actor="ana")
    assert legacy.count_legacy(ctx) == 1


def test_who_archives_must_be_known(ctx: Context, tmp_path: Path):
    with pytest.raises(InvalidRequest, match="Who"):
        archive_legacy(ctx, str(tmp_path), actor=" ")
