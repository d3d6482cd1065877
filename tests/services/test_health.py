"""Health: what can be seen of a run now, on real processes and files, and what is made of it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lionstudio import machine
from lionstudio.domain.errors import SessionNotFound
from lionstudio.domain.health import DAY, HOUR, MINUTE, Evidence, Health, HealthVerdict
from lionstudio.domain.process import ProcessLook, ProcessRecord, ProcessRole, ProcessState
from lionstudio.domain.session import Session
from lionstudio.services import health, sessions
from lionstudio.services.context import Context
from lionstudio.services.examination import examine_sessions, keep_examined
from lionstudio.services.messages import append_message
from lionstudio.store import evidence as evidence_rows
from tests.factories import NOW, Clock, line_of, start_run, user_says

UNKNOWN = ProcessLook(ProcessState.UNKNOWN, "Nobody looked.")


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until a test ends it."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def record_process(ctx: Context, pid: int, session_id: str = "run-1", **facts: Any) -> ProcessRecord:
    seen = machine.look_at(pid)
    start_time = None if seen is None else seen.start_time
    process = ProcessRecord(session_id, ProcessRole.AGENT, machine.here(), pid, start_time)
    sessions.put_process(ctx, process._replace(**facts))
    return process


def record_dead_process(ctx: Context, session_id: str = "run-1", **facts: Any) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        record_process(ctx, process.pid, session_id, **facts)
        process.kill()


def say_something(ctx: Context, session_id: str = "run-1") -> None:
    append_message(ctx, line_of(session_id), user_says("go"))


def end_run(ctx: Context, session_id: str = "run-1") -> Session:
    return sessions.finish_session(ctx, session_id, "completed", exit_code=0)


def write(path: Path, *, age_seconds: float = 2 * MINUTE) -> Path:
    """A file that nobody works on any more."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    os.utime(path, (NOW - age_seconds, NOW - age_seconds))
    return path


def judge(ctx: Context, session_id: str = "run-1") -> HealthVerdict:
    return health.judge(ctx, session_id)[1]


def observe(ctx: Context, session_id: str = "run-1") -> Evidence:
    return health.look(ctx, session_id)[1]


def keep(ctx: Context, seen: Evidence, word: Health) -> None:
    """Keep facts that no look at a real run would give together."""
    with ctx.db.write() as tx:
        session, observed_at = sessions.get(tx, "run-1"), NOW if seen.observed_at is None else seen.observed_at
        evidence_rows.put_many(tx, [evidence_rows.Sight(session, seen, word, observed_at)])


def codes(verdict: HealthVerdict) -> list[str]:
    return [reason.code for reason in verdict.reasons]


def test_a_run_that_does_not_exist_cannot_be_judged(ctx: Context):
    with pytest.raises(SessionNotFound):
        health.judge(ctx, "ghost")


def test_a_run_whose_process_lives_is_healthy(ctx: Context, child: subprocess.Popen[bytes]):
    start_run(ctx)
    record_process(ctx, child.pid)
    verdict = judge(ctx)
    assert (verdict.health, verdict.process) == (Health.HEALTHY, ProcessState.ALIVE)


def test_a_quiet_run_whose_process_lives_is_unresponsive(ctx: Context, clock: Clock, child: subprocess.Popen[bytes]):
    start_run(ctx, kind="agent")
    record_process(ctx, child.pid)
    clock.pass_seconds(7 * HOUR)
    assert judge(ctx).health is Health.UNRESPONSIVE


def test_a_run_with_messages_whose_process_died_is_stale_at_once(ctx: Context):
    start_run(ctx)
    record_dead_process(ctx)
    say_something(ctx)
    verdict = judge(ctx)
    assert (verdict.health, codes(verdict)[0]) == (Health.STALE, "run.health.process_dead")


def test_a_process_that_ended_and_was_not_collected_is_dead(ctx: Context, child: subprocess.Popen[bytes]):
    start_run(ctx)
    record_process(ctx, child.pid)
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert observe(ctx).process.state is ProcessState.DEAD


