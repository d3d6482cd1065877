"""`li runs export`: whole runs as JSON lines."""

import json
import os
import stat
from pathlib import Path

from lionstudio.services.context import Context
from lionstudio.services.messages import append_message
from tests.cli.conftest import Li
from tests.factories import line_of, start_run, user_says


def fill(ctx: Context) -> None:
    for session_id, name in (("run-1", "one"), ("run-2", "two")):
        start_run(ctx, session_id, name=name)
        append_message(ctx, line_of(session_id), user_says(f"to {name}\x00\ud800"))


def test_runs_are_written_as_lines(li: Li, ctx: Context) -> None:
    fill(ctx)
    answer = li("runs", "export", "two", "one", "run-2")
    assert (answer.code, answer.err) == (0, "")
    assert [(line["type"], line.get("session_id", line["id"])) for line in answer.objects] == [
        ("session", "run-2"), ("branch", "run-2"), ("message", "run-2"),
        ("session", "run-1"), ("branch", "run-1"), ("message", "run-1"),
    ]  # fmt: skip
    assert answer.objects[2]["content"] == {"instruction": "to two\x00\ud800"}


def test_a_file_holds_the_same_and_only_its_owner_reads_it(li: Li, ctx: Context, tmp_path: Path) -> None:
    fill(ctx)
    file = tmp_path / "out" / "runs.jsonl"
    file.parent.mkdir()
    answer = li("runs", "export", "one", "two", "--output", str(file))
    assert (answer.code, answer.out, answer.err) == (0, "", f"2 runs are in {file}.\n")
    assert file.read_text() == li("runs", "export", "one", "two").out
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert os.listdir(file.parent) == ["runs.jsonl"]


def test_a_file_that_is_there_is_not_overwritten(li: Li, ctx: Context, tmp_path: Path) -> None:
    fill(ctx)
    file = tmp_path / "runs.jsonl"
    file.write_text("older")
    answer = li("runs", "export", "one", "--output", str(file))
    assert (answer.code, answer.out) == (1, "")
    assert f"{file} is there already." in answer.err
    assert file.read_text() == "older"


def test_a_run_that_is_not_there_leaves_no_file(li: Li, ctx: Context, tmp_path: Path) -> None:
    fill(ctx)
    file = tmp_path / "runs.jsonl"
    answer = li("runs", "export", "one", "nobody", "--output", str(file))
    assert (answer.code, answer.out) == (1, "")
    assert "There is no run 'nobody'" in answer.err
    assert not file.exists()


def test_a_place_that_cannot_be_written_is_refused(li: Li, ctx: Context, tmp_path: Path) -> None:
    fill(ctx)
    (tmp_path / "file").touch()
    for place, blamed in ((tmp_path / "file" / "runs.jsonl", tmp_path / "file"), (tmp_path, tmp_path)):
        answer = li("runs", "export", "one", "--output", str(place))
        assert (answer.code, answer.out) == (1, "")
        assert str(blamed) in answer.err
        assert len(answer.err.splitlines()) == 1


def test_a_full_disk_leaves_no_half_file(li: Li, ctx: Context, small_disk: Path) -> None:
    start_run(ctx, "run-1")
    append_message(ctx, line_of("run-1"), user_says("x" * 3_000_000))
    answer = li("runs", "export", "run-1", "--output", str(small_disk / "runs.jsonl"))
    assert (answer.code, answer.out) == (1, "")
    assert "no room left" in answer.err
    assert os.listdir(small_disk) == []


def test_lines_come_as_they_are_read(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1")
    for number in range(450):
        append_message(ctx, line_of("run-1"), user_says(str(number)))
    messages = [json.loads(line) for line in li("runs", "export", "run-1").out.splitlines()[2:]]
    assert [message["position"] for message in messages] == list(range(1, 451))
