"""A reader that knows nothing of us: the `sqlite3` module of another process."""

import json
from pathlib import Path

import lionstudio
from tests.recorders.agents import stock_sqlite


def test_a_stock_reader_in_another_process_sees_everything(home: Path, sqlite_path: Path) -> None:
    with lionstudio.record("for others", agent="architect", db=sqlite_path) as run:
        said = [run.user(f"message {number}").id for number in range(1, 13)]
        fork = run.fork("side", at=2)
        aside = fork.assistant("aside").id
        # While the run goes on, and its process has the file open.
        assert stock_sqlite(sqlite_path, "SELECT id, name, agent_name, status FROM sessions") == [
            [run.session_id, "for others", "architect", "running"]
        ]
        order = dict(
            stock_sqlite(
                sqlite_path,
                "SELECT branches.name, progressions.collection FROM branches"
                " JOIN progressions ON progressions.id = branches.progression_id",
            )
        )
        assert {name: json.loads(collection) for name, collection in order.items()} == {"main": said, "side": [aside]}
        ((whole,),) = stock_sqlite(
            sqlite_path,
            "SELECT collection FROM sessions JOIN progressions ON progressions.id = sessions.progression_id",
        )
        assert json.loads(whole) == [*said, aside]
        assert stock_sqlite(sqlite_path, "SELECT json_extract(content, '$.instruction') FROM messages LIMIT 1") == [
            ["message 1"]
        ]
    assert stock_sqlite(sqlite_path, "SELECT status FROM sessions") == [["completed"]]