def test_a_dead_run_without_any_output_is_orphaned(ctx: Context, clock: Clock, tmp_path: Path):
    start_run(ctx, artifacts_path=str(tmp_path / "nothing-here"))
    record_dead_process(ctx)
    clock.pass_seconds(2 * 60)
    assert judge(ctx).health is Health.ORPHANED


def test_a_dead_run_that_wrote_a_file_is_stale(ctx: Context, clock: Clock, tmp_path: Path):
    write(tmp_path / "out" / "deep" / "report.md")
    start_run(ctx, artifacts_path=str(tmp_path / "out"))
    record_dead_process(ctx)
    clock.pass_seconds(2 * 60)
    assert judge(ctx).health is Health.STALE


def test_a_process_on_another_host_is_unknown(ctx: Context, child: subprocess.Popen[bytes]):
    start_run(ctx)
    record_process(ctx, child.pid, place=machine.here()._replace(host="elsewhere"))
    assert observe(ctx).process.state is ProcessState.UNKNOWN


def test_a_pid_larger_than_this_system_has_is_unknown_or_gone_and_no_error(ctx: Context):
    start_run(ctx)
    sessions.put_process(ctx, ProcessRecord("run-1", ProcessRole.AGENT, machine.here(), 2**60, start_time=1))
    assert observe(ctx).process.state is not ProcessState.ALIVE


def test_a_heartbeat_speaks_for_a_process_that_cannot_be_seen(ctx: Context, clock: Clock):
    start_run(ctx)
    record_process(ctx, os.getpid(), place=machine.here()._replace(host="elsewhere"))
    clock.pass_seconds(7 * HOUR)
    sessions.beat(ctx, "run-1", "agent")
    verdict = judge(ctx)
    assert (verdict.health, verdict.process) == (Health.UNRESPONSIVE, ProcessState.ALIVE)


def test_a_run_without_a_process_is_judged_by_its_activity_alone(ctx: Context, clock: Clock):
    start_run(ctx)
    clock.pass_seconds(7 * HOUR)
    verdict = judge(ctx)
    assert (verdict.health, verdict.process) == (Health.STALE, ProcessState.UNKNOWN)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        pytest.param(lambda folder: None, False, id="a folder that does not exist"),
        pytest.param(lambda folder: folder.mkdir(), False, id="an empty folder"),
        pytest.param(lambda folder: (folder / "a" / "b").mkdir(parents=True), False, id="empty folders in a folder"),
        pytest.param(lambda folder: write(folder / "a" / "b.txt"), True, id="a file in a folder"),
        pytest.param(lambda folder: folder.symlink_to(folder), None, id="a folder that cannot be read"),
        pytest.param(lambda folder: folder.write_text("x"), None, id="something that is no folder"),
    ],
)
def test_artifacts_are_looked_for(ctx: Context, tmp_path: Path, make: Any, expected: bool | None):
    folder = tmp_path / "out"
    make(folder)
    start_run(ctx, artifacts_path=str(folder))
    assert observe(ctx).has_artifacts is expected


def test_a_run_that_names_no_folder_has_no_artifacts(ctx: Context):
    start_run(ctx)
    assert observe(ctx).has_artifacts is False


def test_a_folder_that_is_relative_to_nobody_knows_what_proves_nothing(ctx: Context):
    start_run(ctx, artifacts_path="tests")
    assert observe(ctx).has_artifacts is None


def test_links_are_not_followed_out_of_the_folder(ctx: Context, tmp_path: Path):
    write(tmp_path / "elsewhere" / "report.md")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    (folder / "file").symlink_to(tmp_path / "elsewhere" / "report.md")
    start_run(ctx, artifacts_path=str(folder))
    assert observe(ctx).has_artifacts is False


def test_a_folder_that_is_too_large_to_be_seen_proves_nothing(ctx: Context, tmp_path: Path):
    for number in range(health.LOOK_AT_MOST + 1):
        (tmp_path / "out" / f"{number}").mkdir(parents=True)
    start_run(ctx, artifacts_path=str(tmp_path / "out"))
    assert observe(ctx).has_artifacts is None


