"""Runs without a status, and what an operator may do with them."""

import json
import sys
from pathlib import Path

import pytest

from lionstudio.domain.session import SessionStatus
from lionstudio.services import legacy, sessions
from lionstudio.services.context import Context
from tests.cli.conftest import DRY_RUN, Keyboard, Li
from tests.factories import start_run
from tests.services.test_legacy import bring_in
from tests.services.test_prune import put_play


@pytest.fixture
def three(ctx: Context) -> Context:
    """Two legacy runs, and one that runs."""
    for session_id in ("old-1", "old-2"):
        bring_in(ctx, session_id)
    start_run(ctx, "runs")
    return ctx


def test_it_says_how_many_there_are_and_what_can_be_done(li: Li, three: Context):
    answer = li("state", "legacy")
    assert (answer.code, answer.out) == (0, "legacy  2 runs without a status\n")
    assert "--backfill" in answer.err
    assert li("state", "legacy", "--json").objects == [{"legacy": 2}]


def test_backfilling_completes_them(li: Li, three: Context):
    assert li("state", "legacy", "--backfill", "--dry-run").out == "would be completed  2\n"
    assert legacy.count_legacy(three) == 2
    assert li("state", "legacy", "--backfill", "--json").objects == [{"completed": 2}]
    assert sessions.get_session(three, "old-1").status is SessionStatus.COMPLETED
    assert sessions.get_session(three, "runs").status is SessionStatus.RUNNING
    again = li("state", "legacy", "--backfill")
    assert (again.code, again.out, again.err) == (0, "legacy  0 runs without a status\n", "")


def test_exporting_writes_them_and_leaves_them(li: Li, three: Context, tmp_path: Path):
    file = tmp_path / "legacy.jsonl"
    assert li("state", "legacy", "--export", str(file)).out == "written  2\n"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["id"] for line in lines if line["type"] == "session"] == ["old-1", "old-2"]
    assert legacy.count_legacy(three) == 2
    refused = li("state", "legacy", "--export", str(file))
    assert (refused.code, refused.out) == (1, "")
    assert "is there already" in refused.err


def test_archiving_writes_them_and_then_deletes_only_them(li: Li, three: Context, tmp_path: Path):
    file = tmp_path / "legacy.jsonl"
    planned = li("state", "legacy", "--archive", str(file), "--dry-run", "--json").objects[0]
    assert planned["session_ids"] == ["old-1", "old-2"]
    assert not file.exists()
    done = li("state", "legacy", "--archive", str(file), "--json").objects[0]
    assert (done["removed"], done["archive"]) == (planned["removed"], str(file))
    assert sum(json.loads(line)["type"] == "session" for line in file.read_text().splitlines()) == 2
    assert legacy.count_legacy(three) == 0
    assert sessions.get_session(three, "runs").status is SessionStatus.RUNNING


def test_an_archive_says_what_keeps_the_runs_that_stay(li: Li, ctx: Context, tmp_path: Path):
    bring_in(ctx, "old-1")
    put_play(ctx, "old-1")
    for more in (["--dry-run"], []):
        answer = li("state", "legacy", "--archive", str(tmp_path / "legacy.jsonl"), *more)
        assert answer.code == 0
        assert "Nothing to delete: 1 legacy run stays, for the reason that is said with each." in answer.err
        assert "days ago" not in answer.err
        assert "old-1: " in answer.out
    assert legacy.count_legacy(ctx) == 1


@pytest.mark.parametrize("option", ["--archive", "--export"])
def test_a_dry_run_refuses_a_place_that_the_deed_would_refuse(li: Li, three: Context, tmp_path: Path, option: str):
    for more in (["--dry-run"], []):
        answer = li("state", "legacy", option, str(tmp_path / "nowhere" / "x.jsonl"), *more)
        assert (answer.code, f"The folder {tmp_path / 'nowhere'} does not exist." in answer.err) == (1, True)


def test_two_wishes_at_once_are_refused(li: Li, three: Context):
    answer = li("state", "legacy", "--backfill", "--export", "x")
    assert (answer.code, answer.out) == (2, "")
    assert "--backfill and --export do not go together." in answer.err


@pytest.mark.parametrize(
    ("option", "declined"), [("--backfill", "Nothing was changed."), ("--archive", "Nothing was pruned.")]
)
def test_who_says_no_changes_nothing(li: Li, three: Context, tmp_path: Path, monkeypatch, option: str, declined: str):
    monkeypatch.setattr(sys, "stdin", Keyboard("n\n"))
    words = (option,) if option == "--backfill" else (option, str(tmp_path / "legacy.jsonl"))
    answer = li("state", "legacy", *words, terminal=True)
    assert (answer.code, answer.err.splitlines()[-1].rpartition("] ")[2]) == (1, declined)
    assert legacy.count_legacy(three) == 2


@pytest.mark.parametrize("option", ["--backfill", "--archive", "--export"])
def test_a_dry_run_says_that_nothing_was_changed(li: Li, three: Context, tmp_path: Path, option: str):
    words = (option,) if option == "--backfill" else (option, str(tmp_path / "legacy.jsonl"))
    answer = li("state", "legacy", *words, "--dry-run")
    assert (answer.code, answer.err) == (0, DRY_RUN)
    assert list(tmp_path.glob("*.jsonl")) == []
