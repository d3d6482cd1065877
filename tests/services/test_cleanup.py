"""Cleaning up: only what a look just now found to be left over goes, and nothing outside of the run's folder."""

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lionstudio import machine
from lionstudio.domain.errors import CannotCleanUp, InvalidRequest, Refused, SessionIsRunning, SessionNotFound
from lionstudio.domain.health import HOUR, Health
from lionstudio.domain.process import Place
from lionstudio.services import admin, health, sessions
from lionstudio.services.change_feed import newest_number
from lionstudio.services.cleanup import CleanedUp, clean_up
from lionstudio.services.context import Context
from lionstudio.services.examination import examine_sessions, keep_examined
from tests.factories import Clock, start_run
from tests.services.test_health import end_run, record_dead_process, write

OLD = 2 * HOUR


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "runs" / "out"
    path.mkdir(parents=True)
    return path


def leave(ctx: Context, folder: Path, session_id: str = "run-1") -> list[str]:
    """An ended run that left three things behind, and three that are none; the paths of the former."""
    start_run(ctx, session_id, artifacts_path=str(folder))
    left = [write(folder / "deep" / "a.lock", age_seconds=OLD), write(folder / "b.tmp"), write(folder / "deep/c.part")]
    write(folder / "young.lock")
    write(folder / "poetry.lock", age_seconds=OLD)
    write(folder / "result.txt", age_seconds=OLD)
    end_run(ctx, session_id)
    keep_examined(ctx, examine_sessions(ctx, [session_id]))
    return sorted(str(path) for path in left)


