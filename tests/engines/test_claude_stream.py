"""What the stream of Claude Code means: captured ones of two versions, and every trap that they hold."""

from typing import Any

import pytest

from lionstudio.domain.usage import Usage
from lionstudio.engines.claude_stream import ClaudeReader
from lionstudio.engines.engine import Begun, NewBranch, Task, Verdict
from tests.engines.streams import Heard, as_lines, hear, lines_of

SONNET = "claude-sonnet-4-5"
HELPER = "a14978cd66299ed5d"
TOTALS = [
    pytest.param("background_subagent", Usage(2840, 3300, 1000, 175, 0, 0.015885), id="two results, one running total"),
    pytest.param("hook_events", Usage(2840, 3300, 1000, 175, 0, 0.015885), id="with hook events"),
    pytest.param("resumed", Usage(500, 1400, 0, 9, 0, 0.002055), id="without what was consumed before"),
    pytest.param("forked_in_pieces", Usage(500, 1400, 0, 9, 0, 0.002055), id="a fork, in pieces"),
    pytest.param("foreground_subagent", Usage(2240, 1200, 1000, 84, 0, 0.01209), id="a subagent that is waited for"),
    pytest.param("foreground_subagent_2.1.197", Usage(2240, 1200, 1000, 84, 0, 0.01209), id="of an older version"),
    pytest.param("nested_subagents", Usage(12435, 0, 0, 31, 0, 0.03777), id="subagents of subagents"),
    pytest.param("two_background_subagents", Usage(231, 0, 0, 37, 0, 0.001248), id="three results"),
    pytest.param("cut_off_and_resumed", Usage(21465, 0, 0, 4, 0, 0.064455), id="an answer that broke off"),
    pytest.param("interrupted", Usage(21450, 0, 0, 22, 0, 0.06468), id="interrupted"),
    pytest.param("compacted", Usage(300, 0, 0, 30, 0, 0.00135), id="only compacted"),
    pytest.param("resumed_2.1.197", Usage(200, 0, 0, 20, 0, 0.0009), id="resumed in an older version"),
]


def read(name: str, task: Task | None = None) -> Heard:
    return hear(ClaudeReader(task), lines_of(f"claude/{name}"))


def verdict(name: str, exit_code: int) -> tuple[int, bool | None, str | None, str | None, str | None]:
    reader = ClaudeReader()
    hear(reader, lines_of(f"claude/{name}"))
    return reader.verdict(exit_code)


def test_a_whole_run_with_a_subagent_in_the_background() -> None:
    heard = read("background_subagent")
    assert heard.branches == [
        NewBranch(
            HELPER,
            "Count words",
            facts={"agent": "general-purpose", "agent_id": HELPER, "tool_use_id": "toolu_9d6f28a39e194fb58ad681ab"},
        )
    ]
    helper = {
        "description": "Count words",
        "prompt": "count the words in: one two three",
        "subagent_type": "general-purpose",
    }
    assert heard.of() == [
        ("assistant", "I will run echo."),
        ("tool_call", ("Bash", {"command": "echo hi", "description": "Say hi"})),
        ("tool_result", ("Bash", "hi")),
        ("assistant", "Now a failing read and a helper."),
        ("tool_call", ("Read", {"file_path": "/nonexistent/file.txt"})),
        ("tool_call", ("Agent", helper)),
        ("tool_result", ("Agent", "Async agent launched successfully. (This tool result is inte… [cut]")),
        (
            "tool_result",
            ("Read", "File does not exist. Note: your current working directory is /home/dev/project", "error"),
        ),
        ("assistant", "The helper is still running; I will report when it is back."),
        ("assistant", "All done: hi, and three words."),
    ]
    assert heard.of(HELPER) == [
        ("user", "count the words in: one two three"),
        ("assistant", "Helper looks."),
        ("tool_call", ("Bash", {"command": "echo from-subagent", "description": "sub echo"})),
        ("tool_result", ("Bash", "from-subagent")),
        ("assistant", "The subagent counted 3 words."),
    ]
    assert heard.unknown == []


def test_the_agent_introduces_itself_once() -> None:
    begun = Begun(
        "9e49b83b-e052-466d-b1e3-137a32b82a74",
        SONNET,
        ("Task", "Bash", "CronCreate", "CronDelete"),
        {"agent_version": "2.1.325", "permission_mode": "default", "cwd": "/home/dev/project"},
    )
    assert read("background_subagent").begun == [begun]


