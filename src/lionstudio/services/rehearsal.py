"""Doing something without keeping it: a dry run is the very same code, and what it says is what then happens."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from lionstudio.domain.errors import DatabaseFull, NoDatabaseYet
from lionstudio.services.context import Context, open_context
from lionstudio.settings import Settings
from lionstudio.store.open import open_database
from lionstudio.store.rehearsal import Rehearsal


@contextmanager
def open_rehearsal(settings: Settings, *, whole: bool = False) -> Iterator[Context]:
    """The database that the settings name, to try things in; where there is none yet, an empty one, then forgotten.

    `whole` is for what reads again what it wrote: that is tried in a copy, so that nobody has to wait for it.
    """
    try:
        ctx = open_context(settings, create=False)
    except NoDatabaseYet:
        with rehearse_in_a_copy(None) as trial:
            yield trial
        return
    try:
        if whole:
            with rehearse_in_a_copy(ctx) as trial:
                yield trial
        else:
            yield Context(Rehearsal(ctx.db))
    finally:
        ctx.db.close()


@contextmanager
def rehearse_in_a_copy(ctx: Context | None) -> Iterator[Context]:
    """A copy of a database, or an empty one, that is deleted afterwards; raises DatabaseFull where it has no room.

    One transaction of the database itself would show the same, and keep every other writer out for as long.
    """
    with tempfile.TemporaryDirectory(prefix="lionstudio-") as folder:
        path = os.path.join(folder, "state.db")
        try:
            if ctx is not None:
                ctx.db.dialect.copies().write(path, lambda _: None)
            db = open_database(path, synchronous="OFF")  # nobody misses it after a power cut
            try:
                yield Context(db) if ctx is None else Context(db, now=ctx.now, new_id=ctx.new_id)
            finally:
                db.close()
        except DatabaseFull as error:
            raise DatabaseFull(
                f"It is tried in a copy of the database, for which there is no room in {os.path.dirname(folder)}.",
                hint="Free some space there, or name a folder on another disk before the command: TMPDIR=/another/disk",
            ) from error
