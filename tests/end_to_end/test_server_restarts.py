"""The server is killed and comes back, while writers write and readers read: nobody loses anything."""

import random
import threading
from pathlib import Path
from typing import Any

import httpx2
import pytest

from lionstudio.services.context import open_context
from lionstudio.services.messages import list_messages
from lionstudio.settings import load_settings
from tests.server.sse import EventReader
from tests.server.studio_process import StudioProcess
from tests.waiting import wait_until

WRITERS = 4
TRY_AGAIN_AFTER = 0.02  # seconds; whoever tries all the time keeps the server from coming back


def stored(location: str) -> list[str]:
    ctx = open_context(load_settings(db=location))
    found = [message.id for message in list_messages(ctx, "run", limit=10_000)]
    ctx.db.close()
    return found


def test_what_was_answered_is_there_after_a_kill(home: Path, location: str) -> None:
    studio = StudioProcess(location)
    for number in range(3):
        studio.start()
        httpx2.post(f"{studio.url}/api/sessions", json={"id": "run"}).raise_for_status()
        said = [{"id": f"m{number}-{n}", "role": "user", "content": n} for n in range(50)]
        answer = httpx2.post(f"{studio.url}/api/sessions/run/messages", json=said)
        studio.kill()
        assert answer.status_code == 201
        assert stored(location) == [f"m{turn}-{n}" for turn in range(number + 1) for n in range(50)]


class Writer(threading.Thread):
    """Says one thing after the other, each until it hears that it is stored."""

    def __init__(self, url: str, name: str, enough: threading.Event) -> None:
        super().__init__()
        self._url = f"{url}/api/sessions/run/messages"
        self._called = name
        self._enough = enough
        self.said: list[str] = []
        self.tries = 0
        self.problem: str | None = None

    def run(self) -> None:
        with httpx2.Client(timeout=10) as client:
            while not self._enough.is_set() and self.problem is None:
                id = f"{self._called}-{len(self.said)}"
                while not self._is_stored(client, {"id": id, "role": "user", "content": id}):
                    self._enough.wait(TRY_AGAIN_AFTER)
                self.said.append(id)

    def _is_stored(self, client: httpx2.Client, message: dict[str, Any]) -> bool:
        self.tries += 1
        try:
            answer = client.post(self._url, json=message)
        except httpx2.TransportError:
            return False  # nobody there, or gone before the answer: was it stored? The id will tell.
        if answer.status_code != 201:
            self.problem = answer.text
        return True


class Reader(threading.Thread):
    """Follows the run and comes back with its last number whenever the line breaks."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url
        self._never = threading.Event()
        self.held: list[str] = []
        self.breaks = 0
        self.problem: BaseException | None = None

    def run(self) -> None:
        last_id: str | None = None
        try:
            while True:
                try:
                    with EventReader(self._url, "/api/sessions/run/stream", last_id) as reader:
                        for event in reader.events():
                            assert event.name in {"message", "state", "comment", "done"}, event
                            if event.name == "message":
                                last_id = event.id
                                self.held.append(event.data["message"]["id"])
                            if event.name == "done":
                                return
                except (OSError, EOFError):
                    pass
                self.breaks += 1
                self._never.wait(TRY_AGAIN_AFTER)
        except BaseException as problem:
            self.problem = problem


@pytest.mark.parametrize(("location", "kills"), [("sqlite", 6), ("postgres", 3)], indirect=["location"])
def test_writers_and_readers_go_on_when_the_server_is_killed_and_comes_back(
    home: Path, location: str, kills: int
) -> None:
    dice, enough = random.Random(9), threading.Event()
    with StudioProcess(location) as studio:
        httpx2.post(f"{studio.url}/api/sessions", json={"id": "run"}).raise_for_status()
        writers = [Writer(studio.url, f"w{number}", enough) for number in range(WRITERS)]
        readers = [Reader(studio.url) for _ in range(3)]
        for thread in (*writers, *readers):
            thread.start()
        try:
            for _ in range(kills):
                goal = sum(len(writer.said) for writer in writers) + dice.randrange(40, 200)
                wait_until(lambda goal=goal: sum(len(writer.said) for writer in writers) >= goal)
                studio.kill()
                studio.start()
            goal = {writer: len(writer.said) + 5 for writer in writers}
            wait_until(lambda: all(len(writer.said) >= goal[writer] for writer in writers))
        finally:
            enough.set()
            for writer in writers:
                writer.join(20)
            httpx2.post(f"{studio.url}/api/sessions/run/finish", json={}).raise_for_status()
            for reader in readers:
                reader.join(20)
        assert studio.stop() == ""
    assert [thread.problem for thread in (*writers, *readers)] == [None] * (WRITERS + 3)
    found = stored(location)
    assert sorted(found) == sorted(id for writer in writers for id in writer.said)
    for number in range(WRITERS):
        own = [id for id in found if id.startswith(f"w{number}-")]
        assert own == writers[number].said
    assert any(writer.tries > len(writer.said) for writer in writers)  # the kills hit somebody
    for reader in readers:
        assert reader.held == found
        assert reader.breaks >= kills
