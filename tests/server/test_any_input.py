"""Every operation that the OpenAPI document describes, with input of every kind: nothing makes the server fail.

Streams never end and are tested by themselves; what changes the database as a whole is asked for a dry run only.
"""

import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from lionstudio.server.app import create_app
from lionstudio.server.serving import StudioServer, listen
from lionstudio.services.context import open_context
from lionstudio.services.messages import append_messages
from lionstudio.services.shows import put_play, put_show
from lionstudio.services.teams import add_message, put_team
from lionstudio.settings import Settings, load_settings
from tests.factories import assistant_says, line_of, start_run, user_says
from tests.postgres_server import PostgresServer

EXAMPLES = 12
KNOWN = "0"  # an id that the generator itself likes to choose
STREAMS = r"/(stream|events)$"
CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance, content_type_conformance]


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where a server listens, once for each engine."""
    with tempfile.TemporaryDirectory(prefix="lionstudio-any-") as home:
        if request.param == "sqlite":
            yield from _served(home, str(Path(home) / "state.db"))
        else:
            server: PostgresServer = request.getfixturevalue("postgres")
            with server.new_database() as url:
                yield from _served(home, url)


def _served(home: str, db: str) -> Iterator[str]:
    chosen = load_settings({"HOME": home, "LIONAGI_DB": db})
    _fill(chosen)
    sock, ready = listen("127.0.0.1", 0), threading.Event()
    server = StudioServer(create_app(chosen), ready.set)
    thread = threading.Thread(target=server.serve_on, args=(sock,))
    thread.start()
    assert ready.wait(20)
    yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    server.stop()
    thread.join(20)


def _fill(chosen: Settings) -> None:
    """Something behind the id that half of the requests ask for."""
    ctx = open_context(chosen)
    start_run(ctx, KNOWN)
    append_messages(ctx, line_of(KNOWN), [user_says("Hello \ud800"), assistant_says("\0")])
    put_show(ctx, KNOWN, actor="test", show_dir="/nonexistent")
    put_play(ctx, KNOWN, KNOWN, actor="test", status="gate_failed", session_id=KNOWN)
    put_team(ctx, KNOWN, actor="test", name=KNOWN, members=["ana"])
    add_message(ctx, KNOWN, sender="ana", content="Hello", session_id=KNOWN)
    ctx.db.close()


# The document needs no server, so that each operation is a test of its own.
DOCUMENT = create_app(load_settings({"HOME": "/nonexistent"})).openapi()
schema = schemathesis.openapi.from_dict(DOCUMENT).exclude(path_regex=STREAMS)


@schema.hook
def map_path_parameters(context: object, path_parameters: dict[str, object] | None) -> dict[str, object] | None:
    """Let half of the requests ask for something that is there."""
    if path_parameters and len("".join(map(str, path_parameters.values()))) % 2:
        return dict.fromkeys(path_parameters, KNOWN)
    return path_parameters


@schema.parametrize()
@settings(
    max_examples=EXAMPLES, deadline=None, derandomize=True, database=None,
    phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck),
)  # fmt: skip
def test_nothing_makes_the_server_fail(case: schemathesis.Case, address: str) -> None:
    case.call_and_validate(base_url=address, checks=CHECKS, timeout=60)


def test_every_error_is_described_as_the_json_that_it_is() -> None:
    document = create_app(load_settings({"HOME": "/nonexistent"})).openapi()
    for operation in (one for ways in document["paths"].values() for one in ways.values()):
        for code, response in operation["responses"].items():
            if code[0] != "2" and "content" in response:
                assert list(response["content"]) == ["application/json"]
