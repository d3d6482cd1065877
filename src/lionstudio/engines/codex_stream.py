"""The stream of Codex (`exec --json`), read line by line.

It consists of turns, and a turn of items that begin, change and end. An item is a message that is overwritten in place;
a tool is called when it begins and has its result when it ends.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from lionstudio.domain.conversation import UNKNOWN_CLASS
from lionstudio.domain.usage import NO_USAGE
from lionstudio.engines.codex_agents import CodexAgents, LookUp
from lionstudio.engines.codex_rollouts import NOTHING
from lionstudio.engines.codex_usage import RunningTotal
from lionstudio.engines.engine import Begun, Event, Said, Task, Verdict
from lionstudio.engines.json_lines import Fields, JsonReader, Read, fields_in, items_in, some, text
from lionstudio.engines.saying import NOTICE, answer, as_metadata, notice, tool_call, tool_result

BAD = frozenset({"failed", "declined", "errored"})
ReadItem = Callable[[str, Fields, bool], Iterator[Event]]  # the item's id, the item, and whether it has ended


class CodexReader(JsonReader):
    """Reads one stream."""

    def __init__(self, task: Task | None = None, look_up: LookUp = lambda thread: NOTHING) -> None:
        task = task or Task("")
        self._look_up = look_up
        self._thread: str | None = None
        self._model = task.model
        self._total = RunningTotal(task.totals, goes_on=task.resume is not None)
        self._agents = CodexAgents(look_up)
        self._calls: dict[str, Said] = {}
        self._texts: dict[str, Said] = {}  # by item: what it has said so far
        self._thought: Said | None = None  # what it thought, while it has not spoken yet
        self._last: Said | None = None  # what it said last in this turn
        self._last_text: str | None = None
        self._failure: str | None = None
        self._trouble: str | None = None  # an error after which nothing was heard
        self._has_ended = False
        self._items: dict[str, ReadItem] = {
            "agent_message": self._read_text,
            "collab_tool_call": self._read_collaboration,
            "command_execution": self._read_command,
            "error": self._read_warning,
            "file_change": self._read_changes,
            "mcp_tool_call": self._read_mcp_call,
            "reasoning": self._read_thought,
            "todo_list": self._read_plan,
            "web_search": self._read_search,
        }
        super().__init__(
            {
                "error": self._read_error,
                "item.completed": self._item(ended=True),
                "item.started": self._item(ended=False),
                "item.updated": self._item(ended=False),
                "thread.started": self._read_thread,
                "turn.completed": self._read_turn,
                "turn.failed": self._read_failure,
                "turn.started": self._begin_turn,
            }
        )

    def end(self) -> Iterable[Event]:
        """What only the files of its conversations say, now that they are whole."""
        if not self._has_ended:  # a turn that failed or broke off says neither its model nor what it consumed
            known = self._look_up(self._thread)
            self._model = self._model or known.model
            if known.totals:
                yield from self._settle(known.totals)
            elif known.model is not None:
                yield Begun(model=self._model)
        yield from self._agents.settle()

    def verdict(self, exit_code: int) -> Verdict:
        why = self._failure or (None if self._has_ended else self._trouble)
        if why is not None:
            return Verdict(exit_code, True, None, f"Codex: {why}", self._last_text)
        if self._has_ended:
            return Verdict(exit_code, False, answer=self._last_text)
        broke_off = exit_code == 0  # it says at the end of a turn that this is it
        sentence = "Codex stopped before its turn had ended." if broke_off else None
        return Verdict(exit_code, broke_off or None, None, sentence, self._last_text)

    # Threads and turns

    def _read_thread(self, line: Fields) -> Iterator[Event]:
        self._thread = text(line.get("thread_id"))
        self._agents.own(self._thread)
        yield Begun(self._thread, self._model)

    def _begin_turn(self, line: Fields) -> Iterator[Event]:
        self._last, self._trouble, self._has_ended = None, None, False
        yield from ()

    def _read_turn(self, line: Fields) -> Iterator[Event]:
        self._failure, self._has_ended = None, True
        self._model = self._model or self._look_up(self._thread).model
        yield from self._settle(line.get("usage"))

    def _settle(self, total: Any) -> Iterator[Event]:
        """What was consumed since somebody last told is said with the last thing that was said."""
        consumed = self._total.grow(total)
        yield Begun(model=self._model, totals=fields_in(total))
        if consumed is None or (consumed == NO_USAGE and self._last is None):
            return
        metadata = {"usage": as_metadata(consumed), **some(model=self._model)}
        if self._last is None:
            yield notice("Codex worked without a word.", self._place(), metadata=metadata)
        else:
            yield self._last._replace(metadata={**self._last.metadata, **metadata})
        self._last = None

    def _read_failure(self, line: Fields) -> Iterator[Event]:
        self._failure = _words(fields_in(line.get("error")).get("message")) or "The turn failed."
        yield from ()

    def _read_error(self, line: Fields) -> Iterator[Event]:
        words = _words(line.get("message"))
        if words is None:
            raise ValueError("an error without a message")
        self._trouble = words
        yield notice(words, self._place())

    # Items

    def _item(self, *, ended: bool) -> Read:
        def read(line: Fields) -> Iterator[Event]:
            item = fields_in(line["item"])
            kind = str(item["type"])
            self._trouble = None
            if kind not in ("agent_message", "reasoning", "error", "todo_list"):
                self._thought = None
            yield from self._items[kind](text(item.get("id")) or self._place(), item, ended)

        return read

    def _read_thought(self, id: str, item: Fields, ended: bool) -> Iterator[Event]:
        thinking = text(item.get("text"))
        if thinking is None:
            return
        before = self._thought
        if before is not None and before.key != id:  # it thought twice before it spoke
            thinking, id = f"{before.metadata['thinking']}\n\n{thinking}", before.key
        self._thought = answer("", id, metadata={"thinking": thinking, **some(model=self._model)})
        yield self._thought

    def _read_text(self, id: str, item: Fields, ended: bool) -> Iterator[Event]:
        words = str(item["text"])
        before = self._texts.pop(id, None) or self._thought
        self._thought = None
        said = answer(words, id, metadata=some(model=self._model))
        if before is not None:
            said = said._replace(key=before.key, metadata={**before.metadata, **said.metadata})
        if not ended:
            self._texts[id] = said
        self._last, self._last_text = said, words or self._last_text
        yield said

    def _read_command(self, id: str, item: Fields, ended: bool) -> Iterator[Event]:
        code = item.get("exit_code")
        failed = _is_bad(item) or (isinstance(code, int) and code != 0)
        yield from self._tool(
            id, "bash", {"command": item.get("command")}, ended,
            output=item.get("aggregated_output"), error=failed, metadata=some(exit_code=code),
        )  # fmt: skip

    def _read_mcp_call(self, id: str, item: Fields, ended: bool) -> Iterator[Event]:
        result, error = fields_in(item.get("result")), fields_in(item.get("error")).get("message")
        output = result.get("structured_content") or result.get("content")
        yield from self._tool(
            id, f"mcp__{item.get('server')}__{item.get('tool')}", item.get("arguments"), ended,
            output=output, error=text(error) or _is_bad(item),
        )  # fmt: skip

    def _read_search(self, id: str, item: Fields, ended: bool) -> Iterator[Event]:
        arguments = some(query=item.get("query"), action=item.get("action"))
        yield from self._tool(id, "web_search", arguments, ended, error=_is_bad(item))

    def _read_changes(self, id: str, item: Fields, ended: bool) -> Iterator[Event]:
        """One call for each file, so that a reader finds which were touched."""
        for number, change in enumerate(items_in(item.get("changes")) or [{}]):
            fields = fields_in(change)
            arguments = some(file_path=fields.get("path"), kind=fields.get("kind"))
            key = f"{id}/{number}" if number else id
            output = text(item.get("status"))
            yield from self._tool(key, "apply_patch", arguments, ended, output=output, error=_is_bad(item))

    def _read_collaboration(self, id: str, item: Fields, ended: bool) -> Iterator[Event]:
        arguments = some(prompt=item.get("prompt"), agents=item.get("receiver_thread_ids"))
        states = item.get("agents_states")
        branch = self._agents.branch_of(item)
        yield from self._tool(
            id, str(item["tool"]), arguments, ended, output=states, error=_is_bad(item), branch=branch
        )
        if ended:
            yield from self._agents.read(item)

    def _read_plan(self, id: str, item: Fields, ended: bool) -> Iterator[Event]:
        """What it means to do. No tool call: it is open for as long as the turn goes on."""
        steps = [fields_in(step) for step in items_in(item.get("items"))]
        text_of_it = "\n".join(
            f"[{'x' if step.get('completed') is True else ' '}] {step.get('text')}" for step in steps
        )
        yield Said(NOTICE, UNKNOWN_CLASS, text_of_it, id)

    def _read_warning(self, id: str, item: Fields, ended: bool) -> Iterator[Event]:
        words = _words(item.get("message"))
        if words is None:
            raise ValueError("an error without a message")
        yield notice(words, id)

    def _tool(
        self,
        id: str,
        function: str,
        arguments: Any,
        ended: bool,
        *,
        output: Any = None,
        error: Any = None,
        metadata: dict[str, Any] | None = None,
        branch: str | None = None,
    ) -> Iterator[Event]:
        call = tool_call(function, arguments, id, branch=branch)
        if self._calls.get(id) != call:  # new, or it knows better now what it was asked
            yield call
        self._calls[id] = call
        if ended:
            yield tool_result(call, output, f"{id} result", error=error or None, branch=branch, metadata=metadata or {})
            del self._calls[id]

    def _place(self) -> str:
        return f"line {self.line_number}"


def _is_bad(item: Fields) -> bool:
    return text(item.get("status")) in BAD


def _words(message: Any) -> str | None:
    """What an error says, without the JSON that it may be wrapped in."""
    said = text(message)
    if said is None or "{" not in said:
        return said
    start = said.index("{")
    try:
        inner, length = json.JSONDecoder().raw_decode(said[start:])
    except (ValueError, RecursionError):
        return said
    found = _message_in(inner)
    return said if found is None else said[:start] + found + said[start + length :]


def _message_in(value: Any) -> str | None:
    fields = fields_in(value)
    return (
        text(fields_in(fields.get("error")).get("message")) or text(fields.get("message")) or text(fields.get("detail"))
    )
