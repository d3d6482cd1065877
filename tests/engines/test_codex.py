"""The engine `codex`: what the program is told, and a whole run of it as it is recorded."""

import json
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lionstudio.domain.errors import InvalidRequest, NotFound
from lionstudio.domain.usage import Usage
from lionstudio.engines.codex import CodexEngine, options, toml_text
from lionstudio.engines.codex_rollouts import Known, look_up
from lionstudio.engines.codex_stream import CodexReader
from lionstudio.engines.engine import NewBranch, Said, Task
from lionstudio.engines.working import Worked, Writer, resumed, work
from lionstudio.recorders.recorder import Run
from lionstudio.recorders.stopping import Stopping
from lionstudio.services.branches import get_branch, list_branches
from lionstudio.services.context import Context
from lionstudio.services.sessions import get_usage
from tests.engines.hostile import hostile_streams
from tests.engines.recorded import first_branch, metadata, said
from tests.engines.streams import lines_of
from tests.fakes.agent_programs import calls_of, replaying

FIRST = ["exec", "--json", "--skip-git-repo-check"]
LINES = [line for name in ("simple", "subagent", "patch_and_plan", "mcp") for line in lines_of(f"codex/{name}")]


def let(run: Run, program: Path, monkeypatch: pytest.MonkeyPatch, task: Task | None = None) -> Worked:
    monkeypatch.setenv("LIONSTUDIO_CODEX", str(program))
    return work(CodexEngine(), task or Task("Do it"), run, stopping=Stopping())


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        pytest.param(Task("x"), [*FIRST, "-"], id="as it is"),
        pytest.param(
            Task("x", model="gpt-5", effort="high"),
            [*FIRST, "--model", "gpt-5", "--config", 'model_reasoning_effort="high"', "-"],
            id="a model",
        ),
        pytest.param(
            Task("x", resume="t1"), ["exec", "resume", "--json", "--skip-git-repo-check", "t1", "-"], id="going on"
        ),
        pytest.param(
            Task("x", resume="t1", fork=True),
            ["exec", "fork", "--json", "--skip-git-repo-check", "t1", "-"],
            id="with a copy",
        ),
        pytest.param(
            Task("x", system='Say "hi".\n'),
            [*FIRST, "--config", 'developer_instructions="Say \\"hi\\".\\u000a"', "-"],
            id="a system prompt",
        ),
    ],
)
def test_what_the_program_is_told(task: Task, expected: list[str]) -> None:
    assert list(options(task)) == expected


@pytest.mark.parametrize(
    ("task", "words"),
    [(Task("x", tools=("Read",)), "no list of tools"), (Task("x", system="s" * 200_000), "too long")],
)
def test_what_it_cannot_do_is_refused(task: Task, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        list(options(task))


@given(st.text())
def test_any_text_survives_as_toml(text: str) -> None:
    clean = text.encode(errors="replace").decode()
    assert tomllib.loads(f"a = {toml_text(clean)}") == {"a": clean}


def test_a_whole_run_is_recorded_with_its_subagent(
    ctx: Context, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = replaying(tmp_path, "codex/subagent", noise="WARNING: proceeding\n")
    worked = let(run, program, monkeypatch, Task("Do it", model="gpt-x", system="Be brief."))

    assert worked[:4] == ("All done: hi, and three words.", 0, None, None)
    assert worked.native_id == "01a1e0b9-8b43-7f52-aaa8-9e61eca4d723"
    assert get_usage(ctx, run.session_id) == {"gpt-x": Usage(800, 3800, 0, 99, 8)}
    own, helper = list_branches(ctx, run.session_id)
    assert (helper.name, helper.parent_branch_id) == ("count the words in: one two three", own.id)
    assert [kind for kind, _ in said(ctx, run.session_id, own.id)[:2]] == ["system", "user"]
    assert said(ctx, run.session_id, helper.id)[-1] == ("assistant", "The subagent counted 3 words.")
    assert metadata(own)["native_id"] == worked.native_id
    (call,) = calls_of(program)
    assert call["stdin"] == "Do it"


def test_one_that_goes_on_counts_from_where_the_other_ended(
    ctx: Context, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let(run, replaying(tmp_path, "codex/simple"), monkeypatch, Task("x", model="gpt-x"))
    assert get_usage(ctx, run.session_id)["gpt-x"] == Usage(500, 1600, 0, 45, 8)

    before = first_branch(ctx, run.session_id)
    task = resumed(Task("y", model="gpt-x"), before)
    assert task.resume == "01a1e0b5-70b3-7022-b27b-58d93231651a"
    total = {"input_tokens": 2600, "cached_input_tokens": 1700, "output_tokens": 50, "reasoning_output_tokens": 8}
    reader = CodexReader(task)
    side = run.fork("later", at=0)
    writer = Writer("codex", side)
    for event in reader.read(f'{{"type":"turn.completed","usage":{str(total).replace(chr(39), chr(34))}}}'):
        writer.tell(event)
    assert get_usage(ctx, run.session_id)["gpt-x"] == Usage(900, 1700, 0, 50, 8)
    assert metadata(get_branch(ctx, side.id))["native_totals"] == total


def written(home: Path, thread: str, *payloads: tuple[str, dict[str, object]]) -> None:
    """A file that Codex keeps of a conversation."""
    folder = home / "sessions" / "2026" / "11" / "15"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"timestamp": "t", "ordinal": 1, "type": kind, "payload": fields}) for kind, fields in payloads]
    (folder / f"rollout-2026-11-15T19-40-18-{thread}.jsonl").write_text("\n".join([*lines, '{"type":"half']))


