"""What people and agents wrote about a show, read from its folder when it is looked at (R59, R63, R66, R67).

Only files of the show's own folder are read, only where that folder lies under the root of all shows. What cannot be
read is said in a complaint; everything else is still shown.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from lionstudio.domain.errors import InvalidContent
from lionstudio.domain.json_text import to_json
from lionstudio.domain.show_files import (
    ABORT,
    ESCALATION,
    FINAL_VERDICT,
    INTENT,
    META,
    PLAN,
    PLAY_MARKS,
    PROMPT,
    SHOW_MARKS,
    VERDICT,
    check_name,
    parse_object,
)
from lionstudio.domain.show_plan import parse_plan
from lionstudio.domain.show_sync import Complaint
from lionstudio.services.confined_files import LARGEST, is_beneath, locate, read_within

READ_AT_MOST = 8 * LARGEST  # bytes of all files together: an answer must not grow without end
LARGEST_IN_LISTS = 64 * 1024  # bytes of a plan whose goal a list shows
ENTRIES_LOOKED_AT = 2_000  # of a folder


class ShowPages(NamedTuple):
    """What stands in the folder of a show."""

    show_md: str | None
    goal: str | None  # as the plan says it
    final_verdict: Mapping[str, Any] | None
    abort_requested: bool
    intents: Mapping[str, str]  # by the names of plays
    complaints: tuple[Complaint, ...]


class PlayPages(NamedTuple):
    """What stands in the folder of a play."""

    intent: str | None
    prompt: str | None
    escalation: str | None
    verdict: Mapping[str, Any] | None
    complaints: tuple[Complaint, ...]


class PlayOnlyOnDisk(NamedTuple):
    """A play that nobody brought in: its files as they are."""

    name: str
    meta: Mapping[str, Any]
    verdict: Mapping[str, Any] | None
    updated_at: float


class ShowOnlyOnDisk(NamedTuple):
    """A show that nobody brought in."""

    topic: str
    path: str
    show_md: str | None
    goal: str | None
    plays: tuple[PlayOnlyOnDisk, ...]
    updated_at: float
    complaints: tuple[Complaint, ...]


class FolderSummary(NamedTuple):
    """What a list shows of a show that nobody brought in."""

    topic: str
    path: str
    goal: str | None
    play_count: int
    updated_at: float


def read_show(root: str, show_dir: str, plays: Iterable[str]) -> ShowPages:
    """The pages of a show, and what each of these plays is meant to do."""
    folder = _Folder(root, show_dir)
    show_md = folder.text(PLAN)
    return ShowPages(
        show_md,
        None if show_md is None else parse_plan(show_md).goal,
        folder.json(FINAL_VERDICT),
        folder.has(ABORT),
        {name: text for name in plays if (text := folder.text(name, INTENT)) is not None},
        tuple(folder.complaints),
    )


def read_play(root: str, show_dir: str, name: str) -> PlayPages:
    """The pages of one play."""
    folder = _Folder(root, show_dir)
    return PlayPages(
        folder.text(name, INTENT),
        folder.text(name, PROMPT),
        folder.text(name, ESCALATION),
        folder.json(name, VERDICT),
        tuple(folder.complaints),
    )


def find_on_disk(root: str, topic: str) -> ShowOnlyOnDisk | None:
    """The show of this topic under the root, whether or not anybody brought it in."""
    if check_name(topic) is not None:
        return None
    folder = _Folder(root, os.path.join(root, topic))
    names = folder.names()
    marks = [mark for mark in SHOW_MARKS if folder.has(mark)]  # among very many names they may not be
    if folder.place is None or not is_show(folder.place, [*marks, *names]):
        return None
    if len(names) == ENTRIES_LOOKED_AT:
        folder.complaints.append(Complaint(topic, f"Only {ENTRIES_LOOKED_AT:,} of its entries were looked at."))
    show_md = folder.text(PLAN)
    plays = tuple(_play_on_disk(folder, name) for name in folder.plays())
    return ShowOnlyOnDisk(
        topic,
        os.path.abspath(os.path.join(root, topic)),
        show_md,
        None if show_md is None else parse_plan(show_md).goal,
        plays,
        max([folder.modified_at(PLAN), folder.modified_at(), *(play.updated_at for play in plays)]),
        tuple(folder.complaints),
    )


def glance_at_folder(root: str, topic: str) -> FolderSummary:
    """What a list shows of a show on disk: its plan alone is read."""
    folder = _Folder(root, os.path.join(root, topic))
    show_md = folder.text(PLAN, largest=LARGEST_IN_LISTS)
    goal = None if show_md is None else parse_plan(show_md).goal
    plays = folder.plays()
    updated_at = max(folder.modified_at(*names) for names in [(PLAN,), (), *((name, META) for name in plays)])
    return FolderSummary(topic, os.path.abspath(os.path.join(root, topic)), goal, len(plays), updated_at)


def iterate_topics_on_disk(root: str, *, after: str = "") -> Iterator[str]:
    """The topics of the folders under the root that hold a show, in the order of the alphabet.

    Each folder is looked into when it is asked for, so that a page of a great many costs no more than of a few.
    """
    top = os.path.realpath(root)
    names: list[str] = []
    with suppress(OSError):
        names = sorted(os.listdir(top))
    for name in names:
        if name <= after or name.startswith((".", "_")) or check_name(name) is not None:
            continue
        place = os.path.realpath(os.path.join(top, name))
        if place != top and is_beneath(top, place) and is_show(place, _names_in(place)):
            yield name


def find_show_folder(root: str, show_dir: str) -> str | None:
    """Where the folder of a show is, None where it is not; raises InvalidContent unless it is under the root."""
    try:
        place = locate(root, show_dir)
    except InvalidContent as error:
        raise InvalidContent(f"{error.message} LIONAGI_SHOWS_ROOT names the folder that shows are in.") from None
    if place is not None and place == os.path.realpath(root):
        raise InvalidContent("It is the folder of all shows, not of one.")
    return place if place is not None and os.path.isdir(place) else None


def is_show(folder: str, names: Sequence[str]) -> bool:
    """Whether a folder that holds these names is a show: by its own files, or by a play in it."""
    if any(name in names for name in SHOW_MARKS):
        return True
    inside = (name for name in names if not name.startswith((".", "_")))
    return META not in names and any(os.path.lexists(os.path.join(folder, name, META)) for name in inside)


def _play_on_disk(folder: "_Folder", name: str) -> PlayOnlyOnDisk:
    updated_at = max(folder.modified_at(name), folder.modified_at(name, META), folder.modified_at(name, VERDICT))
    return PlayOnlyOnDisk(name, folder.json(name, META) or {}, folder.json(name, VERDICT), updated_at)


def _names_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in islice(entries, ENTRIES_LOOKED_AT)]
    except OSError:
        return []


class _Folder:
    """The folder of one show; nothing outside of it is read. What is wrong with it gathers in `complaints`."""

    def __init__(self, root: str, show_dir: str) -> None:
        self.complaints: list[Complaint] = []
        self.place: str | None = None
        self._left = READ_AT_MOST
        try:
            self.place = find_show_folder(root, show_dir)
        except InvalidContent as error:
            self.complaints.append(Complaint(show_dir, error.message))
        else:
            if self.place is None:
                self.complaints.append(Complaint(show_dir, "This folder is not on this machine."))

    def text(self, *names: str, largest: int = LARGEST) -> str | None:
        """What stands in a file; None where it is missing, or cannot be read."""
        if self.place is None or any(check_name(name) is not None for name in names[:-1]):
            return None
        where = "/".join(names)
        try:
            if self._left <= 0:
                raise InvalidContent("It was left out, because the show's files are too large together.")
            text = read_within(self.place, os.path.join(self.place, *names), largest=largest)
        except InvalidContent as error:
            self.complaints.append(Complaint(where, error.message))
            return None
        self._left -= 0 if text is None else len(text)
        return text

    def json(self, *names: str) -> Mapping[str, Any] | None:
        """The JSON object in a file; None where it is missing, or none."""
        text = self.text(*names)
        if text is None:
            return None
        found, complaint = parse_object(text)
        try:
            to_json(found, what="file")  # Python also reads what no answer can say: numbers that are none
        except InvalidContent as error:
            complaint = error.message
        if complaint is not None:
            self.complaints.append(Complaint("/".join(names), complaint))
            return None
        return found

    def has(self, name: str) -> bool:
        return self.place is not None and os.path.lexists(os.path.join(self.place, name))

    def names(self) -> list[str]:
        return [] if self.place is None else _names_in(self.place)

    def plays(self) -> list[str]:
        """The names of the folders in it that hold a play, in the order of the alphabet."""
        if self.place is None:
            return []
        found = []
        for name in self.names():
            path = os.path.join(self.place, name)
            if name.startswith((".", "_")) or check_name(name) is not None:
                continue
            place = os.path.realpath(path)
            is_play = any(os.path.lexists(os.path.join(path, mark)) for mark in PLAY_MARKS)
            if is_play and place != self.place and is_beneath(self.place, place):
                found.append(name)
        return sorted(found)

    def modified_at(self, *names: str) -> float:
        """When a file was last written; 0 where there is none."""
        with suppress(OSError):
            return os.lstat(os.path.join(self.place or "", *names)).st_mtime
        return 0.0
