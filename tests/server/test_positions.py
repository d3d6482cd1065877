"""Where in a run something was said, over HTTP."""

from starlette.testclient import TestClient

from lionstudio.services import messages
from lionstudio.services.context import Context
from tests.factories import assistant_says, line_of, start_run, user_says
from tests.server.test_recording import ok, refused


def test_words_are_found_by_position(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    for draft in (user_says("Find the Needle"), assistant_says("hay"), assistant_says("a needle")):
        messages.append_message(ctx, line_of("run-1"), draft)
    path = "/api/sessions/run-1/positions"
    assert ok(client.get(path, params={"search": "needle"})) == {"positions": [1, 3], "is_all": True}
    assert ok(client.get(path, params={"share": "tools"})) == {"positions": [], "is_all": True}
    assert ok(client.get(path, params={"branch": "run-1-main", "share": "text"}))["positions"] == [1, 2, 3]


def test_a_run_or_branch_that_is_not_there_is_404(client: TestClient, ctx: Context) -> None:
    start_run(ctx)
    refused(client.get("/api/sessions/nobody/positions"), 404, "session_not_found")
    refused(client.get("/api/sessions/run-1/positions", params={"branch": "no"}), 404, "branch_not_found")
