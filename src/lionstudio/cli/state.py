"""`li state ls`, `stats`, `checkpoint` and `vacuum`: what is in the database, and looking after it."""

import time

from lionstudio.cli.command import Call
from lionstudio.cli.output import Cell, Column
from lionstudio.domain.errors import InvalidRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lionstudio.domain.session import Session
    from lionstudio.recorders.spool import Waiting
    from lionstudio.services.maintenance import Stats

LEGACY = "legacy"  # R187: how a run without a status is called
STATUS_STYLES = {"running": "info", "completed": "success", "failed": "danger", "timed_out": "warning"}
MOST_SPOOL_FILES = 10  # named on a terminal; --json names all


def ls(call: Call) -> None:
    """The newest runs, in short (R36)."""
    from lionstudio.services.naming import names_of

    if call.args.limit < 1:
        raise InvalidRequest("--limit must be 1 or more.")
    found = list(_newest(call))
    names = names_of(call.ctx, found)
    if call.out.as_json:
        for session in found:
            call.out.json(_run_object(session, names[session.id]))
        return
    if not found:
        call.out.say(_nothing_found(call.args.status))
        return
    columns = (Column("RUN"), Column("NAME", grows=True), Column("STATUS"), Column("MESSAGES", right=True))
    call.out.table((*columns, Column("CREATED")), (_run_row(session, names[session.id]) for session in found))


def _newest(call: Call) -> "Iterator[Session]":
    from lionstudio.domain.session_list import PAGE_LIMIT, Sort, parse_filter
    from lionstudio.services.session_list import list_sessions

    wanted = parse_filter({"status": call.args.status})
    left, cursor = call.args.limit, None
    while left > 0:
        page = list_sessions(call.ctx, wanted, sort=Sort.CREATED, cursor=cursor, limit=min(left, PAGE_LIMIT))
        yield from page.items
        left, cursor = left - len(page.items), page.next_cursor
        if cursor is None:
            return


def _run_row(session: "Session", name: str) -> "Sequence[str | Cell]":
    status = session.status or LEGACY
    created = time.strftime("%Y-%m-%d %H:%M", time.localtime(session.created_at))
    style = STATUS_STYLES.get(status, "neutral")
    return session.id, name, Cell(status, style), f"{session.message_count:,}", created


def _run_object(session: "Session", name: str) -> dict[str, object]:
    return {
        "id": session.id,
        "name": session.name,
        "display_name": name,
        "status": session.status,
        "invocation_kind": session.invocation_kind,
        "source_kind": session.source_kind,
        "created_at": session.created_at,
        "started_at": session.started_at,
        "ended_at": session.ended_at,
        "last_message_at": session.last_message_at,
        "message_count": session.message_count,
        "branch_count": session.branch_count,
    }


def _nothing_found(status: str | None) -> str:
    if status is not None:
        return f"No run is {status}. All of them: li state ls"
    return "There are no runs yet. Bring past ones in: li state import"


def stats(call: Call) -> None:
    """Sizes, rows, statuses, health and settings of the database (R37)."""
    from lionstudio.recorders.spool import list_rejected, list_waiting
    from lionstudio.services.maintenance import read_stats

    found = read_stats(call.ctx)
    waiting, rejected = list_waiting(call.settings.spool), list_rejected(call.settings.spool)
    if call.out.as_json:
        call.out.json(_stats_object(found, waiting, rejected))
        return
    _print_figures(call, found)
    call.out.say_data("")
    about = " (about)"
    rows = [(table.name, f"{table.rows:,}{about if table.estimated else ''}") for table in found.tables]
    call.out.table((Column("TABLE"), Column("ROWS", right=True)), rows)
    call.out.say_data("")
    call.out.table(
        (Column("STATUS"), Column("RUNS", right=True)),
        ((LEGACY if status is None else status, f"{count:,}") for status, count in found.statuses.items()),
    )
    call.out.say_data("")
    call.out.table(
        (Column("HEALTH"), Column("RUNS", right=True)),
        [*((health, f"{count:,}") for health, count in found.healths.items()), ("ended", f"{found.ended:,}")],
    )
    _print_spool(call, waiting, rejected)


