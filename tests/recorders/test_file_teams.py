"""Teams in files first: what others do at the same time, to the same file or to the database."""

from collections.abc import Callable
from pathlib import Path

import pytest

from lionstudio.domain.errors import AlreadyExists
from lionstudio.domain.team import TeamStatus
from lionstudio.recorders import team_finding
from lionstudio.recorders.file_teams import FileTeams
from lionstudio.recorders.teams import Places, Post
from lionstudio.services import teams
from lionstudio.services.context import Context

Meanwhile = Callable[[], object]


def open_files(folder: Path, ctx: Context, meanwhile: Meanwhile = lambda: None) -> FileTeams:
    """Teams in files; something happens in another process just before this one has the database open."""

    def slowly() -> Context:
        meanwhile()
        return ctx

    return FileTeams(Places(str(folder), slowly, slowly, lambda sentence: None, lambda: "ana"))


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda own, id: own.change_members(id, ["bo"], []), id="who lets somebody in"),
        pytest.param(lambda own, id: own.send(id, Post("ana", "hello")), id="who sends"),
        pytest.param(lambda own, id: own.show(id, 9), id="who looks"),
        pytest.param(lambda own, id: own.list_teams(), id="who lists"),
    ],
)
def test_who_is_late_leaves_no_older_facts_in_the_database(tmp_path: Path, ctx: Context, act):
    other = open_files(tmp_path, ctx)
    team = other.create("ops", ["ana"], None)

    def once() -> None:
        if "zoe" not in teams.get_team(ctx, team.id).members:
            other.change_members("ops", ["zoe"], [])
            other.set_status("ops", TeamStatus.ARCHIVED)

    act(open_files(tmp_path, ctx, once), team.id)
    found = team_finding.find_file(str(tmp_path), team.id)
    assert found is not None
    stored = teams.get_team(ctx, team.id)
    assert (stored.members, stored.status) == (found.file.team.members, found.file.team.status)
    assert "zoe" in stored.members


def test_looking_at_a_team_without_a_file_writes_nothing_over_the_database(tmp_path: Path, ctx: Context):
    teams.put_team(ctx, "t1", actor="ana", name="ops", members=["ana"])
    looks = iter([lambda: None, lambda: teams.add_members(ctx, "t1", ["zoe"], actor="ana")])
    open_files(tmp_path, ctx, lambda: next(looks, lambda: None)()).show("t1", 9)
    assert teams.get_team(ctx, "t1").members == ("ana", "zoe")


def test_a_name_that_only_the_database_has_in_use_is_taken(tmp_path: Path, ctx: Context):
    teams.put_team(ctx, "t1", actor="ana", name="ops")
    own = open_files(tmp_path, ctx)
    with pytest.raises(AlreadyExists):
        own.create("ops", ["ana"], None)
    teams.archive_team(ctx, "t1", actor="ana")
    assert own.create("ops", ["ana"], None).name == "ops"


def test_the_beginning_of_an_id_is_a_name_like_any_other(tmp_path: Path, ctx: Context):
    own = open_files(tmp_path, ctx)
    ids = [own.create(name, [], None).id for name in ("one", "two")]
    assert own.create(ids[0][:2], [], None).name == ids[1][:2]
    assert own.create(ids[0], [], None).name == ids[0]
    with pytest.raises(AlreadyExists):
        own.create(ids[0], [], None)


def test_a_name_is_free_once_the_file_says_that_the_team_has_another(tmp_path: Path, ctx: Context):
    own = open_files(tmp_path, ctx)
    path = tmp_path / f"{own.create('ops', [], None).id}.json"
    path.write_text(path.read_text().replace('"ops"', '"port"'))
    assert own.create("ops", [], None).name == "ops"


def test_a_name_is_free_once_the_database_says_that_the_team_of_a_silent_file_is_archived(tmp_path: Path, ctx: Context):
    own = open_files(tmp_path, ctx)
    teams.archive_team(ctx, own.create("ops", [], None).id, actor="ana")
    assert own.create("ops", [], None).name == "ops"
