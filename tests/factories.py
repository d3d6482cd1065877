"""Small things that tests build often."""

from typing import Any

from lionstudio.domain.conversation import ASSISTANT_CLASS, INSTRUCTION_CLASS, Line, MessageDraft
from lionstudio.domain.session import Session
from lionstudio.services.context import Context
from lionstudio.services.sessions import SessionDraft, start_session

NOW = 1_790_000_000.0


class Clock:
    """A clock that moves only when a test moves it."""

    def __init__(self, now: float = NOW) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def pass_seconds(self, seconds: float) -> None:
        self.now += seconds


def user_says(text: str, **more: Any) -> MessageDraft:
    return MessageDraft("user", {"instruction": text}, INSTRUCTION_CLASS, **more)


def assistant_says(text: str, **more: Any) -> MessageDraft:
    return MessageDraft("assistant", {"assistant_response": text}, ASSISTANT_CLASS, **more)


def line_of(session_id: str) -> Line:
    """Ids that read well in a failing test."""
    return Line(session_id, f"{session_id}-main", f"{session_id}-order", f"{session_id}-main-order")


def start_run(ctx: Context, session_id: str = "run-1", **more: Any) -> Session:
    """A running session; its first branch is at `line_of(session_id)`."""
    return start_session(ctx, SessionDraft(line_of(session_id), **more))
