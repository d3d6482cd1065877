"""lionagi's messages and progressions in and out, on captured ones: none loses anything."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionstudio.domain.conversation import INSTRUCTION_CLASS, SYSTEM_CLASS, UNKNOWN_CLASS, Message, MessageDraft
from lionstudio.domain.errors import InvalidContent
from lionstudio.domain.lionagi_messages import (
    message_dict,
    message_draft,
    progression_dict,
    progression_draft,
    progression_ids,
)
from tests.domain.factories import lionagi_sample as sample


def stored(draft: MessageDraft) -> Message:
    """What a store gives back for a draft that has its id and time."""
    fields = {name: getattr(draft, name) for name in MessageDraft._fields}
    return Message(**{**fields, "node_metadata": json.loads(json.dumps(draft.node_metadata))})


PLAIN = {
    "id": "m1",
    "created_at": 1794771545.25,
    "content": {"instruction": "hi"},
    "embedding": None,
    "sender": "user",
    "recipient": "b1",
    "channel": None,
    "role": "user",
    "node_metadata": {"lion_class": INSTRUCTION_CLASS},
}


@pytest.mark.parametrize("source", sample("messages"), ids=lambda source: source["role"])
def test_a_captured_message_comes_back_as_it_was(source):
    draft = message_draft(source)
    assert draft.lion_class == source["node_metadata"]["lion_class"]
    assert (draft.id, draft.created_at, draft.content) == (source["id"], source["created_at"], source["content"])
    assert message_dict(stored(draft)) == source


@pytest.mark.parametrize("at", [-9e12, 1_790_000_000_000.0, 10**400])
def test_a_time_that_no_calendar_can_show_is_kept_as_written_and_taken_for_none(at):
    draft = message_draft({**PLAIN, "created_at": at})
    assert draft.created_at is None
    assert message_dict(stored(draft._replace(created_at=7.0)))["created_at"] == at


def test_a_plain_message_carries_nothing_but_its_own_metadata():
    assert message_draft(PLAIN) == MessageDraft(
        id="m1",
        created_at=1794771545.25,
        role="user",
        content={"instruction": "hi"},
        lion_class=INSTRUCTION_CLASS,
        sender="user",
        recipient="b1",
        node_metadata={"lion_class": INSTRUCTION_CLASS},
    )


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"priority": 3, "tags": ["a"]}, id="fields nobody knows"),
        pytest.param({"created_at": "2026-11-15T19:35:05.314553+00:00"}, id="an ISO time"),
        pytest.param({"created_at": "yesterday"}, id="a time nobody can read"),
        pytest.param({"embedding": [0.25, -1.5, 3]}, id="an embedding"),
        pytest.param({"embedding": "not a vector"}, id="an embedding that is none"),
        pytest.param({"sender": 7, "channel": ["x"]}, id="addresses that are no text"),
        pytest.param({"node_metadata": {}}, id="no class"),
        pytest.param({"node_metadata": None}, id="null metadata"),
        pytest.param({"node_metadata": ["odd"]}, id="metadata that is no dict"),
        pytest.param({"node_metadata": {"lion_class": 5}}, id="a class that is no name"),
        pytest.param({"node_metadata": {"note": 1}, "lion_class": SYSTEM_CLASS}, id="the class beside the metadata"),
        pytest.param({"node_metadata": {"lionagi": {"own": 1}}}, id="metadata with our key"),
        pytest.param({"metadata": {"both": 1}}, id="both kinds of metadata"),
        pytest.param({"role": None, "content": None}, id="null role and content"),
        pytest.param({"created_at": True}, id="a truth for a time"),
    ],
)
def test_an_odd_message_comes_back_as_it_was(change):
    source = {**PLAIN, **change}
    assert message_dict(stored(message_draft(source))) == source


@pytest.mark.parametrize("missing", sorted(PLAIN))
def test_a_field_that_was_missing_is_missing_again(missing):
    source = {name: value for name, value in PLAIN.items() if name != missing}
    assert message_dict(message_draft(source)) == source


def test_a_message_that_got_its_id_and_time_here_keeps_them():
    source = {name: value for name, value in PLAIN.items() if name not in ("id", "created_at")}
    assert message_dict(stored(message_draft(source)._replace(id="new", created_at=5.0))) == {
        **source,
        "id": "new",
        "created_at": 5.0,
    }


def test_metadata_under_its_runtime_name_is_understood_and_renamed():
    nested = {name: value for name, value in PLAIN.items() if name != "node_metadata"}
    nested["metadata"] = PLAIN["node_metadata"]
    assert message_draft(nested) == message_draft(PLAIN)
    assert message_dict(message_draft(nested)) == PLAIN


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param({}, INSTRUCTION_CLASS, id="from the metadata"),
        pytest.param({"lion_class": SYSTEM_CLASS}, INSTRUCTION_CLASS, id="the metadata before the field beside it"),
        pytest.param({"node_metadata": {}, "lion_class": SYSTEM_CLASS}, SYSTEM_CLASS, id="from the field beside it"),
        pytest.param({"node_metadata": {}}, UNKNOWN_CLASS, id="from nowhere"),
        pytest.param({"node_metadata": {"lion_class": "my.Own"}}, "my.Own", id="a class of someone else"),
    ],
)
def test_the_class_of_a_message_is_found(change, expected):
    assert message_draft({**PLAIN, **change}).lion_class == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1794771545.25, 1794771545.25),
        (1794771545, 1794771545.0),
        ("1970-01-01T00:01:00+00:00", 60.0),
        ("1970-01-01T00:01:00Z", 60.0),
        ("1970-01-01T02:01:00+02:00", 60.0),
        ("1970-01-01T00:01:00", 60.0),
        ("soon", None),
        (float("nan"), None),
        (None, None),
    ],
)
def test_times_are_read_as_numbers_or_iso_text_and_are_utc(value, expected):
    assert message_draft({**PLAIN, "created_at": value}).created_at == expected


def test_a_message_without_a_role_gets_lionagis_own_word_for_that():
    assert message_draft({**PLAIN, "role": None}).role == "unset"


def test_a_message_born_here_is_given_its_class_for_lionagi():
    message = Message(id="m", created_at=1.0, role="user", content={"instruction": "x"}, lion_class=INSTRUCTION_CLASS)
    assert message_dict(message)["node_metadata"] == {"lion_class": INSTRUCTION_CLASS}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        pytest.param(
            {"prompt_tokens": 130, "completion_tokens": 6, "prompt_tokens_details": {"cached_tokens": 64}},
            {"input_tokens": 66, "cache_read_tokens": 64, "output_tokens": 6},
            id="OpenAI chat counts cached input within the input",
        ),
        pytest.param(
            {
                "input_tokens": 130,
                "output_tokens": 9,
                "input_tokens_details": {"cached_tokens": 30},
                "output_tokens_details": {"reasoning_tokens": 4},
            },
            {"input_tokens": 100, "cache_read_tokens": 30, "output_tokens": 9, "reasoning_tokens": 4},
            id="OpenAI responses",
        ),
        pytest.param(
            {
                "input_tokens": 10,
                "output_tokens": 5,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 50,
            },
            {"input_tokens": 10, "cache_read_tokens": 100, "cache_write_tokens": 50, "output_tokens": 5},
            id="Anthropic counts it beside the input",
        ),
    ],
)
def test_the_model_and_its_tokens_are_told_in_our_words_and_taken_back_out(usage, expected):
    source = {**PLAIN, "node_metadata": {"model_response": {"model": "m-1", "usage": usage}}}
    draft = message_draft(source)
    counted = draft.node_metadata["usage"]
    assert {name: count for name, count in counted.items() if count} == expected
    assert draft.node_metadata["model"] == "m-1"
    assert message_dict(stored(draft)) == source


def test_metadata_that_names_a_model_itself_is_left_alone():
    source = {**PLAIN, "node_metadata": {"model": "mine", "model_response": {"model": "m-1"}}}
    assert message_draft(source).node_metadata["model"] == "mine"
    assert message_dict(message_draft(source)) == source


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
field_names = st.sampled_from([*PLAIN, "lion_class", "extra", "lionagi"])


@given(st.dictionaries(field_names, json_values))
def test_any_dict_at_all_comes_back_equal(source):
    assert message_dict(message_draft(source)) == source


@pytest.mark.parametrize("source", [None, [], "text", 3])
def test_what_is_no_dict_is_refused(source):
    for read in (message_draft, progression_draft):
        with pytest.raises(InvalidContent):
            read(source)


def test_a_progression_comes_back_as_it_was():
    source = sample("progression")
    draft = progression_draft(source)
    assert draft.order == progression_ids(source) == tuple(source["order"])
    assert progression_dict(draft) == source


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"order": ["a", "b"]}, ("a", "b")),
        ({"progression": {"order": ["a"]}}, ("a",)),
        ({"progression": ["a"]}, ("a",)),
        (["a", "b"], ("a", "b")),
        ({}, ()),
        (None, ()),
        ("ab", ()),
    ],
)
def test_ids_are_found_wherever_an_order_is_kept(source, expected):
    assert progression_ids(source) == expected


USED = {"prompt_tokens": 10, "completion_tokens": 2}


def tree(*counts: int) -> dict[str, int]:
    """What an agent and its subagents used of one model, as Claude Code tells it."""
    names = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens")
    return dict(zip(names, counts, strict=True))


@pytest.mark.parametrize(
    ("metadata", "usage"),
    [
        pytest.param({"model_response": {"usage": USED}}, {"input_tokens": 10, "output_tokens": 2}, id="one answer"),
        pytest.param(
            {"model_response": {"usage": USED}, "original_model_response": {"usage": {"input_tokens": 5}}},
            {"input_tokens": 15, "output_tokens": 2},
            id="an answer, and another call that brought it into form",
        ),
        pytest.param(
            {"model_response": {"usage": USED}, "original_model_response": {"usage": USED}},
            {"input_tokens": 10, "output_tokens": 2},
            id="the same answer twice",
        ),
        pytest.param(
            {"model_response": [{"usage": {"prompt_tokens": 10}}, {"usage": USED}, {"choices": []}]},
            {"input_tokens": 10, "output_tokens": 2},
            id="pieces, whose counts go on",
        ),
        pytest.param({"model_response": {"input_tokens": 7}}, {"input_tokens": 7}, id="flat"),
        pytest.param({"model_response": {"cost": 0.5}}, {"cost_usd": 0.5}, id="a price alone"),
        pytest.param({"model_response": {"total_cost_usd": 0.0, "cost": 9}}, {"cost_usd": 0.0}, id="free of charge"),
        pytest.param(
            {"model_response": {"usage": USED, "model_usage": {"opus": tree(1, 3, 4, 2), "haiku": tree(1, 0, 0, 1)}}},
            {"input_tokens": 2, "cache_read_tokens": 3, "cache_write_tokens": 4, "output_tokens": 3},
            id="with subagents",
        ),
        pytest.param(
            {"model_response": {"usage": USED, "model_usage": {"opus": {"inputTokens": 1}}}},
            {"input_tokens": 10, "output_tokens": 2},
            id="subagents that are told in part",
        ),
    ],
)  # fmt: skip
def test_what_an_answer_used_is_counted_once(metadata: dict[str, Any], usage: dict[str, Any]) -> None:
    draft = message_draft({"role": "assistant", "content": {}, "node_metadata": metadata})
    assert draft.node_metadata is not None
    found = draft.node_metadata["usage"]
    assert {kind: count for kind, count in found.items() if count or kind == "cost_usd"} == usage
    assert message_dict(draft)["node_metadata"] == metadata