def test_results_belong_to_their_calls() -> None:
    heard = read("background_subagent")
    calls = {one.key: one for one in heard.said if "action_request_id" not in one.content and one.role == "action"}
    results = [one for one in heard.said if one.answers is not None]
    assert len(results) == 4
    for result in results:
        assert result.answers is not None
        call = calls[result.answers]
        assert call.metadata["tool_use_id"] == result.metadata["tool_use_id"] == result.content["action_request_id"]
        assert call.branch == result.branch


def test_thinking_goes_with_the_text_that_follows_it() -> None:
    said = read("background_subagent").one("I will run echo.")
    assert said.metadata["thinking"] == "The user wants a shell echo."
    assert said.metadata["thinking_ms"] == 1
    assert said.key == said.metadata["native"]["uuid"] == "979326b0-b001-4591-a868-868d304111ff"
    assert said.metadata["text_uuid"] == "e8e5e45a-57fe-4add-831d-ae09c996fc07"


def test_thinking_is_told_before_the_text_is_there() -> None:
    lines = lines_of("claude/background_subagent")
    thought = next(number for number, line in enumerate(lines) if '"type":"thinking"' in line)
    said = hear(ClaudeReader(), lines[: thought + 1]).said[-1]
    assert said.content == {"assistant_response": ""}
    assert said.metadata["thinking"] == "The user wants a shell echo."


def test_thinking_before_a_tool_stays_a_message_of_its_own() -> None:
    said = read("nested_subagents").said
    assert (said[0].content, said[0].metadata["thinking"]) == ({"assistant_response": ""}, "hm")
    assert said[1].content["function"] == "Agent"


@pytest.mark.parametrize(("name", "total"), TOTALS)
def test_all_messages_together_consumed_what_the_program_says(name: str, total: Usage) -> None:
    task = Task("x", resume="before") if name.startswith(("resumed", "forked")) else None
    assert read(name, task).usage == {SONNET: total}


def test_what_subagents_consumed_is_in_their_branch() -> None:
    heard = read("background_subagent")
    of_helper = heard._replace(said=[one for one in heard.said if one.branch == HELPER])
    assert of_helper.usage == {SONNET: Usage(640, 0, 0, 30)}  # 175 in all, of which the results say 133 and 12


def test_an_answer_is_counted_once_however_many_blocks_it_has() -> None:
    heard = read("background_subagent")
    counted = [one for one in heard.said if "usage" in one.metadata]
    answers = [one.metadata["native"]["message_id"] for one in counted]
    assert len(answers) == len(set(answers)) == 6


def said_in(id: str, words: str, **usage: int) -> dict[str, Any]:
    """A line of an answer; without usage it says nothing of that."""
    message = {
        "id": id,
        "model": "m",
        "content": [{"type": "text", "text": words}],
        **({"usage": usage} if usage else {}),
    }
    return {"type": "assistant", "message": message, "uuid": words}


def test_an_answer_whose_lines_do_not_say_what_it_consumed_is_heard_and_counted() -> None:
    start = {"type": "message_start", "message": {"id": "m1", "usage": {"input_tokens": 10, "output_tokens": 1}}}
    lines = as_lines({"type": "stream_event", "event": start}, said_in("m1", "First."), said_in("m1", "Second."))
    heard = hear(ClaudeReader(), lines)
    assert heard.of() == [("assistant", "First."), ("assistant", "Second.")]
    assert (heard.usage, heard.unknown) == ({"m": Usage(10, 0, 0, 1)}, [])


def test_an_answer_is_counted_once_when_another_comes_between_its_lines() -> None:
    lines = as_lines(*(said_in(id, f"{id} {n}", input_tokens=10, output_tokens=5) for n, id in enumerate("aba")))
    heard = hear(ClaudeReader(), lines)
    assert heard.of() == [("assistant", "a 0"), ("assistant", "b 1"), ("assistant", "a 2")]
    assert heard.usage == {"m": Usage(20, 0, 0, 10)}


def test_an_answer_in_pieces_knows_how_long_it_became_before_any_result() -> None:
    lines = lines_of("claude/foreground_subagent")
    results = next(number for number, line in enumerate(lines) if '"duration_api_ms"' in line)
    heard = hear(ClaudeReader(), lines[:results])
    assert heard.one("Spawn.").metadata["usage"]["output_tokens"] == 40
    assert heard.one("All done.").metadata["usage"]["output_tokens"] == 12


def test_subagents_of_subagents_hang_below_them() -> None:
    branches = read("nested_subagents").branches
    assert [(one.name, one.parent) for one in branches] == [("one", None), ("two", branches[0].key)]


