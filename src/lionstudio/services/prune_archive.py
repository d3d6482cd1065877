"""The archive of a prune: everything it will delete, in a file that was read back before anything is deleted."""

import errno
import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256

from lionstudio import machine
from lionstudio.domain.errors import AlreadyExists, Conflict, DatabaseFull, Unavailable
from lionstudio.domain.json_text import from_json, to_json
from lionstudio.services.context import Context
from lionstudio.services.exporting import export_lines
from lionstudio.services.prune import Archive, PrunePlan

PART = ".part"  # the name of the file until it is whole


def archive_plan(
    ctx: Context, plan: PrunePlan, path: str, *, on_progress: Callable[[int, int], None] | None = None
) -> Archive:
    """Write the runs that a plan deletes as JSON lines, on disk for good, and compare what is there with the plan.

    Raises AlreadyExists rather than overwrite a file, DatabaseFull or Unavailable when it cannot be written, and
    Conflict when it does not hold all that would be deleted; then nothing is left there.
    """
    path = os.path.abspath(path)
    part = path + PART
    if os.path.lexists(path):
        raise AlreadyExists(f"{path} is there already, and an archive overwrites nothing.", hint="Name another file.")
    try:
        written = _write(part, _lines(ctx, plan, on_progress))
        lengths = _read_back(part, written, plan)
        os.link(part, path)  # unlike a rename, it takes nobody's place
        machine.sync_folder(os.path.dirname(path))
    except FileExistsError as error:
        raise AlreadyExists(f"{error.filename or path} is there already.", hint="Name another file.") from error
    except OSError as error:
        family = DatabaseFull if error.errno == errno.ENOSPC else Unavailable
        raise family(f"The archive {path} cannot be written ({error.strerror}). Nothing was deleted.") from error
    finally:
        with suppress(OSError):
            os.unlink(part)
    return Archive(path, lengths)


def _lines(ctx: Context, plan: PrunePlan, on_progress: Callable[[int, int], None] | None) -> Iterator[bytes]:
    ids = plan.session_ids
    for number, session_id in enumerate(ids, 1):
        for line in export_lines(ctx, [session_id]):
            yield to_json(line, what="archive").encode() + b"\n"
        if on_progress is not None:
            on_progress(number, len(ids))


def _write(path: str, lines: Iterator[bytes]) -> str:
    """Write a new file that only its owner may read, on disk for good; the hash of what was written."""
    digest = sha256()
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        for line in lines:
            digest.update(line)
            file.write(line)
        file.flush()
        os.fsync(file.fileno())
    return digest.hexdigest()


def _read_back(path: str, written: str, plan: PrunePlan) -> dict[str, int]:
    """The number of messages of each run in the file; raises Conflict if something of the plan is missing in it."""
    digest, found = sha256(), Counter[str]()
    lengths: dict[str, int] = {}
    messages: set[str] = set()
    with open(path, "rb") as file:
        for line in file:
            digest.update(line)
            entry = from_json(line.decode())
            found[entry["type"]] += 1
            match entry["type"]:
                case "session":
                    lengths[entry["id"]] = 0
                case "message":
                    lengths[entry["session_id"]] += 1
                    messages.add(entry["id"])
    expected = plan.removed
    whole = (
        digest.hexdigest() == written
        and found["session"] == len(lengths) == expected.sessions
        and found["branch"] >= expected.branches
        and len(messages) >= expected.messages  # more: what other runs hold too is archived, and stays
    )
    if not whole:
        raise Conflict(
            f"The archive would hold {found['session']:,} runs, {found['branch']:,} branches and {len(messages):,} "
            f"messages where {expected.sessions:,}, {expected.branches:,} and {expected.messages:,} go. "
            "Nothing was deleted.",
            hint="Somebody may be writing to these runs; try again.",
        )
    return lengths
