"""lionagi's branches and sessions in and out, on captured ones: forks share their parent's messages."""

import copy
import json

import pytest

from lionstudio.domain.errors import InvalidContent
from lionstudio.domain.lionagi_messages import message_dict
from lionstudio.domain.lionagi_sessions import branch_dict, branch_draft, session_dict, session_draft
from tests.domain.factories import lionagi_sample as sample


@pytest.mark.parametrize("source", [None, [], "text", 3])
def test_a_branch_or_session_that_is_no_dict_is_refused(source):
    for read in (branch_draft, session_draft):
        with pytest.raises(InvalidContent):
            read(source)


def test_a_branch_is_read_with_its_messages_system_message_and_agent():
    source = sample("branch")
    draft = branch_draft(source)
    assert (draft.id, draft.name, draft.user) == (source["id"], "worker", source["user"])
    assert draft.order == tuple(source["messages"]["progression"]["order"])
    assert draft.progression_id == source["messages"]["progression"]["id"]
    assert draft.system_msg_id == source["system"]["id"]
    assert [message_dict(message) for message in draft.messages] == sample("messages")
    assert (draft.node_metadata["provider"], draft.node_metadata["model"]) == ("openai", "gpt-4o-mini")
    assert (draft.parent_branch_id, draft.forked_at_ord, draft.inherited) == (None, None, ())


def test_bulk_and_credentials_of_a_model_are_not_kept():
    source = sample("branch")
    source["chat_model"]["processor_config"] = {"queue_capacity": 100}
    config = source["chat_model"]["endpoint"]["config"]
    config["request_options"] = {"$defs": {}}
    config["api_key"] = "sk-secret"
    config["default_headers"] = {"Authorization": "Bearer sk-secret", "X-Team": "blue"}
    config["kwargs"]["max_tokens"] = 100
    text = json.dumps(branch_draft(source).node_metadata)
    assert not [word for word in ("processor_config", "request_options", "sk-secret") if word in text]
    assert "X-Team" in text
    assert "max_tokens" in text


def test_the_logs_of_a_branch_are_not_kept():
    source = sample("live_branch")
    assert source["logs"]["collections"]
    assert "logs" not in branch_dict(branch_draft(source), branch_draft(source).messages)


def test_a_branch_without_a_named_system_message_has_the_one_it_begins_with():
    source = sample("branch")
    system = source.pop("system")
    assert branch_draft(source).system_msg_id == system["id"]
    source["messages"]["progression"]["order"] = source["messages"]["progression"]["order"][1:]
    assert branch_draft(source).system_msg_id is None


def test_a_branch_goes_out_in_the_shape_lionagi_reads():
    source = sample("branch")
    draft = branch_draft(source)
    expected = copy.deepcopy(source)
    expected["metadata"] = expected.pop("node_metadata")
    expected["messages"]["metadata"] = expected["messages"].pop("node_metadata")
    expected["system"]["metadata"] = expected["system"].pop("node_metadata")
    found = branch_dict(draft, draft.messages)
    assert found == expected
    assert branch_draft(found) == draft


def test_a_fork_shares_the_messages_of_its_parent():
    parent, fork = branch_draft(sample("branch")), branch_draft(sample("fork"))
    assert fork.parent_branch_id == parent.id
    assert fork.forked_at_ord == 5
    assert fork.order[:5] == parent.order
    assert fork.system_msg_id == parent.system_msg_id
    assert [message.content for message in fork.messages] == [{"instruction": "and on the fork?"}]
    assert fork.order[5:] == (fork.messages[0].id,)
    assert "clone_from" not in fork.node_metadata


def test_the_copies_of_a_fork_are_offered_under_the_ids_of_their_originals():
    parent, fork = branch_draft(sample("branch")), branch_draft(sample("fork"))
    assert {message.id for message in fork.inherited} == set(parent.order)
    assert not [message for message in fork.inherited if "clone_from" in message.node_metadata]


def test_what_the_parent_said_after_the_fork_is_not_the_forks():
    source = sample("fork")
    source["node_metadata"]["clone_from"]["progression"].append("said-later")
    assert branch_draft(source).forked_at_ord == 5