@pytest.mark.parametrize("name", ["foreground_subagent", "foreground_subagent_2.1.197"])
def test_the_last_word_of_a_subagent_is_there_where_its_text_was_left_out(name: str) -> None:
    heard = read(name)
    (branch,) = heard.branches
    assert heard.of(branch.key) == [
        ("user", "count the words in: one two three"),
        ("tool_call", ("Bash", {"command": "echo from-sub", "description": "x"})),
        ("tool_result", ("Bash", "from-sub")),
        ("assistant", "Sub says 3."),
    ]


def reports(summary: str, uuid: str) -> dict[str, Any]:
    """A subagent is done, and this is what it came to."""
    return {"type": "system", "subtype": "task_notification", "task_id": "a", "status": "completed",
            "summary": summary, "uuid": uuid}  # fmt: skip


STARTED = {"type": "system", "subtype": "task_started", "task_id": "a", "subagent_type": "x", "uuid": "0"}


def test_each_report_of_a_subagent_is_kept() -> None:
    lines = as_lines(STARTED, reports("First.", "1"), reports("Second.", "2"), reports("Second.", "3"))
    assert hear(ClaudeReader(), lines).of("a") == [("assistant", "First."), ("assistant", "Second.")]


def test_a_report_that_repeats_an_answer_of_several_texts_is_not_told_again() -> None:
    usage = {"input_tokens": 10, "output_tokens": 5}
    content = [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]
    message = {"id": "m1", "model": "m", "content": content, "usage": usage}
    blocks = [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]
    details = {"status": "completed", "agentId": "a", "content": content, "usage": usage}
    lines = as_lines(
        STARTED,
        {"type": "assistant", "message": message, "agent_id": "a", "uuid": "1"},
        reports("One.\n\nTwo.", "2"),
        {"type": "user", "message": {"content": blocks}, "tool_use_result": details, "uuid": "3"},
    )
    heard = hear(ClaudeReader(), lines)
    assert heard.of("a") == [("assistant", "One."), ("assistant", "Two.")]
    assert heard.usage == {"m": Usage(10, 0, 0, 5)}


def test_a_stream_without_task_lines_has_its_subagents_by_their_calls() -> None:
    lines = [line for line in lines_of("claude/foreground_subagent_2.1.197") if '"subtype":"task_' not in line]
    (branch,) = (heard := hear(ClaudeReader(), lines)).branches
    assert (branch.key, branch.name) == ("toolu_4f9112f977784d059ae1be98", "Count words")
    assert heard.of(branch.key)[0] == ("user", "count the words in: one two three")
    assert heard.of(branch.key)[-1] == ("assistant", "Sub says 3.")


def test_a_denied_tool_is_an_error_that_says_so() -> None:
    heard = read("denied_tool")
    result = next(one for one in heard.said if one.answers is not None)
    assert (result.content["error"], result.metadata["denied"]) == (True, True)
    assert result.content["output"].startswith("touch in '/home/dev/project' needs approval.")


def test_retries_are_told() -> None:
    assert read("retried").of() == [
        ("other", "The request failed (overloaded 529); try 1 of 10 in 0.6 s."),
        ("assistant", "Recovered after a retry."),
    ]


def test_what_the_program_says_in_the_place_of_the_model_is_no_answer() -> None:
    heard = read("invalid_key")
    assert heard.of()[-1] == ("other", "Invalid API key · Fix external API key")
    assert heard.said[-1].metadata["error"] == "authentication_failed"
    assert heard.usage == {}


def test_a_compaction_is_told_and_its_summary_is_nobodys_instruction() -> None:
    kinds = read("compacted").of()
    assert kinds[0] == ("other", "The conversation was compacted by hand from 220 tokens to 2,653 tokens.")
    assert [kind for kind, _ in kinds] == ["other"] * 4
    assert kinds[-1][1] == "Claude Code used claude-sonnet-4-5 for work of its own."


@pytest.mark.parametrize(
    ("name", "exit_code", "expected"),
    [
        pytest.param(
            "background_subagent", 0, (0, False, None, None, "All done: hi, and three words."), id="the last answer"
        ),
        pytest.param(
            "invalid_key",
            1,
            (1, True, None, "Claude Code: Invalid API key · Fix external API key", None),
            id="an error that calls itself a success",
        ),
        pytest.param(
            "interrupted",
            0,
            (130, True, "run.aborted.interrupt", "Claude Code was interrupted.", "Waiting."),
            id="interrupted, and exited with 0",
        ),
        pytest.param(
            "interrupted_2.1.197",
            1,
            (130, True, "run.aborted.interrupt", "Claude Code was interrupted.", "Waiting."),
            id="interrupted, and exited with 1",
        ),
        pytest.param(
            "no_such_conversation",
            1,
            (
                1,
                True,
                None,
                "Claude Code: No conversation found with session ID: 11111111-1111-4111-8111-111111111111",
                None,
            ),
            id="nothing to resume",
        ),
    ],
)
def test_how_it_ended(name: str, exit_code: int, expected: tuple[Any, ...]) -> None:
    assert verdict(name, exit_code) == Verdict(*expected)


