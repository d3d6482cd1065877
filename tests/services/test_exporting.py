"""Whole runs as lines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lionstudio.domain.errors import Conflict, SessionNotFound
from lionstudio.services import exporting
from lionstudio.services.branches import BranchDraft, create_branch
from lionstudio.services.context import Context
from lionstudio.services.database_export import write_lines
from lionstudio.services.exporting import export_lines
from lionstudio.services.messages import append_message
from lionstudio.store.maintenance import delete_sessions
from tests.factories import Clock, assistant_says, line_of, start_run, user_says


def test_a_run_is_exported_whole_with_the_places_of_its_messages(
    ctx: Context, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "PAGE", 2)
    start_run(ctx, "run-1", name="triage")
    main = line_of("run-1")
    for number in range(4):
        append_message(ctx, main, user_says(f"message {number}", id=f"m{number}"))
    clock.pass_seconds(1)
    fork = main._replace(branch_id="fork", branch_progression_id="fork-order")
    create_branch(ctx, BranchDraft(fork, "retry", parent_branch_id=main.branch_id, forked_at_ord=2))
    append_message(ctx, fork, assistant_says("again", id="m4"))
    lines = list(export_lines(ctx, ["run-1"]))
    assert [line["type"] for line in lines] == ["session", "branch", "branch"] + ["message"] * 5
    assert (lines[0]["name"], lines[0]["message_count"]) == ("triage", 5)
    assert [line["reason_code"] for line in lines[0]["history"]] == ["run.started"]
    assert [(line["id"], line["parent_branch_id"], line["forked_at_ord"]) for line in lines[1:3]] == [
        ("run-1-main", None, None),
        ("fork", "run-1-main", 2),
    ]
    assert [(line["position"], line["id"], line["kind"]) for line in lines[3:]] == [
        *((number + 1, f"m{number}", "user") for number in range(4)),
        (5, "m4", "assistant"),
    ]
    assert [line["places"] for line in lines[6:]] == [
        [{"branch_id": "run-1-main", "position": 4}],
        [{"branch_id": "fork", "position": 1}],
    ]
    assert lines[3]["content"] == {"instruction": "message 0"}


def test_what_a_run_says_after_its_export_began_is_not_in_it(ctx: Context) -> None:
    start_run(ctx, "run-1")
    append_message(ctx, line_of("run-1"), user_says("before"))
    lines = export_lines(ctx, ["run-1"])
    assert next(lines)["message_count"] == 1
    append_message(ctx, line_of("run-1"), user_says("after"))
    assert [line["content"] for line in lines if line["type"] == "message"] == [{"instruction": "before"}]


def test_large_messages_are_read_a_few_at_a_time(ctx: Context) -> None:
    start_run(ctx, "run-1")
    for number in range(4):
        append_message(ctx, line_of("run-1"), user_says("x" * 600_000, id=f"m{number}"))
    lines = (line for line in export_lines(ctx, ["run-1"]) if line["type"] == "message")
    assert next(lines)["id"] == "m0"
    append_message(ctx, line_of("run-1"), user_says("mended", id="m1"))  # it was not read together with the first
    assert [line["content"]["instruction"][:6] for line in lines] == ["mended", "xxxxxx", "xxxxxx"]


def test_a_run_that_is_deleted_while_it_is_exported_is_no_shorter_run(
    ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "PAGE", 2)
    start_run(ctx, "run-1")
    for number in range(4):
        append_message(ctx, line_of("run-1"), user_says(f"message {number}"))

    def deleting(lines: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        for line in lines:
            yield line
            if line["type"] == "message" and line["position"] == 2:
                with ctx.db.write() as tx:
                    delete_sessions(tx, ["run-1"])

    with pytest.raises(Conflict, match="run-1 was deleted or replaced while it was exported"):
        write_lines(str(tmp_path / "runs.jsonl"), deleting(export_lines(ctx, ["run-1"])))
    assert not (tmp_path / "runs.jsonl").exists()


def test_a_run_that_is_not_there_cannot_be_exported(ctx: Context) -> None:
    with pytest.raises(SessionNotFound):
        list(export_lines(ctx, ["nobody"]))
