"""Recording on an event loop: off the loop, in order."""

import asyncio
import signal
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

import lionstudio
from lionstudio.domain.errors import BranchNotFound, ForkOutOfRange, InvalidContent
from lionstudio.services.context import Context
from lionstudio.services.messages import list_messages
from lionstudio.services.sessions import get_session
from tests.recorders.agents import Agent, let_go, locked, run_agent
from tests.waiting import wait_until


def said(ctx: Context, session_id: str) -> list[str]:
    return [message.content["instruction"] for message in list_messages(ctx, session_id)]


def test_verbs_keep_their_order_awaited_or_not(ctx: Context, location: str) -> None:
    async def main() -> lionstudio.Run:
        async with lionstudio.record("async", db=location) as run:
            for number in range(20):
                message = run.user(str(number))
                if number % 3 == 0:
                    assert await message is message
            side = await run.branch("side")
            await side.user("aside")
        return run

    run = asyncio.run(main())
    assert said(ctx, run.session_id) == [*map(str, range(20)), "aside"]
    assert get_session(ctx, run.session_id).status == "completed"


def test_awaiting_means_stored(sqlite_ctx: Context, sqlite_path: Path) -> None:
    async def main() -> None:
        async with lionstudio.record("async", db=sqlite_path) as run:
            for number in range(1, 6):
                await run.user(str(number))
                assert get_session(sqlite_ctx, run.session_id).message_count == number

    asyncio.run(main())


def test_content_is_kept_as_it_was_when_it_was_said(sqlite_ctx: Context, sqlite_path: Path) -> None:
    async def main() -> lionstudio.Run:
        async with lionstudio.record("async", db=sqlite_path) as run:
            history = ["one"]
            for _ in range(3):
                run.message(role="user", content={"instruction": history})
                history.append("more")
        return run

    run = asyncio.run(main())
    assert [len(text) for text in said(sqlite_ctx, run.session_id)] == [1, 2, 3]


def test_the_loop_goes_on_while_the_database_is_locked(sqlite_ctx: Context, sqlite_path: Path) -> None:
    async def main() -> tuple[str, int]:
        async with lionstudio.record("async", db=sqlite_path) as run:
            with locked(sqlite_path) as locker:
                message = asyncio.ensure_future(_stored(run.user("one")))
                beats = 0
                while beats < 100:
                    await asyncio.sleep(0.001)
                    beats += 1
                assert not message.done()
                let_go(locker)
                await message
        return run.session_id, beats

    async def _stored(recorded: Awaitable[object]) -> None:
        await recorded

    session_id, beats = asyncio.run(main())
    assert beats == 100
    assert said(sqlite_ctx, session_id) == ["one"]


def test_a_cancelled_task_ends_its_run_with_all_that_was_said(ctx: Context, location: str) -> None:
    runs: list[lionstudio.Run] = []

    async def work(spoken: asyncio.Event) -> None:
        async with lionstudio.record("async", db=location) as run:
            runs.append(run)
            for number in range(20):
                run.user(str(number))
            spoken.set()
            await asyncio.Event().wait()

    async def main() -> None:
        spoken = asyncio.Event()
        task = asyncio.create_task(work(spoken))
        await spoken.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    session = get_session(ctx, runs[0].session_id)
    assert (session.status, session.end_reason) == ("cancelled", "run.cancelled.task")
    assert said(ctx, session.id) == [*map(str, range(20))]


def test_who_stops_waiting_does_not_take_the_message_back(sqlite_ctx: Context, sqlite_path: Path) -> None:
    async def main() -> lionstudio.Run:
        async with lionstudio.record("async", db=sqlite_path) as run:
            with locked(sqlite_path) as locker:
                for text in ("one", "two"):
                    with pytest.raises(TimeoutError):
                        async with asyncio.timeout(0.01):
                            await run.user(text)
                let_go(locker)
        return run

    run = asyncio.run(main())
    assert said(sqlite_ctx, run.session_id) == ["one", "two"]


def test_cancelled_while_it_leaves_the_run_still_ends(sqlite_ctx: Context, sqlite_path: Path) -> None:
    script = """
    import asyncio, sys, lionstudio
    from tests.recorders.test_asyncio import waits_in
    async def work():
        async with lionstudio.record("async", db=sys.argv[1]) as run:
            print(run.session_id, flush=True)
            sys.stdin.readline()
            run.user("one")
            print("leaving", flush=True)
    async def main():
        task = asyncio.create_task(work())
        while not waits_in(task, "end_off_loop"):
            await asyncio.sleep(0)
        task.cancel()
        await task
    try:
        asyncio.run(main())
    except asyncio.CancelledError:
        pass
    print("over", flush=True)
    """
    with Agent(script, sqlite_path) as agent:
        session_id = agent.line()
        with locked(sqlite_path) as locker:
            agent.tell()
            assert [agent.line(), agent.line()] == ["leaving", "over"]  # the loop is gone, the writing thread is not
            let_go(locker)
            assert agent.end().returncode == 0
    assert said(sqlite_ctx, session_id) == ["one"]
    assert get_session(sqlite_ctx, session_id).status == "completed"


