"""What was set aside comes back: in order, once, whoever is left to bring it."""

import fcntl
import os
import signal
import threading
import tracemalloc
from array import array
from pathlib import Path

import pytest

import lionstudio
from lionstudio.domain.errors import InvalidRequest
from lionstudio.recorders import backlog, keeper
from lionstudio.recorders.spool import CHUNK, count_left_behind, list_waiting, spool_folder
from lionstudio.services import health
from lionstudio.services.context import Context
from lionstudio.services.messages import list_messages
from lionstudio.services.sessions import get_session, list_history
from tests.recorders.agents import IMPATIENT, Agent, let_go, locked, run_agent, spool_files, stock_sqlite
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("impatient")


def said(ctx: Context, session_id: str) -> list[str]:
    return [message.content["instruction"] for message in list_messages(ctx, session_id, limit=10_000)]


SPOOLING = (
    IMPATIENT
    + """
import signal, sys, lionstudio
with lionstudio.record("spools", db=sys.argv[1]) as run:
    print(run.session_id, flush=True)
    sys.stdin.readline()
    for number in range(1, 21):
        run.user(f"message {number}")
    print("said", flush=True)
    signal.pause()
"""
)
TWENTY = [f"message {number}" for number in range(1, 21)]


def killed_with_a_full_spool(path: Path) -> str:
    """The run of a process that was killed while everything it had said waited in its spool."""
    with Agent(SPOOLING, path) as agent:
        session_id = agent.line()
        with locked(path) as locker:
            agent.tell()
            assert agent.line() == "said"
            agent.signal(signal.SIGKILL)
            agent.process.wait()
            let_go(locker)
    return session_id


def test_the_next_reader_brings_back_what_a_killed_process_left(
    sqlite_ctx: Context, sqlite_path: Path, home: Path
) -> None:
    session_id = killed_with_a_full_spool(sqlite_path)
    assert said(sqlite_ctx, session_id) == []
    (waiting,) = list_waiting(home / "spool")
    assert (waiting.records, waiting.path) == (20, spool_files(home)[0])
    with lionstudio.open(sqlite_path):
        pass
    assert said(sqlite_ctx, session_id) == TWENTY
    assert get_session(sqlite_ctx, session_id).status == "running"  # nobody knows how it ended
    assert list_waiting(home / "spool") == []


def test_counting_what_waits_takes_little_memory_however_much_it_is(sqlite_ctx: Context, tmp_path: Path) -> None:
    size = 16 * CHUNK
    for database_id in (sqlite_ctx.db.dialect.database_id, "other"):
        folder = spool_folder(tmp_path, database_id=database_id, location="")
        folder.mkdir()
        with open(folder / "00000000000000000001.1.run-1.jsonl", "wb") as file:
            file.truncate(size - 1)
            file.seek(0, os.SEEK_END)
            file.write(b"\n")
    tracemalloc.start()
    try:
        assert [(waiting.records, waiting.size) for waiting in list_waiting(tmp_path)] == [(1, size)] * 2
        assert count_left_behind(sqlite_ctx, tmp_path, "", "run-1") == 1
        assert tracemalloc.get_traced_memory()[1] < size / 2
    finally:
        tracemalloc.stop()


def test_the_next_run_brings_it_back_too(sqlite_ctx: Context, sqlite_path: Path, home: Path) -> None:
    session_id = killed_with_a_full_spool(sqlite_path)
    with lionstudio.record("next", db=sqlite_path):
        assert said(sqlite_ctx, session_id) == TWENTY
    assert spool_files(home) == []


def test_two_who_open_at_once_bring_it_back_once(sqlite_ctx: Context, sqlite_path: Path, home: Path) -> None:
    opening = """
    import sys, lionstudio
    from lionstudio import reader  # loaded before the start
    print("ready", flush=True)
    sys.stdin.readline()
    lionstudio.open(sys.argv[1]).close()
    """
    session_id = killed_with_a_full_spool(sqlite_path)
    before = stock_sqlite(sqlite_path, "SELECT count(*) FROM changes WHERE topic = 'message'")[0][0]
    openers = [Agent(opening, sqlite_path) for _ in range(4)]
    for opener in openers:
        assert opener.line() == "ready"
    for opener in openers:
        opener.tell()
    for opener in openers:
        with opener:
            assert opener.end() == (0, "", "")
    assert said(sqlite_ctx, session_id) == TWENTY
    after = stock_sqlite(sqlite_path, "SELECT count(*) FROM changes WHERE topic = 'message'")[0][0]
    assert after - before == 20
    assert spool_files(home) == []


