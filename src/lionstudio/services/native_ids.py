"""Ids of our own for what other programs have named: always the same, whoever reads it, and however often."""

import uuid
from collections.abc import Mapping

from lionstudio.domain.session import SourceKind

NAMESPACE = uuid.UUID("0c9a1f0e-6a53-5f0b-9c56-3a1d7e5b7f21")
# Agents whose files are imported, too: what is recorded live and what is read later must become the same message.
SOURCES: Mapping[str, str] = {
    "claude": SourceKind.IMPORTED_CLAUDE.value,
    "codex": SourceKind.IMPORTED_CODEX.value,
}


def native_message_id(engine: str, session: str, native: str) -> str:
    """The id of a message that an agent has named itself, within its own conversation."""
    return _id(SOURCES.get(engine, engine), session, native)


def message_id_in(scope: str, name: str) -> str:
    """The id of a message that has a name only where it was said."""
    return _id("scope", scope, name)


def _id(*parts: str) -> str:
    # Written out with escapes: a name may hold anything, half characters and our own separator included.
    return str(uuid.uuid5(NAMESPACE, ascii(parts)))
