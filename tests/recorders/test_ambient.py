"""Which run a run belongs to, and what child processes are told."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import lionstudio
from lionstudio.services.context import Context
from lionstudio.services.sessions import get_session

TOLD = ("LIONAGI_SESSION_ID", "LIONAGI_BRANCH_ID")


def environment() -> tuple[str | None, ...]:
    return tuple(os.environ.get(name) for name in TOLD)


@pytest.fixture(autouse=True)
def alone(home: Path) -> None:
    """Nothing of the machine's own environment."""


def test_child_processes_are_told_their_run(sqlite_path: Path) -> None:
    with lionstudio.record(db=sqlite_path) as run:
        command = [sys.executable, "-c", f"import os; print(*(os.environ[name] for name in {TOLD}))"]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert told == [run.session_id, run.id]
        assert [run.env[name] for name in TOLD] == told
    assert environment() == (None, None)


def test_the_environment_is_as_before_when_the_run_ends(sqlite_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_SESSION_ID", "outer")
    with pytest.raises(ValueError), lionstudio.record(db=sqlite_path):
        raise ValueError
    assert environment() == ("outer", None)


def test_a_run_inside_a_run_records_its_parent(sqlite_ctx: Context, sqlite_path: Path) -> None:
    with lionstudio.record("outer", db=sqlite_path) as outer:
        prepared = lionstudio.record("inner", db=sqlite_path)
        with prepared as inner, lionstudio.record("innermost", db=sqlite_path) as innermost:
            assert environment() == (innermost.session_id, innermost.id)
        assert environment() == (outer.session_id, outer.id)
        with lionstudio.record("second", db=sqlite_path) as second:
            pass
    parents = [get_session(sqlite_ctx, run.session_id).parent_session_id for run in (outer, inner, innermost, second)]
    assert parents == [None, outer.session_id, inner.session_id, outer.session_id]


def test_a_run_in_a_child_process_records_its_parent(sqlite_ctx: Context, sqlite_path: Path) -> None:
    script = "import lionstudio, sys\nwith lionstudio.record(db=sys.argv[1]) as run: print(run.session_id)"
    with lionstudio.record(db=sqlite_path) as run:
        command = [sys.executable, "-c", script, str(sqlite_path)]
        child = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert get_session(sqlite_ctx, child).parent_session_id == run.session_id


def test_a_parent_in_another_database_does_not_stop_the_run(sqlite_ctx: Context, sqlite_path: Path) -> None:
    os.environ["LIONAGI_SESSION_ID"] = "in-another-database"
    try:
        with lionstudio.record(db=sqlite_path) as run:
            run.user("one")
    finally:
        del os.environ["LIONAGI_SESSION_ID"]
    session = get_session(sqlite_ctx, run.session_id)
    assert (session.parent_session_id, session.message_count) == (None, 1)


def test_runs_side_by_side_are_not_each_others_parents(sqlite_ctx: Context, sqlite_path: Path) -> None:
    together = threading.Barrier(4)
    runs: list[lionstudio.Run] = []
    told: list[tuple[str | None, ...]] = []

    def work() -> None:
        with lionstudio.record(db=sqlite_path) as run:
            together.wait()
            runs.append(run)
            told.append(environment())  # it cannot name four runs, so it names none
            together.wait()
            run.user("one")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told == [(None, None)] * 4
    assert [get_session(sqlite_ctx, run.session_id).parent_session_id for run in runs] == [None] * 4
    assert environment() == (None, None)


def test_a_run_that_was_ended_elsewhere_is_nobodys_parent(sqlite_ctx: Context, sqlite_path: Path) -> None:
    first = lionstudio.record("first", db=sqlite_path).start()
    thread = threading.Thread(target=first.finish)
    thread.start()
    thread.join()
    with lionstudio.record("second", db=sqlite_path) as second:
        pass
    assert get_session(sqlite_ctx, second.session_id).parent_session_id is None
