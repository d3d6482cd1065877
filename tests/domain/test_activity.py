import pytest

from lionstudio.domain.activity import Activity, ActivityKind, HumanWait, derive_activity, derive_branch_activity
from lionstudio.domain.conversation import OpenCall
from lionstudio.domain.health_words import Health
from lionstudio.domain.session import TERMINAL_STATUSES
from tests.domain.factories import MINUTE, NOW, make_branch, make_session

HUMAN, TOOL, MODEL, UNKNOWN = ActivityKind.HUMAN, ActivityKind.TOOL, ActivityKind.MODEL, ActivityKind.UNKNOWN


@pytest.mark.parametrize(
    ("last_kind", "interactive", "expected"),
    [
        pytest.param("user", False, MODEL, id="a user message waits for an answer"),
        pytest.param("tool_result", False, MODEL, id="a tool result waits for an answer"),
        pytest.param("tool_call", False, TOOL, id="a call waits for its result"),
        pytest.param("assistant", True, HUMAN, id="an answer waits for a person who can speak"),
        pytest.param("assistant", False, UNKNOWN, id="an answer nobody can reply to"),
        pytest.param("user", True, MODEL, id="a person who spoke waits for the model"),
        pytest.param("system", True, UNKNOWN, id="only a system message"),
        pytest.param("other", False, UNKNOWN, id="something else"),
        pytest.param(None, True, UNKNOWN, id="nothing yet"),
    ],
)
def test_what_a_branch_waits_for(last_kind, interactive, expected):
    activity = derive_branch_activity(make_branch(last_kind=last_kind, last_tool="bash"), interactive=interactive)
    assert activity == Activity(expected, "bash" if expected is TOOL else None, NOW - MINUTE, "main")


def test_an_open_call_counts_although_a_parallel_call_has_its_result():
    calls = [OpenCall("main", "c2", "browser", NOW - 20), OpenCall("main", "c1", "bash", NOW - 90)]
    activity = derive_branch_activity(make_branch(last_kind="tool_result"), calls)
    assert activity == Activity(TOOL, "bash", NOW - 90, "main")


def test_the_open_calls_of_another_branch_do_not_count():
    activity = derive_branch_activity(make_branch(last_kind="user"), [OpenCall("other", "c1", "bash", NOW)])
    assert activity.kind is MODEL


def test_a_run_shows_human_before_tool_before_model_before_unknown():
    session = make_session(node_metadata={"interactive": True})
    unknown = make_branch("a", "system", last_at=NOW - 400)
    model = make_branch("b", "user", last_at=NOW - 300)
    tool = make_branch("c", "tool_call", last_at=NOW - 200, last_tool="bash")
    human = make_branch("d", "assistant", last_at=NOW - 100)
    shown = [
        derive_activity(session, branches).kind
        for branches in ([unknown], [unknown, model], [unknown, model, tool], [human, unknown, model, tool])
    ]
    assert shown == [UNKNOWN, MODEL, TOOL, HUMAN]


@pytest.mark.parametrize("health", Health)
def test_a_run_that_is_held_for_dead_waits_for_nobody(health):
    session = make_session(node_metadata={"interactive": True})
    found = derive_activity(session, [make_branch(last_kind="assistant")], human_waits=[HumanWait(NOW)], health=health)
    assert (found is None) == (health in {Health.STALE, Health.ORPHANED})


def test_the_longest_wait_of_a_kind_is_shown():
    branches = [make_branch("new", "user", last_at=NOW - 5), make_branch("old", "user", last_at=NOW - 50)]
    branches.append(make_branch("undated", "user", last_at=None))
    assert derive_activity(make_session(), branches) == Activity(MODEL, None, NOW - 50, "old")


def test_a_permission_request_comes_before_the_call_it_is_about():
    call = OpenCall("main", "c1", "bash", NOW - 30)
    wait = HumanWait(NOW - 29, "main", "bash")
    activity = derive_activity(make_session(), [make_branch(last_kind="tool_call")], [call], human_waits=[wait])
    assert activity == Activity(HUMAN, "bash", NOW - 29, "main")


def test_a_call_that_asks_a_person_waits_for_that_person_and_not_for_a_tool():
    calls = [OpenCall("main", "c1", "bash", NOW - 90), OpenCall("main", "c2", "AskUserQuestion", NOW - 30)]
    activity = derive_activity(make_session(), [make_branch(last_kind="tool_call")], calls)
    assert activity == Activity(HUMAN, "AskUserQuestion", NOW - 30, "main")


def test_an_answer_waits_for_a_person_only_where_somebody_sits():
    branches = [make_branch(last_kind="assistant")]
    kinds = [
        derive_activity(make_session(node_metadata=facts), branches).kind
        for facts in (None, {}, {"interactive": "yes"}, {"interactive": True})
    ]
    assert kinds == [UNKNOWN, UNKNOWN, UNKNOWN, HUMAN]


def test_a_helper_that_has_answered_waits_for_nobody():
    session = make_session(node_metadata={"interactive": True})
    branches = [make_branch("main", "tool_call", last_tool="bash"), make_branch("helper", "assistant", last_at=NOW - 9)]
    assert derive_activity(session, branches).kind is TOOL


def test_a_human_gate_concerns_the_whole_run():
    assert derive_activity(make_session(), [], human_waits=[HumanWait(NOW)]) == Activity(HUMAN, None, NOW, None)


def test_a_run_without_branches_is_doing_nothing_that_is_known():
    assert derive_activity(make_session(started_at=NOW - 4), []) == Activity(UNKNOWN, None, NOW - 4, None)


@pytest.mark.parametrize("status", [*sorted(TERMINAL_STATUSES), None])
def test_an_ended_run_has_no_activity(status):
    calls = [OpenCall("main", "c1", "bash", NOW)]
    activity = derive_activity(make_session(status), [make_branch()], calls, human_waits=[HumanWait(NOW)])
    assert activity is None
