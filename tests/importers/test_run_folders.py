"""Run folders: how each became a run, again and again, and what is left out."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lionstudio.domain.conversation import INSTRUCTION_CLASS
from lionstudio.domain.json_text import to_json
from lionstudio.domain.session import InvocationKind, SessionStatus, SourceKind
from lionstudio.importers import run_folder_files
from lionstudio.importers.report import ImportReport
from lionstudio.importers.run_folders import import_run_folders
from lionstudio.services import branches, imports, messages, sessions
from lionstudio.services.context import Context
from lionstudio.services.session_list import list_sessions
from lionstudio.services.verification import verify_database
from lionstudio.store.open import open_database
from lionstudio.store.rehearsal import Rehearsal
from tests.factories import NOW, Clock, start_run

REAL = Path(__file__).parents[1] / "fixtures" / "run_folders"
REAL_SESSION, REAL_BRANCH = "9a317728-4df6-4520-80ad-e45d7d382755", "c5e7062d-bedf-4206-acb1-cb9f97205fb1"


def instruction(id: str, at: float = NOW) -> dict[str, Any]:
    return {
        "id": id,
        "created_at": at,
        "metadata": {"lion_class": INSTRUCTION_CLASS},
        "content": {"instruction": id},
        "role": "user",
    }


def branch(id: str, *said: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A branch file as lionagi writes it."""
    order = [message["id"] for message in said]
    pile = {"collections": list(said), "progression": {"id": f"{id}-order", "order": order}}
    return {"id": id, "created_at": NOW, "messages": pile, **more}


def write_run(folder: Path, *parts: dict[str, Any], **facts: Any) -> Path:
    """A run folder with these facts in its run.json."""
    (folder / "branches").mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(to_json(facts))
    for part in parts:
        (folder / "branches" / f"{part['id']}.json").write_text(json.dumps(part))
    return folder


def counts(report: ImportReport) -> tuple[int, ...]:
    """Folders, runs added, runs brought up to date, messages added."""
    return tuple(report.counts.values())


def texts(ctx: Context, session_id: str) -> list[str]:
    return [message.content["instruction"] for message in messages.list_messages(ctx, session_id)]


def run_ids(ctx: Context) -> list[str]:
    return [session.id for session in list_sessions(ctx).items]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    return folder


def test_a_run_of_lionagi_comes_in_whole_and_only_once(ctx: Context) -> None:
    assert import_run_folders(ctx, str(REAL)) == ImportReport(
        {"run folders": 1, "runs added": 1, "runs brought up to date": 0, "messages added": 5}
    )
    session = sessions.get_session(ctx, REAL_SESSION)
    assert (session.status, session.source_kind) == (SessionStatus.COMPLETED, SourceKind.IMPORTED_FS)
    assert (session.started_at, session.ended_at) == (1794771759.7602684, 1794771760.4679205)
    assert session.node_metadata is not None
    assert session.node_metadata["run_json"]["cwd"] == "/home/dev/project"
    stored = branches.get_branch(ctx, REAL_BRANCH)
    assert (stored.session_id, stored.message_count) == (REAL_SESSION, 5)
    assert stored.node_metadata is not None
    assert (stored.node_metadata["provider"], stored.node_metadata["model"]) == ("scripted", "scripted-test")
    said = messages.list_messages(ctx, REAL_SESSION)
    assert [message.kind for message in said] == ["user", "assistant", "tool_call", "tool_result", "assistant"]
    again = import_run_folders(ctx, str(REAL))
    assert (counts(again), again.problems) == ((1, 0, 0, 0), ())


def test_a_single_run_folder_may_be_named(ctx: Context) -> None:
    assert counts(import_run_folders(ctx, str(next(REAL.iterdir())))) == (1, 1, 0, 5)


def test_a_run_that_grew_gets_only_what_is_new(ctx: Context, runs: Path) -> None:
    write_run(runs / "r1", branch("b", instruction("one")), run_id="r1", status="running")
    import_run_folders(ctx, str(runs))
    assert sessions.get_session(ctx, "r1").status is SessionStatus.RUNNING
    grown = branch("b", instruction("one"), instruction("two", NOW + 1))
    write_run(runs / "r1", grown, run_id="r1", status="completed", ended_at=NOW + 2)
    assert counts(import_run_folders(ctx, str(runs))) == (1, 0, 1, 1)
    assert texts(ctx, "r1") == ["one", "two"]
    assert (sessions.get_session(ctx, "r1").status, sessions.get_session(ctx, "r1").ended_at) == ("completed", NOW + 2)
    assert counts(import_run_folders(ctx, str(runs))) == (1, 0, 0, 0)


