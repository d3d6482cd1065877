"""Show folders in: what their files say becomes what the database says, as often as one likes (R69 to R72).

Everything that is wrong on disk is a problem with the name of its file; all the rest is brought in. Nothing is deleted
unless that is asked for: what only the database knows is a problem, too.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from lionstudio.domain.errors import Error, InvalidContent, NotFound, Unavailable
from lionstudio.domain.process import ENDED_STATES
from lionstudio.domain.show import PlayStatus, Show
from lionstudio.domain.show_files import (
    ABORT,
    EXIT_CODE,
    FINAL_VERDICT,
    META,
    PID,
    PLAN,
    PLAY_MARKS,
    VERDICT,
    FinalVerdict,
    Told,
    check_name,
    parse_exit_code,
    parse_final_verdict,
    parse_meta,
    parse_pid,
    parse_verdict,
)
from lionstudio.domain.show_plan import ShowPlan, parse_plan
from lionstudio.domain.show_sync import PlayOnDisk, ShowOnDisk
from lionstudio.importers.report import FORGOTTEN, UPDATED, ImportReport, Problem
from lionstudio.machine import CannotLook, look_at, started_at
from lionstudio.services.context import Context
from lionstudio.services.show_pages import is_show
from lionstudio.services.show_sync import ACTOR, Difference, sync_show
from lionstudio.services.shows import delete_play, delete_show, find_show, list_plays, list_shows
from lionstudio.services.small_files import read_text

Parsed = TypeVar("Parsed")
Step = Callable[[int], None]
NOT_ON_DISK = "The database knows this show as {status}, but it is not on disk."
CLOCK_MARGIN = 60.0  # seconds by which clocks may be set while an agent works


class ShowImport(NamedTuple):
    """What an import of shows came to, and what it changed."""

    report: ImportReport
    differences: tuple[Difference, ...]
    forgotten: tuple[tuple[str, str | None], ...] = ()  # topics, and their plays unless it is the whole show


def import_show_folders(
    ctx: Context, root: str, *, forget_gone: bool = False, step: Step = lambda done: None
) -> ShowImport:
    """Bring in every show under a folder, or the one show that the folder itself is; raises NotFound.

    With `forget_gone` the database forgets shows and plays whose folders are gone.
    """
    root = os.path.abspath(root)
    problems: list[Problem] = []
    folders = _find_shows(root, problems)
    differences: list[Difference] = []
    plays = linked = 0
    forgotten: list[tuple[str, str | None]] = []
    for number, folder in enumerate(folders):
        step(number)
        try:
            disk = _read_show(folder, problems)
            gone = _forget_plays(ctx, disk) if forget_gone else frozenset()
            synced = sync_show(ctx, disk)
        except Unavailable:
            raise
        except Error as error:  # this show cannot be stored; the others can
            problems.append(Problem(folder, error.message))
            continue
        differences += synced.differences
        plays, linked = plays + synced.plays, linked + synced.linked
        forgotten += [(disk.topic, name) for name in sorted(gone)]
        left = [said for said in synced.complaints if said.where not in gone]
        problems += [Problem(os.path.join(folder, said.where), said.message) for said in left]
    lost = list(_find_lost(ctx, root, {os.path.basename(folder) for folder in folders}))
    if not forget_gone:
        problems += [Problem(show.show_dir, NOT_ON_DISK.format(status=show.status)) for show in lost]
    counts = {
        "shows": len(folders),
        **_count("shows", [found for found in differences if found.play is None]),
        "plays": plays,
        **_count("plays", [found for found in differences if found.play is not None]),
        "plays with a run": linked,
    }
    if forget_gone:
        counts |= {f"shows {FORGOTTEN}": len(lost), f"plays {FORGOTTEN}": len(forgotten)}
        forgotten += _forget_shows(ctx, lost)
    return ShowImport(ImportReport(counts, tuple(problems)), tuple(differences), tuple(forgotten))


def _count(what: str, found: Sequence[Difference]) -> dict[str, int]:
    added = sum(one.is_new for one in found)
    return {f"{what} added": added, f"{what} {UPDATED}": len(found) - added}


def _find_shows(root: str, problems: list[Problem]) -> list[str]:
    """The folders that hold a show, by name."""
    try:
        names = sorted(os.listdir(root))
    except OSError as error:
        raise NotFound(
            f"The folder {root} cannot be read ({error.strerror}).",
            hint="Name the folder that holds the shows, or set LIONAGI_SHOWS_ROOT.",
        ) from None
    if is_show(root, names):
        return [root]
    if any(name in names for name in PLAY_MARKS):
        raise NotFound(f"{root} is one play.", hint=f"Name its show: {os.path.dirname(root)}")
    folders = _folders(root, names, problems)
    return [folder for folder in folders if is_show(folder, _names_in(folder, problems))]


def _folders(parent: str, names: Sequence[str], problems: list[Problem]) -> list[str]:
    """The folders among these names that can be shows or plays; each place once, however many links lead there."""
    found: dict[str, str] = {}
    above = os.path.realpath(parent)
    paths = [os.path.join(parent, name) for name in names]
    for path in sorted(
        paths, key=lambda path: (os.path.islink(path), path)
    ):  # a folder has its own name before a link's
        name = os.path.basename(path)
        if name.startswith((".", "_")) or not (os.path.isdir(path) or os.path.islink(path)):
            continue
        try:
            place = os.path.realpath(path, strict=True)
        except OSError as error:
            problems.append(Problem(path, f"It is a link that leads nowhere or in circles ({error.strerror})."))
            continue
        why = check_name(name)
        if not os.path.isdir(place):
            continue
        if above == place or above.startswith(place.rstrip("/") + "/"):
            why = "It is a link that leads back to where it is."
        elif place in found:
            why = f"It is the same folder as {os.path.basename(found[place])}."
        if why:
            problems.append(Problem(path, why))
        else:
            found[place] = path
    return sorted(found.values())


def _names_in(folder: str, problems: list[Problem]) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        problems.append(Problem(folder, f"It cannot be read ({error.strerror})."))
        return []


def _read_show(folder: str, problems: list[Problem]) -> ShowOnDisk:
    path = os.path.join(folder, PLAN)
    plan = _parse(path, parse_plan, problems)
    problems += [Problem(path, f"It names {name} more than once.") for name in (plan.twice if plan else ())]
    verdict = _parse(os.path.join(folder, FINAL_VERDICT), parse_final_verdict, problems, otherwise=FinalVerdict(None))
    if verdict is not None:
        problems += [Problem(os.path.join(folder, FINAL_VERDICT), why) for why in verdict.complaints]
    plays = tuple(_read_plays(folder, plan, problems))
    began = [play.created_at for play in plays if play.created_at is not None]
    return ShowOnDisk(
        topic=os.path.basename(folder),
        folder=folder,
        plan=plan,
        has_plan=os.path.lexists(path),
        final_verdict=verdict,
        abort_requested=os.path.lexists(os.path.join(folder, ABORT)),
        plays=plays,
        created_at=min(began, default=_modified_at(path)),
    )


def _read_plays(folder: str, plan: ShowPlan | None, problems: list[Problem]) -> Iterator[PlayOnDisk]:
    """The plays in the order of the plan, then those that only have a folder."""
    folders = {os.path.basename(path): path for path in _folders(folder, _names_in(folder, problems), problems)}
    planned = [play.name for play in plan.plays] if plan else []
    marked = [name for name, path in folders.items() if any(os.path.lexists(f"{path}/{mark}") for mark in PLAY_MARKS)]
    for number, name in enumerate(dict.fromkeys((*planned, *marked))):
        if name not in folders and (why := check_name(name)):
            problems.append(Problem(os.path.join(folder, PLAN), f"The play {name[:80]!r} is not possible. {why}"))
            continue
        told = plan.find(name) if plan else None
        play = PlayOnDisk(name, number, depends_on=told.depends_on if told else None, has_folder=name in folders)
        yield _read_play(folders[name], play, problems) if name in folders else play


def _read_play(folder: str, play: PlayOnDisk, problems: list[Problem]) -> PlayOnDisk:
    meta = _parse(os.path.join(folder, META), parse_meta, problems, otherwise=Told({}))
    verdict = _parse(os.path.join(folder, VERDICT), parse_verdict, problems, otherwise=Told({}))
    for name, told in ((META, meta), (VERDICT, verdict)):
        problems += [Problem(os.path.join(folder, name), why) for why in (told.complaints if told else ())]
    pid = _parse(os.path.join(folder, PID), parse_pid, problems)
    began = meta.facts.get("started_at") if meta else None
    return play._replace(
        meta=meta,
        verdict=verdict,
        exit_code=_parse(os.path.join(folder, EXIT_CODE), parse_exit_code, problems),
        process_alive=None if pid is None else _is_alive(pid, _modified_at(os.path.join(folder, PID))),
        created_at=began or _modified_at(os.path.join(folder, META)),
    )


def _parse(
    path: str, parse: Callable[[str], Parsed], problems: list[Problem], *, otherwise: Parsed | None = None
) -> Parsed | None:
    """What a file says; None where there is none, `otherwise` where it cannot be read."""
    try:
        text = read_text(path)
        return None if text is None else parse(text)
    except InvalidContent as error:
        problems.append(Problem(path, error.message))
    except ValueError as error:
        problems.append(Problem(path, str(error)))
    return otherwise


def _is_alive(pid: int, written_at: float | None) -> bool | None:
    """Whether the process lives whose pid was written down then; it is only looked at. None: that cannot be told."""
    try:
        seen = look_at(pid)
    except CannotLook:
        return None
    if seen is None or seen.state in ENDED_STATES:
        return False
    began = started_at(seen)
    # One that began after its pid was written down is another process, which was given the same pid.
    return began is None or written_at is None or began <= written_at + CLOCK_MARGIN


def _modified_at(path: str) -> float | None:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return None


def _find_lost(ctx: Context, root: str, topics: set[str]) -> Iterator[Show]:
    """Shows that were in this folder when they were stored, and are not any more."""
    before = None
    while page := list_shows(ctx, before=before):
        yield from (show for show in page if os.path.dirname(show.show_dir) == root and show.topic not in topics)
        before = (page[-1].created_at, page[-1].id)


def _forget_shows(ctx: Context, lost: Sequence[Show]) -> list[tuple[str, None]]:
    for show in lost:
        delete_show(ctx, show.topic, actor=ACTOR)
    return [(show.topic, None) for show in lost]


def _forget_plays(ctx: Context, disk: ShowOnDisk) -> frozenset[str]:
    """Forget plays that were begun and have no folder any more; their names. One that is planned comes back as new."""
    folders = {play.name for play in disk.plays if play.has_folder}
    planned = {play.name for play in disk.plays}
    stored = list_plays(ctx, disk.topic) if find_show(ctx, disk.topic) is not None else ()
    gone = {
        play.name
        for play in stored
        if play.name not in folders and (play.name not in planned or play.status is not PlayStatus.PENDING)
    }
    for name in gone:
        delete_play(ctx, disk.topic, name, actor=ACTOR)
    return frozenset(gone)
