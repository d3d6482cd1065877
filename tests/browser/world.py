"""A believable world: runs of every status, kind and health, shows on disk, teams that talk, folders that admins see.

Everything is written by the use cases that the studio itself calls. Processes are real; `close` ends them.
"""

import json
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from lionstudio import machine
from lionstudio.domain.conversation import Branch
from lionstudio.domain.health import DAY, HOUR, MINUTE
from lionstudio.domain.process import Place, ProcessRecord, ProcessRole
from lionstudio.domain.session import Session, SourceKind
from lionstudio.importers.show_folders import import_show_folders
from lionstudio.services import admin, interventions, teams
from lionstudio.services.context import Context, open_context
from lionstudio.services.imports import BranchImport, SessionImport, import_sessions
from lionstudio.settings import Settings, load_settings
from tests.browser import texts
from tests.browser.telling import RunStory, Teller, id_of
from tests.factories import Clock, user_says

TEAM = "payments-crew"
OLD_TEAM = "release-crew"
SHOW = "payments-split"
AGENTS = ("architect", "builder", "reviewer", "tester", "researcher")
TASKS = (
    "Mend the flaky upload test", "Describe the ledger for operators", "Upgrade the client library",
    "Find the slow query", "Review the retry policy", "Sort the open issues", "Translate the error pages",
    "Check the licences", "Measure the cold start", "Remove the old feature flag", "Draft the release notes",
    "Reproduce the crash report",
)  # fmt: skip
ENDINGS = ("completed",) * 8 + ("failed", "timed_out", "aborted", "cancelled", "completed", "failed")
EXIT_CODES = {"completed": 0, "failed": 1, "timed_out": 124, "aborted": 130, "cancelled": 143}
KINDS = ("agent", "agent", "play", "flow", "fanout", "command", "agent")