def test_a_run_that_has_only_begun_waits_for_its_first_branch(ctx: Context, runs: Path) -> None:
    write_run(runs / "r1", run_id="r1", status="running")
    first = import_run_folders(ctx, str(runs))
    assert (counts(first), first.problems) == ((1, 0, 0, 0), ())
    assert first.notes == ("1 run folder has no branch yet that can be read. Import again when there is one: r1.",)
    session_id = "9a317728-4df6-4520-80ad-e45d7d382755"
    write_run(runs / "r1", branch("b", instruction("one"), user=session_id), run_id="r1", status="running")
    assert counts(import_run_folders(ctx, str(runs))) == (1, 1, 0, 1)
    assert run_ids(ctx) == [session_id]


def test_a_run_whose_only_branch_is_half_written_waits_for_it(ctx: Context, runs: Path) -> None:
    folder = write_run(runs / "r1", run_id="r1", status="completed")
    half = folder / "branches" / "b.json"
    half.write_text('{"id": "b", "mess')
    first = import_run_folders(ctx, str(runs))
    assert (counts(first), [problem.where for problem in first.problems]) == ((1, 0, 0, 0), [str(half)])
    session_id = "9a317728-4df6-4520-80ad-e45d7d382755"
    half.write_text(json.dumps(branch("b", instruction("one"), user=session_id)))
    assert counts(import_run_folders(ctx, str(runs))) == (1, 1, 0, 1)
    assert run_ids(ctx) == [session_id]


def test_a_run_that_ended_without_a_branch_has_one_until_it_tells_its_own(ctx: Context, runs: Path) -> None:
    write_run(runs / "r1", run_id="r1", status="failed")
    assert counts(import_run_folders(ctx, str(runs))) == (1, 1, 0, 0)
    assert counts(import_run_folders(ctx, str(runs))) == (1, 0, 0, 0)
    assert list(verify_database(ctx)) == []
    write_run(runs / "r1", branch("b", instruction("one"), user=REAL_SESSION), run_id="r1", status="failed")
    assert counts(import_run_folders(ctx, str(runs))) == (1, 0, 1, 1)
    assert run_ids(ctx) == ["r1"]
    assert [found.id for found in branches.list_branches(ctx, "r1")] == ["b"]
    assert list(verify_database(ctx)) == []
    assert counts(import_run_folders(ctx, str(runs))) == (1, 0, 0, 0)


def test_branches_that_share_the_id_of_an_order_get_one_each(ctx: Context, runs: Path) -> None:
    def shared(id: str, said: str) -> dict[str, Any]:
        pile = {"collections": [instruction(said)], "progression": {"id": "same", "order": [said]}}
        return {"id": id, "created_at": NOW, "messages": pile}

    write_run(runs / "r1", shared("a", "one"), shared("b", "two"), run_id="r1")
    write_run(runs / "r2", shared("c", "three"), run_id="r2")
    report = import_run_folders(ctx, str(runs))
    assert (counts(report), report.problems) == ((2, 2, 0, 3), ())
    assert (texts(ctx, "r1"), texts(ctx, "r2")) == (["one", "two"], ["three"])
    assert list(verify_database(ctx)) == []


def test_a_status_that_nobody_knows_is_counted_and_named(ctx: Context, runs: Path) -> None:
    for name, status in (("r1", "levitating"), ("r2", "levitating"), ("r3", "done")):
        write_run(runs / name, branch(f"{name}-b"), run_id=name, status=status)
    assert import_run_folders(ctx, str(runs)).notes == (
        "2 runs have a status that is not known here, and no status instead (legacy): levitating (2).",
    )
    assert sessions.get_session(ctx, "r1").status is None


def test_a_run_that_resumes_another_goes_on_with_it(ctx: Context, runs: Path) -> None:
    first, second = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
    one, two = instruction("one"), instruction("two", NOW + 100)
    write_run(runs / "r1", branch("b", one, user=first), status="completed", started_at=NOW, ended_at=NOW + 1)
    write_run(runs / "r2", branch("b", one, two, user=second), status="failed", started_at=NOW + 99, ended_at=NOW + 101)
    assert counts(import_run_folders(ctx, str(runs))) == (2, 1, 1, 2)
    session = sessions.get_session(ctx, first)
    assert (session.status, session.started_at, session.ended_at) == (SessionStatus.FAILED, NOW, NOW + 101)
    assert texts(ctx, first) == ["one", "two"]
    assert [step.to_status for step in sessions.list_history(ctx, first)] == ["completed", "failed"]
    assert counts(import_run_folders(ctx, str(runs))) == (2, 0, 0, 0)