def test_what_a_living_process_waits_with_is_left_to_it(sqlite_ctx: Context, sqlite_path: Path, home: Path) -> None:
    with Agent(SPOOLING, sqlite_path) as agent:
        session_id = agent.line()
        with locked(sqlite_path) as locker:
            agent.tell()
            assert agent.line() == "said"
            (waiting,) = spool_files(home)
            with waiting.open() as file, pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            let_go(locker)
        wait_until(lambda: len(said(sqlite_ctx, session_id)) == 20)
    assert said(sqlite_ctx, session_id) == TWENTY


def test_a_line_that_was_cut_short_is_ignored(sqlite_ctx: Context, sqlite_path: Path, home: Path) -> None:
    session_id = killed_with_a_full_spool(sqlite_path)
    (waiting,) = spool_files(home)
    waiting.write_bytes(waiting.read_bytes()[:-20])  # as a kill in the middle of a write leaves it
    with lionstudio.open(sqlite_path):
        pass
    assert said(sqlite_ctx, session_id) == TWENTY[:-1]
    assert list((home / "spool").glob("*/*")) == []


def test_a_record_that_is_refused_does_not_hold_up_the_rest(sqlite_ctx: Context, sqlite_path: Path, home: Path) -> None:
    session_id = killed_with_a_full_spool(sqlite_path)
    (waiting,) = spool_files(home)
    lines = waiting.read_bytes().splitlines(keepends=True)
    lines[5] = b"this is no record\n"
    lines[7] = b'{"do":"dance"}\n'
    lines[9] = lines[9].replace(session_id.encode(), b"deleted-run").replace(b'"line":["', b'"line":["x","')
    lines[11] = b'["do"]\n'
    lines[13] = b"[" * 100_000 + b"\n"
    waiting.write_bytes(b"".join(lines))
    with lionstudio.open(sqlite_path):
        pass
    assert said(sqlite_ctx, session_id) == [
        text for number, text in enumerate(TWENTY) if number not in (5, 7, 9, 11, 13)
    ]
    assert spool_files(home) == []
    (rejected,) = (home / "spool").glob("*/*.rejected")
    reasons = rejected.read_text().splitlines()
    assert len(reasons) == 5
    assert get_session(sqlite_ctx, session_id).messages_lost == 5
    assert "this is no record" in reasons[0]
    assert "A record of a newer version: 'dance'" in reasons[1]
    assert rejected.stat().st_mode & 0o777 == 0o600


