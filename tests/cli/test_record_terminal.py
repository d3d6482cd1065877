"""`li record` on a terminal: colours, prompts, Ctrl-C, Ctrl-Z and the window are the command's, as before."""

import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lionstudio import machine
from lionstudio.domain.process import ProcessRole
from lionstudio.services.context import open_context
from lionstudio.services.sessions import list_processes
from lionstudio.settings import load_settings
from tests.cli.conftest import run_li
from tests.cli.recording import LI, Recorder
from tests.cli.terminals import CTRL_BACKSLASH, CTRL_C, CTRL_D, CTRL_Z, Person

PROMPT = "ready> "
RECORD = f"{shlex.join(LI)} record -- "


@pytest.fixture
def here(sqlite_path: Path, home: Path) -> Recorder:
    return Recorder(str(sqlite_path))


@pytest.fixture
def shell(here: Recorder) -> Iterator[Person]:
    """A shell with job control, ready for the first command."""
    env = {**os.environ, "LIONAGI_DB": here.location, "PS1": PROMPT, "TERM": "dumb"}
    with Person("bash", "--norc", "--noprofile", "--noediting", "-i", env=env) as person:
        person.read(PROMPT)
        yield person


def li(person: Person, command: str) -> None:
    """Type a command to record, and let it begin."""
    person.type(f"{RECORD}{command}\r")
    person.read(f"{command}\n")


def code_of(person: Person) -> int:
    """The exit code that the shell saw last."""
    person.read(PROMPT)
    person.type("echo code $? end\r")
    person.read("end\n")
    code = int(person.read(" end").removeprefix("code "))
    person.read(PROMPT)
    return code


def ending(here: Recorder) -> tuple[str | None, int | None]:
    return here.ending[0], here.ending[1]


def recorder_pid(here: Recorder) -> int:
    """Which process is `li`."""
    here.wait_for(lambda messages: len(messages) >= 2)
    ctx = open_context(load_settings(db=here.location))
    (pid,) = [process.pid for process in list_processes(ctx, here.session.id) if process.role is ProcessRole.RECORDER]
    ctx.db.close()
    return pid


def until_begun(here: Recorder) -> None:
    """Until the process of the command is known."""
    here.wait_for(bool)
    ctx = open_context(load_settings(db=here.location))
    give_up = time.monotonic() + 60
    while all(process.role is not ProcessRole.AGENT for process in list_processes(ctx, here.session.id)):
        assert time.monotonic() < give_up
        time.sleep(0.02)
    ctx.db.close()


def until_gone(pid: int) -> None:
    give_up = time.monotonic() + 60
    while (seen := machine.look_at(pid)) is not None and seen.state not in ("Z", "X"):
        assert time.monotonic() < give_up
        time.sleep(0.02)


def test_a_command_has_a_terminal_as_large_as_ours_and_reads_from_it(here: Recorder, shell: Person) -> None:
    li(shell, "sh -c 'test -t 0 && test -t 1 && test -t 2 && stty size && read word && echo got $word; exit 7'")
    shell.read("24 80\n")
    shell.type("this\r")
    assert shell.read("got this\n") == "this\n"  # as its terminal echoes it
    assert code_of(shell) == 7
    assert shell.echoes
    assert ending(here) == ("failed", 7)
    assert here.said("terminal") == b"24 80\nthis\ngot this\n"


def test_ctrl_c_interrupts_the_command_alone(here: Recorder, shell: Person) -> None:
    li(shell, "sh -c 'echo up; exec sleep 100'")
    shell.read("up\n")
    shell.type(CTRL_C)
    assert code_of(shell) == 130
    assert ending(here) == ("aborted", 130)


@pytest.mark.parametrize("command", [f"{RECORD}sleep 100", f"{shlex.join(LI)} agent exec hi -- sleep 100"])
def test_ctrl_c_ends_the_script_around_it(here: Recorder, shell: Person, tmp_path: Path, command: str) -> None:
    script = tmp_path / "deploy"
    script.write_text(f"#!/bin/bash\necho up\n{command}\necho DEPLOYED\n")
    shell.type(f"bash {script}\r")
    shell.read("up\n")
    until_begun(here)
    shell.type(CTRL_C)
    assert code_of(shell) == 130
    assert "DEPLOYED" not in shell.all_seen
    assert ending(here) == ("aborted", 130)