def test_runs_of_one_user_are_not_one_run(ctx: Context, runs: Path) -> None:
    user = "33333333-3333-4333-8333-333333333333"
    for name in ("r1", "r2"):
        write_run(runs / name, branch(f"{name}-b", instruction(name), user=user), run_id=name)
    for added in (2, 0):
        report = import_run_folders(ctx, str(runs))
        assert (counts(report), report.problems) == ((2, added, 0, added), ())
    assert (texts(ctx, user), texts(ctx, "r2")) == (["r1"], ["r2"])


def test_runs_of_one_user_are_not_one_run_when_they_come_in_one_by_one(ctx: Context, runs: Path) -> None:
    user = "33333333-3333-4333-8333-333333333333"
    for name in ("r1", "r2"):
        write_run(runs / name, branch(f"{name}-b", instruction(name), user=user), run_id=name)
    assert [counts(import_run_folders(ctx, str(runs / name))) for name in ("r2", "r1")] == [(1, 1, 0, 1)] * 2
    assert (texts(ctx, user), texts(ctx, "r1")) == (["r2"], ["r1"])
    assert counts(import_run_folders(ctx, str(runs))) == (2, 0, 0, 0)


def test_branch_files_of_one_name_and_no_id_are_of_different_runs(ctx: Context, runs: Path) -> None:
    for name in ("r1", "r2"):
        folder = write_run(runs / name, run_id=name)
        nameless = {"messages": {"collections": [instruction(name)], "progression": {"order": [name]}}}
        (folder / "branches" / "main.json").write_text(json.dumps(nameless))
    for added in (2, 0):
        report = import_run_folders(ctx, str(runs))
        assert (counts(report), report.problems) == ((2, added, 0, added), ())
    assert (texts(ctx, "r1"), texts(ctx, "r2")) == (["r1"], ["r2"])


@pytest.mark.parametrize("bad", ["\x1b[2J", "two\nlines", "\x07", "\u202e turned round", "\x85"])
def test_no_id_holds_what_a_terminal_would_obey(ctx: Context, runs: Path, bad: str) -> None:
    folder = write_run(runs / "r1", run_id=f"run {bad}")
    (folder / "branches" / "b.json").write_text(json.dumps(branch(f"branch {bad}", instruction("one"))))
    for added in (1, 0):
        report = import_run_folders(ctx, str(runs))
        assert (report.problems, counts(report)) == ((), (1, added, 0, added))
    with ctx.db.read() as tx:
        ids = tx.one("SELECT id, session_id FROM branches")
    assert ids is not None
    assert [id for id in ids if not id.isprintable()] == []


@pytest.mark.parametrize(
    ("told", "status", "original"),
    [
        pytest.param({"status": "failed", "exit_code": 0}, "failed", None, id="its own word first"),
        pytest.param({"status": "timeout"}, "timed_out", "timeout", id="another program's word"),
        pytest.param({"status": "Completed"}, "completed", "Completed", id="in other letters"),
        pytest.param({"status": "pondering"}, None, "pondering", id="a word nobody knows"),
        pytest.param({"status": 7}, None, 7, id="no word at all"),
        pytest.param({"exit_code": 0}, "completed", None, id="exit code 0"),
        pytest.param({"exit_code": 3}, "failed", None, id="exit code 3"),
        pytest.param({"exit_code": 130}, "aborted", None, id="exit code 130"),
        pytest.param({"exit_code": "1"}, "failed", None, id="exit code as text"),
        pytest.param({"status": None, "exit_code": "none"}, "completed", None, id="nothing"),
    ],
)
def test_how_a_run_ended_is_read_from_its_file(
    ctx: Context, runs: Path, told: dict[str, Any], status: str | None, original: Any
) -> None:
    write_run(runs / "r1", run_id="r1", **told)
    import_run_folders(ctx, str(runs))
    session = sessions.get_session(ctx, "r1")
    assert session.status == status
    assert (session.node_metadata or {}).get("original", {}).get("status") == original


