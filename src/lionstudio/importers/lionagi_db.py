"""A lionagi state.db in: runs with their branches and messages, then what refers to them (R46).

It is read as it is in one moment, whatever tables and columns it has; `domain.lionagi_rows` says what fills the gaps.
A second time only what is new changes anything.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from lionstudio.domain.errors import Invalid, InvalidContent, InvalidRequest
from lionstudio.domain.lionagi_messages import message_draft
from lionstudio.domain.lionagi_rows import (
    Fork,
    branch_source,
    collection_of,
    fork_of,
    message_source,
    plain_text,
    session_of,
    session_source,
)
from lionstudio.domain.lionagi_sessions import session_draft
from lionstudio.domain.phrases import count_of
from lionstudio.importers.lionagi_db_groups import import_shows, import_teams
from lionstudio.importers.lionagi_db_history import import_history
from lionstudio.importers.report import ADDED, UPDATED, ImportReport, Problem, StrangeStatuses
from lionstudio.services.context import Context
from lionstudio.services.foreign import ForeignFile, ForeignRow
from lionstudio.services.import_parts import first_branch_id
from lionstudio.services.imports import BranchImport, SessionImport, import_messages, import_sessions
from lionstudio.services.lionagi import session_import

READ_TABLES = frozenset(
    {"sessions", "branches", "messages", "message_types", "progressions", "shows", "plays", "teams", "team_messages",
     "status_transitions"}
)  # fmt: skip
MESSAGES_AT_ONCE = 5_000
Step = Callable[[int], None]


def import_lionagi_db(
    ctx: Context, source: ForeignFile, *, shows_root: str, step: Step = lambda done: None
) -> ImportReport:
    """Bring in everything that a file holds and we have a place for; raises InvalidRequest if it holds no such thing.

    `shows_root` is where the folder of a show is that does not say; `step` is told how many runs are done.
    """
    if not READ_TABLES & source.tables.keys():
        raise InvalidRequest(
            f"{source.path} has none of the tables of a lionagi database.", hint="Name the state.db of lionagi."
        )
    runs = _Runs(source, at=ctx.now())
    imported = import_sessions(ctx, runs.read(step))
    problems = runs.problems + [Problem(f"sessions {one.session_id}", one.message) for one in imported.problems]
    known_as = dict(imported.known_as)
    free = _import_free_messages(ctx, runs, problems)
    counts = {
        "runs": runs.count,
        f"runs {ADDED}": imported.sessions_added,
        f"runs {UPDATED}": imported.sessions_completed,
        f"messages {ADDED}": imported.messages_added + free,
        **import_shows(ctx, source, problems, shows_root=shows_root, known_as=known_as),
        **import_teams(ctx, source, problems, known_as=known_as),
    }
    steps, without_place = import_history(ctx, source, problems, known_as=known_as)
    counts[f"steps of histories {ADDED}"] = steps
    return ImportReport(counts, tuple(problems), runs.statuses.notes + _left_out(source, without_place))


def _left_out(source: ForeignFile, steps: int) -> tuple[str, ...]:
    """What there is no place for here: how another installation is set up, and what was done in it."""
    others = source.tables.keys() - READ_TABLES - {"schema_meta"}
    counts = {table: source.count(table) for table in others} | {"status_transitions": steps}
    found = [f"{table} ({count:,})" for table, count in sorted(counts.items()) if count]
    return (f"Not brought in, because there is no place for it here: {', '.join(found)}.",) if found else ()


class _Branch(NamedTuple):
    """A branch as its rows tell it: which messages it holds itself, and what it inherits from where."""

    row: ForeignRow
    order: tuple[str, ...]
    fork: Fork | None = None  # within the same session


class _Runs:
    """Reads sessions with everything in them, one after the other, and remembers what was wrong."""

    def __init__(self, source: ForeignFile, *, at: float) -> None:
        self.source = source
        self.at = at
        self.problems: list[Problem] = []
        self.count = 0
        self.statuses = StrangeStatuses()
        self.classes = {row.get("type_id"): str(row.get("lion_class")) for row in source.rows("message_types")}

    def read(self, step: Step) -> Iterator[SessionImport]:
        nameless = self.source.count_without_id("sessions")
        if nameless:
            self.problems.append(
                Problem("sessions", f"{count_of(nameless, 'row has', 'rows have')} no id that can be used.")
            )
        for row in self._rows():
            step(self.count)
            self.count += 1
            try:
                found = self._import_of(row)
            except InvalidContent as error:
                self.problems.append(Problem(f"sessions {row['id']}", error.message))
            else:
                self.statuses.add(found.session)
                yield found

    def _rows(self) -> Iterator[ForeignRow]:
        """Oldest first, so that a run comes after the one that started it."""
        yield from self.source.rows_by_id("sessions", self.source.ids("sessions", "created_at", "id"))
        yield from ({"id": session_id} for session_id in self.source.lost_session_ids())

    def _import_of(self, row: ForeignRow) -> SessionImport:
        rows = self.source.rows_where("branches", "session_id", row["id"], "created_at", "id")
        branches = [self._branch(one, within=rows) for one in rows if one.get("id") is not None]
        branches += self._rest(row, branches)
        messages = self._messages(branches)
        sources = [self._branch_source(branch, messages) for branch in branches]
        found = session_import(session_draft(session_source(row, sources)), at=self.at)
        forks = {str(branch.row["id"]): branch.fork for branch in branches if branch.fork is not None}
        parts = [_with_fork(part, forks.get(part.branch.id)) for part in found.branches]
        said = [draft.created_at for part in parts for draft in part.messages if draft.created_at is not None]
        session = session_of(row, found.session, said=said)
        own = row.get("progression_id")
        if isinstance(own, str):
            session = session._replace(progression_id=own)
        return SessionImport(session, parts, known_by_branch=True, alias=plain_text(row, "run_id"))

    def _branch(self, row: ForeignRow, *, within: Sequence[ForeignRow]) -> _Branch:
        order = self._order(row.get("progression_id"))
        fork = fork_of(row)
        if fork is not None and not any(str(one.get("id")) == fork.parent_branch_id for one in within):
            return _Branch(row, self._history(fork, seen={row["id"]}) + order)  # nothing to share it with
        return _Branch(row, order, fork)

    def _history(self, fork: Fork, seen: set[Any]) -> tuple[str, ...]:
        """What a branch inherits from one of another session."""
        parent = next(self.source.rows_by_id("branches", [fork.parent_branch_id]), None)
        if parent is None or parent["id"] in seen:
            return ()
        before = fork_of(parent)
        inherited = () if before is None else self._history(before, seen | {parent["id"]})
        return (inherited + self._order(parent.get("progression_id")))[: fork.at]

    def _rest(self, row: ForeignRow, branches: Iterable[_Branch]) -> list[_Branch]:
        """A branch for what only the session itself holds."""
        held = {id for branch in branches for id in branch.order}
        left = tuple(id for id in self._order(row.get("progression_id")) if id not in held)
        if not left:
            return []
        branch_id = first_branch_id(str(row["id"]))
        return [_Branch({"id": branch_id, "created_at": row.get("created_at"), "name": "main"}, left)]

    def _order(self, progression_id: Any) -> tuple[str, ...]:
        row = next(self.source.rows_by_id("progressions", [progression_id]), None) if progression_id else None
        if row is None:
            return ()
        order = collection_of(row)
        if order is None:
            self._complain(f"progressions {progression_id}", "Its collection is no list.")
        return order or ()

    def _messages(self, branches: Iterable[_Branch]) -> dict[str, Mapping[str, Any]]:
        """Every message of a session, by its id; what is missing is a problem of the progression that names it."""
        wanted = dict.fromkeys(id for branch in branches for id in branch.order)
        wanted |= dict.fromkeys(str(id) for branch in branches if (id := branch.row.get("system_msg_id")) is not None)
        found = {str(row["id"]): self.message(row) for row in self.source.rows_by_id("messages", wanted)}
        for branch in branches:
            missing = sum(id not in found for id in branch.order)
            if missing:
                place = f"progressions {branch.row.get('progression_id')}"
                self._complain(place, f"Of {count_of(len(branch.order), 'message')} {missing:,} cannot be found.")
        return found

    def message(self, row: ForeignRow) -> Mapping[str, Any]:
        return message_source(row, self.classes)

    def _branch_source(self, branch: _Branch, messages: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
        order = [id for id in branch.order if id in messages]
        system = str(branch.row.get("system_msg_id"))
        if system in messages and system not in order and branch.fork is None:
            order.insert(0, system)
        return branch_source(branch.row, [messages[id] for id in order], order)

    def _complain(self, where: str, message: str) -> None:
        problem = Problem(where, message)
        if problem not in self.problems[-3:]:  # a session's order is often its branch's too
            self.problems.append(problem)


def _with_fork(part: BranchImport, fork: Fork | None) -> BranchImport:
    if fork is None or part.branch.parent_branch_id is not None:
        return part
    return part._replace(branch=part.branch._replace(parent_branch_id=fork.parent_branch_id, forked_at_ord=fork.at))


def _import_free_messages(ctx: Context, runs: _Runs, problems: list[Problem]) -> int:
    """Messages that stand in no session (R33)."""
    added = 0
    rows = runs.source.rows_by_id("messages", runs.source.unheld_message_ids())
    while page := list(islice(rows, MESSAGES_AT_ONCE)):
        drafts = [message_draft(runs.message(row)) for row in page]
        drafts = [draft._replace(created_at=runs.at) if draft.created_at is None else draft for draft in drafts]
        try:
            added += import_messages(ctx, drafts)
        except Invalid:  # one of them; the others get in one by one
            for draft in drafts:
                try:
                    added += import_messages(ctx, [draft])
                except Invalid as error:
                    problems.append(Problem(f"messages {draft.id}", error.message))
    return added