def test_the_files_of_a_run_on_another_host_are_not_looked_for_here(ctx: Context, tmp_path: Path):
    write(tmp_path / "left.tmp")
    start_run(ctx, artifacts_path=str(tmp_path))
    record_process(ctx, os.getpid(), place=machine.here()._replace(host="elsewhere"))
    end_run(ctx)
    seen = observe(ctx)
    assert (seen.has_artifacts, seen.temp_files) == (None, ())


def test_an_ended_run_that_left_files_behind_is_a_zombie(ctx: Context, tmp_path: Path):
    lock = write(tmp_path / "a" / "git.lock", age_seconds=2 * HOUR)
    part = write(tmp_path / "b" / "download.part")
    temp = write(tmp_path / "c.tmp")
    write(tmp_path / "fresh.lock", age_seconds=60)
    write(tmp_path / "uv.lock", age_seconds=2 * HOUR)
    start_run(ctx, artifacts_path=str(tmp_path))
    end_run(ctx)
    seen = observe(ctx)
    assert (seen.stale_locks, seen.temp_files) == ((str(lock),), (str(part), str(temp)))
    assert judge(ctx).health is Health.ZOMBIE


def test_the_files_of_a_running_run_are_no_leftovers(ctx: Context, tmp_path: Path):
    write(tmp_path / "half.tmp")
    start_run(ctx, artifacts_path=str(tmp_path))
    seen = observe(ctx)
    assert (seen.has_artifacts, seen.temp_files) == (True, ())


def test_leftovers_are_not_looked_for_a_week_after_the_end(ctx: Context, clock: Clock, tmp_path: Path):
    write(tmp_path / "half.tmp")
    start_run(ctx, artifacts_path=str(tmp_path))
    end_run(ctx)
    clock.pass_seconds(8 * DAY)
    seen = observe(ctx)
    assert (seen.has_artifacts, seen.temp_files) == (None, ())


def test_leftovers_that_were_found_are_looked_for_until_they_are_gone(ctx: Context, clock: Clock, tmp_path: Path):
    left = write(tmp_path / "half.tmp")
    start_run(ctx, artifacts_path=str(tmp_path))
    end_run(ctx)
    keep_examined(ctx, examine_sessions(ctx, ["run-1"]))
    clock.pass_seconds(8 * DAY)
    assert observe(ctx).temp_files == (str(left),)
    left.unlink()
    keep_examined(ctx, examine_sessions(ctx, ["run-1"]))
    assert judge(ctx).health is Health.HEALTHY


def test_leftovers_are_not_forgotten_while_their_folder_cannot_be_read(ctx: Context, tmp_path: Path):
    folder = tmp_path / "out"
    left = write(folder / "half.tmp")
    start_run(ctx, artifacts_path=str(folder))
    end_run(ctx)
    keep_examined(ctx, examine_sessions(ctx, ["run-1"]))
    folder.rename(tmp_path / "moved")
    folder.symlink_to(folder)
    assert observe(ctx).temp_files == (str(left),)


def test_kept_evidence_comes_back_equal(ctx: Context):
    start_run(ctx)
    seen = Evidence(UNKNOWN, None, True, ("/a/x.lock",), ("/a/y.tmp", "/a/\udc80.tmp"), NOW)
    keep(ctx, seen, Health.ZOMBIE)
    assert health.find_evidence(ctx, "run-1") == (seen, Health.ZOMBIE)


def test_later_evidence_takes_the_place_of_earlier(ctx: Context):
    start_run(ctx)
    keep(ctx, Evidence(UNKNOWN, temp_files=("/a.tmp",)), Health.ZOMBIE)
    keep(ctx, Evidence(UNKNOWN, observed_at=NOW + 1), Health.HEALTHY)
    assert health.find_evidence(ctx, "run-1") == (Evidence(UNKNOWN, observed_at=NOW + 1), Health.HEALTHY)


def test_kept_evidence_counts_its_leftovers_beside_the_age_of_its_run(ctx: Context):
    start_run(ctx)
    seen = Evidence(UNKNOWN, stale_locks=("/a.lock",), temp_files=("/a.tmp", "/b.tmp"))
    keep(ctx, seen, Health.ZOMBIE)
    with ctx.db.read() as tx:
        assert tx.one("SELECT leftovers, session_created_at FROM session_evidence") == (3, NOW)


