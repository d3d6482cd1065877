"""A child process: fed, heard, told to stop, and then gone with all its group."""

import errno
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lionstudio import machine
from lionstudio.recorders import guard
from lionstudio.recorders.child import Exit, run_child
from lionstudio.recorders.stopping import Stopping
from tests.cli.terminals import Person
from tests.waiting import wait_until


class Heard:
    """What a child said, and who it was."""

    def __init__(self, on_stdout: Callable[[bytes], None] = lambda heard: None) -> None:
        self.pid = 0
        self.stdout = b""
        self.stderr = b""
        self._on_stdout = on_stdout

    def run(self, *argv: str, stopping: Stopping | None = None, **more: Any) -> Exit:
        return run_child(
            argv,
            stopping=stopping or Stopping(),
            on_start=self._start,
            on_stdout=self._out,
            on_stderr=self._err,
            **more,
        )

    def _start(self, pid: int) -> None:
        self.pid = pid

    def _out(self, heard: bytes) -> None:
        self.stdout += heard
        self._on_stdout(heard)

    def _err(self, heard: bytes) -> None:
        self.stderr += heard

    @property
    def left(self) -> list[int]:
        return [seen.pid for seen in machine.list_group(self.pid)]

    def end_left(self) -> None:
        """End what the child left behind, which is there."""
        assert self.left
        os.killpg(self.pid, signal.SIGKILL)


def python(script: str) -> tuple[str, str, str]:
    return sys.executable, "-c", script


def test_both_streams_are_heard_and_the_exit_code_is_its_own() -> None:
    heard = Heard()
    assert heard.run("sh", "-c", "echo out; echo err >&2; exit 3") == Exit(3)
    assert (heard.stdout, heard.stderr) == (b"out\n", b"err\n")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_signal_is_said_as_a_shell_says_it(number: int) -> None:
    assert Heard().run("sh", "-c", f"kill -{number:d} $$").code == 128 + number


def test_a_command_that_is_not_there_or_not_executable_is_told_from_one_that_fails(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    missing = Heard().run("no-such-program-anywhere")
    assert (missing.code, missing.started, missing.why) == (
        127,
        False,
        "no-such-program-anywhere: No such file or directory",
    )
    refused = Heard().run(str(plain))
    assert (refused.code, refused.started, refused.why) == (126, False, f"{plain}: Permission denied")
    nowhere = Heard().run("true", cwd=str(tmp_path / "gone"))
    assert nowhere.started is False
    assert str(tmp_path / "gone") in str(nowhere.why)
    assert Heard().run("sh", "-c", "exit 127") == Exit(127)


def test_more_input_than_a_pipe_holds_goes_in_while_as_much_comes_out() -> None:
    food, heard = os.urandom(3_000_000), Heard()
    assert heard.run("cat", stdin=food) == Exit(0)
    assert heard.stdout == food


def test_input_that_nobody_reads_harms_nobody() -> None:
    assert Heard().run("true", stdin=b"x" * 3_000_000) == Exit(0)


def test_who_holds_input_that_nobody_reads_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "LINGER", 0.2)
    heard, began = Heard(), time.monotonic()
    script = "import subprocess; subprocess.Popen(['sleep', '30']); print('done')"
    assert heard.run(*python(script), stdin=b"x" * 3_000_000) == Exit(0)
    assert time.monotonic() - began < 20
    assert heard.stdout == b"done\n"
    heard.end_left()


READS_TERMINAL = """
from lionstudio.recorders.child import run_child
from lionstudio.recorders.stopping import Stopping
run_child(["sh", "-c", "read word < /dev/tty; echo $?"], stopping=Stopping(), on_start=lambda pid: None,
          on_stdout=lambda said: print(said.decode(), end=""), on_stderr=lambda said: None)
"""


def test_one_that_asks_at_the_terminal_is_refused_and_not_stopped() -> None:
    with Person(*python(READS_TERMINAL), env=os.environ) as person:
        assert int(person.read("\n")) > 0


@pytest.mark.parametrize("stdin", [None, b""])
def test_without_input_there_is_nothing_to_read(stdin: bytes | None) -> None:
    heard = Heard()
    heard.run("cat", stdin=stdin)
    assert heard.stdout == b""


def test_environment_and_folder_are_those_that_were_given(tmp_path: Path) -> None:
    heard = Heard()
    heard.run("sh", "-c", "pwd; echo $WORD", cwd=str(tmp_path), env={"WORD": "said", "PATH": os.environ["PATH"]})
    assert heard.stdout.decode().split() == [str(tmp_path), "said"]


@pytest.mark.parametrize(("cause", "told"), [(124, "15"), (129, "1"), (130, "2"), (143, "15")])
def test_asked_to_stop_the_group_is_told_by_the_signal_of_the_cause(cause: int, told: str) -> None:
    script = """
import signal
signal.pthread_sigmask(signal.SIG_BLOCK, (1, 2, 15))
print("ready", flush=True)
print(int(signal.sigwait((1, 2, 15))), flush=True)
"""
    stopping = Stopping()
    heard = Heard(lambda said: stopping.stop(cause) if b"ready" in said else None)
    assert heard.run(*python(script), stopping=stopping) == Exit(0)
    assert heard.stdout.decode().split() == ["ready", told]


