"""Sessions: how they begin, how they end, and what is remembered of it."""

import pytest

from lionstudio.domain.conversation import Branch
from lionstudio.domain.errors import (
    AlreadyExists,
    Ambiguous,
    BranchNotFound,
    ForkOutOfRange,
    InvalidRequest,
    SessionNotFound,
    UnknownWord,
)
from lionstudio.domain.process import Place, ProcessRecord, ProcessRole
from lionstudio.domain.session import InvocationKind, Session, SessionStatus, SourceKind
from lionstudio.services import branches, messages, sessions
from lionstudio.services.branches import BranchDraft
from lionstudio.services.change_feed import read_changes
from lionstudio.services.context import Context, new_line
from lionstudio.services.play_runs import find_run_of_play
from lionstudio.services.session_finding import SHOWN_CHOICES, resolve_session
from lionstudio.services.sessions import SessionDraft
from tests.factories import NOW, Clock, line_of, start_run, user_says
from tests.services.interleaving import do_within


def test_a_new_session_is_running_since_now(ctx: Context) -> None:
    started = start_run(ctx, name="triage", kind="agent", agent="architect", playbook="fix", user="ana")
    stored = sessions.get_session(ctx, "run-1")
    assert stored == started
    assert (stored.status, stored.started_at, stored.ended_at) == (SessionStatus.RUNNING, NOW, None)
    assert (stored.invocation_kind, stored.source_kind) == (InvocationKind.AGENT, SourceKind.LIVE)
    assert (stored.name, stored.agent_name, stored.playbook_name, stored.user) == ("triage", "architect", "fix", "ana")
    assert stored.duration_ms is None


def test_starting_the_same_session_again_changes_nothing(ctx: Context) -> None:
    first = start_run(ctx, name="one")
    news = read_changes(ctx, 0)
    assert start_run(ctx, name="two") == first
    assert read_changes(ctx, 0) == news


def test_a_session_that_is_started_twice_at_the_same_moment_begins_once(ctx: Context) -> None:
    def start() -> Session:
        return sessions.start_session(ctx, SessionDraft(new_line("run-1")))

    first, second = do_within(ctx, start, start)
    assert second == first == sessions.get_session(ctx, "run-1")
    assert (first.branch_count, [step.reason_code for step in sessions.list_history(ctx, "run-1")]) == (
        1,
        ["run.started"],
    )


@pytest.mark.parametrize("wrong", [{"kind": "agnet"}, {"source": "elsewhere"}])
def test_an_unknown_word_is_refused_with_the_allowed_ones_and_nothing_is_stored(
    ctx: Context, wrong: dict[str, str]
) -> None:
    with pytest.raises(UnknownWord) as caught:
        start_run(ctx, **wrong)
    assert "agent" in (caught.value.hint or "") or "live" in (caught.value.hint or "")
    with pytest.raises(SessionNotFound):
        sessions.get_session(ctx, "run-1")


@pytest.mark.parametrize("column", ["status", "invocation_kind", "source_kind"])
def test_the_database_itself_refuses_an_unknown_word(ctx: Context, column: str) -> None:
    start_run(ctx)
    with pytest.raises(Exception, match="refuses"), ctx.db.write() as tx:
        tx.run(f"UPDATE sessions SET {column} = 'nonsense' WHERE id = 'run-1'")


