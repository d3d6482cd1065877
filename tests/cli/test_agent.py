"""`li agent`: one agent does one task, only its answer comes out, and everything is recorded."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lionstudio.domain.session import SessionStatus
from lionstudio.recorders.guard import GRACE, ONE_KEY
from lionstudio.services.branches import list_branches
from lionstudio.services.context import Context
from lionstudio.services.sessions import get_usage, list_history, list_processes
from lionstudio.services.team_pages import page_messages_of_session
from tests.cli.crews import DEADLINE, runs, type_li, write
from tests.cli.terminals import CTRL_C, Person
from tests.cli.test_play import on_terminal
from tests.engines.recorded import first_branch, metadata, said
from tests.fakes.agent_programs import calls_of, replaying
from tests.fakes.talking_agent import talking_claude
from tests.waiting import wait_until

HOSTILE = r"printf 'one\033[2J\nlast'"


@pytest.fixture(autouse=True)
def place(home: Path, location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_DB", location)


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that stands in for Claude Code."""
    program = talking_claude(tmp_path / "bin")
    monkeypatch.setenv("LIONSTUDIO_CLAUDE", str(program))
    return program


def test_only_the_answer_comes_out_and_everything_is_recorded(ctx: Context) -> None:
    assert type_li("agent", "exec/tr a-z A-Z", "Shout this") == (0, "SHOUT THIS\n", "")
    [run] = runs(ctx)
    assert (run.status, run.invocation_kind, run.exit_code, run.name) == (SessionStatus.COMPLETED, "agent", 0, None)
    assert (run.node_metadata or {})["cwd"] == os.getcwd()
    assert said(ctx, run.id) == [("user", "Shout this"), ("assistant", "SHOUT THIS")]
    assert metadata(first_branch(ctx, run.id)) == {"provider": "exec", "model": "tr a-z A-Z"}


def test_both_processes_are_recorded_the_agents_and_ours(ctx: Context) -> None:
    type_li("agent", "exec/cat", "Hi")
    [run] = runs(ctx)
    found = {process.role: process for process in list_processes(ctx, run.id)}
    assert found.keys() == {"agent", "recorder"}
    assert (found["agent"].command, found["agent"].owns_group) == ("cat", True)
    assert found["agent"].pid != found["recorder"].pid


def test_the_prompt_is_typed_piped_in_or_in_a_file(tmp_path: Path) -> None:
    file = write(tmp_path / "prompt.md", "From a file\n")
    assert type_li("agent", "exec/cat", stdin="From a pipe\n").out == "From a pipe\n"
    assert type_li("agent", "exec/cat", "-", stdin="From a dash\n").out == "From a dash\n"
    assert type_li("agent", "exec/cat", "--file", str(file)).out == "From a file\n"


def test_what_is_piped_in_comes_behind_what_is_typed_or_in_a_file(tmp_path: Path) -> None:
    file = write(tmp_path / "prompt.md", "Review this\n")
    assert type_li("agent", "exec/cat", "Review this", stdin="- a\n+ b\n").out == "Review this\n\n- a\n+ b\n"
    assert type_li("agent", "exec/cat", "--file", str(file), stdin="+ b\n").out == "Review this\n\n+ b\n"
    assert type_li("agent", "exec/cat", "Typed", stdin="\n").out == "Typed\n"
    assert type_li("agent", "exec/cat", "Typed").out == "Typed\n"
    with file.open() as opened:
        words = [sys.executable, "-m", "lionstudio", "agent", "exec/cat", "Typed"]
        assert subprocess.run(words, stdin=opened, capture_output=True, text=True).stdout == "Typed\n\nReview this\n"


