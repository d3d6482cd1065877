"""Recording a run from Python: the public SDK."""

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

from lionstudio.domain.asking import INTERACTIVE
from lionstudio.domain.drafts import require_exit_code, require_mapping, require_texts
from lionstudio.domain.reasons import require_reason_code
from lionstudio.domain.session import TERMINAL_STATUSES, InvocationKind
from lionstudio.domain.words import parse_word, unknown_word
from lionstudio.recorders import ambient
from lionstudio.recorders.branch import BranchRecorder
from lionstudio.recorders.endings import Ending, ending_of_exception, ending_of_exit_code, normal_ending
from lionstudio.recorders.keeper import Keeper
from lionstudio.recorders.recording import Recording
from lionstudio.services.context import Context, new_line
from lionstudio.services.messages import list_names
from lionstudio.services.sessions import SessionDraft
from lionstudio.settings import load_settings, path_text


class Run(BranchRecorder):
    """A recorded run: a context manager, sync or async, whose verbs write to the run's first branch."""

    def __init__(self, recording: Recording, *, name: str | None, model: str | None) -> None:
        super().__init__(recording, recording.line, name=name, model=model)

    def __repr__(self) -> str:
        return f"<Run {self.name!r} {self.session_id}>"

    @property
    def session_id(self) -> str:
        return self._line.session_id

    @property
    def env(self) -> dict[str, str]:
        """The environment for a child process that belongs to this run."""
        return {**os.environ, **ambient.child_variables(self._line)}

    def start(self) -> "Run":
        """Begin the run; the same as entering the block."""
        self._recording.begin()
        return self

    def finish(
        self,
        status: str | None = None,
        exit_code: int | None = None,
        *,
        reason: str | None = None,
        sentence: str | None = None,
    ) -> None:
        """End the run; the same as leaving the block. A second time, and in the child of a fork, it does nothing.

        `reason` is a registered code and `sentence` says it to people, where the exit code does not say enough.
        """
        if exit_code is not None:
            require_exit_code(exit_code)
        if reason is not None:
            require_reason_code(reason)
        if status is not None:
            final = sorted(TERMINAL_STATUSES)
            if status not in final:
                raise unknown_word(status, what="status that a run can end with", allowed=final)
            ending: Ending = {"status": str(status), "exit_code": exit_code}
        else:
            ending = normal_ending() if exit_code is None else ending_of_exit_code(exit_code)
        said = {"reason": reason, "sentence": sentence}
        self._recording.end({**ending, **{name: text for name, text in said.items() if text is not None}})

    def agent(
        self, name: str | None = None, *, model: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> BranchRecorder:
        """Another agent of this run: a branch that begins empty and is a fork of none."""
        return self._begin(name, model, metadata)

    def __enter__(self) -> "Run":
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._recording.end(ending_of_exception(error))

    async def __aenter__(self) -> "Run":
        await self._recording.begin_off_loop()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        await self._recording.end_off_loop(ending_of_exception(error))

    @property
    def _sender(self) -> str:
        return self._line.session_id

    def _names(self, ctx: Context) -> Sequence[str]:
        return list_names(ctx, self.session_id)


def record(
    name: str | None = None,
    *,
    kind: str = InvocationKind.AGENT.value,
    agent: str | None = None,
    model: str | None = None,
    playbook: str | None = None,
    user: str | None = None,
    artifacts_path: str | os.PathLike[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    interactive: bool = False,
    db: str | os.PathLike[str] | None = None,
) -> Run:
    """A run to record: use it as a context manager, or call `start` and `finish`.

    `interactive` says that a person sits in front of it: an answer of its agent then waits for that person.

    Raises UnknownWord for a kind that does not exist, and ForeignDatabase, when it starts, for another program's file.
    """
    draft = announce(
        name, kind=kind, agent=agent, model=model, playbook=playbook, user=user, artifacts_path=artifacts_path,
        metadata=metadata, interactive=interactive,
    )  # fmt: skip
    settings = load_settings(db=db)
    return Run(Recording(Keeper(settings, draft.line.session_id), draft), name=name, model=model)


def announce(
    name: str | None,
    *,
    kind: str = InvocationKind.AGENT.value,
    agent: str | None = None,
    model: str | None = None,
    playbook: str | None = None,
    user: str | None = None,
    artifacts_path: str | os.PathLike[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    interactive: bool = False,
) -> SessionDraft:
    """A run as its caller describes it; raises UnknownWord and InvalidRequest."""
    parse_word(InvocationKind, kind, what="kind of run")
    require_mapping("metadata", metadata)
    require_texts({"name": name, "agent": agent, "model": model, "playbook": playbook, "user": user})
    folder = path_text("artifacts_path", artifacts_path)
    return SessionDraft(
        line=new_line(),
        name=name,
        kind=kind,
        user=user,
        agent=agent,
        playbook=playbook,
        show_topic=os.environ.get(ambient.TOPIC_VARIABLE),
        show_play=os.environ.get(ambient.PLAY_VARIABLE),
        artifacts_path=None if folder is None else os.path.abspath(folder),
        branch_name="main",
        node_metadata={**(metadata or {}), INTERACTIVE: True} if interactive else metadata,
        branch_metadata={"model": model} if model else None,
    )
