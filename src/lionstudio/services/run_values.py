"""Runs and their states as plain values, under the names that programs know: `--json` and HTTP say the same."""

from typing import Any

from lionstudio.domain.activity import Activity
from lionstudio.domain.chain import state_chain
from lionstudio.domain.state import NormalizedState, tone_of
from lionstudio.domain.usage import Usage
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
        "activity": None if activity is None else _activity_values(activity),
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "started_at": session.started_at,
        "ended_at": session.ended_at,
        "last_message_at": session.last_message_at,
        "message_count": session.message_count,
        "branch_count": session.branch_count,
        "duration_ms": session.duration_ms,
        "usage": _usage_values(summary.usage),
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


def _activity_values(activity: Activity) -> dict[str, Any]:
    return {
        "kind": activity.kind,
        "tool": activity.tool,
        "since": activity.since,
        "branch_id": activity.branch_id,
    }


def _usage_values(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost_usd": usage.cost_usd,
    }


def state_values(state: NormalizedState) -> dict[str, Any]:
    """A state, with the reasons for it and what they rest on."""
    severity = state.severity
    return {
        "lifecycle": state.lifecycle,
        "outcome": state.outcome,
        "health": state.health,
        "delivery": state.delivery,
        "severity": severity,
        "tone": tone_of(severity, state.outcome),
        "reasons": [
            {
                "code": one.code,
                "sentence": one.sentence,
                "evidence": [{"kind": kind, "ref": ref, "detail": detail} for kind, ref, detail in one.evidence],
            }
            for one in state.reasons
        ],
    }
