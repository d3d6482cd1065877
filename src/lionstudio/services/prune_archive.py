"""The archive of a prune: everything it will delete, in a file that was read back before anything is deleted."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256

from lionstudio.domain.errors import Conflict
from lionstudio.domain.json_text import from_json, to_json
from lionstudio.domain.phrases import count_of
from lionstudio.services.context import Context
from lionstudio.services.exporting import export_lines
from lionstudio.services.prune import Archive, PrunePlan
from lionstudio.services.whole_file import whole_file


def archive_plan(
    ctx: Context, plan: PrunePlan, path: str, *, on_progress: Callable[[int, int], None] | None = None
) -> Archive:
    """Write the runs that a plan deletes as JSON lines, on disk for good, and compare what is there with the plan.

    Raises what `whole_file` raises when it cannot be written, and Conflict when it does not hold all that would be
    deleted; then nothing is left there.
    """
    path = os.path.abspath(os.path.expanduser(path))
    with whole_file(path) as draft:
        written = _write(draft, _lines(ctx, plan, on_progress))
        lengths = _read_back(draft, written, plan)
    return Archive(path, lengths)


def _lines(ctx: Context, plan: PrunePlan, on_progress: Callable[[int, int], None] | None) -> Iterator[bytes]:
    ids = plan.session_ids
    for number, session_id in enumerate(ids, 1):
        for line in export_lines(ctx, [session_id]):
            yield to_json(line, what="archive").encode() + b"\n"
        if on_progress is not None:
            on_progress(number, len(ids))


def _write(path: str, lines: Iterator[bytes]) -> str:
    """Write a file, on disk for good; the hash of what was written."""
    digest = sha256()
    with open(path, "wb") as file:
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
            f"The archive would hold {count_of(found['session'], 'run')}, "
            f"{count_of(found['branch'], 'branch', 'branches')} and {count_of(len(messages), 'message')} "
            f"where {expected.sessions:,}, {expected.branches:,} and {expected.messages:,} go. "
            "Nothing was deleted.",
            hint="Somebody may be writing to these runs; try again.",
        )
    return lengths
