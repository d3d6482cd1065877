"""Whatever comes in the place of a stream of Claude Code, its reader stands it, and the run that records it, too."""

import json

from hypothesis import HealthCheck, given, settings

from lionstudio.engines.claude_stream import ClaudeReader
from lionstudio.engines.engine import NewBranch, Said, Task, Unknown
from lionstudio.engines.working import Writer
from lionstudio.recorders.recorder import Run
from lionstudio.services.context import Context
from tests.engines.hostile import HUGE, hostile_streams
from tests.engines.recorded import messages
from tests.engines.streams import hear, lines_of

NAMES = ("background_subagent", "nested_subagents", "foreground_subagent", "denied_tool", "compacted", "invalid_key")
LINES = [line for name in NAMES for line in lines_of(f"claude/{name}")]


@given(hostile_streams(LINES))
def test_a_reader_never_raises_and_tells_only_what_can_be_kept(lines: list[str]) -> None:
    reader = ClaudeReader(Task("x"))
    known: set[str | None] = {None}
    for events in (*map(reader.read, lines), reader.end()):
        for event in events:
            if isinstance(event, NewBranch):
                assert event.parent in known, "a branch begins after the one that spawned it"
                known.add(event.key)
            elif isinstance(event, Said):
                assert event.branch in known, "a message comes after its branch has begun"
                assert event.role and event.key
                usage = event.metadata.get("usage", {})
                assert all(value >= 0 for value in usage.values())
    reader.verdict(0)


@given(hostile_streams(LINES))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_whatever_a_reader_tells_is_recorded(sqlite_run: Run, lines: list[str]) -> None:
    writer = Writer("claude", sqlite_run)
    reader = ClaudeReader(Task("x"))
    for events in (*map(reader.read, lines), reader.end()):
        for event in events:
            writer.tell(event)
    assert writer.refused == []


def test_huge_lines_are_stood(sqlite_ctx: Context, sqlite_run: Run) -> None:
    writer = Writer("claude", sqlite_run)
    reader = ClaudeReader()
    for events in (*map(reader.read, HUGE), reader.end()):
        for event in events:
            writer.tell(event)
    assert writer.refused == []
    assert any("x" * 3_000_000 in json.dumps(one.content) for one in messages(sqlite_ctx, sqlite_run.session_id))


def test_a_stream_cut_anywhere_tells_what_was_there() -> None:
    lines = lines_of("claude/background_subagent")
    whole = hear(ClaudeReader(), lines)
    for length in range(len(lines)):
        part = hear(ClaudeReader(), [*lines[:length], lines[length][: len(lines[length]) // 2]])
        assert [one.key for one in part.said] == [one.key for one in whole.said][: len(part.said)]
        assert part.unknown == [lines[length][: len(lines[length]) // 2]]
    assert not any(isinstance(event, Unknown) for line in lines for event in ClaudeReader().read(line))
