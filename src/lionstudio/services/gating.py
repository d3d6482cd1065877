"""The human gate: a person accepts or refuses a play, in its files and in the database alike.

Files are the authored truth, so they are written first, within the transaction: if they cannot be, nothing changes, and
if the database fails after them, bringing the show in again heals it.
"""

import os
from typing import Any, NamedTuple

from lionstudio.domain.audit import AdminEvent
from lionstudio.domain.errors import InvalidContent
from lionstudio.domain.gating import judge_play as status_after
from lionstudio.domain.show import Play, PlayStatus, Show
from lionstudio.domain.show_files import META, VERDICT, check_name, parse_object, render_object, render_verdict
from lionstudio.domain.show_sync import Complaint
from lionstudio.services.admin import add_event, keep_history
from lionstudio.services.confined_files import locate, read_within, write_within
from lionstudio.services.context import Context, again_if_undone
from lionstudio.services.show_pages import find_show_folder
from lionstudio.services.shows import get, get_play_of, store_play
from lionstudio.store import shows

ACTION = "gate"


class Judgement(NamedTuple):
    """What a person says of a play."""

    passed: bool
    feedback: str | None = None  # for the agent of the next attempt
    note: str | None = None  # for people


class Judged(NamedTuple):
    """What a judgement came to, or would come to."""

    before: PlayStatus
    play: Play
    files: tuple[str, ...]  # that were written, or would be, seen from the folder of the show
    complaints: tuple[Complaint, ...]  # why a file was not
    event: AdminEvent | None  # None: it was only tried


class _Draft(NamedTuple):
    """Files to write."""

    top: str  # the folder of the show, which nothing is written outside of
    folder: str
    files: dict[str, str]
    complaints: tuple[Complaint, ...] = ()


@again_if_undone
def judge_play(
    ctx: Context, root: str, topic: str, name: str, said: Judgement, *, actor: str, dry_run: bool = False
) -> Judged:
    """Accept or refuse a play; raises ShowNotFound, PlayNotFound, IllegalTransition, or Unavailable for its files."""
    if dry_run:
        with ctx.db.read() as tx:
            show = get(tx, topic)
            before = get_play_of(tx, show, name)
        after, draft = _judge(root, show, before, said)
        return Judged(before.status, after, _named(name, draft), draft.complaints, None)
    with ctx.db.write() as tx:
        show = get(tx, topic, lock=True)
        before = get_play_of(tx, show, name)
        after, draft = _judge(root, show, before, said)
        reason = "play.gate.passed" if said.passed else "play.gate.failed"
        told: dict[str, Any] = {"actor": actor, "reason": reason, "sentence": said.note or said.feedback}
        after = store_play(ctx, tx, show, before, after, **told)
        if after.status is before.status:  # accepted where it waited: a judgement all the same
            keep_history(ctx, tx, "play", after.id, before=before.status, after=after.status, at=ctx.now(), **told)
        files = _named(name, draft)
        details = {"topic": topic, "play": name, "from": before.status, "to": after.status, **said._asdict()}
        event = add_event(ctx, tx, ACTION, target_id=after.id, details={**details, "files": list(files)}, actor=actor)
        if draft.files:
            write_within(draft.top, draft.folder, draft.files)
    return Judged(before.status, after, files, draft.complaints, event)


def _judge(root: str, show: Show, before: Play, said: Judgement) -> tuple[Play, _Draft]:
    after = before._replace(
        status=status_after(before, passed=said.passed), gate_passed=said.passed, gate_feedback=said.feedback
    )
    return shows.play_as_stored(after), _draft(root, show, after, said)


def _named(name: str, draft: _Draft) -> tuple[str, ...]:
    return tuple(f"{name}/{file}" for file in draft.files)


def _draft(root: str, show: Show, play: Play, said: Judgement) -> _Draft:
    """What the files of the play have to say from now on. Where its folder is not, there is nothing to write."""
    path = os.path.join(show.show_dir, play.name)
    try:
        top = find_show_folder(root, show.show_dir)
        folder = None if top is None or check_name(play.name) is not None else locate(top, path)
    except InvalidContent as error:
        return _nothing(path, error.message)
    if top is None or folder is None or not os.path.isdir(folder):
        return _nothing(path, "This folder is not on this machine.")
    files = {VERDICT: render_verdict(gate_passed=said.passed, feedback=said.feedback, notes=said.note)}
    try:
        meta = _meta(top, folder, play.status)
    except InvalidContent as error:
        complaint = Complaint(f"{play.name}/{META}", f"{error.message} It still says the status of before.")
        return _Draft(top, folder, files, (complaint,))
    return _Draft(top, folder, files if meta is None else {**files, META: meta})


def _nothing(path: str, why: str) -> _Draft:
    return _Draft("", "", {}, (Complaint(path, f"{why} Only the database is changed."),))


def _meta(top: str, folder: str, status: PlayStatus) -> str | None:
    """The `_meta.json` with the play's new status, and all else as it is; None where it says no status."""
    text = read_within(top, os.path.join(folder, META))
    if text is None:
        return None
    found, complaint = parse_object(text)
    if complaint is not None:
        raise InvalidContent(complaint)
    return render_object({**found, "status": status}) if found.get("status") is not None else None