def test_a_child_that_ignores_it_is_killed_with_its_group_when_its_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guard, "GRACE", 0.2)
    stopping = Stopping()
    heard = Heard(lambda said: stopping.stop(143))
    ended = heard.run("sh", "-c", "trap '' TERM; sleep 100 & echo ready; wait; wait", stopping=stopping)
    assert ended == Exit(128 + signal.SIGKILL)
    assert heard.left == []


def test_a_second_interrupt_kills_at_once_and_two_of_one_key_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "ONE_KEY", 0.1)
    stopping = Stopping()

    def interrupt(said: bytes) -> None:
        if b"ready" in said:
            stopping.stop(130)
            stopping.stop(130)
        elif b"heard" in said:
            threading.Timer(0.2, stopping.stop, (130,)).start()

    heard, began = Heard(interrupt), time.monotonic()
    ended = heard.run("sh", "-c", "trap 'echo heard' INT; echo ready; while :; do sleep 0.05; done", stopping=stopping)
    assert ended == Exit(128 + signal.SIGKILL)
    assert b"heard" in heard.stdout  # it was asked before
    assert time.monotonic() - began < guard.GRACE


def test_a_stopped_child_hears_it_too() -> None:
    stopping = Stopping()
    heard = Heard(lambda said: stopping.stop(143))
    assert heard.run("sh", "-c", "echo ready; kill -STOP $$", stopping=stopping) == Exit(143)


def test_what_it_left_behind_is_left_alone_and_its_open_pipes_are_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(guard, "LINGER", 0.2)
    go, wrote = tmp_path / "go", tmp_path / "wrote"
    server = f"echo up; until [ -e {go} ]; do sleep 0.05; done; echo more; echo more >&2; touch {wrote}; sleep 1000"
    heard = Heard()
    assert heard.run("sh", "-c", f"({server}) & echo done") == Exit(0)
    assert sorted(heard.stdout.split()) == [b"done", b"up"]
    go.touch()
    wait_until(wrote.exists)  # it did not die of a pipe that nobody reads
    heard.end_left()


def test_nothing_of_the_group_is_left_of_one_that_was_told_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "LINGER", 0.2)
    stopping = Stopping()
    heard = Heard(lambda said: stopping.stop(143))
    script = "sh -c 'trap \"\" TERM; echo up; sleep 1000' & trap 'exit 0' TERM; while :; do sleep 0.05; done"
    assert heard.run("sh", "-c", script, stopping=stopping) == Exit(0)
    assert heard.left == []


def test_who_left_the_group_with_an_open_pipe_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "LINGER", 0.2)
    heard = Heard()
    script = "import os, time\nprint(os.getpid(), flush=True)\nif os.fork() == 0:\n os.setsid()\n time.sleep(1000)"
    script = script.replace("os.setsid()", "os.setsid(); print(os.getpid(), flush=True)")
    assert heard.run(*python(script)) == Exit(0)
    *_, daemon = map(int, heard.stdout.split())
    os.kill(daemon, signal.SIGKILL)  # it was left alone: it wanted to be nobody's


def test_what_lies_in_the_pipe_is_heard_however_slow_we_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "LINGER", 0.0)
    heard = Heard()
    heard.run("sh", "-c", "(sleep 1000 &) ; head -c 60000 /dev/zero")
    assert len(heard.stdout) == 60_000
    heard.end_left()


def test_a_mistake_of_ours_leaves_no_process_behind() -> None:
    def fail(heard: bytes) -> None:
        raise RuntimeError("ours")

    heard = Heard(fail)
    with pytest.raises(RuntimeError, match="ours"):
        heard.run("sh", "-c", "sleep 1000 & echo hi; wait")
    wait_until(lambda: not heard.left)  # they are killed, which takes a moment


def test_many_children_in_many_threads_end_each_with_its_own_code() -> None:
    codes: dict[int, int] = {}

    def work(number: int) -> None:
        heard = Heard()
        codes[number] = heard.run("sh", "-c", f"cat; exit {number}", stdin=b"x" * 100_000).code
        assert len(heard.stdout) == 100_000

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == {number: number for number in range(20)}


@pytest.mark.parametrize("refused", ["dup", "set_blocking"])
def test_no_descriptor_is_left_open_where_the_system_refuses(refused: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given, asked = getattr(os, refused), []

    def refuse(*which: Any) -> Any:
        asked.append(which)
        if len(asked) == 2:
            raise OSError(errno.EMFILE, "Too many open files")
        return given(*which)

    Heard().run("true")
    before = set(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, refused, refuse)
    with pytest.raises(OSError, match="Too many"):
        Heard().run("cat", stdin=b"x")
    gc.collect()
    assert set(os.listdir("/proc/self/fd")) == before


def test_no_descriptor_is_left_open() -> None:
    before = set(os.listdir("/proc/self/fd"))
    for _ in range(3):
        Heard().run("cat", stdin=b"x")
        Heard().run("no-such-program-anywhere")
    assert set(os.listdir("/proc/self/fd")) == before


def test_one_that_was_told_to_stop_before_it_began_is_not_begun(tmp_path: Path) -> None:
    stopping = Stopping()
    stopping.stop(143)
    ended = run_child(
        ["touch", str(tmp_path / "begun")], stopping=stopping, on_start=print, on_stdout=print, on_stderr=print
    )
    assert (ended.code, ended.started, list(tmp_path.iterdir())) == (143, False, [])
