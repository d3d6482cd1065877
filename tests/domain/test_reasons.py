import re

import pytest

from lionstudio.domain.errors import InvalidRequest, UnknownWord
from lionstudio.domain.reasons import REASON_CODES, EvidenceKind, EvidenceRef, Reason, reason_for_exit, signal_of
from lionstudio.domain.session import SessionStatus, status_from_exit_code


def test_a_reason_with_an_unregistered_code_is_refused_and_its_family_named():
    with pytest.raises(UnknownWord, match=r"'team\.gone' is not a registered reason code") as caught:
        Reason("team.gone", "It is gone.")
    assert caught.value.hint == "Use one of: team.active.open, team.archived.by_operator."


def test_an_unregistered_family_lists_every_code():
    with pytest.raises(UnknownWord) as caught:
        Reason("nonsense", "…")
    assert all(code in (caught.value.hint or "") for code in REASON_CODES)


def test_a_reason_carries_its_evidence():
    ref = EvidenceRef(EvidenceKind.FILE, "out/a.lock")
    assert Reason("run.health.stale_locks", "One lock.", (ref,)).evidence == (ref,)


@pytest.mark.parametrize("code", REASON_CODES)
def test_a_code_is_dotted_and_described_by_a_sentence(code):
    assert re.fullmatch(r"(run|play|show|team)(\.[a-z_]+){1,2}", code)
    assert re.fullmatch(r"[A-Z].+\.", REASON_CODES[code])


@pytest.mark.parametrize(
    ("status", "exit_code", "code"),
    [
        ("completed", 0, "run.completed.normal"),
        ("completed", None, "run.completed.normal"),
        ("completed", 3, "run.completed.reported"),
        ("completed", -9, "run.completed.reported"),
        ("failed", 1, "run.failed.exit_nonzero"),
        ("failed", 255, "run.failed.exit_nonzero"),
        ("failed", 126, "run.failed.not_executable"),
        ("failed", 127, "run.failed.not_found"),
        ("failed", 128, "run.failed.exit_nonzero"),
        ("failed", 137, "run.failed.signal"),
        ("failed", -9, "run.failed.signal"),
        ("failed", None, "run.failed.reported"),
        ("failed", 0, "run.failed.reported"),
        ("timed_out", 124, "run.timed_out.deadline"),
        ("timed_out", -15, "run.timed_out.deadline"),
        ("aborted", 130, "run.aborted.interrupt"),
        ("aborted", -2, "run.aborted.interrupt"),
        ("aborted", 0, "run.aborted.interrupt"),
        ("aborted", None, "run.aborted.reported"),
        ("aborted", 129, "run.aborted.hangup"),
        ("aborted", -1, "run.aborted.hangup"),
        ("cancelled", 143, "run.cancelled.terminated"),
        ("cancelled", -15, "run.cancelled.terminated"),
        ("cancelled", None, "run.cancelled.reported"),
        ("timed_out", None, "run.timed_out.reported"),
    ],
)
def test_the_reason_for_an_exit(status, exit_code, code):
    assert reason_for_exit(SessionStatus(status), exit_code) == code


@pytest.mark.parametrize("exit_code", range(-64, 256))
def test_every_exit_code_has_a_registered_reason_of_its_status(exit_code):
    status = status_from_exit_code(exit_code)
    code = reason_for_exit(status, exit_code)
    assert code in REASON_CODES
    assert code.startswith(f"run.{status}.")


def test_a_running_run_has_no_reason_for_its_end():
    with pytest.raises(InvalidRequest):
        reason_for_exit(SessionStatus.RUNNING, 0)


@pytest.mark.parametrize(
    ("exit_code", "signal"), [(137, 9), (-9, 9), (192, 64), (193, None), (128, None), (None, None)]
)
def test_the_signal_an_exit_code_reports(exit_code, signal):
    assert signal_of(exit_code) == signal
