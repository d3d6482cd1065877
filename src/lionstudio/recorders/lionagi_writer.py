"""What was heard of a lionagi session, written into a run: in one thread, in the order it was heard."""

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from lionstudio.domain.conversation import ACTION_REQUEST_CLASS, Branch, Line, MessageDraft
from lionstudio.domain.errors import Invalid, NotFound, Unavailable
from lionstudio.domain.lionagi_envelope import LIONAGI
from lionstudio.domain.lionagi_live import Spans, as_json, spans_of
from lionstudio.domain.lionagi_messages import message_draft, with_model
from lionstudio.domain.lionagi_sessions import BranchDraft as Told
from lionstudio.domain.lionagi_sessions import branch_draft, known_beginning, shared_beginning
from lionstudio.recorders import records
from lionstudio.recorders.keeper import Keeper
from lionstudio.recorders.lionagi_facts import Place, facts_of
from lionstudio.recorders.lionagi_objects import Seen
from lionstudio.services.branches import BranchDraft, create_branch
from lionstudio.services.context import new_id
from lionstudio.services.describing import describe_branch, describe_session
from lionstudio.services.import_parts import order_id
from lionstudio.services.lionagi import SPANS, find_history
from lionstudio.services.messages import append_message, get_message
from lionstudio.services.open_calls import close_call, open_call

Source = Mapping[str, Any]
OF_OTHERS = 0  # the version of a message that another branch has said: that one keeps it up to date


class Running(NamedTuple):
    """A tool that was seen at work, before lionagi says anything of its call."""

    id: str
    function: str
    arguments: str


class Followed:
    """A branch that is recorded, and what of it is stored."""

    def __init__(self) -> None:
        self.place: Place | None = None  # None until the branch is stored
        self.stored: dict[str, int] = {}  # its whole history in our order; of each message, which version of it
        self.copies: Mapping[str, str] = {}  # which of its messages are copies, and of which others
        self.length = 0  # how many messages it had when it was last heard
        self.early: list[Source] = []  # said before the branch was stored
        self.running: list[Running] = []
        self.model: str | None = None
        self.facts: Mapping[str, Any] = {}
        self.spans: Spans | None = None


