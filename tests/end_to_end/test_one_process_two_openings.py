"""A process that opens its database twice keeps the locks of both."""

from pathlib import Path

import lionstudio
from tests.recorders.agents import run_agent, stock_sqlite

SHORT_RUN = """
import sys, lionstudio
with lionstudio.record("short", db=sys.argv[1]) as run:
    run.user("one")
"""


def test_a_second_opening_does_not_lose_what_the_first_writes_later(home: Path, sqlite_path: Path) -> None:
    with lionstudio.record("outer", db=sqlite_path) as outer:
        outer.user("one")
        with lionstudio.open(sqlite_path) as reader, lionstudio.record("inner", db=sqlite_path) as inner:
            # The last to close a database deletes its log. Others must see that we still have it open.
            assert run_agent(SHORT_RUN, sqlite_path) == (0, "", "")
            assert stock_sqlite(sqlite_path, "SELECT count(*) FROM messages") == [[2]]
            outer.user("two")
            inner.user("three")
            assert stock_sqlite(sqlite_path, "SELECT count(*) FROM messages") == [[4]]
            assert len(reader.sessions()) == 3
    assert stock_sqlite(sqlite_path, "SELECT count(*) FROM messages") == [[4]]
    assert stock_sqlite(sqlite_path, "PRAGMA integrity_check") == [["ok"]]
