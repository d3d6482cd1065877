"""What people call a run: one rule for every list and every sentence.

A list of named runs loads nothing for it, because starting quickly is one of our promises.
"""

from collections.abc import Iterable

from lionstudio.domain.phrases import display_name, short_id
from lionstudio.domain.session import Session
from lionstudio.services.context import Context
from lionstudio.store.transaction import Tx

NAMED_BY_FIRST = 3  # messages among which an unnamed run's instruction is looked for: a system prompt may come first


def name_of(ctx: Context, session: Session) -> str:
    """The best name people have for a run."""
    return names_of(ctx, [session])[session.id]


def names_of(ctx: Context, sessions: Iterable[Session]) -> dict[str, str]:
    """The best names people have for runs, by id."""
    with ctx.db.read() as tx:
        return {session.id: name_in(tx, session) for session in sessions}


def name_in(tx: Tx, session: Session) -> str:
    """The same within a transaction."""
    name = display_name(session)
    if name != short_id(session.id) or session.message_count == 0:
        return name
    from lionstudio.domain.conversation import MessageKind
    from lionstudio.domain.message_text import text_of
    from lionstudio.store.progressions import list_in_session

    first = list_in_session(tx, session.id, after=0, limit=NAMED_BY_FIRST)
    instruction = next((text_of(message) for message in first if message.kind is MessageKind.USER), None)
    return display_name(session, first_instruction=instruction)
