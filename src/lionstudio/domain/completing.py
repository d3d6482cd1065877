"""What a second source adds to a run that another one brought in before.

The order in which sources come must not decide what is known in the end. So one of them is believed, where both say
something else: a database knows more of a run than its folder does. What the other one says fills the gaps.
"""

from collections.abc import Mapping
from typing import Any

from lionstudio.domain.conversation import Branch
from lionstudio.domain.lionagi_envelope import LIONAGI, ORIGINAL
from lionstudio.domain.session import RUN_ACTOR, TERMINAL_STATUSES, Session, SourceKind

_RANKS = {SourceKind.IMPORTED_FS: 1, SourceKind.IMPORTED_DB: 2}
_FACTS = (
    "name", "user", "started_at", "invocation_kind", "playbook_name", "agent_name", "show_topic", "show_play_name",
    "artifacts_path",
)  # fmt: skip
_END = ("status", "ended_at", "exit_code", "end_actor", "end_reason")


def completed_session(known: Session, told: Session) -> Session:
    """A known session with what a source adds to it. What was recorded live, its recorder knew better."""
    if known.source_kind not in _RANKS or told.source_kind not in _RANKS:
        return known
    believed = _is_believed(told, over=known)
    first, second = (told, known) if believed else (known, told)
    facts = {name: _either(first, second, name) for name in _FACTS}
    metadata = _joined(first.node_metadata, second.node_metadata)
    after = known._replace(**facts, node_metadata=metadata, source_kind=first.source_kind, created_at=first.created_at)
    return after._replace(**_end_of(known, told, believed=believed))


def completed_branch(known: Branch, told: Branch, *, believed: bool) -> Branch:
    """A known branch with what a source adds to it; `believed` says that this source knows more of its run."""
    first, second = (told, known) if believed else (known, told)
    facts = {name: _either(first, second, name) for name in ("name", "user")}
    metadata = _joined(first.node_metadata, second.node_metadata)
    return known._replace(**facts, created_at=first.created_at, node_metadata=metadata)


def is_believed(told: Session, *, over: Session) -> bool:
    """Whether a source knows more of a run than the one that brought it in."""
    return over.source_kind in _RANKS and told.source_kind in _RANKS and _is_believed(told, over=over)


def _is_believed(told: Session, *, over: Session) -> bool:
    assert told.source_kind is not None
    assert over.source_kind is not None
    return _RANKS[told.source_kind] > _RANKS[over.source_kind]


def _end_of(known: Session, told: Session, *, believed: bool) -> dict[str, Any]:
    """How the run ended. An operator's word stays, and so does an end that the other source does not know of yet."""
    kept = {name: getattr(known, name) for name in _END}
    if told.status not in TERMINAL_STATUSES or known.end_actor not in (None, RUN_ACTOR):
        return kept
    if known.status is told.status:
        first, second = (told, known) if believed else (known, told)
        return {name: _either(first, second, name) for name in _END}
    if known.status is None or (believed and known.status in TERMINAL_STATUSES):
        return {name: getattr(told, name) for name in _END}
    return kept  # what runs is ended in a step of its own


def _either(first: Any, second: Any, name: str) -> Any:
    value = getattr(first, name)
    return getattr(second, name) if value is None else value


def _joined(first: Mapping[str, Any] | None, second: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """Both metadata, the first before the second; so, too, what was put into them on the way."""
    if not first or not second:
        return first or second
    joined = {**second, **first}
    for name in (LIONAGI, ORIGINAL):
        both = [told[name] for told in (second, first) if isinstance(told.get(name), Mapping)]
        if len(both) == 2:
            joined[name] = {**both[0], **both[1]}
    return joined
