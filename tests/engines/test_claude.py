"""The engine `claude`: what the program is told, and a whole run of it as it is recorded."""

import signal
from pathlib import Path

import pytest

from lionstudio.domain.conversation import Message
from lionstudio.domain.errors import NotFound
from lionstudio.domain.usage import Usage
from lionstudio.engines.claude import ClaudeEngine, options
from lionstudio.engines.engine import Event, Process, Task
from lionstudio.engines.working import Worked, work
from lionstudio.recorders.recorder import Run
from lionstudio.recorders.stopping import Stopping
from lionstudio.services.branches import list_branches
from lionstudio.services.context import Context
from lionstudio.services.sessions import get_usage
from tests.engines.recorded import first_branch, messages, metadata, said
from tests.fakes.agent_programs import calls_of, printing, replaying, shell_program

SILENT = ["--print", "--output-format", "stream-json", "--verbose", "--include-partial-messages"]


@pytest.fixture
def stopping() -> Stopping:
    return Stopping()


def let(run: Run, program: Path, monkeypatch: pytest.MonkeyPatch, task: Task | None = None, **more: object) -> Worked:
    monkeypatch.setenv("LIONSTUDIO_CLAUDE", str(program))
    return work(ClaudeEngine(), task or Task("Do it"), run, **{"stopping": Stopping(), **more})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        pytest.param(Task("x"), [], id="as it is"),
        pytest.param(Task("x", model="opus", effort="high"), ["--model", "opus", "--effort", "high"], id="a model"),
        pytest.param(Task("x", resume="abc"), ["--resume", "abc"], id="going on"),
        pytest.param(Task("x", resume="abc", fork=True), ["--resume", "abc", "--fork-session"], id="with a copy"),
        pytest.param(
            Task("x", tools=("Read", "Bash(git *)", "Bash(ls)", "mcp__runs__list")),
            ["--tools", "Read,Bash", "--allowedTools", "Read,Bash(git *),Bash(ls),mcp__runs__list"],
            id="some tools",
        ),
        pytest.param(Task("x", tools=()), ["--tools", ""], id="no tools"),
    ],
)
def test_what_the_program_is_told(task: Task, expected: list[str]) -> None:
    assert list(options(task)) == [*SILENT, *expected]


def test_no_option_gives_it_more_than_its_user_did() -> None:
    told = " ".join(options(Task("x", "m", "s", "e", ("Bash",), "r", True)))
    assert "dangerous" not in told
    assert "permission" not in told


def test_a_whole_run_is_recorded_with_its_subagent(
    ctx: Context, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = replaying(tmp_path, "claude/background_subagent")
    heard: list[Event] = []
    task = Task("Do it", system="Be brief.", cwd=str(tmp_path))
    worked = let(run, program, monkeypatch, task, watch=heard.append)

    assert worked[:4] == ("All done: hi, and three words.", 0, None, None)
    assert (worked.native_id, worked.model) == ("9e49b83b-e052-466d-b1e3-137a32b82a74", "claude-sonnet-4-5")
    assert get_usage(ctx, run.session_id) == {"claude-sonnet-4-5": Usage(2840, 3300, 1000, 175, 0, 0.015885)}
    own, helper = list_branches(ctx, run.session_id)
    assert (helper.name, helper.parent_branch_id) == ("Count words", own.id)
    assert [kind for kind, _ in said(ctx, run.session_id, own.id)] == [
        *("system", "user", "assistant", "tool_call", "tool_result", "assistant", "tool_call", "tool_call"),
        *("tool_result", "tool_result", "assistant", "assistant"),
    ]
    assert said(ctx, run.session_id, helper.id)[-1] == ("assistant", "The subagent counted 3 words.")
    assert metadata(own)["native_id"] == worked.native_id
    assert isinstance(heard[0], Process)


def test_the_prompt_goes_by_standard_input_and_the_child_knows_its_run(
    sqlite_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = replaying(tmp_path, "claude/retried")
    task = Task("-x --y ü", system="s" * 200_000, cwd=str(tmp_path))
    let(sqlite_run, program, monkeypatch, task)
    let(sqlite_run, program, monkeypatch, task._replace(system="short"))
    long, short = calls_of(program)
    assert (short["stdin"], short["cwd"]) == ("-x --y ü", str(tmp_path))
    assert short["argv"] == [*SILENT, "--append-system-prompt", "short"]
    assert isinstance(long["argv"], list)
    assert long["argv"][-2] == "--append-system-prompt-file"
    assert not Path(long["argv"][-1]).exists(), "the file goes when the run is over"
    environment = short["env"]
    assert isinstance(environment, dict)
    assert environment["LIONAGI_SESSION_ID"] == sqlite_run.session_id
    assert environment["CLAUDE_CODE_FORWARD_SUBAGENT_TEXT"] == "1"


def test_a_history_comes_before_the_prompt(sqlite_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = replaying(tmp_path, "claude/retried")
    before = (Message("1", 1.0, "user", {"instruction": "Hello"}),)
    let(sqlite_run, program, monkeypatch, Task("Go on", history=before))
    (call,) = calls_of(program)
    assert str(call["stdin"]).endswith("[User]\nHello\n\n[User]\nGo on")


@pytest.mark.parametrize(
    ("sample", "exit_code", "expected"),
    [
        pytest.param(
            "invalid_key", 1, (1, None, "Claude Code: Invalid API key · Fix external API key"), id="a bad key"
        ),
        pytest.param(
            "invalid_key",
            0,
            (1, "run.failed.reported", "Claude Code: Invalid API key · Fix external API key"),
            id="which it hides in its exit code",
        ),
        pytest.param(
            "interrupted",
            0,
            (130, "run.aborted.interrupt", "Claude Code was interrupted."),
            id="interrupted by somebody",
        ),
        pytest.param("retried", 0, (0, None, None), id="well"),
        pytest.param("retried", 7, (7, None, "claude ended with exit code 7."), id="badly after all"),
    ],
)
def test_how_it_ended(
    sqlite_run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sample: str,
    exit_code: int,
    expected: tuple[int, str | None, str | None],
) -> None:
    worked = let(sqlite_run, replaying(tmp_path, f"claude/{sample}", exit_code=exit_code), monkeypatch)
    assert worked[1:4] == expected


def test_one_that_we_interrupt_is_aborted_though_it_exits_with_0(
    sqlite_ctx: Context, sqlite_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopping: Stopping
) -> None:
    text = {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "Waiting."}]}}
    result = {"type": "result", "subtype": "error_during_execution", "terminal_reason": "aborted_tools"}
    script = f"trap '{printing(result).replace(chr(39), chr(39) + chr(92) + chr(39) + chr(39))}; exit 0' INT"
    program = shell_program(tmp_path, f"{script}\n{printing(text)}\nwhile :; do sleep 0.05; done")

    def watch(event: Event) -> None:
        if ("assistant", "Waiting.") in said(sqlite_ctx, sqlite_run.session_id):
            stopping.stop(130)

    worked = let(sqlite_run, program, monkeypatch, stopping=stopping, watch=watch)
    assert (worked.exit_code, worked.reason, worked.answer) == (130, None, "Waiting.")