def test_a_run_without_times_takes_them_from_its_files(ctx: Context, runs: Path) -> None:
    folder = write_run(runs / "r1", run_id="r1")
    os.utime(folder, (NOW - 50, NOW - 50))
    os.utime(folder / "run.json", (NOW - 20, NOW - 20))
    import_run_folders(ctx, str(runs))
    session = sessions.get_session(ctx, "r1")
    assert (session.started_at, session.ended_at, session.created_at) == (NOW - 50, NOW - 20, NOW - 50)


def test_no_run_begins_after_its_first_message_or_ends_before_its_last(ctx: Context, runs: Path) -> None:
    past, future = 1_000_000.0, 4_000_000_000.0
    write_run(runs / "r1", branch("b", instruction("one", past), instruction("two", future)), run_id="r1")
    import_run_folders(ctx, str(runs))
    session = sessions.get_session(ctx, "r1")
    assert (session.started_at, session.ended_at) == (past, future)


def test_times_may_be_text(ctx: Context, runs: Path) -> None:
    write_run(runs / "r1", run_id="r1", started_at="2026-01-02T03:04:05Z", ended_at="2026-01-02T04:04:05+01:00")
    import_run_folders(ctx, str(runs))
    session = sessions.get_session(ctx, "r1")
    assert session.started_at == session.ended_at == 1767323045.0


def test_what_started_a_run_and_for_whom_is_kept(ctx: Context, runs: Path) -> None:
    folder = write_run(
        runs / "r1", run_id="r1", invocation_kind="show-play", agent_name="architect", playbook="tidy",
        show_topic="bugs", show_play_name="find", name="show_bugs_find",
    )  # fmt: skip
    (folder / "artifacts").mkdir()
    write_run(runs / "r2", run_id="r2", kind="engine", artifact_root="/elsewhere", parent_session_id="r1")
    import_run_folders(ctx, str(runs))
    one, two = (sessions.get_session(ctx, id) for id in ("r1", "r2"))
    assert (one.invocation_kind, one.agent_name, one.playbook_name) == (InvocationKind.SHOW_PLAY, "architect", "tidy")
    assert (one.show_topic, one.show_play_name, one.name) == ("bugs", "find", "show_bugs_find")
    assert (one.artifacts_path, two.artifacts_path) == (str(folder / "artifacts"), "/elsewhere")
    assert (two.invocation_kind, two.parent_session_id) == (None, "r1")
    assert (two.node_metadata or {})["original"] == {"invocation_kind": "engine"}


def test_a_fork_shares_what_its_parent_said(ctx: Context, runs: Path) -> None:
    copy = {**instruction("copy"), "content": {"instruction": "one"}}
    copy["metadata"] = {**copy["metadata"], "clone_from": "one"}
    fork = branch("fork", copy, instruction("two", NOW + 1))
    fork["metadata"] = {"clone_from": {"id": "main", "progression": ["one"]}}
    write_run(runs / "r1", branch("main", instruction("one")), fork, run_id="r1")
    assert counts(import_run_folders(ctx, str(runs))) == (1, 1, 0, 2)
    stored = branches.get_branch(ctx, "fork")
    assert (stored.parent_branch_id, stored.forked_at_ord, stored.message_count) == ("main", 1, 1)
    assert texts(ctx, "r1") == ["one", "two"]


def spoil(runs: Path) -> dict[str, str]:
    """Folders and files in which something is wrong, and what."""
    (runs / "no run file").mkdir()
    (runs / "loop").symlink_to(runs / "loop")
    (runs / "nowhere").symlink_to(runs / "gone")
    (runs / "folder" / "run.json").mkdir(parents=True)
    (runs / "pipe").mkdir()
    os.mkfifo(runs / "pipe" / "run.json")
    (runs / "huge").mkdir()
    with (runs / "huge" / "run.json").open("wb") as file:
        file.truncate(run_folder_files.LARGEST_FILE + 1)
    for name, text in {
        "empty": "",
        "half": '{"run_id": "ha',
        "list": "[1]",
        "deep": "[" * 100_000,
        "latin": "\udcff",
    }.items():
        (runs / name).mkdir()
        (runs / name / "run.json").write_bytes(text.encode(errors="surrogateescape"))
    return {
        "no run file/run.json": "missing",
        "loop": "cannot be looked at",
        "nowhere": "cannot be looked at",
        "folder/run.json": "not a file",
        "pipe/run.json": "not a file",
        "huge/run.json": "larger than",
        "empty/run.json": "empty",
        "half/run.json": "no whole JSON",
        "list/run.json": "no JSON object",
        "deep/run.json": "nested too deeply",
        "latin/run.json": "UTF-8",
    }


