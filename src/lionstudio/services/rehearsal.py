"""Doing something without keeping it: a dry run is the very same code, and what it says is what then happens."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from lionstudio.domain.errors import NoDatabaseYet
from lionstudio.services.context import Context, open_context
from lionstudio.settings import Settings
from lionstudio.store.open import open_database
from lionstudio.store.rehearsal import Rehearsal, rehearse


@contextmanager
def open_rehearsal(settings: Settings, *, whole: bool = False) -> Iterator[Context]:
    """The database that the settings name, to try things in; where there is none yet, an empty one, then forgotten.

    `whole` is for what reads again what it wrote: all of it is one transaction, for which other writers wait.
    """
    try:
        database = open_context(settings, create=False).db
    except NoDatabaseYet:
        with tempfile.TemporaryDirectory(prefix="lionstudio-") as folder:
            scratch = Context(open_database(os.path.join(folder, "state.db")))
            try:
                yield scratch
            finally:
                scratch.db.close()
        return
    try:
        with rehearse(database) if whole else nullcontext(Rehearsal(database)) as trial:
            yield Context(trial)
    finally:
        database.close()
