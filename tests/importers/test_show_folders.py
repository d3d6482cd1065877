"""Show folders become shows and plays: again and again, whatever lies on disk, and nothing is lost by it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lionstudio.domain.errors import NotFound
from lionstudio.domain.show import Play, PlayStatus, Show, ShowStatus, StatusSource
from lionstudio.importers.show_folders import ShowImport, import_show_folders
from lionstudio.services import shows
from lionstudio.services.context import Context
from lionstudio.store import changes
from lionstudio.store.open import open_database
from lionstudio.store.rehearsal import Rehearsal
from tests.factories import NOW, Clock, start_run

FIXTURES = Path(__file__).parents[1] / "fixtures" / "shows"
PLAN = "## Goal\n\nA goal\n\n## Plays\n\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shows"
    folder.mkdir()
    return folder


@pytest.fixture
def ledger(root: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / "ledger", root / "ledger"))


def make_play(show: Path, name: str = "one", verdict: Any = None, **meta: Any) -> Path:
    folder = show / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "_meta.json").write_text(json.dumps(meta))
    if verdict is not None:
        (folder / "_verdict.json").write_text(json.dumps(verdict))
    return folder


def make_plan(show: Path, text: str = PLAN) -> Path:
    show.mkdir(parents=True, exist_ok=True)
    (show / "_show.md").write_text(text)
    return show


def bring_in(ctx: Context, root: Path) -> ShowImport:
    return import_show_folders(ctx, str(root))


def problems(found: ShowImport, root: Path) -> list[tuple[str, str]]:
    return [(os.path.relpath(problem.where, root), problem.message) for problem in found.report.problems]


def status_of(ctx: Context, name: str = "one", topic: str = "show") -> PlayStatus:
    return shows.get_play(ctx, topic, name).status


def everything(ctx: Context) -> list[Any]:
    """All that is stored about shows, their history, and the number of the last news."""
    found: list[Any] = []
    for show in shows.list_shows(ctx):
        plays = shows.list_plays(ctx, show.topic)
        found += [show, plays, shows.list_show_history(ctx, show.topic)]
        found += [shows.list_play_history(ctx, show.topic, play.name) for play in plays]
    with ctx.db.read() as tx:
        return [*found, changes.span(tx)]


def test_a_show_comes_in_with_everything_its_files_say(ctx: Context, ledger: Path):
    start_run(ctx, "old", name="show_ledger_schema", started_at=NOW - 9)
    start_run(ctx, "new", name="show_ledger_schema", started_at=NOW - 5)
    found = bring_in(ctx, ledger.parent)
    assert found.report.problems == ()
    assert found.report.counts == {
        "shows": 1, "shows added": 1, "shows brought up to date": 0,
        "plays": 3, "plays added": 3, "plays brought up to date": 0, "plays with a run": 1,
    }  # fmt: skip
    show = shows.get_show(ctx, "ledger")
    assert show == Show(
        id=show.id,
        topic="ledger",
        show_dir=str(ledger),
        created_at=1789990000.5,
        updated_at=NOW,
        status=ShowStatus.ACTIVE,
        status_source=StatusSource.FILESYSTEM,
        goal="Split the ledger into an append-only journal and a view, so that balances can be rebuilt.",
        repo="/src/ledger",
        base_branch="main",
        integration_branch="show/ledger/integration",
    )
    schema, api, docs = shows.list_plays(ctx, "ledger")
    assert schema == Play(
        id=schema.id,
        show_id=show.id,
        name="schema",
        created_at=1789990000.5,
        updated_at=NOW,
        status=PlayStatus.MERGED,
        attempt=2,
        playbook="feature",
        effort="high",
        session_id="new",
        started_at=1789990000.5,
        ended_at=1789994400.0,
        exit_code=0,
        worktree="/srv/trees/ledger-schema",
        branch="show/ledger/schema",
        merge_sha="0f1e2d3c",
        merged_at=1789994500.0,
        gate_passed=True,
        depends_on=(),
        sort_order=0,
    )
    assert (api.status, api.exit_code, api.gate_passed) == (PlayStatus.GATE_FAILED, 3, False)
    assert (api.gate_feedback, api.depends_on) == ("Two writers lose a row.", ("schema",))
    assert (docs.status, docs.depends_on, docs.attempt) == (PlayStatus.PENDING, ("schema", "api"), 1)


def test_a_second_time_changes_nothing_at_all(ctx: Context, ledger: Path, clock: Clock):
    make_play(ledger, "odd", worktree="nul \0 and \ud800", depends_on=["\ud800", "api"], status="exploded")
    (ledger / "_ABORT").touch()
    start_run(ctx, "run", name="show_ledger_api")
    bring_in(ctx, ledger.parent)
    before = everything(ctx)
    clock.pass_seconds(60)
    again = bring_in(ctx, ledger.parent)
    assert (everything(ctx), again.differences) == (before, ())
    assert len(again.report.problems) == 2  # they are still there


def test_a_folder_that_is_one_show_comes_in(ctx: Context, ledger: Path):
    assert bring_in(ctx, ledger).report.counts["shows"] == 1
    assert shows.get_show(ctx, "ledger").show_dir == str(ledger)


def test_a_show_without_a_plan_is_one_if_it_has_plays(ctx: Context, root: Path):
    make_play(root / "bare", status="merged")
    (root / "notes").mkdir()
    (root / ".git").mkdir()
    assert bring_in(ctx, root).report.counts["shows"] == 1
    assert (shows.get_show(ctx, "bare").goal, shows.get_show(ctx, "bare").status) == (None, ShowStatus.COMPLETED)


@pytest.mark.parametrize(
    ("meta", "verdict", "expected"),
    [
        pytest.param({}, None, "pending", id="nothing is said"),
        pytest.param({"worktree": "/w"}, None, "prepared", id="a worktree"),
        pytest.param({"worktree": "/w", "started_at": 5}, None, "running", id="a start"),
        pytest.param({"started_at": 5, "attempt": 2}, None, "redoing", id="a later start"),
        pytest.param({"started_at": 5, "exit_code": 1}, None, "running_complete", id="an exit code"),
        pytest.param({"exit_code": 0}, {"gate_passed": False, "feedback": "no"}, "gate_failed", id="a refusal"),
        pytest.param({"exit_code": 0}, {"gate_passed": True}, "gated", id="a passed gate"),
        pytest.param({"merge_sha": "abc"}, {"gate_passed": True}, "merged", id="a merge"),
        pytest.param({"status": "escalated", "merge_sha": "abc"}, None, "escalated", id="its own word"),
    ],
)
def test_a_play_is_called_what_its_files_say(ctx: Context, root: Path, meta, verdict, expected):
    make_play(root / "show", verdict=verdict, **meta)
    assert bring_in(ctx, root).report.problems == ()
    assert status_of(ctx) == expected


def test_a_living_process_makes_a_play_running_and_is_only_looked_at(ctx: Context, root: Path):
    folder = make_play(root / "show")
    (folder / ".exit_code").write_text("1\n")  # of an attempt before
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as agent:
        (folder / ".pid").write_text(f"{agent.pid}\n")
        bring_in(ctx, root)
        assert (status_of(ctx), agent.poll()) == (PlayStatus.RUNNING, None)
        agent.kill()
    bring_in(ctx, root)
    assert status_of(ctx) == PlayStatus.RUNNING_COMPLETE


def test_a_pid_that_belongs_to_a_later_process_is_not_the_agent(ctx: Context, root: Path):
    folder = make_play(root / "show", status="running")
    (root / "show" / "_ABORT").touch()
    (folder / ".pid").write_text(str(os.getpid()))
    os.utime(folder / ".pid", (NOW - 10**9, NOW - 10**9))
    bring_in(ctx, root)
    assert shows.get_show(ctx, "show").status is ShowStatus.ABORTED


@pytest.mark.parametrize(
    ("words", "abort", "final", "expected", "reason"),
    [
        (["merged", "merged"], False, None, "completed", "show.completed.all_merged"),
        (["merged", "pending"], False, None, "active", "show.active.plays"),
        (["merged", "merged"], False, False, "aborted", "show.failed.final_gate"),
        (["merged", "escalated"], False, True, "completed", "show.completed.all_merged"),
        (["merged", "pending"], True, None, "aborted", "show.aborted.abort_file"),
        (["merged", "running"], True, None, "active", "show.active.plays"),
    ],
)
def test_a_show_is_called_what_its_folder_says(ctx: Context, root: Path, words, abort, final, expected, reason):
    show = make_plan(root / "show")
    for number, word in enumerate(words):
        make_play(show, f"play{number}", status=word)
    if abort:
        (show / "_ABORT").touch()
    if final is not None:
        (show / "_final_verdict.json").write_text(json.dumps({"show_passed": final, "summary": "", "blockers": []}))
    assert bring_in(ctx, root).report.problems == ()
    assert shows.get_show(ctx, "show").status == expected
    assert [step.reason_code for step in shows.list_show_history(ctx, "show")] == [reason]


def test_an_aborted_show_does_not_wait_for_an_agent_that_is_gone(ctx: Context, root: Path):
    folder = make_play(root / "show", status="running")
    (root / "show" / "_ABORT").touch()
    gone = subprocess.Popen(["true"])
    gone.wait()
    (folder / ".pid").write_text(str(gone.pid))
    bring_in(ctx, root)
    assert (shows.get_show(ctx, "show").status, status_of(ctx)) == (ShowStatus.ABORTED, PlayStatus.RUNNING)


def test_what_changed_on_disk_changes_in_the_database(ctx: Context, ledger: Path, clock: Clock):
    bring_in(ctx, ledger.parent)
    clock.pass_seconds(60)
    make_play(ledger, "api", status="redoing", attempt=2)
    (ledger / "api" / "_verdict.json").unlink()
    (ledger / "api" / ".exit_code").unlink()
    found = bring_in(ctx, ledger.parent)
    assert found.report.problems == ()
    [difference] = found.differences
    assert (difference.play, difference.is_new) == ("api", False)
    api = shows.get_play(ctx, "ledger", "api")
    assert (api.status, api.attempt, api.gate_passed, api.gate_feedback, api.exit_code, api.worktree) == (
        PlayStatus.REDOING, 2, None, None, None, None,
    )  # fmt: skip
    assert [step.to_status for step in shows.list_play_history(ctx, "ledger", "api")] == ["gate_failed", "redoing"]


def test_what_the_director_wrote_and_the_files_confirm_is_left_alone(ctx: Context, root: Path):
    make_plan(root / "show", "## Goal\n\nA goal\n")
    shows.put_show(ctx, "show", actor="director", show_dir=str(root / "show"), goal="A goal")
    assert bring_in(ctx, root).differences == ()
    assert shows.get_show(ctx, "show").status_source is StatusSource.SQLITE


def test_a_run_that_the_files_name_is_linked_before_one_of_the_right_name(ctx: Context, root: Path):
    start_run(ctx, "told")
    start_run(ctx, "named", name="show_show_one")
    make_play(root / "show", session_id="told")
    make_play(root / "show", "two", session_id="recorded elsewhere")
    bring_in(ctx, root)
    plays = shows.list_plays(ctx, "show")
    assert [play.session_id for play in plays] == ["told", None]


def test_a_link_to_a_run_follows_to_a_newer_one_and_never_goes_back(ctx: Context, root: Path, clock: Clock):
    make_play(root / "show", status="running")
    start_run(ctx, "older", name="show_show_one", started_at=NOW - 100)
    bring_in(ctx, root)
    assert shows.get_play(ctx, "show", "one").session_id == "older"
    start_run(ctx, "newest", name="another name", started_at=NOW)
    shows.put_play(ctx, "show", "one", actor="director", session_id="newest")
    bring_in(ctx, root)
    assert shows.get_play(ctx, "show", "one").session_id == "newest"
    clock.pass_seconds(60)
    start_run(ctx, "redo", name="show_show_one")
    bring_in(ctx, root)
    assert shows.get_play(ctx, "show", "one").session_id == "redo"


# What is wrong on disk


@pytest.mark.parametrize(
    ("text", "why"),
    [
        pytest.param(b'{"status": "mer', "It is not JSON", id="half written"),
        pytest.param(b"", "It is empty.", id="empty"),
        pytest.param(b"[1]", "It holds no JSON object.", id="a list"),
        pytest.param(b"[" * 100_000, "It is nested too deeply.", id="nested"),
        pytest.param(b'{"status": "\xff"}', "It is not UTF-8 (byte 13).", id="not UTF-8"),
        pytest.param(b" " * 1_100_000, "It is larger than 1,024 KB.", id="huge"),
    ],
)
@pytest.mark.parametrize("name", ["_meta.json", "_verdict.json"])
def test_a_file_that_cannot_be_read_takes_nothing_away(ctx: Context, root: Path, name, text, why):
    facts = {"worktree": "/w", "attempt": 2, "exit_code": 0}
    folder = make_play(root / "show", verdict={"gate_passed": False, "feedback": "no"}, status="gate_failed", **facts)
    make_play(root / "show", "two", status="merged")
    bring_in(ctx, root)
    before = everything(ctx)
    (folder / name).write_bytes(text)
    found = bring_in(ctx, root)
    [(where, said)] = problems(found, root)
    assert where == f"show/one/{name}"
    assert said.startswith(why)
    assert everything(ctx) == before


def test_a_new_play_with_a_broken_file_comes_in_by_what_the_others_say(ctx: Context, root: Path):
    folder = make_play(root / "show", verdict={"gate_passed": True})
    (folder / "_meta.json").write_text('{"status": "gat')
    assert len(bring_in(ctx, root).report.problems) == 1
    assert status_of(ctx) == PlayStatus.GATED
    bring_in(ctx, root)
    assert status_of(ctx) == PlayStatus.GATED


def test_a_fact_that_cannot_be_read_leaves_the_others(ctx: Context, root: Path):
    make_play(root / "show", status="exploded", attempt=0, started_at="soon", exit_code=True, branch="b", worktree=7)
    found = bring_in(ctx, root)
    assert [(where, said.split(":")[0]) for where, said in problems(found, root)] == [
        ("show/one/_meta.json", name) for name in ("status", "attempt", "worktree", "started_at", "exit_code")
    ]
    assert "The words are: pending, prepared" in found.report.problems[0].message
    play = shows.get_play(ctx, "show", "one")
    assert (play.status, play.attempt, play.branch, play.worktree) == (PlayStatus.PENDING, 1, "b", None)


def test_dependencies_that_lead_nowhere_or_in_circles_are_named_and_kept(ctx: Context, root: Path):
    make_plan(root / "show", PLAN + "**a**\n- deps: [b]\n\n**b**\n- deps: [a, ghost]\n\n**c**\n- deps: none\n")
    found = bring_in(ctx, root)
    assert problems(found, root) == [
        ("show/_show.md", "b depends on ghost, which is no play of this show."),
        ("show/_show.md", "These plays wait for each other: a -> b -> a."),
    ]
    assert [play.depends_on for play in shows.list_plays(ctx, "show")] == [("b",), ("a", "ghost"), ()]


def test_names_that_no_folder_can_have_are_left_out(ctx: Context, root: Path, tmp_path: Path):
    make_play(tmp_path, "evil", status="merged")
    long = "x" * 4_000
    make_plan(root / "show", PLAN + f"**../../evil**\n\n**{long}**\n\n**a/b**\n\n**_private**\n\n**fine 🦁**\n")
    found = bring_in(ctx, root)
    assert [play.name for play in shows.list_plays(ctx, "show")] == ["fine 🦁"]
    assert len(found.report.problems) == 4
    assert all(where == "show/_show.md" and len(said) < 250 for where, said in problems(found, root))


def test_names_of_any_letters_come_in(ctx: Context, root: Path):
    make_play(root / "two words 🦁", "Größe \n\x1b[31m", status="merged")
    assert bring_in(ctx, root).report.problems == ()
    assert [play.name for play in shows.list_plays(ctx, "two words 🦁")] == ["Größe \n\x1b[31m"]


def test_a_folder_name_that_is_not_utf8_is_left_out(ctx: Context, root: Path):
    make_play(root / os.fsdecode(b"caf\xe9"), status="merged")
    make_play(root / "fine", status="merged")
    found = bring_in(ctx, root)
    assert [problem.message for problem in found.report.problems] == ["Its name is not UTF-8."]
    assert [show.topic for show in shows.list_shows(ctx)] == ["fine"]


def test_links_that_lead_in_circles_or_nowhere_are_left_out(ctx: Context, root: Path):
    folder = make_play(root / "show", status="merged")
    (root / "show" / "up").symlink_to("..")
    (root / "show" / "itself").symlink_to("itself")
    (root / "show" / "same").symlink_to("one")
    (root / "lost").symlink_to("nowhere")
    (root / "again").symlink_to("show")
    (folder / ".exit_code").symlink_to(".exit_code")
    found = bring_in(ctx, root)
    assert sorted(where for where, _ in problems(found, root)) == [
        "again", "lost", "show/itself", "show/one/.exit_code", "show/same", "show/up",
    ]  # fmt: skip
    assert [show.topic for show in shows.list_shows(ctx)] == ["show"]


def test_a_show_that_is_a_link_to_elsewhere_comes_in(ctx: Context, root: Path, tmp_path: Path):
    make_play(tmp_path / "other disk", status="merged")
    (root / "linked").symlink_to(tmp_path / "other disk")
    assert bring_in(ctx, root).report.problems == ()
    assert shows.get_show(ctx, "linked").show_dir == str(root / "linked")


def test_nothing_waits_for_a_pipe(ctx: Context, root: Path):
    folder = make_play(root / "show", status="merged")
    os.mkfifo(folder / ".exit_code")
    (folder / "_verdict.json").symlink_to("/dev/zero")
    found = bring_in(ctx, root)
    assert {said for _, said in problems(found, root)} == {"It is not a file."}


# What only the database knows


def test_a_play_that_is_gone_from_disk_stays_and_is_named(ctx: Context, ledger: Path):
    bring_in(ctx, ledger.parent)
    make_play(ledger, "extra", status="gated")
    bring_in(ctx, ledger.parent)
    before = shows.list_plays(ctx, "ledger")
    shutil.rmtree(ledger / "extra")
    shutil.rmtree(ledger / "schema")
    (ledger / "api" / "_meta.json").unlink()
    found = bring_in(ctx, ledger.parent)
    assert problems(found, ledger) == [
        ("schema", "The database knows it as merged, but its folder is not there."),
        ("api", "The database knows it as gate_failed, but _meta.json is not there."),
        ("extra", "The database knows this play as gated, but it is not on disk any more."),
    ]
    assert (shows.list_plays(ctx, "ledger"), found.differences) == (before, ())


def test_plays_that_are_gone_are_forgotten_when_that_is_asked_for(ctx: Context, ledger: Path):
    make_play(ledger, "extra", status="gated")
    bring_in(ctx, ledger.parent)
    shutil.rmtree(ledger / "extra")
    shutil.rmtree(ledger / "schema")
    found = import_show_folders(ctx, str(ledger.parent), forget_gone=True)
    assert (found.report.problems, found.report.counts["plays forgotten"]) == ((), 2)
    stored = {play.name: play.status for play in shows.list_plays(ctx, "ledger")}
    assert stored == {"schema": "pending", "api": "gate_failed", "docs": "pending"}
    again = import_show_folders(ctx, str(ledger.parent), forget_gone=True)
    assert (again.differences, again.report.has_news, again.report.problems) == ((), False, ())


def test_a_verdict_or_a_plan_that_is_gone_from_disk_stays_and_is_named(ctx: Context, root: Path):
    show = make_plan(root / "show")
    folder = make_play(show, verdict={"gate_passed": True, "feedback": "fine"}, status="merged")
    bring_in(ctx, root)
    (folder / "_verdict.json").unlink()
    (show / "_show.md").unlink()
    found = bring_in(ctx, root)
    assert problems(found, show) == [
        ("one", "The database knows that its gate passed, but _verdict.json is not there."),
        ("_show.md", "The database knows the goal of this show, but its plan is not there."),
    ]
    assert found.differences == ()


def test_a_show_that_is_gone_from_disk_stays_and_is_named(ctx: Context, ledger: Path):
    bring_in(ctx, ledger.parent)
    shutil.rmtree(ledger)
    found = bring_in(ctx, ledger.parent)
    assert problems(found, ledger.parent) == [
        ("ledger", "The database knows this show as active, but it is not on disk.")
    ]
    assert len(shows.list_plays(ctx, "ledger")) == 3


@pytest.mark.parametrize("name", ["nowhere", "ledger/schema", "ledger/_show.md"])
def test_what_is_no_folder_of_shows_is_refused(ctx: Context, ledger: Path, name):
    with pytest.raises(NotFound):
        bring_in(ctx, ledger.parent / name)


@pytest.mark.parametrize("run", ["nul \0", "half \ud800", "x" * 100_000])
def test_a_run_that_no_database_could_hold_is_no_run(ctx: Context, root: Path, run):
    make_play(root / "show", status="merged", session_id=run)
    assert bring_in(ctx, root).report.problems == ()
    assert shows.get_play(ctx, "show", "one").session_id is None


def test_trying_it_first_tells_what_then_happens_and_waits_for_no_writer(ctx: Context, location: str, root: Path):
    for name in ("one", "two"):
        make_play(make_plan(root / name), status="running")
    before = everything(ctx)
    other = open_database(location)
    try:
        with other.write() as tx:  # somebody else writes all the while
            tx.run("INSERT INTO schema_meta (key, value) VALUES ('busy', '1')")
            rehearsed = bring_in(Context(Rehearsal(ctx.db), now=ctx.now), root)
    finally:
        other.close()
    assert everything(ctx) == before
    assert rehearsed == bring_in(ctx, root)
    assert rehearsed.report.counts["shows added"] == 2