def test_a_list_judges_each_run_as_a_look_at_it_would(
    ctx: Context, clock: Clock, tmp_path: Path, child: subprocess.Popen[bytes]
):
    start_run(ctx, "alive")
    record_process(ctx, child.pid, "alive")
    start_run(ctx, "dead")
    record_dead_process(ctx, "dead")
    say_something(ctx, "dead")
    start_run(ctx, "orphan", artifacts_path=str(tmp_path / "nothing"))
    record_dead_process(ctx, "orphan")
    write(tmp_path / "left" / "half.tmp")
    start_run(ctx, "zombie", artifacts_path=str(tmp_path / "left"))
    end_run(ctx, "zombie")
    keep_examined(ctx, examine_sessions(ctx, ["zombie", "orphan"]))
    start_run(ctx, "ended")
    end_run(ctx, "ended")
    clock.pass_seconds(2 * 60)
    rows = [sessions.get_session(ctx, name) for name in ("alive", "dead", "orphan", "zombie", "ended")]
    with ctx.db.read() as tx:
        verdicts = health.judge_many(ctx, tx, rows)
    assert {name: verdict.health for name, verdict in verdicts.items()} == {
        "alive": Health.HEALTHY,
        "dead": Health.STALE,
        "orphan": Health.ORPHANED,
        "zombie": Health.ZOMBIE,
        "ended": Health.HEALTHY,
    }
    assert {row.id: judge(ctx, row.id).health for row in rows} == {
        name: verdict.health for name, verdict in verdicts.items()
    }


def test_a_list_says_of_an_orphan_that_nobody_looked_at_what_is_not_known(ctx: Context, clock: Clock, tmp_path: Path):
    start_run(ctx, artifacts_path=str(tmp_path / "nothing"))
    record_dead_process(ctx)
    clock.pass_seconds(2 * MINUTE)
    row = sessions.get_session(ctx, "run-1")
    with ctx.db.read() as tx:
        verdict = health.judge_many(ctx, tx, [row])["run-1"]
    assert verdict.health is Health.STALE
    assert "It has no messages; whether it left files is not known." in [one.sentence for one in verdict.reasons]
    assert judge(ctx).health is Health.ORPHANED  # who opens it looks now


def test_a_list_walks_through_no_folder(ctx: Context, clock: Clock, tmp_path: Path):
    start_run(ctx, artifacts_path=str(tmp_path / "out"))
    record_dead_process(ctx)
    clock.pass_seconds(2 * MINUTE)
    keep_examined(ctx, examine_sessions(ctx, ["run-1"]))
    write(tmp_path / "out" / "late.md")
    row = sessions.get_session(ctx, "run-1")
    with ctx.db.read() as tx:
        assert health.judge_many(ctx, tx, [row])["run-1"].health is Health.ORPHANED  # as it was last seen
    assert judge(ctx).health is Health.STALE


@pytest.mark.parametrize("inner", ["", "deep", ".."])
def test_what_a_running_run_writes_is_no_leftover_of_another_one(ctx: Context, tmp_path: Path, inner: str):
    folder = tmp_path / "shared" / "out"
    write(folder / "result.json.tmp")
    start_run(ctx, artifacts_path=str(folder))
    end_run(ctx)
    start_run(ctx, "busy", artifacts_path=str(folder / inner))
    assert judge(ctx).health is Health.HEALTHY
    end_run(ctx, "busy")
    assert judge(ctx).health is Health.ZOMBIE


def test_what_was_left_before_another_run_came_stays_a_leftover(ctx: Context, tmp_path: Path):
    left = write(tmp_path / "out" / "old.tmp")
    start_run(ctx, artifacts_path=str(tmp_path / "out"))
    end_run(ctx)
    keep_examined(ctx, examine_sessions(ctx, ["run-1"]))
    start_run(ctx, "busy", artifacts_path=str(tmp_path / "out"))
    write(tmp_path / "out" / "new.tmp")
    assert observe(ctx).temp_files == (str(left),)


def test_a_list_of_no_runs_needs_no_judgement(ctx: Context):
    with ctx.db.read() as tx:
        assert health.judge_many(ctx, tx, []) == {}
