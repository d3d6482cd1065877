"""`li state verify`."""

import json
from pathlib import Path

import pytest

from lionstudio.domain.team_files import new_team_file, with_message
from lionstudio.recorders.spool import REJECTED, SUFFIX, SpoolFile, spool_folder
from lionstudio.recorders.team_files import create_file
from lionstudio.services import shows, teams
from lionstudio.services.change_feed import newest_number
from lionstudio.services.context import Context
from tests.cli.conftest import DRY_RUN, Li
from tests.factories import NOW, start_run
from tests.services.archive_world import fill


@pytest.fixture
def shows_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "shows"
    monkeypatch.setenv("LIONAGI_SHOWS_ROOT", str(folder))
    return folder


@pytest.fixture
def agreeing(li: Li, ctx: Context, home: Path) -> Context:
    """A full database, and the files of its teams."""
    fill(ctx)
    assert li("team", "export").code == 0
    return ctx


def test_nothing_differs(li: Li, agreeing: Context, shows_root: Path) -> None:
    answer = li("state", "verify")
    assert answer.code == 0
    assert "is whole, and agrees with the files (15 checks)." in answer.out
    assert ("were not checked" in answer.err) == (agreeing.db.dialect.name == "postgres")


def test_programs_are_told_that_nothing_differs(li: Li, agreeing: Context, shows_root: Path) -> None:
    (summary,) = li("state", "verify", "--json").objects
    assert (summary["summary"], summary["ok"], summary["findings"]) == (True, True, 0)
    assert {"integrity", "references", "usage", "team files", "shows on disk", "spool"} <= set(summary["checks"])


def test_what_differs_is_named_with_what_mends_it(li: Li, agreeing: Context, shows_root: Path) -> None:
    with agreeing.db.write() as tx:
        tx.run("UPDATE progression_heads SET length = 9 WHERE id = 'run-1-order'")
    answer = li("state", "verify")
    assert answer.code == 1
    assert "run-1: the order run-1-order says that its length is 9, and it is 3, the last position 3." in answer.out
    assert "Mend it: " in answer.out
    assert "1 thing is not as it should be" in answer.err
    *found, summary = li("state", "verify", "--json").objects
    assert [(one["subject"], sorted(one)) for one in found] == [("run-1", ["check", "mend", "sentence", "subject"])]
    assert (summary["ok"], summary["findings"]) == (False, 1)


def test_verifying_changes_nothing(li: Li, agreeing: Context, shows_root: Path) -> None:
    make_show(shows_root, "voyage")
    newest = newest_number(agreeing)
    assert li("state", "verify").code == 1
    assert newest_number(agreeing) == newest


def test_a_message_that_only_a_team_file_has_is_found_and_mended(li: Li, agreeing: Context, home: Path) -> None:
    team = teams.get_team(agreeing, "team-1")._replace(id="team-2", name="other")
    file = with_message(
        new_team_file(team), id="only-here", sender="ana", recipients=["bo"], content="hi", at=NOW, session_id=None
    )
    path = create_file(str(home / "teams"), file)
    *found, _ = li("state", "verify", "--json").objects
    assert [(one["subject"], one["sentence"], one["mend"]) for one in found] == [
        (path, "The database lacks the team, 1 message.", "li state import-teams")
    ]
    assert li("state", "import-teams").code == 0
    assert li("state", "verify").code == 0


def test_what_only_the_database_has_of_a_team_is_found_and_mended(li: Li, agreeing: Context) -> None:
    teams.add_message(agreeing, "team-1", sender="bo", content="only here")
    teams.put_team(agreeing, "team-3", actor="ana", name="new crew", members=["ana"])
    *found, _ = li("state", "verify", "--json").objects
    assert {(one["subject"], one["sentence"], one["mend"]) for one in found} == {
        ("team-1", "The file of the team crew lacks 1 message that the database has.", "li team export team-1"),
        ("team-3", "The team new crew is in the database and has no file.", "li team export team-3"),
    }
    assert li("team", "export", "team-1").code == li("team", "export", "team-3").code == 0
    assert li("state", "verify").code == 0


