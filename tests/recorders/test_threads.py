"""Threads in one run."""

import threading
from pathlib import Path

import lionstudio
from lionstudio.services.context import Context
from lionstudio.services.messages import list_messages
from lionstudio.services.sessions import get_session


def test_eight_threads_lose_nothing_and_each_keeps_its_order(ctx: Context, location: str) -> None:
    with lionstudio.record("threads", db=location) as run:

        def work(name: int) -> None:
            for number in range(100):
                run.user(f"{name}.{number}")

        threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    said = [message.content["instruction"] for message in list_messages(ctx, run.session_id, limit=1000)]
    assert len(said) == 800
    for name in range(8):
        mine = [text for text in said if text.startswith(f"{name}.")]
        assert mine == [f"{name}.{number}" for number in range(100)]
    assert get_session(ctx, run.session_id).message_count == 800


def test_a_thread_may_finish_the_run_while_others_still_speak(sqlite_ctx: Context, sqlite_path: Path) -> None:
    run = lionstudio.record("threads", db=sqlite_path).start()
    spoken: list[str] = []

    def work() -> None:
        try:
            while True:
                run.user(str(len(spoken)))
                spoken.append("acknowledged")
        except lionstudio.Error as error:
            spoken.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    while len(spoken) < 5:
        thread.join(0.001)
    run.finish()
    thread.join()
    assert spoken[-1] == "This run has ended."
    session = get_session(sqlite_ctx, run.session_id)
    assert (session.status, session.message_count) == ("completed", len(spoken) - 1)
