"""Tool errors: grouped by what went wrong."""

import pytest

from lionstudio.domain.conversation import ACTION_RESPONSE_CLASS, Message
from lionstudio.domain.tool_errors import SENTENCE_LENGTH, Failure, ToolErrors, group_tool_errors, masked


def failure(id: str, tool: str, error: object, at: float = 0.0, output: object = None) -> Message:
    return Message(id, at, "action", {"function": tool, "output": output, "error": error}, ACTION_RESPONSE_CLASS)


def test_failures_of_one_tool_with_the_same_first_line_are_one_group() -> None:
    messages = [
        failure("a", "bash", True, 1.0, "no disk\nat 1"),
        failure("b", "read", "no file", 2.0),
        failure("c", "bash", "\n  no disk ", 3.0),
        failure("d", "bash", None, 4.0, "fine"),
    ]
    assert group_tool_errors(messages) == [
        ToolErrors("bash", "no disk", (Failure("a", 1.0), Failure("c", 3.0))),
        ToolErrors("read", "no file", (Failure("b", 2.0),)),
    ]


def test_tracebacks_are_told_apart_by_their_last_line() -> None:
    begins = 'Traceback (most recent call last):\n  File "a.py", line 1\n'
    groups = group_tool_errors(
        [failure("a", "bash", begins + "KeyError: 'x'\n"), failure("b", "bash", begins + "ValueError: 7")]
    )
    assert [group.sentence for group in groups] == ["KeyError: 'x'", "ValueError: 7"]


def test_ids_and_numbers_make_no_difference_and_the_last_sentence_is_shown() -> None:
    (group,) = group_tool_errors(
        [failure("a", "bash", "pid 12 died after 3.5s"), failure("b", "bash", "pid 4711 died after 120s")]
    )
    assert (group.times, group.sentence, group.last_message_id) == (2, "pid 4711 died after 120s", "b")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("row 7c1f93d2-5e0a-4c1b-9f6d-2b8a41e6c077 is locked", "row 00000000-0000-4000-8000-000000000000 is locked"),
        ("commit 8d41f0e failed", "commit a1b2c3d4e5f6 failed"),
        ("at 0x7ffee4", "at 0xdeadbeef"),
        ("line 118, column 4", "line 9, column 12"),
    ],
)
def test_the_same_failure_reads_the_same_without_its_ids(one: str, other: str) -> None:
    assert masked(one) == masked(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("no such file a.py", "no such file b.py"), ("defaced", "deadbeef"), ("permission denied", "no space left")],
)
def test_different_failures_stay_apart(one: str, other: str) -> None:
    assert masked(one) != masked(other)


def test_a_line_of_megabytes_is_cut() -> None:
    (group,) = group_tool_errors([failure("a", "bash", "x1" * 1_000_000)])
    assert len(group.sentence) == SENTENCE_LENGTH
