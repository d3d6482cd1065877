"""Messages of runs as `li runs tail` prints them: once each, and of one that grows in place what has come to it."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from lionstudio.cli.command import Call
from lionstudio.cli.run_rows import clock_time
from lionstudio.domain.change import Topic
from lionstudio.domain.conversation import Branch, Message, MessageKind, is_tool_error
from lionstudio.domain.errors import MessageNotFound
from lionstudio.domain.message_text import text_of
from lionstudio.domain.phrases import count_of
from lionstudio.domain.printable import many_lines, one_line
from lionstudio.domain.session import InvocationKind, SessionStatus
from lionstudio.services.branches import find_own_branch, list_branches
from lionstudio.services.change_feed import read_changes
from lionstudio.services.messages import get_message
from lionstudio.services.naming import name_of
from lionstudio.services.sessions import get_session

MOST_LINES, MOST_CHARACTERS = 40, 4_000  # of one message on a terminal; --json gives all
MAY_GROW = 200  # messages: only the newest of a run are still written to
INDENT = "    "
KIND_STYLES = {
    MessageKind.USER: "person",
    MessageKind.ASSISTANT: "info",
    MessageKind.TOOL_CALL: "warning",
    MessageKind.SYSTEM: "muted",
}


class Said(NamedTuple):
    """A message, and where it was said."""

    session_id: str
    message: Message
    places: tuple[tuple[str, int], ...]  # branches, and its place among the own messages of each


class Printer:
    """Prints messages, with the name of the run and of the branch where there are several."""

    def __init__(self, call: Call, session_ids: Sequence[str]) -> None:
        self._call = call
        self._session_ids = session_ids
        self._names: dict[str, str] = {}
        if len(session_ids) > 1:
            self._names = {id: name_of(call.ctx, get_session(call.ctx, id)) for id in session_ids}
        self._branches: dict[str, Branch] = {}
        self._several: set[str] = set()  # runs that have several branches
        self._own: dict[str, str | None] = {}  # by run: the branch that --fork-from means
        self._shown: dict[str, Said] = {}  # the newest that were printed, by id
        self._last: str | None = None  # the id of what was printed last
        self.cursors: dict[str, int] = {}  # by run: the number of the change up to which it was read

    def say_beginnings(self) -> None:
        """Say of runs that go on with another one where their beginning is."""
        for session_id in () if self._call.out.as_json else self._session_ids:
            own, parent = self._own_branch(session_id), get_session(self._call.ctx, session_id).parent_session_id
            branch = None if own is None else self._branch(session_id, own)
            if branch is not None and branch.forked_at_ord and parent is not None:
                count = count_of(branch.forked_at_ord, "message")
                self._call.out.say(f"{session_id} goes on after the first {count} of {parent}: li runs tail {parent}")

    def print(self, said: Said) -> None:
        """Print a message that is new."""
        self._remember(said)
        if self._call.out.as_json:
            self._call.out.json(self._object(said))
            return
        self._call.out.say_data(self._head(said))
        self._print_lines(readable(_as_printed(said.message)))

    def print_grown(self, session_id: str) -> None:
        """Print what has come to messages that were printed before; for programs all of them again."""
        for message_id in self._overwritten(session_id):
            before = self._shown[message_id]
            try:
                now = get_message(self._call.ctx, message_id)._replace(position=before.message.position)
            except MessageNotFound:
                continue
            if now == before.message:
                continue
            said = before._replace(message=now)
            if self._call.out.as_json:
                self.print(said)
            else:
                self._print_growth(said, _as_printed(before.message), _as_printed(now))

    def _print_growth(self, said: Said, before: str, now: str) -> None:
        is_last = self._last == said.message.id
        self._remember(said)
        if now == before:  # what it consumed became known, for instance
            return
        has_grown = now.startswith(before)
        if not (is_last and has_grown):
            self._call.out.say_data(f"{self._head(said)}  {'goes on' if has_grown else 'now says'}")
        self._print_lines(readable(now[len(before) :].removeprefix("\n") if has_grown else now))

    def _overwritten(self, session_id: str) -> Iterable[str]:
        """Those of the printed messages that something was committed about since the last look."""
        found: dict[str, None] = {}
        while True:
            news = read_changes(self._call.ctx, self.cursors[session_id], session_id=session_id)
            self.cursors[session_id] = news.cursor
            if news.reload:
                return [id for id, said in self._shown.items() if said.session_id == session_id]
            if not news.changes:
                return list(found)
            found |= {
                change.entity_id: None
                for change in news.changes
                if change.topic is Topic.MESSAGE and change.entity_id in self._shown
            }

    def _remember(self, said: Said) -> None:
        self._shown.pop(said.message.id, None)
        self._shown[said.message.id] = said
        self._last = said.message.id
        if len(self._shown) > MAY_GROW * len(self._session_ids):
            del self._shown[next(iter(self._shown))]

    def _head(self, said: Said) -> str:
        out, message = self._call.out, said.message
        style = "danger" if is_tool_error(message) else KIND_STYLES.get(message.kind, "neutral")
        where = [name for name in (self._names.get(said.session_id), self._branch_name(said)) if name]
        position = self._fork_position(said)
        parts = [
            out.paint(clock_time(message.created_at, "%Y-%m-%d %H:%M:%S"), "muted"),
            *([out.paint(f":{position}", "muted")] if position is not None else []),
            out.paint(message.kind.value, style),
            *([out.paint(one_line(" / ".join(where)), "strong")] if where else []),
        ]
        return "  ".join(parts)

    def _print_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._call.out.say_data(f"{INDENT}{line}".rstrip())

    def _object(self, said: Said) -> dict[str, Any]:
        """One message for programs, whole."""
        return {
            "session_id": said.session_id,
            "branch_ids": [branch_id for branch_id, _ in said.places],
            **said.message._asdict(),
            "fork_position": self._fork_position(said),
            "kind": said.message.kind,
        }

    def _fork_position(self, said: Said) -> int | None:
        """What `li agent --fork-from RUN:POSITION` takes to keep everything up to this message; None if it cannot."""
        own = self._own_branch(said.session_id)
        for branch_id, position in said.places:
            branch = self._branch(said.session_id, branch_id) if branch_id == own else None
            if branch is not None:
                return (branch.forked_at_ord or 0) + position
        return None

    def _own_branch(self, session_id: str) -> str | None:
        """The branch that can be gone on with; a command has none."""
        if session_id not in self._own:
            session = get_session(self._call.ctx, session_id)
            is_command = session.invocation_kind is InvocationKind.COMMAND
            own = None if is_command else find_own_branch(self._call.ctx, session)
            if own is None and session.status is SessionStatus.RUNNING:
                return None  # its last step may begin yet
            self._own[session_id] = None if own is None else own.id
        return self._own[session_id]

    def _branch(self, session_id: str, branch_id: str) -> Branch | None:
        if branch_id not in self._branches:
            found = list_branches(self._call.ctx, session_id)
            self._branches |= {branch.id: branch for branch in found}
            if len(found) > 1:
                self._several.add(session_id)
        return self._branches.get(branch_id)

    def _branch_name(self, said: Said) -> str | None:
        """The name of its branch, in a run that has several; a second one is not known, and then both get names."""
        branch = self._branch(said.session_id, said.places[0][0]) if said.places else None
        return None if branch is None or said.session_id not in self._several else branch.name or branch.id


def _as_printed(message: Message) -> str:
    """What a message says; what a command printed as one reads it: without colours, and without what it wrote over."""
    text = text_of(message)
    if (message.node_metadata or {}).get("stream") is None:
        return text
    import re

    text = re.sub(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])", "", text)
    return re.sub(r"[^\n]*\r(?=[^\r\n])", "", text)


def readable(text: str) -> list[str]:
    """The lines of a text, safe to print; of a long one the beginning, and how much more there is."""
    safe = many_lines(text).removesuffix("\n")  # what a command prints ends its lines
    lines = safe[:MOST_CHARACTERS].split("\n")[:MOST_LINES]
    left = len(safe) - len("\n".join(lines))
    return [*lines, f"… {count_of(left, 'more character')}; --json gives all"] if left > 0 else lines
