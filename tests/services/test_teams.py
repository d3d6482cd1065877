"""Teams: members write to each other, read what is there for them, and runs meet in them."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lionstudio.domain.change import Topic
from lionstudio.domain.errors import (
    AlreadyExists,
    Ambiguous,
    IllegalTransition,
    InvalidRequest,
    MessageNotFound,
    SessionNotFound,
    TeamNotFound,
    UnknownWord,
)
from lionstudio.domain.team import Team, TeamMessage, TeamStatus
from lionstudio.services import sessions, team_pages, teams
from lionstudio.services.context import Context
from lionstudio.services.team_list import find_meant
from lionstudio.store import changes
from lionstudio.store.open import open_database
from tests.factories import NOW, Clock, start_run

WHO = "ana"


def put_team(ctx: Context, team_id: str = "team-1", **facts: Any) -> Team:
    return teams.put_team(ctx, team_id, actor=WHO, **{"name": "ledger", "members": ["ana", "architect"], **facts})


def say(ctx: Context, content: str = "done", team_id: str = "team-1", **more: Any) -> TeamMessage:
    return teams.add_message(ctx, team_id, content=content, **{"sender": "architect", **more})


def newest_seq(ctx: Context) -> int:
    with ctx.db.read() as tx:
        return changes.span(tx)[1]


def news_after(ctx: Context, seq: int) -> list[tuple[Topic, str, str | None]]:
    with ctx.db.read() as tx:
        return [(change.topic, change.entity_id, change.session_id) for change in changes.list_after(tx, seq, limit=99)]


def test_a_stored_team_comes_back_equal(ctx: Context):
    team = put_team(ctx, node_metadata={"mode": "chain"}, created_at=NOW - 9)
    assert teams.get_team(ctx, "team-1") == team
    assert team == Team("team-1", "ledger", NOW - 9, NOW, ("ana", "architect"), TeamStatus.ACTIVE, {"mode": "chain"})


def test_storing_an_identical_team_changes_nothing_and_is_no_news(ctx: Context, clock: Clock):
    facts = {"name": "nul \0", "node_metadata": {"modes": ("a", "b")}}
    first = put_team(ctx, **facts)
    seq = newest_seq(ctx)
    clock.pass_seconds(5)
    assert put_team(ctx, **facts) == first
    assert (teams.get_team(ctx, "team-1"), news_after(ctx, seq)) == (first, [])


def test_storing_a_team_again_changes_only_the_facts_that_are_named(ctx: Context, clock: Clock):
    first = put_team(ctx, node_metadata={"mode": "chain"})
    clock.pass_seconds(5)
    second = teams.put_team(ctx, "team-1", actor=WHO, members=["ana"])
    assert second == first._replace(members=("ana",), updated_at=NOW + 5)


def test_a_new_team_needs_a_name(ctx: Context):
    with pytest.raises(InvalidRequest, match="name"):
        teams.put_team(ctx, "team-1", actor=WHO)


@pytest.mark.parametrize("name", ["all", "system", " "])
def test_a_member_cannot_have_a_name_that_means_something_else(ctx: Context, name: str):
    with pytest.raises(InvalidRequest, match="cannot be the name of a member"):
        put_team(ctx, members=["ana", name])


def test_a_team_cannot_have_a_status_outside_the_vocabulary(ctx: Context):
    with pytest.raises(UnknownWord):
        put_team(ctx, status="paused")


def test_a_team_that_does_not_exist_is_named(ctx: Context):
    with pytest.raises(TeamNotFound, match="nobody"):
        teams.get_team(ctx, "nobody")


def test_a_team_is_found_by_its_id_its_name_and_the_beginning_of_its_id(ctx: Context):
    team = put_team(ctx)
    assert [find_meant(ctx, typed) for typed in ("team-1", "ledger", "tea")] == [team] * 3
    assert [find_meant(ctx, typed) for typed in ("nobody\0", "", "edger")] == [None] * 3


def test_of_teams_with_one_name_the_only_one_in_the_wanted_status_is_meant(ctx: Context):
    for team_id, status in (("new", "active"), ("old", "archived")):
        put_team(ctx, team_id, status=status)
    found = [find_meant(ctx, "ledger"), find_meant(ctx, "ledger", status=TeamStatus.ARCHIVED)]
    assert [team and team.id for team in found] == ["new", "old"]


@pytest.mark.parametrize("status", ["active", "archived"])
def test_a_name_that_may_mean_several_teams_is_refused_with_what_there_is_to_choose(ctx: Context, clock: Clock, status):
    for number in range(2):
        clock.pass_seconds(1)
        put_team(ctx, f"team-{number}", status=status)
    with pytest.raises(Ambiguous, match=rf"team-1 \(ledger, {status}\), team-0 \(ledger, {status}\)") as refused:
        find_meant(ctx, "ledger")
    assert refused.value.hint == "Type the id of the one that you mean."
    with pytest.raises(Ambiguous, match="team-1"):
        find_meant(ctx, "team")


def test_teams_are_listed_newest_first_page_by_page(ctx: Context, clock: Clock):
    for team_id in "abcde":
        put_team(ctx, team_id)
        clock.pass_seconds(1)
    seen: list[str] = []
    before = None
    while page := teams.list_teams(ctx, before=before, limit=2):
        seen += [team.id for team in page]
        before = (page[-1].created_at, page[-1].id)
    assert seen == ["e", "d", "c", "b", "a"]


def test_teams_are_listed_by_status(ctx: Context):
    put_team(ctx, "a")
    put_team(ctx, "b", status="archived")
    assert [team.id for team in teams.list_teams(ctx, status="archived")] == ["b"]


def test_an_archived_team_keeps_how_it_came_to_that(ctx: Context, clock: Clock):
    put_team(ctx)
    clock.pass_seconds(5)
    seq = newest_seq(ctx)
    team = teams.archive_team(ctx, "team-1", actor="bo")
    steps = [(s.from_status, s.to_status, s.actor, s.reason_code) for s in teams.list_team_history(ctx, "team-1")]
    assert (team.status, team.updated_at) == (TeamStatus.ARCHIVED, NOW + 5)
    assert steps == [(None, "active", WHO, None), ("active", "archived", "bo", "team.archived.by_operator")]
    assert news_after(ctx, seq) == [(Topic.TEAM, "team-1", None)]


def test_an_archived_team_can_be_used_again(ctx: Context):
    put_team(ctx, status="archived")
    assert teams.reactivate_team(ctx, "team-1", actor=WHO).status is TeamStatus.ACTIVE


def test_a_team_cannot_be_archived_twice(ctx: Context):
    team = put_team(ctx, status="archived")
    with pytest.raises(IllegalTransition):
        teams.archive_team(ctx, "team-1", actor=WHO)
    assert teams.get_team(ctx, "team-1") == team


def test_added_members_are_counted_once(ctx: Context):
    put_team(ctx)
    team = teams.add_members(ctx, "team-1", ["reviewer", "ana", "reviewer"], actor=WHO)
    with ctx.db.read() as tx:
        counted = tx.value("SELECT member_count FROM teams")
    assert (team.members, counted) == (("ana", "architect", "reviewer"), 3)


def test_adding_a_member_who_is_in_already_is_no_news(ctx: Context):
    put_team(ctx)
    seq = newest_seq(ctx)
    teams.add_members(ctx, "team-1", ["ana"], actor=WHO)
    assert news_after(ctx, seq) == []


def test_removed_members_are_no_longer_counted(ctx: Context):
    put_team(ctx)
    team = teams.remove_members(ctx, "team-1", ["ana"], actor=WHO)
    with ctx.db.read() as tx:
        counted = tx.value("SELECT member_count FROM teams")
    assert (team.members, counted) == (("architect",), 1)


def test_removing_a_stranger_names_the_members(ctx: Context):
    put_team(ctx)
    with pytest.raises(InvalidRequest) as caught:
        teams.remove_members(ctx, "team-1", ["bo"], actor=WHO)
    assert caught.value.hint == "Its members are: ana, architect."


def test_deleting_a_team_deletes_its_messages_and_keeps_its_history(ctx: Context):
    put_team(ctx)
    message = say(ctx)
    teams.delete_team(ctx, "team-1", actor=WHO)
    assert [step.to_status for step in teams.list_team_history(ctx, "team-1")] == ["active", None]
    with pytest.raises(MessageNotFound):
        teams.mark_read(ctx, [message.id], "ana")


def test_a_stored_message_comes_back_equal(ctx: Context):
    start_run(ctx)
    put_team(ctx)
    message = say(ctx, recipient="ana", read_by=["ana"], session_id="run-1", id="m-1", created_at=NOW - 3)
    assert teams.list_messages(ctx, "team-1") == [message]
    assert message == TeamMessage("m-1", "team-1", NOW - 3, "architect", "done", "ana", None, ("ana",), "run-1")


def test_a_message_is_news_of_its_run_and_makes_its_team_newer(ctx: Context, clock: Clock):
    start_run(ctx)
    put_team(ctx)
    seq = newest_seq(ctx)
    clock.pass_seconds(5)
    message = say(ctx, session_id="run-1")
    assert news_after(ctx, seq) == [(Topic.TEAM_MESSAGE, message.id, "run-1")]
    assert teams.get_team(ctx, "team-1").updated_at == NOW + 5


def test_a_long_message_gets_a_summary(ctx: Context):
    put_team(ctx)
    message = say(ctx, "# Plan\n" + "word " * 60)
    assert message.summary is not None
    assert message.summary.startswith("Plan word word") and len(message.summary) <= 120


def test_a_message_of_two_hundred_characters_needs_no_summary(ctx: Context):
    put_team(ctx)
    assert say(ctx, "x" * 200).summary is None


def test_a_summary_that_the_writer_gives_is_kept(ctx: Context):
    put_team(ctx)
    assert say(ctx, "word " * 60, summary="Many words").summary == "Many words"


def test_storing_a_message_again_changes_nothing_and_is_no_news(ctx: Context):
    put_team(ctx)
    first = say(ctx, "done", id="m-1")
    seq = newest_seq(ctx)
    assert say(ctx, "something else", id="m-1") == first
    assert (teams.list_messages(ctx, "team-1"), news_after(ctx, seq)) == ([first], [])


def test_storing_a_message_again_adds_the_readers_it_knows(ctx: Context):
    put_team(ctx)
    first = say(ctx, id="m-1", read_by=["ana"])
    again = say(ctx, id="m-1", read_by=["bo", "ana"])
    assert again == first._replace(read_by=("ana", "bo"))
    assert teams.list_messages(ctx, "team-1") == [again]


def test_storing_a_message_again_links_a_run_that_was_not_known_before(ctx: Context):
    put_team(ctx)
    say(ctx, id="m-1", session_id="run-1")
    start_run(ctx)
    assert say(ctx, id="m-1", session_id="run-1").session_id == "run-1"


def test_a_message_id_of_another_team_is_refused(ctx: Context):
    put_team(ctx)
    put_team(ctx, "team-2")
    say(ctx, id="m-1")
    with pytest.raises(AlreadyExists, match="m-1"):
        say(ctx, id="m-1", team_id="team-2")


def test_a_run_that_is_recorded_elsewhere_is_not_linked(ctx: Context):
    put_team(ctx)
    assert say(ctx, session_id="ghost").session_id is None


def test_a_message_to_an_unknown_team_is_refused(ctx: Context):
    with pytest.raises(TeamNotFound):
        say(ctx)


def test_a_message_needs_a_sender(ctx: Context):
    put_team(ctx)
    with pytest.raises(InvalidRequest):
        say(ctx, sender="")


def test_messages_are_listed_oldest_first_page_by_page(ctx: Context, clock: Clock):
    put_team(ctx)
    for number in range(5):
        say(ctx, str(number))
        clock.pass_seconds(1)
    seen: list[str] = []
    after = None
    while page := teams.list_messages(ctx, "team-1", after=after, limit=2):
        seen += [message.content for message in page]
        after = (page[-1].created_at, page[-1].id)
    assert seen == ["0", "1", "2", "3", "4"]


def test_an_inbox_holds_what_is_for_its_member(ctx: Context, clock: Clock):
    put_team(ctx)
    for sender, recipient, content in (
        ("architect", "all", "to all"),
        ("architect", "ana", "to ana"),
        ("architect", "bo", "to bo"),
        ("ana", "all", "her own"),
        ("system", "all", "a notice"),
        ("ana", "ana", "a note to herself"),
    ):
        say(ctx, content, sender=sender, recipient=recipient)
        clock.pass_seconds(1)
    inbox = [message.content for message in teams.list_inbox(ctx, "team-1", "ana")]
    assert inbox == ["to all", "to ana", "a notice", "a note to herself"]


def test_what_was_read_is_no_longer_among_the_unread(ctx: Context, clock: Clock):
    put_team(ctx)
    first = say(ctx, "one")
    clock.pass_seconds(1)
    say(ctx, "two")
    teams.mark_read(ctx, [first.id], "ana")
    assert [message.content for message in teams.list_inbox(ctx, "team-1", "ana", unread_only=True)] == ["two"]


def test_unread_messages_are_found_behind_many_that_were_read(ctx: Context, clock: Clock):
    put_team(ctx)
    for number in range(teams.PAGE + 3):
        say(ctx, str(number), read_by=["ana"] if number < teams.PAGE else [])
        clock.pass_seconds(1)
    unread = teams.list_inbox(ctx, "team-1", "ana", unread_only=True, limit=2)
    assert [message.content for message in unread] == [str(teams.PAGE), str(teams.PAGE + 1)]


def test_a_reader_is_noted_once(ctx: Context):
    put_team(ctx)
    message = say(ctx)
    teams.mark_read(ctx, [message.id], "ana")
    seq = newest_seq(ctx)
    assert teams.mark_read(ctx, [message.id], "ana") == [message._replace(read_by=("ana",))]
    assert news_after(ctx, seq) == []


def test_reading_is_news(ctx: Context):
    put_team(ctx)
    message = say(ctx)
    seq = newest_seq(ctx)
    teams.mark_read(ctx, [message.id], "ana")
    assert news_after(ctx, seq) == [(Topic.TEAM_MESSAGE, message.id, None)]


def test_one_unknown_message_keeps_all_from_being_marked_as_read(ctx: Context):
    put_team(ctx)
    message = say(ctx)
    with pytest.raises(MessageNotFound, match="ghost"):
        teams.mark_read(ctx, [message.id, "zz-ghost"], "ana")
    assert teams.list_messages(ctx, "team-1") == [message]


def test_the_runs_that_met_in_a_team_are_found(ctx: Context, clock: Clock):
    put_team(ctx)
    put_team(ctx, "team-2")
    for run, team in (("run-1", "team-1"), ("run-2", "team-1"), ("run-3", "team-2")):
        start_run(ctx, run)
        say(ctx, team_id=team, session_id=run)
        say(ctx, team_id=team, session_id=run)
        clock.pass_seconds(1)
    assert [run.id for run in teams.list_runs(ctx, "team-1")] == ["run-2", "run-1"]


def test_what_a_run_wrote_to_its_teams_is_found(ctx: Context):
    put_team(ctx)
    start_run(ctx)
    own = say(ctx, "from the run", session_id="run-1")
    say(ctx, "from a person")
    assert team_pages.page_messages_of_session(ctx, "run-1").items == (own,)


def test_what_the_team_wrote_while_a_run_lasted_stands_beside_it(ctx: Context, clock: Clock):
    put_team(ctx)
    say(ctx, "before")
    clock.pass_seconds(1)
    start_run(ctx)
    own = say(ctx, "from the run", session_id="run-1")
    clock.pass_seconds(1)
    answer = say(ctx, "an answer", sender="ana")
    sessions.finish_session(ctx, "run-1", "completed")
    clock.pass_seconds(1)
    say(ctx, "after")
    assert team_pages.page_messages_of_session(ctx, "run-1", beside=True).items == (own, answer)


def test_team_messages_of_an_unknown_run_are_refused(ctx: Context):
    with pytest.raises(SessionNotFound):
        team_pages.page_messages_of_session(ctx, "ghost")


def test_readers_of_different_processes_are_all_noted(ctx: Context, location: str):
    put_team(ctx)
    message = say(ctx)
    together = threading.Barrier(4)

    def read(number: int) -> None:
        own = open_database(location)  # a connection of its own, as another process has
        together.wait()
        for turn in range(5):
            teams.mark_read(Context(own), [message.id], f"reader-{number}-{turn}")
        own.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(read, range(4)))
    (stored,) = teams.list_messages(ctx, "team-1")
    assert sorted(stored.read_by) == [f"reader-{number}-{turn}" for number in range(4) for turn in range(5)]


def test_a_team_that_several_processes_store_at_once_is_stored_once(ctx: Context, location: str):
    together = threading.Barrier(4)

    def put(number: int) -> Team:
        own = open_database(location)
        together.wait()
        team = teams.put_team(Context(own), "team-1", actor=WHO, name=f"name-{number}", created_at=NOW)
        own.close()
        return team

    with ThreadPoolExecutor(4) as pool:
        names = {team.name for team in pool.map(put, range(4))}
    steps = [step.to_status for step in teams.list_team_history(ctx, "team-1")]
    assert (names, steps) == ({"name-0", "name-1", "name-2", "name-3"}, ["active"])
