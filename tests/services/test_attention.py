"""What needs a look: one row a thing, every reason on it, and as many rows as are counted."""

from typing import Any

import apsw
import psycopg
import pytest

from lionstudio.domain.attention import Signal, Subject
from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.health import HOUR
from lionstudio.domain.state import Lifecycle, Severity
from lionstudio.services import sessions, show_list, shows
from lionstudio.services.attention import AttentionRow, list_attention
from lionstudio.services.context import Context
from lionstudio.services.dashboard import get_stats
from tests.factories import NOW, Clock, start_run
from tests.services.dashboard_world import WHO, every_row, fill, leave_files, let_die, put_play, put_run


def named(rows: list[AttentionRow]) -> dict[tuple[str, str], set[str]]:
    """The signals of each thing, by what it is and what it is called."""
    names = {row: row.id if row.subject is Subject.SESSION else row.title for row in rows}
    return {(row.subject.value, names[row]): {signal.value for signal in row.signals} for row in rows}


EXPECTED = {
    ("session", "over-60m"): {"slow"},
    ("session", "quiet-7h"): {"stale", "slow"},
    ("session", "dead"): {"stale"},
    ("session", "orphan"): {"orphaned"},
    ("session", "failed"): {"failed_24h"},
    ("session", "failed-just-now"): {"failed_24h"},
    ("session", "failed-tomorrow"): {"failed_24h"},
    ("session", "failed-within-24h"): {"failed_24h"},
    ("session", "zombie"): {"zombie"},
    ("session", "failed-zombie"): {"failed_24h", "zombie"},
    ("session", "endless-zombie"): {"zombie"},
    ("play", "ledger / escalated"): {"escalated"},
    ("play", "ledger / refused"): {"gate_failed"},
    ("play", "docs / refused"): {"gate_failed"},
    ("show", "ledger"): {"blocked"},
}


def test_each_thing_that_needs_a_look_is_one_row_with_every_signal(ctx: Context) -> None:
    fill(ctx)
    assert named(every_row(ctx)) == EXPECTED
    assert len(every_row(ctx)) == len(EXPECTED)


def test_the_card_counts_the_rows_and_each_signal_the_rows_that_give_it(ctx: Context) -> None:
    fill(ctx)
    rows, numbers = every_row(ctx), get_stats(ctx).attention
    assert numbers.total == len(rows)
    assert numbers.oldest_at == min(row.since for row in rows)
    for signal in Signal:
        listed = every_row(ctx, signal=signal, limit=1)
        assert numbers.by_signal[signal] == len(listed) > 0, signal
        assert all(signal in row.signals for row in listed)
    for severity in Severity:
        assert numbers.by_severity[severity] == sum(1 for row in rows if row.state.severity is severity)


@pytest.mark.parametrize("limit", [1, 2, 7, 500])
def test_pages_follow_each_other_without_gap_or_repetition(ctx: Context, limit: int) -> None:
    fill(ctx)
    rows = every_row(ctx, limit=limit)
    assert named(rows) == EXPECTED
    assert [row.id for row in rows] == [row.id for row in every_row(ctx, limit=100)]


@pytest.mark.parametrize("limit", [1, 100])
def test_what_is_stuck_or_waits_for_a_person_comes_before_what_has_failed(ctx: Context, limit: int) -> None:
    fill(ctx)
    names = [row.id if row.subject is Subject.SESSION else row.title for row in every_row(ctx, limit=limit)]
    assert names == [
        *("docs / refused", "ledger / refused", "quiet-7h", "dead", "orphan", "ledger / escalated", "ledger"),
        *("failed-tomorrow", "failed-just-now", "failed-zombie", "failed", "failed-within-24h"),
        *("over-60m", "endless-zombie", "zombie"),
    ]


def test_nothing_needs_a_look_in_an_empty_database(ctx: Context) -> None:
    assert list_attention(ctx) == ((), None)
    assert get_stats(ctx).attention[::3] == (0, None)