def test_cancelled_while_it_begins_the_run_does_not_stay_running(sqlite_ctx: Context, sqlite_path: Path) -> None:
    async def work() -> None:
        async with lionstudio.record("async", db=sqlite_path):
            raise AssertionError("The block must not be entered.")

    async def main() -> None:
        with locked(sqlite_path) as locker:
            task = asyncio.create_task(work())
            while not waits_in(task, "begin_off_loop"):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            let_go(locker)

    asyncio.run(main())
    with lionstudio.open(sqlite_path) as reader:
        wait_until(lambda: [session.status for session in reader.sessions()] == ["cancelled"])


def test_a_signal_on_the_loop_ends_the_run_after_what_was_said(sqlite_ctx: Context, sqlite_path: Path) -> None:
    script = """
    import asyncio, sys, lionstudio
    async def main():
        async with lionstudio.record("async", db=sys.argv[1]) as run:
            for number in range(50):
                run.user(str(number))
            print(run.session_id, flush=True)
            await asyncio.Event().wait()
    asyncio.run(main())
    """
    with Agent(script, sqlite_path) as agent:
        session_id = agent.line()
        agent.signal(signal.SIGTERM)
        assert agent.end() == (-signal.SIGTERM, "", "")
    assert get_session(sqlite_ctx, session_id).status == "cancelled"
    assert said(sqlite_ctx, session_id) == [*map(str, range(50))]


def test_what_cannot_be_recorded_is_said_when_nobody_awaits_it(
    sqlite_ctx: Context, sqlite_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def main() -> lionstudio.Run:
        async with lionstudio.record("async", db=sqlite_path) as run:
            run.user({1, 2})
            with pytest.raises(InvalidContent):
                await run.user({3})
            with pytest.raises(ForkOutOfRange):
                await run.fork("too far", at=7)
            await run.user("good")
        return run

    run = asyncio.run(main())
    assert said(sqlite_ctx, run.session_id) == ["good"]
    assert capfd.readouterr().err.count("lionstudio: Something was not recorded: The content is not JSON") == 1


def test_what_is_said_in_a_branch_that_was_refused_is_refused_too(
    sqlite_ctx: Context, sqlite_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def main() -> lionstudio.Run:
        async with lionstudio.record("async", db=sqlite_path) as run:
            branch = run.fork("too far", at=7)  # refused, but nobody knows yet
            for speak in (branch.user, branch.fork, branch.tool_call, lambda text: branch.send("someone", text)):
                with pytest.raises(BranchNotFound, match=r"This branch was refused.*cannot be forked at 7"):
                    await speak("lost?")
            with pytest.raises(ForkOutOfRange):
                await branch
            await run.user("good")
        return run

    run = asyncio.run(main())
    assert said(sqlite_ctx, run.session_id) == ["good"]
    assert get_session(sqlite_ctx, run.session_id).messages_lost == 0
    assert capfd.readouterr().err.count("\n") == 1  # the first refusal, before anybody could have awaited it


def test_how_much_was_refused_without_being_awaited_is_said_at_the_end(
    sqlite_path: Path, home: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def main() -> None:
        async with lionstudio.record("async", db=sqlite_path) as run:
            branch = run.fork("too far", at=7)
            branch.user("one")
            branch.user("two")
            with pytest.raises(InvalidContent):
                await run.user({3})

    asyncio.run(main())
    first, last = capfd.readouterr().err.splitlines()
    assert first.startswith("lionstudio: Something was not recorded: The branch has 0 messages")
    assert last == "lionstudio: Refused in this run without anybody awaiting it: 3."


def test_a_block_that_is_never_left_does_not_keep_the_process_alive(home: Path, sqlite_path: Path) -> None:
    script = """
    import asyncio, sys, lionstudio
    async def main():
        run = await lionstudio.record("async", db=sys.argv[1]).__aenter__()
        await run.user("one")
    asyncio.run(main())
    """
    assert run_agent(script, sqlite_path) == (0, "", "")


def test_finish_inside_an_async_block_writes_what_was_said_first(sqlite_ctx: Context, sqlite_path: Path) -> None:
    async def main() -> lionstudio.Run:
        async with lionstudio.record("async", db=sqlite_path) as run:
            for number in range(5):
                run.user(str(number))
            run.finish(status="timed_out")
        return run

    run = asyncio.run(main())
    assert said(sqlite_ctx, run.session_id) == [*map(str, range(5))]
    assert get_session(sqlite_ctx, run.session_id).status == "timed_out"


def waits_in(task: "asyncio.Task[None]", name: str) -> bool:
    """Whether a task has come as far as this coroutine."""
    coroutine: Any = task.get_coro()
    while coroutine is not None and getattr(coroutine, "__name__", "") != name:
        coroutine = getattr(coroutine, "cr_await", None)
    return coroutine is not None