def test_what_cannot_be_read_is_named_and_the_rest_comes_in(
    ctx: Context, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder_files, "LARGEST_FILE", 1_000_000)
    wrong = spoil(runs)
    write_run(runs / "a good one", branch("b", instruction("one")), run_id="good")
    (runs / "a file.txt").write_text("not a run")
    report = import_run_folders(ctx, str(runs))
    assert counts(report)[1:] == (1, 0, 1)
    found = {str(Path(problem.where).relative_to(runs)): problem.message for problem in report.problems}
    assert found.keys() == wrong.keys()
    assert [name for name, complaint in wrong.items() if complaint not in found[name]] == []


def test_a_branch_that_cannot_be_read_comes_in_when_it_can(ctx: Context, runs: Path) -> None:
    folder = write_run(runs / "r1", branch("a", instruction("one")), run_id="r1")
    half = folder / "branches" / "b.json"
    half.write_text('{"id": "b", "mess')
    (folder / "branches" / "c.json").write_text(
        json.dumps({"id": "c", "messages": {"collections": [{"role": "user"}]}})
    )
    report = import_run_folders(ctx, str(runs))
    assert counts(report) == (1, 1, 0, 1)
    assert [Path(problem.where).name for problem in report.problems] == ["b.json", "c.json"]
    half.write_text(json.dumps(branch("b", instruction("two", NOW + 1))))
    assert counts(import_run_folders(ctx, str(runs))) == (1, 0, 1, 1)


@pytest.mark.parametrize(
    "name",
    [
        "with spaces",
        "with/slash",
        "🦁 emoji",
        "".join(chr(0x4E00 + at) for at in range(4_000)),
        "nul \0",
        "half \ud83e",
    ],
    ids=["spaces", "slash", "emoji", "4000 characters", "NUL", "half a character"],
)
def test_any_name_is_kept(ctx: Context, runs: Path, name: str) -> None:
    said = branch("b", instruction("one"), name=name)
    write_run(runs / "r1", said, run_id=name, agent_name=name, name=name, playbook=name, show_topic=name)
    for added in (1, 0):
        report = import_run_folders(ctx, str(runs))
        assert (report.problems, counts(report)) == ((), (1, added, 0, added))
    owner = branches.get_branch(ctx, "b").session_id
    told = sessions.get_session(ctx, owner).node_metadata
    assert told is not None
    assert told["run_json"]["agent_name"] == name


def test_a_message_that_cannot_be_stored_leaves_out_its_run_by_name(ctx: Context, runs: Path) -> None:
    write_run(runs / "bad", branch("b", {**instruction("one"), "content": {"n": float("nan")}}), run_id="bad")
    write_run(runs / "good", branch("c", instruction("two")), run_id="good")
    report = import_run_folders(ctx, str(runs))
    assert counts(report) == (2, 1, 0, 1)
    assert [problem.where for problem in report.problems] == [str(runs / "bad")]


def test_trying_it_first_tells_what_then_happens_and_keeps_nothing(
    ctx: Context, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "ROWS_AT_ONCE", 1)  # each run in a transaction of its own
    write_run(runs / "r1", branch("b", instruction("one")), run_id="r1")
    write_run(runs / "r2", branch("b", instruction("one"), instruction("two")), run_id="r2")  # resumes r1
    write_run(runs / "r3", branch("c", {**instruction("bad"), "content": float("nan")}), run_id="r3")
    write_run(runs / "r4", branch("d", instruction("four")), run_id="r4")
    rehearsed = import_run_folders(Context(Rehearsal(ctx.db), now=ctx.now), str(runs))
    with ctx.db.read() as tx:
        tables = ("sessions", "messages", "progression_heads", "changes", "status_transitions")
        assert {tx.value(f"SELECT count(*) FROM {table}") for table in tables} == {0}
    assert rehearsed == import_run_folders(ctx, str(runs))
    assert counts(rehearsed) == (4, 2, 1, 3)


def test_trying_it_first_knows_runs_that_go_on_with_each_other_through_others(ctx: Context, runs: Path) -> None:
    one, two, three = (instruction(id, NOW + at) for at, id in enumerate(("one", "two", "three")))
    write_run(runs / "r1", branch("b", one), run_id="r1", status="running")
    write_run(runs / "r2", branch("b", one), branch("c", two), run_id="r2", status="completed")
    write_run(runs / "r3", branch("c", two, three), run_id="r3")
    write_run(runs / "r4", branch("c", two, three), run_id="r4")
    rehearsed = import_run_folders(Context(Rehearsal(ctx.db), now=ctx.now), str(runs))
    assert rehearsed == import_run_folders(ctx, str(runs))
    assert counts(rehearsed) == (4, 1, 2, 3)


