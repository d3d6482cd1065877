"""Names of teams: one that is in use is not given to another team."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lionstudio.domain.errors import AlreadyExists
from lionstudio.domain.team import Team
from lionstudio.services import teams
from lionstudio.services.context import Context
from lionstudio.services.team_names import create_team
from lionstudio.store.open import open_database
from tests.factories import NOW

MAKERS = 8


def make(ctx: Context, team_id: str, name: str = "ops") -> Team:
    return create_team(ctx, Team(team_id, name, NOW, NOW, ("ana",)), actor="ana")


def test_a_name_that_many_take_at_once_is_given_once(ctx: Context, location: str):
    together = threading.Barrier(MAKERS)

    def attempt(number: int) -> bool:
        own = open_database(location)  # a connection of its own, as another process has
        together.wait()
        try:
            make(Context(own), f"t{number}")
        except AlreadyExists:
            return False
        finally:
            own.close()
        return True

    with ThreadPoolExecutor(MAKERS) as pool:
        made = list(pool.map(attempt, range(MAKERS)))
    assert (sum(made), len(teams.list_teams(ctx))) == (1, 1)


def test_a_new_team_comes_back_with_its_history(ctx: Context):
    team = make(ctx, "t1")
    assert teams.get_team(ctx, "t1") == team
    assert [step.to_status for step in teams.list_team_history(ctx, "t1")] == ["active"]


def test_the_name_of_an_archived_team_is_free(ctx: Context):
    make(ctx, "t1")
    teams.archive_team(ctx, "t1", actor="ana")
    assert make(ctx, "t2").name == "ops"


def test_the_id_of_a_team_is_no_name(ctx: Context):
    make(ctx, "t1")
    make(ctx, "t2", "t1")
    with pytest.raises(AlreadyExists):
        make(ctx, "t3", "t1")


def test_an_id_is_given_once(ctx: Context):
    make(ctx, "t1")
    with pytest.raises(AlreadyExists):
        make(ctx, "t1", "port")


def test_a_team_is_not_taken_back_while_another_one_has_its_name(ctx: Context):
    make(ctx, "old")
    teams.archive_team(ctx, "old", actor="ana")
    make(ctx, "new")
    with pytest.raises(AlreadyExists, match="already: new") as refused:
        teams.reactivate_team(ctx, "old", actor="ana")
    assert "li team archive new" in (refused.value.hint or "")
    teams.archive_team(ctx, "new", actor="ana")
    assert teams.reactivate_team(ctx, "old", actor="ana").status == "active"
