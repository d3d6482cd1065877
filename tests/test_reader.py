"""Reading from Python: what is there, what is not, and what is asked for wrongly."""

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lionstudio
from lionstudio.domain.errors import DatabaseGone, InvalidRequest, UnusablePlace


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
