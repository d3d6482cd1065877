"""Messages: what each is to a reader, whichever runtime wrote it."""

import pytest

from lionstudio.domain.conversation import (
    ACTION_REQUEST_CLASS,
    ACTION_RESPONSE_CLASS,
    ASSISTANT_CLASS,
    INSTRUCTION_CLASS,
    SEEDED_CLASSES,
    SYSTEM_CLASS,
    UNKNOWN_CLASS,
    Message,
    MessageDraft,
    MessageKind,
    Sign,
    error_in,
    is_tool_error,
    kind_of,
    sign_of,
    spoken,
    tool_of,
)

CALL = {"function": "bash", "arguments": {}}
RESULT = {"function": "bash", "arguments": {}, "output": "ok", "action_request_id": "c1"}


@pytest.mark.parametrize(
    ("lion_class", "role", "content", "kind"),
    [
        pytest.param(SYSTEM_CLASS, "system", {}, "system", id="lionagi's system message"),
        pytest.param(INSTRUCTION_CLASS, "user", {}, "user", id="lionagi's instruction"),
        pytest.param(ASSISTANT_CLASS, "assistant", {}, "assistant", id="lionagi's answer"),
        pytest.param(ACTION_REQUEST_CLASS, "action", CALL, "tool_call", id="lionagi's tool call"),
        pytest.param(ACTION_RESPONSE_CLASS, "action", RESULT, "tool_result", id="lionagi's tool result"),
        pytest.param(ACTION_RESPONSE_CLASS, "user", CALL, "tool_result", id="the class before role and shape"),
        pytest.param(UNKNOWN_CLASS, "system", {}, "system", id="a system role"),
        pytest.param(UNKNOWN_CLASS, "developer", {}, "system", id="a developer role"),
        pytest.param(UNKNOWN_CLASS, "user", RESULT, "user", id="the role before the shape"),
        pytest.param("my.Own", "assistant", "text", "assistant", id="a class of someone else"),
        pytest.param(UNKNOWN_CLASS, "action", CALL, "tool_call", id="an action that calls"),
        pytest.param(UNKNOWN_CLASS, "action", RESULT, "tool_result", id="an action that answers"),
        pytest.param(UNKNOWN_CLASS, "tool", CALL, "tool_call", id="a tool role that calls"),
        pytest.param(UNKNOWN_CLASS, "tool", "it says ok", "tool_result", id="a tool role with text"),
        pytest.param(UNKNOWN_CLASS, "tool", {"output": None}, "tool_result", id="a tool role with an empty output"),
        pytest.param(UNKNOWN_CLASS, "function", CALL, "tool_call", id="another role, the shape of a call"),
        pytest.param(UNKNOWN_CLASS, "function", RESULT, "tool_result", id="another role, the shape of a result"),
        pytest.param(UNKNOWN_CLASS, "unset", {"text": "hi"}, "other", id="nothing that is known"),
        pytest.param(UNKNOWN_CLASS, "unset", None, "other", id="nothing at all"),
        pytest.param(UNKNOWN_CLASS, "unset", ["function"], "other", id="a list"),
    ],
)
def test_what_a_message_is_to_a_reader(lion_class, role, content, kind):
    assert kind_of(lion_class, role, content) is MessageKind(kind)
    assert Message("m", 1.0, role, content, lion_class).kind is MessageKind(kind)
    assert MessageDraft(role, content, lion_class).kind is MessageKind(kind)


@pytest.mark.parametrize(
    ("role", "content", "expected"),
    [
        pytest.param("system", {"system_message": "be kind"}, SYSTEM_CLASS, id="a system message"),
        pytest.param("developer", {"system_message": "be kind"}, SYSTEM_CLASS, id="one of a developer"),
        pytest.param("user", {"instruction": "go", "context": []}, INSTRUCTION_CLASS, id="an instruction"),
        pytest.param("assistant", {"assistant_response": "hey"}, ASSISTANT_CLASS, id="an answer"),
        pytest.param("action", CALL, ACTION_REQUEST_CLASS, id="a tool call"),
        pytest.param("tool", RESULT, ACTION_RESPONSE_CLASS, id="a tool result"),
        pytest.param("action", {"function": "bash", "output": "x"}, ACTION_RESPONSE_CLASS, id="a result of no call"),
        pytest.param("user", {"assistant_response": "hey"}, UNKNOWN_CLASS, id="the shape of another role"),
        pytest.param("assistant", CALL, UNKNOWN_CLASS, id="a call that an assistant says"),
        pytest.param("action", {"text": "x"}, UNKNOWN_CLASS, id="a tool in a shape of its own"),
        pytest.param("action", "text", UNKNOWN_CLASS, id="a tool with text"),
        pytest.param("user", ["instruction"], UNKNOWN_CLASS, id="a list"),
        pytest.param("unset", {"text": "hi"}, UNKNOWN_CLASS, id="nothing that is known"),
    ],
)
def test_content_in_the_shape_of_its_role_has_lionagis_class(role, content, expected):
    assert spoken(role, content) == (content, expected)


@pytest.mark.parametrize(
    ("content", "tool"),
    [(CALL, "bash"), (RESULT, "bash"), ({}, None), ({"function": 5}, None), ("bash", None), (None, None)],
)
def test_the_tool_a_message_is_about(content, tool):
    assert tool_of(content) == tool


@pytest.mark.parametrize(
    ("role", "content", "shown"),
    [
        pytest.param("tool", CALL, Sign(MessageKind.TOOL_CALL, "bash"), id="a call"),
        pytest.param("tool", RESULT, Sign(MessageKind.TOOL_RESULT, "bash", "c1"), id="its result"),
        pytest.param("tool", "ok", Sign(MessageKind.TOOL_RESULT), id="a result that names no call"),
        pytest.param("tool", {"action_request_id": 7}, Sign(MessageKind.TOOL_RESULT), id="a result of no id"),
        pytest.param("user", RESULT, Sign(MessageKind.USER), id="a person who quotes a result"),
        pytest.param("assistant", CALL, Sign(MessageKind.ASSISTANT), id="an answer that quotes a call"),
    ],
)
def test_what_a_message_shows_about_its_branch(role, content, shown):
    assert sign_of(MessageDraft(role, content)) == shown


@pytest.mark.parametrize("kind", MessageKind)
def test_only_a_call_opens_one_and_only_a_new_turn_abandons_them(kind):
    assert Sign(kind).opens_call is (kind is MessageKind.TOOL_CALL)
    assert Sign(kind).abandons_calls is (kind is MessageKind.USER)


def test_the_seeded_classes_begin_with_the_unknown_one():
    assert SEEDED_CLASSES[0] == UNKNOWN_CLASS
    assert len(SEEDED_CLASSES) == len(set(SEEDED_CLASSES)) == 6


@pytest.mark.parametrize(
    ("content", "error"),
    [
        pytest.param({**RESULT, "error": "no"}, "no", id="in its own place"),
        pytest.param({**RESULT, "error": True}, True, id="told, not explained"),
        pytest.param(
            {**RESULT, "output": {"error": "no", "function": "bash", "arguments": {}}}, "no", id="as lionagi puts it"
        ),
        pytest.param({**RESULT, "output": {"error": "a word in a page"}}, None, id="a tool that found an error"),
        pytest.param({**RESULT, "output": {"error": None, "function": "bash"}}, None, id="none"),
        pytest.param("error", None, id="text"),
    ],
)
def test_what_a_tool_result_says_went_wrong(content, error):
    assert error_in(content) == error
    assert is_tool_error(Message("m", 1.0, "tool", content)) is bool(error)
