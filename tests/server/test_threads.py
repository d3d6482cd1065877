"""Threads of the server: what waits for the database takes none from what need not wait."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx

from lionstudio.server.threads import SLOW, STREAMS, WRITES, Lane
from lionstudio.services.context import Context
from lionstudio.store import sessions as session_rows
from tests.factories import NOW, start_run
from tests.services.test_health import end_run
from tests.waiting import wait_until

WRITERS = 45  # more than there are threads
AT_ONCE = {"timeout": 2.5}  # seconds; those who hold the database up do so for longer
SAID = {"role": "user", "content": {"instruction": "Look at it."}}


def test_while_the_database_is_locked_whoever_only_reads_is_answered(studio_url: str, ctx: Context) -> None:
    run, old = start_run(ctx), start_run(ctx, "old")
    end_run(ctx, old.id)
    with httpx.Client(base_url=studio_url, timeout=60) as client, ThreadPoolExecutor(2 * WRITERS) as people:
        with ctx.db.write() as tx:  # as another program would hold it
            for one in (run, old):
                session_rows.touch(tx, one.id, message_id=None, at=NOW)
            saying = [people.submit(client.post, f"/api/sessions/{run.id}/messages", json=SAID) for _ in range(WRITERS)]
            deleting = [
                people.submit(client.post, "/api/admin/prune", json={"session_ids": [old.id], "dry_run": False})
                for _ in range(WRITERS)
            ]
            wait_until(lambda: WRITES.busy + SLOW.busy == 44)
            assert httpx.get(f"{studio_url}/api/ready", **AT_ONCE).status_code == 200
            listed = httpx.get(f"{studio_url}/api/sessions", **AT_ONCE).json()
            with httpx.stream("GET", f"{studio_url}/api/sessions/{run.id}/stream", **AT_ONCE) as stream:
                first = next(line for line in stream.iter_lines() if line.startswith("event"))
        answers = {one.result().status_code for one in saying}
        deleted = [one.result().status_code for one in deleting]
    assert {item["id"] for item in listed["items"]} == {run.id, old.id}
    assert first == "event: state"
    assert answers == {201}
    assert deleted.count(200) == 1  # the others find nothing any more


def test_slow_acts_wait_for_each_other_alone() -> None:
    async def meet() -> tuple[int, list[str]]:
        go_on, begun = threading.Event(), []

        def act() -> None:
            begun.append("act")
            go_on.wait(20)

        acts = [asyncio.create_task(SLOW.run(act)) for _ in range(20)]
        others = [await asyncio.wait_for(lane.run(lambda: "done"), 5) for lane in (WRITES, STREAMS)]
        at_once = len(begun)
        go_on.set()
        await asyncio.gather(*acts)
        assert len(begun) == 20
        return at_once, others

    at_once, others = asyncio.run(meet())
    assert at_once <= 4
    assert others == ["done", "done"]


def test_a_lane_serves_one_event_loop_after_the_other() -> None:
    lane = Lane("test", most=1)
    assert [asyncio.run(lane.run(int, "7")) for _ in range(2)] == [7, 7]
