"""What messages say, as text."""

import pytest

from lionstudio.domain.conversation import Message
from lionstudio.domain.message_text import error_text, text_of


def message(role, content):
    return Message("m", 0.0, role, content)


@pytest.mark.parametrize(
    ("role", "content", "expected"),
    [
        ("user", {"instruction": "Find it\nplease"}, "Find it\nplease"),
        ("user", {"instruction": "Find it", "context": ["a"], "guidance": None}, 'Find it\ncontext: ["a"]'),
        ("system", {"system_message": "Be brief."}, "Be brief."),
        ("assistant", {"assistant_response": "Done."}, "Done."),
        ("assistant", {"assistant_response": {"ok": True}}, '{"ok": true}'),
        ("assistant", "plain text", "plain text"),
        ("assistant", {"blocks": ["ü"]}, '{"blocks": ["ü"]}'),
        ("action", {"function": "bash", "arguments": {"cmd": "ls", "n": 1}}, "bash(cmd=ls, n=1)"),
        ("action", {"function": "now"}, "now()"),
        ("action", {"function": "bash", "output": "1 failed"}, "1 failed"),
        ("action", {"function": "bash", "output": "1 failed", "error": True}, "error: 1 failed"),
        ("action", {"function": "bash", "output": "some", "error": "no disk"}, "error: no disk\nsome"),
        ("action", {"function": "bash", "output": None}, ""),
        ("user", None, "null"),
        pytest.param("user", 10**5_000, "(a number of more than 4,300 digits)", id="a huge number"),
    ],
)
def test_a_message_says(role, content, expected):
    assert text_of(message(role, content)) == expected


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ({"output": "1 failed", "error": True}, "1 failed"),
        ({"output": "some", "error": "no disk"}, "no disk"),
        ({"output": None, "error": {"code": 3}}, '{"code": 3}'),
    ],
)
def test_a_failed_tool_says(content, expected):
    assert error_text(message("action", content)) == expected
