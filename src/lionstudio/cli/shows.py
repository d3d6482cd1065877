"""Shows in the terminal."""

import os
from contextlib import nullcontext
from typing import Any

from lionstudio.cli.command import Call
from lionstudio.cli.reports import print_outcome, print_report
from lionstudio.domain.printable import one_line
from lionstudio.domain.show_files import PLAN
from lionstudio.importers.report import ImportReport, Problem
from lionstudio.services.show_sync import Difference

UNSAID = {"id", "show_id", "created_at", "updated_at", "sort_order"}  # fields that say nothing to a person
LONGEST_VALUE = 60
FORGET = "li state import-shows --forget-gone"


def import_shows(call: Call) -> int:
    """li state import-shows"""
    from lionstudio.importers.show_folders import import_show_folders
    from lionstudio.services.rehearsal import open_rehearsal

    usual = call.settings.shows_folder
    if not call.args.folder and not os.path.exists(usual):
        call.out.say(f"There is no folder {usual}. If shows are elsewhere: li state import-shows FOLDER")
        return print_report(call, ImportReport({"shows": 0, "plays": 0}), changes=())
    call.require_place()
    target = open_rehearsal(call.settings) if call.args.dry_run else nullcontext(call.ctx_made)
    with target as ctx, call.out.progress("Shows") as step:
        found = import_show_folders(ctx, call.args.folder or usual, forget_gone=call.args.forget_gone, step=step)
    changes = [describe(difference) for difference in found.differences]
    changes += [one_line(f"{_thing(topic, play)}: forgotten") for topic, play in found.forgotten]
    if call.args.dry_run and not call.out.as_json:
        for change in changes:
            call.out.say_data(change)
    if not found.report.counts["shows"]:
        call.out.say("No show was found. A show is a folder with a _show.md, and a folder for each play.")
    code = print_outcome(call, found.report, changes=changes, problem_word="Problem")
    if any(is_gone(problem) for problem in found.report.problems):
        call.out.say(f"Put back what is gone, or let the database forget it: {FORGET}")
    return code


def is_gone(problem: Problem) -> bool:
    """Whether a problem is about a folder that is not there any more, so that the database may forget it."""
    return not os.path.lexists(problem.where) and os.path.basename(problem.where) != PLAN


def describe(difference: Difference) -> str:
    """A difference in one line: `ledger / schema: status running -> merged`."""
    thing = _thing(difference.topic, difference.play)
    if difference.is_new:
        return one_line(f"{thing}: new")
    said = [f"{name} {_shown(old)} -> {_shown(new)}" for name, old, new in difference.fields if name not in UNSAID]
    return one_line(f"{thing}: {', '.join(said) or 'order'}")


def _thing(topic: str, play: str | None) -> str:
    return topic if play is None else f"{topic} / {play}"


def _shown(value: Any) -> str:
    if value is None or value == ():
        return "nothing"
    text = ", ".join(value) if isinstance(value, tuple) else str(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"