@pytest.mark.parametrize(
    ("result", "failed", "sentence"),
    [
        ({"subtype": "error_max_turns", "is_error": False}, True, "Claude Code: It took as many turns as it may."),
        ({"subtype": "error_during_execution"}, True, "Claude Code: It failed while it worked."),
        ({"is_error": True, "errors": ["a\nb"]}, True, "Claude Code: a b"),
        ({"is_error": True}, True, "Claude Code: It failed and did not say why."),
        ({"subtype": "success", "is_error": False}, False, None),
    ],
)
def test_how_a_result_is_judged(result: dict[str, Any], failed: bool, sentence: str | None) -> None:
    reader = ClaudeReader()
    hear(reader, as_lines({"type": "result", **result}))
    assert reader.verdict(0)[:4] == (0, failed, None, sentence)


def test_a_stream_that_breaks_off_says_nothing_of_its_end() -> None:
    reader = ClaudeReader()
    hear(reader, lines_of("claude/background_subagent")[:12])
    assert reader.verdict(137) == Verdict(137, None, None, None, "Now a failing read and a helper.")


def piece(event: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "stream_event", "event": event, **more}


def in_pieces(id: str, *words: str) -> list[dict[str, Any]]:
    """An answer that has begun."""
    usage = {"input_tokens": 10, "output_tokens": 1}
    deltas = [{"type": "content_block_delta", "delta": {"type": "text_delta", "text": word}} for word in words]
    return [piece({"type": "message_start", "message": {"id": id, "model": "m", "usage": usage}}), *map(piece, deltas)]


def test_what_an_answer_said_until_it_broke_off_is_kept() -> None:
    reader = ClaudeReader()
    heard = hear(reader, as_lines(*in_pieces("m1", "I have lo", "oked, and")))
    assert heard.of() == [("assistant", "I have looked, and")]
    assert heard.said[0].metadata["unfinished"] is True
    assert heard.usage == {"m": Usage(10, 0, 0, 1)}
    assert reader.verdict(143).answer == "I have looked, and"


