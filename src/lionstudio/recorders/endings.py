"""How a recorded block ends: by itself, by an exception, or by a signal."""

import signal
from collections.abc import Mapping
from typing import Any

from lionstudio.domain.session import SessionStatus, status_from_exit_code

SENTENCE_LIMIT = 500
EXIT_CODE_MASK = 0xFF  # what the operating system keeps of the number given to sys.exit

Ending = Mapping[str, Any]  # the arguments of finish_session


def normal_ending() -> Ending:
    return {"status": SessionStatus.COMPLETED.value, "reason": "run.completed.normal"}


def ending_of_exit_code(exit_code: int) -> Ending:
    return {"status": status_from_exit_code(exit_code).value, "exit_code": exit_code}


def ending_of_exception(error: BaseException | None) -> Ending:
    """What leaving the block with this exception says about the run."""
    if error is None:
        return normal_ending()
    if isinstance(error, SystemExit):
        if error.code is None:
            return ending_of_exit_code(0)
        return ending_of_exit_code(error.code & EXIT_CODE_MASK if isinstance(error.code, int) else 1)
    if isinstance(error, KeyboardInterrupt):
        return SIGNAL_ENDINGS[signal.SIGINT]
    if isinstance(error, GeneratorExit) or _is_cancellation(error):
        return {"status": SessionStatus.CANCELLED.value, "reason": "run.cancelled.task"}
    return {"status": SessionStatus.FAILED.value, "reason": "run.failed.exception", "sentence": _sentence(error)}


SIGNAL_ENDINGS: Mapping[int, Ending] = {
    signal.SIGINT: {"status": SessionStatus.ABORTED.value, "exit_code": 130, "reason": "run.aborted.interrupt"},
    signal.SIGHUP: {"status": SessionStatus.ABORTED.value, "exit_code": 129, "reason": "run.aborted.hangup"},
    signal.SIGTERM: {"status": SessionStatus.CANCELLED.value, "exit_code": 143, "reason": "run.cancelled.terminated"},
}


def _is_cancellation(error: BaseException) -> bool:
    # By name, because asyncio need not be loaded.
    return any(kind.__name__ == "CancelledError" for kind in type(error).__mro__)


def _sentence(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  its class has a mistake; the agent is about to see that anyway
        text = "(it cannot be printed)"
    return f"{type(error).__name__}: {text}"[:SENTENCE_LIMIT]
