"""What messages say, as text."""

import pytest

from lionstudio.domain.conversation import Message, MessageKind
from lionstudio.domain.json_text import to_json
from lionstudio.domain.message_text import error_text, members_in, opening_of, text_of


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


@pytest.mark.parametrize("text", ["Find it", 'say "no" \\ twice\n', "🦁 roars", "\ud800 half", "x" * 5_000, ""])
@pytest.mark.parametrize("letters", [1_000, 40, 33, 30, 27])
def test_a_message_begins_as_its_first_letters_say(text: str, letters: int) -> None:
    beginning = to_json({"instruction": text, "context": "more"})[:letters]
    opening = opening_of(MessageKind.USER, beginning)
    assert opening is not None
    assert text.startswith(opening)
    assert len(opening) >= min(len(text), (letters - len('{"instruction":"')) // 12)


def test_what_begins_with_no_text_has_no_opening() -> None:
    assert opening_of(MessageKind.USER, to_json("plain text")) == "plain text"
    assert opening_of(MessageKind.USER, to_json({"instruction": {"deep": 1}})) is None
    assert opening_of(MessageKind.USER, to_json({"other": 'x"instruction":"y'})) is None
    assert opening_of(MessageKind.USER, "") is None


@pytest.mark.parametrize(
    ("beginning", "members"),
    [
        ('{"a":1,"b":{"c":"d","e":"f', {"a": 1, "b": {"c": "d"}}),
        ('{"a":"b","c', {"a": "b"}),
        ('{"a":"b","c":', {"a": "b"}),
        ('{"a":"b","c":12', {"a": "b"}),  # of which more may follow
        ('{"a":[1,{"b":2', {}),
        ('{"a":{"b":{"c":1,"d":"', {"a": {"b": {"c": 1}}}),
        ('{"a":' + "[" * 5_000, {}),
        ('{"a":' * 5_000, None),
        ("{", {}),
        ('"text', {}),
        ("[1,2", {}),
    ],
)
def test_of_an_object_that_is_cut_off_the_whole_members_are_known(beginning, members):
    found = members_in(beginning)
    assert found == members if members is not None else set(found) == {"a"}
