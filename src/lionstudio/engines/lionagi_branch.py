"""One conversation with a lionagi branch: its model, what was said before, its tools, and what it says."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

from lionagi import Branch, iModel
from lionagi.agent.hooks import guard_destructive, guard_paths
from lionagi.config import settings
from lionagi.protocols.generic.element import Element
from lionagi.protocols.messages import (
    ActionRequest,
    ActionResponse,
    AssistantResponse,
    Instruction,
    MessageManager,
    System,
)
from lionagi.service.connections.registry import EndpointRegistry
from lionagi.service.providers import PROVIDER_EFFORT_KWARG
from lionagi.tools.coding import ALL_CODING_TOOLS, CodingToolkit

from lionstudio.domain.conversation import Message, MessageKind
from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.lionagi_messages import message_dict, message_draft, with_model, without_class
from lionstudio.domain.message_text import text_of
from lionstudio.domain.words import unknown_word
from lionstudio.engines.engine import Begun, Noise, Said, Task, Tell, Verdict
from lionstudio.engines.lionagi_commands import Commands
from lionstudio.recorders.lionagi_hooks import Ear, listen_to_branch
from lionstudio.recorders.lionagi_objects import message_source

OWN_SERVER = "openai"  # what a server that speaks OpenAI's language is called as
NO_KEY = "none"  # for a server of the user's own that asks for none; without one lionagi makes one up
ROUNDS = 20  # of thinking and using tools, before an answer is asked for
QUIET_LOG = {"auto_save_on_exit": False}  # lionagi would write its requests into the user's folder
KEPT_CLASSES = (System, Instruction, AssistantResponse, ActionRequest, ActionResponse)


class Conversation:
    """What one task asks of lionagi; raises InvalidRequest for what it cannot do."""

    def __init__(self, task: Task, tell: Tell, commands: Commands) -> None:
        self._task = task
        self._tell = tell
        self._model = model_of(task)
        self._branch = _branch_of(task, self._model, commands)
        self._answer: str | None = None
        self._prompt_told = False  # who records us has recorded the prompt already
        self._calls: list[tuple[str, str, str]] = []  # tools at work: name, arguments, and the key of their message
        self._keys: dict[str, str] = {}  # the keys of calls, by the ids that lionagi gives them

    async def hold(self) -> Verdict:
        """Say the prompt, and tell everything that is said."""
        branch, model = self._branch, self._model
        named = f"{model.endpoint.config.provider}/{model.model_name}"  # as it can be asked for again
        self._tell(Begun(model=named, tools=tuple(branch.tools)))
        leave = listen_to_branch(branch, said=Ear(self._hear, self._trouble), tool=Ear(self._see_tool, self._trouble))
        try:
            if model.is_cli:
                async for _ in branch.run(self._task.prompt):
                    pass
            elif branch.tools:
                found = await branch.ReAct(instruction=self._task.prompt, max_extensions=ROUNDS)
                self._answer = found if isinstance(found, str) and found else self._answer
            else:
                await branch.communicate(self._task.prompt)
        finally:
            leave()
            with suppress(Exception):
                await model.close()
        return Verdict(0, failed=False, answer=self._answer)

    def _trouble(self, error: Exception) -> None:
        self._tell(Noise(f"Not recorded: {type(error).__name__}: {error}\n"))

    def _hear(self, message: Any) -> None:
        if isinstance(message, System) or (isinstance(message, Instruction) and not self._prompt_told):
            self._prompt_told = self._prompt_told or isinstance(message, Instruction)
            return
        draft = without_class(with_model(message_draft(message_source(message)), self._model.model_name or None))
        said = Said(
            draft.role, draft.lion_class, draft.content, str(message.id),
            metadata=draft.node_metadata or {}, at=draft.created_at, id=str(message.id),
        )  # fmt: skip
        if isinstance(message, AssistantResponse):
            self._answer = message.response or self._answer
        elif isinstance(message, ActionRequest):
            said = said._replace(key=self._key_of(message), id=None)
        elif isinstance(message, ActionResponse):
            said = said._replace(answers=self._keys.get(str(message.content.action_request_id)))
        self._tell(said)

    def _see_tool(self, name: str, arguments: dict[str, Any]) -> None:
        """Tell a call before its tool runs: lionagi tells it together with its result."""
        request = MessageManager.create_action_request(function=name, arguments=arguments)
        source = message_source(request)
        self._calls.append((name, repr(arguments), str(request.id)))
        self._tell(
            Said(
                "action",
                source["node_metadata"]["lion_class"],
                source["content"],
                str(request.id),
                at=request.created_at,
            )
        )

    def _key_of(self, request: Any) -> str:
        """The key of a call that may have been told already, when its tool began."""
        known = [call for call in self._calls if call[0] == request.function]
        known = [call for call in known if call[1] == repr(request.arguments)] or known
        key = str(request.id)
        if known:
            self._calls.remove(known[0])
            key = known[0][2]
        self._keys[str(request.id)] = key
        return key


def model_of(task: Task) -> iModel:
    """The model of a task, without the limits and the guards that are for others than us; raises InvalidRequest."""
    env = {**os.environ, **task.env}
    provider, model = _provider_of(task.model, env)
    prefix = provider.upper().replace("-", "_")
    base_url = env.get(f"{prefix}_BASE_URL") or None
    key = env.get(f"{prefix}_API_KEY") or (NO_KEY if base_url else None)
    effort: dict[str, Any] = (
        {PROVIDER_EFFORT_KWARG.get(provider, "reasoning_effort"): task.effort} if task.effort else {}
    )
    found = getattr(settings, f"{prefix}_API_KEY", None)
    if key is None and found is None and f"{prefix}_API_KEY" in type(settings).model_fields:
        raise InvalidRequest(
            f"{provider} wants a key, and {prefix}_API_KEY is not set.",
            hint=f"Set {prefix}_API_KEY, or {prefix}_BASE_URL if it is a server of your own.",
        )
    try:
        made = iModel(provider=provider, model=model, base_url=base_url, api_key=key, **effort)
    except (ValueError, ImportError) as error:
        raise InvalidRequest(f"lionagi has no model {task.model!r}: {error}") from error
    config = made.endpoint.config
    config.requires_tokens = False  # else it fetches a table from the internet, to count by
    if base_url is not None:
        config.allow_local_network = True  # the user has named the server: it may be on this machine
    return made


def _provider_of(named: str | None, env: Mapping[str, str]) -> tuple[str, str]:
    """Who has a model, and its name there."""
    if named is None:
        return settings.LIONAGI_CHAT_PROVIDER, settings.LIONAGI_CHAT_MODEL
    provider, slash, model = named.partition("/")
    known = _providers()
    if slash and provider.lower() in known:
        return provider.lower(), model
    if not slash or env.get(f"{OWN_SERVER.upper()}_BASE_URL"):  # names of models may hold slashes themselves
        return OWN_SERVER, named
    raise unknown_word(provider, what="provider of lionagi", allowed=known)


def _providers() -> list[str]:
    listed = EndpointRegistry.list_providers()
    return sorted({str(entry["provider"]) for entry in listed})


def _branch_of(task: Task, model: iModel, commands: Commands) -> Branch:
    history = [message for message in map(_message, task.history) if message is not None]
    systems = [message for message in history if isinstance(message, System)]
    system: Any = task.system or (systems[-1] if systems else None)
    said: Any = [message for message in history if not isinstance(message, System)]
    branch = Branch(system=system, messages=said, chat_model=model, log_config=QUIET_LOG)
    if task.tools:
        branch.register_tools(_tools_of(task, branch, commands))
    return branch


def _tools_of(task: Task, branch: Branch, commands: Commands) -> list[Any]:
    """lionagi's own tools, kept to the folder of the task as lionagi keeps its own agents; raises UnknownWord."""
    unknown = [name for name in task.tools or () if name not in ALL_CODING_TOOLS]
    if unknown:
        raise unknown_word(unknown[0], what="tool of lionagi", allowed=ALL_CODING_TOOLS)
    folder = task.cwd or os.getcwd()
    toolkit = CodingToolkit(workspace_root=folder, tools=task.tools, notify=False)
    toolkit.security_pre("bash", guard_destructive)
    toolkit.pre("bash", commands.start)
    for name in ("reader", "editor"):
        toolkit.security_pre(name, guard_paths(allowed_paths=[folder]))
    return [*toolkit.bind(branch)]


def _message(message: Message) -> Any:
    """A message that was said before, as lionagi's; what it cannot be is told as text."""
    source = message_dict(message)
    with suppress(ValueError):
        UUID(message.id)
        with suppress(Exception):
            found = Element.from_dict(source)
            if isinstance(found, KEPT_CLASSES):
                return found
    text = text_of(message)
    if message.kind is MessageKind.USER:
        return MessageManager.create_instruction(instruction=text)
    if message.kind is MessageKind.ASSISTANT:
        return MessageManager.create_assistant_response(assistant_response=text)
    return None
