"""The stream of Claude Code (`--output-format stream-json`), read line by line."""

from collections.abc import Iterable, Iterator
from typing import Any

from lionstudio.domain.conversation import UNKNOWN_CLASS
from lionstudio.engines.claude_answers import Answer, Answers
from lionstudio.engines.claude_ending import judge
from lionstudio.engines.claude_lines import begun_in, blocks_in, is_spoken, native_of
from lionstudio.engines.claude_notices import rate_limit_words, words_of
from lionstudio.engines.claude_pieces import PIECE, SPOKEN, Pieces
from lionstudio.engines.claude_results import final_text, output_of, small_details
from lionstudio.engines.claude_subagents import Subagent, Subagents
from lionstudio.engines.engine import Begun, Event, Said, Task, Verdict
from lionstudio.engines.json_lines import (
    Fields,
    JsonReader,
    Read,
    fields_in,
    seconds_of,
    some,
    text,
)
from lionstudio.engines.saying import NOTICE, answer, instruction, notice, tool_call, tool_result

SYNTHETIC = "<synthetic>"  # the model of what the program says in the place of one
# Lines that say nothing which another does not say better.
SILENT = frozenset(
    {
        "background_tasks_changed", "hook_progress", "hook_response", "hook_started", "permission_denied",
        "session_state_changed", "status", "task_notification", "task_progress", "task_started", "task_updated",
        "thinking_tokens",
    }
)  # fmt: skip


