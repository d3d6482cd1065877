"""What both databases must answer. sqlite.py and postgres.py answer it; nothing else knows which one it talks to."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from lionstudio.store.copies import Copies
    from lionstudio.store.figures import Checkpointed, Figures

Row = tuple[Any, ...]
Params = Mapping[str, Any]


class Connection(Protocol):
    """One open connection. Every read is fetched whole: a half-read cursor would block checkpoints."""

    def all(self, sql: str, params: Params) -> list[Row]: ...
    def pieces(self, sql: str, params: Params, *, size: int) -> Iterator[list[Row]]:
        """Rows a few at a time, for tables of any size. Only inside a read that blocks checkpoints anyway."""
        ...

    def run(self, sql: str, params: Params) -> int:
        """Execute one statement; the number of rows it changed."""
        ...

    def many(self, sql: str, rows: Iterable[Params]) -> None: ...
    def script(self, sql: str) -> None: ...
    def begin_read(self) -> None: ...
    def begin_write(self, *, waited: float = 0.0) -> None:
        """Begin to write. So many seconds that one waits for others are over already, where there is one writer."""
        ...

    def commit(self) -> None: ...
    def rollback(self) -> None:
        """Undo what was begun, if the database has not done so itself, and let others write."""
        ...

    def savepoint(self) -> None: ...
    def release(self) -> None: ...
    def rollback_to_savepoint(self) -> None: ...
    @property
    def in_transaction(self) -> bool: ...
    @property
    def is_wanted(self) -> bool:
        """Whether others wait for this one's transaction to end, as far as it can know."""
        ...

    def expect_bulk(self) -> None:
        """Get ready for transactions that change very much."""
        ...

    def close(self) -> None: ...


class Watch(Protocol):
    """Wakes when someone has committed, in this process or another."""

    def wait(self, timeout: float) -> bool:
        """Block until news may be there, at most `timeout` seconds; whether a look is worth it."""
        ...

    def pause(self) -> None:
        """Let go of the database before this process forks."""
        ...

    def resume(self) -> None:
        """Take it up again, in the parent or in the child."""
        ...

    def close(self) -> None: ...


class Dialect(Protocol):
    """Everything the two databases do differently."""

    name: str
    location: str  # for people, without a password
    database_id: str  # given to a database once, for ever; known after `prepare`
    local: bool  # whether whoever reads the database can look at the processes of who writes it
    one_writer: bool  # whether only one transaction at a time may write, so that writers had better share commits
    lock_session: str | None  # run first in a use case that changes :session_id, so that two of them take turns
    news_lock: str | None  # run before the news are written, so that they become visible in the order of their numbers
    news_call: str | None  # run after the news are written, to wake who listens
    migration_lock: str | None  # run first in a migration, so that only one process migrates
    list_tables: str
    list_foreign_keys: str  # SQL for table, column, table and column referred to
    check_integrity: str | None  # SQL for what is wrong with the file, "ok" if nothing; None where there is no file
    list_huge_tables: str | None  # SQL for names and estimated rows of tables that take too long to count
    same_size: str  # SQL: `embedding` has as many numbers as :vector
    json_size: str  # SQL: how many bytes the JSON in the column {} has

    def connect(self, *, writing: bool) -> Connection:
        """A new connection; raises Unavailable when there is none to be had."""
        ...

    def prepare(self, *, create: bool = True) -> None:
        """Create or upgrade the database where needed; raises Unavailable when it is not ours, too new or broken.

        Without `create` it raises DatabaseGone where there is none yet.
        """
        ...

    def watch(self) -> Watch: ...
    def embedding_in(self, vector: Sequence[float]) -> Any: ...
    def embedding_out(self, stored: Any) -> tuple[float, ...]: ...
    def nearest(self, connection: Connection) -> str | None:
        """SQL for the distance of `embedding` to :vector where the database can compute it, else None."""
        ...

    def back_up_before_upgrade(self, connection: Connection, version: int) -> None:
        """Keep a copy of what is there, where the database does not do so itself."""
        ...

    def copies(self) -> "Copies":
        """How all of it is copied out, and back in."""
        ...

    def read_figures(self, connection: Connection) -> "Figures":
        """Sizes and settings, as the database tells them itself."""
        ...

    def read_log_pending(self) -> int | None:
        """How many bytes are in the log and not in the database file yet; None where there is no such thing."""
        ...

    def checkpoint(self, mode: str) -> "Checkpointed":
        """Move the log into the database file; raises Conflict where the database does that by itself."""
        ...

    def vacuum(self) -> None:
        """Give unused room back; raises DatabaseFull where there is not enough for the work itself."""
        ...
