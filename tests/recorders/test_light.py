"""Importing the SDK, and a whole recorded run, load nothing heavy."""

from pathlib import Path

import pytest

from tests.recorders.agents import run_agent

HEAVY = ("psycopg", "asyncio", "sqlite3", "ctypes", "concurrent.futures", "logging", "uuid")
LOADED = f"\nimport sys; print(*sorted(sys.modules.keys() & set({HEAVY!r})))"
NOTHING = "\n"


def test_importing_the_package_loads_nothing_of_it() -> None:
    ended = run_agent("import lionstudio, sys; print(*sorted(name for name in sys.modules if 'lionstudio' in name))")
    assert ended == (0, "lionstudio lionstudio.version\n", "")


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("import lionstudio; lionstudio.record", id="finding the recorder"),
        pytest.param("import lionstudio; lionstudio.open", id="finding the reader"),
        pytest.param(
            """
import lionstudio
with lionstudio.record("light") as run:
    run.system("Be brief.")
    call = run.tool_call("bash", {"cmd": "ls"})
    run.tool_result(call, "nothing")
    run.branch("side").assistant("Done.", usage={"output_tokens": 1})
    run.send("someone", "hello")
    run.inbox()
""",
            id="a whole run",
        ),
        pytest.param(
            """
import lionstudio
with lionstudio.record("listed"):
    pass
with lionstudio.open() as reader:
    reader.sessions()
""",
            id="a list of all runs",
        ),
    ],
)
def test_nothing_heavy_is_loaded(home: Path, script: str) -> None:
    assert run_agent(script + LOADED) == (0, NOTHING, "")
