"""How teams and their messages look, for people and for programs."""

from collections.abc import Iterable, Sequence
from typing import Any

from lionstudio.cli.command import Call
from lionstudio.cli.output import Cell, Column, Console
from lionstudio.domain.phrases import count_of
from lionstudio.domain.printable import many_lines, one_line
from lionstudio.domain.team import Team, TeamMessage, TeamStatus
from lionstudio.domain.team_entries import by_message
from lionstudio.recorders.teams import Inbox, Shown
from lionstudio.services.team_list import ListedTeam

TEAM_COLUMNS = (
    Column("NAME", grows=True),
    Column("MEMBERS", grows=True),
    Column("MESSAGES", right=True),
    Column("LAST MESSAGE"),
    Column("STATUS"),
    Column("ID"),
)
MESSAGE_COLUMNS = (Column("WRITTEN"), Column("FROM"), Column("TO"), Column("TEXT", grows=True), Column("READ BY"))


def team_object(team: Team) -> dict[str, Any]:
    """A team for programs."""
    return {
        "id": team.id,
        "name": team.name,
        "status": team.status.value,
        "members": list(team.members),
        "created_at": team.created_at,
        "node_metadata": team.node_metadata,
    }


def message_object(message: TeamMessage) -> dict[str, Any]:
    """A message for programs."""
    return {**message._asdict(), "read_by": list(message.read_by)}


def listed_object(listed: ListedTeam) -> dict[str, Any]:
    """A team of a list for programs."""
    counts = {"message_count": listed.message_count, "last_message_at": listed.last_message_at}
    return {**team_object(listed.team), **counts}


def print_teams(call: Call, shown: Sequence[ListedTeam], known: int) -> None:
    """Teams as a table; without any, how one comes to be."""
    if call.out.as_json:
        for listed in shown:
            call.out.json(listed_object(listed))
    elif shown:
        team_table(call.out, shown)
    elif known:
        archived = count_of(known, "team is", "teams are")
        call.out.say(f"{archived} archived, and there is no other: li team list --archived")
    else:
        call.out.say("There are no teams yet. Make one: li team create NAME MEMBER…, or bring yours in: "
                     "li state import-teams")  # fmt: skip


def team_table(out: Console, teams: Iterable[ListedTeam]) -> None:
    """Teams as a table."""
    out.table(TEAM_COLUMNS, [_team_row(listed) for listed in teams])


def print_team(call: Call, shown: Shown) -> None:
    """One team and its last messages."""
    team = shown.team
    if call.out.as_json:
        messages = [message_object(message) for message in shown.messages]
        call.out.json({**team_object(team), "message_count": shown.message_count, "messages": messages})
        return
    description = (team.node_metadata or {}).get("description")
    call.out.facts(
        (name, value)
        for name, value in (
            ("team", Cell(team.name, "strong")),
            ("id", team.id),
            ("for", str(description or "")),
            ("members", ", ".join(team.members) or "nobody yet"),
            ("status", team.status.value),
            ("created", time_of(team.created_at)),
            ("messages", f"{shown.message_count:,}"),
            ("file", shown.path or ""),
        )
        if value not in ("", None)
    )
    if shown.messages:
        call.out.say_data("")
        call.out.table(MESSAGE_COLUMNS, [_message_row(rows) for rows in by_message(shown.messages)])
    elif not shown.message_count:
        call.out.say("Nobody has written yet: li team send TEAM TEXT")


def print_inbox(call: Call, inbox: Inbox) -> None:
    """Messages in full."""
    for message in inbox.messages:
        print_message(call.out, message)
    if call.out.as_json:
        return
    if not inbox.messages:
        call.out.say("Nothing new. --all shows what was read already.")
    if inbox.left:
        call.out.say(f"{inbox.left:,} more; --limit shows more at once.")


def print_message(out: Console, message: TeamMessage) -> None:
    """One message in full."""
    if out.as_json:
        out.json(message_object(message))
        return
    head = f"{time_of(message.created_at)}  {one_line(message.sender)} → {one_line(message.recipient)}"
    out.say_data(out.paint(head, "muted"))
    out.say_data("\n".join(f"  {line}" for line in many_lines(message.content).split("\n")))


def print_members(call: Call, team: Team) -> None:
    """The members of a team, one a line."""
    if call.out.as_json:
        call.out.json(team_object(team))
        return
    for member in team.members:
        call.out.say_data(one_line(member))
    if not team.members:
        call.out.say("Nobody yet: li team members TEAM --add NAME")


def time_of(at: float | None) -> str:
    """A time as people read it, in their zone."""
    import time

    try:
        return "" if at is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
    except (ValueError, OverflowError, OSError):
        return str(at)


def _team_row(listed: ListedTeam) -> tuple[str | Cell, ...]:
    team = listed.team
    style = "muted" if team.status is TeamStatus.ARCHIVED else "neutral"
    return (
        Cell(team.name, "strong"),
        ", ".join(team.members),
        f"{listed.message_count:,}",
        time_of(listed.last_message_at),
        Cell(team.status.value, style),
        Cell(team.id, "muted"),
    )


def _message_row(rows: Sequence[TeamMessage]) -> tuple[str, ...]:
    """One message, to however many members."""
    message = rows[0]
    text = message.summary or message.content
    recipients = ", ".join(row.recipient for row in rows)
    readers = ", ".join(dict.fromkeys(name for row in rows for name in row.read_by))
    return time_of(message.created_at), message.sender, recipients, text, readers