class Writer:
    """Writes branches and messages: each once, and again where it has changed."""

    def __init__(self, keeper: Keeper, session_id: str) -> None:
        self._keeper = keeper
        self._session_id = session_id
        self._branches: dict[str, Followed] = {}  # by the id that lionagi gives a branch

    @property
    def branch_ids(self) -> dict[str, str]:
        """Our ids of what was written, by lionagi's."""
        return {name: one.place.line.branch_id for name, one in self._branches.items() if one.place is not None}

    def place(self, told: Told) -> Place:
        """Where a branch belongs. One that another run has recorded goes on there, under another id."""
        again = self._find(told.id, told.order)
        if again is not None:
            branch, history = again
            # All that is stored of it, also where it has forgotten some of that since or begins with another message.
            place = _inheriting(self._line(new_id()), branch.id, history, known_beginning(told.order, history))
            return place._replace(goes_on=True, parent_session_id=branch.session_id)
        line = self._line(told.id)
        if told.parent_branch_id is None:
            return Place(line)
        parent = self._branches.get(told.parent_branch_id)
        if parent is not None and parent.place is not None:
            history = list(parent.stored)
            return _inheriting(line, parent.place.line.branch_id, history, shared_beginning(told.order, history))
        elsewhere = self._find(told.parent_branch_id, told.order)
        if elsewhere is None:
            return Place(line)
        branch, history = elsewhere
        return _inheriting(line, branch.id, history, shared_beginning(told.order, history))

    def add(self, followed: Followed, seen: Seen, *, first: Place | None = None) -> None:
        """Write a branch with everything in it; `first` is the place of the one that the run began with."""
        told = branch_draft(seen.source, originals=seen.copies)
        place = first or self.place(told)
        followed.facts = facts_of(told, place, seen.known_of)
        followed.model = _model_of(followed.facts)
        if first is None:
            draft = BranchDraft(
                place.line,
                name=told.name,
                user=told.user,
                parent_branch_id=place.parent_branch_id,
                forked_at_ord=place.forked_at_ord,
                node_metadata=followed.facts,
                created_at=time.time(),
            )
            self._keeper.write(create_branch, draft, record=lambda: records.branch_record(draft))
        followed.place = place
        self._branches[told.id] = followed
        self._fill(followed, told, seen)
        for source in followed.early:
            self.say(followed, source)
        followed.early.clear()
        self.keep_order(followed, seen.order)

    def _fill(self, followed: Followed, told: Told, seen: Seen) -> None:
        """Write what a branch holds when it is first seen. What it has of others gets its place in it: no copies."""
        assert followed.place is not None
        followed.stored = dict.fromkeys(followed.place.inherits, OF_OTHERS)
        sources = dict(zip(seen.order, seen.messages, strict=True))
        inherited = {draft.id: draft for draft in told.inherited}
        for name in told.order:
            if name in followed.stored:
                continue
            if name in inherited:
                self._append(followed.place.line, self._find_message(name) or inherited[name])
                followed.stored[name] = OF_OTHERS
            else:
                self.say(followed, sources[name])

    def say(self, followed: Followed, source: Source) -> None:
        """Write a message, unless just this is stored already."""
        message_id, version = str(source["id"]), version_of(source)
        if followed.place is None:
            followed.early.append(source)
            return
        if message_id in followed.copies or followed.stored.get(message_id) in (version, OF_OTHERS):
            return
        draft = with_model(message_draft(source), followed.model)
        if message_id not in followed.stored and draft.lion_class == ACTION_REQUEST_CLASS:
            self._close_running(followed, draft.content)
        self._append(followed.place.line, draft)
        followed.stored[message_id] = version

    def keep_order(self, followed: Followed, live: Sequence[str]) -> None:
        """Keep which of the stored messages a branch still has, and in which order, where that is not all of them."""
        if followed.place is None:
            return
        names = dict.fromkeys(followed.copies.get(name, name) for name in live)
        spans = spans_of(list(followed.stored), list(names))
        if spans != followed.spans:
            followed.spans = spans
            self._describe(followed)

    def describe(self, followed: Followed, seen: Seen) -> None:
        """Keep what has become of a branch: its agent, its own metadata."""
        if followed.place is not None:
            told = branch_draft(seen.source, originals=seen.copies)
            followed.facts = facts_of(told, followed.place, seen.known_of)
            self._describe(followed)

    def describe_session(self, facts: Mapping[str, Any]) -> None:
        session_id = self._session_id
        self._keeper.write(
            describe_session, session_id, facts, record=lambda: records.session_facts_record(session_id, facts)
        )

    def open_call(self, followed: Followed, function: str, arguments: str, at: float) -> None:
        """Show that a tool runs: lionagi tells of a call only when it has its result."""
        if followed.place is None:
            return
        line, running = followed.place.line, Running(new_id(), function, arguments)
        followed.running.append(running)
        self._keeper.write(
            open_call, line, running.id, function, at,
            record=lambda: records.open_call_record(line, running.id, function, at),
        )  # fmt: skip

    def close_calls(self, followed: Followed) -> None:
        """Nothing is at work any more that was seen to begin."""
        while followed.running:
            self._close(followed, followed.running[0])

    def _close_running(self, followed: Followed, content: Any) -> None:
        """The call of a tool that was seen at work is told: of several of one name, that with the same arguments."""
        function, arguments = content.get("function"), repr(content.get("arguments"))
        ours = [running for running in followed.running if running.function == function]
        same = [running for running in ours if running.arguments == arguments]
        for running in (same or ours)[:1]:
            self._close(followed, running)

    def _close(self, followed: Followed, running: Running) -> None:
        assert followed.place is not None
        line = followed.place.line
        followed.running.remove(running)
        self._keeper.write(close_call, line, running.id, record=lambda: records.close_call_record(line, running.id))

    def _find_message(self, message_id: str) -> MessageDraft | None:
        with suppress(NotFound, Unavailable):
            message = get_message(self._keeper.ctx, message_id)
            return MessageDraft(**{name: getattr(message, name) for name in MessageDraft._fields})
        return None

    def _append(self, line: Line, draft: MessageDraft) -> None:
        at = time.time()

        def write(draft: MessageDraft) -> None:
            self._keeper.write(append_message, line, draft, at, record=lambda: records.message_record(line, draft, at))

        try:
            write(draft)
        except Invalid:  # nested too deep, for instance
            write(draft._replace(content=as_json(draft.content), node_metadata=as_json(draft.node_metadata)))

    def _describe(self, followed: Followed) -> None:
        assert followed.place is not None
        line = followed.place.line
        envelope = {**followed.facts.get(LIONAGI, {}), SPANS: followed.spans}
        facts = {**followed.facts, LIONAGI: envelope}
        self._keeper.write(describe_branch, line, facts, record=lambda: records.describe_record(line, facts))

    def _find(self, branch_id: str, order: Sequence[str]) -> tuple[Branch, list[str]] | None:
        """A branch that is in the database, and its history; None where that cannot be known now.

        Of several runs that recorded it, the one that has most of these messages.
        """
        with suppress(Unavailable):
            return find_history(self._keeper.ctx, branch_id, order)
        return None

    def _line(self, branch_id: str) -> Line:
        return Line(self._session_id, branch_id, order_id(self._session_id), order_id(branch_id))


def _inheriting(line: Line, branch_id: str, history: Sequence[str], begin: int) -> Place:
    return Place(line, branch_id, begin, tuple(history[:begin]))


def version_of(source: Source) -> int:
    """A number by which two versions of a message differ, never that of others."""
    return hash(repr(source)) or 1


def _model_of(facts: Mapping[str, Any]) -> str | None:
    model = facts.get("model")
    return model if isinstance(model, str) else None
