"""What the stream of Codex means: captured ones, and every trap that they hold."""

from typing import Any

import pytest

from lionstudio.domain.usage import Usage
from lionstudio.engines.codex_rollouts import Known
from lionstudio.engines.codex_stream import CodexReader
from lionstudio.engines.engine import Begun, Event, NewBranch, Said, Task, Verdict
from tests.engines.hostile import HUGE
from tests.engines.streams import Heard, as_lines, hear, kind, lines_of

WARNING = (
    "Model metadata for `fake-model` not found. "
    "Defaulting to fallback metadata; this can degrade performance and cause issues."
)
THREAD = "01a1e0b9-8b43-7f52-aaa8-9e61eca4d723"
HELPER = "01a1e0b9-8c9a-7db3-9525-5262e95e2e45"
BEFORE = {"input_tokens": 300, "cached_input_tokens": 50, "output_tokens": 30, "reasoning_output_tokens": 2}


def read(name: str, task: Task | None = None) -> Heard:
    return hear(CodexReader(task), lines_of(f"codex/{name}"))


def item(phase: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"item.{phase}", "item": {"id": "item_1", **fields}}


def test_a_whole_run() -> None:
    heard = read("simple", Task("x", model="gpt-x"))
    assert heard.of() == [
        ("other", WARNING),
        ("assistant", "I will run echo."),
        ("tool_call", ("bash", {"command": "/bin/bash -lc 'echo hi'"})),
        ("tool_result", ("bash", "hi\n")),
        ("assistant", "Done: hi."),
    ]
    assert heard.one("I will run echo.").metadata["thinking"] == "The user wants an echo."
    assert heard.begun[0] == Begun("01a1e0b5-70b3-7022-b27b-58d93231651a", "gpt-x")
    assert heard.usage == {"gpt-x": Usage(500, 1600, 0, 45, 8)}
    assert heard.unknown == []


def test_a_command_runs_from_its_beginning_to_its_end() -> None:
    reader = CodexReader()
    told: list[list[str]] = []
    for line in lines_of("codex/simple"):
        told.append([kind(event).value for event in reader.read(line) if isinstance(event, Said)])
    assert told[5:7] == [["tool_call"], ["tool_result"]]


def test_a_failed_command_is_an_error_with_its_exit_code() -> None:
    heard = read("subagent")
    failed = next(one for one in heard.said if isinstance(one.content, dict) and one.content.get("error"))
    assert failed.content["output"] == "cat: /nonexistent: No such file or directory\n"
    assert failed.metadata == {"exit_code": 1}


def test_a_subagent_is_a_branch_with_what_it_was_asked_and_what_it_answered() -> None:
    heard = read("subagent")
    assert heard.branches == [NewBranch(HELPER, "count the words in: one two three", None, facts={"agent_id": HELPER})]
    assert heard.of(HELPER) == [
        ("user", "count the words in: one two three"),
        ("assistant", "The subagent counted 3 words."),
    ]
    calls = [said for said in heard.of() if said[0] == "tool_call"]
    assert [said[1][0] for said in calls] == ["bash", "bash", "spawn_agent", "wait"]
    assert len([one for one in heard.said if one.answers is not None]) == 4


def test_subagents_of_subagents_hang_below_them() -> None:
    def spawn(sender: str, receiver: str, item_id: str) -> dict[str, Any]:
        fields = {"tool": "spawn_agent", "sender_thread_id": sender, "receiver_thread_ids": [receiver], "prompt": "Go"}
        return {"type": "item.completed", "item": {"id": item_id, "type": "collab_tool_call", **fields}}

    lines = as_lines({"type": "thread.started", "thread_id": "a"}, spawn("a", "b", "1"), spawn("b", "c", "2"))
    assert [(one.key, one.parent) for one in hear(CodexReader(), lines).branches] == [("b", None), ("c", "b")]