@pytest.mark.parametrize("cursor", ["", "nonsense", "W10", "éé", "eyJhIjoxfQ"])
def test_a_cursor_that_is_none_is_refused(ctx: Context, cursor: str) -> None:
    with pytest.raises(InvalidRequest, match="is not a cursor"):
        list_attention(ctx, cursor=cursor)


def test_a_stale_run_over_60_minutes_says_both(ctx: Context) -> None:
    put_run(ctx, "run-1", "running", began=2 * HOUR, heard=HOUR, name="triage", show_topic="ledger")
    let_die(ctx, "run-1")
    (row,) = list_attention(ctx).items
    codes = [reason.code for reason in row.state.reasons]
    assert {"run.health.process_dead", "run.health.slow"} <= set(codes)
    assert row[:5] == (Subject.SESSION, "run-1", "triage", (Signal.STALE, Signal.SLOW), NOW - 2 * HOUR)
    assert row.chain[:3] == ("Running", "quiet 1h", "process gone")
    assert (row.leads_to, row.session_id, row.topic) == ("/api/sessions/run-1", "run-1", "ledger")
    assert row.state.severity is Severity.CRITICAL


def test_a_row_says_what_an_operator_can_do_and_since_when_a_run_is_quiet(ctx: Context) -> None:
    fill(ctx)
    rows = {row.id: row for row in every_row(ctx)}
    assert rows["orphan"].actions == ("inspect", "repair", "transition")
    assert rows["dead"].actions == ("inspect", "transition")
    assert rows["zombie"].actions == ("inspect", "cleanup", "prune")
    assert rows["failed"].actions == ("inspect",)
    assert rows["quiet-7h"].heard_at == NOW - 7 * HOUR
    assert rows["failed"].heard_at is None
    assert all(
        row.actions == () and row.heard_at is None for row in rows.values() if row.subject is not Subject.SESSION
    )


def test_a_zombie_names_what_it_left(ctx: Context) -> None:
    leave_files(ctx, put_run(ctx, "run-1", "completed", began=100, ended=50))
    (row,) = list_attention(ctx).items
    assert "run.health.temp_files" in {reason.code for reason in row.state.reasons}
    assert "1 unfinished file" in row.chain


def test_a_play_and_its_show_are_two_things(ctx: Context) -> None:
    put_run(ctx, "run-1", "completed", began=100, ended=50)
    put_play(ctx, "ledger", "schema", "escalated", session_id="run-1", ended_at=NOW - 50, gate_passed=False)
    put_play(ctx, "ledger", "later", "running", session_id=None)
    play, show = sorted(list_attention(ctx).items, key=lambda row: row.subject)
    assert (play.title, play.leads_to) == ("ledger / schema", "/api/shows/ledger/plays/schema")
    assert (play.session_id, play.topic, play.play_name) == ("run-1", "ledger", "schema")
    assert play.chain == ("Escalated", "gate failed")
    assert (show.title, show.leads_to, show.since) == ("ledger", "/api/shows/ledger", NOW - 50)
    assert show.state.lifecycle is Lifecycle.BLOCKED
    assert show.state.reasons[0].code == "show.blocked.play_escalated"
    assert show.chain == ("Active", "1 escalated", "0 of 2 merged")


def test_plays_of_a_show_that_was_ended_need_no_look(ctx: Context) -> None:
    put_play(ctx, "ledger", "schema", "escalated")
    assert get_stats(ctx).attention.total == 2
    shows.move_show(ctx, "ledger", "aborted", actor=WHO)
    assert get_stats(ctx).attention.total == len(list_attention(ctx).items) == 0


