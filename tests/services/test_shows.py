"""Shows and plays: each step is kept, moves follow the rules, and questions about their structure are answered."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lionstudio.domain.change import Topic
from lionstudio.domain.errors import (
    IllegalTransition,
    InvalidRequest,
    PlayGraphCycle,
    PlayNotFound,
    SessionNotFound,
    ShowNotFound,
    UnknownWord,
)
from lionstudio.domain.show import Play, PlayStatus, Show, ShowStatus, StatusSource
from lionstudio.services import sessions, shows
from lionstudio.services.context import Context
from lionstudio.services.show_list import page_plays
from lionstudio.store import changes
from lionstudio.store.open import open_database
from tests.factories import NOW, Clock, start_run

WHO = "director"


def put_show(ctx: Context, topic: str = "ledger", **facts: Any) -> Show:
    return shows.put_show(ctx, topic, actor=WHO, **{"show_dir": f"/shows/{topic}", **facts})


def put_play(ctx: Context, name: str = "schema", topic: str = "ledger", **facts: Any) -> Play:
    return shows.put_play(ctx, topic, name, actor=WHO, **facts)


def newest_seq(ctx: Context) -> int:
    with ctx.db.read() as tx:
        return changes.span(tx)[1]


def news_after(ctx: Context, seq: int) -> list[tuple[Topic, str, str | None]]:
    with ctx.db.read() as tx:
        return [(change.topic, change.entity_id, change.session_id) for change in changes.list_after(tx, seq, limit=99)]


def test_a_stored_show_comes_back_equal(ctx: Context):
    show = put_show(ctx, goal="Split the ledger", repo="/src/ledger", base_branch="main", integration_branch="show/x")
    assert shows.get_show(ctx, "ledger") == show
    assert show == Show(
        id=show.id,
        topic="ledger",
        show_dir="/shows/ledger",
        created_at=NOW,
        updated_at=NOW,
        status=ShowStatus.ACTIVE,
        status_source=StatusSource.SQLITE,
        goal="Split the ledger",
        repo="/src/ledger",
        base_branch="main",
        integration_branch="show/x",
    )


def test_storing_a_topic_again_changes_only_the_facts_that_are_named(ctx: Context, clock: Clock):
    first = put_show(ctx, goal="Split the ledger")
    clock.pass_seconds(5)
    second = shows.put_show(ctx, "ledger", actor=WHO, repo="/src/ledger")
    assert second == first._replace(repo="/src/ledger", updated_at=NOW + 5)


def test_storing_an_identical_show_changes_nothing_and_is_no_news(ctx: Context, clock: Clock):
    first = put_show(ctx, goal="Split")
    seq = newest_seq(ctx)
    clock.pass_seconds(5)
    assert put_show(ctx, goal="Split") == first
    assert (shows.get_show(ctx, "ledger"), news_after(ctx, seq)) == (first, [])


def test_text_that_no_database_takes_is_stored_the_same_way_each_time(ctx: Context):
    first = put_show(ctx, goal="nul \0 and \ud800")
    seq = newest_seq(ctx)
    put_show(ctx, goal="nul \0 and \ud800")
    assert (first.goal, news_after(ctx, seq)) == ("nul \ufffd and \ufffd", [])


def test_a_new_show_needs_a_folder(ctx: Context):
    with pytest.raises(InvalidRequest, match="folder"):
        shows.put_show(ctx, "ledger", actor=WHO)


def test_a_show_cannot_have_a_status_outside_the_vocabulary(ctx: Context):
    with pytest.raises(UnknownWord) as caught:
        put_show(ctx, status="paused")
    assert caught.value.hint == "Use one of: active, completed, aborted, imported."


def test_a_show_that_does_not_exist_is_named(ctx: Context):
    with pytest.raises(ShowNotFound, match="nowhere"):
        shows.get_show(ctx, "nowhere")


def test_finding_a_show_that_does_not_exist_finds_nothing(ctx: Context):
    assert shows.find_show(ctx, "no\0where") is None


def test_shows_are_listed_newest_first_page_by_page(ctx: Context, clock: Clock):
    for topic in "abcde":
        put_show(ctx, topic)
        clock.pass_seconds(1)
    seen: list[str] = []
    before = None
    while page := shows.list_shows(ctx, before=before, limit=2):
        seen += [show.topic for show in page]
        before = (page[-1].created_at, page[-1].id)
    assert seen == ["e", "d", "c", "b", "a"]


def test_shows_are_listed_by_status(ctx: Context):
    put_show(ctx, "a")
    put_show(ctx, "b", status="completed")
    assert [show.topic for show in shows.list_shows(ctx, status="completed")] == ["b"]


def test_a_show_moves_along_its_lifecycle_and_keeps_how(ctx: Context, clock: Clock):
    put_show(ctx)
    clock.pass_seconds(9)
    show = shows.move_show(ctx, "ledger", "completed", actor="ana", reason="show.completed.all_merged")
    steps = [(s.from_status, s.to_status, s.at, s.actor) for s in shows.list_show_history(ctx, "ledger")]
    assert (show.status, show.updated_at) == (ShowStatus.COMPLETED, NOW + 9)
    assert steps == [(None, "active", NOW, WHO), ("active", "completed", NOW + 9, "ana")]


def test_a_show_cannot_become_imported_by_a_move(ctx: Context):
    show = put_show(ctx)
    with pytest.raises(IllegalTransition):
        shows.move_show(ctx, "ledger", "imported", actor="ana")
    assert shows.get_show(ctx, "ledger") == show


def test_deleting_a_show_deletes_its_plays_and_keeps_its_run(ctx: Context):
    start_run(ctx)
    put_show(ctx)
    put_play(ctx, session_id="run-1")
    shows.delete_show(ctx, "ledger", actor="ana")
    assert (shows.list_shows(ctx), page_plays(ctx).items) == ([], ())
    assert sessions.get_session(ctx, "run-1").id == "run-1"


def test_deleting_a_show_is_news_for_it_and_its_plays(ctx: Context):
    show, play = put_show(ctx), put_play(ctx)
    seq = newest_seq(ctx)
    shows.delete_show(ctx, "ledger", actor="ana")
    assert news_after(ctx, seq) == [(Topic.PLAY, play.id, None), (Topic.SHOW, show.id, None)]


def test_a_stored_play_comes_back_equal(ctx: Context):
    start_run(ctx)
    show = put_show(ctx)
    play = put_play(
        ctx,
        playbook="feature",
        effort="high",
        status="merged",
        attempt=2,
        session_id="run-1",
        started_at=NOW - 9,
        ended_at=NOW - 5,
        exit_code=0,
        worktree="/w/schema",
        branch="show/ledger/schema",
        merge_sha="abc123",
        merged_at=NOW - 1,
        gate_passed=True,
        gate_feedback="good",
        depends_on=["design"],
        sort_order=3,
    )
    assert shows.get_play(ctx, "ledger", "schema") == play
    assert (play.show_id, play.status, play.gate_passed, play.depends_on) == (
        show.id,
        PlayStatus.MERGED,
        True,
        ("design",),
    )


def test_every_step_of_a_play_is_kept(ctx: Context, clock: Clock):
    start_run(ctx, "try-1")
    start_run(ctx, "try-2")
    put_show(ctx)
    put_play(ctx, depends_on=["design"])

    def step(to: str, **facts: Any) -> None:
        clock.pass_seconds(1)
        shows.move_play(ctx, "ledger", "schema", to, actor=WHO, **facts)

    step("prepared", worktree="/w/schema", branch="show/ledger/schema")
    step("running", started_at=clock(), session_id="try-1")
    step("running_complete", ended_at=clock(), exit_code=0)
    step("gate_failed", gate_passed=False, gate_feedback="no tests", reason="play.gate.failed")
    step("redoing", attempt=2, session_id="try-2", ended_at=None, exit_code=None, gate_passed=None)
    step("running_complete", ended_at=clock(), exit_code=0)
    step("gated", gate_passed=True, gate_feedback="good")
    step("merged", merge_sha="abc", merged_at=clock())
    play = shows.get_play(ctx, "ledger", "schema")
    words = [step.to_status for step in shows.list_play_history(ctx, "ledger", "schema")]
    assert words == [
        *("pending", "prepared", "running", "running_complete", "gate_failed", "redoing", "running_complete"),
        *("gated", "merged"),
    ]
    assert (play.attempt, play.session_id, play.merge_sha, play.gate_feedback) == (2, "try-2", "abc", "good")
    assert (play.worktree, play.depends_on, play.started_at) == ("/w/schema", ("design",), NOW + 1)


def test_a_play_can_be_escalated(ctx: Context):
    put_show(ctx)
    put_play(ctx, status="gate_failed")
    play = shows.move_play(ctx, "ledger", "schema", "escalated", actor=WHO, reason="play.escalated.attempts_used")
    assert play.status is PlayStatus.ESCALATED


def test_a_move_that_the_lifecycle_does_not_allow_changes_nothing(ctx: Context):
    put_show(ctx)
    play = put_play(ctx)
    seq = newest_seq(ctx)
    with pytest.raises(IllegalTransition, match="A pending play cannot become merged"):
        shows.move_play(ctx, "ledger", "schema", "merged", actor=WHO, merge_sha="abc")
    assert (shows.get_play(ctx, "ledger", "schema"), news_after(ctx, seq)) == (play, [])


def test_a_step_with_a_reason_nobody_registered_changes_nothing(ctx: Context):
    put_show(ctx)
    play = put_play(ctx)
    with pytest.raises(UnknownWord):
        shows.move_play(ctx, "ledger", "schema", "prepared", actor=WHO, reason="play.because")
    assert shows.get_play(ctx, "ledger", "schema") == play


def test_what_the_files_say_may_set_any_status(ctx: Context):
    put_show(ctx)
    put_play(ctx, status="merged")
    assert put_play(ctx, status="pending").status is PlayStatus.PENDING


def test_storing_an_identical_play_changes_nothing_and_is_no_news(ctx: Context, clock: Clock):
    put_show(ctx)
    facts = {"status": "gated", "gate_passed": True, "depends_on": ["design"], "gate_feedback": "nul \0"}
    first, show = put_play(ctx, **facts), shows.get_show(ctx, "ledger")
    seq = newest_seq(ctx)
    clock.pass_seconds(5)
    assert put_play(ctx, **facts) == first
    assert (shows.get_show(ctx, "ledger"), news_after(ctx, seq)) == (show, [])
    assert len(shows.list_play_history(ctx, "ledger", "schema")) == 1


def test_a_changed_play_is_news_of_its_run_and_makes_its_show_newer(ctx: Context, clock: Clock):
    start_run(ctx)
    put_show(ctx)
    play = put_play(ctx)
    seq = newest_seq(ctx)
    clock.pass_seconds(5)
    put_play(ctx, session_id="run-1")
    assert news_after(ctx, seq) == [(Topic.PLAY, play.id, "run-1")]
    assert shows.get_show(ctx, "ledger").updated_at == NOW + 5


def test_a_play_cannot_be_linked_to_a_run_that_does_not_exist(ctx: Context):
    put_show(ctx)
    with pytest.raises(SessionNotFound, match="ghost"):
        put_play(ctx, session_id="ghost")
    assert shows.list_plays(ctx, "ledger") == []


def test_a_play_of_an_unknown_show_is_refused(ctx: Context):
    with pytest.raises(ShowNotFound):
        put_play(ctx, topic="nowhere")


def test_a_play_that_does_not_exist_is_named(ctx: Context):
    put_show(ctx)
    with pytest.raises(PlayNotFound, match="ghost"):
        shows.get_play(ctx, "ledger", "ghost")


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"attempt": 0}, id="an attempt before the first"),
        pytest.param({"depends_on": "schema"}, id="a dependency that is not in a list"),
        pytest.param({"depends_on": [3]}, id="a dependency that is no name"),
    ],
)
def test_facts_that_mean_nothing_are_refused(ctx: Context, facts: dict[str, Any]):
    put_show(ctx)
    with pytest.raises(InvalidRequest):
        put_play(ctx, **facts)


def test_a_deleted_play_is_gone_and_its_show_stays(ctx: Context):
    put_show(ctx)
    put_play(ctx)
    shows.delete_play(ctx, "ledger", "schema", actor="ana")
    assert shows.list_plays(ctx, "ledger") == []


def test_a_run_and_its_play_have_statuses_of_their_own(ctx: Context):
    start_run(ctx)
    put_show(ctx)
    put_play(ctx, status="gate_failed", session_id="run-1")
    run = sessions.finish_session(ctx, "run-1", "completed", exit_code=0)
    assert (run.status, shows.get_play(ctx, "ledger", "schema").status) == ("completed", "gate_failed")


def test_plays_are_listed_in_the_order_of_the_plan(ctx: Context):
    put_show(ctx)
    for order, name in ((2, "merge"), (0, "design"), (1, "schema")):
        put_play(ctx, name, sort_order=order)
    assert [play.name for play in shows.list_plays(ctx, "ledger")] == ["design", "schema", "merge"]


def test_plays_of_every_show_are_found_by_status(ctx: Context, clock: Clock):
    for topic, status in (("a", "blocked"), ("b", "escalated"), ("c", "merged")):
        put_show(ctx, topic)
        put_play(ctx, topic=topic, status=status)
        clock.pass_seconds(1)
    found = page_plays(ctx, ["blocked", "escalated"]).items
    assert [(one.topic, one.play.status) for one in found] == [("b", "escalated"), ("a", "blocked")]


def test_plays_of_every_show_are_listed_page_by_page(ctx: Context):
    put_show(ctx)
    names = {put_play(ctx, f"play-{number}").name for number in range(5)}
    first = page_plays(ctx, limit=2)
    rest = page_plays(ctx, cursor=first.next_cursor)
    assert sorted(one.play.name for one in (*first.items, *rest.items)) == sorted(names)


def test_a_status_that_no_play_can_have_is_refused(ctx: Context):
    with pytest.raises(UnknownWord):
        page_plays(ctx, ["stuck"])


def test_a_run_leads_back_to_its_show_and_play(ctx: Context):
    start_run(ctx)
    put_show(ctx)
    put_play(ctx, session_id="run-1")
    put_play(ctx, "other")
    assert [(topic, play.name) for topic, play in shows.list_plays_of_session(ctx, "run-1")] == [("ledger", "schema")]


def test_a_plan_is_stored_whole_and_in_its_order(ctx: Context):
    plan: dict[str, shows.PlayFacts] = {
        "zeta": {},
        "schema": {"depends_on": ["zeta"], "playbook": "feature"},
        "merge": {"depends_on": ["zeta", "schema"]},
    }
    graph = shows.put_plan(ctx, "ledger", plan, actor=WHO, show_dir="/shows/ledger", goal="Split")
    assert [play.name for play in graph.order()] == ["zeta", "schema", "merge"]
    assert [play.name for play in shows.list_plays(ctx, "ledger")] == ["zeta", "schema", "merge"]
    assert shows.get_show(ctx, "ledger").goal == "Split"


def test_a_plan_that_waits_for_itself_is_not_stored_at_all(ctx: Context):
    plan: dict[str, shows.PlayFacts] = {"a": {"depends_on": ["b"]}, "b": {"depends_on": ["a"]}}
    with pytest.raises(PlayGraphCycle, match="a -> b -> a"):
        shows.put_plan(ctx, "ledger", plan, actor=WHO, show_dir="/shows/ledger")
    assert (shows.find_show(ctx, "ledger"), newest_seq(ctx)) == (None, 0)


def test_a_changed_plan_that_would_wait_for_itself_leaves_the_stored_one(ctx: Context):
    graph = shows.put_plan(ctx, "ledger", {"a": {}, "b": {"depends_on": ["a"]}}, actor=WHO, show_dir="/s")
    with pytest.raises(PlayGraphCycle):
        shows.put_plan(ctx, "ledger", {"a": {"depends_on": ["b"]}}, actor=WHO)
    assert shows.get_graph(ctx, "ledger") == graph


def test_storing_a_plan_again_keeps_how_far_its_plays_have_come(ctx: Context):
    shows.put_plan(ctx, "ledger", {"a": {}}, actor=WHO, show_dir="/s")
    shows.move_play(ctx, "ledger", "a", "prepared", actor=WHO, worktree="/w/a")
    shows.put_plan(ctx, "ledger", {"a": {}, "b": {"depends_on": ["a"]}}, actor=WHO)
    assert [(play.name, play.status) for play in shows.list_plays(ctx, "ledger")] == [
        ("a", "prepared"),
        ("b", "pending"),
    ]


def test_the_graph_of_a_show_says_what_may_start(ctx: Context):
    plan: dict[str, shows.PlayFacts] = {
        "a": {"status": "merged"},
        "b": {"depends_on": ["a"]},
        "c": {"depends_on": ["b"]},
    }
    shows.put_plan(ctx, "ledger", plan, actor=WHO, show_dir="/s")
    assert [play.name for play in shows.get_graph(ctx, "ledger").ready()] == ["b"]


def test_plays_that_several_processes_store_at_once_are_all_kept(ctx: Context, location: str):
    together = threading.Barrier(4)

    def put(number: int) -> None:
        own = open_database(location)  # a connection of its own, as another process has
        together.wait()
        put_show(Context(own), goal=f"goal {number}")
        for turn in range(5):
            put_play(Context(own), f"play-{turn}", status="pending", attempt=number + 1)
        own.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(put, range(4)))
    assert [play.name for play in shows.list_plays(ctx, "ledger")] == [f"play-{turn}" for turn in range(5)]
    assert [step.to_status for step in shows.list_show_history(ctx, "ledger")] == ["active"]
