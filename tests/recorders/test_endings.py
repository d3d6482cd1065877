"""How leaving the block decides a run's status."""

import asyncio
import signal
from collections.abc import Iterator

import pytest

import lionstudio
from lionstudio.recorders.endings import ending_of_exception
from lionstudio.services.context import Context
from lionstudio.services.sessions import get_session, list_history


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "status", "exit_code", "reason"),
    [
        pytest.param(None, "completed", None, "run.completed.normal", id="nothing"),
        pytest.param(ValueError("no"), "failed", None, "run.failed.exception", id="an exception"),
        pytest.param(Unprintable(), "failed", None, "run.failed.exception", id="an exception without words"),
        pytest.param(SystemExit(), "completed", 0, "run.completed.normal", id="sys.exit()"),
        pytest.param(SystemExit(0), "completed", 0, "run.completed.normal", id="sys.exit(0)"),
        pytest.param(SystemExit(3), "failed", 3, "run.failed.exit_nonzero", id="sys.exit(3)"),
        pytest.param(SystemExit("text"), "failed", 1, "run.failed.exit_nonzero", id="sys.exit with text"),
        pytest.param(SystemExit(124), "timed_out", 124, "run.timed_out.deadline", id="a deadline"),
        pytest.param(SystemExit(130), "aborted", 130, "run.aborted.interrupt", id="as after Ctrl-C"),
        pytest.param(SystemExit(129), "aborted", 129, "run.aborted.hangup", id="as after SIGHUP"),
        pytest.param(SystemExit(143), "cancelled", 143, "run.cancelled.terminated", id="as after SIGTERM"),
        pytest.param(SystemExit(-1), "failed", 255, "run.failed.exit_nonzero", id="sys.exit(-1) is exit code 255"),
        pytest.param(SystemExit(2**70), "completed", 0, "run.completed.normal", id="only the last byte counts"),
        pytest.param(KeyboardInterrupt(), "aborted", 130, "run.aborted.interrupt", id="Ctrl-C"),
        pytest.param(asyncio.CancelledError(), "cancelled", None, "run.cancelled.task", id="a cancelled task"),
        pytest.param(GeneratorExit(), "cancelled", None, "run.cancelled.task", id="a closed generator"),
    ],
)
def test_what_leaves_the_block_decides(
    ctx: Context, location: str, error: BaseException | None, status: str, exit_code: int | None, reason: str
) -> None:
    run = lionstudio.record(db=location)
    try:
        with run:
            run.user("one")
            if error is not None:
                raise error
    except BaseException as raised:
        assert raised is error
    session = get_session(ctx, run.session_id)
    assert (session.status, session.exit_code, session.end_reason) == (status, exit_code, reason)
    assert [step.to_status for step in list_history(ctx, run.session_id)] == ["running", status]


def test_the_history_says_which_exception_it_was(ctx: Context, location: str) -> None:
    text = "half a \ud83d character, NUL \0 and " + "x" * 1000
    with pytest.raises(ValueError), lionstudio.record(db=location) as run:
        raise ValueError(text)
    sentence = list_history(ctx, run.session_id)[-1].sentence
    assert sentence is not None
    assert sentence.startswith("ValueError: half a \ufffd character, NUL \ufffd and xxx")
    assert len(sentence) == 500


def test_a_generator_that_is_closed_early_cancels_its_run(ctx: Context, location: str) -> None:
    runs = []

    def stream() -> Iterator[int]:
        with lionstudio.record(db=location) as run:
            runs.append(run)
            for number in range(100):
                run.user(str(number))
                yield number

    numbers = stream()
    assert [next(numbers), next(numbers)] == [0, 1]
    numbers.close()
    session = get_session(ctx, runs[0].session_id)
    assert (session.status, session.message_count) == ("cancelled", 2)


def test_a_refused_start_leaves_nothing_behind(ctx: Context, location: str) -> None:
    before = signal.getsignal(signal.SIGTERM)
    run = lionstudio.record("bad", metadata={"set": {1, 2}}, db=location)
    with pytest.raises(lionstudio.Error, match="not JSON"):
        run.start()
    assert signal.getsignal(signal.SIGTERM) is before
    with lionstudio.open(location) as reader:
        assert reader.sessions() == []


def test_a_subclass_of_a_cancellation_is_one() -> None:
    class Impatient(asyncio.CancelledError):
        pass

    assert ending_of_exception(Impatient())["status"] == "cancelled"
