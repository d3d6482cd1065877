"""A check of the database finds what is wrong, and nothing where nothing is."""

import pytest

from lionstudio.domain.conversation import Line
from lionstudio.domain.finding import Finding
from lionstudio.services.branches import BranchDraft, create_branch
from lionstudio.services.context import Context
from lionstudio.services.messages import append_message
from lionstudio.services.verification import verify_database, why_not_checked
from tests.factories import assistant_says, line_of
from tests.services.archive_world import fill


def findings(ctx: Context) -> list[Finding]:
    return list(verify_database(ctx))


def change(ctx: Context, *statements: str) -> None:
    with ctx.db.write() as tx:
        for sql in statements:
            tx.run(sql)


def test_nothing_is_wrong_with_an_empty_database(ctx: Context) -> None:
    assert findings(ctx) == []


def test_nothing_is_wrong_with_what_our_own_code_wrote(ctx: Context) -> None:
    fill(ctx)
    usage = {"model": "claude/opus", "usage": {"input_tokens": 5, "cost_usd": 0.1}}
    for number in range(30):
        append_message(ctx, line_of("run-3"), assistant_says("…", id=f"u-{number}", node_metadata=usage))
    other = {"model": "openai/gpt", "usage": {"input_tokens": 7}}
    append_message(ctx, line_of("run-3"), assistant_says("again", id="u-3", node_metadata=other))
    create_branch(ctx, BranchDraft(Line("run-3", "b", "run-3-order", "b-order"), parent_branch_id="run-2-fork"))
    assert findings(ctx) == []


@pytest.mark.parametrize(
    ("sql", "check", "subject", "sentence"),
    [
        pytest.param(
            "UPDATE progression_heads SET length = length + 1 WHERE id = 'run-1-order'",
            "how many messages an order says it has",
            "run-1",
            "the order run-1-order says that its length is 4, and it is 3, the last position 3.",
            id="a head that counts one too many",
        ),
        pytest.param(
            "UPDATE progression_entries SET position = 9 WHERE progression_id = 'run-1-main-order' AND position = 3",
            "how many messages an order says it has",
            "run-1",
            "the order run-1-main-order says that its length is 3, and it is 3, the last position 9.",
            id="a gap between positions",
        ),
        pytest.param(
            "DELETE FROM branches WHERE id = 'run-3-main'",
            "every run has a branch",
            "run-3",
            "it has no branch.",
            id="a run without a branch",
        ),
        pytest.param(
            "UPDATE branches SET forked_at_ord = 8 WHERE id = 'run-2-fork'",
            "a fork begins within what it was forked from",
            "run-2",
            "the branch run-2-fork begins after message 8 of one that has 3.",
            id="a fork beyond its parent",
        ),
        pytest.param(
            "UPDATE sessions SET last_msg_id = 'm-4' WHERE id = 'run-1'",
            "the last message of a run stands in it",
            "run-1",
            "its last message m-4 does not stand in it.",
            id="a last message of another run",
        ),
        pytest.param(
            "UPDATE sessions SET last_msg_id = NULL WHERE id = 'run-1'",
            "the last message of a run stands in it",
            "run-1",
            "its last message is not known, though it has some.",
            id="a last message that is not known",
        ),
        pytest.param(
            "UPDATE sessions SET ended_at = 5 WHERE id = 'run-2'",
            "what runs has not ended",
            "run-2",
            "it is running and has ended.",
            id="a running run that has ended",
        ),
        pytest.param(
            "UPDATE teams SET member_count = 7",
            "how many members a team says it has",
            "team-1",
            "the team counts its members as 7 and lists 2.",
            id="a team that counts wrong",
        ),
        pytest.param(
            "DELETE FROM session_usage",
            "usage",
            "run-1",
            "Its usage of claude/opus is not what its messages report.",
            id="usage that was not counted",
        ),
        pytest.param(
            "UPDATE session_usage SET cost_usd = 0.2",
            "usage",
            "run-1",
            "Its usage of claude/opus is not what its messages report.",
            id="a cost that was counted wrong",
        ),
        pytest.param(
            "INSERT INTO session_usage (session_id, model, input_tokens) VALUES ('run-3', 'forged', 5)",
            "usage",
            "run-3",
            "Its usage of forged is not what its messages report.",
            id="usage that nobody reported",
        ),
    ],
)
def test_what_breaks_a_promise_is_found(ctx: Context, sql: str, check: str, subject: str, sentence: str) -> None:
    fill(ctx)
    change(ctx, sql)
    assert [(found.check, found.subject, found.sentence) for found in findings(ctx)] == [(check, subject, sentence)]


def test_a_message_that_only_its_branch_has_is_found(ctx: Context) -> None:
    fill(ctx)
    change(
        ctx,
        "DELETE FROM progression_entries WHERE progression_id = 'run-2-order' AND position = 2",
        "UPDATE progression_heads SET length = 1 WHERE id = 'run-2-order'",
        "UPDATE sessions SET last_msg_id = 'm-4' WHERE id = 'run-2'",
    )
    sentence = "the branch run-2-fork has messages that the run itself lacks: 1."
    assert [(found.subject, found.sentence) for found in findings(ctx)] == [("run-2", sentence)]


def test_numbers_that_would_be_given_twice_are_found(ctx: Context) -> None:
    fill(ctx)
    change(ctx, "INSERT INTO schema_meta (key, value) VALUES ('changes_trimmed_to', '100')", "DELETE FROM changes")
    assert [found.check for found in findings(ctx)] == ["no number of the news is given twice"]


def test_a_broken_reference_is_found(ctx: Context) -> None:
    fill(ctx)
    if ctx.db.dialect.name == "sqlite":
        connection = ctx.db.dialect.connect(writing=True)
        connection.script("PRAGMA foreign_keys = OFF; UPDATE plays SET session_id = 'gone'")
        connection.close()
    else:
        change(ctx, "ALTER TABLE plays DROP CONSTRAINT plays_session_id_fkey", "UPDATE plays SET session_id = 'gone'")
        change(ctx, "ALTER TABLE plays ADD FOREIGN KEY (session_id) REFERENCES sessions (id) NOT VALID")
    assert [(found.check, found.subject, found.sentence) for found in findings(ctx)] == [
        ("references", "plays.session_id", "1 row of plays refers by session_id to 'gone', which is not in sessions.")
    ]


def test_only_a_server_keeps_its_files_from_being_checked(ctx: Context) -> None:
    assert (why_not_checked(ctx) is None) == (ctx.db.dialect.name == "sqlite")


def test_a_view_that_shows_something_else_is_found(ctx: Context) -> None:
    fill(ctx)
    view = "SELECT id, created_at, CAST('[\"m-1\"]' AS {json}) AS collection FROM progression_heads"
    kind = "text" if ctx.db.dialect.name == "sqlite" else "json"
    change(ctx, "DROP VIEW progressions", f"CREATE VIEW progressions AS {view.format(json=kind)}")
    found = findings(ctx)
    assert {one.check for one in found} == {"view"}
    assert "The view shows the order run-1-order otherwise than its entries." in {one.sentence for one in found}