def test_the_files_of_a_conversation_say_what_its_stream_does_not(tmp_path: Path) -> None:
    first, last = {"thread_token_usage": {"input_tokens": 1}}, {"thread_token_usage": {"input_tokens": 2}}
    written(
        tmp_path,
        "t-1",
        ("turn_context", {"model": "gpt-x"}),
        ("token_usage_record", first),
        ("token_usage_record", last),
    )
    written(tmp_path, "t-12", ("session_meta", {"model": "another"}))
    assert look_up(str(tmp_path), "t-1") == Known("gpt-x", {"input_tokens": 2})
    assert look_up(str(tmp_path), "t-12") == Known()


def test_the_file_of_a_conversation_says_what_was_consumed_before_a_moment(tmp_path: Path) -> None:
    def at(minute: int, total: int) -> str:
        payload = {"thread_token_usage": {"input_tokens": total}}
        return json.dumps(
            {"timestamp": f"2026-11-15T19:{minute}:00.000Z", "type": "token_usage_record", "payload": payload}
        )

    folder = tmp_path / "sessions" / "2026" / "11" / "15"
    folder.mkdir(parents=True)
    (folder / "rollout-2026-11-15T19-40-18-t-1.jsonl").write_text("\n".join([at(40, 1), at(41, 2), at(43, 5)]))
    began_at = datetime(2026, 11, 15, 19, 42, tzinfo=UTC).timestamp()
    assert look_up(str(tmp_path), "t-1", began_at) == Known(None, {"input_tokens": 5}, {"input_tokens": 2})
    assert look_up(str(tmp_path), "t-1") == Known(None, {"input_tokens": 5})


@pytest.mark.parametrize("thread", [None, "", "t-2", "../../etc/passwd", "*", "\0"])
def test_a_conversation_without_a_file_says_nothing(tmp_path: Path, thread: str | None) -> None:
    written(tmp_path, "t-1", ("turn_context", {"model": "gpt-x"}))
    assert look_up(str(tmp_path), thread) == Known()
    assert look_up(str(tmp_path / "nowhere"), thread) == Known()


def test_a_conversation_that_others_went_on_with_counts_from_where_they_ended(
    sqlite_ctx: Context, sqlite_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    thread = "01a1e3ce-57e3-7a60-87f5-f2b3b00abc54"
    before = {"input_tokens": 500, "cached_input_tokens": 50, "output_tokens": 40, "reasoning_output_tokens": 2}
    written(
        tmp_path, thread, ("turn_context", {"model": "gpt-x"}), ("token_usage_record", {"thread_token_usage": before})
    )
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    task = Task("y", resume=thread, totals={"input_tokens": 300, "output_tokens": 30})
    worked = let(sqlite_run, replaying(tmp_path, "codex/resumed"), monkeypatch, task)
    assert worked.model == "gpt-x"
    assert get_usage(sqlite_ctx, sqlite_run.session_id) == {"gpt-x": Usage(100, 0, 0, 20)}


def test_a_failed_agent_is_explained(sqlite_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worked = let(sqlite_run, replaying(tmp_path, "codex/bad_request", exit_code=1), monkeypatch)
    assert (worked.exit_code, worked.sentence) == (1, "Codex: The model gpt-x does not exist")

    silent = replaying(tmp_path, "codex/interrupted", exit_code=1, noise="Error: no rollout found for thread id 1\n")
    worked = let(sqlite_run, silent, monkeypatch)
    assert worked.sentence == "codex ended with exit code 1: Error: no rollout found for thread id 1"


def test_a_missing_program_says_how_to_install_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NotFound, match="Codex is not installed") as caught:
        CodexEngine().require()
    assert "npm install -g @openai/codex" in (caught.value.hint or "")


@given(hostile_streams(LINES))
def test_a_reader_never_raises_and_tells_only_what_can_be_kept(lines: list[str]) -> None:
    reader = CodexReader(Task("x"))
    known: set[str | None] = {None}
    for events in (*map(reader.read, lines), reader.end()):
        for event in events:
            if isinstance(event, NewBranch):
                assert event.parent in known, "a branch begins after the one that spawned it"
                known.add(event.key)
            elif isinstance(event, Said):
                assert event.branch in known, "a message comes after its branch has begun"
                assert event.role and event.key
                assert all(value >= 0 for value in event.metadata.get("usage", {}).values())
    reader.verdict(0)


@given(hostile_streams(LINES))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_whatever_a_reader_tells_is_recorded(sqlite_run: Run, lines: list[str]) -> None:
    writer = Writer("codex", sqlite_run)
    reader = CodexReader(Task("x"))
    for line in lines:
        for event in reader.read(line):
            writer.tell(event)
    assert writer.refused == []
