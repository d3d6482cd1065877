"""Tool errors: grouped by what went wrong."""

import pytest

from lionstudio.domain.conversation import ACTION_RESPONSE_CLASS, Message
from lionstudio.domain.tool_errors import (
    FAILURES_OF_A_RUN,
    KINDS_SHOWN,
    SENTENCE_LENGTH,
    Failure,
    ToolErrors,
    failures_shown,
    first_failure,
    group_tool_errors,
    masked,
    telling_line,
)


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


PYTEST = """
============ test session starts ============
tests/test_parser.py ....F                [100%]
================== FAILURES =================
______________ test_empty_lines _____________
>       assert parse("") == []
E       ValueError: not enough values
parser/many.py:14: ValueError
========== short test summary info ==========
FAILED tests/test_parser.py::test_empty_lines - ValueError: not enough values
======== 1 failed, 86 passed in 4.21s =======
"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param("\n no disk \n", "no disk", id="one line"),
        pytest.param(
            PYTEST, "FAILED tests/test_parser.py::test_empty_lines - ValueError: not enough values", id="pytest"
        ),
        pytest.param(
            PYTEST.partition("=== short")[0], "E       ValueError: not enough values", id="without its summary"
        ),
        pytest.param(
            "=== RUN   TestSum\n--- FAIL: TestSum (0.00s)\nFAIL\nexit status 1", "--- FAIL: TestSum (0.00s)", id="go"
        ),
        pytest.param(
            "gcc -c a.c\na.c:3:5: error: no such field\nmake: *** [a.o] Error 1",
            "a.c:3:5: error: no such field",
            id="gcc",
        ),
        pytest.param("> tsc\na.ts(3,5): error TS2322: not a number", "a.ts(3,5): error TS2322: not a number", id="tsc"),
        pytest.param("Cloning\nfatal: not a git repository", "fatal: not a git repository", id="git"),
        pytest.param(
            "working\nTypeError: x is not a function\n  at f (a.js:1)", "TypeError: x is not a function", id="node"
        ),
        pytest.param("> test\nnpm ERR! code 1\nnpm ERR! path /srv", "npm ERR! code 1", id="npm"),
        pytest.param("Exit code 2\nls: cannot access 'x'", "ls: cannot access 'x'", id="a bare exit code"),
        pytest.param(
            "The text was not found in the file.\nText: for line in lines:",
            "The text was not found in the file.",
            id="first line tells",
        ),
        pytest.param("====\nstopped\n----", "stopped", id="frames"),
        pytest.param("====\n----", "====", id="only frames"),
        pytest.param("ok\n" * 5_000 + "E   late", "E   late", id="thousands of lines"),
    ],
)
def test_a_failure_is_told_by_the_line_that_says_what_failed(text: str, says: str) -> None:
    assert telling_line(text) == says


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


def test_of_many_kinds_fewer_failures_are_shown_and_never_more_than_a_page_holds() -> None:
    assert failures_shown(0) == failures_shown(1) == failures_shown(10) == 100
    assert failures_shown(25) == 40
    assert failures_shown(3_333) == failures_shown(KINDS_SHOWN) == 20
    assert all(failures_shown(kinds) * min(kinds, KINDS_SHOWN) <= FAILURES_OF_A_RUN for kinds in range(1, 200))


def test_the_latest_failures_come_newest_first() -> None:
    (group,) = group_tool_errors([failure(f"e{number}", "bash", "no", float(number)) for number in range(5)])
    assert [one.message_id for one in group.latest(2)] == ["e4", "e3"]
    assert len(group.latest(100)) == 5


def test_the_first_failure_is_the_oldest_of_any_kind() -> None:
    groups = group_tool_errors(
        [failure("b", "x", "no", 7.0), failure("c", "x", "no", 8.0), failure("a", "y", "no", 3.0)]
    )
    assert first_failure(groups) == Failure("a", 3.0)
    assert first_failure([]) is None
