"""Runs written down as if they had happened: the clock goes to a moment, then the use case is called."""

import uuid
from typing import Any, Self

from lionstudio.domain.conversation import (
    ACTION_REQUEST_CLASS,
    ACTION_RESPONSE_CLASS,
    ASSISTANT_CLASS,
    INSTRUCTION_CLASS,
    SYSTEM_CLASS,
    Line,
    MessageDraft,
)
from lionstudio.domain.process import ProcessRecord
from lionstudio.services.branches import BranchDraft, create_branch
from lionstudio.services.context import Context
from lionstudio.services.messages import append_message
from lionstudio.services.sessions import SessionDraft, finish_session, put_process, start_session
from tests.factories import Clock

MODEL = "claude/claude-sonnet-4-6"


def id_of(name: str) -> str:
    """The same id for the same name in every world."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"lionstudio:{name}"))


class BranchStory:
    """One branch of a run. Everything it says comes `step` seconds after what was said before."""

    def __init__(self, ctx: Context, clock: Clock, line: Line, *, model: str, step: float) -> None:
        self._ctx = ctx
        self._clock = clock
        self.line = line
        self.model = model
        self.step = step
        self._calls: dict[str, tuple[str, Any]] = {}

    @property
    def id(self) -> str:
        return self.line.branch_id

    def at(self, when: float) -> Self:
        """Go on at another moment."""
        self._clock.now = when
        return self

    def after(self, seconds: float) -> Self:
        """Go on a while later."""
        self._clock.now += seconds
        return self

    def system(self, text: str) -> str:
        return self._say("system", {"system_message": text}, SYSTEM_CLASS)

    def user(self, text: str) -> str:
        return self._say("user", {"instruction": text}, INSTRUCTION_CLASS)

    def assistant(self, text: str, *, read: int = 1_800, wrote: int = 260, cached: int = 9_000) -> str:
        usage = {
            "input_tokens": read,
            "cache_read_tokens": cached,
            "output_tokens": wrote,
            "cost_usd": round(read * 3e-6 + cached * 3e-7 + wrote * 15e-6, 6),
        }
        metadata = {"model": self.model, "usage": usage}
        return self._say("assistant", {"assistant_response": text}, ASSISTANT_CLASS, metadata)

    def call(self, tool: str, **arguments: Any) -> str:
        called = self._say("action", {"function": tool, "arguments": arguments}, ACTION_REQUEST_CLASS)
        self._calls[called] = tool, arguments
        return called

    def result(self, called: str, output: Any, *, error: object = None) -> str:
        tool, arguments = self._calls[called]
        content = {"function": tool, "arguments": arguments, "output": output, "action_request_id": called}
        return self._say("action", content | ({"error": error} if error else {}), ACTION_RESPONSE_CLASS)

    def tool(self, tool: str, output: Any, *, error: object = None, took: float = 2.0, **arguments: Any) -> str:
        """A call and its result."""
        called = self.call(tool, **arguments)
        self._clock.now += max(0.0, took - self.step)
        return self.result(called, output, error=error)

    def fork(self, name: str, *, at: int | None = None, model: str | None = None) -> "BranchStory":
        """A branch that begins with the first `at` messages of this one."""
        branch_id = id_of(f"{self.line.session_id}/{name}")
        line = self.line._replace(branch_id=branch_id, branch_progression_id=f"{branch_id}-order")
        model = model or self.model
        draft = BranchDraft(
            line, name=name, parent_branch_id=self.id, forked_at_ord=at, node_metadata={"model": model},
        )  # fmt: skip
        create_branch(self._ctx, draft)
        return BranchStory(self._ctx, self._clock, line, model=model, step=self.step)

    def _say(self, role: str, content: Any, lion_class: str, metadata: dict[str, Any] | None = None) -> str:
        self._clock.now += self.step
        return append_message(self._ctx, self.line, MessageDraft(role, content, lion_class, node_metadata=metadata))


class RunStory(BranchStory):
    """A run, told from its beginning."""

    @property
    def session_id(self) -> str:
        return self.line.session_id

    def process(self, process: ProcessRecord) -> Self:
        put_process(self._ctx, process._replace(session_id=self.session_id))
        return self

    def end(self, status: str = "completed", *, exit_code: int | None = None, reason: str | None = None) -> None:
        self._clock.now += self.step
        finish_session(self._ctx, self.session_id, status, exit_code=exit_code, reason=reason)


class Teller:
    """Tells runs into one database."""

    def __init__(self, ctx: Context, clock: Clock) -> None:
        self.ctx = ctx
        self.clock = clock
        self.told: dict[str, str] = {}  # ids by name

    def run(
        self, name: str, *, at: float, model: str = MODEL, step: float = 4.0, branch: str = "main", **facts: Any
    ) -> RunStory:
        """A run that began at a moment; it goes on in the first branch."""
        self.clock.now = at
        session_id = id_of(name)
        line = Line(session_id, f"{session_id[:23]}-b", f"{session_id}-order", f"{session_id}-main-order")
        facts = {"name": name, "kind": "agent", "branch_metadata": {"model": model}, "branch_name": branch, **facts}
        start_session(self.ctx, SessionDraft(line, **facts))
        self.told[name] = session_id
        return RunStory(self.ctx, self.clock, line, model=model, step=step)
