"""What a caller hands in, checked before it goes anywhere: what waits on disk cannot be refused any more."""

from collections.abc import Mapping, Sequence
from typing import Any

from lionstudio.domain.conversation import MessageDraft
from lionstudio.domain.errors import InvalidContent, InvalidRequest

EXIT_CODES = range(-(2**31), 2**31)
TEXT_FIELDS = ("role", "lion_class", "sender", "recipient", "channel", "id")
LARGEST_ADVANCE = 24 * 3600.0  # seconds that somebody else's clock may be ahead
LARGEST_TIME = 1e12  # seconds; nobody means a moment thirty thousand years away, and browsers stop at nine times that
LARGEST_WHOLE = 2**53  # far beyond any count, and every reader and database can hold it
LARGEST_FLOAT32 = 3.4028235677973366e38  # embeddings are kept as float32


def require_texts(texts: Mapping[str, Any]) -> None:
    """Raise InvalidRequest unless every value is text or None."""
    for name, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise InvalidRequest(f"The {name} must be text, not {type(value).__name__}.")


def require_exit_code(value: Any) -> None:
    """Raise InvalidRequest unless it is a number that a process can return."""
    # The type first: looking for anything else in a range of four billion numbers would take minutes.
    if not isinstance(value, int) or value not in EXIT_CODES:
        raise InvalidRequest(f"{value!r} is not an exit code.", hint="Use the whole number that the process returned.")


def require_position(value: Any) -> None:
    """Raise InvalidRequest unless it is a place in a history, or None."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise InvalidRequest(f"{value!r} is not a position.", hint="Use a whole number: 0 begins empty.")


def require_whole_number(name: str, value: Any) -> None:
    """Raise InvalidRequest unless it is a whole number that every database can compare with."""
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > LARGEST_WHOLE:
        raise InvalidRequest(f"{name} must be a whole number, not {value!r}.", hint="Leave it out for the default.")


def require_mapping(name: str, value: Any) -> None:
    """Raise InvalidRequest unless it is a mapping, or None."""
    if value is not None and type(value) is not dict and not isinstance(value, Mapping):
        raise InvalidRequest(
            f"The {name} must be a mapping, not {type(value).__name__}.", hint=f'Write it as {name}={{"key": "value"}}.'
        )


def require_recipient(draft: MessageDraft) -> None:
    """Raise InvalidRequest unless the draft says who it is for."""
    if not draft.recipient:
        raise InvalidRequest("A message needs a recipient to be sent.", hint="Name a run, an agent or a branch.")


def require_message(draft: MessageDraft) -> MessageDraft:
    """The draft itself; raises InvalidRequest for what no database could store as it is."""
    for name in TEXT_FIELDS:
        value = getattr(draft, name)
        if value is not None and not isinstance(value, str):
            require_texts({name: value})
    if not draft.role:
        raise InvalidRequest("A message needs a role.", hint="Use user, assistant, system or action.")
    if draft.id is not None and not _is_plain(draft.id):
        raise InvalidRequest(f"{draft.id!r} cannot be an id: it holds NUL or half a character.")
    if draft.created_at is not None:
        require_time("created_at", draft.created_at)
    if draft.node_metadata is not None:
        require_mapping("node_metadata", draft.node_metadata)
    if draft.embedding is not None:
        require_vector(draft.embedding, what="An embedding")
    return draft


def is_time(value: Any) -> bool:
    """Whether it is a moment in unix seconds that a calendar can show."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST_TIME


def require_time(name: str, at: Any) -> None:
    """Raise InvalidRequest unless it is a moment in unix seconds."""
    if not is_time(at):
        raise InvalidRequest(
            f"{name} must be a number of seconds since 1970, not {at!r}.",
            hint="Times are unix seconds, not milliseconds: divide by 1000.",
        )


def require_no_future(name: str, at: float | None, *, now: float) -> None:
    """Raise InvalidRequest for a time that no clock can be wrong by: it was given in milliseconds."""
    if at is not None and at > now + LARGEST_ADVANCE:
        raise InvalidRequest(
            f"{name} lies far in the future.", hint="Times are unix seconds, not milliseconds: divide by 1000."
        )


def require_vector(vector: Sequence[float], *, what: str) -> None:
    """Raise InvalidRequest unless it is numbers that a float32 can hold, at least one."""
    try:
        # No float(): it would take text for a number, which the databases do not.
        good = len(vector) > 0 and all(-LARGEST_FLOAT32 <= number <= LARGEST_FLOAT32 for number in vector)
    except (TypeError, ValueError, ArithmeticError):
        good = False
    if not good:
        raise InvalidRequest(f"{what} must be a list of finite numbers, each within a float32, and not empty.")


def snapshot(value: Any) -> Any:
    """A copy of JSON content; raises InvalidContent if it goes in circles or too deep."""
    try:
        return _copy(value)
    except RecursionError:
        raise InvalidContent("The content is nested too deeply to be stored, or holds itself.") from None


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(child) for child in value]
    return value


def _is_plain(text: str) -> bool:
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
