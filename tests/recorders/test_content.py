"""Content comes back equal, from both databases and through the spool; what is not JSON is refused whole."""

from pathlib import Path
from typing import Any

import pytest

import lionstudio
from lionstudio.domain.conversation import Message
from lionstudio.domain.errors import InvalidContent, InvalidRequest
from lionstudio.services.context import Context
from lionstudio.services.messages import list_messages
from lionstudio.services.sessions import get_session
from tests.recorders.agents import let_go, locked, spool_files

ODD_CONTENT = [
    pytest.param("NUL \0 in the middle", id="NUL"),
    pytest.param("half a character: \ud83d", id="a lone surrogate"),
    pytest.param({"\0key\udc00": ["\ud800", "\0"]}, id="in keys"),
    pytest.param([10**30, -(10**30)], id="10**30"),
    pytest.param({"deep": [10**5000, {"and": -(10**5000) - 7}]}, id="10**5000"),
    pytest.param("emoji 🦁, 中文, \u2028\u2029 and \x7f", id="far from ASCII"),
    pytest.param([0.1 + 0.2, 1e308, 5e-324, -0.0], id="floats to the last digit"),
    pytest.param(None, id="nothing"),
    pytest.param([[], {}, "", 0, False], id="everything empty"),
]


@pytest.mark.parametrize("content", ODD_CONTENT)
def test_odd_content_comes_back_equal(ctx: Context, location: str, content: Any) -> None:
    with lionstudio.record(db=location) as run:
        run.message(role="user", content=content, node_metadata={"too": content})
    (message,) = list_messages(ctx, run.session_id)
    assert (message.content, message.node_metadata) == (content, {"too": content})


@pytest.mark.parametrize("content", ODD_CONTENT)
@pytest.mark.usefixtures("impatient")
def test_odd_content_comes_back_equal_through_the_spool(
    sqlite_ctx: Context, sqlite_path: Path, home: Path, content: Any
) -> None:
    with lionstudio.record(db=sqlite_path) as run, locked(sqlite_path) as locker:
        run.message(role="user", content=content, node_metadata={"too": content}, embedding=[0.5, -1.0])
        assert len(spool_files(home)) == 1
        let_go(locker)
    (message,) = list_messages(sqlite_ctx, run.session_id)
    assert (message.content, message.node_metadata) == (content, {"too": content})
    assert message.embedding == (0.5, -1.0)


def test_odd_names_become_readable_and_keep_their_original(ctx: Context, location: str) -> None:
    with lionstudio.record("na\0me", agent="\ud800", db=location) as run:
        run.message(role="us\0er", content=1, sender="\udfff", recipient="r\0", channel="\0")
    session = get_session(ctx, run.session_id)
    assert (session.name, session.agent_name) == ("na\ufffdme", "\ufffd")
    (message,) = list_messages(ctx, run.session_id)
    assert (message.role, message.sender) == ("us\ufffder", "\ufffd")
    assert message.node_metadata == {
        "original": {"role": "us\0er", "sender": "\udfff", "recipient": "r\0", "channel": "\0"}
    }


LARGE = 50 * 1024 * 1024