def test_ending_a_session_says_how_and_when(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    clock.pass_seconds(90)
    ended = sessions.finish_session(ctx, "run-1", "failed", exit_code=3)
    assert (ended.status, ended.exit_code, ended.ended_at) == (SessionStatus.FAILED, 3, NOW + 90)
    assert (ended.end_actor, ended.end_reason) == ("run", "run.failed.exit_nonzero")
    assert ended.duration_ms == 90_000


def test_every_move_is_kept_with_its_reason(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    clock.pass_seconds(1)
    sessions.finish_session(ctx, "run-1", "timed_out", sentence="Too slow.")
    history = sessions.list_history(ctx, "run-1")
    assert [(step.from_status, step.to_status, step.reason_code, step.sentence) for step in history] == [
        (None, "running", "run.started", None),
        ("running", "timed_out", "run.timed_out.reported", "Too slow."),
    ]


def test_an_ended_session_does_not_end_again(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    first = sessions.finish_session(ctx, "run-1", "completed")
    clock.pass_seconds(5)
    assert sessions.finish_session(ctx, "run-1", "completed") == first
    assert len(sessions.list_history(ctx, "run-1")) == 2
    assert sessions.finish_session(ctx, "run-1", "failed") == first
    assert [step.reason_code for step in sessions.list_history(ctx, "run-1")][2:] == ["run.ended.late_report"]


@pytest.mark.parametrize(("first", "again"), [(None, 0), (0, None), (0, 0)])
def test_an_end_that_is_reported_again_with_or_without_its_exit_code_is_the_same_report(
    ctx: Context, first: int | None, again: int | None
) -> None:
    start_run(ctx)
    ended = sessions.finish_session(ctx, "run-1", "completed", exit_code=first)
    assert sessions.finish_session(ctx, "run-1", "completed", exit_code=again) == ended
    assert len(sessions.list_history(ctx, "run-1")) == 2
    for exit_code in (None, 1):
        assert sessions.finish_session(ctx, "run-1", "failed", exit_code=exit_code) == ended
    assert [step.reason_code for step in sessions.list_history(ctx, "run-1")][2:] == ["run.ended.late_report"]


def test_another_exit_code_is_another_report(ctx: Context) -> None:
    start_run(ctx)
    sessions.finish_session(ctx, "run-1", "failed", exit_code=1)
    sessions.finish_session(ctx, "run-1", "failed", exit_code=2)
    assert sessions.list_history(ctx, "run-1")[-1].evidence == {"reported": "failed", "exit_code": 2}


@pytest.mark.parametrize(
    ("status", "exit_code", "error"),
    [("done", None, UnknownWord), ("running", None, InvalidRequest), ("failed", 2**70, InvalidRequest)],
)
def test_a_wrong_ending_is_refused_and_the_run_goes_on(
    ctx: Context, status: str, exit_code: int | None, error: type[Exception]
) -> None:
    start_run(ctx)
    with pytest.raises(error):
        sessions.finish_session(ctx, "run-1", status, exit_code=exit_code)
    assert sessions.get_session(ctx, "run-1").status is SessionStatus.RUNNING


def test_ending_a_run_that_does_not_exist_names_it(ctx: Context) -> None:
    with pytest.raises(SessionNotFound, match="'run-9'"):
        sessions.finish_session(ctx, "run-9", "completed")


def test_a_child_knows_its_parent_and_survives_its_deletion(ctx: Context) -> None:
    start_run(ctx, "run-1")
    start_run(ctx, "run-2", parent_session_id="run-1")
    assert sessions.get_session(ctx, "run-2").parent_session_id == "run-1"
    with ctx.db.write() as tx:
        tx.run("DELETE FROM sessions WHERE id = 'run-1'")
    assert sessions.get_session(ctx, "run-2").parent_session_id is None


def test_a_parent_in_another_database_is_no_obstacle(ctx: Context) -> None:
    assert start_run(ctx, parent_session_id="elsewhere").parent_session_id is None


def test_deleting_a_session_takes_its_branches_along(ctx: Context) -> None:
    start_run(ctx)
    fork = new_line("run-1")
    branches.create_branch(ctx, BranchDraft(fork, parent_branch_id="run-1-main"))
    with ctx.db.write() as tx:
        tx.run("DELETE FROM sessions WHERE id = 'run-1'")
        assert tx.value("SELECT count(*) FROM branches") == 0
        assert tx.value("SELECT count(*) FROM session_words") == 0


def test_a_process_is_kept_with_everything_that_tells_it_from_another(ctx: Context) -> None:
    who = ProcessRecord(
        "run-1", ProcessRole.AGENT, Place("laptop", "boot-1", "pid:[1]"), 123, 456, 120, True, "python agent.py", 7.5
    )
    sessions.start_session(ctx, SessionDraft(line_of("run-1")), who)
    assert sessions.list_processes(ctx, "run-1") == [who]


def test_a_heartbeat_is_kept_and_is_no_news(ctx: Context, clock: Clock) -> None:
    who = ProcessRecord("run-1", ProcessRole.AGENT, Place("a", "b", "c"), 1)
    sessions.start_session(ctx, SessionDraft(line_of("run-1")), who)
    before = read_changes(ctx, 0)
    clock.pass_seconds(15)
    sessions.beat(ctx, "run-1", "agent")
    assert sessions.list_processes(ctx, "run-1")[0].heartbeat_at == NOW + 15
    assert read_changes(ctx, 0) == before


def test_lost_messages_are_counted_on_the_run(ctx: Context) -> None:
    start_run(ctx)
    sessions.count_lost(ctx, "run-1", 2)
    sessions.count_lost(ctx, "run-1", 3)
    assert sessions.get_session(ctx, "run-1").messages_lost == 5


def test_names_that_no_column_takes_are_cleaned_and_their_originals_kept(ctx: Context) -> None:
    start_run(ctx, name="a\0b", agent="c\udfffd")
    session = sessions.get_session(ctx, "run-1")
    assert (session.name, session.agent_name) == ("a\ufffdb", "c\ufffdd")
    assert session.node_metadata == {"original": {"name": "a\0b", "agent_name": "c\udfffd"}}


@pytest.mark.parametrize("position", [-1, 3, 10**6])
def test_a_fork_out_of_range_is_refused_and_leaves_no_branch(ctx: Context, position: int) -> None:
    start_run(ctx)
    messages.append_messages(ctx, line_of("run-1"), [user_says("a"), user_says("b")])
    with pytest.raises(ForkOutOfRange, match="2 messages") as caught:
        branches.create_branch(
            ctx, BranchDraft(new_line("run-1"), parent_branch_id="run-1-main", forked_at_ord=position)
        )
    assert "from 0" in (caught.value.hint or "")
    assert len(branches.list_branches(ctx, "run-1")) == 1
    with ctx.db.read() as tx:
        assert tx.value("SELECT count(*) FROM progression_heads") == 2


def test_a_fork_of_a_branch_that_does_not_exist_is_refused_with_a_way_to_find_one(ctx: Context) -> None:
    start_run(ctx)
    with pytest.raises(BranchNotFound, match="nope") as caught:
        branches.create_branch(ctx, BranchDraft(new_line("run-1"), parent_branch_id="nope"))
    assert caught.value.hint == "li runs show RUN lists the branches of a run."


def test_a_fork_without_a_position_keeps_everything(ctx: Context) -> None:
    start_run(ctx)
    messages.append_messages(ctx, line_of("run-1"), [user_says("a"), user_says("b")])
    fork = branches.create_branch(ctx, BranchDraft(new_line("run-1"), parent_branch_id="run-1-main"))
    assert fork.forked_at_ord == 2


def test_announcing_a_branch_twice_changes_nothing(ctx: Context) -> None:
    start_run(ctx)
    draft = BranchDraft(new_line("run-1"), name="helper", parent_branch_id="run-1-main", node_metadata={"model": "m"})
    assert branches.create_branch(ctx, draft) == branches.create_branch(ctx, draft)
    assert len(branches.list_branches(ctx, "run-1")) == 2


def test_a_branch_id_that_two_runs_take_at_the_same_moment_stays_with_the_first(ctx: Context) -> None:
    for session_id in ("run-1", "run-2"):
        start_run(ctx, session_id)

    def branch(session_id: str) -> Branch:
        line = line_of(session_id)._replace(branch_id="b", branch_progression_id=f"{session_id}-b-order")
        return branches.create_branch(ctx, BranchDraft(line))

    created, refused = do_within(ctx, lambda: branch("run-1"), lambda: branch("run-2"))
    assert (created.session_id, type(refused)) == ("run-1", AlreadyExists)
    assert [each.id for each in branches.list_branches(ctx, "run-2")] == ["run-2-main"]


def test_the_newest_run_of_a_play_wins_and_one_that_says_so_before_one_of_its_name(ctx: Context, clock: Clock) -> None:
    assert find_run_of_play(ctx, "a", "b") is None
    for run_id, name, topic, play in (
        ("run-1", "show_a_b", None, None),
        ("run-2", "show_a_b", None, None),
        ("run-3", "first", "a", "b"),
        ("run-4", "second", "a", "b"),
        ("run-5", "show_a_b", None, None),
        ("run-6", "another play", "a", "c"),
    ):
        clock.pass_seconds(1)
        start_run(ctx, run_id, name=name, show_topic=topic, show_play=play)
        if run_id == "run-2":
            assert find_run_of_play(ctx, "a", "b") == "run-2"
    assert find_run_of_play(ctx, "a", "b") == "run-4"


def test_an_id_that_is_taken_by_plain_sql_is_named(ctx: Context) -> None:
    start_run(ctx)
    with pytest.raises(AlreadyExists), ctx.db.write() as tx:
        tx.run("INSERT INTO progression_heads (id, created_at, length) VALUES ('run-1-order', 1, 0)")


def test_a_person_may_type_the_beginning_of_an_id_or_a_name(ctx: Context) -> None:
    for session_id, name in (("abcd-1", "triage"), ("abcd-2", None), ("bcde-1", "review")):
        start_run(ctx, session_id, name=name)
    meant = {typed: resolve_session(ctx, typed).id for typed in ("abcd-1", "b", "triage", "review")}
    assert meant == {"abcd-1": "abcd-1", "b": "bcde-1", "triage": "abcd-1", "review": "bcde-1"}


OLDER, NEWER = "abcd-1 (triage, running, created 2s ago)", "abcd-2 (triage, running, created 1s ago)"


def test_a_whole_id_wins_over_a_name_and_a_name_that_begins_another_id_wins_over_neither(ctx: Context) -> None:
    start_run(ctx, "abcd-1", name="first")
    start_run(ctx, "efgh-1", name="abcd-1")
    start_run(ctx, "ijkl-1", name="abcd")
    assert resolve_session(ctx, "abcd-1").id == "abcd-1"
    with pytest.raises(Ambiguous) as caught:
        resolve_session(ctx, "abcd")
    assert "ijkl-1 (abcd, " in caught.value.message
    assert "abcd-1 (first, " in caught.value.message
    assert caught.value.hint == "Type the id of the one that you mean."
    start_run(ctx, "mnop-1", name="mnop")  # both ways lead to the same run
    assert resolve_session(ctx, "mnop").id == "mnop-1"


@pytest.mark.parametrize(
    ("typed", "error", "complaint"),
    [
        pytest.param("abcd", Ambiguous, f"may mean {OLDER}, {NEWER}. Type more", id="two ids begin so"),
        pytest.param("triage", Ambiguous, f"may mean {NEWER}, {OLDER}. Type the id", id="two runs have the name"),
        pytest.param("triaeg", SessionNotFound, "Did you mean triage", id="a slip in a name"),
        pytest.param("abdc-1", SessionNotFound, "Did you mean abcd-1", id="a slip in an id"),
        pytest.param("", InvalidRequest, "li runs ls", id="nothing"),
        pytest.param(" ", InvalidRequest, "li runs ls", id="a space"),
        pytest.param("nothing like it", SessionNotFound, "li runs ls", id="something else"),
    ],
)
def test_what_may_mean_nothing_or_several_runs_is_refused(ctx, clock, typed, error, complaint) -> None:
    for session_id in ("abcd-1", "abcd-2"):
        start_run(ctx, session_id, name="triage")
        clock.pass_seconds(1)
    with pytest.raises(error) as caught:
        resolve_session(ctx, typed)
    assert complaint in f"{caught.value.message} {caught.value.hint}"


def test_a_run_that_lists_show_by_what_it_does_is_told_by_its_id_and_not_guessed_at(ctx: Context) -> None:
    start_run(ctx, "run-1")
    messages.append_message(ctx, line_of("run-1"), user_says("sh -c 'exit 4'"))
    with pytest.raises(SessionNotFound) as caught:
        resolve_session(ctx, "sh -c 'exit 4'")
    assert "lists show a run without a name by what it does." in caught.value.message
    assert (caught.value.hint or "").startswith("Name it by its id: run-1 (sh -c 'exit 4', running, created ")


def test_only_the_first_of_many_choices_are_named_and_long_names_cut(ctx: Context) -> None:
    for number in range(9):
        start_run(ctx, f"run-{number}", name="word " * 80)
    with pytest.raises(Ambiguous) as caught:
        resolve_session(ctx, "run-")
    assert caught.value.message.endswith("ago), and more.")
    assert caught.value.message.count("created") == SHOWN_CHOICES
    assert len(caught.value.message) < 600


def test_a_name_of_any_length_is_kept_though_only_its_beginning_is_looked_for(ctx: Context) -> None:
    name = "".join(chr(0x4E00 + number) for number in range(4_000))  # nothing in it repeats, so nothing packs it
    session = start_run(ctx, name=name, agent=name, playbook=name)
    assert sessions.get_session(ctx, "run-1") == session
    assert session.name == session.agent_name == session.playbook_name == name[:399] + "…"
    assert session.node_metadata == {"original": {"name": name, "agent_name": name, "playbook_name": name}}
