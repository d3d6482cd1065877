"""Wrong tokens are slowed down by where they come from; the right one never is."""

import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from lionstudio.server.app import create_app
from lionstudio.server.guard import Door
from lionstudio.server.guesses import ADDRESSES, FREE, Guesses
from lionstudio.server.serving import StudioServer, listen
from lionstudio.settings import Settings

TOKEN = "0123456789abcdef"
HERE, THERE = "192.0.2.1", "192.0.2.2"


@pytest.fixture
def location(sqlite_path: Path) -> str:
    """One database is enough: the door stands before it."""
    return str(sqlite_path)


class Seconds:
    def __init__(self) -> None:
        self.at = 100.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


@pytest.fixture
def guesses(seconds: Seconds) -> Guesses:
    return Guesses(seconds)


class TestCounting:
    def test_some_are_free_then_they_wait_then_they_are_too_many(self, guesses: Guesses) -> None:
        assert [guesses.add(HERE) for _ in range(FREE + 4)] == [0.0] * FREE + [1.0, 2.0, None, None]

    def test_each_is_forgiven_after_a_second(self, guesses: Guesses, seconds: Seconds) -> None:
        for _ in range(FREE + 10):
            guesses.add(HERE)
        seconds.at += 3
        assert [guesses.add(HERE) for _ in range(4)] == [0.0, 1.0, 2.0, None]
        seconds.at += 1_000
        assert guesses.add(HERE) == 0.0

    def test_others_are_not_slowed(self, guesses: Guesses) -> None:
        for _ in range(FREE + 10):
            guesses.add(HERE)
        assert guesses.add(THERE) == 0.0

    def test_a_network_of_ipv6_counts_as_one_address(self, guesses: Guesses) -> None:
        for last in range(FREE):
            assert guesses.add(f"2001:db8::{last:x}") == 0.0
        assert guesses.add("2001:db8::ffff:1") == 1.0
        assert guesses.add("2001:db8:0:1::1") == 0.0
        assert guesses.add("::ffff:192.0.2.1") == 0.0
        for _ in range(FREE - 1):
            guesses.add(HERE)
        assert guesses.add("::ffff:192.0.2.1") == 1.0

    def test_only_so_many_addresses_are_remembered(self, guesses: Guesses) -> None:
        for _ in range(FREE):
            guesses.add(HERE)
        for number in range(ADDRESSES - 1):
            guesses.add(f"host-{number}")
        assert guesses.add(HERE) == 1.0  # still known, and now the newest
        for number in range(ADDRESSES):
            guesses.add(f"other-{number}")
        assert guesses.add(HERE) == 0.0


@pytest.fixture
def guarded_url(studio_settings: Settings) -> Iterator[str]:
    """The address of a server that wants a token."""
    sock = listen("127.0.0.1", 0)
    ready = threading.Event()
    server = StudioServer(create_app(studio_settings, Door(token=TOKEN)), ready.set)
    thread = threading.Thread(target=server.serve_on, args=(sock,))
    thread.start()
    assert ready.wait(20)
    yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    server.stop()
    thread.join(20)
    assert not thread.is_alive()


def _log_in(url: str, token: str) -> int:
    return httpx.post(f"{url}/login", data={"token": token}, timeout=30, verify=False).status_code


def _ask(url: str, headers: dict[str, str]) -> int:
    return httpx.get(f"{url}/api/ready", headers=headers, timeout=30, verify=False).status_code


def _guess(url: str, number: int) -> int:
    """One of the three ways in which a wrong token can come."""
    return (
        lambda: _log_in(url, f"wrong{number}"),
        lambda: _ask(url, {"Authorization": f"Bearer wrong{number}"}),
        lambda: _ask(url, {"Cookie": f"{Door(token=TOKEN).cookie_name}=wrong{number}"}),
    )[number % 3]()


def test_sixty_guesses_at_once_do_not_lock_out_who_has_the_token(guarded_url: str) -> None:
    with ThreadPoolExecutor(60) as pool:
        wrong = [pool.submit(_guess, guarded_url, number) for number in range(60)]
        assert _log_in(guarded_url, TOKEN) == 303
        assert _ask(guarded_url, {"Authorization": f"Bearer {TOKEN}"}) == 200
        codes = Counter(answer.result() for answer in wrong)
    assert set(codes) == {401, 429}
    assert codes[429] >= 30
    assert _log_in(guarded_url, TOKEN) == 303


def test_who_brings_no_token_at_all_guesses_nothing(guarded_url: str) -> None:
    assert {_ask(guarded_url, {}) for _ in range(FREE * 2)} == {401}
    assert {_ask(guarded_url, {"Cookie": "theme=dark"}) for _ in range(FREE * 2)} == {401}
    assert _ask(guarded_url, {"Authorization": "Bearer wrong"}) == 401  # the first one, so it need not wait
