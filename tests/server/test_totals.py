"""How much there is of everything, for those who go to a list: as much as the list has."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lionstudio.services import show_list, teams
from lionstudio.services.context import Context
from lionstudio.services.sessions import finish_session, get_session
from lionstudio.settings import Settings
from lionstudio.version import __version__
from tests.factories import Clock, start_run
from tests.server.pages import every_page
from tests.server.show_world import make_folder, put_show
from tests.services.dashboard_world import leave_files


def test_the_totals_are_the_lengths_of_the_lists(
    client: TestClient, ctx: Context, studio_settings: Settings, location: str
) -> None:
    for number in range(4):
        start_run(ctx, f"run-{number}")
    finish_session(ctx, "run-0", "completed")
    leave_files(ctx, get_session(ctx, "run-0"))
    teams.put_team(ctx, "team-1", actor="ana", name="ledger", members=["ana"])
    teams.put_team(ctx, "team-2", actor="ana", name="docs", members=["ana"])
    teams.archive_team(ctx, "team-2", actor="ana")
    root = studio_settings.shows_root
    root.mkdir(parents=True)
    put_show(ctx, "stored", root)
    make_folder(root, "only-on-disk")
    totals = client.get("/api/totals").json()
    for name, path in (("runs", "/api/sessions"), ("shows", "/api/shows"), ("teams", "/api/teams")):
        assert totals[name] == len(every_page(client, path)) > 0, name
    for path in ("shows", "teams"):
        for status, count in totals[f"{path}_by_status"].items():
            assert count == len(every_page(client, f"/api/{path}", status=status)), (path, status)
    assert totals["shows_by_status"]["unknown"] == totals["teams_by_status"]["archived"] == 1
    assert totals["zombies"] == len(every_page(client, "/api/sessions", health="zombie")) == 1
    assert totals["version"] == __version__
    assert "://" in location or Path(totals["place"]).name == Path(location).name


def test_shows_on_disk_are_counted_as_they_come_go_and_are_brought_in(
    client: TestClient, ctx: Context, clock: Clock, studio_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown() -> int:
        count: int = client.get("/api/totals").json()["shows_by_status"]["unknown"]
        return count

    looks: list[str] = []
    look = show_list.iterate_topics_on_disk
    monkeypatch.setattr(show_list, "iterate_topics_on_disk", lambda root: looks.append(root) or look(root))
    root = studio_settings.shows_root
    assert unknown() == 0
    root.mkdir(parents=True)
    make_folder(root, "one")
    assert (unknown(), unknown(), len(looks)) == (1, 1, 1)  # not looked at again, because nothing came or went
    make_folder(root, "two")
    assert (unknown(), len(looks)) == (2, 2)
    put_show(ctx, "one", root)
    assert (unknown(), len(looks)) == (1, 2)  # what is stored is always asked
    (root / "three").mkdir()
    assert unknown() == 1
    (root / "three" / "_ABORT").touch()  # now it is a show
    clock.pass_seconds(6)
    assert unknown() == 2


def test_a_database_below_the_home_folder_is_named_from_there(
    client: TestClient, location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "://" in location:
        assert client.get("/api/totals").json()["place"].startswith("postgresql://")
        return
    monkeypatch.setenv("HOME", str(Path(location).parent.parent))
    assert client.get("/api/totals").json()["place"] == f"~/{Path(location).parent.name}/{Path(location).name}"
