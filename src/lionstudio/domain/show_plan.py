"""What `_show.md` means: the plan of a show, which people edit while it runs. Parse and render, pure.

People write it by hand, so headings and extra words vary: whatever is not understood is prose and is left alone.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*")
FENCE = re.compile(r"\s{0,3}(```|~~~)")
RULE = re.compile(r"\s{0,3}([-*_])(\s*\1){2,}\s*")
# **name**, 1. **name**, ### **name** or - **name**; a play's own list below it uses plain words.
PLAY = re.compile(r"(?P<mark>[-*+]\s+|\d+[.)]\s+|#{3,6}\s+)?\*\*(?P<name>[^*]+)\*\*")
# - Repo: …, - **Base branch:** …, - Integration branch (new): …
CONTEXT = re.compile(r"\s*[-*+]\s+\**(repo|base|integration)\w*\b([^:`]{0,40}):\**\s*(\S.*)", re.IGNORECASE)
DETAIL = re.compile(r"\s*[-*+]\s+\**([A-Za-z][A-Za-z _-]{0,20}?)\**\s*:\**\s*(.*)")
DEPENDENCIES = frozenset({"dep", "deps", "depends", "depends on", "dependencies", "dependency"})
NOBODY = frozenset({"", "none", "nothing", "n/a", "-", "–", "—"})
QUOTES = "`'\"* "


class PlannedPlay(NamedTuple):
    """A play as the plan describes it."""

    name: str
    depends_on: tuple[str, ...] = ()
    intent: str | None = None
    acceptance: str | None = None


class ShowPlan(NamedTuple):
    """What the plan of a show says. What it does not say is None."""

    goal: str | None = None
    repo: str | None = None
    base_branch: str | None = None
    integration_branch: str | None = None
    plays: tuple[PlannedPlay, ...] = ()
    twice: tuple[str, ...] = ()  # names that the plan gives to more than one play; the first one counts

    def find(self, name: str) -> PlannedPlay | None:
        return next((play for play in self.plays if play.name == name), None)


def parse_plan(text: str) -> ShowPlan:
    """The plan that a `_show.md` describes; any text is a plan, if only an empty one."""
    sections = list(_sections(text))
    context: dict[str, str] = {}
    for title, lines in sections:
        if not _is_plays(title) and "decision" not in title:
            for kind, value in _context(lines):
                context.setdefault(kind, value)
    plays = [play for title, lines in sections if _is_plays(title) for play in _plays(lines)]
    by_name = {play.name: play for play in reversed(plays)}
    names = [play.name for play in plays]
    return ShowPlan(
        goal=_goal(sections),
        repo=context.get("repo"),
        base_branch=context.get("base"),
        integration_branch=context.get("integration"),
        plays=tuple(by_name[name] for name in dict.fromkeys(names)),
        twice=tuple(name for name in dict.fromkeys(names) if names.count(name) > 1),
    )


def render_plan(topic: str, plan: ShowPlan) -> str:
    """A `_show.md` that says this; `parse_plan` reads it back."""
    lines = [f"# {topic}", "", "## Goal", "", plan.goal or "", "", "## Context", ""]
    told = (("Repo", plan.repo), ("Base", plan.base_branch), ("Integration", plan.integration_branch))
    lines += [f"- {label}: {value}" for label, value in told if value]
    lines += ["", "## Plays", ""]
    for play in plan.plays:
        lines.append(f"**{play.name}**")
        lines += [f"- Intent: {play.intent}"] if play.intent else []
        lines.append(f"- deps: [{', '.join(play.depends_on)}]")
        lines += [f"- Acceptance: {play.acceptance}"] if play.acceptance else []
        lines.append("")
    return "\n".join([*lines, "## Decisions", ""])


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """The lines below each heading of the first two ranks, with its title in small letters; code blocks left out."""
    title, fence = "", None
    lines: list[str] = []
    for line in _without_front_matter(text.lstrip("\ufeff").splitlines()):
        mark = FENCE.match(line)
        if fence is not None or mark is not None:
            if mark is not None and fence in (None, mark[1]):
                fence = mark[1] if fence is None else None
            lines.append("")
            continue
        heading = HEADING.fullmatch(line)
        if heading and len(heading[1]) <= 2:
            yield title, lines
            title, lines = heading[2].casefold(), []
        else:
            lines.append(line)
    yield title, lines


def _without_front_matter(lines: list[str]) -> list[str]:
    if lines and lines[0].strip() == "---":
        for number, line in enumerate(lines[1:], 1):
            if line.strip() == "---":
                return lines[number + 1 :]
    return lines


def _is_plays(title: str) -> bool:
    return "plays" in title.split() or title == "play"


def _goal(sections: Iterable[tuple[str, list[str]]]) -> str | None:
    """The first paragraph under `## Goal`, else the first one of all (R68)."""
    named = [lines for title, lines in sections if title.split()[:1] in (["goal"], ["goals"], ["goal:"])]
    paragraphs = (_first_paragraph(lines) for lines in (*named, *(lines for _, lines in sections)))
    return next(filter(None, paragraphs), None)


def _first_paragraph(lines: Iterable[str]) -> str | None:
    found: list[str] = []
    for line in lines:
        if line.strip() and not HEADING.fullmatch(line) and not RULE.fullmatch(line):
            found.append(line.strip())
        elif found:
            break
    return " ".join(found) or None


def _context(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        match = CONTEXT.match(line)
        if match is None:
            continue
        kind, value = match[1].casefold(), match[3].strip()
        quoted = re.search(r"`([^`]+)`", value)
        if quoted:
            value = quoted[1].strip()
        elif kind == "repo":  # a path may hold spaces
            value = re.sub(r"\s+\(.*", "", value)
        else:
            value = value.split()[0].rstrip(",.;")
        if value.strip(QUOTES):
            yield kind, value.strip(QUOTES)


def _plays(lines: Iterable[str]) -> Iterator[PlannedPlay]:
    style: str | None = None  # all plays of a plan are written alike, which tells them from **bold** words elsewhere
    current: PlannedPlay | None = None
    for line in lines:
        match = PLAY.match(line)
        mark = (match["mark"] or "")[:1] if match else ""
        mark = "1" if mark.isdigit() else mark
        if match and style in (None, mark) and _label(match["name"]) not in DETAILS:
            if current is not None:
                yield current
            style, current = mark, PlannedPlay(match["name"].strip(QUOTES + ":"))
        elif current is not None:
            current = _with_detail(current, line)
    if current is not None:
        yield current


def _with_detail(play: PlannedPlay, line: str) -> PlannedPlay:
    match = DETAIL.match(line)
    label = _label(match[1]) if match else ""
    value = match[2].strip() if match else ""
    if label in DEPENDENCIES:
        return play._replace(depends_on=_names(value))
    if label == "intent" and play.intent is None:
        return play._replace(intent=value or None)
    if label == "acceptance" and play.acceptance is None:
        return play._replace(acceptance=value or None)
    return play


DETAILS = DEPENDENCIES | {"intent", "acceptance"}


def _label(text: str) -> str:
    return text.strip(QUOTES + ":").replace("_", " ").replace("-", " ").casefold()


def _names(value: str) -> tuple[str, ...]:
    listed = re.match(r"\[(.*?)\]", value)
    names = (name.strip(QUOTES) for name in (listed[1] if listed else value).split(","))
    return tuple(dict.fromkeys(name for name in names if name.casefold() not in NOBODY))
