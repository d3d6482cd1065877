"""Turns to write one SQLite file: who has it can know that somebody else wants it."""

import threading
from pathlib import Path

from lionstudio.store.sqlite_turn import WriteTurn
from tests.waiting import wait_until


def test_who_has_the_turn_knows_whether_somebody_waits_for_it(sqlite_path: Path) -> None:
    mine, theirs = WriteTurn(str(sqlite_path)), WriteTurn(str(sqlite_path))
    assert mine.take(patience=1)
    assert not mine.is_wanted()
    came = threading.Event()

    def wait() -> None:
        if theirs.take(patience=30):
            came.set()

    thread = threading.Thread(target=wait)
    thread.start()
    wait_until(mine.is_wanted)
    assert not came.is_set()
    mine.pass_on()
    thread.join()
    assert came.is_set()
    assert not theirs.is_wanted()
    mine.close()
    theirs.close()
