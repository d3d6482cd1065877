"""Runs and their states as plain values, under the names that programs know: `--json` and HTTP say the same."""

from typing import Any

from lionstudio.domain.chain import state_chain
from lionstudio.domain.state import NormalizedState
from lionstudio.services.runs import SessionSummary


def row_values(summary: SessionSummary, *, tool_errors: int = 0) -> dict[str, Any]:
    """What a list shows of a run. A page of these is written as it is, in half the time of models."""
    session, activity = summary.session, summary.activity
    return {
        "id": session.id,
        "name": session.name,
        "display_name": summary.display_name,
        "status": session.status,
        "effective_health": summary.verdict.health,
        "chain": list(state_chain(session, summary.verdict, tool_errors=tool_errors)),
        "state": state_values(summary.state),
        "activity": None if activity is None else activity._asdict(),
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "started_at": session.started_at,
        "ended_at": session.ended_at,
        "last_message_at": session.last_message_at,
        "message_count": session.message_count,
        "branch_count": session.branch_count,
        "duration_ms": session.duration_ms,
        "usage": summary.usage._asdict(),
        "provenance": {
            "source": session.source_kind,
            "kind": session.invocation_kind,
            "agent": session.agent_name,
            "playbook": session.playbook_name,
            "show": session.show_topic,
            "play": session.show_play_name,
            "parent": session.parent_session_id,
        },
    }


def state_values(state: NormalizedState) -> dict[str, Any]:
    """A state, with the reasons for it and what they rest on."""
    return {
        "lifecycle": state.lifecycle,
        "outcome": state.outcome,
        "health": state.health,
        "delivery": state.delivery,
        "severity": state.severity,
        "tone": state.tone,
        "reasons": [
            {
                "code": one.code,
                "sentence": one.sentence,
                "evidence": [{"kind": kind, "ref": ref, "detail": detail} for kind, ref, detail in one.evidence],
            }
            for one in state.reasons
        ],
    }