def test_files_that_are_changed_are_calls_and_a_plan_is_not() -> None:
    heard = read("patch_and_plan")
    assert heard.of()[1:] == [
        ("assistant", "Patch."),
        ("tool_call", ("apply_patch", {"file_path": "/home/dev/project/a.txt", "kind": "add"})),
        ("tool_result", ("apply_patch", "completed")),
        ("assistant", "Bad patch."),
        ("assistant", "Plan."),
        ("other", "[x] one\n[ ] two"),
        ("assistant", "Plan2."),
        ("assistant", "Done."),
    ]


def test_tools_of_servers_have_their_results_and_errors() -> None:
    assert read("mcp").of()[2:7] == [
        ("tool_call", ("mcp__runs__list_runs", {"n": 2})),
        ("tool_result", ("mcp__runs__list_runs", [{"type": "text", "text": "two runs"}])),
        ("assistant", "MCP2."),
        ("tool_call", ("mcp__runs__fail", {})),
        ("tool_result", ("mcp__runs__fail", [{"type": "text", "text": "boom"}], "error")),
    ]


def test_a_tool_that_says_why_it_failed() -> None:
    failed = {"type": "mcp_tool_call", "server": "s", "tool": "t", "arguments": {}, "error": {"message": "no such run"}}
    (_, result) = hear(CodexReader(), as_lines(item("completed", **failed, status="failed"))).said
    assert (result.content["error"], result.content["output"]) == ("no such run", None)


def test_a_search_has_its_words_when_they_are_known() -> None:
    lines = as_lines(item("started", type="web_search", query=""), item("completed", type="web_search", query="lions"))
    assert hear(CodexReader(), lines).of() == [
        ("tool_call", ("web_search", {"query": "lions"})),
        ("tool_result", ("web_search", None)),
    ]


def test_text_that_grows_is_one_message() -> None:
    lines = as_lines(
        item("started", type="agent_message", text=""),
        item("updated", type="agent_message", text="Hel"),
        item("completed", type="agent_message", text="Hello."),
    )
    assert hear(CodexReader(), lines).of() == [("assistant", "Hello.")]


def test_thoughts_before_a_tool_stay_a_message_of_their_own() -> None:
    lines = as_lines(
        {"type": "item.completed", "item": {"id": "1", "type": "reasoning", "text": "First."}},
        {"type": "item.completed", "item": {"id": "2", "type": "reasoning", "text": "Second."}},
        {"type": "item.started", "item": {"id": "3", "type": "command_execution", "command": "ls"}},
        {"type": "item.completed", "item": {"id": "4", "type": "agent_message", "text": "Listed."}},
    )
    heard = hear(CodexReader(), lines)
    assert heard.of() == [("assistant", ""), ("tool_call", ("bash", {"command": "ls"})), ("assistant", "Listed.")]
    assert heard.said[0].metadata == {"thinking": "First.\n\nSecond."}
    assert "thinking" not in heard.said[2].metadata


@pytest.mark.parametrize(
    ("name", "task", "expected"),
    [
        pytest.param("resumed", Task("x", resume="t", totals=BEFORE), Usage(300, 0, 0, 30), id="resumed"),
        pytest.param(
            "forked", Task("x", resume="t", totals={**BEFORE, "input_tokens": 600, "output_tokens": 60}),
            Usage(400, 0, 0, 40), id="forked",
        ),
        pytest.param("resumed", Task("x", resume="t"), None, id="resumed, and nobody knows from where"),
        pytest.param("resumed", Task("x"), Usage(550, 50, 0, 60, 2), id="from the beginning"),
    ],
)  # fmt: skip
def test_totals_of_a_conversation_are_told_as_differences(name: str, task: Task, expected: Usage | None) -> None:
    assert read(name, task).usage == ({} if expected is None else {"unknown": expected})


def test_each_turn_consumes_what_the_total_grew_by() -> None:
    turn = {"type": "turn.completed"}
    lines = as_lines(
        item("completed", type="agent_message", text="One."),
        {**turn, "usage": {"input_tokens": 10, "output_tokens": 1}},
        {"type": "turn.started"},
        {"type": "item.completed", "item": {"id": "item_2", "type": "agent_message", "text": "Two."}},
        {**turn, "usage": {"input_tokens": 25, "output_tokens": 4}},
        {**turn, "usage": {"input_tokens": 26, "output_tokens": 4}},
    )
    heard = hear(CodexReader(), lines)
    used = [(str(one.content), one.metadata["usage"]["input_tokens"]) for one in heard.said]
    assert used == [
        ("{'assistant_response': 'One.'}", 10),
        ("{'assistant_response': 'Two.'}", 15),
        ("Codex worked without a word.", 1),
    ]
    assert heard.begun[-1].totals == {"input_tokens": 26, "output_tokens": 4}