def test_ctrl_c_ends_the_loop_around_it(here: Recorder, shell: Person) -> None:
    shell.type(f'for word in one two; do {RECORD}sh -c "echo up $word; exec sleep 100"; done; echo over\r')
    shell.read("\nup one\n")
    shell.type(CTRL_C)
    assert code_of(shell) == 130
    assert "up two" not in shell.all_seen and "\nover" not in shell.all_seen


def test_a_script_goes_on_after_a_command_that_took_ctrl_c_for_itself(
    here: Recorder, shell: Person, tmp_path: Path
) -> None:
    script = tmp_path / "script"
    script.write_text(f"{RECORD}sh -c 'trap \"exit 4\" INT; echo up; while :; do sleep 0.1; done'\necho after $?\n")
    shell.type(f"bash {script}\r")
    shell.read("up\n")
    shell.type(CTRL_C)
    shell.read("after 130\n")
    assert code_of(shell) == 0


@pytest.mark.parametrize("code", [0, 4])
def test_ctrl_c_is_why_a_command_ended_that_took_it_for_itself(here: Recorder, shell: Person, code: int) -> None:
    li(shell, f"sh -c 'trap \"exit {code}\" INT; echo up; while :; do sleep 0.1; done'")
    shell.read("up\n")
    shell.type(CTRL_C)
    assert code_of(shell) == 130
    assert ending(here) == ("aborted", 130)


def test_ctrl_c_is_a_key_like_any_other_where_the_terminal_makes_no_signals(here: Recorder, shell: Person) -> None:
    li(shell, "sh -c 'stty -isig -icanon; echo up; head -c 1 > /dev/null'")
    shell.read("up\n")
    shell.type(CTRL_C)
    assert code_of(shell) == 0
    assert ending(here) == ("completed", 0)


def test_ctrl_c_at_a_prompt_is_not_why_a_shell_ended(here: Recorder, shell: Person) -> None:
    li(shell, "bash --norc --noprofile --noediting -i")
    shell.read(PROMPT)
    shell.type(CTRL_C)
    shell.read(PROMPT)
    shell.type("exit 0\r")
    assert code_of(shell) == 0
    assert ending(here) == ("completed", 0)


def test_a_command_that_lives_on_after_ctrl_c_does(here: Recorder, shell: Person) -> None:
    li(shell, "sh -c 'trap \"echo caught\" INT; echo up; read word; echo got $word; read word; echo got $word'")
    shell.read("up\n")
    shell.type(CTRL_C)
    shell.read("caught\n")
    shell.type("it\r")
    shell.read("got it\n")
    assert code_of(shell) == 0
    assert ending(here) == ("completed", 0)


def test_ctrl_d_and_ctrl_backslash_are_the_commands_too(here: Recorder, shell: Person) -> None:
    li(shell, "sh -c 'echo up; cat'")
    shell.read("up\n")
    shell.type(f"line\r{CTRL_D}")
    assert code_of(shell) == 0
    li(shell, "sh -c 'ulimit -c 0; echo up; exec sleep 100'")
    shell.read("up\n")
    shell.type(CTRL_BACKSLASH)
    assert code_of(shell) == 128 + signal.SIGQUIT


def test_ctrl_z_stops_it_and_fg_goes_on(here: Recorder, shell: Person) -> None:
    li(shell, "sh -c 'echo up; read word; echo got $word'")
    shell.read("up\n")
    shell.type(CTRL_Z)
    shell.read("Stopped")
    shell.read(PROMPT)
    assert shell.echoes  # the terminal is the shell's again
    shell.type("fg\r")
    shell.read("got $word'")
    shell.type("on\r")
    shell.read("got on\n")
    assert code_of(shell) == 0
    assert ending(here) == ("completed", 0)


def test_a_program_that_stops_itself_stops_us_as_well(here: Recorder, shell: Person) -> None:
    li(shell, "sh -c 'echo up; kill -STOP $$; echo on'")
    shell.read("up\n")
    shell.read("Stopped")
    shell.read(PROMPT)
    shell.type("fg\r")
    shell.read("\non\n")
    assert code_of(shell) == 0


