"""Team files in: what is new comes in, what is known stays, what is bad is named."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lionstudio.domain.errors import Error
from lionstudio.domain.team import TeamStatus
from lionstudio.domain.team_entries import fields_of, time_text
from lionstudio.domain.team_files import (
    TeamFile,
    new_team_file,
    with_members,
    with_message,
    with_missing,
    with_reader,
    with_status,
)
from lionstudio.importers.report import ImportReport
from lionstudio.importers.team_files import import_team_files
from lionstudio.recorders.team_files import change_file, read_again, read_file
from lionstudio.recorders.team_finding import read_each
from lionstudio.services import teams
from lionstudio.services.context import Context
from lionstudio.services.team_list import list_all_messages
from tests.factories import NOW, start_run

FIXTURES = Path(__file__).parents[1] / "fixtures" / "teams"
ALPHA = "9b42c6f39b52"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES, tmp_path / "teams"))


def bring_in(ctx: Context | None, folder: Path, **more: bool) -> ImportReport:
    return import_team_files(
        ctx, read_each(str(folder)), read_again=read_again, actor="ana", **{"is_primary": True, **more}
    )


def counts(report: ImportReport) -> list[int]:
    return list(report.counts.values())


def say(folder: Path, text: str, **more: str) -> None:
    def change(file):
        return with_message(
            file, id=text, sender="lead", recipients=["dev1"], content=text, at=NOW, session_id=more.get("run")
        )

    change_file(str(folder / f"{ALPHA}.json"), change)


def test_files_come_in_and_again_change_nothing(ctx: Context, folder: Path):
    first = bring_in(ctx, folder)
    assert counts(first) == [3, 0, 0, 10, 0]
    assert [(Path(problem.where).name, problem.message) for problem in first.problems] == [
        ("old.json", "Its message 4 is not an object; only that message is left out.")
    ]
    stored = (teams.list_teams(ctx), list_all_messages(ctx, ALPHA))
    assert counts(bring_in(ctx, folder)) == [0, 0, 3, 0, 0]
    assert (teams.list_teams(ctx), list_all_messages(ctx, ALPHA)) == stored


def test_new_messages_of_a_known_team_come_in(ctx: Context, folder: Path):
    bring_in(ctx, folder)
    say(folder, "more")
    assert counts(bring_in(ctx, folder)) == [0, 1, 2, 1, 0]
    assert teams.list_inbox(ctx, ALPHA, "dev1", unread_only=True)[-1].content == "more"


def test_who_read_a_message_comes_in(ctx: Context, folder: Path):
    bring_in(ctx, folder)
    change_file(str(folder / f"{ALPHA}.json"), lambda file: with_reader(file, ["b7f41e4d1c03"], "dev2", at=NOW))
    assert counts(bring_in(ctx, folder)) == [0, 1, 2, 0, 1]
    assert list_all_messages(ctx, ALPHA)[-1].read_by == ("dev2",)


def test_a_run_that_is_recorded_later_is_linked_then(ctx: Context, folder: Path):
    say(folder, "from a run", run="run-1")
    bring_in(ctx, folder)
    assert counts(bring_in(ctx, folder)) == [0, 0, 3, 0, 0]
    start_run(ctx, "run-1")
    assert counts(bring_in(ctx, folder)) == [0, 1, 2, 0, 1]
    assert [session.id for session in teams.list_runs(ctx, ALPHA)] == ["run-1"]


def test_a_dry_run_says_what_would_happen_and_does_nothing(ctx: Context, folder: Path):
    planned = bring_in(ctx, folder, dry_run=True)
    assert teams.list_teams(ctx) == []
    assert planned == bring_in(None, folder, dry_run=True) == bring_in(ctx, folder)


def test_a_team_that_was_archived_stays_so_unless_its_file_says_otherwise(ctx: Context, folder: Path):
    bring_in(ctx, folder)
    teams.archive_team(ctx, ALPHA, actor="bo")
    say(folder, "late")
    bring_in(ctx, folder)
    assert teams.get_team(ctx, ALPHA).status is TeamStatus.ARCHIVED
    change_file(str(folder / f"{ALPHA}.json"), lambda file: with_status(file, TeamStatus.ACTIVE, at=NOW))
    bring_in(ctx, folder)
    assert teams.get_team(ctx, ALPHA).status is TeamStatus.ACTIVE


@pytest.mark.parametrize(("is_primary", "members"), [(True, ("zoe",)), (False, ("lead", "dev1", "dev2", "zoe"))])
def test_only_the_primary_files_take_members_away(ctx: Context, folder: Path, is_primary, members):
    bring_in(ctx, folder)
    change_file(str(folder / f"{ALPHA}.json"), lambda file: with_members(file, ["zoe"]))
    bring_in(ctx, folder, is_primary=is_primary)
    assert teams.get_team(ctx, ALPHA).members == members


def test_a_copy_of_a_file_under_another_id_is_a_team_of_its_own(ctx: Context, folder: Path):
    text = (folder / f"{ALPHA}.json").read_text()
    (folder / "copy.json").write_text(text.replace(ALPHA, "copy"))
    assert counts(bring_in(ctx, folder)) == [4, 0, 0, 13, 0]
    assert counts(bring_in(ctx, folder)) == [0, 0, 4, 0, 0]
    assert [m.content for m in list_all_messages(ctx, "copy")] == [m.content for m in list_all_messages(ctx, ALPHA)]


def test_bad_files_are_named_and_the_rest_comes_in(ctx: Context, folder: Path):
    (folder / "half.json").write_text('{"id": "x", "na')
    (folder / "empty.json").touch()
    report = bring_in(ctx, folder)
    assert report.counts["teams added"] == 3
    assert [Path(problem.where).name for problem in report.problems] == ["empty.json", "half.json", "old.json"]


@pytest.mark.parametrize("name", [f"{ALPHA}.json", "signals.json"])
def test_a_team_that_went_through_the_database_is_the_same_in_a_new_file(ctx: Context, folder: Path, name: str):
    file = read_file(str(folder / name))
    bring_in(ctx, folder)
    team = teams.get_team(ctx, file.team.id)
    assert with_missing(new_team_file(team), list_all_messages(ctx, team.id), at=NOW).fields == file.fields


def test_a_run_that_is_not_recorded_here_is_named_in_a_new_file(ctx: Context, folder: Path):
    say(folder, "from elsewhere", run="run-1")
    bring_in(ctx, folder)
    (stored,) = [message for message in list_all_messages(ctx, ALPHA) if message.content == "from elsewhere"]
    assert (stored.session_id, fields_of(stored)["session_id"]) == (None, "run-1")
    assert counts(bring_in(ctx, folder)) == [0, 0, 3, 0, 0]


def test_text_that_no_database_takes_is_the_same_in_a_new_file(ctx: Context, tmp_path: Path):
    message = {"id": "m", "from": "a\0", "to": ["\ud800"], "content": "x\0y", "timestamp": "2026-11-15T19:35:05+00:00"}
    path = tmp_path / "t.json"
    path.write_text(json.dumps({"id": "t", "messages": [{**message, "read_by": {}, "summary": "\0"}]}))
    bring_in(ctx, tmp_path)
    assert counts(bring_in(ctx, tmp_path)) == [0, 0, 1, 0, 0]
    (stored,) = list_all_messages(ctx, "t")
    assert stored.content == "x\ufffdy"
    after = with_missing(new_team_file(teams.get_team(ctx, "t")), [stored], at=NOW)
    assert after.fields["messages"] == read_file(str(path)).fields["messages"]


def test_what_a_file_says_of_a_message_is_brought_up_to_date(ctx: Context, folder: Path):
    bring_in(ctx, folder)
    change_file(str(folder / f"{ALPHA}.json"), lambda file: with_reader(file, ["b7f41e4d1c03"], "dev2", at=NOW))
    bring_in(ctx, folder)
    stored = list_all_messages(ctx, ALPHA)[-1]
    assert stored.node_metadata == {"file": {"read_by": {"dev2": time_text(NOW)}}}
    teams.mark_read(ctx, [stored.id], "dev1")
    assert fields_of(list_all_messages(ctx, ALPHA)[-1])["read_by"] == {"dev2": time_text(NOW), "dev1": ""}


def test_another_copy_of_a_file_takes_nothing_away_from_a_message(ctx: Context, folder: Path, tmp_path: Path):
    bring_in(ctx, folder)
    before = list_all_messages(ctx, "c0ffee12ab34")
    poorer = tmp_path / "poorer"
    poorer.mkdir()
    text = (folder / "signals.json").read_text().replace('"done"', '"message"')
    (poorer / "signals.json").write_text(text)
    bring_in(ctx, poorer, is_primary=False)
    assert list_all_messages(ctx, "c0ffee12ab34") == before


def test_numbers_that_json_does_not_have_keep_one_file_out_and_no_other(ctx: Context, folder: Path):
    (folder / "bad.json").write_text('{"id": "bad", "messages": [{"content": NaN, "weight": 1e999}]}')
    report = bring_in(ctx, folder)
    assert report.counts["teams added"] == 3
    assert [Path(problem.where).name for problem in report.problems] == ["bad.json", "old.json"]


LI = [sys.executable, "-m", "lionstudio"]


def test_a_file_that_is_written_between_reading_and_storing_leaves_nothing_older_behind(
    ctx: Context, location: str, home: Path
):
    """Real commands change the team after its file was read, and store that before the import stores what it read."""
    folder = Path(shutil.copytree(FIXTURES, home / "teams"))
    bring_in(ctx, folder)
    env = {**os.environ, "LIONAGI_DB": location}

    def late() -> Iterator[tuple[str, TeamFile | Error]]:
        for path, file in read_each(str(folder)):
            if Path(path).stem == ALPHA:
                for words in (("members", ALPHA, "--remove", "dev2"), ("send", ALPHA, "meanwhile"), ("archive", ALPHA)):
                    subprocess.run([*LI, "team", *words], env=env, check=True, capture_output=True)
            yield path, file

    import_team_files(ctx, late(), read_again=read_again, actor="ana", is_primary=True)
    team = teams.get_team(ctx, ALPHA)
    assert (team.members, team.status) == (("lead", "dev1"), TeamStatus.ARCHIVED)
    assert "meanwhile" in [message.content for message in list_all_messages(ctx, ALPHA)]


def test_imports_and_senders_at_once_lose_nothing_and_end_with_what_the_file_says(
    ctx: Context, location: str, home: Path
):
    folder = Path(shutil.copytree(FIXTURES, home / "teams"))
    env = {**os.environ, "LIONAGI_DB": location}
    words = [("team", "send", ALPHA, f"message {n}") for n in range(8)]
    words += [("team", "members", ALPHA, "--add", f"new{n}") for n in range(4)]
    words += [("state", "import-teams")] * 6
    started = [
        subprocess.Popen([*LI, *one], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for one in (*words[::3], *words[1::3], *words[2::3])
    ]
    assert {process.wait() for process in started} <= {0, 1}  # one file has something in it that is no message
    file = read_file(str(folder / f"{ALPHA}.json"))
    assert {f"new{n}" for n in range(4)} <= set(file.team.members)
    stored = teams.get_team(ctx, ALPHA)
    assert stored.members == file.team.members
    rows = list_all_messages(ctx, ALPHA)
    assert {f"message {n}" for n in range(8)} <= {message.content for message in rows}
    assert with_missing(new_team_file(stored), rows, at=NOW).fields == file.fields