@pytest.mark.parametrize(
    ("name", "exit_code", "expected"),
    [
        pytest.param("simple", 0, (0, False, None, None, "Done: hi."), id="well"),
        pytest.param("retried", 0, (0, False, None, None, "Whole."), id="after a broken stream"),
        pytest.param(
            "bad_request", 1, (1, True, None, "Codex: The model gpt-x does not exist", None), id="JSON inside of it"
        ),
        pytest.param("interrupted", 1, (1, None, None, None, "Wait."), id="interrupted, which it does not say"),
    ],
)
def test_how_it_ended(name: str, exit_code: int, expected: tuple[Any, ...]) -> None:
    reader = CodexReader()
    hear(reader, lines_of(f"codex/{name}"))
    assert reader.verdict(exit_code) == Verdict(*expected)


def test_what_went_wrong_on_the_way_is_told() -> None:
    assert read("retried").of() == [
        ("other", WARNING),
        ("assistant", "partial..."),
        ("other", "Reconnecting... 1/1 (stream disconnected before completion: boom)"),
        ("assistant", "Whole."),
    ]


def test_what_the_stream_leaves_out_comes_from_the_files_of_its_conversations() -> None:
    known = {
        THREAD: Known("gpt-x"),
        HELPER: Known("gpt-mini", {"input_tokens": 630, "cached_input_tokens": 30, "output_tokens": 29}),
    }
    heard = hear(CodexReader(Task("x"), lambda thread: known.get(thread or "", Known())), lines_of("codex/subagent"))
    assert heard.usage == {"gpt-x": Usage(800, 3800, 0, 99, 8), "gpt-mini": Usage(600, 30, 0, 29)}
    assert heard.begun[-1].model == "gpt-x"
    assert heard.one("The subagent counted 3 words.").metadata["model"] == "gpt-mini"


@pytest.mark.parametrize(
    "last",
    [
        pytest.param([], id="it broke off"),
        pytest.param([{"type": "turn.failed", "error": {"message": "quota exceeded"}}], id="it failed"),
    ],
)
def test_a_turn_that_did_not_complete_consumed_what_its_file_says(last: list[dict[str, Any]]) -> None:
    known = Known("gpt-x", {"input_tokens": 2100, "cached_input_tokens": 1600, "output_tokens": 45})
    lines = [line for line in lines_of("codex/simple") if "turn.completed" not in line]
    heard = hear(CodexReader(Task("x"), lambda thread: known), [*lines, *as_lines(*last)])
    assert heard.usage == {"gpt-x": Usage(500, 1600, 0, 45)}
    assert heard.one("Done: hi.").metadata["model"] == heard.begun[-1].model == "gpt-x"
    assert heard.begun[-1].totals == known.totals  # from where the next run counts


def test_a_turn_that_failed_before_it_consumed_anything_has_its_model() -> None:
    lines = as_lines({"type": "thread.started", "thread_id": "t"}, {"type": "turn.failed", "error": {"message": "no"}})
    heard = hear(CodexReader(Task("x"), lambda thread: Known("gpt-x")), lines)
    assert (heard.begun[-1], heard.said) == (Begun(model="gpt-x"), [])


def asks(tool: str, receiver: str, prompt: str | None = None, number: int = 1, **state: str) -> dict[str, Any]:
    """The main agent does something about another one, of which this is known then."""
    told = {"receiver_thread_ids": [receiver], "prompt": prompt, "agents_states": {receiver: state}}
    return {
        "type": "item.completed",
        "item": {"id": f"item_{number}", "type": "collab_tool_call", "tool": tool, "sender_thread_id": "t", **told},
    }