def test_one_that_is_killed_in_the_middle_keeps_what_it_said(
    sqlite_ctx: Context, sqlite_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": "Half"}]}, "uuid": "1"}
    program = shell_program(tmp_path, f'{printing(text)}\nprintf \'{{"type":"assist\'\nkill -KILL $$')
    worked = let(sqlite_run, program, monkeypatch)
    assert (worked.answer, worked.exit_code) == ("Half", 128 + signal.SIGKILL)
    assert worked.sentence == "claude was killed by signal 9."
    assert worked.unknown_lines == 1
    assert said(sqlite_ctx, sqlite_run.session_id)[:2] == [("user", "Do it"), ("assistant", "Half")]


def test_the_same_stream_is_the_same_messages_and_another_process_has_others(
    sqlite_ctx: Context, sqlite_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = "7cf562ec-336f-47fd-8c20-4c78430ff7cd"
    for name in ("first", "second"):
        work_in = sqlite_run.fork(name, at=0)
        monkeypatch.setenv("LIONSTUDIO_CLAUDE", str(replaying(tmp_path, "claude/retried")))
        work(ClaudeEngine(), Task("x"), work_in, stopping=Stopping())
    other = sqlite_run.fork("other", at=0)
    monkeypatch.setenv("LIONSTUDIO_CLAUDE", str(replaying(tmp_path, "claude/retried", ids=(conversation,))))
    work(ClaudeEngine(), Task("x"), other, stopping=Stopping())
    answers = {
        branch.name: messages(sqlite_ctx, sqlite_run.session_id, branch.id)[-1].id
        for branch in list_branches(sqlite_ctx, sqlite_run.session_id)[1:]
    }
    assert answers["first"] == answers["second"] != answers["other"]


def test_a_missing_program_says_how_to_install_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NotFound, match="Claude Code is not installed") as caught:
        ClaudeEngine().require()
    assert "npm install -g @anthropic-ai/claude-code" in (caught.value.hint or "")
    monkeypatch.setenv("LIONSTUDIO_CLAUDE", "/nowhere/claude")
    with pytest.raises(NotFound, match="LIONSTUDIO_CLAUDE says '/nowhere/claude'"):
        ClaudeEngine().require()


def test_one_that_goes_missing_between_is_a_failed_run(sqlite_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    worked = let(sqlite_run, Path("/nowhere/claude"), monkeypatch)
    assert worked.exit_code == 127
    assert worked.sentence == "It could not be started: /nowhere/claude: No such file or directory."


def test_the_first_branch_tells_which_agent_worked(
    sqlite_ctx: Context, sqlite_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let(sqlite_run, replaying(tmp_path, "claude/retried"), monkeypatch, Task("x", model="sonnet"))
    known = metadata(first_branch(sqlite_ctx, sqlite_run.session_id))
    assert (known["provider"], known["model"]) == ("claude", "claude-sonnet-4-5")
    assert known["agent_version"] == "2.1.325"
