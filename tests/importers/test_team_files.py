"""Team files in: what is new comes in, what is known stays, what is bad is named."""

import shutil
from pathlib import Path

import pytest

from lionstudio.domain.team import TeamStatus
from lionstudio.domain.team_files import with_members, with_message, with_reader, with_status
from lionstudio.importers.report import ImportReport
from lionstudio.importers.team_files import import_team_files
from lionstudio.recorders.team_files import change_file, read_each
from lionstudio.services import teams
from lionstudio.services.context import Context
from lionstudio.services.team_list import list_last_messages
from tests.factories import NOW, start_run

FIXTURES = Path(__file__).parents[1] / "fixtures" / "teams"
ALPHA = "9b42c6f39b52"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES, tmp_path / "teams"))


def bring_in(ctx: Context | None, folder: Path, **more: bool) -> ImportReport:
    return import_team_files(ctx, read_each(str(folder)), actor="ana", **{"is_primary": True, **more})


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
    assert counts(first) == [2, 0, 0, 7, 0]
    assert [(Path(problem.where).name, problem.message) for problem in first.problems] == [
        ("old.json", "Its message 4 is not an object.")
    ]
    stored = (teams.list_teams(ctx), list_last_messages(ctx, ALPHA))
    assert counts(bring_in(ctx, folder)) == [0, 0, 2, 0, 0]
    assert (teams.list_teams(ctx), list_last_messages(ctx, ALPHA)) == stored


def test_new_messages_of_a_known_team_come_in(ctx: Context, folder: Path):
    bring_in(ctx, folder)
    say(folder, "more")
    assert counts(bring_in(ctx, folder)) == [0, 1, 1, 1, 0]
    assert teams.list_inbox(ctx, ALPHA, "dev1", unread_only=True)[-1].content == "more"


def test_who_read_a_message_comes_in(ctx: Context, folder: Path):
    bring_in(ctx, folder)
    change_file(str(folder / f"{ALPHA}.json"), lambda file: with_reader(file, ["b7f41e4d1c03"], "dev2", at=NOW))
    assert counts(bring_in(ctx, folder)) == [0, 1, 1, 0, 1]
    assert list_last_messages(ctx, ALPHA)[-1].read_by == ("dev2",)


def test_a_run_that_is_recorded_later_is_linked_then(ctx: Context, folder: Path):
    say(folder, "from a run", run="run-1")
    bring_in(ctx, folder)
    assert counts(bring_in(ctx, folder)) == [0, 0, 2, 0, 0]
    start_run(ctx, "run-1")
    assert counts(bring_in(ctx, folder)) == [0, 1, 1, 0, 1]
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
    assert counts(bring_in(ctx, folder)) == [3, 0, 0, 10, 0]
    assert counts(bring_in(ctx, folder)) == [0, 0, 3, 0, 0]
    assert [m.content for m in list_last_messages(ctx, "copy")] == [m.content for m in list_last_messages(ctx, ALPHA)]


def test_bad_files_are_named_and_the_rest_comes_in(ctx: Context, folder: Path):
    (folder / "half.json").write_text('{"id": "x", "na')
    (folder / "empty.json").touch()
    report = bring_in(ctx, folder)
    assert report.counts["teams added"] == 2
    assert [Path(problem.where).name for problem in report.problems] == ["empty.json", "half.json", "old.json"]
