"""`li record`: a command does what it would do alone, and is recorded. The processes are real."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import lionstudio
from lionstudio.domain.process import ProcessRole
from lionstudio.services.context import Context
from lionstudio.services.sessions import list_processes
from tests.cli.conftest import Li, run_li
from tests.cli.recording import LI, Done, Recorder
from tests.waiting import wait_until


@pytest.fixture
def recorder(location: str, home: Path) -> Recorder:
    """On each engine."""
    return Recorder(location)


@pytest.fixture
def here(sqlite_path: Path, home: Path) -> Recorder:
    """Where only the processes matter."""
    return Recorder(str(sqlite_path))


def test_in_a_fresh_home_a_failure_is_shown_with_its_reason(home: Path) -> None:
    done = subprocess.run([*LI, "record", "--", "sh", "-c", "echo hi; exit 3"], capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"hi\n", b"")
    listed = run_li("runs", "ls")
    assert "Failed · exit 3 · 2 messages" in listed.out
    assert "sh -c 'echo hi; exit 3'" in listed.out
    (row,) = run_li("runs", "ls", "--json").objects
    assert "The command ended with exit code 3." in run_li("runs", "show", row["id"]).out


def test_everything_passes_untouched_and_is_recorded(recorder: Recorder) -> None:
    noise = bytes(range(256)) * 100
    script = "import sys; data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data); sys.stderr.write('oh\\n')"
    assert recorder.run("--", sys.executable, "-c", script, stdin=noise) == Done(0, noise, "oh\n")
    command, *said = recorder.messages
    assert (command.kind, shlex.split(command.content["instruction"])) == ("user", [sys.executable, "-c", script])
    assert command.node_metadata == {"argv": [sys.executable, "-c", script]}
    assert {message.kind for message in said} == {"assistant"}
    assert recorder.said("stdout") == noise
    assert recorder.said("stderr") == b"oh\n"
    assert recorder.ending == ("completed", 0, "run.completed.normal")
    assert recorder.session.invocation_kind == "command"


@pytest.mark.parametrize(
    ("script", "code", "ending"),
    [
        ("exit 0", 0, ("completed", 0, "run.completed.normal")),
        ("exit 1", 1, ("failed", 1, "run.failed.exit_nonzero")),
        ("exit 143", 143, ("cancelled", 143, "run.cancelled.terminated")),
        ("exit 255", 255, ("failed", 255, "run.failed.exit_nonzero")),
        ("kill -KILL $$", 137, ("failed", 137, "run.failed.signal")),
        ("kill -SEGV $$", 139, ("failed", 139, "run.failed.signal")),
        ("kill -INT $$", -2, ("aborted", 130, "run.aborted.interrupt")),
        ("kill -TERM $$", -15, ("cancelled", 143, "run.cancelled.terminated")),
        ("kill -HUP $$", -1, ("aborted", 129, "run.aborted.hangup")),
    ],
)
def test_it_ends_as_its_command_did(here: Recorder, script: str, code: int, ending: tuple[str, int, str]) -> None:
    assert here.run("--", "sh", "-c", script) == Done(code, b"", "")
    assert here.ending == ending


def test_what_cannot_be_begun_is_said_and_recorded(here: Recorder, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    assert here.run("--", "no-such-program") == Done(127, b"", "li: no-such-program: No such file or directory.\n")
    assert here.ending == ("failed", 127, "run.failed.not_found")
    assert here.run("--", str(plain)) == Done(126, b"", f"li: {plain}: Permission denied.\n")
    plain.chmod(0o755)
    plain.write_text('echo "$1" is for the shell')  # a script that names no interpreter
    assert here.run("--", str(plain), "this") == Done(0, b"this is for the shell\n", "")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--",),
        ("--", ""),
        ("--timeout", "0", "--", "true"),
        ("--timeout", "1e10", "--", "true"),
        ("--kind", "x", "--", "true"),
        ("--expect", "", "--", "true"),
        ("--expect", "a", "--expect", " ", "--", "true"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_begun(here: Recorder, words: tuple[str, ...]) -> None:
    done = here.run(*words)
    assert (done.code, done.out) == (2, b"")
    assert done.err.startswith("li: ") and done.err.count("\n") == 1
    assert not Path(here.location).exists()


def test_the_database_of_another_program_is_refused_before_the_command_begins(here: Recorder, tmp_path: Path) -> None:
    theirs = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('CREATE TABLE theirs (x)')"
    subprocess.run([sys.executable, "-c", theirs, here.location], check=True)
    done = here.run("--", "touch", str(tmp_path / "begun"))
    assert done.code == 2
    assert "is never written. Nothing was run. To bring its runs into a database of ours: li --db OURS" in done.err
    assert not (tmp_path / "begun").exists()


def test_a_folder_to_save_in_that_cannot_be_made_is_named_and_nothing_is_run(here: Recorder, tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    done = here.run("--save", str(tmp_path / "taken"), "--", "touch", str(tmp_path / "begun"))
    assert (done.code, done.err) == (
        1,
        f"li: The folder {tmp_path / 'taken'} cannot be made (a file is there), so nothing was run. "
        "Name another one after --save.\n",
    )
    assert not (tmp_path / "begun").exists()


def test_a_command_knows_its_run_and_what_it_records_is_a_child_of_that(recorder: Recorder) -> None:
    inner = "env | grep ^LIONAGI_ | sort; exec " + " ".join(LI) + " record --name inner -- true"
    done = recorder.run("--name", "outer", "--agent", "builder", "--team", "crew", "--", "sh", "-c", inner)
    told = dict(line.split("=", 1) for line in done.out.decode().splitlines())
    rows = {row["name"]: row for row in run_li("runs", "ls", "--json", "--db", recorder.location).objects}
    assert (done.code, rows.keys()) == (0, {"outer", "inner"})
    with lionstudio.open(recorder.location) as db:
        parent = db.session(rows["inner"]["id"]).parent_session_id
    assert told["LIONAGI_SESSION_ID"] == rows["outer"]["id"] == parent
    assert (told["LIONAGI_TEAM"], told["LIONAGI_AGENT"]) == ("crew", "builder")
    (team,) = run_li("team", "list", "--json", "--db", recorder.location).objects
    assert (team["name"], team["members"]) == ("crew", ["builder"])


def test_both_processes_are_recorded(li: Li, ctx: Context, location: str) -> None:
    recorder = Recorder(location)
    done = recorder.run("--", "sh", "-c", "echo $$ $PPID; exit 0")
    pid, parent = map(int, done.out.split())
    seen = {process.role: process for process in list_processes(ctx, recorder.session.id)}
    agent, ours = seen[ProcessRole.AGENT], seen[ProcessRole.RECORDER]
    assert (agent.pid, agent.pgid, agent.owns_group, agent.command) == (pid, pid, True, "sh -c 'echo $$ $PPID; exit 0'")
    assert (ours.pid, ours.owns_group) == (parent, False)
    assert agent.start_time is not None and ours.start_time is not None


def test_options_of_the_run_are_recorded(here: Recorder, tmp_path: Path) -> None:
    here.run("--name", "n", "--agent", "a", "--kind", "agent", "--timeout", "50", "--", "true", cwd=tmp_path)
    session = here.session
    assert (session.name, session.agent_name, session.invocation_kind) == ("n", "a", "agent")
    assert session.node_metadata == {"cwd": str(tmp_path), "timeout": 50.0}


class TestSave:
    def test_all_of_the_output_is_kept_in_files(self, here: Recorder, tmp_path: Path) -> None:
        folder = tmp_path / "made" / "for it"
        script = "head -c 5000000 /dev/zero; echo oh >&2"
        assert here.run("--save", str(folder), "--", "sh", "-c", script).code == 0
        assert (folder / "stdout.log").read_bytes() == bytes(5_000_000)
        assert (folder / "stderr.log").read_bytes() == b"oh\n"
        assert here.session.artifacts_path == str(folder)
        (notice,) = [message.content for message in here.messages if message.role == "notice"]
        assert f"All of stdout is in {folder}/stdout.log." in notice

    def test_a_second_run_overwrites_nothing(self, here: Recorder, tmp_path: Path) -> None:
        for word in ("one", "two"):
            here.run("--save", str(tmp_path), "--", "echo", word)
        assert (tmp_path / "stdout.log").read_text() == "one\n"
        (second,) = tmp_path.glob("stdout.*-*.log")
        assert second.read_text() == "two\n"

    def test_a_full_disk_harms_nobody(self, here: Recorder, small_disk: Path) -> None:
        done = here.run("--save", str(small_disk), "--", "head", "-c", "5000000", "/dev/zero")
        assert (done.code, len(done.out)) == (0, 5_000_000)
        assert done.err == f"lionstudio: {small_disk}/stdout.log is not whole: No space left on device.\n"
        assert here.messages[-1].content == f"{small_disk}/stdout.log is not whole: No space left on device."
        assert here.ending[0] == "completed"


class TestExpect:
    @pytest.mark.parametrize(
        ("script", "delivery", "words"),
        [
            ("mkdir out; echo x > out/a.md; echo y > log", "passed", None),
            ("echo y > log", "partial", "partly delivered"),
            ("true", "missing", "nothing delivered"),
            ("mkdir out; : > out/a.md; echo y > log", "invalid", "delivery unusable"),
        ],
    )
    def test_what_it_leaves_is_looked_for_where_it_ran(
        self, recorder: Recorder, tmp_path: Path, script: str, delivery: str, words: str | None
    ) -> None:
        folder = tmp_path / "work"
        folder.mkdir()
        done = recorder.run("--expect", "out/*.md", "--expect", "log", "--", "sh", "-c", script, cwd=folder)
        assert done.code == 0  # that is for others to judge
        (row,) = run_li("runs", "ls", "--json", "--db", recorder.location).objects
        assert row["state"]["delivery"] == delivery
        shown = run_li("runs", "ls", "--db", recorder.location).out
        assert (words is None) or (words in shown)

    def test_a_folder_that_is_gone_is_said_and_changes_nothing(self, here: Recorder, tmp_path: Path) -> None:
        folder = tmp_path / "work"
        folder.mkdir()
        done = here.run("--expect", "x", "--", "sh", "-c", f"rmdir {folder}; exit 4", cwd=folder)
        assert done.code == 4
        assert "could not be looked for" in done.err
        assert here.ending == ("failed", 4, "run.failed.exit_nonzero")


class TestStreams:
    def test_who_reads_slowly_gets_everything(self, here: Recorder) -> None:
        with here.process("--", "seq", "1", "300000", stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            here.wait_for(lambda messages: len(messages) > 2)  # it is under way, and nobody has read anything
            numbers = process.stdout.read().split()
            assert process.wait() == 0
        assert numbers == [b"%d" % number for number in range(1, 300_001)]

    def test_who_has_seen_enough_ends_it_as_before(self, here: Recorder) -> None:
        with here.process("--", "yes", stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.read(10)
            process.stdout.close()
            assert process.wait() == 128 + signal.SIGPIPE
        assert here.ending == ("failed", 141, "run.failed.signal")

    def test_a_disk_that_is_full_for_its_output_is_said_and_it_is_recorded(
        self, here: Recorder, small_disk: Path
    ) -> None:
        with (
            (small_disk / "out").open("wb") as file,
            here.process("--", "head", "-c", "4000000", "/dev/zero", stdout=file) as process,
        ):
            assert process.stderr is not None
            assert (
                process.stderr.read()
                == b"lionstudio: Not all of the output could be passed on: No space left on device.\n"
            )
            assert process.wait() == 1  # as `head` would have said, had it written there itself
        assert here.ending == ("failed", 1, "run.failed.output_lost")
        assert len(here.said("stdout")) > 1_000_000  # it is recorded all the same

    def test_errors_that_are_lost_change_nothing(self, here: Recorder) -> None:
        with (
            open("/dev/full", "wb") as full,
            here.process("--", "sh", "-c", "echo oh >&2; echo oh >&2; echo fine", stdout=subprocess.PIPE, stderr=full)
            as process,
        ):  # fmt: skip
            assert process.communicate()[0] == b"fine\n"
            assert process.wait() == 0

    @pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
    def test_streams_that_are_closed_harm_nobody(self, here: Recorder, closed: str) -> None:
        line = f"{' '.join(LI)} record --db {here.location} -- sh -c 'echo a; echo b >&2; exit 5' {closed}"
        assert subprocess.run(["sh", "-c", line], capture_output=True, timeout=60).returncode == 5
        assert (here.said("stdout"), here.said("stderr")) == (b"a\n", b"b\n")

    def test_other_descriptors_are_passed_on(self, here: Recorder, tmp_path: Path) -> None:
        line = f"{' '.join(LI)} record --db {here.location} -- sh -c 'echo there >&7' 7> {tmp_path}/seven"
        assert subprocess.run(["sh", "-c", line], timeout=60).returncode == 0
        assert (tmp_path / "seven").read_text() == "there\n"

    def test_a_socket_is_written_too(self, here: Recorder) -> None:
        import socket

        ours, theirs = socket.socketpair()
        with here.process("--", "head", "-c", "1000000", "/dev/zero", stdout=theirs.fileno()) as process:
            theirs.close()
            heard = b"".join(iter(lambda: ours.recv(100_000), b""))
            assert process.wait() == 0
        ours.close()
        assert heard == bytes(1_000_000)

    def test_lines_are_recorded_while_it_runs(self, here: Recorder) -> None:
        with here.process("--", "sh", "-c", "echo one; read line; echo $line", stdin=subprocess.PIPE) as process:
            here.wait_for(
                lambda messages: len(messages) == 2 and messages[1].content == {"assistant_response": "one\n"}
            )

            def state() -> tuple[str, str, str | None]:
                (row,) = run_li("runs", "ls", "--json", "--db", here.location).objects
                return row["status"], row["activity"]["kind"], row["activity"]["tool"]

            wait_until(lambda: state() == ("running", "tool", "sh"))
            assert process.stdin is not None
            process.stdin.write(b"two\n")
            process.stdin.close()
            assert process.wait() == 0
        assert here.said("stdout") == b"one\ntwo\n"

    def test_output_without_end_takes_no_memory(self, here: Recorder) -> None:
        measure = (
            "import resource, subprocess, sys; ended = subprocess.run(sys.argv[1:]); "
            "print(ended.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        )
        words = [*LI, "record", "--timeout", "3", "--db", here.location, "--", "sh", "-c", "yes > /dev/stdout"]
        with open(os.devnull, "wb") as nowhere:
            told = subprocess.run([sys.executable, "-c", measure, *words], stdout=subprocess.PIPE, stderr=nowhere)
        *_, last = told.stdout[-200:].splitlines()
        code, kilobytes = map(int, last.split())
        assert code == 124
        assert kilobytes < 100_000
        assert here.ending == ("timed_out", 124, "run.timed_out.deadline")


def test_hints_of_runs_name_what_was_recorded(here: Recorder) -> None:
    here.run("--", "echo", "hi")
    tail = run_li("runs", "tail", here.session.id, "--json", "--db", here.location)
    assert [json.loads(line)["content"] for line in tail.out.splitlines()] == [
        {"instruction": "echo hi"},
        {"assistant_response": "hi\n"},
    ]
