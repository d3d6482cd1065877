"""The whole database as plain values, one after the other, and files of it for other programs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from lionstudio.domain.errors import SessionNotFound, TeamNotFound
from lionstudio.domain.json_text import to_json
from lionstudio.services import admin, shows, teams
from lionstudio.services.context import Context
from lionstudio.services.exporting import export_lines
from lionstudio.services.whole_file import whole_file
from lionstudio.store import contents
from lionstudio.store.copies import require_same
from lionstudio.store.row_copies import list_needed, write_sessions
from lionstudio.store.sqlite_copies import require_whole, sum_file

Line = dict[str, Any]


class RunsFile(NamedTuple):
    """An SQLite file of some runs."""

    path: str
    session_ids: list[str]  # those that were asked for, and those they were forked from
    rows: dict[str, int]  # by table


def export_database(ctx: Context) -> Iterator[Line]:
    """Everything: each run as `export_lines` gives it, then what belongs to no single run."""
    for session_id in _walk_sessions(ctx):
        with suppress(SessionNotFound):  # pruned since it was listed
            yield from export_lines(ctx, [session_id])
    yield from _free_messages(ctx)
    yield from _shows(ctx)
    yield from _teams(ctx)
    yield from _events(ctx)


def write_lines(path: str, lines: Iterable[Line]) -> int:
    """Write values as JSON lines into a new file, whole or not at all; how many. Raises AlreadyExists."""
    count = 0
    with whole_file(path) as draft, open(draft, "w", encoding="ascii") as file:
        for line in lines:
            file.write(to_json(line, what="export") + "\n")
            count += 1
        file.flush()
    return count


def write_runs_file(ctx: Context, session_ids: Sequence[str], path: str, on_rows: Callable[[int], None]) -> RunsFile:
    """Write some runs into an SQLite file of ours, which can be opened like any database, and compare it with them."""
    with whole_file(path) as draft:
        with ctx.db.read() as tx:
            needed = list_needed(tx, session_ids)
            source = write_sessions(tx, needed, draft, on_rows)
        require_whole(draft, named="What was exported", hint="Look closer: li state verify")
        require_same(sum_file(draft, on_rows), source, what="The file")
    return RunsFile(path, needed, {table: found.rows for table, found in sorted(source.items())})


def _walk_sessions(ctx: Context) -> Iterator[str]:
    """Every run, those that run first: one that ends meanwhile is met again among the others, and not twice given."""
    given: set[str] = set()
    for running in (True, False):
        after: tuple[float, str] | None = None
        while page := _session_ids(ctx, running=running, after=after):
            after = page[-1]
            yield from (session_id for _, session_id in page if session_id not in given)
            if running:
                given.update(session_id for _, session_id in page)


def _session_ids(ctx: Context, *, running: bool, after: tuple[float, str] | None) -> list[tuple[float, str]]:
    with ctx.db.read() as tx:
        return contents.list_session_ids(tx, running=running, after=after)


def _free_messages(ctx: Context) -> Iterator[Line]:
    after = ""
    while True:
        with ctx.db.read() as tx:
            page = contents.list_free_messages(tx, after=after)
        if not page:
            return
        after = page[-1].id
        for message in page:
            fields = message._asdict()
            delivery = fields.pop("position")
            yield {"type": "message", "session_id": None, **fields, "kind": message.kind, "delivery": delivery}


def _shows(ctx: Context) -> Iterator[Line]:
    before: tuple[float, str] | None = None
    while page := shows.list_shows(ctx, before=before):
        before = (page[-1].created_at, page[-1].id)
        for show in page:
            history = [step._asdict() for step in shows.list_show_history(ctx, show.topic)]
            yield {"type": "show", **show._asdict(), "history": history}
            for play in shows.list_plays(ctx, show.topic):
                steps = [step._asdict() for step in shows.list_play_history(ctx, show.topic, play.name)]
                yield {"type": "play", **play._asdict(), "history": steps}


def _teams(ctx: Context) -> Iterator[Line]:
    before: tuple[float, str] | None = None
    while page := teams.list_teams(ctx, before=before):
        before = (page[-1].created_at, page[-1].id)
        for team in page:
            history = [step._asdict() for step in teams.list_team_history(ctx, team.id)]
            yield {"type": "team", **team._asdict(), "history": history}
            with suppress(TeamNotFound):  # pruned since it was listed
                yield from _team_messages(ctx, team.id)


def _team_messages(ctx: Context, team_id: str) -> Iterator[Line]:
    after: tuple[float, str] | None = None
    while page := teams.list_messages(ctx, team_id, after=after):
        after = (page[-1].created_at, page[-1].id)
        yield from ({"type": "team_message", **message._asdict()} for message in page)


def _events(ctx: Context) -> Iterator[Line]:
    before: tuple[float, str] | None = None
    while page := admin.list_events(ctx, before=before):
        before = (page[-1].created_at, page[-1].id)
        yield from ({"type": "admin_event", **event._asdict()} for event in page)
