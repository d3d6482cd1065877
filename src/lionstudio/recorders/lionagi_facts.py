"""What the metadata of a run and of its branches says about the lionagi session that they are."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from lionstudio.domain.conversation import Line
from lionstudio.domain.lionagi_envelope import LIONAGI
from lionstudio.domain.lionagi_sessions import GOES_ON, session_draft
from lionstudio.domain.lionagi_sessions import BranchDraft as Told
from lionstudio.recorders.lionagi_objects import session_source
from lionstudio.services.lionagi import BRANCH_ORDER


class Place(NamedTuple):
    """Where a branch is written: in a line of its own, which may go on with another one from somewhere."""

    line: Line
    parent_branch_id: str | None = None
    forked_at_ord: int | None = None
    inherits: tuple[str, ...] = ()  # the messages of the other one that it begins with
    goes_on: bool = False  # with itself, as another run has recorded it
    parent_session_id: str | None = None  # that run


def facts_of(told: Told, place: Place, known_of: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a recorded branch: what lionagi keeps there, who speaks (R23), and what no column says."""
    metadata = dict(told.node_metadata or {})
    envelope = dict(metadata.get(LIONAGI) or {})
    added = {name: value for name, value in known_of.items() if value and name not in metadata}
    own = {"id": told.id, "created_at": told.created_at, "user": told.user, "name": told.name}
    envelope["fields"] = {**own, **envelope.get("fields", {})}
    envelope["added"] = [*envelope.get("added", ()), *added]
    parent = {**(envelope.get("clone_from") or {}), "id": told.parent_branch_id}
    if told.parent_branch_id is not None and place.parent_branch_id is not None and not place.goes_on:
        envelope["clone_from"] = parent
    elif told.parent_branch_id is not None:  # its parent is not here: lionagi's own account of it
        metadata["clone_from"] = {**parent, "progression": list(told.order[: told.forked_at_ord])}
    if place.goes_on:
        envelope[GOES_ON] = True
    return {**metadata, **added, LIONAGI: envelope}


def session_facts(target: Any, branch_ids: Mapping[str, str], metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the metadata of a run says about the lionagi session that it is.

    `branch_ids` are our ids by lionagi's; `metadata` is what the run says beside, and lionagi must not get back.
    """
    if not hasattr(target, "branches"):
        return {LIONAGI: {"default_branch": str(target.id), BRANCH_ORDER: list(branch_ids.values())}}
    source = session_source(target)
    default = None if target.default_branch is None else str(target.default_branch.id)
    told = session_draft({**source, "branches": {**source["branches"], "collections": []}}, default_branch_id=default)
    facts = dict(told.node_metadata or {})
    envelope = dict(facts.get(LIONAGI) or {})
    own = {"id": told.id, "created_at": told.created_at, "name": told.name, "user": told.user}
    envelope["fields"] = {**own, **envelope.get("fields", {})}
    envelope["added"] = [name for name in metadata or {} if name not in facts]
    order = [branch_ids[name] for name in map(str, source["branches"]["progression"]["order"]) if name in branch_ids]
    return {**facts, LIONAGI: {**envelope, BRANCH_ORDER: order}}