def test_what_is_not_utf_8_is_replaced_in_a_prompt_and_in_an_answer_and_both_are_said(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_bytes(b"caf\xe9 \x00 bar")
    asked = type_li("agent", "exec/cat", "--file", str(file))
    assert (asked.code, asked.out) == (0, "caf\ufffd \0 bar\n")
    assert asked.err.startswith(f"li: {file} is not all UTF-8, so the agent gets \ufffd for what is not.")
    assert asked.err.count("\n") == 1  # the answer is UTF-8
    answered = type_li("agent", "exec", "Hi", "--", "printf", r"caf\351 \000 bar")
    assert (answered.code, answered.out) == (0, "caf\ufffd \0 bar\n")
    assert answered.err.startswith("lionstudio: Where the answer has \ufffd, it was not UTF-8.")


def test_a_replacement_character_that_somebody_wrote_is_text_like_any_other() -> None:
    assert type_li("agent", "exec/cat", "a \ufffd b") == (0, "a \ufffd b\n", "")
    assert type_li("agent", "exec/cat", stdin="\ufeffa \ufffd b") == (0, "a \ufffd b\n", "")


def test_who_waits_for_a_pipe_that_stays_open_says_so() -> None:
    words = [sys.executable, "-m", "lionstudio", "agent", "exec/cat", "Typed"]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as li:  # fmt: skip
        assert li.stdin is not None and li.stderr is not None and li.stdout is not None
        assert "Waiting for the end of standard input." in li.stderr.readline()
        li.stdin.write("late")
        li.stdin.close()
        assert li.stdout.read() == "Typed\n\nlate\n"


def test_the_command_of_exec_may_be_typed_after_two_dashes(ctx: Context) -> None:
    answer = type_li("agent", "exec", "Hi", "--", "sh", "-c", "cat; echo; echo --json -- $1", "--", "x")
    assert answer == (0, "Hi\n--json -- x\n", "")
    commands = [process.command for process in list_processes(ctx, runs(ctx)[0].id)]
    assert "sh -c 'cat; echo; echo --json -- $1' -- x" in commands


def test_a_profile_names_the_model_and_its_body_is_the_system_prompt(ctx: Context, home: Path, claude: Path) -> None:
    write(
        home / "agents" / "critic.md",
        "---\nmodel: claude/opus\neffort: high\ntools: [Read, Bash]\n---\nYou find faults.\n",
    )
    assert type_li("agent", "--agent", "critic", "Look").code == 0
    [run], [call] = runs(ctx), calls_of(claude)
    assert run.agent_name == "critic"
    assert said(ctx, run.id)[:2] == [("system", "You find faults."), ("user", "Look")]
    branch = first_branch(ctx, run.id)
    assert branch.system_msg_id is not None
    told = metadata(branch)
    assert (told["provider"], told["prompt"], told["effort"], told["tools"]) == (
        "claude", "You find faults.", "high", ["Read", "Bash"]
    )  # fmt: skip
    argv = call["argv"]
    assert isinstance(argv, list)
    assert argv[argv.index("--model") + 1] == "opus"
    assert argv[argv.index("--append-system-prompt") + 1] == "You find faults."


def test_a_model_that_is_typed_wins_over_that_of_the_profile(ctx: Context, home: Path) -> None:
    write(home / "agents" / "critic.md", "---\nmodel: claude/opus\n---\nYou find faults.\n")
    assert type_li("agent", "exec/cat", "Look", "--agent", "critic").out == "You find faults.\n\nLook\n"
    assert metadata(first_branch(ctx, runs(ctx)[0].id))["provider"] == "exec"


def test_one_object_tells_a_program_everything(ctx: Context, claude: Path) -> None:
    answer = type_li("agent", "claude", "Hi", "--json", "--name", "greeting")
    [told], [run] = answer.objects, runs(ctx)
    assert (told["session_id"], told["status"], told["exit_code"]) == (run.id, "completed", 0)
    assert (told["answer"], told["name"]) == ("You asked 1 times, last: Hi", "greeting")
    assert told["usage"]["claude-fake"]["output_tokens"] == 5
    assert get_usage(ctx, run.id)["claude-fake"].output_tokens == 5


@pytest.mark.parametrize(
    ("engine", "sample", "text"),
    [("claude", "claude/resumed", "Resumed: you asked for hi before."), ("codex", "codex/simple", "Done: hi.")],
)
def test_every_engine_answers(
    engine: str, sample: str, text: str, ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"LIONSTUDIO_{engine.upper()}", str(replaying(tmp_path, sample)))
    assert type_li("agent", engine, "Go") == (0, f"{text}\n", "")
    [run] = runs(ctx)
    assert (run.status, metadata(first_branch(ctx, run.id))["provider"]) == (SessionStatus.COMPLETED, engine)


# Going on.


def test_a_run_that_resumes_another_one_goes_on_with_the_agents_own_conversation(ctx: Context, claude: Path) -> None:
    type_li("agent", "claude", "One", "--name", "first")
    assert type_li("agent", "--resume", "first", "Two") == (0, "You asked 2 times, last: Two\n", "")
    first, second = runs(ctx)
    assert second.parent_session_id == first.id
    branch = first_branch(ctx, second.id)
    assert (branch.parent_branch_id, branch.forked_at_ord) == (first_branch(ctx, first.id).id, 2)
    assert said(ctx, second.id, branch.id) == [
        ("user", "One"), ("assistant", "You asked 1 times, last: One"),
        ("user", "Two"), ("assistant", "You asked 2 times, last: Two"),
    ]  # fmt: skip
    assert [text for _, text in said(ctx, second.id)] == ["Two", "You asked 2 times, last: Two"]  # nothing is copied
    assert type_li("agent", "--resume", second.id, "Three").out == "You asked 3 times, last: Three\n"


def test_a_conversation_that_went_on_is_gone_on_with_as_it_was(ctx: Context, claude: Path) -> None:
    type_li("agent", "claude", "One", "--name", "first")
    type_li("agent", "--resume", "first", "Two")
    answer = type_li("agent", "--resume", "first", "Other")
    assert answer.out == "You asked 1 times, last: Other\n"  # its own conversation holds what this run knows nothing of
    assert answer.err == (
        "The conversation that claude keeps has gone on since, so it is given what was said before as text.\n"
    )
    assert "[User]\nOne" in str(calls_of(claude)[-1]["stdin"])


def test_a_fork_leaves_the_conversation_as_it_is(ctx: Context, claude: Path) -> None:
    type_li("agent", "claude", "One", "--name", "first")
    assert type_li("agent", "--fork-from", "first", "Two") == (0, "You asked 2 times, last: Two\n", "")
    assert "--fork-session" in str(calls_of(claude)[-1]["argv"])
    assert type_li("agent", "--resume", "first", "Three").out == "You asked 2 times, last: Three\n"
    ids = {metadata(first_branch(ctx, run.id))["native_id"] for run in runs(ctx)}
    assert len(ids) == 2


def test_a_fork_from_the_middle_is_told_what_was_said_until_then(ctx: Context, claude: Path) -> None:
    type_li("agent", "claude", "One", "--name", "first")
    answer = type_li("agent", "--fork-from", "first:1", "Two")
    assert (answer.code, answer.out) == (0, "You asked 1 times, last: Two\n")
    assert answer.err == (
        "claude cannot go on from the middle of a conversation, so it is given what was said before as text.\n"
    )
    assert "--resume" not in str(calls_of(claude)[-1]["argv"])
    second = runs(ctx)[-1]
    branch = first_branch(ctx, second.id)
    assert branch.forked_at_ord == 1
    assert [text for _, text in said(ctx, second.id, branch.id)] == ["One", "Two", "You asked 1 times, last: Two"]


@contextlib.contextmanager
def at_work(ctx: Context) -> Iterator["subprocess.Popen[bytes]"]:
    """A run called first, whose agent has said something and waits."""
    with subprocess.Popen(
        [sys.executable, "-m", "lionstudio", "agent", "claude", "Please wait", "--name", "first"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as li:  # fmt: skip
        wait_until(lambda: runs(ctx) and len(said(ctx, runs(ctx)[0].id)) == 2, within=DEADLINE)
        yield li


def test_a_run_that_still_runs_can_be_forked_and_not_resumed(ctx: Context, claude: Path) -> None:
    with at_work(ctx) as li:
        refused = type_li("agent", "--resume", "first", "Two")
        forked = type_li("agent", "--fork-from", "first", "Two")
        li.send_signal(signal.SIGTERM)
    assert (refused.code, "still runs, and only one agent can go on with it. li runs wait" in refused.err) == (1, True)
    assert forked.err == "The run still runs, so it is given what was said before as text.\n"
    assert forked.out == "You asked 1 times, last: Two\n"
    assert first_branch(ctx, runs(ctx)[-1].id).forked_at_ord == 2


def test_a_run_whose_processes_are_all_gone_can_be_resumed(ctx: Context, claude: Path) -> None:
    with at_work(ctx) as li:
        wait_until(lambda: len(list_processes(ctx, runs(ctx)[0].id)) == 2, within=DEADLINE)
        [agent] = [process for process in list_processes(ctx, runs(ctx)[0].id) if process.role == "agent"]
        li.kill()
    assert type_li("agent", "--resume", "first", "Two").code == 1  # the agent itself works on
    os.kill(agent.pid, signal.SIGKILL)
    wait_until(lambda: not os.path.exists(f"/proc/{agent.pid}/exe"), within=DEADLINE)
    answer = type_li("agent", "--resume", "first", "Two")
    assert (answer.code, answer.out, answer.err) == (0, "You asked 2 times, last: Two\n", "")


def test_a_fork_at_nothing_begins_anew(ctx: Context) -> None:
    type_li("agent", "exec/cat", "One", "--name", "first")
    assert type_li("agent", "--fork-from", "first:0", "Two") == (0, "Two\n", "")
    assert first_branch(ctx, runs(ctx)[-1].id).forked_at_ord == 0


def test_another_engine_goes_on_with_what_was_recorded(ctx: Context, claude: Path) -> None:
    type_li("agent", "claude", "One", "--name", "first")
    answer = type_li("agent", "exec/cat", "Two", "--resume", "first")
    assert answer.err == "The conversation is one of claude, so it is given what was said before as text.\n"
    assert "[You]\nYou asked 1 times, last: One" in answer.out


def test_a_system_prompt_is_given_again_and_said_once(ctx: Context, home: Path, claude: Path) -> None:
    write(home / "agents" / "critic.md", "---\nmodel: claude\n---\nYou find faults.\n")
    type_li("agent", "--agent", "critic", "One", "--name", "first")
    type_li("agent", "--resume", "first", "Two")
    second = runs(ctx)[-1]
    assert second.agent_name == "critic"
    assert [kind for kind, _ in said(ctx, second.id)] == ["user", "assistant"]
    assert "You find faults." in str(calls_of(claude)[-1]["argv"])
    branch = first_branch(ctx, second.id)
    assert branch.system_msg_id == first_branch(ctx, runs(ctx)[0].id).system_msg_id


def test_it_goes_on_where_it_worked_before(ctx: Context, tmp_path: Path, claude: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    type_li("agent", "claude", "One", "--name", "first", "--cwd", str(folder))
    type_li("agent", "--resume", "first", "Two")
    assert [call["cwd"] for call in calls_of(claude)] == [str(folder), str(folder)]


@pytest.mark.parametrize("way", ["--resume", "--fork-from"])
def test_it_goes_on_in_no_other_folder_than_its_own_or_a_named_one(ctx: Context, tmp_path: Path, way: str) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    type_li("agent", "exec", "One", "--name", "first", "--cwd", str(folder), "--", "pwd")
    folder.rmdir()
    refused = type_li("agent", way, "first", "Two")
    assert (refused.code, refused.out) == (1, "")
    assert f"worked in {folder}, which is not there any more. Say where" in refused.err
    assert "--cwd FOLDER" in refused.err
    assert len(runs(ctx)) == 1
    assert type_li("agent", way, "first", "Two", "--cwd", str(tmp_path)).out == f"{tmp_path}\n"


def test_what_cannot_be_gone_on_with_says_why(ctx: Context) -> None:
    type_li("record", "--name", "command", "--", "echo", "hi")
    type_li("agent", "exec/cat", "One", "--name", "first")
    answers = {
        words: type_li("agent", *words, "Go on")
        for words in [
            ("exec/cat", "--resume", "nobody"),
            ("exec/cat", "--resume", "command"),
            ("exec/cat", "--fork-from", "first:9"),
            ("exec/cat", "--resume", "first", "--fork-from", "first"),
        ]
    }
    assert [answer.code for answer in answers.values()] == [1, 1, 1, 2]
    nobody, command, beyond, both = (answer.err for answer in answers.values())
    assert "There is no run 'nobody'." in nobody
    assert "has no conversation of an agent: it is a command. li runs ls --kind agent shows" in command
    assert "has 2 messages and cannot be forked at 9. Choose a position from 0" in beyond
    assert "Leave out one of them." in both
    assert len(runs(ctx)) == 2


def test_a_command_that_was_typed_after_two_dashes_is_gone_on_with(ctx: Context) -> None:
    type_li("agent", "exec", "One", "--name", "first", "--", "sh", "-c", 'printf "%s!" "$1"', "sh", "{prompt}")
    answer = type_li("agent", "--resume", "first", "Two", "--json")
    assert answer.code == 0, answer.err
    assert answer.objects[0]["answer"].endswith("[User]\nTwo!")
    assert type_li("agent", "--fork-from", "first:0", "Three").out == "Three!\n"


def imported(home: Path, place: Path, **facts: Any) -> str:
    """A run that came here in a folder, in which somebody wrote what they liked."""
    type_li("agent", "exec/cat", "One", LIONAGI_HOME=str(place), LIONAGI_DB=str(place / "x.db"))
    [folder] = (place / "runs").iterdir()
    [branch] = (folder / "branches").iterdir()
    told = json.loads(branch.read_text())
    told["metadata"] = {**(told.get("metadata") or {}), **facts}
    branch.write_text(json.dumps(told))
    answer = type_li("state", "import", str(folder))
    assert answer.code == 0, answer.err
    return folder.name


@pytest.mark.parametrize(
    ("provider", "model"),
    [("exec", "touch {}"), ("exec", "exec/touch {}"), ("exec/touch {}", None), (" exec/touch {}", None)],
)
def test_an_imported_run_never_says_which_command_is_run(
    ctx: Context, home: Path, tmp_path: Path, provider: str, model: str | None
) -> None:
    trace = tmp_path / "trace"
    told = {"provider": provider.format(trace), "model": model and model.format(trace)}
    run = imported(home, tmp_path / "theirs", **told)
    for way in ("--resume", "--fork-from"):
        answer = type_li("agent", way, run, "Go on")
        assert (answer.code, answer.out, trace.exists()) == (1, "", False)
        assert "was imported, so the command that its agent was is not run unread" in answer.err
        assert "-- CMD" in answer.err
    assert type_li("agent", "exec", "Two", "--resume", run, "--", "cat").out.endswith("[User]\nTwo\n")


def test_an_imported_run_gives_an_agent_no_tools_and_no_arguments(
    ctx: Context, home: Path, tmp_path: Path, claude: Path
) -> None:
    run = imported(
        home, tmp_path / "theirs", provider="claude", model="opus", native_id="n1", tools=["Bash"], effort="high"
    )
    answer = type_li("agent", "--resume", run, "Go on")
    assert answer.err == "The run was imported, so it is given what was said before as text.\n"
    argv = str(calls_of(claude)[-1]["argv"])
    assert "Bash" not in argv and "--resume" not in argv
    assert calls_of(claude)[-1]["cwd"] == os.getcwd()


# Ending.


def test_an_agent_that_fails_ends_us_as_it_ended(ctx: Context) -> None:
    answer = type_li("agent", "exec", "Hi", "--", "sh", "-c", "echo half; echo why >&2; exit 3")
    [run] = runs(ctx)
    assert (answer.code, answer.out) == (3, "half\n")
    assert answer.err == f"exec ended with exit code 3: why. li runs show {run.id} shows more.\n"
    assert (run.status, run.exit_code, run.end_reason) == (SessionStatus.FAILED, 3, "run.failed.exit_nonzero")
    assert list_history(ctx, run.id)[-1].sentence == "exec ended with exit code 3: why"


CUT_SHORT = """{"type":"thread.started","thread_id":"t1"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"i1","type":"agent_message","text":"Half"}}
"""


@pytest.mark.parametrize(
    ("engine", "printed", "sentence"),
    [
        ("claude", "", "Claude Code stopped before it had a result."),
        ("claude", "Please log in first", "Claude Code stopped before it had a result."),
        ("codex", "", "Codex stopped before its turn had ended."),
        ("codex", CUT_SHORT, "Codex stopped before its turn had ended."),
    ],
)
def test_an_agent_that_never_says_that_it_is_done_has_failed_though_it_exits_with_0(
    engine: str, printed: str, sentence: str, ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = write(tmp_path / "agent", "#!/bin/sh\ncat >/dev/null\ncat <<'EOF'\n" + printed + "\nEOF\n")
    program.chmod(0o755)
    monkeypatch.setenv(f"LIONSTUDIO_{engine.upper()}", str(program))
    answer = type_li("agent", engine, "Hi")
    [run] = runs(ctx)
    assert (answer.code, run.status) == (1, SessionStatus.FAILED)
    assert answer.err.startswith(sentence)


def test_a_deadline_is_one_for_a_prompt_that_never_ends_too(ctx: Context) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "lionstudio", "agent", "exec/cat", "Hi", "--timeout", "0.5"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as li:  # fmt: skip
        assert li.wait(DEADLINE) == 124
        assert li.stderr is not None
        assert li.stderr.read().startswith("li: Standard input did not end within 0.5 s, so nothing was run.")
    assert runs(ctx) == []


def test_a_deadline_ends_it_with_124(ctx: Context) -> None:
    answer = type_li("agent", "exec", "Hi", "--timeout", "0.5", "--", "sh", "-c", "echo half; sleep 60")
    [run] = runs(ctx)
    assert (answer.code, answer.out) == (124, "half\n")
    assert (run.status, run.exit_code) == (SessionStatus.TIMED_OUT, 124)
    assert answer.err.startswith("Its time was over.")


@pytest.mark.parametrize(
    ("number", "code", "status"),
    [
        (signal.SIGINT, 130, SessionStatus.ABORTED),
        (signal.SIGTERM, 143, SessionStatus.CANCELLED),
        (signal.SIGHUP, 129, SessionStatus.ABORTED),
    ],
)
def test_a_signal_stops_it_and_what_was_said_stays(
    ctx: Context, claude: Path, number: int, code: int, status: SessionStatus
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "lionstudio", "agent", "claude", "Please wait"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as li:  # fmt: skip
        wait_until(lambda: runs(ctx) and len(said(ctx, runs(ctx)[0].id)) == 2, within=DEADLINE)
        li.send_signal(number)
        li.communicate(timeout=DEADLINE)
    [run] = runs(ctx)
    assert (li.returncode, run.status, run.exit_code) == (-number, status, code)
    assert said(ctx, run.id)[1] == ("assistant", "You asked 1 times, last: Please wait")


@pytest.mark.parametrize("number", [signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2])
def test_signals_that_mean_nothing_to_li_reach_the_agent(ctx: Context, number: signal.Signals) -> None:
    script = f"trap 'echo heard; exit 5' {number.name[3:]}; echo ready; while :; do sleep 0.05; done"
    with subprocess.Popen(
        [sys.executable, "-m", "lionstudio", "agent", "exec", "Wait", "--", "sh", "-c", script],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as li:  # fmt: skip
        wait_until(lambda: runs(ctx) and len(said(ctx, runs(ctx)[0].id)) == 2, within=DEADLINE)
        li.send_signal(number)
        out, _ = li.communicate(timeout=DEADLINE)
    [run] = runs(ctx)
    assert (li.returncode, out) == (5, "ready\nheard\n")
    assert (run.status, run.exit_code) == (SessionStatus.FAILED, 5)


def test_who_interrupts_is_told_what_is_waited_for_and_need_not_wait(ctx: Context) -> None:
    script = "trap '' INT; echo ready; while :; do sleep 0.05; done"
    argv = [sys.executable, "-m", "lionstudio", "agent", "exec", "Wait", "--", "sh", "-c", script]
    with Person(*argv, env=os.environ) as person:
        person.read("  ready\n")
        person.type(CTRL_C)
        person.read("The agent has 10 seconds to end. Ctrl-C again ends it at once.\n")
        began = time.monotonic()
        while person.process.poll() is None:
            person.type(CTRL_C)
            with contextlib.suppress(subprocess.TimeoutExpired):
                person.process.wait(ONE_KEY)
        assert time.monotonic() - began < GRACE
    [run] = runs(ctx)
    assert (run.status, run.exit_code) == (SessionStatus.ABORTED, 130)


def test_a_program_gets_the_answer_as_it_is() -> None:
    assert type_li("agent", "exec", "x", "--", "sh", "-c", HOSTILE).out == "one\x1b[2J\nlast\n"
    assert type_li("agent", "exec/cat", "a\u200fb").out == "a\u200fb\n"


def test_on_a_terminal_it_shows_what_the_agent_does(
    ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONSTUDIO_CODEX", str(replaying(tmp_path, "codex/simple")))
    code, out, talk = on_terminal("agent", "codex", "Go")
    [run] = runs(ctx)
    assert (code, out) == (0, "Done: hi.\n")
    lines = talk.splitlines()
    assert lines[0] == f"Run {run.id}"
    assert "  I will run echo." in lines
    assert any("echo hi" in line for line in lines)
    assert "\x1b" not in talk


def test_hostile_words_are_shown_as_they_are_written(ctx: Context) -> None:
    _, _, talk = on_terminal("agent", "exec", "x", "--", "sh", "-c", HOSTILE)
    assert "\x1b" not in talk


# What is wrong is said before anything begins.


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Which agent? Neither a model nor --agent NAME is given. Type: li agent claude"),
        (["Do it"], "Which agent?"),
        (["nobody/x", "Do it"], "'nobody' is not an engine. Use one of: claude, codex, exec, lionagi."),
        (["exec/cat", "a", "b"], "an agent takes a model and one prompt. Put the prompt in quotes"),
        (["exec/cat", "a", "--file", "b"], "There are two prompts"),
        (["exec/cat"], "A prompt is missing: what is the agent to do? Type: li agent exec/cat"),
        (["exec/cat", "-"], "Standard input holds no prompt: it is empty."),
        (["exec/cat", "a", "--timeout", "0"], "--timeout must be more than 0 seconds."),
        (["exec/cat", "a", "--cwd", "/nowhere"], "The folder /nowhere does not exist."),
        (["exec/cat", "a", "--show-topic", "t"], "Give both --show-topic and --show-play."),
        (["exec/cat", "a", "--save", "/proc/nowhere"], "The folder /proc/nowhere cannot be made"),
        (["exec/cat", "a", "--agent", "nobody"], "There is no agent 'nobody'. There are none yet."),
        (["claude", "a", "--", "ls"], "claude takes no command, and there is one after --."),
        (["exec", "a"], "The engine exec needs a command."),
        (["exec/cat", "a", "--team-mode", " "], "A team needs a name."),
    ],
)  # fmt: skip
def test_what_cannot_be_run_says_what_to_type(ctx: Context, words: list[str], said: str) -> None:
    answer = type_li("agent", *words)
    assert answer.code == (1 if said.startswith(("The folder ", "There is no ")) else 2)  # what is named is not there
    assert answer.out == ""
    assert said in answer.err
    assert "Traceback" not in answer.err
    assert runs(ctx) == []


def test_a_missing_program_says_how_to_install_it_and_begins_no_run(
    ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIONSTUDIO_CLAUDE", "/nowhere/claude")
    answer = type_li("agent", "claude", "Hi")
    assert (answer.code, answer.out) == (1, "")
    assert "npm install -g @anthropic-ai/claude-code" in answer.err
    assert runs(ctx) == []


def test_a_model_of_a_profile_that_does_not_exist_names_the_file(home: Path) -> None:
    path = write(home / "agents" / "critic.md", "---\nmodel: sonnet\n---\nYou find faults.\n")
    answer = type_li("agent", "--agent", "critic", "Hi")
    assert (answer.code, answer.err.startswith(f"li: {path}: 'sonnet' is not an engine.")) == (2, True)


# Shows, folders, teams.


def test_a_play_of_a_show_has_its_name_and_its_kind(ctx: Context) -> None:
    words = ["--show-topic", "release", "--show-play", "docs"]
    answer = type_li("agent", "exec", "x", *words, "--", "sh", "-c", "echo $LIONAGI_SHOW_TOPIC/$LIONAGI_SHOW_PLAY")
    assert answer.out == "release/docs\n"
    [run] = runs(ctx)
    assert (run.name, run.invocation_kind) == ("show_release_docs", "show-play")
    assert (run.show_topic, run.show_play_name) == ("release", "docs")


def test_the_answer_is_saved_where_it_is_asked_to_be(ctx: Context, tmp_path: Path) -> None:
    folder = tmp_path / "out" / "here"
    type_li("agent", "exec/cat", "Keep me", "--save", str(folder))
    assert (folder / "answer.md").read_text() == "Keep me\n"
    assert runs(ctx)[0].artifacts_path == str(folder)


def test_what_is_there_already_is_never_written_over(ctx: Context, tmp_path: Path) -> None:
    elsewhere = write(tmp_path / "elsewhere", "mine")
    for kind in ("file", "link"):
        folder = tmp_path / kind
        folder.mkdir()
        place = folder / "answer.md"
        place.write_text("mine") if kind == "file" else place.symlink_to(elsewhere)
        answer = type_li("agent", "exec/cat", "Keep me", "--save", str(folder))
        other = folder / f"answer.{runs(ctx)[-1].id}.md"
        assert (place.read_text(), other.read_text()) == ("mine", "Keep me\n")
        assert f"answer.md was there already, so the answer is in {other}" in answer.err


def test_a_long_answer_comes_out_whole_and_is_saved_whole(ctx: Context, tmp_path: Path) -> None:
    answer = type_li("agent", "exec", "x", "--save", str(tmp_path / "out"), "--", "seq", "1", "400000")
    whole = "".join(f"{number}\n" for number in range(1, 400_001))
    assert (answer.code, answer.out == whole, answer.err) == (0, True, "")
    assert (tmp_path / "out" / "answer.md").read_text() == whole


def test_a_run_has_its_folder(ctx: Context, home: Path, claude: Path) -> None:
    type_li("agent", "claude", "Hi")
    [run] = runs(ctx)
    told: dict[str, Any] = json.loads((home / "runs" / run.id / "run.json").read_text())
    assert (told["status"], told["provider"], told["model"]) == ("completed", "claude", "claude-fake")
    imported = type_li("state", "import", "--json")
    assert imported.code == 0, imported.err
    assert runs(ctx) == [run]


def test_the_folder_of_a_run_whose_li_died_is_finished_by_who_fails_it(
    ctx: Context, home: Path, tmp_path: Path
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "lionstudio", "agent", "exec", "Hi", "--", "sh", "-c", "echo one; exec sleep 100"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as li:  # fmt: skip
        wait_until(lambda: runs(ctx) and len(said(ctx, runs(ctx)[0].id)) == 2, within=DEADLINE)
        wait_until(lambda: len(list_processes(ctx, runs(ctx)[0].id)) == 2, within=DEADLINE)
        [run] = runs(ctx)
        li.kill()
    for process in list_processes(ctx, run.id):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        wait_until(lambda pid=process.pid: not os.path.exists(f"/proc/{pid}/exe"), within=DEADLINE)
    folder = home / "runs" / run.id
    assert json.loads((folder / "run.json").read_text())["status"] == "running"
    failed = type_li("state", "doctor", "--transition-stale", "--yes")
    assert (failed.code, "Failed 1 run." in failed.err) == (0, True)
    assert json.loads((folder / "run.json").read_text())["status"] == "failed"
    assert not (folder / "run.lock").exists()
    elsewhere = ("--db", str(tmp_path / "elsewhere.db"))
    assert type_li("state", "import", *elsewhere).code == 0
    told = type_li("runs", "tail", run.id, "--json", *elsewhere).objects
    assert [one["kind"] for one in told] == ["user", "assistant"]


def test_the_folder_of_a_run_whose_li_died_is_finished_by_who_kills_its_agent(ctx: Context, home: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "lionstudio", "agent", "exec", "Hi", "--", "sh", "-c", "echo one; exec sleep 100"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as li:  # fmt: skip
        wait_until(lambda: runs(ctx) and len(said(ctx, runs(ctx)[0].id)) == 2, within=DEADLINE)
        wait_until(lambda: len(list_processes(ctx, runs(ctx)[0].id)) == 2, within=DEADLINE)
        li.kill()
    [run] = runs(ctx)
    assert type_li("runs", "kill", run.id, "--yes").code == 0
    folder = home / "runs" / run.id
    assert json.loads((folder / "run.json").read_text())["status"] == "cancelled"
    assert not (folder / "run.lock").exists()
    assert [len(json.loads(file.read_text())["messages"]) for file in (folder / "branches").iterdir()] == [2]


def test_an_agent_works_on_when_li_is_killed(ctx: Context, tmp_path: Path) -> None:
    go, done = tmp_path / "go", tmp_path / "done"
    os.mkfifo(go)
    script = f"echo one; read -r _ < {go}; echo two; echo three >&2; echo done > {done}"
    with subprocess.Popen(
        [sys.executable, "-m", "lionstudio", "agent", "exec", "Hi", "--", "sh", "-c", script],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as li:  # fmt: skip
        wait_until(lambda: runs(ctx) and len(said(ctx, runs(ctx)[0].id)) == 2, within=DEADLINE)
        li.kill()
    [run] = runs(ctx)
    assert "its recorder is gone" in type_li("runs", "show", run.id).out
    go.write_text("go on\n")
    wait_until(done.exists, within=DEADLINE)


SENDER = """\
import subprocess, sys
for words in (["I am here"], ["--to", "ana", "Look at this"]):
    subprocess.run([sys.executable, "-m", "lionstudio", "team", "send", *words], check=True)
"""


@pytest.mark.parametrize("kept", ["files", "database"])
def test_what_an_agent_writes_to_its_team_is_linked_to_its_run(
    ctx: Context, home: Path, tmp_path: Path, kept: str
) -> None:
    write(home / "config.toml", f'teams = "{kept}"\n')
    write(home / "agents" / "builder.md", "---\nmodel: exec\n---\n")
    type_li("team", "create", "crew", "ana")
    script = write(tmp_path / "send.py", SENDER)
    words = ["agent", "--agent", "builder", "Tell them", "--team-mode", "crew", "--", sys.executable, str(script)]
    answer = type_li(*words)
    assert answer.code == 0, answer.err
    [run] = runs(ctx)
    team = type_li("team", "show", "crew", "--json").objects
    assert team[0]["members"] == ["ana", "builder"]
    page = page_messages_of_session(ctx, run.id)  # what the page of the run shows
    assert [(one.sender, one.recipient, one.content) for one in page.items] == [
        ("builder", "all", "I am here"), ("builder", "ana", "Look at this")
    ]  # fmt: skip
    [shown] = type_li("runs", "show", run.id, "--json").objects
    assert [one["content"] for one in shown["team_messages"]] == ["I am here", "Look at this"]
    printed = [line.split()[-7:] for line in type_li("runs", "show", run.id).out.splitlines()]
    assert ["crew", "builder", "ana", "Look", "at", "this"] in [words[-6:] for words in printed]


def test_a_team_that_is_not_there_is_made_and_joined(ctx: Context) -> None:
    answer = type_li(
        "agent", "exec", "x", "--team-mode", "new crew", "--", "sh", "-c", 'echo "$LIONAGI_TEAM/$LIONAGI_AGENT"'
    )
    assert answer.out == "new crew/exec\n"
    assert type_li("team", "members", "new crew").out.split() == ["exec"]
    type_li("agent", "exec/cat", "again", "--team-mode", "new crew")
    assert len(type_li("team", "list", "--json").objects) == 1


def test_an_archived_team_takes_nobody_and_no_run_begins(ctx: Context) -> None:
    type_li("team", "create", "crew")
    type_li("team", "archive", "crew")
    answer = type_li("agent", "exec/cat", "x", "--team-mode", "crew")
    assert (answer.code, "is archived. li team archive --undo" in answer.err) == (1, True)
    assert runs(ctx) == []


def test_an_agent_is_told_how_to_write_to_its_team(ctx: Context, claude: Path) -> None:
    type_li("agent", "claude", "One", "--team-mode", "crew", "--name", "first")
    [run] = runs(ctx)
    kind, text = said(ctx, run.id)[0]
    assert kind == "system"
    assert 'li team send "TEXT" --to MEMBER' in text
    assert "You are claude, a member of the team crew." in text
    type_li("agent", "--resume", "first", "Two", "--team-mode", "crew")
    assert [kind for kind, _ in said(ctx, runs(ctx)[-1].id)] == ["user", "assistant"]


def test_the_database_that_was_named_is_that_of_the_agents_team(home: Path, location: str, tmp_path: Path) -> None:
    write(home / "config.toml", 'teams = "database"\n')
    elsewhere = str(tmp_path / "elsewhere.db")
    script = "echo $LIONAGI_DB"
    answer = type_li("agent", "exec", "x", "--team-mode", "crew", "--db", elsewhere, "--", "sh", "-c", script)
    assert answer.out == f"{elsewhere}\n"
    assert [team["name"] for team in type_li("team", "list", "--json", "--db", elsewhere).objects] == ["crew"]


def test_a_run_inside_a_run_knows_its_parent(ctx: Context) -> None:
    inner = f"{sys.executable} -m lionstudio agent exec/cat inner"
    type_li("agent", "exec", "outer", "--", "sh", "-c", inner)
    outer, nested = runs(ctx)
    assert nested.parent_session_id == outer.id
    assert [branch.parent_branch_id for branch in list_branches(ctx, nested.id)] == [None]