def _print_figures(call: Call, found: "Stats") -> None:
    own = found.figures
    facts: list[tuple[str, str | Cell]] = [
        ("database", found.location),
        ("id", found.database_id),
        ("engine", f"{own.engine} {own.version}"),
        ("schema", str(found.schema)),
        ("size", size_text(own.size)),
    ]
    if own.log_size is not None:
        facts.append(("log", size_text(own.log_size)))
    if own.free_size is not None:
        facts.append(("unused", call.out.hint(f"{size_text(own.free_size)}, which li state vacuum gives back")))
    if own.dead_rows is not None:
        facts.append(("dead rows", f"about {own.dead_rows:,}"))
    if own.connections is not None:
        facts.append(("connections", f"{own.connections:,}"))
    call.out.facts([*facts, *((name, str(value)) for name, value in own.settings.items())])


def _print_spool(call: Call, waiting: "list[Waiting]", rejected: "list[Waiting]") -> None:
    from lionstudio.domain.phrases import count_of

    for what, files in (("waits to be written", waiting), ("was refused for good", rejected)):
        call.out.say_data("")
        records, size = sum(file.records for file in files), sum(file.size for file in files)
        counts = f"{count_of(records, 'record')} in {count_of(len(files), 'file')}"
        call.out.facts([(f"spool: {what}", f"{counts}, {size_text(size)}")])
        for file in files[:MOST_SPOOL_FILES]:
            call.out.facts([("", str(file.path))])
        if len(files) > MOST_SPOOL_FILES:
            call.out.say(f"… and {len(files) - MOST_SPOOL_FILES:,} more; --json names all of them.")


def _stats_object(found: "Stats", waiting: "list[Waiting]", rejected: "list[Waiting]") -> dict[str, object]:
    own = found.figures

    def files(of: "list[Waiting]") -> list[dict[str, object]]:
        return [{"path": str(file.path), "records": file.records, "size": file.size} for file in of]

    return {
        "location": found.location,
        "database_id": found.database_id,
        "schema": found.schema,
        **{name: value for name, value in own._asdict().items() if value is not None and name != "settings"},
        "settings": dict(own.settings),
        "tables": {table.name: table.rows for table in found.tables},
        "estimated_tables": [table.name for table in found.tables if table.estimated],
        "statuses": {LEGACY if status is None else status.value: count for status, count in found.statuses.items()},
        "healths": {health.value: count for health, count in found.healths.items()},
        "ended": found.ended,
        "spool": {"waiting": files(waiting), "rejected": files(rejected)},
    }


def checkpoint(call: Call) -> int:
    """Move what is in the log into the database file (R38)."""
    from lionstudio.cli.operator import operator
    from lionstudio.services import maintenance

    mode = call.args.mode
    done = maintenance.checkpoint(call.ctx, mode, actor=operator())
    if call.out.as_json:
        call.out.json({"mode": mode.upper(), **done._asdict()})
        return 1 if done.busy else 0
    call.out.facts(
        [
            ("log before", size_text(done.log_size_before)),
            ("log after", size_text(done.log_size_after)),
            ("pages moved", f"{done.pages_moved:,}"),
            ("pages left", f"{done.pages_left:,}"),
        ]
    )
    if done.busy:
        call.out.say(
            f"Somebody who reads or writes was in the way, so a {mode.upper()} checkpoint could not be finished. "
            "Nothing is lost; try again, or find who keeps a read open."
        )
    return 1 if done.busy else 0


def vacuum(call: Call) -> None:
    """Make use of room that deleted rows left (R39)."""
    from lionstudio.cli.operator import operator
    from lionstudio.services import maintenance

    before, after = maintenance.vacuum(call.ctx, actor=operator())
    if call.out.as_json:
        call.out.json(
            {
                "before": {"size": before.size, "log_size": before.log_size, "dead_rows": before.dead_rows},
                "after": {"size": after.size, "log_size": after.log_size, "dead_rows": after.dead_rows},
            }
        )
        return
    facts = [("size before", size_text(before.size)), ("size after", size_text(after.size))]
    if before.dead_rows is not None and after.dead_rows is not None:
        facts += [
            ("dead rows before", f"about {before.dead_rows:,}"),
            ("dead rows after", f"about {after.dead_rows:,}"),
        ]
    call.out.facts(facts)
    if not maintenance.vacuum_gives_room_back(call.ctx):
        call.out.say(maintenance.SERVER_KEEPS_ROOM)
    if after.log_size:
        call.out.say(
            f"The log still holds {size_text(after.log_size)}: somebody reads or writes. "
            "When they are done: li state checkpoint"
        )


def size_text(size: int) -> str:
    """A size for people."""
    if size < 1000:
        return f"{size} B"
    for unit in ("kB", "MB"):
        size_in_unit = size / 1000
        if size_in_unit < 1000:
            return f"{size_in_unit:.1f} {unit}"
        size //= 1000
    return f"{size / 1000:,.1f} GB"