class World:
    """What was built, by name, and the processes that make it live."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environ = {
            "HOME": str(home),
            "LIONAGI_HOME": str(home / ".lionagi"),
            "LIONAGI_SHOWS_ROOT": str(home / "shows"),
            "LIONAGI_WORKTREES_ROOT": str(home / "worktrees"),
        }
        if pages := os.environ.get("LIONSTUDIO_WEB"):
            self.environ["LIONSTUDIO_WEB"] = pages
        self.runs: dict[str, str] = {}  # ids of runs, by name
        self.teams = {TEAM: id_of(TEAM), OLD_TEAM: id_of(OLD_TEAM)}
        self.shows = (SHOW, "docs-refresh", "search-v2")
        self.now = time.time()
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def settings(self) -> Settings:
        return load_settings(self.environ)

    def open(self) -> Context:
        """The database, for a test that writes as somebody else would; close its `db` afterwards."""
        return open_context(self.settings)

    def live_process(self) -> ProcessRecord:
        """A process that lives as long as this world."""
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
        self._processes.append(process)
        seen = machine.look_at(process.pid)
        assert seen is not None
        return ProcessRecord("", ProcessRole.AGENT, machine.here(), process.pid, seen.start_time)

    def dead_process(self) -> ProcessRecord:
        record = self.live_process()
        process = self._processes.pop()
        process.kill()
        process.communicate()
        return record

    def close(self) -> None:
        for process in self._processes:
            process.kill()
            process.communicate()
        self._processes.clear()

    def __enter__(self) -> "World":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()


def build(home: Path, *, size: int = 60, long: int = 400) -> World:
    """A world of about `size` runs in this folder; the longest of them has `long` messages. 0 runs: nothing at all."""
    home.mkdir(parents=True, exist_ok=True)
    world = World(home)
    clock = Clock(world.now)
    ctx = world.open()
    try:
        if size:
            _tell(world, Teller(Context(ctx.db, now=clock), clock), size, long)
    finally:
        ctx.db.close()
    return world


def _tell(world: World, teller: Teller, size: int, long: int) -> None:
    _legacy(world, teller)
    _ordinary(world, teller, max(0, size - 32))
    _endings(world, teller)
    _troubles(world, teller)
    _running(world, teller)
    _plays(world, teller)
    _long(world, teller, long)
    world.runs = dict(teller.told)
    _shows(world, teller)
    _teams(world, teller)
    _admin(world, teller)


def _ordinary(world: World, teller: Teller, count: int) -> None:
    """Ended runs of the last days: most of them well, more of them lately."""
    for number in range(count):
        ago = 25 * MINUTE + (number * number * 380.0) % (1.1 * DAY) + (number % 3) * 1.4 * DAY
        status = ENDINGS[(number * 5) % len(ENDINGS)]
        agent = AGENTS[number % len(AGENTS)]
        run = teller.run(
            f"{TASKS[number % len(TASKS)]} {number + 1}",
            at=world.now - ago - (3 + number % 17) * 2 * MINUTE,
            step=6.0 + number % 9,
            kind=KINDS[number % len(KINDS)],
            agent=agent,
            playbook="audit" if number % 4 == 0 else None,
        )
        run.user(f"{TASKS[number % len(TASKS)]}, please.")
        for turn in range(1 + number % 4):
            run.tool("bash", texts.PYTEST_PASSED, cmd=f"pytest -q tests/part_{turn}.py", took=3 + number % 40)
        if status == "failed":
            run.tool("bash", texts.TRACEBACK, error=True, cmd="make build")
        run.assistant(texts.DONE if status == "completed" else "I could not finish this.", read=900 + number * 31)
        run.after((3 + number % 17) * MINUTE).end(status, exit_code=EXIT_CODES[status])


def _endings(world: World, teller: Teller) -> None:
    """One run for each way to end, with what explains it."""
    at = world.now - 5 * HOUR
    run = teller.run("Build the image", at=at, agent="builder", kind="command", user="ana")
    run.user("make image")
    run.tool("bash", "Step 7/19 : RUN npm ci\nnpm error network", error="exit code 1", cmd="make image", took=95)
    run.tool("bash", texts.TRACEBACK, error=True, cmd="make image", took=40)
    run.tool("read_file", None, error="No such file: Dockerfile.old", path="Dockerfile.old")
    run.assistant("The registry did not answer. I stop here.")
    run.end("failed", exit_code=1)
    run = teller.run("Load test at noon", at=at + 600, agent="tester", kind="flow")
    run.user("Run the load test for an hour.")
    run.call("load", users=500, minutes=60)
    run.after(70 * MINUTE).end("timed_out", exit_code=124)
    run = teller.run("Try another prompt", at=at + 1200, agent="researcher")
    run.user("Try it with fewer words.")
    run.end("aborted", exit_code=130)
    run = teller.run("Sync the mirrors", at=at + 1800, agent="builder", kind="fanout")
    run.user("Sync all eight.")
    run.assistant("Three of eight are done.")
    run.end("cancelled", exit_code=143)
    run = teller.run("Hostile content", at=at + 2400, agent="researcher")
    run.user(texts.HOSTILE)
    run.tool(
        "fetch",
        {"html": texts.HOSTILE, "nested": {"list": [1, 2.5, None, True, "</script>"]}},
        url="https://tracker.invalid",
    )
    run.assistant(texts.HOSTILE)
    run.end()


def _troubles(world: World, teller: Teller) -> None:
    """Runs that an operator has to look at."""
    now = world.now
    run = teller.run("Rewrite the importer", at=now - 9 * HOUR, agent="builder").process(world.dead_process())
    run.user("Rewrite the importer so that it reads line by line.")
    run.assistant(texts.PLAN)
    run.call("bash", cmd="pytest -q")
    run = teller.run("Fan out the audit", at=now - 3 * HOUR, agent="reviewer", kind="fanout", playbook="audit")
    run.process(world.dead_process())
    run.user("Audit every package.")
    run.assistant("Starting with the smallest.")
    run = teller.run("Silent on another host", at=now - 15 * HOUR, agent="tester")
    run.process(ProcessRecord("", ProcessRole.AGENT, Place("build-07", "b-1", "4026531836"), 4711, 900))
    run.user("Watch the nightly build.")
    run = teller.run("Index the archive", at=now - 8 * HOUR, agent="researcher").process(world.live_process())
    run.user("Index everything under archive/.")
    run.call("bash", cmd="python index.py archive/")
    empty = world.home / "artifacts" / "never-wrote"
    empty.mkdir(parents=True)
    run = teller.run("Never said a word", at=now - 2 * HOUR, agent="builder", artifacts_path=str(empty))
    run.process(world.dead_process())
    left = world.home / "artifacts" / "left-behind"
    left.mkdir(parents=True)
    for name, age in (("report.md", 5), ("cache.lock", 4), ("upload.part", 4), ("index.tmp", 3)):
        (left / name).write_text("left behind\n")
        os.utime(left / name, (now - age * HOUR,) * 2)
    run = teller.run("Leave files behind", at=now - 6 * HOUR, agent="builder", artifacts_path=str(left))
    run.user("Write the report.")
    run.assistant("It is in report.md.")
    run.end(exit_code=0)
    run = teller.run("Ended by a person", at=now - 20 * HOUR, agent="tester").process(world.dead_process())
    run.user("Watch the queue.")
    run.assistant("Watching.")


def _running(world: World, teller: Teller) -> None:
    """Runs that work right now, each waiting for somebody else."""
    now = world.now
    _flow(world, teller)
    run = teller.run("Triage the nightly failures", at=now - 14 * MINUTE, agent="architect").process(
        world.live_process()
    )
    run.system("You find out why tests fail, and mend them.")
    run.user("Find the failing test")
    run.tool("bash", texts.PYTEST_FAILED, error=True, cmd="pytest -q", took=12)
    run.assistant("It is `test_empty_lines`. I look at the parser.")
    run.at(now - 3 * MINUTE).call("bash", cmd="pytest -q --last-failed --count 50")
    run = teller.run("Review the API change", at=now - 6 * MINUTE, agent="reviewer", model="openai/gpt-5")
    run.process(world.live_process())
    run.user("Review the change to /api/sessions.")
    run.tool("git_diff", texts.GREP, base="main")
    asks = {"interactive": True}
    run = teller.run("Approve the deployment", at=now - 25 * MINUTE, agent="architect", user="ana", node_metadata=asks)
    run.process(world.live_process())
    run.user("Prepare the deployment and ask me before you press the button.")
    run.tool("bash", "plan: 4 to add, 1 to change, 0 to destroy", cmd="terraform plan")
    run.at(now - 12 * MINUTE).assistant("The plan is ready: 4 to add, 1 to change. **May I apply it?**")
    run = teller.run("Collect papers", at=now - 3 * HOUR, agent="researcher").process(world.live_process())
    run.user("Collect papers about group commit.")
    run.assistant("I wait for the library to open.")
    run = teller.run("Migrate the archive", at=now - 2.4 * HOUR, agent="builder", kind="play", step=30.0)
    run.process(world.live_process())
    run.user("Move the archive to the new layout, month by month.")
    for month in range(1, 9):
        run.tool("bash", f"2026-{month:02d}: 31 days moved", cmd=f"move 2026-{month:02d}", took=500)
    run.at(now - 2 * MINUTE).call("bash", cmd="move 2026-09")


def _flow(world: World, teller: Teller) -> None:
    """The run that shows everything: branches, a fork, tools that fail, markdown, a model of its own."""
    now = world.now
    artifacts = world.home / "artifacts" / "parser"
    (artifacts / "notes").mkdir(parents=True)
    (artifacts / "parser.py").write_text(texts.FILE)
    (artifacts / "notes" / "plan.md").write_text(texts.PLAN)
    main = teller.run(
        "Refactor the parser",
        at=now - 38 * MINUTE, agent="architect", kind="flow", playbook="audit", user="ana", branch="architect",
        artifacts_path=str(artifacts), node_metadata={"ticket": "PAY-118", "interactive": True},
    ).process(world.live_process())  # fmt: skip
    main.system("You are a careful architect. Say what you do before you do it.")
    main.user("Add `parse_many` to the parser. Keep what is public as it is.")
    main.tool("read_file", texts.FILE, path="src/parser/__init__.py")
    main.tool("grep", texts.GREP, pattern="raise ValueError", path="src/parser")
    main.assistant(texts.PLAN, read=4_200, wrote=910)
    builder = main.fork("builder")
    reviewer = main.fork("reviewer", at=2, model="openai/gpt-5")
    builder.user("Go ahead with step 1.")
    builder.tool(
        "write_file", {"written": 412, "path": "src/parser/many.py"}, path="src/parser/many.py", content=texts.FILE
    )
    builder.tool("bash", texts.PYTEST_FAILED, error=True, cmd="pytest -q", took=14)
    builder.assistant("One test fails on empty lines. I skip them before parsing.")
    builder.tool(
        "edit_file",
        None,
        error="The text to replace was not found.",
        path="src/parser/many.py",
        old="for line in lines:",
    )
    builder.tool("edit_file", {"replaced": 1}, path="src/parser/many.py", old="    for line in lines:")
    retry = builder.fork("builder, second try", at=9)
    builder.tool("bash", texts.PYTEST_PASSED, cmd="pytest -q", took=9)
    builder.assistant(texts.DONE, wrote=540)
    reviewer.user("Read the plan of the architect as if you did not trust it.")
    reviewer.tool(
        "web_search",
        {"results": [{"title": "PEP 3151", "score": 0.82}, {"title": "Notes", "score": 0.4}]},
        query="ParseError",
    )
    reviewer.assistant("Two doubts: `strict` changes the type of the error, and nobody tests line numbers above 9,999.")
    retry.at(now - 4 * MINUTE).user("Try it with a generator instead of a list.")
    retry.tool("bash", texts.PYTEST_PASSED, cmd="pytest -q", took=11)
    main.at(now - 70).user("Take what the reviewer said into account, then run everything once more.")
    main.at(now - 45).call("bash", cmd="pytest -q && mypy src")


def _plays(world: World, teller: Teller) -> None:
    """The runs of the plays of the show."""
    for play, began, ends in (
        ("schema", 7 * HOUR, "completed"),
        ("worker", 4 * HOUR, "completed"),
        ("docs", 2 * HOUR, "completed"),
    ):
        run = _play_run(world, teller, play, began)
        run.assistant(texts.DONE)
        run.after(40 * MINUTE).end(ends, exit_code=0)
    run = _play_run(world, teller, "ledger-api", 50 * MINUTE).process(world.live_process())
    run.assistant(texts.PLAN)
    run.at(world.now - 5 * MINUTE).call("bash", cmd="pytest tests/contract")


def _play_run(world: World, teller: Teller, play: str, began: float) -> RunStory:
    run = teller.run(
        f"{SHOW}/{play}", at=world.now - began, kind="show-play", agent="builder", playbook="feature",
        show_topic=SHOW, show_play=play,
    )  # fmt: skip
    run.user(f"Do the play {play} as its intent says.")
    run.tool("bash", texts.PYTEST_PASSED, cmd="pytest -q")
    return run


def _long(world: World, teller: Teller, count: int) -> None:
    run = teller.run("Read the whole codebase", at=world.now - 30 * HOUR, agent="researcher", step=1.0)
    run.user("Read everything and tell me what surprises you.")
    for number in range((count - 2) // 3):
        run.tool("read_file", f"{texts.FILE}\n# {number}", path=f"src/module_{number}.py")
        run.assistant(f"**Module {number}.** {'Nothing surprising. ' * (1 + number % 4)}")
    run.end(exit_code=0)


def _legacy(world: World, teller: Teller) -> None:
    """Runs that came without a status."""
    told = []
    for number, name in enumerate(("Old experiment", "Before the vocabulary", "Restored from a backup")):
        session_id, at = id_of(name), world.now - (40 + number) * DAY
        session = Session(
            session_id, at, at, f"{session_id}-order", name=name, agent_name=AGENTS[number],
            source_kind=SourceKind.IMPORTED_FS, started_at=at,
        )  # fmt: skip
        branch = Branch(f"{session_id[:23]}-b", at, session_id, f"{session_id}-main-order", name="main")
        told.append(
            SessionImport(session, [BranchImport(branch, [user_says("hello", id=f"{session_id}-1", created_at=at)])])
        )
        teller.told[name] = session_id
    import_sessions(teller.ctx, told)


def _shows(world: World, teller: Teller) -> None:
    root, now = world.home / "shows", world.now
    repo = world.home / "repo"
    show = root / SHOW
    _write(show / "_show.md", texts.SHOW.format(repo=repo))
    began = {"schema": 7.0, "ledger-api": 0.83, "worker": 4.0, "docs": 2.0}
    metas: dict[str, dict[str, Any]] = {
        "schema": {"status": "merged", "merge_sha": "4f1c9d2a7", "merged_at": now - 6 * HOUR, "exit_code": 0,
                   "ended_at": now - 6.2 * HOUR},
        "ledger-api": {"status": "running", "attempt": 1},
        "worker": {"status": "gate_failed", "attempt": 2, "exit_code": 0, "ended_at": now - 3.3 * HOUR},
        "docs": {"status": "escalated", "attempt": 2, "exit_code": 0, "ended_at": now - 1.3 * HOUR},
        "gateway": {"status": "blocked"},
    }  # fmt: skip
    for play, meta in metas.items():
        if play in began:
            meta |= {"started_at": now - began[play] * HOUR, "playbook": "feature", "effort": "high"}
            meta |= {"worktree": str(world.home / "worktrees" / f"{SHOW}-{play}"), "branch": f"show/{SHOW}/{play}"}
        _write(show / play / "_meta.json", json.dumps(meta))
        _write(show / play / "_intent.md", f"# {play}\n\nWhat the plan says about **{play}**, in more words.\n")
    _write(show / "rollout" / "_intent.md", "# rollout\n\nShadow traffic for a day.\n")
    feedback = "The retry policy is not written down; the acceptance asks for it."
    _write(show / "schema" / "_verdict.json", json.dumps({"gate_passed": True, "feedback": None, "notes": "Clean."}))
    _write(show / "worker" / "_verdict.json", json.dumps({"gate_passed": False, "feedback": feedback, "notes": None}))
    _write(
        show / "docs" / "_verdict.json",
        json.dumps({"gate_passed": False, "feedback": "No way back is described.", "notes": None}),
    )
    _write(
        show / "docs" / "_escalation.md",
        "# Two attempts, one reason\n\nDo operators need a way back on the first day?\n",
    )
    _write(show / "schema" / "architect" / "migration.sql", "CREATE TABLE bookings (id TEXT PRIMARY KEY);\n")
    _planned(
        root / "docs-refresh",
        ("inventory", "rewrite", "review"),
        status="merged",
        merge_sha="77aa01c",
        merged_at=now - DAY,
    )
    _write(
        root / "docs-refresh" / "_final_verdict.json",
        json.dumps({"show_passed": True, "summary": "All pages are new.", "blockers": []}),
    )
    _planned(root / "search-v2", tuple(f"step-{number:02d}" for number in range(1, 13)))
    teller.clock.now = now
    import_show_folders(teller.ctx, str(root))


def _planned(folder: Path, plays: tuple[str, ...], **meta: Any) -> None:
    """A show whose plays come one after the other, two at a time."""
    lines = [f"# {folder.name}", "", "## Goal", "", f"Everything about {folder.name}.", "", "## Plays", ""]
    for number, play in enumerate(plays):
        deps = ", ".join(plays[max(0, number - 2) : number])
        lines += [f"**{play}**", f"- Intent: part {number + 1}", f"- deps: [{deps}]", ""]
        if meta:
            _write(folder / play / "_meta.json", json.dumps(meta))
    _write(folder / "_show.md", "\n".join(lines))


def _teams(world: World, teller: Teller) -> None:
    at, ctx = world.now - 5 * HOUR, teller.ctx
    teller.clock.now = at
    members = ("lead", "architect", "builder", "tester")
    teams.put_team(ctx, world.teams[TEAM], actor="ana", name=TEAM, members=members, created_at=at)
    sent_from = {"builder": f"{SHOW}/ledger-api", "tester": "Load test at noon", "architect": "Refactor the parser"}
    for number, (sender, recipient, content) in enumerate(texts.TEAM):
        teller.clock.now = at + (number + 1) * 19 * MINUTE
        run = sent_from.get(sender)
        readers = [name for name in members if name != sender][: number % 4]
        teams.add_message(
            ctx, world.teams[TEAM], id=id_of(f"{TEAM}/{number}"), sender=sender, recipient=recipient, content=content,
            read_by=readers, session_id=world.runs[run] if run else None,
        )  # fmt: skip
    teller.clock.now = world.now - 20 * DAY
    old = world.teams[OLD_TEAM]
    teams.put_team(ctx, old, actor="ana", name=OLD_TEAM, members=("lead", "builder"), created_at=teller.clock.now)
    teams.add_message(ctx, old, sender="lead", content="Release 1.4 is out. Thank you.")
    teams.archive_team(ctx, old, actor="ana", sentence="The release is out.")


def _admin(world: World, teller: Teller) -> None:
    """What operators did, and what lies around."""
    now, ctx = world.now, teller.ctx
    teller.clock.now = now - 18 * HOUR
    interventions.transition(
        ctx, [world.runs["Ended by a person"]], to="failed", reason="process_lost", actor="ana", note="A reboot."
    )
    for ago, action, details in (
        (30 * HOUR, "checkpoint", {"pages": 812}),
        (26 * HOUR, "vacuum", {"freed_bytes": 4_194_304}),
        (4 * HOUR, "export", {"sessions": 58, "bytes": 9_113_600}),
    ):
        teller.clock.now = now - ago
        admin.record_event(ctx, action, details=details, actor="ana")
    teller.clock.now = now
    _worktrees(world)


def _worktrees(world: World) -> None:
    """A repository with two worktrees, one of them with work that nobody committed."""
    repo = world.home / "repo"
    repo.mkdir()
    _git(repo, "init", "--quiet", "--initial-branch", "main")
    _write(repo / "README.md", "# payments\n")
    _git(repo, "add", "README.md")
    _git(repo, "commit", "--quiet", "--message", "Begin")
    for play in ("ledger-api", "worker"):
        place = world.home / "worktrees" / f"{SHOW}-{play}"
        _git(repo, "worktree", "add", "--quiet", "-b", f"show/{SHOW}/{play}", str(place))
    _write(world.home / "worktrees" / f"{SHOW}-ledger-api" / "ledger.py", texts.FILE)


def _git(folder: Path, *words: str) -> None:
    who: Mapping[str, str] = {
        "GIT_AUTHOR_NAME": "ana", "GIT_AUTHOR_EMAIL": "ana@example.com",
        "GIT_COMMITTER_NAME": "ana", "GIT_COMMITTER_EMAIL": "ana@example.com", "GIT_CONFIG_GLOBAL": os.devnull,
    }  # fmt: skip
    subprocess.run(["git", *words], cwd=folder, check=True, env={**os.environ, **who})


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
