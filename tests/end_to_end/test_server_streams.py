"""A reader that is cut off a thousand times, while several processes write, holds what the database holds."""

import random
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from lionstudio.services.context import open_context
from lionstudio.services.messages import list_messages
from lionstudio.settings import load_settings
from tests.recorders.agents import Agent
from tests.server.sse import Event, EventReader
from tests.server.studio_process import StudioProcess

BATCH = 25
PATIENCE = 0.02  # seconds for which a reader waits before it breaks off: a random moment like any other

# Each writes a batch for every line that it is told.
OVER_HTTP = """
import json, random, sys, urllib.request
url, session_id, name, batch = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
dice = random.Random(name)
print("ready", flush=True)
for turn, _ in enumerate(sys.stdin):
    said = [
        {"id": f"{name}-{turn}-{n}", "role": "user", "content": "x" * dice.randrange(300),
         "branch_id": dice.choice(sys.argv[5:]), "created_at": dice.uniform(0, 1.7e9)}
        for n in range(batch)
    ]
    body = json.dumps(said).encode()
    request = urllib.request.Request(
        f"{url}/api/sessions/{session_id}/messages", body, {"Content-Type": "application/json"}
    )
    assert len(json.load(urllib.request.urlopen(request))["ids"]) == batch
"""
BY_THE_STORE = """
import random, sys
from lionstudio.services.context import open_context
from lionstudio.services.messages import append_message, find_line
from lionstudio.settings import load_settings
from tests.factories import assistant_says
location, session_id, name, batch = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
ctx = open_context(load_settings(db=location))
dice = random.Random(name)
lines = [find_line(ctx, session_id, branch_id) for branch_id in sys.argv[5:]]
print("ready", flush=True)
for turn, _ in enumerate(sys.stdin):
    for n in range(batch):
        draft = assistant_says("y" * dice.randrange(300), id=f"{name}-{turn}-{n}", created_at=dice.uniform(0, 1.7e9))
        append_message(ctx, dice.choice(lines), draft)
"""
BY_THE_SDK = """
import random, sys, lionstudio
batch, dice = int(sys.argv[2]), random.Random(7)
with lionstudio.record("streamed", db=sys.argv[1]) as run:
    branches = [run, run.branch("second"), run.branch("third")]
    print(run.session_id, flush=True)
    for _ in sys.stdin:
        for n in range(batch):
            dice.choice(branches).message(role="user", content={"n": n}, created_at=dice.uniform(0, 1.7e9))
"""


class Chain:
    """What one reader of one run holds, over all of its connections."""

    def __init__(self, url: str, session_id: str) -> None:
        self._url = url
        self._path = f"/api/sessions/{session_id}/stream"
        self._last_id: str | None = None
        self.breaks = 0
        self.held: list[dict[str, Any]] = []

    def read_and_break(self, size: int) -> None:
        with EventReader(self._url, self._path, self._last_id) as reader:
            self._keep(reader.take(size, PATIENCE))
        self.breaks += 1

    def read_to_the_end(self) -> None:
        with EventReader(self._url, self._path, self._last_id) as reader:
            events = list(reader.events())
            assert reader.is_whole
        assert events[-1].name == "done"
        self._keep(events)

    def _keep(self, events: Sequence[Event]) -> None:
        for event in events:
            assert event.name in {"message", "state", "done", "comment"}, event
            if event.name == "message":
                self._last_id = event.id
                self.held.append(event.data["message"])


def stored(location: str, session_id: str) -> list[tuple[str, int | None, float, Any]]:
    ctx = open_context(load_settings(db=location))
    found = list_messages(ctx, session_id, limit=10_000)
    ctx.db.close()
    return [(message.id, message.position, message.created_at, message.content) for message in found]


@pytest.mark.parametrize(
    ("location", "turns", "breaks"), [("sqlite", 400, 1_000), ("postgres", 80, 200)], indirect=["location"]
)
def test_a_reader_that_is_cut_off_all_the_time_misses_nothing(
    home: Path, location: str, turns: int, breaks: int
) -> None:
    dice = random.Random(4)
    with StudioProcess(location) as studio, ExitStack() as stack:
        api = f"{studio.url}/api/sessions"
        httpx2.post(api, json={"id": "run", "branch_id": "b0"}).raise_for_status()
        lines = [f"b{number}" for number in range(4)]
        for id in lines[1:]:
            httpx2.post(f"{api}/run/branches", json={"id": id}).raise_for_status()
        writers = [
            stack.enter_context(Agent(OVER_HTTP, studio.url, "run", "first", BATCH, *lines)),
            stack.enter_context(Agent(OVER_HTTP, studio.url, "run", "second", BATCH, *lines)),
            stack.enter_context(Agent(BY_THE_STORE, location, "run", "third", BATCH, *lines)),
        ]
        assert [writer.line() for writer in writers] == ["ready"] * 3
        writers.append(stack.enter_context(Agent(BY_THE_SDK, location, BATCH)))
        recorded = writers[3].line()
        run, sdk = Chain(studio.url, "run"), Chain(studio.url, recorded)
        for turn in range(breaks):
            if turn * turns // breaks != (turn + 1) * turns // breaks:
                dice.choice(writers).tell()
            (sdk if turn % 4 == 0 else run).read_and_break(dice.randrange(16_000))
        for writer in writers:
            ended = writer.end()
            assert (ended.returncode, ended.stderr) == (0, "")
        httpx2.post(f"{api}/run/finish", json={}).raise_for_status()
        for chain in (run, sdk):
            chain.read_to_the_end()
        assert studio.stop() == ""
    assert run.breaks + sdk.breaks == breaks
    assert len(run.held) + len(sdk.held) == turns * BATCH
    for chain, session_id in ((run, "run"), (sdk, recorded)):
        held = [(one["id"], one["position"], one["created_at"], one["content"]) for one in chain.held]
        assert held == stored(location, session_id)
