"""How the dashboard reads its numbers: by an index, however many sessions there are."""

from pathlib import Path

import pytest

from lionstudio.domain.session_list import View
from lionstudio.store import dashboard
from lionstudio.store.open import open_database

NUMBERS = {
    "runs that run": dashboard.list_running,
    "their shows": dashboard.find_topics_of_running,
    "runs that ended today": lambda tx: dashboard.list_ended_runs(tx, now=1.0),
    "runs that failed today": lambda tx: dashboard.list_ended_of_view(tx, View.FAILED_24H, now=1.0),
    "slow runs": lambda tx: dashboard.list_ids(tx, View.SLOW, now=1.0),
    "runs that left files": dashboard.list_with_leftovers,
    "the last runs": lambda tx: dashboard.list_last_ended(tx, now=1.0, limit=10),
    **{f"view {view}": lambda tx, view=view: dashboard.count_view(tx, view, now=1.0) for view in View},
}


@pytest.mark.parametrize("name", NUMBERS)
def test_no_number_of_the_dashboard_is_read_from_all_sessions(sqlite_path: Path, name: str) -> None:
    database = open_database(str(sqlite_path))
    with database.read() as tx:
        sent: list[tuple[str, dict[str, object]]] = []
        read = tx.connection.all

        class Listening:
            """The same connection, which also keeps what it was asked."""

            def all(self, sql, params):
                sent.append((sql, params))
                return read(sql, params)

        tx._connection = Listening()
        NUMBERS[name](tx)
        plans = [row[3] for sql, params in sent for row in read(f"EXPLAIN QUERY PLAN {sql}", params)]
    database.close()
    assert plans
    walked = [step for step in plans if step.startswith(("SCAN session", "SCAN listed"))]
    assert [step for step in walked if "session_evidence" not in step] == []