def test_files_of_teams_may_be_missing_where_the_database_is_the_store(li: Li, ctx: Context, home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('teams = "database"\n')
    teams.put_team(ctx, "team-1", actor="ana", name="crew", members=["ana"])
    assert li("state", "verify").code == 0


def test_a_team_file_that_is_none_is_found(li: Li, agreeing: Context, home: Path) -> None:
    (home / "teams" / "broken.json").write_text('{"id": "x", "mess')
    *found, _ = li("state", "verify", "--json").objects
    assert [one["subject"] for one in found] == [str(home / "teams" / "broken.json")]
    assert "It is not JSON" in found[0]["sentence"]


def test_a_broken_file_of_a_known_team_is_named_once_and_mended_as_told(li: Li, agreeing: Context, home: Path) -> None:
    path = home / "teams" / "team-1.json"
    path.write_text(path.read_text()[:40])
    *found, _ = li("state", "verify", "--json").objects
    assert [(one["subject"], one["mend"]) for one in found] == [
        (str(path), "Mend that file, or move it away and type: li team export team-1")
    ]
    path.rename(path.with_suffix(".away"))
    assert li("team", "export", "team-1").code == 0
    assert li("state", "verify").code == 0


def test_a_team_file_that_cannot_be_opened_is_named_once(li: Li, agreeing: Context, home: Path) -> None:
    path = home / "teams" / "team-1.json"
    path.unlink()
    path.symlink_to(path)
    *found, _ = li("state", "verify", "--json").objects
    assert [(one["subject"], one["mend"]) for one in found] == [(str(path), "Check that file and its folder.")]


def make_show(root: Path, topic: str) -> None:
    (root / topic / "draft").mkdir(parents=True)
    (root / topic / "_show.md").write_text(f"# {topic}\n")
    (root / topic / "draft" / "_meta.json").write_text(json.dumps({"play": "draft", "status": "merged"}))


def test_a_show_that_only_is_on_disk_is_found_and_mended(li: Li, agreeing: Context, shows_root: Path) -> None:
    make_show(shows_root, "voyage")
    *found, _ = li("state", "verify", "--json").objects
    differing = [one for one in found if one["mend"] == "li state import-shows"]
    assert {one["subject"] for one in differing} == {"voyage"}
    li("state", "import-shows")
    *found, _ = li("state", "verify", "--json").objects
    assert [one for one in found if one["mend"] == "li state import-shows"] == []


def test_a_play_that_is_otherwise_on_disk_is_found(li: Li, agreeing: Context, shows_root: Path) -> None:
    make_show(shows_root, "voyage")
    li("state", "import-shows")
    with agreeing.db.write() as tx:
        tx.run("UPDATE plays SET status = 'running' WHERE name = 'draft' AND session_id IS NULL")
    (found,) = [one for one in li("state", "verify", "--json").objects if one.get("subject") == "voyage"]
    assert found["sentence"] == "On disk it is otherwise: voyage / draft: status running -> merged"
    assert found["mend"] == "li state import-shows"


def test_a_show_that_is_gone_from_disk_is_found(li: Li, ctx: Context, shows_root: Path) -> None:
    shows_root.mkdir()
    shows.put_show(ctx, "lost", actor="ana", show_dir=str(shows_root / "lost"))
    *found, _ = li("state", "verify", "--json").objects
    mend = "Put it back, or type: li state import-shows --forget-gone"
    assert [(one["subject"], one["mend"]) for one in found] == [(str(shows_root / "lost"), mend)]
    told = li("state", "import-shows")
    assert (told.code, told.err.splitlines()[-1]) == (
        1,
        "Put back what is gone, or let the database forget it: li state import-shows --forget-gone",
    )
    dry = li("state", "import-shows", "--forget-gone", "--dry-run")
    assert (dry.code, dry.err.endswith(DRY_RUN), shows.get_show(ctx, "lost").topic) == (0, True, "lost")
    assert "lost: forgotten\n" in dry.out
    assert li("state", "import-shows", "--forget-gone").code == 0
    assert li("state", "verify").code == 0


def test_a_team_of_another_database_needs_no_file(li: Li, ctx: Context) -> None:
    teams.put_team(ctx, "team-1", actor="import", name="crew", members=["ana"])
    assert li("state", "verify").code == 0


def test_what_a_living_process_keeps_in_the_spool_is_found(li: Li, ctx: Context, home: Path, location: str) -> None:
    start_run(ctx, "run-1")
    file = SpoolFile(spool_folder(home / "spool", database_id=ctx.db.dialect.database_id, location=location), "run-1")
    file.keep(b"{}\n")
    *found, _ = li("state", "verify", "--json").objects
    assert [one["subject"] for one in found] == [str(file.path)]
    assert found[0]["sentence"].startswith("1 record waits to be written")
    file.clear()
    file.close()
    assert li("state", "verify").code == 0


def test_what_the_database_refused_is_found(li: Li, ctx: Context, home: Path, location: str) -> None:
    start_run(ctx, "run-1")
    folder = spool_folder(home / "spool", database_id=ctx.db.dialect.database_id, location=location)
    folder.mkdir(parents=True)
    (folder / f"1.2.run-1{SUFFIX}{REJECTED}").write_text("{}\n{}\n")
    elsewhere = home / "spool" / "another-database"
    elsewhere.mkdir()
    (elsewhere / f"1.2.run-9{SUFFIX}{REJECTED}").write_text("{}\n")
    *found, _ = li("state", "verify", "--json").objects
    assert [(one["subject"], one["sentence"]) for one in found] == [
        (str(folder / f"1.2.run-1{SUFFIX}{REJECTED}"), "2 records were refused by the database for good.")
    ]


def test_progress_is_shown_on_a_terminal(li: Li, agreeing: Context) -> None:
    assert "Checks done: " in li("state", "verify", terminal=True).err


def test_a_hostile_name_cannot_steer_the_terminal(li: Li, ctx: Context) -> None:
    teams.put_team(ctx, "team-1", actor="ana", name="evil \x1b[2J", members=["ana"])
    answer = li("state", "verify", terminal=True)
    assert answer.code == 1
    assert "\x1b[2J" not in answer.out