def test_only_what_did_not_come_whole_is_unfinished() -> None:
    lines = [
        *in_pieces("m1", "First."),
        said_in("m1", "First.", input_tokens=10, output_tokens=1),
        piece({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Sec"}}),
    ]
    heard = hear(ClaudeReader(), as_lines(*lines))
    assert heard.of() == [("assistant", "First."), ("assistant", "Sec")]
    assert heard.usage == {"m": Usage(10, 0, 0, 1)}
    again = hear(ClaudeReader(), as_lines(*lines, *in_pieces("m2", "Again."), piece({"type": "message_stop"})))
    assert again.of() == [("assistant", "First.")]  # the program has begun anew


def test_thinking_goes_with_a_text_that_broke_off() -> None:
    thought = {"id": "m1", "model": "m", "content": [{"type": "thinking", "thinking": "Hm."}]}
    first, *rest = in_pieces("m1", "Well")
    (said,) = hear(ClaudeReader(), as_lines(first, {"type": "assistant", "message": thought, "uuid": "u"}, *rest)).said
    assert (said.key, said.is_native) == ("u", True)  # it takes the place of what was thought
    assert (said.content, said.metadata["thinking"]) == ({"assistant_response": "Well"}, "Hm.")


def test_a_stream_without_a_result_is_no_success_though_it_exits_with_0() -> None:
    reader = ClaudeReader()
    hear(reader, lines_of("claude/interrupted")[:3])
    assert reader.verdict(0) == Verdict(0, True, None, "Claude Code stopped before it had a result.", "Waiting.")


def test_lines_that_come_twice_are_told_once() -> None:
    lines = lines_of("claude/background_subagent")
    once, twice = hear(ClaudeReader(), lines), hear(ClaudeReader(), [line for line in lines for _ in range(2)])
    assert (twice.said, twice.usage, twice.branches) == (once.said, once.usage, once.branches)


def test_unknown_lines_are_kept_as_they_came() -> None:
    strange = ['{"type":"music","uuid":"1"}', "not json", "[1,2]", '{"type":"system","subtype":"new_thing"}', '{"a":']
    heard = hear(ClaudeReader(), [*strange, "", "   "])
    assert heard.unknown == strange


def test_a_person_who_types_while_it_works_is_heard_and_the_prompt_is_not_repeated() -> None:
    def typed(text: str, **more: Any) -> dict[str, Any]:
        return {"type": "user", "message": {"role": "user", "content": text}, **more}

    lines = as_lines(
        typed("Do it", isReplay=True, uuid="1"),
        typed("And be quick", isReplay=True, uuid="2"),
        typed("<task-notification>done</task-notification>", uuid="3"),
        typed("Stop hook feedback", isSynthetic=True, uuid="4"),
        typed("The task is over", origin={"kind": "task-notification"}, uuid="5"),
    )
    assert [kind for kind, _ in hear(ClaudeReader(Task("Do it")), lines).of()] == ["user", "other", "other", "other"]


def test_running_totals_of_a_resumed_conversation_count_from_where_it_was() -> None:
    def stream(total: int) -> list[str]:
        usage = {"input_tokens": 200, "output_tokens": 1}
        message = {"id": "m1", "model": "m", "content": [{"type": "text", "text": "Hi."}], "usage": usage}
        totals = {"m": {"inputTokens": total, "outputTokens": 25, "costUSD": 0.5}}
        result = {"type": "result", "usage": {"input_tokens": 200, "output_tokens": 20}, "modelUsage": totals}
        return as_lines({"type": "assistant", "message": message, "uuid": "1"}, result)

    before = {"m": {"inputTokens": 100, "outputTokens": 5, "costUSD": 0.125}}
    resumed = Task("x", resume="c", totals=before)
    assert hear(ClaudeReader(resumed), stream(300)).usage == {"m": Usage(200, 0, 0, 20, 0, 0.375)}
    assert hear(ClaudeReader(resumed), stream(200)).usage == {"m": Usage(200, 0, 0, 25, 0, 0.5)}  # of this run alone
    unknown = Task("x", resume="c")
    assert hear(ClaudeReader(unknown), stream(300)).usage == {"m": Usage(200, 0, 0, 20)}  # nobody knows what it cost


def test_what_a_whole_conversation_cost_is_not_what_the_run_cost_that_goes_on_with_it() -> None:
    usage = {"input_tokens": 200, "output_tokens": 20}
    result = {"type": "result", "usage": usage, "total_cost_usd": 0.5}
    lines = as_lines(said_in("m1", "Hi.", **usage), result)
    assert hear(ClaudeReader(Task("x", resume="c")), lines).usage == {"m": Usage(200, 0, 0, 20)}
    assert hear(ClaudeReader(Task("x")), lines).usage == {"m": Usage(200, 0, 0, 20, 0, 0.5)}


def test_one_model_by_several_names_is_counted_once() -> None:
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {"id": "m1", "model": "claude-sonnet-4-5-20250929", "content": "Hi.", "usage": usage}
    totals = {"claude-sonnet-4-5[1m]": {"inputTokens": 10, "outputTokens": 5, "costUSD": 0.1}}
    totals["claude-haiku-4-5"] = {"inputTokens": 3, "outputTokens": 1, "costUSD": 0.01}
    lines = as_lines({"type": "assistant", "message": message}, {"type": "result", "modelUsage": totals})
    assert hear(ClaudeReader(), lines).usage == {
        "claude-sonnet-4-5-20250929": Usage(10, 0, 0, 5, 0, 0.1),
        "claude-haiku-4-5": Usage(3, 0, 0, 1, 0, 0.01),
    }


def test_tools_that_run_where_the_model_is_have_their_results() -> None:
    content: list[dict[str, Any]] = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "lions"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"url": "https://example.org"}]},
        {"type": "container_upload", "file_id": "f"},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s1",
            "content": {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
        },
    ]
    heard = hear(
        ClaudeReader(), as_lines({"type": "assistant", "message": {"id": "m", "content": content}, "uuid": "u"})
    )
    assert heard.of()[:2] == [
        ("tool_call", ("web_search", {"query": "lions"})),
        ("tool_result", ("web_search", [{"url": "https://example.org"}])),
    ]
    assert heard.said[2].content == content[2]
    assert heard.of()[3] == ("tool_result", ("web_search", content[3]["content"], "error"))
    assert [one.key for one in heard.said] == ["u", "u/1", "u/2", "u/3"]
