"""`li record` when something goes wrong: signals, deaths, disks, databases. The command's outcome is never ours."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from lionstudio import machine
from lionstudio.store.open import open_database
from tests.cli.conftest import run_li
from tests.cli.recording import IMPATIENT, LI, Recorder, impatient
from tests.recorders.agents import Agent, let_go, locked, spool_files

READY = "import os, signal, sys, time; print(os.getpid(), flush=True)\n"
WAITS = READY.replace("print(os", "signal.signal(signal.SIGINT, signal.SIG_DFL); print(os") + "signal.pause()"
ENDS_WELL = READY + "signal.sigwait({signal.SIGINT, signal.SIGTERM, signal.SIGHUP}); print('bye'); sys.exit(0)"
ENDS_WELL = ENDS_WELL.replace("print(os", "signal.pthread_sigmask(signal.SIG_BLOCK, {1, 2, 15}); print(os")
IGNORES = READY.replace("print(os", "signal.signal(signal.SIGTERM, signal.SIG_IGN); print(os") + "time.sleep(1000)"


@pytest.fixture
def here(sqlite_path: Path, home: Path) -> Recorder:
    return Recorder(str(sqlite_path))


def python(script: str) -> tuple[str, ...]:
    return "--", sys.executable, "-c", script


def first_number(process: "subprocess.Popen[bytes]") -> int:
    assert process.stdout is not None
    return int(process.stdout.readline())


def is_alive(pid: int) -> bool:
    seen = machine.look_at(pid)
    return seen is not None and seen.state not in ("Z", "X")


def listens_to(pid: int, number: int) -> bool:
    """Whether a process has something of its own to do when a signal comes."""
    caught = Path(f"/proc/{pid}/status").read_text().partition("SigCgt:")[2].split()[0]
    return bool(int(caught, 16) >> (number - 1) & 1)


def children_of(pid: int) -> list[str]:
    """The commands that it has begun."""
    pids = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [Path(f"/proc/{child}/cmdline").read_text() for child in pids]


def until(is_so: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < give_up
        time.sleep(0.02)


class Locker:
    """Somebody who holds the write lock of a new database."""

    def __init__(self, location: str) -> None:
        open_database(location).close()
        self._agent = locked(location)

    def __enter__(self) -> Agent:
        return self._agent

    def __exit__(self, *_: object) -> None:
        self._agent.__exit__(None, None, None)


class TestSignals:
    @pytest.mark.parametrize(
        ("number", "ending"),
        [
            (signal.SIGINT, ("aborted", 130, "run.aborted.interrupt")),
            (signal.SIGTERM, ("cancelled", 143, "run.cancelled.terminated")),
            (signal.SIGHUP, ("aborted", 129, "run.aborted.hangup")),
        ],
    )
    @pytest.mark.parametrize("script", [WAITS, ENDS_WELL], ids=["dies of it", "exits 0 after it"])
    @pytest.mark.parametrize("to_group", [False, True], ids=["to li", "to the group of li"])
    def test_a_signal_is_passed_on_and_is_why_it_ended(
        self, here: Recorder, number: int, ending: tuple[str, int, str], script: str, to_group: bool
    ) -> None:
        with here.process(*python(script), stdout=subprocess.PIPE) as process:
            pid = first_number(process)
            (os.killpg if to_group else os.kill)(process.pid, number)
            out, err = process.communicate()
        assert (process.returncode, err) == (-number, b"")  # as the command would have died, so that scripts stop
        assert out == (b"bye\n" if script == ENDS_WELL else b"")
        assert not is_alive(pid)
        assert here.ending == ending

    @pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2, signal.SIGQUIT])
    def test_signals_that_mean_nothing_to_us_reach_the_command(self, here: Recorder, number: int) -> None:
        script = READY.replace("print(os", f"signal.pthread_sigmask(signal.SIG_BLOCK, {{{number:d}}}); print(os")
        script += f"print('heard', int(signal.sigwait({{{number:d}}})))"
        with here.process(*python(script), stdout=subprocess.PIPE) as process:
            first_number(process)
            process.send_signal(number)
            assert process.communicate() == (b"heard %d\n" % number, b"")
        assert here.ending == ("completed", 0, "run.completed.normal")

    def test_one_that_ignores_it_is_killed_with_all_its_group(self, here: Recorder) -> None:
        told = "os.write(1, b'%d\\n' % os.getpid())"  # at once, where two of them print
        script = IGNORES.replace("time.sleep(1000)", f"\nos.fork()\n{told}\ntime.sleep(1000)")
        with here.process(*python(script), stdout=subprocess.PIPE, li=impatient()) as process:
            pids = [first_number(process) for _ in range(3)]
            process.terminate()
            assert process.wait() == -signal.SIGTERM
        assert not any(map(is_alive, pids))
        assert here.ending == ("cancelled", 143, "run.cancelled.terminated")
        history = run_li("runs", "show", here.session.id, "--db", here.location).out
        assert "did not end within" in history

    def test_one_that_is_told_to_stop_while_the_database_is_waited_for_is_not_begun(
        self, here: Recorder, tmp_path: Path
    ) -> None:
        patient = (sys.executable, "-c", IMPATIENT.replace("keeper.BUSY_PATIENCE = ", ""), "0.1")
        with Locker(here.location), here.process("--", "touch", str(tmp_path / "begun"), li=patient) as process:
            until(lambda: listens_to(process.pid, signal.SIGTERM))
            process.terminate()
            assert process.wait() == -signal.SIGTERM
        assert not (tmp_path / "begun").exists()
        assert here.ending == ("cancelled", 143, "run.cancelled.terminated")

    def test_a_deadline_stops_it(self, here: Recorder) -> None:
        assert here.run("--timeout", "0.3", *python(ENDS_WELL)).code == 124
        assert here.ending == ("timed_out", 124, "run.timed_out.deadline")
        assert here.session.node_metadata["timeout"] == 0.3

    def test_the_time_that_recording_takes_is_not_the_commands(self, here: Recorder) -> None:
        with (
            Locker(here.location),
            here.process("--timeout", "0.02", "--", "sleep", "1000", li=impatient()) as process,
        ):
            assert process.wait() == 124
        assert here.ending == ("timed_out", 124, "run.timed_out.deadline")
        assert "before it began" not in run_li("runs", "show", here.session.id, "--db", here.location).out

    def test_a_stuck_reader_does_not_keep_it_from_ending(self, here: Recorder) -> None:
        with here.process("--", "sh", "-c", "echo $$; exec yes", stdout=subprocess.PIPE, li=impatient()) as process:
            pid = first_number(process)  # and nothing more is ever read
            here.wait_for(lambda messages: len(messages) > 2)  # more than fits into the pipe to us
            process.terminate()
            assert process.wait() == -signal.SIGTERM
        assert not is_alive(pid)

    def test_what_was_ignored_before_stays_ignored(self, here: Recorder) -> None:
        line = f"trap '' HUP; exec {' '.join(LI)} record --db {here.location} -- {sys.executable} -c \"$1\""
        script = READY + "signal.alarm(2); signal.pause()"
        with subprocess.Popen(["sh", "-c", line, "sh", script], stdout=subprocess.PIPE) as process:
            pid = first_number(process)
            process.send_signal(signal.SIGHUP)
            os.kill(pid, signal.SIGHUP)
            assert process.wait() == 128 + signal.SIGALRM

    def test_a_signal_after_its_end_does_not_change_how_it_ended(self, here: Recorder) -> None:
        with Locker(here.location) as locker:
            with here.process("--", "sh", "-c", "exit 7", stdout=subprocess.PIPE, li=impatient(leaving=30)) as process:
                until(lambda: bool(spool_files(Path(os.environ["LIONAGI_HOME"]))))
                until(lambda: b"finish" in spool_files(Path(os.environ["LIONAGI_HOME"]))[0].read_bytes())
                process.terminate()  # it only waits for the database now, and does so no longer
                assert process.wait() == 7
            let_go(locker)
        assert here.ending == ("failed", 7, "run.failed.exit_nonzero")


class TestDeaths:
    def test_kill_9_of_the_command(self, here: Recorder) -> None:
        with here.process(*python(WAITS), stdout=subprocess.PIPE) as process:
            os.kill(first_number(process), signal.SIGKILL)
            assert process.wait() == 137
        assert here.ending == ("failed", 137, "run.failed.signal")
        assert "signal 9" in run_li("runs", "ls", "--db", here.location).out

    def test_kill_9_of_li_lets_the_command_live_and_the_run_says_so(self, here: Recorder) -> None:
        with here.process(*python(WAITS), stdout=subprocess.PIPE) as process:
            pid = first_number(process)
            here.wait_for(lambda messages: len(messages) == 2)
            process.kill()
            process.wait()
        try:
            assert is_alive(pid)
            (row,) = run_li("runs", "ls", "--json", "--db", here.location).objects
            assert (row["status"], row["effective_health"]) == ("running", "healthy")
            shown = run_li("runs", "ls", "--db", here.location).out
            assert "recorder gone" in shown
            assert "its recorder is gone" in run_li("runs", "show", row["id"], "--db", here.location).out
        finally:
            os.kill(pid, signal.SIGKILL)

    @pytest.mark.parametrize("closed", [False, True])
    def test_after_kill_9_of_li_the_command_ends_as_it_would_and_what_it_says_arrives(
        self, here: Recorder, tmp_path: Path, closed: bool
    ) -> None:
        says, closes = ("", "os.close(2); ") if closed else ("print('err', file=sys.stderr)", "")
        script = READY.replace("print(os", f"{closes}print(os")
        script += f"input()\nprint('out')\n{says}\nopen({str(tmp_path / 'done')!r}, 'w')"
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        with here.process(*python(script), **pipes) as process:
            pid = first_number(process)
            here.wait_for(lambda messages: len(messages) == 2)
            wills = 1 if closed else 2
            until(lambda: sum("read -r _" in line for line in children_of(process.pid)) >= wills)
            process.kill()
            assert process.communicate(b"go on\n") == (b"out\n", b"" if closed else b"err\n")
        until(lambda: not is_alive(pid))
        assert (tmp_path / "done").exists()

    @pytest.mark.parametrize("descriptors", range(11, 20))
    def test_a_command_does_not_suffer_when_we_have_no_descriptor_left(
        self, here: Recorder, tmp_path: Path, descriptors: int
    ) -> None:
        line = f"ulimit -n {descriptors}; exec {sys.executable} -m lionstudio record --db {here.location} -- "
        line += f"sh -c 'sleep 0.3; echo on; : > {tmp_path}/done'"
        ended = subprocess.run(["sh", "-c", line], capture_output=True)
        begun = ended.stdout or ended.returncode == 0
        assert (tmp_path / "done").exists() == bool(begun)
        if begun:
            assert (ended.returncode, ended.stdout) == (0, b"on\n")

    def test_kill_9_of_both(self, here: Recorder) -> None:
        with here.process(*python(WAITS), stdout=subprocess.PIPE) as process:
            pid = first_number(process)
            here.wait_for(lambda messages: len(messages) == 2)
            process.kill()
            os.kill(pid, signal.SIGKILL)
            process.wait()
        until(lambda: not is_alive(pid))
        (row,) = run_li("runs", "ls", "--json", "--db", here.location).objects
        assert (row["status"], row["effective_health"]) == ("running", "stale")
        assert "process gone" in run_li("runs", "ls", "--db", here.location).out

    def test_what_was_said_before_kill_9_is_there(self, here: Recorder) -> None:
        script = READY + "for number in range(200): print(number, flush=True)\nsignal.pause()"
        with here.process(*python(script), stdout=subprocess.PIPE) as process:
            pid = first_number(process)
            try:
                here.wait_for(lambda messages: any("199" in str(message.content) for message in messages))
                process.kill()
            finally:
                os.kill(pid, signal.SIGKILL)
        assert here.said("stdout").split()[1:] == [b"%d" % number for number in range(200)]

    def test_grandchildren_that_keep_the_output_open_are_not_waited_for_and_live(self, here: Recorder) -> None:
        script = "sleep 1000 & echo $!; exit 6"
        with here.process("--", "sh", "-c", script, stdout=subprocess.PIPE, li=impatient()) as process:
            pid = first_number(process)
            try:
                assert process.wait() == 6
                assert is_alive(pid)  # the command wanted it so
            finally:
                os.kill(pid, signal.SIGKILL)
        assert here.messages[-1].content == (
            "The command has ended, and others keep its output open. "
            "What they say from now on is passed on, but no longer recorded."
        )

    def test_what_others_write_after_its_end_arrives_and_they_live(self, here: Recorder, tmp_path: Path) -> None:
        script = (
            f"(read go < {tmp_path}/go; echo late; echo later >&2; echo $? > {tmp_path}/alive) & echo early; exit 6"
        )
        os.mkfifo(tmp_path / "go")
        with here.process("--", "sh", "-c", script, stdout=subprocess.PIPE, li=impatient()) as process:
            assert process.wait() == 6  # who waits for the command does not wait for them
            assert here.ending == ("failed", 6, "run.failed.exit_nonzero")
            (tmp_path / "go").write_text("go\n")
            assert process.communicate() == (b"early\nlate\n", b"later\n")  # who reads to the end does
        until(lambda: (tmp_path / "alive").exists())
        assert here.said("stdout") == b"early\n"

    def test_what_others_write_after_its_end_goes_where_the_reader_has_gone(
        self, here: Recorder, tmp_path: Path
    ) -> None:
        os.mkfifo(tmp_path / "go")
        script = f"(read go < {tmp_path}/go; exec yes) & echo $!"
        with here.process("--", "sh", "-c", script, stdout=subprocess.PIPE, li=impatient()) as process:
            pid = first_number(process)
            assert process.wait() == 0
            assert process.stdout is not None
            process.stdout.close()
            (tmp_path / "go").write_text("go\n")
            until(lambda: not is_alive(pid))

    def test_a_daemon_is_left_alone(self, here: Recorder) -> None:
        script = READY + "if os.fork() == 0:\n os.setsid(); print(os.getpid(), flush=True); time.sleep(1000)"
        with here.process(*python(script), stdout=subprocess.PIPE, li=impatient()) as process:
            _, daemon = first_number(process), first_number(process)
            assert process.wait() == 0
        assert is_alive(daemon)
        os.kill(daemon, signal.SIGKILL)

    def test_li_runs_kill_ends_it(self, here: Recorder) -> None:
        with here.process("--", "sh", "-c", "sleep 1000 & echo $!; wait", stdout=subprocess.PIPE) as process:
            pid = first_number(process)
            here.wait_for(lambda messages: len(messages) == 2)
            session_id = here.session.id
            killed = run_li("runs", "kill", session_id, "--yes", "--db", here.location)
            assert killed.code == 0, killed.err
            assert process.wait() == -signal.SIGTERM
        assert not is_alive(pid)
        assert here.session.status == "cancelled"

    def test_li_runs_kill_by_force_is_no_failure_of_the_run(self, here: Recorder) -> None:
        with here.process(*python(IGNORES), stdout=subprocess.PIPE) as process:
            pid = first_number(process)
            here.wait_for(lambda messages: len(messages) == 2)
            killed = run_li("runs", "kill", here.session.id, "--yes", "--grace", "0.1", "--db", here.location)
            assert "status       Cancelled, written by you" in killed.out
            assert process.wait() == 137
        assert not is_alive(pid)
        assert (here.session.status, here.session.end_reason) == ("cancelled", "run.cancelled.killed")


class TestDatabase:
    def test_one_that_is_locked_holds_up_neither_the_output_nor_the_end(self, here: Recorder) -> None:
        with Locker(here.location):
            done = here.run("--", "sh", "-c", "seq 1 20000; exit 9", li=impatient())
        assert (done.code, len(done.out.split())) == (9, 20_000)
        assert "The run goes on; its messages wait in" in done.err
        assert run_li("runs", "ls", "--db", here.location).code == 0  # which brings back what waited
        assert here.ending == ("failed", 9, "run.failed.exit_nonzero")
        assert here.said("stdout") == done.out
        assert here.messages[0].content == {"instruction": "sh -c 'seq 1 20000; exit 9'"}

    def test_one_that_comes_back_gets_everything_in_order(self, here: Recorder) -> None:
        script = "echo one; read line; echo two; read line; echo three"
        locker = Locker(here.location)
        with (
            locker as agent,
            here.process("--", "sh", "-c", script, stdin=subprocess.PIPE, li=impatient(leaving=30)) as process,
        ):
            assert process.stdin is not None
            until(lambda: any(b"one" in file.read_bytes() for file in spool_files(Path(os.environ["LIONAGI_HOME"]))))
            process.stdin.write(b"\n")
            process.stdin.flush()
            until(lambda: any(b"two" in file.read_bytes() for file in spool_files(Path(os.environ["LIONAGI_HOME"]))))
            let_go(agent)
            process.stdin.write(b"\n")
            process.stdin.close()
            assert process.wait() == 0
        assert here.said("stdout") == b"one\ntwo\nthree\n"
        assert here.ending == ("completed", 0, "run.completed.normal")
        assert spool_files(Path(os.environ["LIONAGI_HOME"])) == []

    def test_one_whose_server_is_gone_is_spooled(self, home: Path) -> None:
        nowhere = Recorder("postgresql://nobody@127.0.0.1:1/none")
        done = nowhere.run("--", "sh", "-c", "echo hi; exit 2", li=impatient())
        assert (done.code, done.out) == (2, b"hi\n")
        (waiting,) = spool_files(home)
        assert b"hi" in waiting.read_bytes() and b'"finish"' in waiting.read_bytes()

    def test_one_whose_folder_is_gone_is_spooled_until_that_is_back(self, home: Path, tmp_path: Path) -> None:
        folder = tmp_path / "not mounted"
        away = Recorder(str(folder / "state.db"))
        done = away.run("--", "sh", "-c", "echo hi; exit 4")  # with the patience of every day: nobody is waited for
        assert (done.code, done.out, folder.exists()) == (4, b"hi\n", False)
        assert f"The folder {folder} does not exist. The run goes on" in done.err
        assert f"Make it with mkdir -p '{folder}'" in done.err
        folder.mkdir()
        assert away.run("--", "true").code == 0
        listed = run_li("runs", "ls", "--json", "--db", away.location).objects
        assert {run["display_name"]: run["status"] for run in listed} == {
            "true": "completed",
            "sh -c 'echo hi; exit 4'": "failed",
        }

    @pytest.mark.parametrize("form", [("--db", "{}"), ("--db={}",)])
    def test_no_password_is_kept_with_the_run(self, home: Path, form: tuple[str, ...]) -> None:
        words = [word.format("postgresql://bob:hunter2@127.0.0.1:1/none") for word in form]
        assert Recorder("nowhere").run(*words, "--", "true", li=impatient()).code == 0
        (waiting,) = spool_files(home)
        assert b"bob@127.0.0.1" in waiting.read_bytes()
        assert b"hunter2" not in waiting.read_bytes()

    def test_a_home_on_a_full_disk_changes_nothing(self, small_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        full = Recorder(str(small_disk / "state.db"))
        assert full.run("--", "true").code == 0
        monkeypatch.setenv("LIONAGI_HOME", str(small_disk / "home"))
        with suppress(OSError), (small_disk / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(4096))
        done = full.run("--", "sh", "-c", "seq 1 100000; echo oh >&2; exit 5", li=impatient())
        assert (done.code, len(done.out.split())) == (5, 100_000)
        assert "Traceback" not in done.err and "oh\n" in done.err

    def test_a_limit_on_the_size_of_files_changes_nothing(self, here: Recorder) -> None:
        line = f"ulimit -f 64; exec {' '.join(impatient())} record --db {here.location} -- sh -c 'seq 1 200000; exit 5'"
        line = line.replace(impatient()[2], '"$LI"')
        done = subprocess.run(
            ["bash", "-c", line], capture_output=True, timeout=60, env={**os.environ, "LI": impatient()[2]}
        )
        assert (done.returncode, len(done.stdout.split())) == (5, 200_000)
        assert b"Traceback" not in done.stderr


def test_without_descriptors_to_spare_it_says_so_and_begins_nothing(here: Recorder, tmp_path: Path) -> None:
    line = f"ulimit -n 6; exec {' '.join(LI)} record --db {here.location} -- touch {tmp_path}/begun"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "begun").exists()
