"""Profiles of agents: agents/*.md, whose head says which model, how hard it tries and which tools it has.

The body is the system prompt. Other programs read the same files, so what their heads say beside that is theirs.
"""

import os
from typing import NamedTuple

from lionstudio.domain.errors import InvalidContent, InvalidFile, NotFound
from lionstudio.domain.near_words import did_you_mean
from lionstudio.engines.form import Field, Form, is_null
from lionstudio.services.described import AGENTS, LARGEST, find_path, list_names, split_head
from lionstudio.services.small_files import read_text

PAGE = "docs/agents.md"


class Profile(NamedTuple):
    """An agent as its file describes it."""

    name: str
    path: str
    model: str | None = None  # ENGINE/MODEL
    effort: str | None = None
    tools: tuple[str, ...] | None = None  # None: those that its engine gives it
    system: str | None = None


def find_profile(home: str, name: str) -> Profile:
    """The profile of this name under a home; raises NotFound, and InvalidFile with every problem of its file."""
    path = find_path(home, AGENTS, name)
    if path is None:
        raise _no_profile(home, name)
    try:
        text = read_text(path, largest=LARGEST)
    except InvalidContent as error:
        raise _invalid(path, error.message) from None
    if text is None:  # taken away in this moment
        raise _no_profile(home, name)
    return parse_profile(name, path, text)


def parse_profile(name: str, path: str, text: str) -> Profile:
    """What a file says of an agent; raises InvalidFile."""
    try:
        head, body = split_head(text)
    except InvalidContent as error:
        raise _invalid(path, error.message) from None
    profile = Profile(name, path, system=body.strip() or None)
    if head.strip():
        # The mark above the head is a line of the file, too.
        profile = _with_head(profile, Form(path, f"\n{head}", page=PAGE))
    if profile.model is None and profile.system is None:
        raise _invalid(path, "It names no model and has no text, so it describes nobody.")
    return profile


def _with_head(profile: Profile, form: Form) -> Profile:
    root = form.root()
    told = {} if root is None else form.entries(root, "The head of an agent")
    found = {name: field for name, field in told.items() if not is_null(field.value)}
    model, effort = (_text(form, found.get(name), name) for name in ("model", "effort"))
    tools = form.words(found["tools"].value, "tools") if "tools" in found else None
    form.require_no_problems()
    return profile._replace(model=model, effort=effort, tools=tools)


def _text(form: Form, field: Field | None, name: str) -> str | None:
    text = None if field is None else form.text(field.value, name)
    return None if text is None else text.strip()


def _invalid(path: str, sentence: str) -> InvalidFile:
    return InvalidFile(
        f"{path} has 1 problem, so nothing was run.",
        problems=[f"{path}:1:1: {sentence}"],
        hint=f"What such a file may say is in {PAGE}.",
    )


def _no_profile(home: str, name: str) -> NotFound:
    known = list_names(home, AGENTS)
    folder = os.path.join(home, AGENTS.folder)
    hint = "li agents ls shows what there is." if known else f"There are none yet. Each is a file: {folder}/NAME.md"
    return NotFound(f"There is no agent {name!r}.{did_you_mean(name, known)}", hint=hint)
