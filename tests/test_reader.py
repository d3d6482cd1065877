"""Reading from Python: what is there, what is not, and what is asked for wrongly."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lionstudio
from lionstudio.domain.errors import DatabaseGone, InvalidRequest, SessionNotFound, UnknownWord, UnusablePlace
from lionstudio.domain.health import Health
from lionstudio.domain.usage import Usage


@pytest.fixture
def run(location: str, home: Path) -> lionstudio.Run:
    """A run of three messages, with a branch, usage and embeddings, once for each engine."""
    with lionstudio.record("read me", agent="reader", model="a", db=location) as run:
        run.user("one", embedding=[1.0, 0.0])
        run.assistant("two", usage={"input_tokens": 5, "output_tokens": 2, "cost_usd": 0.5})
        run.branch("side").assistant("three", usage={"output_tokens": 1}, model="b")
    return run


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))


def make_device(path: Path) -> None:
    path.symlink_to("/dev/null")


def make_loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [make_fifo, make_socket, make_device, make_loop])
def test_what_is_no_file_is_said_to_be_none(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None]
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    make(Path("state.db"))
    with pytest.raises(UnusablePlace, match=r"state\.db") as raised:
        lionstudio.open("state.db")
    assert "LIONAGI_DB=" in str(raised.value.hint)


@pytest.mark.parametrize("name", ["a file/state.db", "x" * 300], ids=["under a file", "a name too long"])
def test_where_no_file_can_be_is_said_to_be_such_a_place(tmp_path: Path, home: Path, name: str) -> None:
    (tmp_path / "a file").write_text("a poem")
    with pytest.raises(UnusablePlace, match="cannot be a file"):
        lionstudio.open(tmp_path / name)


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("postgresql://ana:secret@127.0.0.1:99999/x", id="a port beyond all"),
        pytest.param("postgresql://ana:secret@127.0.0.1:0/x", id="port 0"),
        pytest.param("postgresql://ana:secret@127.0.0.1/x?port=99999", id="a port among the options"),
        pytest.param("postgresql://ana:secret@127.0.0.1:abc/x", id="a port of letters"),
        pytest.param("postgresql://ana:secret@[::1/x", id="a bracket that is not closed"),
        pytest.param("postgresql://ana:secret%zz@127.0.0.1/x", id="a stray percent sign"),
        pytest.param("postgresql://ana:secret@127.0.0.1/x?colour=red", id="an option that does not exist"),
    ],
)
def test_an_address_that_no_server_can_have_is_said_to_be_none(home: Path, url: str) -> None:
    with pytest.raises(UnusablePlace, match="No database server can be at the address") as raised:
        lionstudio.open(url)
    assert "postgresql://user:password@host:5432/name" in str(raised.value.hint)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("db", ["a\0b.db", "half \ud800.db", 5, b"state.db", ["state.db"]])
@pytest.mark.parametrize("use", [lionstudio.open, lambda db: lionstudio.record(db=db)], ids=["open", "record"])
def test_what_is_no_path_is_refused_by_name(home: Path, use: Callable[[Any], object], db: object) -> None:
    with pytest.raises(InvalidRequest) as raised:
        use(db)
    assert raised.value.hint


@pytest.mark.parametrize("touched", [False, True], ids=["nothing", "an empty file"])
def test_reading_where_no_database_is_creates_none_and_says_how_one_comes_to_be(
    tmp_path: Path, home: Path, touched: bool
) -> None:
    path = tmp_path / "folder" / "state.db"
    if touched:
        path.parent.mkdir()
        path.touch()
    with pytest.raises(DatabaseGone, match=r"There is no database at .* yet") as raised:
        lionstudio.open(path)
    assert "lionstudio.record" in str(raised.value.hint)
    assert "li state import" in str(raised.value.hint)
    assert "lionstudio.record" in raised.value.__notes__[0]  # a traceback says it too
    assert path.exists() is touched
    assert list(tmp_path.rglob("*.db-*")) == []
    with lionstudio.record(db=path) as run:
        pass
    with lionstudio.open(path) as reader:
        assert reader.session(run.session_id).status == "completed"


@pytest.mark.no_database
def test_reading_makes_no_database_anywhere(location: str, home: Path) -> None:
    for _ in range(2):
        with pytest.raises(DatabaseGone, match="yet"):
            lionstudio.open(location)


def test_reading_makes_no_database_beside_a_foreign_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LIONAGI_DB", raising=False)
    home.mkdir(exist_ok=True)
    make = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('CREATE TABLE theirs (id)')"
    subprocess.run([sys.executable, "-c", make, home / "state.db"], check=True)
    with pytest.raises(DatabaseGone, match=r"lionstudio\.db yet"):
        lionstudio.open()
    assert not (home / "lionstudio.db").exists()


def test_usage_is_read_by_model(location: str, run: lionstudio.Run) -> None:
    with lionstudio.open(location) as reader:
        assert reader.usage(run.session_id) == {
            "a": Usage(input_tokens=5, output_tokens=2, cost_usd=0.5),
            "b": Usage(output_tokens=1),
        }
        with pytest.raises(SessionNotFound):
            reader.usage("nobody")


def test_health_is_read_with_its_reasons(location: str, run: lionstudio.Run) -> None:
    with lionstudio.open(location) as reader:
        ended = reader.health(run.session_id)
        assert (ended.health, [reason.code for reason in ended.reasons]) == (Health.HEALTHY, ["run.health.ended"])
        with lionstudio.record(db=location) as running:
            running.user("hello")
            alive = reader.health(running.session_id)
        assert (alive.health, alive.reasons[0].code) == (Health.HEALTHY, "run.health.process_alive")
        with pytest.raises(SessionNotFound):
            reader.health("nobody")


def test_a_page_of_messages_holds_200_and_the_last_position_leads_to_the_next(location: str, home: Path) -> None:
    with lionstudio.record(db=location) as run:
        for number in range(450):
            run.user(str(number))
    with lionstudio.open(location) as reader:
        pages, after = [], 0
        while page := reader.messages(run.session_id, after=after):
            pages.append(len(page))
            after = page[-1].position or 0
    assert pages == [200, 200, 50]


WRONG: dict[str, Callable[[lionstudio.Reader, str], object]] = {
    "after beyond all": lambda reader, run: reader.messages(run, after=10**30),
    "after as text": lambda reader, run: reader.messages(run, after="3"),  # type: ignore[arg-type]
    "no limit": lambda reader, run: reader.messages(run, limit=None),  # type: ignore[arg-type]
    "a run for its id": lambda reader, run: reader.messages(reader.session(run)),  # type: ignore[arg-type]
    "a branch for its id": lambda reader, run: reader.messages(run, reader.branches(run)[0]),  # type: ignore[arg-type]
    "a number for a run": lambda reader, run: reader.session(5),  # type: ignore[arg-type]
    "a number for a run's branches": lambda reader, run: reader.branches(5),  # type: ignore[arg-type]
    "a number for a run's usage": lambda reader, run: reader.usage(5),  # type: ignore[arg-type]
    "a number for a run's health": lambda reader, run: reader.health(5),  # type: ignore[arg-type]
    "a number for a cursor": lambda reader, run: reader.sessions(cursor=3),  # type: ignore[arg-type]
    "a limit of text": lambda reader, run: reader.sessions(limit="3"),  # type: ignore[arg-type]
    "a word for a vector": lambda reader, run: reader.similar("abc"),  # type: ignore[arg-type]
    "digits for a vector": lambda reader, run: reader.similar("123"),  # type: ignore[arg-type]
    "an empty vector": lambda reader, run: reader.similar([]),
    "a vector of zeros": lambda reader, run: reader.similar([0.0, 0.0]),
    "a vector with a hole": lambda reader, run: reader.similar([float("nan"), 1.0]),
    "no limit to what is similar": lambda reader, run: reader.similar([1.0], limit=None),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("ask", WRONG.values(), ids=WRONG)
def test_what_is_asked_for_wrongly_is_refused_by_name(
    location: str, run: lionstudio.Run, ask: Callable[[lionstudio.Reader, str], object]
) -> None:
    with lionstudio.open(location) as reader, pytest.raises(InvalidRequest):
        ask(reader, run.session_id)


def test_an_unknown_order_is_refused_with_the_right_article(location: str, run: lionstudio.Run) -> None:
    with lionstudio.open(location) as reader:
        with pytest.raises(UnknownWord, match="'newest' is not an order") as raised:
            reader.sessions(sort="newest")
        assert raised.value.hint == "Use one of: active, created, ended."
        with pytest.raises(UnknownWord, match="'done' is not a status"):
            reader.sessions(status="done")


def test_a_closed_reader_says_that_it_is_closed(location: str, run: lionstudio.Run) -> None:
    reader = lionstudio.open(location)
    assert location.partition("?")[0].rpartition("/")[2] in repr(reader)
    reader.close()
    reader.close()
    assert repr(reader) == "<Reader, closed>"
    for ask in (reader.session, reader.messages, reader.branches, reader.usage, reader.health):
        with pytest.raises(InvalidRequest, match="This reader is closed"):
            ask(run.session_id)
    with pytest.raises(InvalidRequest, match="This reader is closed"):
        reader.sessions()
    with pytest.raises(InvalidRequest, match="This reader is closed"):
        reader.similar([1.0, 0.0])