SAYS_WHEN_IT_GOES_ON = (
    "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL); "
    "signal.signal(signal.SIGCONT, lambda *_: print('again', flush=True)); print('up', flush=True); "
    "[signal.pause() for _ in range(9)]"
)


def test_a_shell_in_it_has_its_own_jobs(here: Recorder, shell: Person) -> None:
    li(shell, "env PS1='inner> ' bash --norc --noprofile --noediting -i")
    shell.read("inner> ")
    shell.type(f"{sys.executable} -c {shlex.quote(SAYS_WHEN_IT_GOES_ON)}\r")
    shell.read("\nup\n")
    shell.type(CTRL_Z)
    shell.read("Stopped")
    shell.read("inner> ")
    shell.type("fg\r")
    shell.read("\nagain\n")  # which it is told when it is in front
    shell.type(CTRL_C)
    shell.read("inner> ")
    shell.type("exit 5\r")
    assert code_of(shell) == 5


def test_in_the_background_it_leaves_the_terminal_alone(here: Recorder, shell: Person) -> None:
    shell.type(f"{RECORD}sh -c 'read -t 0 word; echo done; exit 3' & wait $!\r")
    shell.read("\ndone\n")
    assert code_of(shell) == 3
    assert shell.echoes


def test_what_others_write_after_its_end_comes_on_the_screen(here: Recorder, shell: Person, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    script = f"(read go < {tmp_path}/go; echo late; echo $? > {tmp_path}/alive) & echo early"
    li(shell, f"sh -c '{script}; exit 4'")
    assert code_of(shell) == 4
    assert ending(here) == ("failed", 4)
    (tmp_path / "go").write_text("go\n")
    shell.read("late\n")
    give_up = time.monotonic() + 60
    while not (tmp_path / "alive").exists():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def test_brought_to_the_front_it_hears_what_is_typed(here: Recorder, shell: Person) -> None:
    shell.type(f"{RECORD}sh -c 'echo up; read word; echo got $word' &\r")
    shell.read("up\n")
    shell.type("fg\r")
    shell.read("got $word'\n")
    until_keys_are_let_through(shell)
    shell.type("it\r")
    shell.read("got it\n")
    assert code_of(shell) == 0


def until_keys_are_let_through(shell: Person) -> None:
    give_up = time.monotonic() + 60
    while shell.echoes:
        assert time.monotonic() < give_up
        time.sleep(0.02)


def test_a_new_size_of_the_window_is_passed_on(here: Recorder, shell: Person) -> None:
    script = "import os, signal; signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH}); print('up', flush=True); "
    script += "signal.sigwait({signal.SIGWINCH}); print(*os.get_terminal_size(0), flush=True)"
    li(shell, f"{sys.executable} -c {shlex.quote(script)}")
    shell.read("up\n")
    shell.resize(50, 132)
    shell.read("132 50\n")
    assert code_of(shell) == 0


def test_streams_that_are_no_terminal_are_passed_on_as_they_are(here: Recorder, shell: Person, tmp_path: Path) -> None:
    shell.type(f"{RECORD}sh -c 'test -t 1 && test ! -t 2 && echo out && echo err >&2' 2> {tmp_path}/err\r")
    shell.read("\nout\n")
    assert code_of(shell) == 0
    assert (tmp_path / "err").read_text() == "err\n"
    assert (here.said("terminal"), here.said("stderr")) == (b"out\n", b"err\n")


def test_a_reader_of_its_errors_who_has_gone_is_told_to_it(here: Recorder, shell: Person) -> None:
    shell.type(f"{RECORD}sh -c 'read go; yes no >&2' 2> >(exec true)\r")
    until_begun(here)
    shell.type("go\r")
    assert code_of(shell) == 128 + signal.SIGPIPE


def test_before_a_pipe_it_shares_the_terminal_with_the_others(here: Recorder, shell: Person) -> None:
    shell.type(f"{RECORD}sh -c 'test -t 0 && echo up >&2 && read word && echo got $word' | tr a-z A-Z\r")
    shell.read("\nup\n")
    assert shell.echoes
    shell.type("it\r")
    shell.read("GOT IT\n")
    assert code_of(shell) == 0
    assert here.said("stdout") == b"got it\n"


def test_with_its_streams_elsewhere_it_can_ask_at_the_terminal(here: Recorder, shell: Person, tmp_path: Path) -> None:
    script = "echo Password: > /dev/tty; read word < /dev/tty; echo got $word"
    shell.type(f"{RECORD}sh -c '{script}' < /dev/null > {tmp_path}/log 2>&1\r")
    shell.read("\nPassword:\n")
    shell.type("it\r")
    assert code_of(shell) == 0
    assert (tmp_path / "log").read_text() == "got it\n"


def test_with_its_streams_elsewhere_a_deadline_ends_all_that_it_started(
    here: Recorder, shell: Person, tmp_path: Path
) -> None:
    script = "sleep 1000 & echo $!; wait"
    shell.type(f"{RECORD.replace('record', 'record --timeout 1')}sh -c '{script}' < /dev/null > {tmp_path}/log 2>&1\r")
    assert code_of(shell) == 124
    until_gone(int((tmp_path / "log").read_text()))


COUNTS = """
import signal, time
heard = []
signal.signal(signal.SIGINT, lambda *_: heard.append(1))
print("up", flush=True)
while not heard:
    time.sleep(0.01)
time.sleep(0.5)
print("times", len(heard), flush=True)
"""


def test_before_a_pipe_ctrl_c_reaches_everyone_once(here: Recorder, shell: Person, tmp_path: Path) -> None:
    (tmp_path / "counts.py").write_text(COUNTS)
    shell.type(f"{RECORD}{sys.executable} {tmp_path}/counts.py | (trap '' INT; cat)\r")
    shell.read("\nup\n")
    shell.type(CTRL_C)
    shell.read("times 1\n")
    shell.read(PROMPT)
    assert ending(here) == ("aborted", 130)  # although its exit code was 0


@pytest.mark.parametrize(
    ("number", "code", "status"), [(15, 143, "cancelled"), (1, 129, "aborted"), (2, 130, "aborted")]
)
def test_a_signal_from_elsewhere_is_passed_on(
    here: Recorder, shell: Person, number: int, code: int, status: str
) -> None:
    li(shell, "sh -c 'echo $$ up; sleep 100'")
    pid = int(shell.read(" up\n"))
    os.kill(recorder_pid(here), number)
    assert code_of(shell) == code
    until_gone(pid)
    assert ending(here) == (status, code)
    assert shell.echoes


def test_closing_the_window_ends_it(here: Recorder, shell: Person) -> None:
    li(shell, "sh -c 'echo $$ up; sleep 100'")
    pid = int(shell.read(" up\n"))
    shell.close_window()
    until_gone(pid)
    give_up = time.monotonic() + 60
    while here.session.status == "running":
        assert time.monotonic() < give_up
        time.sleep(0.05)
    assert ending(here) == ("aborted", 129)


def test_kill_9_of_li_leaves_the_terminal_in_order(here: Recorder, shell: Person) -> None:
    li(shell, "sh -c 'echo $$ up; sleep 100'")
    pid = int(shell.read(" up\n"))
    os.kill(recorder_pid(here), signal.SIGKILL)
    shell.read("Killed")
    until_gone(pid)  # its terminal is gone
    give_up = time.monotonic() + 60
    while not shell.echoes:
        assert time.monotonic() < give_up
        time.sleep(0.02)
    assert "process gone" in run_li("runs", "ls", "--db", here.location).out


def test_what_cannot_be_begun_leaves_the_terminal_in_order(here: Recorder, shell: Person) -> None:
    li(shell, "no-such-program")
    assert shell.read("\n") == "li: no-such-program: No such file or directory."
    assert code_of(shell) == 127
    assert shell.echoes


def test_a_deadline_ends_it_there_too(here: Recorder, shell: Person) -> None:
    shell.type(f"{RECORD.removesuffix('-- ')}--timeout 0.5 -- sleep 100\r")
    assert code_of(shell) == 124
    assert ending(here) == ("timed_out", 124)