def test_others_write_while_it_is_tried(ctx: Context, clock: Clock, location: str, runs: Path) -> None:
    for number in range(3):
        write_run(runs / f"r{number}", branch("b", instruction(f"m{number}")), run_id=f"r{number}")
    other = open_database(location)

    def write(done: int) -> None:
        start_run(Context(other, now=clock), f"live-{done}")

    try:
        import_run_folders(Context(Rehearsal(ctx.db), now=clock), str(runs), step=write)
    finally:
        other.close()
    with ctx.db.read() as tx:
        assert tx.value("SELECT count(*) FROM sessions") == 3


def test_two_imports_at_once_store_each_run_once(ctx: Context, clock: Clock, location: str, runs: Path) -> None:
    for number in range(30):
        write_run(runs / f"r{number}", branch(f"b{number}", instruction(f"m{number}")), run_id=f"r{number}")
    found: list[ImportReport] = []
    other = open_database(location)
    try:
        threads = [
            threading.Thread(target=lambda one=one: found.append(import_run_folders(one, str(runs))))
            for one in (ctx, Context(other, now=clock))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        other.close()
    assert [report.problems for report in found] == [(), ()]
    assert sum(counts(report)[1] for report in found) == sum(counts(report)[3] for report in found) == 30


STOPPED = """
import os, signal, sys
from lionstudio.importers.run_folders import import_run_folders
from lionstudio.services import imports
from lionstudio.services.context import Context
from lionstudio.store.open import open_database

imports.ROWS_AT_ONCE = 4

def step(done):
    if done == 7:
        os.kill(os.getpid(), signal.SIGINT)

try:
    import_run_folders(Context(open_database(sys.argv[1])), sys.argv[2], step=step)
except KeyboardInterrupt:
    sys.exit(130)
"""


def test_an_interrupted_import_leaves_whole_runs_and_the_next_completes_it(
    ctx: Context, location: str, runs: Path
) -> None:
    for number in range(10):
        said = [instruction(f"{number}-{place}", NOW + place) for place in range(3)]
        write_run(runs / f"r{number}", branch(f"b{number}", *said), run_id=f"r{number}")
    stopped = subprocess.run([sys.executable, "-c", STOPPED, location, str(runs)], capture_output=True, text=True)
    assert (stopped.returncode, stopped.stderr) == (130, "")
    with ctx.db.read() as tx:
        there = tx.value("SELECT count(*) FROM sessions")
        assert (there, tx.value("SELECT count(*) FROM messages")) == (7, 21)
    assert counts(import_run_folders(ctx, str(runs))) == (10, 3, 0, 9)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_moved_folder_is_the_same_run(ctx: Context, tmp_path: Path) -> None:
    import_run_folders(ctx, str(REAL))
    shutil.copytree(REAL, tmp_path / "copy")
    assert counts(import_run_folders(ctx, str(tmp_path / "copy"))) == (1, 0, 0, 0)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.just(10**400)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FACTS = st.sampled_from(
    [
        "run_id",
        "status",
        "exit_code",
        "started_at",
        "ended_at",
        "kind",
        "branches",
        "agent_name",
        "artifact_root",
        "name",
    ]
)
FIELDS = st.sampled_from(["id", "created_at", "metadata", "user", "name", "messages", "system", "chat_model"])
MESSAGES = st.dictionaries(st.sampled_from(["id", "created_at", "metadata", "content", "role", "sender"]), JSON)
PILES = st.fixed_dictionaries({"collections": st.lists(MESSAGES, max_size=3)}, optional={"progression": JSON})


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=st.dictionaries(FACTS, JSON), said=st.dictionaries(FIELDS, JSON), pile=st.none() | PILES)
def test_nothing_that_json_can_hold_stops_an_import(
    ctx: Context, tmp_path: Path, told: dict[str, Any], said: dict[str, Any], pile: Any
) -> None:
    runs = tmp_path / "any"
    shutil.rmtree(runs, ignore_errors=True)
    folder = write_run(runs / "r", **told)
    content = said if pile is None else {**said, "messages": pile}
    (folder / "branches" / "b.json").write_text(to_json(content))
    assert counts(import_run_folders(ctx, str(runs)))[0] == 1
    assert counts(import_run_folders(ctx, str(runs))) == (1, 0, 0, 0)
