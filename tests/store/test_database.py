"""Transactions: whole or not at all, shared commits, readers that wait for nobody."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lionstudio.domain.change import Topic
from lionstudio.domain.errors import DatabaseGone
from lionstudio.services.context import Context
from lionstudio.services.messages import append_message
from lionstudio.store import database
from lionstudio.store.database import Database
from lionstudio.store.open import open_database
from lionstudio.store.transaction import Tx
from tests.factories import line_of, start_run, user_says
from tests.postgres_server import PostgresServer
from tests.waiting import wait_until

INSERT = "INSERT INTO schema_meta (key, value) VALUES (:key, :value)"
COUNT = "SELECT count(*) FROM schema_meta WHERE key LIKE 'test-%'"
DEADLINE = 20.0


def put(tx: Tx, name: str) -> None:
    tx.run(INSERT, key=f"test-{name}", value="x")


@pytest.fixture
def sqlite_db(sqlite_path: Path) -> Iterator[Database]:
    """Where there is one writer at a time, and so commits are shared."""
    database = open_database(str(sqlite_path))
    yield database
    database.close()


def count(db: Database) -> int:
    with db.read() as tx:
        return int(tx.value(COUNT))


def fork_and_write(db: Database, *, again: str | None = None) -> type[DatabaseGone] | None:
    """Write in the child of a fork, to what is open or to what is opened again; what the child was told instead."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            with (db if again is None else open_database(again)).write() as tx:
                put(tx, "child")
            code = 0
        except DatabaseGone:
            code = 2
        finally:
            os._exit(code)
    return {0: None, 2: DatabaseGone}[os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])]


def test_a_write_is_there_when_its_block_ends(db: Database) -> None:
    with db.write() as tx:
        put(tx, "a")
    assert count(db) == 1


def test_a_write_that_raises_leaves_nothing(db: Database) -> None:
    with pytest.raises(ZeroDivisionError), db.write() as tx:
        put(tx, "a")
        tx.tell(Topic.SESSION, "s", at=1.0)
        raise ZeroDivisionError
    assert count(db) == 0
    with db.read() as tx:
        assert tx.value("SELECT count(*) FROM changes") == 0


def test_a_read_sees_one_moment_whatever_is_committed_meanwhile(db: Database) -> None:
    with db.read() as reader:
        assert reader.value(COUNT) == 0
        with db.write() as writer:
            put(writer, "a")
        assert reader.value(COUNT) == 0
    assert count(db) == 1


def test_a_read_does_not_wait_for_a_writer(db: Database) -> None:
    with db.write() as writer:
        put(writer, "a")
        seen: list[int] = []
        reader = threading.Thread(target=lambda: seen.append(count(db)))
        reader.start()
        reader.join(DEADLINE)
    assert seen == [0]


def test_a_read_cannot_write(db: Database) -> None:
    with pytest.raises(Exception, match=r"(?i)read"), db.read() as tx:
        put(tx, "a")
    assert count(db) == 0


def test_a_write_inside_a_write_is_refused_instead_of_waiting_for_itself(sqlite_db: Database) -> None:
    with pytest.raises(RuntimeError, match="inside a write"), sqlite_db.write(), sqlite_db.write():
        pass
    with sqlite_db.write() as tx:
        put(tx, "after")
    assert count(sqlite_db) == 1


