"""The engine `exec`: any command is an agent."""

import shlex
import sys
from pathlib import Path

import pytest

from lionstudio.domain.conversation import Message
from lionstudio.domain.errors import InvalidRequest
from lionstudio.engines.both_ends import BothEnds
from lionstudio.engines.command import HALF_RECORDED, CommandEngine, CommandReader, command_of
from lionstudio.engines.engine import Noise, Said, Task
from lionstudio.engines.working import Worked, work
from lionstudio.recorders.recorder import Run
from lionstudio.recorders.stopping import Stopping
from lionstudio.services.context import Context
from tests.engines.recorded import messages, said


def let(run: Run, task: Task) -> Worked:
    return work(CommandEngine(), task, run, stopping=Stopping())


def test_the_prompt_comes_by_standard_input_and_what_is_printed_is_the_answer(ctx: Context, run: Run) -> None:
    worked = let(run, Task("three words here", model="wc -w"))
    assert worked.answer == "3"
    assert worked.exit_code == 0
    assert said(ctx, run.session_id) == [("user", "three words here"), ("assistant", "3")]


def test_the_prompt_comes_as_an_argument_where_the_command_says_so(sqlite_run: Run) -> None:
    worked = let(sqlite_run, Task("it's $HOME", arguments=("printf", "%s|%s", "-", "<{prompt}>")))
    assert worked.answer == "-|<it's $HOME>"


def test_a_prompt_too_long_for_an_argument_is_a_failure_with_a_sentence(sqlite_run: Run) -> None:
    worked = let(sqlite_run, Task("x" * 3_000_000, arguments=("echo", "{prompt}")))
    assert worked.exit_code == 126
    assert "Argument list too long" in (worked.sentence or "")
    assert (worked.sentence or "").endswith(
        ". Leave out {prompt}, and the command reads the prompt from standard input."
    )


def test_a_command_that_cannot_be_begun_for_another_reason_is_not_blamed_on_its_prompt(sqlite_run: Run) -> None:
    missing = let(sqlite_run, Task("x" * 200_000, arguments=("no-such-program", "{prompt}")))
    assert missing.sentence == "It could not be started: no-such-program: No such file or directory."
    long = let(sqlite_run, Task("x", arguments=("echo", "x" * 3_000_000)))
    assert long.sentence == "It could not be started: echo: Argument list too long."


def test_a_prompt_of_megabytes_comes_by_standard_input(sqlite_run: Run) -> None:
    assert let(sqlite_run, Task("x" * 3_000_000, model="wc -c")).answer == "3000000"


def test_a_command_that_does_not_read_its_prompt_is_no_failure(sqlite_run: Run) -> None:
    assert let(sqlite_run, Task("x" * 3_000_000, model="echo done"))[:2] == ("done", 0)


def test_system_prompt_and_history_come_before_the_prompt(sqlite_run: Run) -> None:
    before = (
        Message("1", 1.0, "user", {"instruction": "Hello"}),
        Message("2", 2.0, "assistant", {"assistant_response": "Hi."}),
    )
    worked = let(sqlite_run, Task("And now?", model="cat", system="Be kind.", history=before))
    assert worked.answer == (
        "Be kind.\n\nThis is what was said so far in this conversation:\n\n"
        "[User]\nHello\n\n[You]\nHi.\n\n[User]\nAnd now?"
    )


def test_a_failing_command_is_explained_by_the_last_thing_it_said(sqlite_ctx: Context, sqlite_run: Run) -> None:
    script = "echo half an answer; echo why it broke >&2; exit 3"
    worked = let(sqlite_run, Task("x", arguments=("sh", "-c", script)))
    assert worked.answer == "half an answer"
    assert (worked.exit_code, worked.sentence) == (3, "exec ended with exit code 3: why it broke")
    assert said(sqlite_ctx, sqlite_run.session_id)[1:] == [("assistant", "half an answer"), ("other", "why it broke\n")]


def test_what_a_command_says_beside_its_answer_is_recorded_also_if_it_succeeds(
    sqlite_ctx: Context, sqlite_run: Run
) -> None:
    worked = let(sqlite_run, Task("x", arguments=("sh", "-c", "echo fine; echo deprecated >&2")))
    assert (worked.exit_code, worked.answer) == (0, "fine")
    assert said(sqlite_ctx, sqlite_run.session_id)[1:] == [("assistant", "fine"), ("other", "deprecated\n")]


def test_a_command_that_is_not_there(sqlite_run: Run) -> None:
    worked = let(sqlite_run, Task("x", model="/nowhere/agent --fast"))
    assert worked.exit_code == 127
    assert worked.sentence == "It could not be started: /nowhere/agent: No such file or directory."


