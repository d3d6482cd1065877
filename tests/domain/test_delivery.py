import pytest

from lionstudio.domain.delivery import Delivered, Delivery, read_delivered
from lionstudio.domain.health import classify_health
from lionstudio.domain.reasons import EvidenceKind, EvidenceRef
from lionstudio.domain.state import Severity, derive_session_state
from tests.domain.factories import NOW, make_evidence, make_session


@pytest.mark.parametrize("metadata", [None, {}, {"delivery": "yes"}, {"delivery": {}}, {"delivery": {"expected": [7]}}])
def test_nothing_is_expected_of_a_run_whose_row_does_not_say_so(metadata):
    assert read_delivered(metadata) == Delivered()


def test_what_nobody_has_looked_for_was_not_found():
    delivered = read_delivered({"delivery": {"expected": ["a", "b/*"]}})
    assert (delivered.delivery, delivered.lacking) == (Delivery.MISSING, ("a", "b/*"))


def state_of(status, **facts):
    session = make_session(status, exit_code=None if status == "running" else 0, node_metadata={"delivery": facts})
    return derive_session_state(session, classify_health(session, make_evidence(), now=NOW))


@pytest.mark.parametrize(
    ("facts", "delivery", "severity", "evidence"),
    [
        (
            {"expected": ["a.md"], "found": []},
            Delivery.MISSING,
            Severity.CRITICAL,
            [EvidenceRef(EvidenceKind.FACT, "expected", "a.md")],
        ),
        (
            {"expected": ["a.md", "b.md"], "found": ["b.md"]},
            Delivery.PARTIAL,
            Severity.WARNING,
            [EvidenceRef(EvidenceKind.FACT, "expected", "a.md"), EvidenceRef(EvidenceKind.FILE, "b.md")],
        ),
        (
            {"expected": ["*.md"], "found": ["a.md", "b.md"], "invalid": ["b.md"]},
            Delivery.INVALID,
            Severity.WARNING,
            [EvidenceRef(EvidenceKind.FILE, "b.md")],
        ),
        (
            {"expected": ["*.md"], "found": ["a.md"]},
            Delivery.PASSED,
            Severity.NEUTRAL,
            [EvidenceRef(EvidenceKind.FILE, "a.md")],
        ),
    ],
    ids=["missing", "partial", "invalid", "passed"],
)
def test_the_state_of_an_ended_run_says_what_it_delivered(facts, delivery, severity, evidence):
    state = state_of("completed", **facts)
    assert (state.delivery, state.severity) == (delivery, severity)
    (reason,) = [reason for reason in state.reasons if reason.code.startswith("run.delivery.")]
    assert (reason.code, list(reason.evidence)) == (f"run.delivery.{delivery}", evidence)


def test_while_a_run_works_a_missing_file_is_only_not_there_yet():
    state = state_of("running", expected=["a.md"])
    assert state.severity is Severity.INFO
    assert not [reason for reason in state.reasons if reason.code.startswith("run.delivery.")]
