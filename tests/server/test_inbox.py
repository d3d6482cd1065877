"""Messages between runs over HTTP: inbox, outbox, and what went between two."""

from typing import Any

import pytest
from starlette.testclient import TestClient

from lionstudio.services.context import Context
from lionstudio.services.messages import send_message
from tests.factories import start_run, user_says

PATH = "/api/messages"


def send(ctx: Context, text: str, recipient: str = "ben", sender: str = "ana", **more: Any) -> str:
    return send_message(ctx, None, user_says(text, sender=sender, recipient=recipient, **more))


def texts(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [message["content"]["instruction"] for message in answer.json()["items"]]


def walk(client: TestClient, limit: int, **wanted: str) -> list[str]:
    found, after = [], "0"
    while True:
        answer = client.get(PATH, params={"after": after, "limit": limit, **wanted})
        found += texts(answer)
        after = answer.json()["next_cursor"]
        if after is None:
            return found


@pytest.fixture
def filled(ctx: Context) -> None:
    for number in range(5):
        send(ctx, f"to ben {number}", channel="handover" if number % 2 else None)
        send(ctx, f"to cy {number}", "cy")
    send(ctx, "from cy", sender="cy")


@pytest.mark.usefixtures("filled")
class TestExchange:
    def test_an_inbox_is_read_to_its_end(self, client: TestClient) -> None:
        expected = [*(f"to ben {number}" for number in range(5)), "from cy"]
        for limit in (1, 2, 3, 6, 1_000):
            assert walk(client, limit, recipient="ben") == expected

    def test_an_outbox_is_read_in_the_order_of_commits(self, client: TestClient) -> None:
        assert walk(client, 3, sender="ana") == [f"to {who} {number}" for number in range(5) for who in ("ben", "cy")]

    def test_what_went_between_two_is_asked_by_both(self, client: TestClient) -> None:
        assert walk(client, 2, sender="cy", recipient="ben") == ["from cy"]
        assert walk(client, 2, sender="ben", recipient="cy") == []

    def test_a_channel_is_a_part_of_a_box(self, client: TestClient) -> None:
        assert walk(client, 1, recipient="ben", channel="handover") == ["to ben 1", "to ben 3"]
        assert walk(client, 1, recipient="ben", channel="none") == []

    def test_a_channel_alone_is_enough(self, client: TestClient, ctx: Context) -> None:
        send(ctx, "to cy on it", "cy", channel="handover")
        assert walk(client, 2, channel="handover") == ["to ben 1", "to ben 3", "to cy on it"]

    def test_a_position_is_where_to_go_on_later(self, client: TestClient, ctx: Context) -> None:
        last = client.get(PATH, params={"recipient": "ben"}).json()["items"][-1]["position"]
        again = {"recipient": "ben", "after": last}
        assert client.get(PATH, params=again).json() == {"items": [], "next_cursor": None}
        again = {"recipient": "ben", "cursor": last}
        assert client.get(PATH, params=again).json() == {"items": [], "next_cursor": None}
        send(ctx, "new")
        assert texts(client.get(PATH, params=again)) == ["new"]

    def test_a_message_says_who_wrote_it_to_whom(self, client: TestClient) -> None:
        message = client.get(PATH, params={"recipient": "ben", "channel": "handover"}).json()["items"][0]
        assert (message["sender"], message["recipient"], message["channel"]) == ("ana", "ben", "handover")


def test_what_a_run_said_to_a_name_is_in_its_inbox(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    send_message(ctx, "run-1", user_says("done", recipient="ben"))
    assert texts(client.get(PATH, params={"recipient": "ben"})) == ["done"]


def test_without_a_name_nothing_is_told(client: TestClient) -> None:
    answer = client.get(PATH)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert "recipient" in answer.json()["hint"]


@pytest.mark.parametrize("wanted", [{"after": -1}, {"after": "x"}, {"limit": 0}, {"limit": 1001}, {"after": 2**60}])
def test_a_page_that_cannot_be_is_refused(client: TestClient, wanted: dict[str, Any]) -> None:
    answer = client.get(PATH, params={"recipient": "ben", **wanted})
    assert (answer.status_code, set(answer.json())) == (422, {"code", "message", "hint"})


def test_a_name_of_any_shape_is_only_a_name(client: TestClient, ctx: Context) -> None:
    for name in ("' OR 1=1 --", "../x", "nul \0", "%", "x" * 4_000):
        send(ctx, name, name)
        assert texts(client.get(PATH, params={"recipient": name})) == [name]


def test_a_page_of_large_messages_is_short(client: TestClient, ctx: Context) -> None:
    for number in range(3):
        send(ctx, f"{number}" * 600_000)
    answer = client.get(PATH, params={"recipient": "ben", "limit": 1_000})
    assert len(texts(answer)) == 1
    assert [text[0] for text in walk(client, 1_000, recipient="ben")] == ["0", "1", "2"]