def test_a_killed_command_says_by_which_signal(sqlite_run: Run) -> None:
    worked = let(sqlite_run, Task("x", arguments=("sh", "-c", "kill -9 $$")))
    assert (worked.exit_code, worked.sentence) == (137, "exec was killed by signal 9.")


def test_an_answer_is_seen_while_it_grows(sqlite_ctx: Context, sqlite_run: Run, tmp_path: Path) -> None:
    """The command goes on only when somebody has seen its first line."""
    seen = tmp_path / "seen"
    script = f"echo first; while [ ! -e {shlex.quote(str(seen))} ]; do :; done; echo second"

    def watch(event: object) -> None:
        if ("assistant", "first") in said(sqlite_ctx, sqlite_run.session_id):
            seen.touch()

    task = Task("x", arguments=("sh", "-c", script))
    worked = work(CommandEngine(), task, sqlite_run, stopping=Stopping(), watch=watch)
    assert worked.answer == "first\nsecond"
    assert said(sqlite_ctx, sqlite_run.session_id) == [("user", "x"), ("assistant", "first\nsecond")]


def test_a_long_answer_is_given_whole_and_recorded_at_both_ends(sqlite_ctx: Context, sqlite_run: Run) -> None:
    code = "for n in range(400000): print(n)"
    worked = let(sqlite_run, Task("x", arguments=(sys.executable, "-c", code)))
    assert worked.answer == "\n".join(map(str, range(400_000)))
    assert worked.left_out == 0
    recorded = messages(sqlite_ctx, sqlite_run.session_id)[-1].content["assistant_response"]
    assert recorded.startswith("0\n1\n2\n")
    assert recorded.endswith("\n399999")
    assert f"… {len(worked.answer) + 1 - 2 * HALF_RECORDED:,} characters are left out …" in recorded
    assert len(recorded) < 2 * HALF_RECORDED + 100


@pytest.mark.parametrize("lines", [["abcdefghij\n"], ["a"] * 11, ["abc\n"] * 50_000, ["x" * 100_000, "y"], []])
def test_of_a_text_without_end_both_ends_are_kept(lines: list[str]) -> None:
    kept, whole = BothEnds(5), "".join(lines)
    for line in lines:
        kept.add(line)
    left_out = max(0, len(whole) - 10)
    cut = f"\n… {left_out:,} characters are left out …\n"
    assert (kept.length, kept.left_out) == (len(whole), left_out)
    assert kept.text() == (whole if not left_out else whole[:5] + cut + whole[-5:])
    assert kept.text() == kept.text()


def test_a_character_that_comes_in_two_pieces_is_one(sqlite_run: Run) -> None:
    heard: list[str] = []

    def watch(event: object) -> None:
        if isinstance(event, Noise):
            heard.append(event.text)

    script = "import os; os.write(2, b'x' * 65535 + '\u00e4'.encode())"  # a pipe holds 65,536 bytes
    task = Task("hi", arguments=(sys.executable, "-c", script))
    work(CommandEngine(), task, sqlite_run, stopping=Stopping(), watch=watch)
    assert "".join(heard).endswith("x\u00e4")


def test_nothing_printed_is_no_answer(sqlite_ctx: Context, sqlite_run: Run) -> None:
    assert let(sqlite_run, Task("x", model="true")).answer is None
    assert said(sqlite_ctx, sqlite_run.session_id) == [("user", "x")]


def test_bytes_that_are_no_text_do_not_stop_it(sqlite_run: Run) -> None:
    assert let(sqlite_run, Task("x", arguments=("printf", r"a\377b\000c"))).answer == "a\ufffdb\0c"


@pytest.mark.parametrize(
    ("task", "words"),
    [
        pytest.param(Task("x"), "needs a command", id="no command"),
        pytest.param(Task("x", model="sh -c 'oh"), "is not a command", id="an open quote"),
        pytest.param(Task("x", model="true", tools=("Bash",)), "has no tools", id="tools"),
        pytest.param(Task("x", model="true", effort="high"), "has no effort", id="effort"),
    ],
)
def test_what_a_command_cannot_do_is_refused(task: Task, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        command_of(task)


def test_a_long_answer_is_not_written_again_for_every_line() -> None:
    reader = CommandReader()
    told = 0
    for _ in range(5_000):
        list(reader.read("x" * 1_000))
        told += len(list(reader.rest()))
    assert told < 100


def test_what_is_said_before_a_long_silence_is_told_before_it() -> None:
    reader = CommandReader()
    for words in ("one", "one\ntwo"):
        list(reader.read(words.split("\n")[-1]))
        assert [event.content for event in reader.rest() if isinstance(event, Said)] == [{"assistant_response": words}]
    assert list(reader.rest()) == []
