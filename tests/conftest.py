"""Fixtures that every room shares: a fresh database on each engine, a clock and ids that tests own."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from lionstudio.services.context import Context
from lionstudio.store.database import Database
from lionstudio.store.open import open_database
from tests.factories import Clock
from tests.fakes.fake_openai import FakeOpenAI
from tests.postgres_server import PostgresServer

# Started with nohup, or in the background of a script, it is told to ignore these, and so would be every agent that a
# test starts and ends by one of them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)

# How fast an example is made or run says something about the load of the machine only. A change is judged by the same
# examples each time; who looks for others types: pytest -m hypothesis --hypothesis-profile hunt
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("steady", UNHURRIED, derandomize=True)
settings.register_profile("hunt", UNHURRIED, derandomize=False)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A real PostgreSQL server, started at its first use."""
    # Socket paths are limited to about 100 characters, which pytest's own folders may exceed.
    with tempfile.TemporaryDirectory(prefix="lionstudio-pg-") as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        server = PostgresServer(Path(folder))
        yield server
        server.stop()


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where a database without rows is, or may come to be: a path or a URL, once for each engine."""
    if request.param == "sqlite":
        yield str(tmp_path / "state.db")
    else:
        server: PostgresServer = request.getfixturevalue("postgres")
        is_new = request.node.get_closest_marker("no_database") is not None
        with server.new_database() if is_new else server.clean_database() as url:
            yield url


@pytest.fixture
def db(location: str) -> Iterator[Database]:
    database = open_database(location)
    yield database
    database.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ctx(db: Database, clock: Clock) -> Context:
    """What every use case is given; tests that ask for it run on SQLite and on PostgreSQL."""
    return Context(db, now=clock)


@pytest.fixture
def sqlite_path(tmp_path: Path) -> Path:
    return tmp_path / "state.db"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own with room for 2 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a file system needs root")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home that nobody else has; nothing leaks in from the machine."""
    folder = tmp_path / "home"
    folder.mkdir()
    for name in list(os.environ):
        if name.startswith("LIONAGI_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("LIONAGI_HOME", str(folder / ".lionagi"))
    return folder / ".lionagi"


@pytest.fixture
def quiet_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """lionagi writes its logs into the working directory when it ends: keep it from that."""
    from lionagi.config import settings as lionagi_settings

    monkeypatch.chdir(tmp_path)
    quiet = {**lionagi_settings.LOG_CONFIG, "auto_save_on_exit": False}
    monkeypatch.setattr(type(lionagi_settings), "LOG_CONFIG", property(lambda _: quiet))


@pytest.fixture
def model_server() -> Iterator[FakeOpenAI]:
    """An OpenAI API on loopback; a test adds what it answers."""
    with FakeOpenAI() as server:
        yield server