def heard_of(*items: dict[str, Any], known: Known) -> Heard:
    lines = as_lines({"type": "thread.started", "thread_id": "t"}, *items, {"type": "turn.completed", "usage": {}})
    return hear(CodexReader(Task("x"), lambda thread: known if thread == "b" else Known()), lines)


def test_an_agent_nobody_waited_for_is_counted() -> None:
    known = Known("gpt-mini", {"input_tokens": 30, "output_tokens": 2})
    heard = heard_of(asks("spawn_agent", "b", "Go", status="pending_init"), known=known)
    assert heard.of("b") == [("user", "Go"), ("other", "Nobody waited for what it came to.")]
    assert heard.usage == {"gpt-mini": Usage(30, 0, 0, 2)}


def test_an_agent_of_an_earlier_run_has_only_what_is_new() -> None:
    known = Known("gpt-mini", {"input_tokens": 50, "output_tokens": 5}, before={"input_tokens": 30, "output_tokens": 2})
    heard = heard_of(
        asks("resume_agent", "b", status="completed", message="Old."),
        asks("send_input", "b", "Again", 2, status="completed", message="Old."),
        asks("wait", "b", None, 3, status="completed", message="New."),
        known=known,
    )
    assert heard.of("b") == [("user", "Again"), ("assistant", "New.")]
    assert heard.usage["gpt-mini"] == Usage(20, 0, 0, 3)


def test_an_agent_that_is_asked_again_may_answer_the_same() -> None:
    heard = heard_of(
        asks("spawn_agent", "b", "Go", status="running"),
        asks("wait", "b", None, 2, status="completed", message="Yes."),
        asks("wait", "b", None, 3, status="completed", message="Yes."),
        asks("send_input", "b", "Sure?", 4, status="running"),
        asks("wait", "b", None, 5, status="completed", message="Yes."),
        known=Known(),
    )
    assert heard.of("b") == [("user", "Go"), ("assistant", "Yes."), ("user", "Sure?"), ("assistant", "Yes.")]


def test_an_error_is_why_a_turn_ended_that_did_not_say_so() -> None:
    error = {"type": "error", "message": 'stream disconnected: {"error":{"message":"quota exceeded"}}'}
    lines = [line for line in lines_of("codex/simple") if "turn.completed" not in line]
    reader = CodexReader()
    hear(reader, [*lines, *as_lines(error)])
    assert reader.verdict(1) == Verdict(1, True, None, "Codex: stream disconnected: quota exceeded", "Done: hi.")
    recovered = CodexReader()
    hear(recovered, [*as_lines(error), *lines])
    assert recovered.verdict(137) == Verdict(137, None, None, None, "Done: hi.")


def test_a_change_of_no_file_leaves_a_trace() -> None:
    assert hear(CodexReader(), as_lines(item("completed", type="file_change", changes=[], status="failed"))).of() == [
        ("tool_call", ("apply_patch", {})),
        ("tool_result", ("apply_patch", "failed", "error")),
    ]


def test_a_status_of_another_shape_loses_no_result() -> None:
    done = item("completed", type="command_execution", command="ls", aggregated_output="a", status={"done": []})
    assert hear(CodexReader(), as_lines(done)).of()[-1] == ("tool_result", ("bash", "a"))


def test_unknown_lines_and_items_are_kept_as_they_came() -> None:
    strange = as_lines({"type": "thread.renamed"}, item("completed", type="hologram"), {"item": 3}, {"type": "error"})
    heard = hear(CodexReader(), [*strange, "no json", ""])
    assert heard.unknown == [*strange, "no json"]
    assert heard.said == []


def test_an_agent_that_ends_badly_is_told_once() -> None:
    states = {"agents_states": {"b": {"status": "errored", "message": "out of room"}}, "tool": "wait"}
    line = item("completed", type="collab_tool_call", sender_thread_id="a", receiver_thread_ids=["b"], **states)
    heard = hear(CodexReader(), as_lines({"type": "thread.started", "thread_id": "a"}, line, line))
    assert heard.of("b") == [("other", "It is errored. out of room")]


def test_huge_lines_are_stood() -> None:
    events: list[Event] = [event for line in HUGE for event in CodexReader().read(line)]
    assert events
