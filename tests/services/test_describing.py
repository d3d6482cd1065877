"""What becomes known of a branch only while its agent works."""

import pytest

from lionstudio.domain.change import Topic
from lionstudio.domain.errors import BranchNotFound, InvalidContent, InvalidRequest
from lionstudio.services.branches import get_branch
from lionstudio.services.context import Context
from lionstudio.services.describing import describe_branch
from tests.factories import line_of, start_run


def news(ctx: Context) -> int:
    with ctx.db.read() as tx:
        return int(tx.value("SELECT count(*) FROM changes WHERE topic = :topic", topic=Topic.BRANCH.value))


def test_facts_are_added_and_later_ones_win(ctx: Context) -> None:
    start_run(ctx, branch_metadata={"model": "sonnet", "kept": True})
    line = line_of("run-1")
    describe_branch(ctx, line, {"model": "opus", "native_id": "abc"})
    assert get_branch(ctx, line.branch_id).node_metadata == {"model": "opus", "kept": True, "native_id": "abc"}
    assert news(ctx) == 1


def test_the_same_facts_again_are_no_news(ctx: Context) -> None:
    start_run(ctx)
    line = line_of("run-1")
    for _ in range(3):
        describe_branch(ctx, line, {"native_id": "abc"})
    assert news(ctx) == 1


def test_a_branch_of_another_run_is_not_described(ctx: Context) -> None:
    start_run(ctx, "run-1")
    start_run(ctx, "run-2")
    with pytest.raises(BranchNotFound):
        describe_branch(ctx, line_of("run-1")._replace(branch_id=line_of("run-2").branch_id), {"native_id": "abc"})
    assert get_branch(ctx, line_of("run-2").branch_id).node_metadata is None


def test_what_is_not_json_is_refused(ctx: Context) -> None:
    start_run(ctx)
    with pytest.raises(InvalidContent):
        describe_branch(ctx, line_of("run-1"), {"cost": float("nan")})
    with pytest.raises(InvalidRequest):
        describe_branch(ctx, line_of("run-1"), ["no mapping"])  # type: ignore[arg-type]
