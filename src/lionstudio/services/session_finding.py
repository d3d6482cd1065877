"""Which session a person means: by an id, by the beginning of one, or by a name."""

from collections.abc import Sequence

from lionstudio.domain.errors import Ambiguous, InvalidRequest, SessionNotFound
from lionstudio.domain.phrases import first_words, format_duration
from lionstudio.domain.session import Session
from lionstudio.services.context import Context
from lionstudio.services.naming import name_in, names_in
from lionstudio.store import sessions
from lionstudio.store.transaction import Tx

SHOWN_CHOICES = 5
NAMES_LOOKED_AT = 500  # of the newest sessions, for one that was mistyped
UNNAMED_LOOKED_AT = 100  # of those, whose first messages must be read


def resolve_session(ctx: Context, typed: str) -> Session:
    """The session a person means by an id, the beginning of one, or a name; raises SessionNotFound or Ambiguous."""
    if not typed.strip():  # an unset variable of a script, which must never mean a run without a name
        raise InvalidRequest("An empty text names no run.", hint="Name a run by its id; li runs ls shows them.")
    with ctx.db.read() as tx:
        session = sessions.find(tx, typed)
        if session is not None:
            return session
        named = sessions.list_by_name(tx, typed, limit=SHOWN_CHOICES + 1)
        begun = sessions.list_by_prefix(tx, typed, limit=SHOWN_CHOICES + 1)
        # A name does not win over the beginning of another id: who kills a run must not be guessed at.
        meant = list({session.id: session for session in (*named, *begun)}.values())
        if len(meant) == 1:
            return meant[0]
        choices = [_describe(ctx, tx, session) for session in meant[:SHOWN_CHOICES]]
        known = [] if meant else sessions.list_newest_names(tx, limit=NAMES_LOOKED_AT)
        shown = [_describe(ctx, tx, session) for session in _shown_as(tx, typed, known)]
    if meant:
        more = ", and more" if len(meant) > SHOWN_CHOICES else ""
        way_on = "Type the id of the one that you mean." if named else "Type more of the id."
        raise Ambiguous(f"{typed!r} may mean {', '.join(choices)}{more}.", hint=way_on)
    if shown:
        said = f"No run is called {typed!r}: lists show a run without a name by what it does."
        raise SessionNotFound(said, hint=f"Name it by its id: {', '.join(shown[:SHOWN_CHOICES])}.")
    near = _near(typed, known)
    hint = f"Did you mean {' or '.join(near)}?" if near else None
    raise SessionNotFound(f"There is no run {typed!r}.", hint=hint or "li runs ls shows the runs there are.")


def _shown_as(tx: Tx, typed: str, known: Sequence[tuple[str, str | None]]) -> list[Session]:
    """Those of the newest runs without a name that lists show by this one.

    They are told, and never taken for meant: whether there is only one could be known by reading all runs alone.
    """
    unnamed = sessions.find_many(tx, [id for id, name in known if not name][:UNNAMED_LOOKED_AT])
    names = names_in(tx, unnamed.values())
    return [session for id, session in unnamed.items() if names[id] == typed]


def _describe(ctx: Context, tx: Tx, session: Session) -> str:
    """A run among others, so that a person can tell which is meant."""
    age = format_duration(ctx.now() - session.created_at)
    name = first_words(name_in(tx, session))
    return f"{session.id} ({name}, {session.status or 'legacy'}, created {age} ago)"


def _near(typed: str, known: Sequence[tuple[str, str | None]]) -> list[str]:
    from difflib import get_close_matches

    beginnings = {id[: max(8, len(typed))]: id for id, _ in known}
    names = {name: name for _, name in known if name}
    choices = {**beginnings, **names}
    return list(dict.fromkeys(choices[match] for match in get_close_matches(typed, choices, n=3, cutoff=0.7)))
