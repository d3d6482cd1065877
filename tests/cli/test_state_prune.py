"""`li state prune`: the plan, the question, the archive, and what then happens."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from lionstudio.domain.errors import DatabaseFull
from lionstudio.services import admin, messages, prune, shows
from lionstudio.services.context import Context
from lionstudio.services.prune_archive import archive_plan
from tests.cli.conftest import DRY_RUN, Keyboard, Li
from tests.factories import line_of, user_says
from tests.services.prune_world import put_orphan, put_session, read_world


def runs(ctx: Context) -> list[str]:
    return sorted(read_world(ctx)["sessions"])


def put_old(ctx: Context, session_id: str = "old", **more: object) -> None:
    put_session(ctx, session_id, ended_days_ago=400, **more)  # type: ignore[arg-type]


def test_in_a_pipe_it_acts_as_asked(li: Li, ctx: Context) -> None:
    put_old(ctx, says=["a", "b"])
    answer = li("state", "prune", "--keep-n", "0", "--keep-days", "300")
    assert answer.code == 0
    assert "Deleted 1 run, 1 branch and 2 messages." in answer.err
    assert runs(ctx) == []
    [event] = admin.list_events(ctx)
    assert event.action == "prune"
    assert event.actor.strip()


def test_a_dry_run_says_what_then_happens_and_does_nothing(li: Li, ctx: Context) -> None:
    put_old(ctx, "old", says=["a"])
    put_old(ctx, "legacy", status=None)
    put_old(ctx, "played")
    shows.put_show(ctx, "ledger", show_dir="/shows/ledger", actor="director")
    shows.put_play(ctx, "ledger", "schema", session_id="played", actor="director")
    before = read_world(ctx)
    wish = ("state", "prune", "--keep-n", "0", "--keep-days", "300", "--json")
    [plan] = li(*wish, "--dry-run").objects
    assert read_world(ctx) == before
    assert (plan["dry_run"], plan["session_ids"], plan["legacy"]) == (True, ["legacy", "old"], 1)
    assert plan["kept"] == [
        {"session_id": "played", "why": "play", "sentence": "The play schema of the show ledger points to it."}
    ]
    [done] = li(*wish).objects
    assert (done["dry_run"], done["removed"], done["kept"]) == (False, plan["removed"], plan["kept"])
    assert runs(ctx) == ["played"]


def test_the_plan_says_that_files_stay_and_how_their_runs_come_back(li: Li, ctx: Context, home: Path) -> None:
    put_old(ctx)
    wish = ("state", "prune", "--keep-n", "0", "--keep-days", "300", "--dry-run")
    assert "li state import" not in li(*wish).out
    (home / "runs").mkdir(parents=True)
    assert "stays  every file: li state import brings back runs whose folders are still there" in li(*wish).out


def test_a_dry_run_tells_people_what_goes_and_what_stays(li: Li, ctx: Context) -> None:
    put_old(ctx, "old", says=["a"])
    put_session(ctx, "newest", ended_days_ago=399)
    answer = li("state", "prune", "--keep-n", "1", "--keep-days", "300", "--dry-run")
    assert (answer.code, answer.err) == (0, DRY_RUN)
    assert "would go" in answer.out
    assert "1 old enough, but among the 1 newest" in answer.out
    assert runs(ctx) == ["newest", "old"]


@pytest.mark.parametrize(("reply", "stays"), [("n\n", True), ("\n", True), ("y\n", False)])
def test_on_a_terminal_it_asks(li: Li, ctx: Context, monkeypatch: pytest.MonkeyPatch, reply: str, stays: bool) -> None:
    put_old(ctx)
    monkeypatch.setattr(sys, "stdin", Keyboard(reply))
    answer = li("state", "prune", "--keep-n", "0", "--keep-days", "300", terminal=True)
    assert "Delete 1 run for good? [y/N]" in answer.err
    assert (runs(ctx) == ["old"]) == stays
    assert answer.code == (1 if stays else 0)
    assert ("Nothing was pruned." in answer.err) == stays


def test_with_yes_it_asks_nobody(li: Li, ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    put_old(ctx)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    answer = li("state", "prune", "--keep-n", "0", "--keep-days", "300", "--yes", terminal=True)
    assert "[y/N]" not in answer.err
    assert runs(ctx) == []


def test_with_nothing_to_delete_it_says_so(li: Li, ctx: Context) -> None:
    put_session(ctx, "young", ended_days_ago=0)
    answer = li("state", "prune")
    assert answer.code == 0
    assert "Nothing to delete" in answer.err
    assert admin.list_events(ctx) == []


def test_a_wish_that_makes_no_sense_is_refused(li: Li, ctx: Context) -> None:
    answer = li("state", "prune", "--keep-days", "-1")
    assert (answer.code, answer.out) == (2, "")


def test_the_archive_holds_what_is_deleted(li: Li, ctx: Context, tmp_path: Path) -> None:
    put_old(ctx, "old", says=["a", "b"])
    put_old(ctx, "other", says=["c"])
    file = tmp_path / "old runs.jsonl"
    [done] = li("state", "prune", "--keep-n", "0", "--keep-days", "300", "--archive", str(file), "--json").objects
    assert done["archive"] == str(file)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert sorted(line["id"] for line in lines if line["type"] == "session") == ["old", "other"]
    assert sorted(line["id"] for line in lines if line["type"] == "message") == ["a", "b", "c"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert runs(ctx) == []
    assert admin.list_events(ctx)[0].details["archive"] == str(file)


def test_the_plan_names_the_archive(li: Li, ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_old(ctx)
    monkeypatch.chdir(tmp_path)
    words = ["state", "prune", "--keep-n", "0", "--keep-days", "300", "--archive", "x.jsonl", "--dry-run"]
    assert f"written first  to {tmp_path / 'x.jsonl'}, and read back" in li(*words).out
    assert li(*words, "--json").objects[0]["archive"] == str(tmp_path / "x.jsonl")


@pytest.mark.parametrize("place", ["there already", "no folder"])
def test_without_an_archive_nothing_is_deleted(li: Li, ctx: Context, tmp_path: Path, place: str) -> None:
    put_old(ctx)
    file = tmp_path / "archive.jsonl" if place == "there already" else tmp_path / "nowhere" / "archive.jsonl"
    if place == "there already":
        file.write_text("mine")
    words = ["state", "prune", "--keep-n", "0", "--keep-days", "300", "--archive", str(file)]
    answer = li(*words)
    assert (answer.code, answer.out) == (1, "")
    assert str(file if place == "there already" else file.parent) in answer.err
    assert li(*words, "--dry-run") == answer
    assert runs(ctx) == ["old"]
    assert place == "no folder" or file.read_text() == "mine"


def test_an_archive_that_fills_the_disk_leaves_nothing_behind(ctx: Context, small_disk: Path) -> None:
    put_old(ctx, says=["a"])
    filler = small_disk / "filler"
    subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=1k", "count=2100"], capture_output=True, check=False)
    with pytest.raises(DatabaseFull, match=r"archive\.jsonl"):
        archive_plan(ctx, prune.plan_prune(ctx, keep_n=0), str(small_disk / "archive.jsonl"))
    assert [file.name for file in small_disk.iterdir()] == ["filler"]
    assert runs(ctx) == ["old"]


def test_an_archive_leaves_the_files_of_others_alone(li: Li, ctx: Context, tmp_path: Path) -> None:
    put_old(ctx, says=["a"])
    beside = tmp_path / "archive.jsonl.part"
    beside.write_text("mine")
    assert (
        li("state", "prune", "--keep-n", "0", "--keep-days", "300", "--archive", str(tmp_path / "archive.jsonl")).code
        == 0
    )
    assert beside.read_text() == "mine"


def test_what_was_written_after_the_archive_is_kept(ctx: Context, tmp_path: Path) -> None:
    put_old(ctx, "old", says=["a"])
    put_old(ctx, "other")
    plan = prune.plan_prune(ctx, keep_n=0)
    archive = archive_plan(ctx, plan, str(tmp_path / "archive.jsonl"))
    messages.append_message(ctx, line_of("old"), user_says("late"))
    result = prune.prune(ctx, plan, actor="ana", archive=archive)
    assert [(kept.session_id, kept.why) for kept in result.kept] == [("old", prune.WhyKept.CHANGED)]
    assert runs(ctx) == ["old"]


def test_orders_that_nobody_owns_are_swept(li: Li, ctx: Context) -> None:
    put_orphan(ctx, "orphan", ["a"])
    wish = ("state", "prune", "--orphan-progressions")
    [plan] = li(*wish, "--dry-run", "--json").objects
    assert plan["removed"]["progressions"] == 1
    assert "would go" in li(*wish, "--dry-run").out
    [done] = li(*wish, "--json").objects
    assert done["removed"] == plan["removed"]
    assert read_world(ctx)["messages"] == {}
    assert "nothing to sweep" in li(*wish).out


def test_what_loses_its_owner_while_it_asks_is_not_swept(li: Li, ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(Keyboard):
        def readline(self, size: int | None = -1, /) -> str:
            put_orphan(ctx, "later", ["b"])
            return "y\n"

    put_orphan(ctx, "shown", ["a"])
    monkeypatch.setattr(sys, "stdin", Late())
    answer = li("state", "prune", "--orphan-progressions", terminal=True)
    assert "Deleted 1 progression and 1 message." in answer.err
    assert list(read_world(ctx)["messages"]) == ["b"]


def test_an_archive_of_orders_makes_no_sense(li: Li, ctx: Context) -> None:
    answer = li("state", "prune", "--orphan-progressions", "--archive", "x")
    assert answer.code == 2
    assert "do not go together" in answer.err