class Crowd:
    """Threads that write one after another inside the transaction of the first."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.errors: dict[str, BaseException] = {}
        self._threads: list[threading.Thread] = []
        self._queue = db._writer._queue

    def join_in(self, name: str, *, fails: bool = False) -> None:
        thread = threading.Thread(target=self._write, args=(name, fails))
        already = len(self._queue)
        thread.start()
        self._threads.append(thread)
        wait_until(lambda: len(self._queue) > already)

    def _write(self, name: str, fails: bool) -> None:
        try:
            with self.db.write() as tx:
                put(tx, name)
                if fails:
                    raise ZeroDivisionError(name)
        except BaseException as error:
            self.errors[name] = error

    def go_home(self) -> None:
        for thread in self._threads:
            thread.join(DEADLINE)
            assert not thread.is_alive()


def test_concurrent_writes_share_one_commit(sqlite_db: Database) -> None:
    look = sqlite_db.dialect.connect(writing=False)
    crowd = Crowd(sqlite_db)
    before = look.all("PRAGMA data_version", {})[0][0]
    with sqlite_db.write() as tx:
        put(tx, "first")
        crowd.join_in("second")
        crowd.join_in("third")
    crowd.go_home()
    commits = look.all("PRAGMA data_version", {})[0][0] - before
    look.close()
    assert (count(sqlite_db), commits) == (3, 1)


@pytest.mark.parametrize("failing", ["second", "third"])
def test_a_write_that_fails_in_a_shared_commit_fails_alone(sqlite_db: Database, failing: str) -> None:
    crowd = Crowd(sqlite_db)
    with sqlite_db.write() as tx:
        put(tx, "first")
        for name in ("second", "third", "fourth"):
            crowd.join_in(name, fails=name == failing)
    crowd.go_home()
    assert list(crowd.errors) == [failing]
    assert count(sqlite_db) == 3


def test_the_first_of_a_crowd_may_fail_without_harming_the_others(sqlite_db: Database) -> None:
    crowd = Crowd(sqlite_db)
    with pytest.raises(ZeroDivisionError), sqlite_db.write() as tx:
        put(tx, "first")
        crowd.join_in("second")
        crowd.join_in("third")
        raise ZeroDivisionError
    crowd.go_home()
    assert (count(sqlite_db), crowd.errors) == (2, {})


def test_a_refused_statement_in_a_shared_commit_undoes_only_its_own_use_case(sqlite_db: Database) -> None:
    with sqlite_db.write() as tx:
        put(tx, "taken")
    crowd = Crowd(sqlite_db)
    with sqlite_db.write() as tx:
        put(tx, "first")
        crowd.join_in("taken")
        crowd.join_in("third")
    crowd.go_home()
    assert list(crowd.errors) == ["taken"]
    assert count(sqlite_db) == 3


def test_no_write_returns_before_the_shared_commit(sqlite_db: Database) -> None:
    """Acknowledged means stored: whoever hands the transaction on waits for the last of the group."""
    returned = threading.Event()
    crowd = Crowd(sqlite_db)

    def first() -> None:
        with sqlite_db.write() as tx:
            put(tx, "first")
            started.set()
            go_on.wait(DEADLINE)
        returned.set()

    started, go_on, hold, inside = (threading.Event() for _ in range(4))

    def second() -> None:
        with sqlite_db.write() as tx:
            put(tx, "second")
            inside.set()
            hold.wait(DEADLINE)

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    threads[0].start()
    started.wait(DEADLINE)
    threads[1].start()
    wait_until(lambda: len(crowd._queue) == 1)
    go_on.set()
    assert inside.wait(DEADLINE)
    assert not returned.is_set()
    assert count(sqlite_db) == 0
    hold.set()
    for thread in threads:
        thread.join(DEADLINE)
    assert (returned.is_set(), count(sqlite_db)) == (True, 2)


def test_many_threads_write_without_losing_anything(db: Database) -> None:
    def work(number: int) -> None:
        for turn in range(25):
            with db.write() as tx:
                put(tx, f"{number}-{turn}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert count(db) == 200


def test_the_child_of_a_fork_writes_on_a_connection_of_its_own(db: Database) -> None:
    with db.write() as tx:
        put(tx, "before")
    assert fork_and_write(db) is None
    with db.write() as tx:
        put(tx, "parent")
    assert count(db) == 3


def test_opening_twice_gives_the_same_database(location: str, db: Database) -> None:
    with db.write() as tx:
        put(tx, "a")
    again = open_database(location)
    try:
        assert count(again) == 1
        assert again.dialect.database_id == db.dialect.database_id != ""
    finally:
        again.close()


def test_sqlite_is_set_up_as_promised(sqlite_path: Path) -> None:
    db = open_database(str(sqlite_path))
    try:
        with db.read() as tx:
            found = {
                name: tx.value(f"PRAGMA {name}")
                for name in ("journal_mode", "wal_autocheckpoint", "busy_timeout", "synchronous", "foreign_keys")
            }
    finally:
        db.close()
    assert found == {
        "journal_mode": "wal",
        "wal_autocheckpoint": 1000,
        "busy_timeout": 5000,
        "synchronous": 1,
        "foreign_keys": 1,
    }


def test_a_fork_with_an_open_watch_loses_nothing_that_the_child_stores(location: str) -> None:
    """The parent closes everything while the child still writes: the log must not vanish under the child."""
    db = open_database(location)
    watch = db.watch()
    to_parent, to_child = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            with db.write() as tx:
                put(tx, "first")
            os.write(to_parent[1], b"x")
            os.read(to_child[0], 1)
            with db.write() as tx:
                put(tx, "second")
            code = 0
        finally:
            os._exit(code)
    os.read(to_parent[0], 1)
    watch.close()
    db.close()
    os.write(to_child[1], b"x")
    assert os.waitpid(pid, 0)[1] == 0
    for end in (*to_parent, *to_child):
        os.close(end)
    again = open_database(location)
    assert count(again) == 2
    again.close()


def test_a_watch_works_in_the_parent_and_in_the_child_of_a_fork(db: Database) -> None:
    watch = db.watch()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            while not watch.wait(DEADLINE):
                pass
            code = 0
        finally:
            os._exit(code)
    with db.write() as tx:
        put(tx, "a")
        tx.tell(Topic.SESSION, "s", at=1.0)
    assert watch.wait(DEADLINE)
    # The child may have begun to wait after that commit.
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        with db.write() as tx:
            tx.tell(Topic.SESSION, "s", at=1.0)
    watch.close()


@pytest.mark.parametrize("inside", ["read", "write"])
def test_a_fork_inside_a_transaction_is_refused_a_database_instead_of_hanging(db: Database, inside: str) -> None:
    with db.read() if inside == "read" else db.write():
        assert fork_and_write(db) == DatabaseGone
    with db.write() as tx:
        put(tx, "parent")
    assert count(db) == 1


@pytest.mark.parametrize("inside", ["read", "write"])
def test_a_fork_waits_only_so_long_for_a_thread_that_stays_in_a_transaction(
    db: Database, location: str, tmp_path: Path, inside: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "FORK_PATIENCE", 0.1)
    is_inside, may_leave = threading.Event(), threading.Event()

    def stay() -> None:
        with db.read() if inside == "read" else db.write():
            is_inside.set()
            may_leave.wait(DEADLINE)

    thread = threading.Thread(target=stay)
    thread.start()
    assert is_inside.wait(DEADLINE)
    assert fork_and_write(db) == DatabaseGone
    if db.dialect.local:  # a server knows nothing of forks
        link = tmp_path / "link.db"
        link.symlink_to(location)
        assert [fork_and_write(db, again=path) for path in (location, str(link))] == [DatabaseGone] * 2
    may_leave.set()
    thread.join(DEADLINE)
    assert fork_and_write(db) is None
    with db.write() as tx:
        put(tx, "parent")
    assert count(db) == 2


def test_two_processes_that_write_the_same_runs_on_a_server_never_wait_for_each_other_for_ever(
    postgres: PostgresServer,
) -> None:
    with postgres.new_database() as url:
        several = [Context(open_database(url)), Context(open_database(url))]  # as two processes would have them
        for name in ("one", "two"):
            start_run(several[0], name)
        errors: list[Exception] = []

        def work(ctx: Context, name: str) -> None:
            try:
                for _ in range(25):
                    append_message(ctx, line_of(name), user_says("x"))
            except Exception as error:
                errors.append(error)

        threads = [
            threading.Thread(target=work, args=(ctx, name))
            for ctx in several
            for name in ("one", "two")
            for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert errors == []
        with several[0].db.read() as tx:
            assert tx.value("SELECT count(*) FROM messages") == 200
            assert (
                tx.value("SELECT count(DISTINCT position) FROM progression_entries WHERE progression_id = 'one-order'")
                == 100
            )
        for ctx in several:
            ctx.db.close()