def test_a_copy_of_a_message_outside_a_fork_stays_a_message_of_its_own():
    source = sample("fork")
    del source["node_metadata"]["clone_from"]
    draft = branch_draft(source)
    assert draft.parent_branch_id is None
    assert draft.order == tuple(source["messages"]["progression"]["order"])
    assert len(draft.messages) == 7


def test_a_session_is_read_with_its_branches_in_order():
    source = sample("session")
    draft = session_draft(source)
    assert (draft.id, draft.name, draft.user) == (source["id"], "demo-session", None)
    assert [branch.id for branch in draft.branches] == source["branches"]["progression"]["order"]
    assert draft.branches[1] == branch_draft(sample("branch"))
    assert draft.branches[2] == branch_draft(sample("fork"))
    assert draft.branches[0].messages == ()


def test_the_default_branch_is_the_first_unless_it_is_named():
    source = sample("session")
    assert session_draft(source).default_branch_id == source["branches"]["progression"]["order"][0]
    assert session_draft(source, default_branch_id="b2").default_branch_id == "b2"


def fork_of_the_fork(source):
    """The session with its third branch forked once more, as the runtime does it: new ids all along."""
    fork = source["branches"]["collections"][2]
    again = copy.deepcopy(fork)
    again["id"] = "second-fork"
    order = fork["messages"]["progression"]["order"]
    again["metadata"]["clone_from"] = {"id": fork["id"], "user": None, "created_at": 1.0, "progression": order}
    for item in again["messages"]["collections"]:
        item["metadata"]["clone_from"], item["id"] = item["id"], f"copy-{item['id']}"
    again["messages"]["progression"]["order"] = [f"copy-{name}" for name in order]
    again["system"]["id"] = f"copy-{again['system']['id']}"
    source["branches"]["collections"].append(again)
    source["branches"]["progression"]["order"].append("second-fork")
    return again


def test_a_fork_of_a_fork_shares_the_first_messages_too():
    source = sample("session")
    fork_of_the_fork(source)
    _, parent, fork, again = session_draft(source).branches
    assert again.order == fork.order
    assert (again.parent_branch_id, again.forked_at_ord) == (fork.id, 6)
    assert again.messages == ()
    assert again.system_msg_id == parent.system_msg_id


def test_a_copy_that_was_changed_since_is_a_message_of_its_own():
    source = sample("session")
    changed = source["branches"]["collections"][2]["messages"]["collections"][4]
    changed["content"] = {"assistant_response": "Something else."}
    fork = session_draft(source).branches[2]
    assert fork.forked_at_ord == 4
    assert fork.order[4] == changed["id"]
    assert changed["id"] in [message.id for message in fork.messages]


def test_the_view_of_a_fork_is_told_by_the_originals_ids():
    source = sample("fork")
    order = source["messages"]["progression"]["order"]
    source["node_metadata"]["current_progression"] = {"order": order[:3]}
    view = branch_draft(source).node_metadata["current_progression"]
    assert view == {"order": list(branch_draft(sample("branch")).order[:2])}


def test_a_session_goes_out_and_comes_in_again_unchanged():
    draft = session_draft(sample("session"), default_branch_id=sample("branch")["id"])
    known = {message.id: message for branch in draft.branches for message in branch.messages}
    branches = [branch_dict(branch, [known[name] for name in branch.order]) for branch in draft.branches]
    found = session_dict(draft, branches)
    assert found["default_branch"] == sample("branch")["id"]
    assert json.loads(json.dumps(found)) == found
    again = session_draft(found)
    assert again.default_branch_id == draft.default_branch_id
    assert [branch.order for branch in again.branches] == [branch.order for branch in draft.branches]


@pytest.mark.parametrize("what", ["branch", "message"])
def test_what_has_no_id_is_refused_not_dropped(what):
    source = sample("branch")
    del (source if what == "branch" else source["messages"]["collections"][2])["id"]
    with pytest.raises(InvalidContent, match=f"A lionagi {what} without an id"):
        branch_draft(source)
