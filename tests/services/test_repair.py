"""Repair: what a dead run left outside of the database comes back, and no status is changed by it."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from lionstudio.domain.errors import CannotRepair, InvalidRequest, Refused, SessionNotFound
from lionstudio.domain.health import Health
from lionstudio.domain.json_text import to_json
from lionstudio.domain.process import Place
from lionstudio.domain.session import SessionStatus
from lionstudio.recorders.left_behind import LeftBehind
from lionstudio.recorders.records import Record, finish_record, message_record
from lionstudio.recorders.spool import SpoolFile, list_rejected, list_waiting
from lionstudio.services import admin, health, messages, sessions
from lionstudio.services.change_feed import newest_number
from lionstudio.services.context import Context
from lionstudio.services.repair import Repaired, Step, repair
from tests.factories import NOW, Clock, line_of, start_run, user_says
from tests.services.test_health import child as child  # noqa: PLC0414  a fixture
from tests.services.test_health import end_run, record_dead_process, record_process, say_something, write


def start_orphan(ctx: Context, clock: Clock, session_id: str = "run-1", **more: Any) -> None:
    start_run(ctx, session_id, **more)
    record_dead_process(ctx, session_id)
    clock.pass_seconds(61)


def leave_in_spool(ctx: Context, spool: Path, session_id: str, *records: Record) -> None:
    """What a recorder leaves that could not write, and then died."""
    file = SpoolFile(spool / ctx.db.dialect.database_id, session_id)
    for record in records:
        file.keep(to_json(record).encode() + b"\n")
    file.close()


def said(session_id: str, text: str) -> Record:
    return message_record(line_of(session_id), user_says(text, id=f"{session_id}-{text}"), NOW)


def mend(ctx: Context, tmp_path: Path, *session_ids: str, dry_run: bool = False) -> Repaired:
    (done,) = repair_all(ctx, tmp_path, *session_ids, dry_run=dry_run)
    return done


def repair_all(ctx: Context, tmp_path: Path, *session_ids: str, dry_run: bool = False) -> list[Repaired]:
    spool = LeftBehind(ctx, tmp_path / "spool", "somewhere")
    wanted = session_ids or ["run-1"]
    return repair(ctx, wanted, actor="ana", spool=spool, runs_folder=str(tmp_path / "runs"), dry_run=dry_run)


def steps(done: Repaired) -> dict[Step, bool]:
    return {step.step: step.changes for step in done.steps}


def test_messages_that_wait_on_disk_are_written(ctx: Context, clock: Clock, tmp_path: Path):
    start_orphan(ctx, clock)
    leave_in_spool(ctx, tmp_path / "spool", "run-1", said("run-1", "one"), said("run-1", "two"))
    done = mend(ctx, tmp_path)
    assert (done.before.health, done.after.health, done.session.message_count) == (Health.ORPHANED, Health.STALE, 2)
    assert [message.content for message in messages.list_messages(ctx, "run-1")] == [
        {"instruction": "one"},
        {"instruction": "two"},
    ]
    assert steps(done) == {Step.SPOOL: True, Step.PROCESS: False}
    assert done.steps[0].sentence == "2 records that waited on disk were written."
    assert list_waiting(tmp_path / "spool") == list_rejected(tmp_path / "spool") == []
    assert (done.session.status, "transition" in done.way_on) == (SessionStatus.RUNNING, True)


def test_what_waits_for_several_runs_is_told_of_each(ctx: Context, clock: Clock, tmp_path: Path):
    for name in ("one", "two", "three"):
        start_orphan(ctx, clock, name)
    for name in ("one", "two"):
        leave_in_spool(ctx, tmp_path / "spool", name, said(name, "hello"))
    told = {done.session.id: steps(done) for done in repair_all(ctx, tmp_path, "one", "two", "three")}
    found = {Step.SPOOL: True, Step.PROCESS: False}
    assert told == {"one": found, "two": found, "three": {Step.PROCESS: False}}


def test_what_another_process_has_open_still_waits(ctx: Context, clock: Clock, tmp_path: Path):
    start_orphan(ctx, clock)
    file = SpoolFile(tmp_path / "spool" / ctx.db.dialect.database_id, "run-1")
    file.keep(to_json(said("run-1", "one")).encode() + b"\n")
    done = mend(ctx, tmp_path)
    assert done.steps[0] == (Step.SPOOL, "1 record still waits on disk, where another process writes.", False)
    file.close()
    assert steps(mend(ctx, tmp_path)) == {Step.SPOOL: True, Step.PROCESS: False}


def test_a_run_whose_own_end_waits_on_disk_ends_by_itself(ctx: Context, clock: Clock, tmp_path: Path):
    start_orphan(ctx, clock)
    ending = {"status": "completed", "exit_code": 0, "at": NOW + 5}
    leave_in_spool(ctx, tmp_path / "spool", "run-1", said("run-1", "one"), finish_record("run-1", ending))
    done = mend(ctx, tmp_path)
    assert (done.session.status, done.session.end_actor, done.after.health) == ("completed", "run", Health.HEALTHY)
    assert done.way_on == "The run's own end was found: Completed. Nothing is left to do."


def test_files_in_a_folder_of_the_runs_own_name_are_linked(ctx: Context, clock: Clock, tmp_path: Path):
    start_orphan(ctx, clock)
    write(tmp_path / "runs" / "run-1" / "artifacts" / "report.md")
    done = mend(ctx, tmp_path)
    assert done.session.artifacts_path == str(tmp_path / "runs" / "run-1" / "artifacts")
    assert (done.before.health, done.after.health) == (Health.ORPHANED, Health.STALE)
    assert steps(done) == {Step.ARTIFACTS: True, Step.PROCESS: False}


def test_a_folder_that_is_empty_or_a_link_is_not_linked(ctx: Context, clock: Clock, tmp_path: Path):
    start_orphan(ctx, clock, "empty")
    start_orphan(ctx, clock, "linked")
    (tmp_path / "runs" / "empty" / "artifacts").mkdir(parents=True)
    write(tmp_path / "elsewhere" / "report.md")
    (tmp_path / "runs" / "linked").mkdir()
    (tmp_path / "runs" / "linked" / "artifacts").symlink_to(tmp_path / "elsewhere")
    for done in repair_all(ctx, tmp_path, "empty", "linked"):
        assert (done.session.artifacts_path, done.after.health) == (None, Health.ORPHANED)


def test_a_folder_that_the_run_named_itself_stays_its_own(ctx: Context, clock: Clock, tmp_path: Path):
    (tmp_path / "own").mkdir()
    start_orphan(ctx, clock, artifacts_path=str(tmp_path / "own"))
    write(tmp_path / "runs" / "run-1" / "artifacts" / "report.md")
    assert mend(ctx, tmp_path).session.artifacts_path == str(tmp_path / "own")


@pytest.mark.parametrize("name", ["..", "../outside", "a/b"])
def test_an_id_that_looks_like_a_path_leads_nowhere(ctx: Context, clock: Clock, tmp_path: Path, name: str):
    (tmp_path / "runs").mkdir()
    start_orphan(ctx, clock, name)
    write(Path(f"{tmp_path}/runs/{name}/artifacts/report.md"))
    assert mend(ctx, tmp_path, name).session.artifacts_path is None


def test_a_run_folder_that_can_be_imported_is_named(ctx: Context, clock: Clock, tmp_path: Path):
    start_orphan(ctx, clock)
    write(tmp_path / "runs" / "run-1" / "run.json")
    done = mend(ctx, tmp_path)
    (found,) = [step for step in done.steps if step.step is Step.RUN_FOLDER]
    assert f"li state import {tmp_path}/runs/run-1" in found.sentence and not found.changes


def test_where_nothing_is_found_the_way_on_is_a_transition(ctx: Context, clock: Clock, tmp_path: Path):
    start_orphan(ctx, clock)
    done = mend(ctx, tmp_path)
    assert (done.session.status, done.after.health) == (SessionStatus.RUNNING, Health.ORPHANED)
    assert done.way_on.startswith("It never produced anything. End it by hand")


def test_a_pid_that_belongs_to_another_process_now_is_said(
    ctx: Context, clock: Clock, tmp_path: Path, child: subprocess.Popen[bytes]
):
    start_run(ctx)
    record_process(ctx, child.pid, start_time=1)
    clock.pass_seconds(61)
    done = mend(ctx, tmp_path)
    assert done.steps[-1] == (Step.PROCESS, f"pid {child.pid} now belongs to another process.", False)


def test_a_dry_run_says_what_would_come_back_and_changes_nothing(ctx: Context, clock: Clock, tmp_path: Path):
    start_orphan(ctx, clock)
    leave_in_spool(ctx, tmp_path / "spool", "run-1", said("run-1", "one"))
    write(tmp_path / "runs" / "run-1" / "artifacts" / "report.md")
    before = newest_number(ctx), admin.list_events(ctx), sessions.get_session(ctx, "run-1")
    planned = mend(ctx, tmp_path, dry_run=True)
    assert (newest_number(ctx), admin.list_events(ctx), sessions.get_session(ctx, "run-1")) == before
    assert len(list_waiting(tmp_path / "spool")) == 1
    assert (planned.event_id, planned.after) == (None, planned.before)
    assert steps(planned) == steps(mend(ctx, tmp_path))


def test_a_repair_leaves_an_event_and_what_was_seen(ctx: Context, clock: Clock, tmp_path: Path):
    start_orphan(ctx, clock)
    leave_in_spool(ctx, tmp_path / "spool", "run-1", said("run-1", "one"))
    done = mend(ctx, tmp_path)
    (event,) = admin.list_events(ctx, action="repair")
    assert (event.id, event.actor, event.target_id) == (done.event_id, "ana", "run-1")
    assert (event.details["previous_health"], event.details["health"]) == ("orphaned", "stale")
    assert [step["step"] for step in event.details["steps"]] == ["spool", "process"]
    stored = health.find_evidence(ctx, "run-1")
    assert stored is not None and stored.health is Health.STALE


def test_repairing_twice_changes_nothing_more(ctx: Context, clock: Clock, tmp_path: Path):
    start_orphan(ctx, clock)
    leave_in_spool(ctx, tmp_path / "spool", "run-1", said("run-1", "one"))
    first = mend(ctx, tmp_path)
    again = mend(ctx, tmp_path)
    assert again.session == first.session
    assert steps(again) == {Step.PROCESS: False}


def test_a_run_whose_process_lives_is_refused(ctx: Context, tmp_path: Path, child: subprocess.Popen[bytes]):
    start_run(ctx)
    record_process(ctx, child.pid)
    with pytest.raises(CannotRepair, match="lives"):
        mend(ctx, tmp_path)


def test_a_run_that_nobody_here_can_see_is_refused(ctx: Context, tmp_path: Path):
    start_run(ctx)
    record_dead_process(ctx, place=Place("elsewhere", "boot", "pid"))
    with pytest.raises(CannotRepair, match="elsewhere") as caught:
        mend(ctx, tmp_path)
    assert caught.value.hint is not None and "where it ran" in caught.value.hint


def test_an_ended_run_is_refused_and_a_zombie_is_to_be_cleaned_up(ctx: Context, tmp_path: Path):
    start_run(ctx, artifacts_path=str(tmp_path / "out"))
    end_run(ctx)
    with pytest.raises(CannotRepair, match="has ended: Completed") as caught:
        mend(ctx, tmp_path)
    assert caught.value.hint == "Nothing of it needs repair. How it ended: li runs show run-1"
    write(tmp_path / "out" / "half.tmp")
    with pytest.raises(CannotRepair) as caught:
        mend(ctx, tmp_path)
    assert caught.value.hint == "Clean up what it left behind instead."


def test_a_run_that_does_not_exist_is_named(ctx: Context, tmp_path: Path):
    with pytest.raises(SessionNotFound, match="ghost"):
        mend(ctx, tmp_path, "ghost")


def test_one_refused_run_means_that_nothing_is_repaired(ctx: Context, clock: Clock, tmp_path: Path):
    start_orphan(ctx, clock)
    leave_in_spool(ctx, tmp_path / "spool", "run-1", said("run-1", "one"))
    start_run(ctx, "young")
    say_something(ctx, "young")
    with pytest.raises(Refused) as caught:
        repair_all(ctx, tmp_path, "run-1", "young")
    assert list(caught.value.refusals) == ["young"]
    assert sessions.get_session(ctx, "run-1").message_count == 0


def test_who_repairs_must_be_known(ctx: Context, tmp_path: Path):
    spool = LeftBehind(ctx, tmp_path / "spool", "somewhere")
    with pytest.raises(InvalidRequest, match="Who"):
        repair(ctx, ["run-1"], actor="", spool=spool, runs_folder=str(tmp_path))