def test_a_run_leaves_the_list_when_it_is_seen_to_and_comes_back_when_it_fails(ctx: Context, clock: Clock) -> None:
    start_run(ctx)
    assert list_attention(ctx).items == ()
    clock.pass_seconds(HOUR)
    assert list_attention(ctx).items == ()  # exactly 60 minutes are not more
    clock.pass_seconds(1)
    assert list_attention(ctx).items[0].signals == (Signal.SLOW,)
    sessions.finish_session(ctx, "run-1", "failed", exit_code=3)
    (row,) = list_attention(ctx).items
    assert (row.signals, row.since, row.chain[1]) == ((Signal.FAILED_24H,), clock.now, "exit 3")
    clock.pass_seconds(24 * HOUR)
    assert list_attention(ctx).items == ()


def test_a_clock_that_jumps_back_leaves_as_many_rows_as_are_counted(ctx: Context, clock: Clock) -> None:
    fill(ctx)
    for jump in (-30 * HOUR, 60 * HOUR, -HOUR):
        clock.pass_seconds(jump)
        numbers = get_stats(ctx).attention
        assert numbers.total == len(every_row(ctx))
        assert numbers.by_signal == {signal: len(every_row(ctx, signal=signal)) for signal in Signal}


def forget_session(location: str, session_id: str) -> None:
    """Delete a session as another program may have done it, which knows of no foreign keys."""
    delete: Any = f"DELETE FROM sessions WHERE id = '{session_id}'"
    if location.startswith("postgresql"):
        with psycopg.connect(location) as connection:
            connection.execute("SET session_replication_role = replica")
            connection.execute(delete)
    else:
        connection_to_file = apsw.Connection(location)
        connection_to_file.execute(delete)
        connection_to_file.close()


def test_a_play_whose_run_is_gone_is_still_a_row(ctx: Context, location: str) -> None:
    put_run(ctx, "run-1", "completed", began=100, ended=50)
    put_play(ctx, "ledger", "schema", "escalated", session_id="run-1")
    assert get_stats(ctx).needs_review == 1
    forget_session(location, "run-1")
    rows = list_attention(ctx).items
    assert {(row.subject.value, row.title) for row in rows} == {("play", "ledger / schema"), ("show", "ledger")}
    stats = get_stats(ctx)
    assert (stats.attention.total, stats.needs_review) == (2, 0)


def test_plays_in_trouble_of_an_imported_show_are_rows_as_those_of_an_active_one(ctx: Context) -> None:
    for topic, status in (("ours", "active"), ("theirs", "imported"), ("over", "completed")):
        shows.put_show(ctx, topic, actor="test", show_dir=f"/shows/{topic}", status=status)
        for name, word in (("a", "escalated"), ("b", "gate_failed"), ("c", "blocked")):
            put_play(ctx, topic, name, word)
    rows = every_row(ctx)
    found = {
        topic: sorted(
            (row.subject, row.play_name, row.signals, row.state.severity) for row in rows if row.topic == topic
        )
        for topic in ("ours", "theirs", "over")
    }
    assert found["theirs"] == found["ours"]
    assert (len(found["ours"]), found["over"]) == (3, [])
    numbers = get_stats(ctx).attention
    assert numbers.total == len(rows)
    assert numbers.by_severity == {one: sum(row.state.severity is one for row in rows) for one in Severity}
    listed = {one.show.topic: one.state.severity for one in show_list.page_shows(ctx, None).items}
    assert listed["theirs"] is listed["ours"]


def count_statements(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many statements the dashboard sends to the database."""
    with ctx.db.read() as tx:
        connection = type(tx.connection)
    sent: list[str] = []
    send = connection.all

    def counted(self: Any, sql: str, params: Any) -> Any:
        sent.append(sql)
        return send(self, sql, params)

    with monkeypatch.context() as patched:
        patched.setattr(connection, "all", counted)
        get_stats(ctx, recent=0)
    return len(sent)


def test_sixty_runs_that_run_cost_no_more_statements_than_one(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    put_run(ctx, "run-0", "running", began=2 * HOUR)
    few = count_statements(ctx, monkeypatch)
    assert few > 0
    for number in range(1, 60):
        put_run(ctx, f"run-{number}", "running", began=2 * HOUR)
        let_die(ctx, f"run-{number}")
    assert count_statements(ctx, monkeypatch) == few
