"""Lists of runs: every filter against a plain look at all rows, and pages that miss nothing."""

import itertools
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from lionstudio.domain.errors import InvalidRequest, UnknownWord
from lionstudio.domain.health import Health
from lionstudio.domain.session import InvocationKind, Session, SessionStatus, SourceKind
from lionstudio.domain.session_list import SessionFilter, Sort, View, parse_filter
from lionstudio.services import sessions, shows
from lionstudio.services.context import Context
from lionstudio.services.dashboard import get_stats
from lionstudio.services.session_list import list_sessions
from lionstudio.store import progressions
from lionstudio.store import session_list as rows
from lionstudio.store import sessions as session_rows
from lionstudio.store.open import open_database
from tests.factories import NOW, Clock, start_run
from tests.postgres_server import PostgresServer
from tests.services.dashboard_world import put_run

HOUR = 3600.0
STATUSES = [None, *SessionStatus]
AGENTS = ["architect", "reviewer", None]
NAMES = ["fix the parser", "Fix-the-lexer", "review_api run 01", None]


def fill(ctx: Context, count: int = 60) -> list[Session]:
    """Sessions that differ in everything, two of them created every two hours, the newest last."""
    made = []
    with ctx.db.write() as tx:
        for number in range(count):
            status = STATUSES[number % len(STATUSES)]
            created = NOW - (count - number // 2 * 2) * HOUR
            session = Session(
                id=f"run-{number:03}",
                created_at=created,
                updated_at=created,
                progression_id=f"order-{number:03}",
                name=NAMES[number % len(NAMES)],
                status=status,
                started_at=created,
                ended_at=None if status in (None, SessionStatus.RUNNING) else created + (number % 4) * HOUR,
                invocation_kind=[*InvocationKind, None][number % 7],
                source_kind=[*SourceKind, None][number % 7],
                agent_name=AGENTS[number % len(AGENTS)],
                playbook_name=["ship", "test"][number % 2],
                show_topic="relaunch" if number % 5 == 0 else None,
            )
            progressions.add_head(tx, session.progression_id, created_at=created)
            session_rows.insert(tx, session)
            made.append(session)
    return made


def every_page(ctx: Context, wanted: SessionFilter, sort: Sort, limit: int = 7) -> list[str]:
    found: list[str] = []
    cursor = None
    while True:
        page = list_sessions(ctx, wanted, sort=sort, cursor=cursor, limit=limit)
        found += [session.id for session in page.items]
        cursor = page.next_cursor
        if cursor is None:
            return found
        assert len(page.items) == limit


def active_order(session: Session) -> Any:
    return (session.status is SessionStatus.RUNNING, session.created_at, session.id)


def ended_order(session: Session) -> Any:
    return (session.ended_at is None, session.ended_at or session.created_at, session.id)


def created_order(session: Session) -> Any:
    return (session.created_at, session.id)


ORDERS: dict[Sort, Callable[[Session], Any]] = {
    Sort.ACTIVE: active_order,
    Sort.CREATED: created_order,
    Sort.ENDED: ended_order,
}
FILTERS: dict[str, tuple[dict[str, Any], Callable[[Session], bool]]] = {
    "nothing": ({}, lambda s: True),
    "status": ({"status": "failed"}, lambda s: s.status is SessionStatus.FAILED),
    "running": ({"status": "running"}, lambda s: s.status is SessionStatus.RUNNING),
    "kind": ({"kind": "flow"}, lambda s: s.invocation_kind is InvocationKind.FLOW),
    "source": ({"source": "demo"}, lambda s: s.source_kind is SourceKind.DEMO),
    "agent": ({"agent": "architect"}, lambda s: s.agent_name == "architect"),
    "playbook": ({"playbook": "ship"}, lambda s: s.playbook_name == "ship"),
    "show": ({"show": "relaunch"}, lambda s: s.show_topic == "relaunch"),
    "since": ({"since": NOW - 20 * HOUR}, lambda s: s.created_at >= NOW - 20 * HOUR),
    "word": ({"search": "fix"}, lambda s: "fix" in (s.name or "").lower()),
    "prefix": ({"search": "PARS"}, lambda s: "parser" in (s.name or "")),
    "two words": ({"search": "the lex"}, lambda s: "lexer" in (s.name or "")),
    "underscore": ({"search": "api"}, lambda s: "api" in (s.name or "")),
    "agent word": ({"search": "review"}, lambda s: "review" in f"{s.name} {s.agent_name}"),
    "id": ({"search": "run-04"}, lambda s: s.id.startswith("run-04")),
    "id or words": ({"search": "run-01"}, lambda s: s.id.startswith("run-01") or "run 01" in (s.name or "")),
    "no such word": ({"search": "zebra"}, lambda s: False),
    "legacy": ({"view": "legacy"}, lambda s: s.status is None),
    "slow": ({"view": "slow"}, lambda s: s.status is SessionStatus.RUNNING and s.created_at < NOW - HOUR),
    "failed_24h": (
        {"view": "failed_24h"},
        lambda s: s.status in (SessionStatus.FAILED, SessionStatus.TIMED_OUT) and (s.ended_at or 0) > NOW - 24 * HOUR,
    ),
    "over_60m": (
        {"view": "over_60m"},
        lambda s: (s.ended_at or 0) > NOW - 24 * HOUR and (s.ended_at or 0) - s.created_at > HOUR,
    ),
    "ended_24h": ({"view": "ended_24h"}, lambda s: (s.ended_at or 0) > NOW - 24 * HOUR),
    "pair": (
        {"agent": "architect", "status": "completed"},
        lambda s: s.agent_name == "architect" and s.status is SessionStatus.COMPLETED,
    ),
    "ids": ({"ids": ("run-007", "run-033", "run-007", "no such run")}, lambda s: s.id in ("run-007", "run-033")),
    "no ids": ({"ids": ()}, lambda s: False),
    "ids of a status": (
        {"ids": tuple(f"run-{number:03}" for number in range(20)), "status": "failed"},
        lambda s: s.id < "run-020" and s.status is SessionStatus.FAILED,
    ),
    "ids of a view": (
        {"ids": tuple(f"run-{number:03}" for number in range(0, 60, 3)), "view": "slow", "agent": "architect"},
        lambda s: (
            int(s.id[4:]) % 3 == 0
            and s.status is SessionStatus.RUNNING
            and s.created_at < NOW - HOUR
            and s.agent_name == "architect"
        ),
    ),
    "three": (
        {"agent": "reviewer", "playbook": "test", "search": "fix"},
        lambda s: s.agent_name == "reviewer" and s.playbook_name == "test" and "fix" in (s.name or "").lower(),
    ),
}


@pytest.mark.parametrize("sort", Sort)
def test_every_filter_lists_exactly_what_matches_in_its_order_whatever_the_page(ctx: Context, sort: Sort) -> None:
    made = fill(ctx)
    for name, (words, matches) in FILTERS.items():
        expected = [s.id for s in sorted(filter(matches, made), key=ORDERS[sort], reverse=True)]
        wanted = parse_filter(words)
        assert every_page(ctx, wanted, sort) == expected, name
        assert every_page(ctx, wanted, sort, limit=500) == expected, name


NO_ROWS = -1  # not even an empty listing is as short as that
WAYS: dict[str, dict[str, int]] = {
    "a short listing leads": {},
    "all are walked side by side": {"FEW_ROWS": NO_ROWS, "MANY_ROWS": NO_ROWS},
    "a short listing leads through what is left": {"FEW_ROWS": NO_ROWS},
    "prefixes stand for too many words": {"FEW_ROWS": NO_ROWS, "MANY_ROWS": NO_ROWS, "FEW_WORDS": 0},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_pair_of_filters_lists_exactly_what_matches_both_whichever_way(
    ctx: Context, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    made = sorted(fill(ctx, 40), key=active_order, reverse=True)
    for name, value in WAYS[way].items():
        monkeypatch.setattr(rows, name, value)
    for (one, (first, is_first)), (other, (second, is_second)) in itertools.combinations(FILTERS.items(), 2):
        if first.keys() & second.keys():
            continue
        expected = [session.id for session in made if is_first(session) and is_second(session)]
        assert every_page(ctx, parse_filter(first | second), Sort.ACTIVE) == expected, (one, other)


@pytest.mark.parametrize("way", WAYS)
def test_every_filter_lists_the_same_whichever_way(ctx: Context, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    made = fill(ctx)
    for name, value in WAYS[way].items():
        monkeypatch.setattr(rows, name, value)
    for name, (words, matches) in FILTERS.items():
        for sort in Sort:
            expected = [s.id for s in sorted(filter(matches, made), key=ORDERS[sort], reverse=True)]
            assert every_page(ctx, parse_filter(words), sort) == expected, (name, sort)


def test_a_reader_that_pages_while_runs_end_and_begin_misses_none(ctx: Context, clock: Clock) -> None:
    for number in range(10):
        clock.pass_seconds(1)
        start_run(ctx, f"run-{number}")
    first = list_sessions(ctx, limit=3)
    sessions.finish_session(ctx, "run-8", "completed")  # was on the page that is read already
    sessions.finish_session(ctx, "run-2", "completed")  # was not yet
    clock.pass_seconds(1)
    start_run(ctx, "run-new")
    seen = [session.id for session in first.items]
    cursor = first.next_cursor
    while cursor is not None:
        page = list_sessions(ctx, cursor=cursor, limit=3)
        seen += [session.id for session in page.items]
        cursor = page.next_cursor
    assert set(seen) == {f"run-{number}" for number in range(10)}


@pytest.mark.parametrize("cursor", ["", "nonsense", "W10", "éé", "eyJhIjoxfQ", "a" * 10_000])
def test_a_cursor_that_is_none_is_refused(ctx: Context, cursor: str) -> None:
    with pytest.raises(InvalidRequest, match="is not a cursor"):
        list_sessions(ctx, cursor=cursor)


@pytest.mark.parametrize(
    "wrong", [{"status": "done"}, {"kind": "agnet"}, {"health": "fine"}, {"view": "all"}, {"colour": "red"}]
)
def test_an_unknown_filter_or_word_names_the_allowed_ones(wrong: dict[str, str]) -> None:
    with pytest.raises(UnknownWord) as caught:
        parse_filter(wrong)
    assert "Use one of: " in (caught.value.hint or "")


def test_a_search_is_text_and_never_sql_or_a_pattern(ctx: Context) -> None:
    fill(ctx)
    for text in ("'; DROP TABLE sessions; --", "fix%", "a" * 10_000, " "):
        list_sessions(ctx, SessionFilter(search=text))
    assert len(every_page(ctx, SessionFilter(), Sort.CREATED)) == 60


@pytest.mark.parametrize("text", ["%", "_", "%_'\"", "🦁", "\0", "\ud800", "-" * 5_000])
def test_a_search_without_a_word_is_refused(ctx: Context, text: str) -> None:
    with pytest.raises(InvalidRequest, match="can be searched for") as refused:
        list_sessions(ctx, SessionFilter(search=text))
    assert "letters and digits" in (refused.value.hint or "")
    assert len(refused.value.message) < 300


def leave_behind(ctx: Context, session: Session, leftovers: int) -> None:
    with ctx.db.write() as tx:
        tx.run(
            """INSERT INTO session_evidence (session_id, session_created_at, observed_at, process, process_sentence,
                   leftovers, temp_files, health)
               VALUES (:id, :created_at, 1, 'unknown', '', :leftovers, :files, 'zombie')""",
            id=session.id,
            created_at=session.created_at,
            leftovers=leftovers,
            files='["a.tmp"]' if leftovers else "[]",
        )


@pytest.mark.parametrize("sort", Sort)
def test_every_health_lists_exactly_the_runs_that_are_judged_so(ctx: Context, sort: Sort) -> None:
    made = fill(ctx)
    for session in made[::5]:
        leave_behind(ctx, session, leftovers=1)
    for session in made[1::5]:
        leave_behind(ctx, session, leftovers=0)
    listed = {health: every_page(ctx, SessionFilter(health=health), sort) for health in Health}
    together = list(itertools.chain.from_iterable(listed.values()))
    assert sorted(together) == [session.id for session in made]
    zombies = [s for s in made[::5] if s.status is not SessionStatus.RUNNING]
    assert sorted(listed[Health.ZOMBIE]) == [session.id for session in zombies]
    for health, ids in listed.items():
        by_id = {session.id: session for session in made}
        assert ids == [s.id for s in sorted((by_id[i] for i in ids), key=ORDERS[sort], reverse=True)], health
    # Running runs without a recorded process are judged by how long they have been quiet.
    quiet = {s.id: NOW - s.created_at for s in made if s.status is SessionStatus.RUNNING}
    assert all(quiet[i] <= HOUR for i in listed[Health.HEALTHY] if i in quiet)
    assert all(quiet[i] > HOUR for i in [*listed[Health.IDLE], *listed[Health.STALE]])


def test_every_health_with_every_filter_lists_what_is_in_both(ctx: Context) -> None:
    made = {session.id: session for session in fill(ctx, 40)}
    for session in list(made.values())[::5]:
        leave_behind(ctx, session, leftovers=1)
    for health in Health:
        unfiltered = every_page(ctx, SessionFilter(health=health), Sort.ACTIVE)
        for name, (words, matches) in FILTERS.items():
            expected = [session_id for session_id in unfiltered if matches(made[session_id])]
            wanted = parse_filter({**words, "health": health.value})
            assert every_page(ctx, wanted, Sort.ACTIVE) == expected, (health, name)


def test_runs_whose_play_waits_for_a_person_need_review(ctx: Context) -> None:
    for number, status in enumerate(("gated", "escalated", "blocked", "merged", "running")):
        start_run(ctx, f"run-{number}")
        shows.put_show(ctx, "relaunch", actor="test", show_dir="/shows/relaunch")
        shows.put_play(ctx, "relaunch", f"play-{number}", actor="test", status=status, session_id=f"run-{number}")
    put_run(ctx, "legacy", None)  # in no other number than that of the legacy ones (R187)
    shows.put_play(ctx, "relaunch", "play-legacy", actor="test", status="gated", session_id="legacy")
    found = every_page(ctx, SessionFilter(view=View.NEEDS_REVIEW), Sort.CREATED)
    assert sorted(found) == ["run-0", "run-1", "run-2"]
    assert get_stats(ctx).needs_review == 3


def test_a_row_counts_its_messages_and_branches(ctx: Context) -> None:
    session = start_run(ctx)
    (row,) = list_sessions(ctx).items
    assert row == session._replace(branch_count=1, message_count=0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"since": "yesterday"},
        {"since": float("nan")},
        {"since": 10**400},
        {"agent": 5},
        {"search": ["a"]},
        {"ids": "run-1"},
    ],
)
def test_a_filter_of_the_wrong_type_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        parse_filter(wrong)


IDS_OF_SESSIONS = """
    SELECT reference.conrelid::regclass::text || '.' || attribute.attname, "collation".collname
      FROM pg_constraint AS reference
      JOIN pg_attribute AS attribute
        ON attribute.attrelid = reference.conrelid AND attribute.attnum = reference.conkey[1]
      JOIN pg_collation AS "collation" ON "collation".oid = attribute.attcollation
     WHERE reference.contype = 'f' AND reference.confrelid = 'sessions'::regclass
"""


def test_a_server_can_use_the_index_of_every_column_with_the_id_of_a_session(postgres: PostgresServer) -> None:
    # An index in another collation than that of sessions.id is passed over, and each row of a list reads a whole table.
    with postgres.new_database() as url:
        open_database(url).close()
        with psycopg.connect(url) as connection:
            found = dict(connection.execute(IDS_OF_SESSIONS).fetchall())
    assert "branches.session_id" in found
    assert set(found.values()) == {"C"}, found
