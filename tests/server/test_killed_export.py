"""What a server leaves that is killed while it makes a copy of the database to send."""

from pathlib import Path

from starlette.testclient import TestClient

from lionstudio.server.app import create_app
from lionstudio.settings import Settings
from tests.recorders.agents import Agent
from tests.server.conftest import BASE

EXPORTING = """
import sys
from lionstudio.services.scratch import ScratchFolder
folder = ScratchFolder(sys.argv[1])
with open(folder.path + "/export.db", "wb") as file:
    file.write(b"half a database")
print(folder.path, flush=True)
sys.stdin.readline()
"""


def leave_behind(backups: Path) -> Path:
    """The folder of an export whose process was killed."""
    with Agent(EXPORTING, backups) as agent:
        folder = Path(agent.line())
        agent.process.kill()
        agent.process.wait()
    assert (folder / "export.db").exists()
    return folder


def test_the_next_start_removes_what_the_dead_left_and_nothing_else(studio_settings: Settings) -> None:
    backups = studio_settings.backups
    backups.mkdir(parents=True)
    (backups / "state.db").write_text("a backup")
    with Agent(EXPORTING, backups) as living:
        in_use = Path(living.line())
        left = leave_behind(backups)
        with TestClient(create_app(studio_settings), base_url=BASE):
            assert not left.exists()
            assert (in_use / "export.db").exists()
            assert (backups / "state.db").read_text() == "a backup"


def test_the_next_export_removes_it_too(studio_settings: Settings) -> None:
    backups = studio_settings.backups
    backups.mkdir(parents=True)
    with TestClient(create_app(studio_settings), base_url=BASE) as client:
        left = leave_behind(backups)
        assert client.get("/api/admin/export", params={"format": "sqlite"}).status_code == 200
    assert not left.exists()
    assert list(backups.iterdir()) == []
