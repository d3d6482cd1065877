"""The door to other programs' database files, which are only read."""

from collections.abc import Iterator
from contextlib import contextmanager

from lionstudio.store.foreign import ForeignFile, ForeignRow

__all__ = ["ForeignFile", "ForeignRow", "open_foreign"]


@contextmanager
def open_foreign(path: str) -> Iterator[ForeignFile]:
    """A file of another program as it is in this moment; raises DatabaseGone, DatabaseDamaged or InvalidRequest."""
    source = ForeignFile(path)
    try:
        yield source
    finally:
        source.close()
