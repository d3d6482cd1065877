"""Promises that hold for every row, however odd: checked on generated ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionstudio.domain.chain import state_chain
from lionstudio.domain.delivery import Delivery
from lionstudio.domain.errors import IllegalTransition
from lionstudio.domain.health import ORPHANED_AFTER, Evidence, Health, HealthVerdict, classify_health
from lionstudio.domain.labels import format_duration, status_label
from lionstudio.domain.process import (
    Place,
    ProcessLook,
    ProcessRecord,
    ProcessRole,
    ProcessState,
    SeenProcess,
    combine_looks,
    judge_process,
)
from lionstudio.domain.session import (
    TERMINAL_STATUSES,
    InvocationKind,
    Session,
    SessionStatus,
    SourceKind,
    require_move,
)
from lionstudio.domain.state import (
    SEVERITY_ORDER,
    Lifecycle,
    NormalizedState,
    Outcome,
    Severity,
    StateHealth,
    Tone,
    derive_session_state,
    severity_of,
)

# Any float at all: a foreign row may hold the far future, the year -1000, infinity or nothing that is a number.
times = st.floats(-1e12, 1e12) | st.floats()
sensible_times = st.floats(-1e12, 1e12)
maybe_times = st.none() | times
texts = st.none() | st.text(max_size=8)
statuses = st.none() | st.sampled_from(SessionStatus)
file_names = st.lists(st.text(min_size=1, max_size=8), max_size=3).map(tuple)
looks = st.builds(
    lambda **facts: ProcessLook(**facts),
    state=st.sampled_from(ProcessState),
    sentence=st.text(max_size=8),
    role=st.none() | st.sampled_from(ProcessRole),
    pid=st.none() | st.integers(1, 2**22),
    recorder_gone=st.booleans(),
)


def sessions(status: st.SearchStrategy[SessionStatus | None] = statuses) -> st.SearchStrategy[Session]:
    """Any row: every field that may be missing is missing now and then."""
    return st.builds(
        lambda **facts: Session(**facts),
        id=st.text(min_size=1, max_size=12),
        created_at=times,
        updated_at=times,
        progression_id=st.just("progression"),
        name=texts,
        status=status,
        started_at=maybe_times,
        ended_at=maybe_times,
        exit_code=st.none() | st.integers(-64, 512),
        end_actor=st.none() | st.sampled_from(["run", "mira"]),
        end_reason=st.none() | st.sampled_from(["run.failed.signal", "run.timed_out.deadline", "boom"]),
        last_msg_id=texts,
        last_message_at=maybe_times,
        messages_lost=st.integers(0, 3),
        invocation_kind=st.none() | st.sampled_from(InvocationKind),
        source_kind=st.none() | st.sampled_from(SourceKind),
        artifacts_path=texts,
        message_count=st.integers(0, 3),
    )


def evidences(process: st.SearchStrategy[ProcessLook] = looks) -> st.SearchStrategy[Evidence]:
    return st.builds(
        lambda **facts: Evidence(**facts),
        process=process,
        heartbeat_at=maybe_times,
        has_artifacts=st.none() | st.booleans(),
        stale_locks=file_names,
        temp_files=file_names,
        observed_at=maybe_times,
    )


@given(before=st.sampled_from(sorted(TERMINAL_STATUSES)), after=st.sampled_from(SessionStatus))
def test_a_terminal_status_never_moves(before, after):
    with pytest.raises(IllegalTransition):
        require_move(before, after)


@given(
    session=sessions(),
    pid=st.integers(1, 2**22),
    start_time=st.integers(0, 2**40),
    state=st.sampled_from([None, *"RSDTtWIPK"]),
    evidence=evidences(),
    recorder=st.none() | looks.filter(lambda look: look.role is ProcessRole.RECORDER),
    now=times,
)
def test_a_running_session_with_a_matching_live_process_is_never_stale_or_orphaned(
    session, pid, start_time, state, evidence, recorder, now
):
    place = Place("host", "boot", "namespace")
    record = ProcessRecord(session.id, ProcessRole.AGENT, place, pid, start_time)
    look = judge_process(record, here=place, seen=SeenProcess(pid, float(start_time), state), could_look=True)
    seen = Evidence(
        combine_looks([look] if recorder is None else [recorder, look]),
        evidence.heartbeat_at,
        evidence.has_artifacts,
        evidence.stale_locks,
        evidence.temp_files,
    )
    assert classify_health(session, seen, now=now).health not in (Health.STALE, Health.ORPHANED)


@given(session=sessions(), evidence=evidences(), now=times)
def test_every_row_gets_a_verdict_with_a_reason(session, evidence, now):
    verdict = classify_health(session, evidence, now=now)
    assert isinstance(verdict, HealthVerdict)
    assert verdict.reasons
    assert all(reason.sentence for reason in verdict.reasons)
    if session.status is SessionStatus.RUNNING:
        assert verdict.health is not Health.ZOMBIE
        assert verdict.idle_seconds is not None
        assert verdict.idle_seconds >= 0
    else:
        assert verdict.health in (Health.HEALTHY, Health.ZOMBIE)
        assert verdict.idle_seconds is None


@given(session=sessions(st.just(SessionStatus.RUNNING)), evidence=evidences(), now=sensible_times)
def test_only_a_dead_process_of_a_run_that_surely_produced_nothing_is_orphaned(session, evidence, now):
    verdict = classify_health(session, evidence, now=now)
    began_at = session.created_at if session.started_at is None else session.started_at
    produced_nothing = evidence.has_artifacts is False and session.message_count == 0
    is_dead = evidence.process.state is ProcessState.DEAD
    expected = is_dead and produced_nothing and now - began_at >= ORPHANED_AFTER
    assert (verdict.health is Health.ORPHANED) is expected


@given(
    lifecycle=st.sampled_from(Lifecycle),
    outcome=st.sampled_from(Outcome),
    health=st.sampled_from(StateHealth),
    delivery=st.sampled_from(Delivery),
)
def test_every_combination_has_a_severity_at_least_as_bad_as_each_axis_alone(lifecycle, outcome, health, delivery):
    state = NormalizedState(lifecycle, outcome, health, delivery)
    alone = [
        severity_of(lifecycle, Outcome.NONE, StateHealth.OK, Delivery.NOT_EXPECTED),
        severity_of(Lifecycle.ENDED, outcome, StateHealth.OK, Delivery.NOT_EXPECTED),
        severity_of(Lifecycle.ENDED, Outcome.NONE, health, Delivery.NOT_EXPECTED),
    ]
    assert SEVERITY_ORDER.index(state.severity) >= max(SEVERITY_ORDER.index(severity) for severity in alone)
    calm = state.severity in (Severity.NEUTRAL, Severity.INFO)
    assert calm is (state.tone in (Tone.NEUTRAL, Tone.INFO, Tone.SUCCESS))


def test_severity_and_tone_exist_for_all_combinations_and_use_every_word():
    states = [
        NormalizedState(lifecycle, outcome, health, delivery)
        for lifecycle in Lifecycle
        for outcome in Outcome
        for health in StateHealth
        for delivery in Delivery
    ]
    assert {state.severity for state in states} == set(Severity)
    assert {state.tone for state in states} == set(Tone)


@given(
    session=sessions(),
    evidence=evidences(),
    now=times,
    tool_errors=st.integers(0, 3),
    deadline=st.none() | st.floats(0, 1e9),
    viewer=st.none() | st.sampled_from(["mira", "ana"]),
)
def test_a_chain_begins_with_the_status_label_and_says_nothing_twice(
    session, evidence, now, tool_errors, deadline, viewer
):
    verdict = classify_health(session, evidence, now=now)
    chain = state_chain(session, verdict, tool_errors=tool_errors, deadline_seconds=deadline, viewer=viewer)
    assert chain[0] == status_label(session.status)
    assert all(chain)
    assert len(set(chain)) == len(chain)
    assert "None" not in " ".join(chain)


@given(session=sessions(), evidence=evidences(), now=times, delivery=st.sampled_from(Delivery))
def test_every_row_gets_a_state_whose_health_agrees_with_its_lifecycle(session, evidence, now, delivery):
    state = derive_session_state(session, classify_health(session, evidence, now=now), delivery)
    running = state.lifecycle is Lifecycle.RUNNING
    assert running is (session.status is SessionStatus.RUNNING)
    assert (state.health in (StateHealth.OK, StateHealth.DEGRADED)) is not running
    assert state.reasons


@given(seconds=st.floats())
def test_any_number_of_seconds_can_be_read(seconds):
    text = format_duration(seconds)
    assert text == "unknown" or text.split()[0][-1] in "smhd"
    assert len(format_duration(seconds, brief=True)) <= len(text)