class ClaudeReader(JsonReader):
    """Reads one stream.

    One answer of the model comes in several lines, one for each of its blocks, and each is a message. Thinking belongs
    to the text that follows it: it is told at once, and again when the text is there.
    """

    def __init__(self, task: Task | None = None) -> None:
        self._prompt = "" if task is None else task.prompt
        self._answers = Answers(task or Task(""))
        self._subagents = Subagents()
        self._begun: Begun | None = None
        self._seen: set[str] = set()
        self._denied: set[str] = set()  # tool calls that were not allowed
        self._pieces = Pieces()
        self._result: Fields | None = None
        self._last_text: str | None = None
        super().__init__(
            {
                "assistant": self._once(self._read_assistant),
                "keep_alive": _nothing,
                "rate_limit_event": self._once(self._read_rate_limit),
                "result": self._once(self._read_result),
                "stream_event": self._read_stream_event,
                "system": self._once(self._read_system),
                "tool_progress": _nothing,
                "user": self._once(self._read_user),
            }
        )

    def read(self, line: str) -> Iterable[Event]:
        if line.startswith(PIECE) and SPOKEN not in line:
            self.line_number += 1
            return []
        return super().read(line)

    def end(self) -> Iterable[Event]:
        for branch, broken_off in self._pieces.rest():
            said = self._answers.open(broken_off.id, broken_off.message, branch)
            native = some(session_id=self._begun and self._begun.native_id, message_id=broken_off.id)
            more = {"branch": branch, "metadata": {"native": native, "unfinished": True}}
            told = self._speak(broken_off.said.text(), said.thought, f"unfinished {broken_off.id}", more)
            yield from self._answers.tell(said, told, None)
        yield from self._answers.close()

    def verdict(self, exit_code: int) -> Verdict:
        return judge(self._result, exit_code, self._last_text)

    def _once(self, read: Read) -> Read:
        """Read a line that has an id once, however often it comes: after a compaction some come again."""

        def read_once(line: Fields) -> Iterator[Event]:
            uuid = text(line.get("uuid"))
            if uuid is None or uuid not in self._seen:
                if uuid is not None:
                    self._seen.add(uuid)
                yield from read(line)

        return read_once

    # Lines of type `system`

    def _read_system(self, line: Fields) -> Iterator[Event]:
        subtype = line.get("subtype")
        if subtype == "init":
            yield from self._introduce(begun_in(line))
            return
        if subtype == "task_started":
            yield from self._subagents.start(line)
        elif subtype == "permission_denied":
            self._denied.add(str(line.get("tool_use_id")))
        words = words_of(line)
        whose = self._subagents.find(text(line.get("task_id"))) or self._subagents.whose(line)
        if words is not None:
            yield notice(words, self._key(line), branch=_branch(whose), metadata=native_of(line))
        elif subtype == "task_notification" and whose is not None:
            yield from self._conclude(whose, text(line.get("summary")), line)
        elif subtype not in SILENT:
            raise ValueError(subtype)  # unknown

    def _introduce(self, begun: Begun) -> Iterator[Event]:
        if begun != self._begun:  # it is said again for each turn
            self._begun = begun
            yield begun

    def _read_rate_limit(self, line: Fields) -> Iterator[Event]:
        words = rate_limit_words(fields_in(line.get("rate_limit_info")))
        if words is not None:
            yield notice(words, self._key(line))

    # Answers

    def _read_assistant(self, line: Fields) -> Iterator[Event]:
        yield from self._meet(line)
        whose = self._subagents.whose(line)
        message = fields_in(line["message"])
        if message.get("model") == SYNTHETIC or line.get("is_api_error_message") is True:
            yield from self._read_synthetic(line, message, whose)
            return
        id = text(message.get("id")) or self._key(line)
        said = self._answers.open(id, message, _branch(whose))
        self._pieces.came(said.branch, id)
        for number, block in enumerate(blocks_in(message)):
            told = self._read_block(block, said, line, self._key(line, number))
            if told is not None:
                yield from self._answers.tell(said, told, message.get("usage"))

    def _read_synthetic(self, line: Fields, message: Fields, whose: Subagent | None) -> Iterator[Event]:
        """What the program says in the place of a model: that the request failed, mostly."""
        error = some(error=text(line.get("error")), status=line.get("api_error_status"))
        for number, block in enumerate(blocks_in(message)):
            words = text(fields_in(block).get("text"))
            if words is not None:
                metadata = {**native_of(line), **error}
                yield notice(words, self._key(line, number), branch=_branch(whose), metadata=metadata)

    def _read_block(self, block: Any, said: Answer, line: Fields, key: str) -> Said | None:
        fields = fields_in(block)
        kind = str(fields.get("type"))
        more = _circumstances(line, said.branch)
        if kind in ("thinking", "redacted_thinking"):
            return self._think(fields, said, line, key, more)
        thought, said.thought = said.thought, None
        if kind == "text":
            return self._speak(str(fields["text"]), thought, key, more)
        if kind.endswith("tool_use"):
            more["metadata"] |= some(tool_use_id=text(fields.get("id")))
            call = tool_call(str(fields["name"]), fields.get("input"), key, **more)
            self._subagents.heard_call(str(fields.get("id")), call)
            return call
        if kind.endswith("tool_result"):  # of a tool that ran where the model is
            call_id, content = str(fields.get("tool_use_id")), fields.get("content")
            failed = fields.get("is_error") or str(fields_in(content).get("type")).endswith("_error")
            asked = self._subagents.call(call_id)
            return tool_result(asked, content, key, call_id=call_id, error=failed, **more)
        return Said("assistant", UNKNOWN_CLASS, block, key, **more)

    def _think(self, block: Fields, said: Answer, line: Fields, key: str, more: dict[str, Any]) -> Said | None:
        thinking = text(block.get("thinking"))
        if thinking is None:
            return None  # kept secret; nothing is there to be read
        if said.thought is not None:  # it thought twice before it spoke
            before = said.thought.metadata
            said.thought = said.thought._replace(metadata={**before, "thinking": f"{before['thinking']}\n\n{thinking}"})
        else:
            more["metadata"] |= {"thinking": thinking, **some(thinking_ms=line.get("thinking_duration_ms"))}
            said.thought = answer("", key, **more)
        return said.thought

    def _speak(self, words: str, thought: Said | None, key: str, more: dict[str, Any]) -> Said:
        whose = self._subagents.find(more["branch"])
        if whose is not None:
            whose.heard(words, more["metadata"]["native"].get("message_id"))
        elif words:
            self._last_text = words
        if thought is None:
            return answer(words, key, **more)
        metadata = {**more["metadata"], **thought.metadata, "text_uuid": more["metadata"]["native"].get("uuid")}
        return answer(words, thought.key, **{**more, "metadata": metadata, "is_native": thought.is_native})

    def _read_stream_event(self, line: Fields) -> Iterator[Event]:
        """Pieces of an answer: of them all only its beginning and its end say what does not come again."""
        event = fields_in(line.get("event"))
        branch = _branch(self._subagents.whose(line))
        match event.get("type"):
            case "message_start":
                message = fields_in(event.get("message"))
                id = self._pieces.begin(branch, message)
                if id is not None:
                    yield from self._answers.finish(id, message.get("usage"))
            case "content_block_delta":
                self._pieces.add(branch, event)
            case "message_delta":
                id = text(line.get("api_message_id")) or self._pieces.id_of(branch)
                if id is not None:
                    yield from self._answers.finish(id, event.get("usage"))
            case "message_stop":
                self._pieces.end(branch)

    # What comes back to the model

    def _read_user(self, line: Fields) -> Iterator[Event]:
        yield from self._meet(line)
        for number, block in enumerate(blocks_in(fields_in(line["message"]))):
            fields = fields_in(block)
            if fields.get("type") == "tool_result":
                yield from self._read_tool_result(fields, line, self._key(line, number))
            else:
                yield from self._read_user_block(block, line, self._key(line, number))

    def _read_tool_result(self, block: Fields, line: Fields, key: str) -> Iterator[Event]:
        call_id = str(block.get("tool_use_id"))
        call = self._subagents.call(call_id)
        details = line.get("tool_use_result")
        denied = True if call_id in self._denied else None
        more = _circumstances(line, _branch(self._subagents.whose(line)))
        more["metadata"] |= some(tool_use_id=call_id, denied=denied, details=small_details(details))
        output, failed = output_of(block.get("content")), block.get("is_error") is True
        yield tool_result(call, output, key, error=failed, call_id=call_id, **more)
        self._subagents.heard_result(call_id)
        spawned = self._subagents.find(text(fields_in(details).get("agentId")), call_id)
        if spawned is not None and fields_in(details).get("status") == "completed":
            yield from self._conclude(spawned, final_text(details), line, fields_in(details))

    def _conclude(
        self, whose: Subagent, words: str | None, line: Fields, details: Fields | None = None
    ) -> Iterator[Event]:
        """The last word of a subagent, where its own lines did not have it: some versions leave its text out."""
        if words is None or words == whose.name or whose.said_last(words):
            return
        whose.reports += 1
        key = f"last word of {whose.key}" + (f" ({whose.reports})" if whose.reports > 1 else "")
        usage = None if whose.has_spoken else (details or {}).get("usage")  # else its own lines have said it
        whose.heard(words, None)
        said = self._answers.open(key, {"model": (details or {}).get("resolvedModel")}, whose.key)
        told = answer(words, key, branch=whose.key, metadata=native_of(line))
        yield from self._answers.tell(said, told, usage)

    def _read_user_block(self, block: Any, line: Fields, key: str) -> Iterator[Event]:
        """What is not a tool's answer. Nobody types while we run it: most of it is the program's own."""
        whose = self._subagents.whose(line)
        words = text(fields_in(block).get("text"))
        more = _circumstances(line, _branch(whose))
        if words is None:
            yield Said(NOTICE, UNKNOWN_CLASS, block, key, **more)
        elif words == (self._prompt if whose is None else whose.prompt):
            return  # known already
        elif is_spoken(line, words, to_subagent=whose is not None):
            yield instruction(words, key, **more)
        else:
            yield notice(words, key, **more)

    def _read_result(self, line: Fields) -> Iterator[Event]:
        yield from self._meet(line)
        self._result = line
        yield from self._answers.settle(line)
        if "model_usage_since_last_result" not in line and fields_in(line.get("modelUsage")):
            yield Begun(totals=fields_in(line.get("modelUsage")))

    def _meet(self, line: Fields) -> Iterator[Event]:
        if self._begun is None:  # its introduction is missing
            yield from self._introduce(Begun(text(line.get("session_id"))))
        yield from self._subagents.meet(line)

    def _key(self, line: Fields, number: int = 0) -> str:
        """The id of a line, and of the blocks after its first; a line without one has its place."""
        own = text(line.get("uuid")) or f"line {self.line_number}"
        return f"{own}/{number}" if number else own


def _nothing(line: Fields) -> Iterator[Event]:
    yield from ()


def _branch(whose: Subagent | None) -> str | None:
    return None if whose is None else whose.key


def _circumstances(line: Fields, branch: str | None) -> dict[str, Any]:
    """What every message of a line has."""
    return {
        "branch": branch,
        "at": seconds_of(line.get("timestamp")),
        "metadata": native_of(line),
        "is_native": text(line.get("uuid")) is not None,
    }