def test_what_is_refused_while_the_run_goes_on_is_counted_on_it(
    sqlite_ctx: Context, sqlite_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with lionstudio.record(db=sqlite_path) as run, locked(sqlite_path) as locker:
        run.user("one")
        run.user("two")
        (waiting,) = spool_files(home)
        spoilt = waiting.read_bytes().replace(b'"do":"message"', b'"do":"passage"', 1)
        with waiting.open("r+b") as file:  # in place, as the run holds it open
            file.write(spoilt)
        let_go(locker)
    assert said(sqlite_ctx, run.session_id) == ["two"]
    assert get_session(sqlite_ctx, run.session_id).messages_lost == 1
    (rejected,) = (home / "spool").glob("*/*.rejected")
    assert f"The database refused some messages; they are in {rejected}" in capfd.readouterr().err


@pytest.mark.parametrize("recipient", [None, "", 7])
def test_a_recipient_is_asked_for_while_the_database_is_away_too(
    sqlite_ctx: Context, sqlite_path: Path, home: Path, recipient: object
) -> None:
    with lionstudio.record(db=sqlite_path) as run:
        with pytest.raises(InvalidRequest, match="recipient"):
            run.send(recipient, "hello")  # type: ignore[arg-type]
        with locked(sqlite_path) as locker:
            with pytest.raises(InvalidRequest, match="recipient"):
                run.send(recipient, "hello")  # type: ignore[arg-type]
            let_go(locker)
    assert list((home / "spool").glob("*/*")) == []


def test_an_embedding_may_be_an_array_while_the_database_is_away_too(sqlite_ctx: Context, sqlite_path: Path) -> None:
    with lionstudio.record(db=sqlite_path) as run:
        run.user("one", embedding=array("f", [0.5, 1.0]))
        with locked(sqlite_path) as locker:
            run.user("two", embedding=array("f", [0.5, 1.0]))
            let_go(locker)
    assert [message.embedding for message in list_messages(sqlite_ctx, run.session_id)] == [(0.5, 1.0), (0.5, 1.0)]


def test_a_strange_file_in_the_spool_does_not_hold_up_the_rest(
    sqlite_ctx: Context, sqlite_path: Path, home: Path
) -> None:
    session_id = killed_with_a_full_spool(sqlite_path)
    folder = spool_files(home)[0].parent
    (folder / "0.jsonl").write_text('{"do":"finish","session_id":"no such run","ending":{"status":"failed"}}\n')
    (folder / "1.jsonl").mkdir()
    with lionstudio.open(sqlite_path):
        pass
    assert said(sqlite_ctx, session_id) == TWENTY
    assert "SessionNotFound" in (folder / "0.rejected").read_text()


def test_a_run_whose_beginning_was_set_aside_is_refused_nothing(
    sqlite_ctx: Context, sqlite_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with locked(sqlite_path) as locker, lionstudio.record(db=sqlite_path) as run:
        run.user("one")
        too_far = run.fork("too far", at=9)  # nobody can say so now
        too_far.user("two")
        run.message(role="user", content=None)
        let_go(locker)
    assert [message.content for message in list_messages(sqlite_ctx, run.session_id)] == [
        {"instruction": "one"},
        {"instruction": "two"},
        None,
    ]
    assert list((home / "spool").glob("*/*")) == []
    assert "refused" not in capfd.readouterr().err


def test_a_replay_that_fails_half_way_is_taken_up_again(
    sqlite_ctx: Context, sqlite_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lionstudio.record(db=sqlite_path) as run:
        for number in range(3):
            with locked(sqlite_path) as locker:
                for step in range(40):
                    run.user(f"{number}.{step}")
                let_go(locker)  # the helper of the run begins to replay, and the next round locks it out again
        monkeypatch.setattr(keeper, "LEAVING_PATIENCE", 30.0)
    assert said(sqlite_ctx, run.session_id) == [f"{number}.{step}" for number in range(3) for step in range(40)]


def test_threads_that_speak_while_the_spool_is_replayed_lose_nothing(
    sqlite_ctx: Context, sqlite_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "RETRY_EVERY", 0.01)
    with lionstudio.record(db=sqlite_path) as run:

        def work(name: int) -> None:
            for number in range(150):
                run.user(f"{name}.{number}")

        with locked(sqlite_path) as locker:
            run.user("first")
            threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
            for thread in threads:
                thread.start()
            let_go(locker)
        for thread in threads:
            thread.join()
        monkeypatch.setattr(keeper, "LEAVING_PATIENCE", 30.0)
    found = said(sqlite_ctx, run.session_id)
    assert len(found) == 601
    for name in range(4):
        assert [text for text in found if text.startswith(f"{name}.")] == [f"{name}.{number}" for number in range(150)]


def test_messages_beyond_the_memory_are_counted_said_once_and_shown(
    sqlite_ctx: Context, sqlite_path: Path, home: Path
) -> None:
    script = IMPATIENT + (
        """
import resource, signal, sys, lionstudio
from lionstudio.recorders import backlog
backlog.MEMORY_LIMIT = 1_000_000
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with lionstudio.record(db=sys.argv[1]) as run:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, limits[1]))
    for number in range(10):
        run.user(str(number) + "x" * 400_000)
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    keeper.LEAVING_PATIENCE = 30.0
print(run.session_id)
"""
    )
    ended = run_agent(script, sqlite_path)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("Messages are being lost") == 1
    assert ended.stderr.count("cannot be written either: messages wait in memory only.") == 1
    assert "8 records of this run are not in the database" in ended.stderr
    session = get_session(sqlite_ctx, ended.stdout.strip())
    assert [text[0] for text in said(sqlite_ctx, session.id)] == ["0", "1"]
    assert (session.status, session.messages_lost) == ("completed", 8)
    _, verdict = health.judge(sqlite_ctx, session.id)
    assert "run.recording.lost" in [reason.code for reason in verdict.reasons]


def test_what_only_memory_holds_goes_to_disk_as_soon_as_that_is_possible(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.write_text("in the way")
    waiting = backlog.Backlog("run-1")
    assert waiting.add({"do": "message", "text": "one"}, spool / "id")
    assert waiting.add({"do": "message", "text": "two"}, spool / "id")
    spool.unlink()
    assert waiting.add({"do": "message", "text": "three"}, spool / "id")
    waiting.close(spool / "id")
    (file,) = (spool / "id").iterdir()
    assert [text in line for text, line in zip(("one", "two", "three"), file.read_text().splitlines(), strict=True)]
    assert waiting.take_lost() == 0


def test_what_no_disk_ever_takes_is_lost_at_the_end_and_said(
    tmp_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    home.mkdir()
    (home / "spool").write_text("in the way")
    path = tmp_path / "state.db"
    path.mkdir()
    with lionstudio.record(db=path) as run:
        run.user("one")
        run.user("two")
    assert "4 records of this run are lost" in capfd.readouterr().err  # with its beginning and its end


def test_the_end_of_a_run_is_kept_when_memory_is_full(
    sqlite_ctx: Context, sqlite_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "RETRY_EVERY", 3600.0)  # only leaving the block brings anything back
    home.mkdir()
    (home / "spool").write_text("in the way")
    with lionstudio.record(db=sqlite_path) as run:
        with locked(sqlite_path) as locker:
            run.user("one")
            let_go(locker)
        monkeypatch.setattr(backlog, "MEMORY_LIMIT", 0)
        run.user("two")
    session = get_session(sqlite_ctx, run.session_id)
    assert (session.status, session.messages_lost) == ("completed", 1)
    assert said(sqlite_ctx, session.id) == ["one"]


def test_the_end_of_a_run_gets_the_room_that_is_too_small_for_a_message(tmp_path: Path, home: Path) -> None:
    script = IMPATIENT + (
        """
import resource, signal, sys, lionstudio
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (3_000, limits[1]))
with lionstudio.record(db=sys.argv[1]) as run:
    run.user("x" * 10_000)
"""
    )
    path = tmp_path / "state.db"
    path.mkdir()  # there can be no database yet
    ended = run_agent(script, path)
    assert (ended.returncode, ended.stderr.count("1 record of this run is lost")) == (0, 1), ended.stderr
    path.rmdir()
    with lionstudio.open(path) as reader:
        assert [(session.status, session.message_count) for session in reader.sessions()] == [("completed", 0)]


def test_the_ending_of_a_run_is_replayed_once(sqlite_ctx: Context, sqlite_path: Path, home: Path) -> None:
    with locked(sqlite_path), pytest.raises(ValueError), lionstudio.record(db=sqlite_path) as run:
        raise ValueError("no")
    (waiting,) = spool_files(home)
    again = waiting.read_bytes()
    for _ in range(2):
        waiting.write_bytes(again)
        with lionstudio.open(sqlite_path):
            pass
    session = get_session(sqlite_ctx, run.session_id)
    assert (session.status, session.end_reason) == ("failed", "run.failed.exception")
    assert [step.to_status for step in list_history(sqlite_ctx, run.session_id)] == ["running", "failed"]


def test_patience_with_a_busy_database_is_what_the_documents_say() -> None:
    ended = run_agent("from lionstudio.recorders import keeper; print(keeper.BUSY_PATIENCE, keeper.LEAVING_PATIENCE)")
    assert ended.stdout == "10.0 30.0\n"
    assert backlog.MEMORY_LIMIT == 64 * 1024 * 1024


@pytest.mark.parametrize(
    "place",
    ["folder", "fifo", "file/state.db", "x" * 300, "postgresql://127.0.0.1:99999/x", "postgresql://[::1/x"],
)
def test_leaving_does_not_wait_for_a_place_that_can_never_be_a_database(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], place: str
) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file").write_text("a poem")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(keeper, "LEAVING_PATIENCE", 3600.0)  # longer than any test may take
    with lionstudio.record(db=place) as run:
        run.user("one")
    assert len(spool_files(home)) == 1
    (complaint,) = capfd.readouterr().err.splitlines()
    assert "LIONAGI_DB=" in complaint  # what to type