def test_a_message_of_50_megabytes_comes_back_equal(ctx: Context, location: str) -> None:
    text = "0123456789abcdef" * (LARGE // 16)
    with lionstudio.record(db=location) as run:
        run.user(text)
    (message,) = list_messages(ctx, run.session_id)
    assert message.content == {"instruction": text}


@pytest.mark.usefixtures("impatient")
def test_a_message_of_50_megabytes_goes_through_the_spool(sqlite_ctx: Context, sqlite_path: Path, home: Path) -> None:
    text = "0123456789abcdef" * (LARGE // 16)
    with lionstudio.record(db=sqlite_path) as run, locked(sqlite_path) as locker:
        run.user(text)
        run.user("after it")
        assert spool_files(home)[0].stat().st_size > LARGE
        let_go(locker)
    first, second = list_messages(sqlite_ctx, run.session_id)
    assert first.content == {"instruction": text}
    assert second.content == {"instruction": "after it"}


def circle() -> list[Any]:
    loop: list[Any] = []
    loop.append(loop)
    return loop


NOT_JSON = [
    pytest.param(float("nan"), id="NaN"),
    pytest.param(float("inf"), id="infinity"),
    pytest.param({"a set": {1, 2}}, id="a set"),
    pytest.param(object(), id="an object"),
    pytest.param(b"bytes", id="bytes"),
    pytest.param({(1, 2): "key"}, id="a key that is no text"),
    pytest.param(circle(), id="a circle"),
    pytest.param([10**5000, float("nan")], id="NaN beside a huge integer"),
]


@pytest.mark.parametrize("where", ["content", "node_metadata"])
@pytest.mark.parametrize("content", NOT_JSON)
def test_what_is_not_json_is_refused_and_nothing_stored(ctx: Context, location: str, content: Any, where: str) -> None:
    with lionstudio.record(db=location) as run:
        run.user("before")
        bad = {"content": "good"} | {where: content if where == "content" else {"bad": content}}
        with pytest.raises(InvalidContent):
            run.message(role="user", **bad)
        run.user("after")
    assert texts(list_messages(ctx, run.session_id)) == ["before", "after"]
    assert get_session(ctx, run.session_id).message_count == 2


@pytest.mark.parametrize("content", NOT_JSON)
@pytest.mark.usefixtures("impatient")
def test_what_is_not_json_does_not_get_into_the_spool_either(
    sqlite_ctx: Context, sqlite_path: Path, home: Path, content: Any
) -> None:
    with lionstudio.record(db=sqlite_path) as run, locked(sqlite_path) as locker:
        run.user("before")
        with pytest.raises(InvalidContent):
            run.user(content)
        run.user("after")
        let_go(locker)
    assert texts(list_messages(sqlite_ctx, run.session_id)) == ["before", "after"]
    assert list((home / "spool").glob("*/*")) == []


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param({"role": ""}, id="no role"),
        pytest.param({"role": 7}, id="a role that is no text"),
        pytest.param({"sender": 7}, id="a sender that is no text"),
        pytest.param({"lion_class": 7}, id="a class that is no text"),
        pytest.param({"id": 7}, id="an id that is no text"),
        pytest.param({"id": "a\0b"}, id="an id with NUL"),
        pytest.param({"id": "\ud800"}, id="an id with half a character"),
        pytest.param({"created_at": "yesterday"}, id="a time that is no number"),
        pytest.param({"created_at": float("nan")}, id="a time that is NaN"),
        pytest.param({"created_at": 1_790_000_000_000}, id="a time in milliseconds"),
        pytest.param({"created_at": -9e12}, id="a time that no calendar can show"),
        pytest.param({"embedding": ["a"]}, id="an embedding of words"),
        pytest.param({"embedding": [1e39]}, id="an embedding beyond float32"),
        pytest.param({"embedding": []}, id="an empty embedding"),
        pytest.param({"embedding": ["1", "2"]}, id="an embedding of digits"),
        pytest.param({"embedding": [1j]}, id="an embedding of complex numbers"),
        pytest.param({"created_at": 10**400}, id="a time beyond all"),
        pytest.param({"node_metadata": "text"}, id="metadata of text"),
        pytest.param({"node_metadata": [("a", 1)]}, id="metadata of pairs"),
    ],
)
def test_a_message_that_no_database_could_keep_is_refused_at_once(
    ctx: Context, location: str, home: Path, bad: dict[str, Any]
) -> None:
    with lionstudio.record(db=location) as run:
        with pytest.raises(InvalidRequest):
            run.message(**{"role": "user", "content": 1, **bad})
        run.user("good")
    assert texts(list_messages(ctx, run.session_id)) == ["good"]
    assert spool_files(home) == []


@pytest.mark.parametrize("bad", [{"name": 7}, {"agent": ["a"]}, {"model": 4.5}, {"user": b"ana"}, {"playbook": 1}])
def test_a_run_whose_names_are_no_text_is_refused(home: Path, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match=f"The {next(iter(bad))} must be text"):
        lionstudio.record(**bad)


def texts(messages: list[Message]) -> list[Any]:
    return [message.content["instruction"] for message in messages]
