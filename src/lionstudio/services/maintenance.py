"""Looking after the database: what is in it, and giving back what it does not need. Each act leaves an event."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from lionstudio.domain.health import Health
from lionstudio.domain.session import SessionStatus
from lionstudio.domain.words import unknown_word
from lionstudio.services.admin import record_event
from lionstudio.services.context import Context
from lionstudio.services.examination import examine_running
from lionstudio.store import figures
from lionstudio.store.figures import Checkpointed, Figures, TableRows

CHECKPOINT_MODES = ("PASSIVE", "FULL", "RESTART", "TRUNCATE")  # R38; SQLite's own words
SERVER_KEEPS_ROOM = (
    "The room of dead rows is used again for new ones; the files of the server stay as large as they are."
)


class Stats(NamedTuple):
    """What is in a database, and how it is kept."""

    database_id: str
    location: str  # for people, without a password
    schema: int
    figures: Figures
    tables: tuple[TableRows, ...]
    statuses: Mapping[SessionStatus | None, int]  # None are legacy (R187)
    healths: Mapping[Health, int]  # of running runs, and of ended ones that left something behind
    ended: int  # the other ended runs: their status tells how they ended, and health is over


class Vacuumed(NamedTuple):
    """What the database was like before and after a vacuum."""

    before: Figures
    after: Figures


def read_stats(ctx: Context) -> Stats:
    """Count and measure everything (R37). Running runs are looked at now, for ended ones the last look counts."""
    with ctx.db.read() as tx:
        own = figures.read_figures(tx)
        schema = figures.read_schema_number(tx)
        tables = tuple(figures.count_rows(tx))
        statuses = figures.count_by_status(tx)
        leftovers = figures.count_with_leftovers(tx)
    ended = sum(count for status, count in statuses.items() if status is not SessionStatus.RUNNING)
    healths = Counter({Health.ZOMBIE: leftovers})
    healths.update(one.verdict.health for one in examine_running(ctx))
    dialect = ctx.db.dialect
    return Stats(
        database_id=dialect.database_id,
        location=dialect.location,
        schema=schema,
        figures=own,
        tables=tables,
        statuses=statuses,
        healths={health: healths[health] for health in Health},
        ended=ended - leftovers,
    )


def checkpoint(ctx: Context, mode: str = "TRUNCATE", *, actor: str) -> Checkpointed:
    """Move the log into the database file (R38); raises UnknownWord, and Conflict where the server does it itself."""
    wanted = mode.upper()
    if wanted not in CHECKPOINT_MODES:
        raise unknown_word(mode, what="mode of a checkpoint", allowed=CHECKPOINT_MODES)
    done = ctx.db.dialect.checkpoint(wanted)
    record_event(ctx, "checkpoint", details={"mode": wanted, **done._asdict()}, actor=actor)
    return done


def vacuum(ctx: Context, *, actor: str) -> Vacuumed:
    """Make use of room that deleted rows left (R39); raises DatabaseFull where the work itself has no room."""
    before = read_figures(ctx)
    ctx.db.dialect.vacuum()
    done = Vacuumed(before, read_figures(ctx))
    sizes = {when: {"size": own.size, "log_size": own.log_size} for when, own in done._asdict().items()}
    record_event(ctx, "vacuum", details=sizes, actor=actor)
    return done


def vacuum_gives_room_back(ctx: Context) -> bool:
    """Whether a vacuum makes the files smaller; a server keeps the room for new rows."""
    return ctx.db.dialect.one_writer


def read_figures(ctx: Context) -> Figures:
    """What the database says about itself."""
    with ctx.db.read() as tx:
        return figures.read_figures(tx)
