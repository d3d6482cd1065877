"""lionagi's own objects into the store and back, equal, on both databases (R4, R23, R32, R34, R47)."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lionagi import Branch, Session, iModel
from lionagi.protocols.generic.element import Element
from lionagi.protocols.messages.manager import MessageManager

from lionstudio.domain.lionagi_messages import message_dict, message_draft
from lionstudio.domain.lionagi_sessions import (
    SessionDraft,
    branch_draft,
    restore_branch,
    restore_session,
    session_draft,
)
from lionstudio.services import branches, messages, sessions
from lionstudio.services.context import Context
from lionstudio.services.imports import Imported, import_sessions
from lionstudio.services.lionagi import get_lionagi_branch, get_lionagi_session, session_import
from tests.domain.factories import lionagi_sample as sample
from tests.factories import NOW, line_of, start_run

pytestmark = pytest.mark.usefixtures("quiet_runtime")


@pytest.fixture
def session() -> Session:
    """A session with an empty default branch, a worker with every kind of message, and a fork that went on."""
    model = iModel(provider="openai", endpoint="chat", model="gpt-4o-mini", api_key="dummy", temperature=0.2)
    worker = Branch(name="worker", system="Be careful.", chat_model=model)
    session = Session(name="demo")
    session.include_branches(worker)  # older than the default branch, and after it all the same
    worker.msgs.add_message(instruction="Say hi", guidance="be short", context=[{"k": 1}], sender="user")
    request = worker.msgs.add_message(action_function="bash", action_arguments={"command": "echo hi"}, sender=worker.id)
    worker.msgs.add_message(action_request=request, action_output={"stdout": "hi"}, sender="bash")
    worker.msgs.add_message(assistant_response="Done: hi.", metadata={"note": "ünïcode"}, sender=worker.id)
    fork = session.split(worker)
    fork.msgs.add_message(instruction="and on the fork?", sender="user")
    worker.msgs.add_message(instruction="and on the parent?", sender="user")
    return session


def store(ctx: Context, live: Session, **more: Any) -> Imported:
    draft = session_draft(live.to_dict(mode="db"), default_branch_id=str(live.default_branch.id))
    imported = import_sessions(ctx, [session_import(draft, at=NOW, **more)])
    assert imported.problems == ()
    return imported


def store_branch(ctx: Context, source: dict[str, Any], **more: Any) -> Imported:
    draft = branch_draft(source)
    alone = SessionDraft(f"session-of-{draft.id}", draft.created_at, (draft,))
    return import_sessions(ctx, [session_import(alone, at=NOW, **more)])


def stored(ctx: Context, live: Session) -> Session:
    return restore_session(Session, get_lionagi_session(ctx, str(live.id)))


def count(ctx: Context, table: str) -> int:
    with ctx.db.read() as tx:
        return int(tx.value(f"SELECT count(*) FROM {table}"))


def history(ctx: Context, branch: Branch) -> list[str]:
    session_id = branches.get_branch(ctx, str(branch.id)).session_id
    return [message.id for message in messages.list_messages(ctx, session_id, str(branch.id))]


def test_every_message_class_comes_back_equal_as_it_was_added(ctx: Context, session: Session) -> None:
    start_run(ctx)
    worker = session.get_branch("worker")
    assert len({type(message) for message in worker.messages}) == 5
    for message in worker.messages:
        source = message.to_dict(mode="db")
        id = messages.append_message(ctx, line_of("run-1"), message_draft(source))
        found = message_dict(messages.get_message(ctx, id))
        assert found == source
        again = Element.from_dict(found)
        assert type(again) is type(message)
        assert again.to_dict(mode="db") == source


def test_a_live_branch_is_recorded_message_by_message(ctx: Context, session: Session) -> None:
    start_run(ctx)
    worker = session.get_branch("worker")
    worker.on_message_added.append(
        lambda message: messages.append_message(ctx, line_of("run-1"), message_draft(message.to_dict(mode="db")))
    )
    said = worker.msgs.add_message(instruction="live", sender="user")
    [found] = messages.list_messages(ctx, "run-1")
    assert message_dict(found) == said.to_dict(mode="db")


def test_a_message_of_lionagi_needs_neither_branch_nor_session(ctx: Context) -> None:
    source = MessageManager.create_message(instruction="free-standing", sender="user").to_dict(mode="db")
    messages.store_message(ctx, message_draft(source))
    assert message_dict(messages.get_message(ctx, source["id"])) == source


@pytest.mark.parametrize("name", ["branch", "live_branch"])
def test_a_captured_branch_comes_back_equal(ctx: Context, name: str) -> None:
    source = sample(name)
    assert store_branch(ctx, source).problems == ()
    found = get_lionagi_branch(ctx, source["id"])
    draft = branch_draft(source)
    assert branch_draft(found) == draft
    assert found["messages"]["progression"] == source["messages"]["progression"]
    assert history_of(found) == source["messages"]["progression"]["order"]


def history_of(source: dict[str, Any]) -> list[str]:
    return [item["id"] for item in source["messages"]["collections"]]


def test_captured_messages_come_back_equal(ctx: Context) -> None:
    store_branch(ctx, sample("branch"))
    for source in sample("messages"):
        assert message_dict(messages.get_message(ctx, source["id"])) == source


def test_a_branch_comes_back_equal_with_its_system_message_and_agent(ctx: Context, session: Session) -> None:
    worker = session.get_branch("worker")
    store(ctx, session)
    row = branches.get_branch(ctx, str(worker.id))
    assert row.system_msg_id == str(worker.system.id)
    assert row.node_metadata is not None
    assert (row.node_metadata["provider"], row.node_metadata["model"]) == ("openai", "gpt-4o-mini")
    again = restore_branch(Branch, get_lionagi_branch(ctx, str(worker.id)))
    assert again.to_dict(mode="db") == worker.to_dict(mode="db")
    assert again.system is again.messages[worker.system.id]


def test_bulk_and_keys_of_a_model_do_not_reach_the_database(ctx: Context, session: Session) -> None:
    worker = session.get_branch("worker")
    store_branch(ctx, worker.to_dict(mode="db", include_request_options=True, include_processor_config=True))
    text = json.dumps(branches.get_branch(ctx, str(worker.id)).node_metadata)
    assert not [word for word in ("dummy", "request_options", "processor_config") if word in text]


def test_a_session_comes_back_with_its_branches_in_order_and_no_other(ctx: Context, session: Session) -> None:
    session.change_default_branch(session.get_branch("worker"))
    store(ctx, session)
    again = stored(ctx, session)
    assert [branch.id for branch in again.branches] == [branch.id for branch in session.branches]
    assert again.default_branch.id == session.default_branch.id
    assert (again.id, again.name, again.created_at) == (session.id, "demo", session.created_at)
    for number in (0, 1):  # the fork comes back with the messages of its parent, see below
        assert again.branches[number].to_dict(mode="db") == session.branches[number].to_dict(mode="db")


def test_the_captured_session_comes_back_equal(ctx: Context) -> None:
    draft = session_draft(sample("session"))
    import_sessions(ctx, [session_import(draft, at=NOW)])
    again = session_draft(get_lionagi_session(ctx, draft.id))
    assert [branch.order for branch in again.branches] == [branch.order for branch in draft.branches]
    assert [branch.id for branch in again.branches] == [branch.id for branch in draft.branches]
    assert (again.id, again.default_branch_id, again.name) == (draft.id, draft.default_branch_id, draft.name)


def test_a_fork_of_lionagi_is_stored_without_copies(ctx: Context, session: Session) -> None:
    _, worker, fork = session.branches
    assert len(fork.messages) == 7  # lionagi copies the five, one of them twice
    assert store(ctx, session).messages_added == 7
    assert count(ctx, "messages") == 7
    row = branches.get_branch(ctx, str(fork.id))
    assert (row.parent_branch_id, row.forked_at_ord, row.message_count) == (str(worker.id), 5, 1)
    assert history(ctx, fork)[:5] == history(ctx, worker)[:5] == [str(message.id) for message in worker.messages][:5]
    again = stored(ctx, session).branches[fork.id]
    assert again.system.id == worker.system.id
    assert again.messages[-1].to_dict(mode="db") == fork.messages[-1].to_dict(mode="db")


def test_storing_a_session_again_changes_nothing_and_later_only_adds(ctx: Context, session: Session) -> None:
    store(ctx, session)
    assert store(ctx, session) == Imported()
    fork = session.branches[2]
    fork.msgs.add_message(assistant_response="On the fork, too.", sender=fork.id)
    session.split(fork)
    assert store(ctx, session) == Imported(sessions_completed=1, messages_added=1)
    assert [branch.id for branch in stored(ctx, session).branches] == [branch.id for branch in session.branches]


def test_a_fork_keeps_what_it_began_with_when_its_parent_changes_that(ctx: Context, session: Session) -> None:
    _, worker, fork = session.branches
    began_with = worker.system.content.system_message
    worker.msgs.add_message(system="Be careless.")
    store(ctx, session)
    again = stored(ctx, session).branches
    assert again[fork.id].system.content.system_message == began_with
    assert again[worker.id].system.content.system_message == "Be careless."
    assert [message.rendered for message in again[fork.id].messages] == [message.rendered for message in fork.messages]


def test_a_fork_whose_parent_is_not_here_brings_its_history(ctx: Context) -> None:
    source = sample("fork")
    assert store_branch(ctx, source).messages_added == 6
    assert branches.get_branch(ctx, source["id"]).parent_branch_id is None
    found = branch_draft(get_lionagi_branch(ctx, source["id"]))
    expected = branch_draft(source)
    assert (found.order, found.parent_branch_id, found.forked_at_ord) == (
        expected.order, expected.parent_branch_id, expected.forked_at_ord,
    )  # fmt: skip


def test_a_fork_in_another_session_shares_the_history_of_its_parent(ctx: Context) -> None:
    parent, source = branch_draft(sample("branch")), sample("fork")
    store_branch(ctx, sample("branch"))
    assert store_branch(ctx, source, known_branches={parent.id: parent.order}).messages_added == 1
    assert history_of(get_lionagi_branch(ctx, source["id"])) == list(branch_draft(source).order)
    assert count(ctx, "messages") == 6


def test_a_run_recorded_here_is_opened_by_lionagi(ctx: Context) -> None:
    start_run(ctx, "7c1f93d2-0000-4000-8000-000000000001", name="ours")
    found = get_lionagi_session(ctx, "7c1f93d2-0000-4000-8000-000000000001")
    assert [branch["id"] for branch in found["branches"]["collections"]] == [found["default_branch"]]


TEXTS = st.none() | st.text(st.characters(codec=None), max_size=5)  # NUL and lone surrogates, too
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
MESSAGES = st.fixed_dictionaries(
    {
        "content": VALUES,
        "node_metadata": st.dictionaries(st.text(max_size=5) | st.just("original"), VALUES, max_size=3),
    },
    optional={
        "sender": TEXTS,
        "channel": TEXTS,
        "role": TEXTS,
        "created_at": st.floats(min_value=1, max_value=1e11),
        "embedding": st.none() | st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=3),
        "something": VALUES,
    },
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(source=MESSAGES)
def test_any_message_at_all_comes_back_equal(ctx: Context, source: dict[str, Any]) -> None:
    id = messages.store_message(ctx, message_draft(source))
    found = message_dict(messages.get_message(ctx, id))
    assert found == {**source, "id": id, "created_at": source.get("created_at", NOW)}


def test_names_that_no_column_takes_come_back_equal(ctx: Context, session: Session) -> None:
    session.name, session.branches[1].name = "de\0mo", "work\0er"
    session.branches[1].metadata["original"] = "mine"
    store(ctx, session)
    assert sessions.get_session(ctx, str(session.id)).name == "de\ufffdmo"
    found = get_lionagi_session(ctx, str(session.id))
    worker = found["branches"]["collections"][1]
    assert (found["name"], worker["name"], worker["metadata"]["original"]) == ("de\0mo", "work\0er", "mine")
    assert "original" not in found["node_metadata"]
