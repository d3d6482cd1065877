"""Shows with their plays, and teams with their messages, from a lionagi state.db.

What is here already and was changed later than there stays: files on disk, and whoever works here, know better.
"""

from collections.abc import Mapping
from typing import Any

from lionstudio.domain.errors import Conflict, Error, Invalid, NotFound, PlayNotFound, SessionNotFound, TeamNotFound
from lionstudio.domain.lionagi_rows import (
    first_time,
    plain_text,
    play_facts,
    show_facts,
    team_facts,
    team_message_facts,
)
from lionstudio.domain.show import Play
from lionstudio.domain.team import Team, TeamMessage
from lionstudio.importers.report import ADDED, UPDATED, Problem
from lionstudio.services import sessions, shows, teams
from lionstudio.services.context import Context
from lionstudio.services.foreign import ForeignFile, ForeignRow
from lionstudio.services.play_runs import find_run_of_play, link_plays

ACTOR = "import"
REFUSALS = (Invalid, Conflict, NotFound)  # they are about one row; anything else is about the database
KnownAs = Mapping[str, str]  # ids of sessions that are here under another one
Counts = dict[str, int]


def import_shows(
    ctx: Context, source: ForeignFile, problems: list[Problem], *, shows_root: str, known_as: KnownAs
) -> Counts:
    """Bring shows and their plays in, or up to date."""
    counts = _counts("shows", "plays")
    topics: dict[Any, str] = {}
    for row in source.rows("shows", "created_at", "id"):
        try:
            topic = _required(row, "topic")
            topics[row.get("id")] = topic
            _import_show(ctx, row, topic, counts, shows_root=shows_root)
        except REFUSALS as error:
            problems.append(_problem("shows", row, error))
    for row in source.rows("plays", "show_id", "sort_order", "id"):
        try:
            if row.get("show_id") not in topics:
                raise Invalid("Its show is missing.")
            _import_play(ctx, row, topics[row["show_id"]], counts, known_as)
        except REFUSALS as error:
            problems.append(_problem("plays", row, error))
    counts[f"plays {UPDATED}"] += link_plays(ctx)
    return counts


def import_teams(ctx: Context, source: ForeignFile, problems: list[Problem], *, known_as: KnownAs) -> Counts:
    """Bring teams and their messages in, or up to date."""
    counts = _counts("teams", "team messages")
    known: dict[str, dict[str, TeamMessage]] = {}
    for row in source.rows("teams", "created_at", "id"):
        try:
            team_id = _required(row, "id")
            _import_team(ctx, row, team_id, counts)
            known[team_id] = _messages_of(ctx, team_id)
        except REFUSALS as error:
            problems.append(_problem("teams", row, error))
    for row in source.rows("team_messages", "created_at", "id"):
        try:
            _required(row, "id")
            team_id = str(row.get("team_id"))
            if team_id not in known:
                raise Invalid("Its team is missing.")
            facts = {**team_message_facts(row), "session_id": _find_session(ctx, row, known_as)}
            _import_message(ctx, team_id, facts, known[team_id].get(facts["id"]), counts)
        except REFUSALS as error:
            problems.append(_problem("team_messages", row, error))
    return counts


def _import_show(ctx: Context, row: ForeignRow, topic: str, counts: Counts, *, shows_root: str) -> None:
    before = shows.find_show(ctx, topic)
    if before is None or _is_newer(row, before.updated_at):
        facts = show_facts({**row, "topic": topic}, shows_root=shows_root)
        _count(counts, "shows", before, shows.put_show(ctx, topic, actor=ACTOR, **facts))


def _import_play(ctx: Context, row: ForeignRow, topic: str, counts: Counts, known_as: KnownAs) -> None:
    name = _required(row, "name")
    before = _find_play(ctx, topic, name)
    facts = play_facts(row) if before is None or _is_newer(row, before.updated_at) else {}
    if before is None or before.session_id is None or facts:
        session_id = _find_session(ctx, row, known_as) or find_run_of_play(ctx, topic, name)
        if session_id is not None:
            facts["session_id"] = session_id
    if facts:
        _count(counts, "plays", before, shows.put_play(ctx, topic, name, actor=ACTOR, **facts))


def _import_team(ctx: Context, row: ForeignRow, team_id: str, counts: Counts) -> None:
    before = _find_team(ctx, team_id)
    if before is None or _is_newer(row, before.updated_at):
        facts = team_facts(row)
        if before is not None:  # who was let in here stays in
            facts["members"] = list(dict.fromkeys((*before.members, *facts["members"])))
        _count(counts, "teams", before, teams.put_team(ctx, team_id, actor=ACTOR, **facts))


def _import_message(
    ctx: Context, team_id: str, facts: dict[str, Any], before: TeamMessage | None, counts: Counts
) -> None:
    if before is not None:
        read = set(facts["read_by"]) <= set(before.read_by)
        linked = before.session_id is not None or facts["session_id"] is None
        kept = set(facts["node_metadata"] or ()) <= set(before.node_metadata or ())
        if read and linked and kept:
            return
    _count(counts, "team messages", before, teams.add_message(ctx, team_id, **facts))


def _find_session(ctx: Context, row: ForeignRow, known_as: KnownAs) -> str | None:
    told = plain_text(row, "session_id")
    return None if told is None else _known(ctx, known_as.get(told, told))


def _known(ctx: Context, session_id: str) -> str | None:
    try:
        return sessions.get_session(ctx, session_id).id
    except SessionNotFound:
        return None


def _find_play(ctx: Context, topic: str, name: str) -> Play | None:
    try:
        return shows.get_play(ctx, topic, name)
    except PlayNotFound:
        return None


def _find_team(ctx: Context, team_id: str) -> Team | None:
    try:
        return teams.get_team(ctx, team_id)
    except TeamNotFound:
        return None


def _messages_of(ctx: Context, team_id: str) -> dict[str, TeamMessage]:
    found: dict[str, TeamMessage] = {}
    after: tuple[float, str] | None = None
    while page := teams.list_messages(ctx, team_id, after=after):
        found |= {message.id: message for message in page}
        after = (page[-1].created_at, page[-1].id)
    return found


def _is_newer(row: ForeignRow, updated_at: float) -> bool:
    at = first_time(row, "updated_at")
    return at is not None and at > updated_at


def _required(row: ForeignRow, name: str) -> str:
    value = plain_text(row, name)
    if value is None:
        raise Invalid(f"It has no {name}.")
    return value


def _counts(*things: str) -> Counts:
    return {f"{thing} {what}": 0 for thing in things for what in (ADDED, UPDATED)}


def _count(counts: Counts, things: str, before: object, after: object) -> None:
    if before is None:
        counts[f"{things} {ADDED}"] += 1
    elif after != before:
        counts[f"{things} {UPDATED}"] += 1


def _problem(table: str, row: ForeignRow, error: Error) -> Problem:
    return Problem(f"{table} {row.get('id', '(no id)')}", error.message)
