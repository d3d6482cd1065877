"""The subagents of Claude Code: which line of the stream is whose, and who spawned whom."""

from collections.abc import Iterator

from lionstudio.engines.engine import Event, NewBranch, Said
from lionstudio.engines.json_lines import Fields, fields_in, some, text
from lionstudio.engines.saying import instruction


class Subagent:
    """One subagent, as far as it was heard of."""

    __slots__ = ("_answer", "_texts", "key", "name", "prompt", "reports")

    def __init__(self, key: str, name: str | None, prompt: str | None) -> None:
        self.key = key
        self.name = name
        self.prompt = prompt
        self.reports = 0  # how many last words it had that its own lines did not have
        self._answer: str | None = None
        self._texts: list[str] = []  # of its last answer

    @property
    def has_spoken(self) -> bool:
        """Whether its own lines have text, which some versions leave out."""
        return bool(self._texts)

    def heard(self, words: str, answer: str | None) -> None:
        """It said something, in a line of an answer."""
        if answer is None or answer != self._answer:
            self._texts = []
        self._answer = answer
        self._texts.append(words)

    def said_last(self, words: str) -> bool:
        """Whether it said so in its last answer, of which a report has the last text or all of them."""
        return _letters(words) in (_letters(self._texts[-1]), _letters("".join(self._texts))) if self._texts else False


class Subagents:
    """A subagent is known by the tool call that spawned it, by an id of its own, or by both."""

    def __init__(self) -> None:
        self._known: dict[str, Subagent] = {}
        self._calls: dict[str, Said] = {}  # tool calls by their id: who made one is the parent of what it spawned

    def heard_call(self, id: str, call: Said) -> None:
        self._calls[id] = call

    def heard_result(self, id: str) -> None:
        """A call has its result: what it was asked is needed only if it may have spawned somebody."""
        call = self._calls.get(id)
        if call is not None and "prompt" not in fields_in(call.content["arguments"]):
            self._calls[id] = call._replace(content={**call.content, "arguments": None})

    def call(self, id: str) -> Said | None:
        return self._calls.get(id)

    def find(self, *names: str | None) -> Subagent | None:
        """The subagent that has one of these names."""
        return next((self._known[name] for name in names if name is not None and name in self._known), None)

    def whose(self, line: Fields) -> Subagent | None:
        """Whose line it is, once `meet` was asked; None is the agent itself."""
        return self.find(text(line.get("agent_id")), text(line.get("parent_tool_use_id")))

    def meet(self, line: Fields) -> Iterator[Event]:
        """What a line tells by being of a subagent that nobody heard of."""
        agent_id, tool_use_id = text(line.get("agent_id")), text(line.get("parent_tool_use_id"))
        if agent_id is not None or tool_use_id is not None:
            yield from self._begin(agent_id, tool_use_id, line, text(line.get("task_description")))

    def start(self, task: Fields) -> Iterator[Event]:
        """A task began. Only agents are lines of their own; a command in the background is a tool call."""
        if text(task.get("subagent_type")) is not None or task.get("task_type") == "local_agent":
            agent_id, tool_use_id = text(task.get("task_id")), text(task.get("tool_use_id"))
            yield from self._begin(agent_id, tool_use_id, task, text(task.get("description")))

    def _begin(self, agent_id: str | None, tool_use_id: str | None, line: Fields, named: str | None) -> Iterator[Event]:
        names = [name for name in (agent_id, tool_use_id) if name is not None]
        known = self.find(*names)
        if known is None and names:
            call = self._calls.get(tool_use_id or "")
            asked = {} if call is None else fields_in(call.content["arguments"])
            kind = text(line.get("subagent_type")) or text(asked.get("subagent_type"))
            name = named or text(asked.get("description")) or kind
            known = Subagent(names[0], name, text(line.get("prompt")) or text(asked.get("prompt")))
            spawner = self.find(text(line.get("parent_task_id")))
            yield NewBranch(
                known.key,
                name,
                call.branch if call is not None else None if spawner is None else spawner.key,
                facts=some(agent=kind, agent_id=agent_id, tool_use_id=tool_use_id),
            )
            if known.prompt is not None:
                yield instruction(known.prompt, f"prompt of {known.key}", branch=known.key)
        if known is not None:
            for name in names:
                self._known.setdefault(name, known)


def _letters(words: str) -> str:
    """Words without what stands between them: how a report puts texts together is its own affair."""
    return "".join(words.split())
