"""What people call a run: one rule for every list and every sentence.

A list of named runs loads nothing for it, because starting quickly is one of our promises.
"""

from collections.abc import Iterable, Mapping

from lionstudio.domain.phrases import display_name, short_id
from lionstudio.domain.session import Session
from lionstudio.services.context import Context
from lionstudio.store.transaction import Tx

LETTERS_READ = 1_000  # of a message; escapes take six letters for one
NAMED_BY_FIRST = 3  # messages among which an unnamed run's instruction is looked for: a system prompt may come first


def name_of(ctx: Context, session: Session) -> str:
    """The best name people have for a run."""
    return names_of(ctx, [session])[session.id]


def names_of(ctx: Context, sessions: Iterable[Session]) -> dict[str, str]:
    """The best names people have for runs, by id."""
    with ctx.db.read() as tx:
        return names_in(tx, sessions)


def name_in(tx: Tx, session: Session) -> str:
    """The best name of one run, within a transaction."""
    return names_in(tx, [session])[session.id]


def names_in(tx: Tx, sessions: Iterable[Session]) -> dict[str, str]:
    """The best names of runs, within a transaction."""
    names: dict[str, str] = {}
    unnamed: dict[str, Session] = {}
    for session in sessions:
        names[session.id] = display_name(session)
        if names[session.id] == short_id(session.id) and session.message_count:
            unnamed[session.id] = session
    if unnamed:
        names |= _by_instruction(tx, unnamed)
    return names


def _by_instruction(tx: Tx, unnamed: Mapping[str, Session]) -> dict[str, str]:
    """Names from what runs were told to do."""
    from lionstudio.domain.conversation import MessageKind, kind_of
    from lionstudio.domain.message_text import opening_of
    from lionstudio.store.progressions import list_beginnings

    names: dict[str, str] = {}
    for session_id, first in list_beginnings(tx, unnamed, limit=NAMED_BY_FIRST, letters=LETTERS_READ).items():
        told = [one for one in first if kind_of(one.lion_class, one.role, {}) is MessageKind.USER]
        instruction = opening_of(MessageKind.USER, told[0].content) if told else None
        names[session_id] = display_name(unnamed[session_id], first_instruction=instruction)
    return names