def files_in(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*") if not path.is_dir())


def clean(ctx: Context, *session_ids: str, dry_run: bool = False) -> CleanedUp:
    (done,) = clean_up(ctx, session_ids or ["run-1"], actor="ana", dry_run=dry_run)
    return done


def test_what_was_left_over_goes_and_everything_else_stays(ctx: Context, folder: Path):
    left = leave(ctx, folder)
    everything = files_in(folder)
    done = clean(ctx)
    assert sorted(done.removed) == left
    assert files_in(folder) == [path for path in everything if path not in left]
    assert (done.kept, done.size) == ((), 3)


def test_a_dry_run_lists_exactly_what_would_go_and_changes_nothing(ctx: Context, folder: Path):
    leave(ctx, folder)
    before = files_in(folder), newest_number(ctx), admin.list_events(ctx)
    planned = clean(ctx, dry_run=True)
    assert (files_in(folder), newest_number(ctx), admin.list_events(ctx)) == before
    assert (planned.event_id, planned.verdict.health) == (None, Health.ZOMBIE)
    done = clean(ctx)
    assert (done.removed, done.kept, done.size) == (planned.removed, planned.kept, planned.size)


def test_the_run_is_no_zombie_afterwards(ctx: Context, folder: Path):
    leave(ctx, folder)
    done = clean(ctx)
    stored = health.find_evidence(ctx, "run-1")
    assert done.verdict.health is Health.HEALTHY
    assert stored is not None
    assert (stored.health, stored.evidence.stale_locks, stored.evidence.temp_files) == (Health.HEALTHY, (), ())


def test_cleaning_up_leaves_an_event_with_the_files(ctx: Context, folder: Path):
    left = leave(ctx, folder)
    done = clean(ctx)
    (event,) = admin.list_events(ctx, action="cleanup")
    assert (event.id, event.actor, event.target_id) == (done.event_id, "ana", "run-1")
    assert sorted(event.details["files"]) == left
    assert (event.details["previous_health"], event.details["health"]) == ("zombie", "healthy")


def test_cleaning_up_twice_does_nothing_the_second_time(ctx: Context, folder: Path):
    leave(ctx, folder)
    clean(ctx)
    again = clean(ctx)
    assert (again.removed, again.kept, again.event_id) == ((), (), None)
    assert len(admin.list_events(ctx, action="cleanup")) == 1


def test_files_that_nobody_agreed_to_stay(ctx: Context, folder: Path):
    left = leave(ctx, folder)
    (done,) = clean_up(ctx, ["run-1"], actor="ana", only=left[:1])
    assert list(done.removed) == left[:1]
    assert sorted(kept.path for kept in done.kept) == left[1:]
    assert done.verdict.health is Health.ZOMBIE


def test_a_running_run_is_refused(ctx: Context, folder: Path):
    start_run(ctx, artifacts_path=str(folder))
    write(folder / "b.tmp")
    with pytest.raises(SessionIsRunning, match="run-1 has not ended"):
        clean(ctx)
    assert len(files_in(folder)) == 1


def test_a_run_of_another_host_is_refused(ctx: Context, folder: Path):
    leave(ctx, folder)
    record_dead_process(ctx, place=Place("elsewhere", "boot", "pid"))
    before = files_in(folder)
    with pytest.raises(CannotCleanUp, match="elsewhere"):
        clean(ctx)
    assert files_in(folder) == before


def test_a_run_that_does_not_exist_is_named(ctx: Context):
    with pytest.raises(SessionNotFound, match="ghost"):
        clean(ctx, "ghost")


@pytest.mark.parametrize("path", [None, "relative/out", "/", "/home/../", "{home}", "{parent of home}"])
def test_a_folder_that_is_nobodys_own_is_refused(ctx: Context, home: Path, path: str | None):
    places = {"{home}": str(home.parent), "{parent of home}": str(home.parent.parent)}
    start_run(ctx, artifacts_path=places.get(path, path) if path else None)
    write(home.parent / "b.tmp")
    end_run(ctx)
    with pytest.raises(CannotCleanUp):
        clean(ctx)
    assert (home.parent / "b.tmp").exists()


def test_a_folder_in_which_another_run_works_is_refused(ctx: Context, folder: Path):
    left = leave(ctx, folder)
    start_run(ctx, "other", artifacts_path=str(folder / "deep"))
    with pytest.raises(CannotCleanUp, match="The run other runs"):
        clean(ctx)
    assert set(left) <= set(files_in(folder))
    end_run(ctx, "other")
    assert sorted(clean(ctx).removed) == left


def test_one_refused_run_means_that_nothing_is_removed(ctx: Context, folder: Path):
    left = leave(ctx, folder)
    start_run(ctx, "runs")
    with pytest.raises(Refused) as caught:
        clean_up(ctx, ["run-1", "runs", "ghost"], actor="ana")
    assert {name: error.code for name, error in caught.value.refusals.items()} == {
        "runs": "session_is_running",
        "ghost": "session_not_found",
    }
    assert set(left) <= set(files_in(folder))


def test_who_cleans_up_must_be_known(ctx: Context):
    with pytest.raises(InvalidRequest, match="Who"):
        clean_up(ctx, ["run-1"], actor=" ")


class Meddling:
    """A clock at which something happens: when it is read after the look at the files, before the first one goes."""

    def __init__(self, clock: Clock, happen: Callable[[], object]) -> None:
        self._clock = clock
        self._happen = happen
        self._reads = 0

    def __call__(self) -> float:
        self._reads += 1
        if self._reads == 3:  # the look, the verdict, and now
            self._happen()
        return self._clock()


def clean_while(ctx: Context, clock: Clock, happen: Callable[[], object]) -> CleanedUp:
    return clean(Context(ctx.db, now=Meddling(clock, happen)))


def test_a_folder_that_became_a_link_meanwhile_is_not_followed(
    ctx: Context, clock: Clock, folder: Path, tmp_path: Path
):
    leave(ctx, folder)
    outside = tmp_path / "outside"
    precious = write(outside / "a.lock", age_seconds=OLD), write(outside / "c.part")

    def swap() -> None:
        os.rename(folder / "deep", folder / "moved")
        os.symlink(outside, folder / "deep")

    done = clean_while(ctx, clock, swap)
    assert all(path.exists() for path in precious)
    assert [os.path.basename(path) for path in done.removed] == ["b.tmp"]
    assert sorted(os.path.basename(kept.path) for kept in done.kept) == ["a.lock", "c.part"]


def test_a_root_that_became_a_link_meanwhile_is_not_followed(ctx: Context, clock: Clock, folder: Path, tmp_path: Path):
    leave(ctx, folder)
    outside = tmp_path / "outside"
    precious = write(outside / "b.tmp")

    def swap() -> None:
        os.rename(folder, tmp_path / "moved")
        os.symlink(outside, folder)

    done = clean_while(ctx, clock, swap)
    assert precious.exists() and done.removed == ()


def test_a_file_that_became_a_link_meanwhile_stays(ctx: Context, clock: Clock, folder: Path, tmp_path: Path):
    leave(ctx, folder)
    precious = write(tmp_path / "precious.txt")

    def swap() -> None:
        (folder / "b.tmp").unlink()
        (folder / "b.tmp").symlink_to(precious)

    done = clean_while(ctx, clock, swap)
    assert precious.exists() and (folder / "b.tmp").is_symlink()
    assert [(os.path.basename(kept.path), kept.why) for kept in done.kept] == [
        ("b.tmp", "It is not a plain file any more.")
    ]


def test_a_lock_that_was_renewed_meanwhile_stays(ctx: Context, clock: Clock, folder: Path):
    leave(ctx, folder)
    done = clean_while(ctx, clock, lambda: write(folder / "deep" / "a.lock"))
    assert [(os.path.basename(kept.path), kept.why) for kept in done.kept] == [
        ("a.lock", "It was written to just now.")
    ]
    assert (folder / "deep" / "a.lock").exists()


def test_a_file_that_a_process_holds_a_lock_on_stays(ctx: Context, folder: Path):
    leave(ctx, folder)
    with open(folder / "deep" / "a.lock") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done = clean(ctx)
    assert [(os.path.basename(kept.path), kept.why) for kept in done.kept] == [
        ("a.lock", "A process holds a lock on it.")
    ]
    assert (folder / "deep" / "a.lock").exists()


def test_links_among_the_files_of_a_run_are_no_leftovers(ctx: Context, folder: Path, tmp_path: Path):
    precious = write(tmp_path / "precious.tmp")
    (folder / "link.tmp").symlink_to(precious)
    (folder / "linked").symlink_to(tmp_path)
    start_run(ctx, artifacts_path=str(folder))
    end_run(ctx)
    assert clean(ctx).removed == ()
    assert precious.exists() and (folder / "link.tmp").is_symlink()


@pytest.mark.skipif(machine.here().host is None, reason="this system does not say its name")
def test_a_run_that_was_recorded_here_is_cleaned_up(ctx: Context, folder: Path):
    left = leave(ctx, folder)
    record_dead_process(ctx)
    assert sorted(clean(ctx).removed) == left


@pytest.mark.parametrize("path", ["/etc", "/usr/local", "/proc/self", "/var"])
def test_a_folder_of_the_system_is_never_cleaned(ctx: Context, path: str):
    start_run(ctx, artifacts_path=path)
    sessions.finish_session(ctx, "run-1", "completed")
    with pytest.raises(CannotCleanUp, match="belongs to the system"):
        clean_up(ctx, ["run-1"], actor="ana", dry_run=True)


def test_a_folder_that_is_a_link_is_to_be_cleaned_by_hand(ctx: Context, tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    start_run(ctx, artifacts_path=str(tmp_path / "link"))
    sessions.finish_session(ctx, "run-1", "completed")
    with pytest.raises(CannotCleanUp, match="is a link to"):
        clean_up(ctx, ["run-1"], actor="ana", dry_run=True)


def test_what_was_there_before_the_run_is_not_touched_and_makes_no_zombie(ctx: Context, folder: Path):
    start_run(ctx, artifacts_path=str(folder))
    notes = write(folder / "notes.tmp", age_seconds=OLD)
    end_run(ctx)
    assert health.judge(ctx, "run-1")[1].health is Health.HEALTHY
    assert clean(ctx).removed == ()
    assert notes.exists()


def test_locks_of_the_system_make_no_zombie(ctx: Context):
    start_run(ctx, artifacts_path="/etc")  # where a lock for passwords lies for years
    end_run(ctx)
    assert health.judge(ctx, "run-1")[1].health is Health.HEALTHY


@pytest.mark.parametrize("path", ["", "out", "."])
def test_a_run_whose_folder_nobody_knows_keeps_nobody_from_cleaning_up(
    ctx: Context, folder: Path, path: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(folder.parent)  # which is not where the run is
    left = leave(ctx, folder)
    start_run(ctx, "run-2", artifacts_path=path)
    assert sorted(clean(ctx).removed) == left
