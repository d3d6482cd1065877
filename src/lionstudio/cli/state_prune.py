"""`li state prune`: what would go, what stays and why; then, if it is meant, exactly that."""

import os
from collections.abc import Mapping

from lionstudio.cli.command import Call, WrongUsage
from lionstudio.cli.operator import operator
from lionstudio.domain.errors import DatabaseFull
from lionstudio.domain.phrases import count_of
from lionstudio.services import prune as pruning
from lionstudio.services.maintenance import vacuum_gives_room_back
from lionstudio.services.prune import Archive, PrunePlan, PruneResult
from lionstudio.services.prune_archive import archive_plan
from lionstudio.services.whole_file import require_place

MOST_KEPT = 20  # named on a terminal; --json names all
NOT_PRUNED = "Nothing was pruned."
NEEDS_ROOM = "Deleting needs some room itself, for it is written to a log first; what was not deleted by then is kept."
MAKE_ROOM = (
    "Remove other things from that disk, then try again. Or move to a larger disk: li state backup "
    "/another/disk/state.db, then name that one in LIONAGI_DB."
)


def prune(call: Call) -> int:
    """Delete old runs that have ended (R40), or with --orphan-progressions what no run owns (R108)."""
    if call.args.orphan_progressions:
        return _sweep(call)
    return carry_out(call, pruning.plan_prune(call.ctx, keep_days=call.args.keep_days, keep_n=call.args.keep_n))


def carry_out(call: Call, plan: PrunePlan, *, nothing: str | None = None) -> int:
    """Show a plan and, if it is meant, do exactly that; `nothing` is said where nothing may go."""
    if plan.batches and call.args.archive is not None:
        call.args.archive = require_place(call.args.archive)  # a plan that cannot be carried out is none
    if call.args.dry_run:
        _print_plan(call, plan, nothing)
        if plan.batches:
            call.out.say_dry_run()
        return 0
    call.out.is_planning = bool(plan.batches)
    if not call.out.as_json:
        _print_plan(call, plan, nothing)
    if not plan.batches:
        return _print_result(call, plan, PruneResult(plan.removed, plan.kept), None)
    question = f"Delete {count_of(plan.removed.sessions, 'run')} for good?"
    if not call.out.confirm(question, yes=call.args.yes, declined=NOT_PRUNED):
        return 1
    archive = _archive(call, plan)
    try:
        with call.out.progress("Deleting runs", plan.removed.sessions) as step:
            result = pruning.prune(
                call.ctx, plan, actor=operator(), archive=archive, on_progress=lambda done, _: step(done)
            )
    except DatabaseFull as error:
        raise DatabaseFull(f"{error.message} {NEEDS_ROOM}", hint=MAKE_ROOM) from error
    return _print_result(call, plan, result, archive)


def _archive(call: Call, plan: PrunePlan) -> Archive | None:
    if call.args.archive is None:
        return None
    with call.out.progress("Archiving runs", plan.removed.sessions) as step:
        archive = archive_plan(call.ctx, plan, call.args.archive, on_progress=lambda done, _: step(done))
    call.out.say(f"{count_of(len(archive.lengths), 'run')} written to {archive.path} and read back.")
    return archive


def _print_plan(call: Call, plan: PrunePlan, nothing: str | None) -> None:
    archive = call.args.archive if plan.batches else None
    if call.out.as_json:
        ids = {"session_ids": plan.session_ids, "archive": archive}
        call.out.json({"dry_run": True, **_plan_object(plan), **ids})
        return
    removed = plan.removed
    if not plan.batches:
        no_run = f"no run ended more than {plan.keep_days:g} days ago that may go."
        call.out.say(f"Nothing to delete: {nothing or no_run}")
    if archive is not None:
        call.out.facts([("written first", f"to {archive}, and read back")])
    facts = [(name, f"{count:,}") for name, count in removed._asdict().items()]
    call.out.facts([("would go" if call.args.dry_run else "goes", ""), *((f"  {name}", text) for name, text in facts)])
    if plan.legacy:
        call.out.facts([("  of them legacy", f"{plan.legacy:,} without a status, by the time they were last touched")])
    if plan.kept_newest:
        call.out.facts([("stays", f"{plan.kept_newest:,} old enough, but among the {plan.keep_n:,} newest")])
    if plan.batches and os.path.isdir(os.path.join(call.settings.home_folder, "runs")):
        call.out.facts([("stays", "every file: li state import brings back runs whose folders are still there")])
    for kept in plan.kept[:MOST_KEPT]:
        call.out.facts([("stays", f"{kept.session_id}: {kept.sentence}")])
    if len(plan.kept) > MOST_KEPT:
        call.out.say(f"… and {len(plan.kept) - MOST_KEPT:,} more stay; --json names all of them.")


def _plan_object(plan: PrunePlan) -> dict[str, object]:
    return {
        "keep_days": plan.keep_days,
        "keep_n": plan.keep_n,
        "removed": plan.removed._asdict(),
        "legacy": plan.legacy,
        "kept_newest": plan.kept_newest,
        "kept": [kept._asdict() for kept in plan.kept],
    }


def _print_result(call: Call, plan: PrunePlan, result: PruneResult, archive: Archive | None) -> int:
    if call.out.as_json:
        call.out.json(
            {
                "dry_run": False,
                **_plan_object(plan),
                "removed": result.removed._asdict(),
                "kept": [kept._asdict() for kept in result.kept],
                "event_id": result.event_id,
                "archive": None if archive is None else archive.path,
            }
        )
        return 0
    late = result.kept[len(plan.kept) :]
    for kept in late[:MOST_KEPT]:
        call.out.say(f"Kept after all: {kept.session_id}: {kept.sentence}")
    call.out.say(f"Deleted {_in_words(result.removed._asdict())}.")
    if result.removed.sessions:
        call.out.say(_what_becomes_of_the_room(call))
    return 0


def _what_becomes_of_the_room(call: Call) -> str:
    if vacuum_gives_room_back(call.ctx):
        return "The room is used again for new runs; li state vacuum gives it back to the disk."
    return "The server will use the room again for new runs; li state vacuum lets it do so at once."


def _in_words(removed: Mapping[str, int]) -> str:
    sessions, branches, messages = removed["sessions"], removed["branches"], removed["messages"]
    branch_words = count_of(branches, "branch", "branches")
    return f"{count_of(sessions, 'run')}, {branch_words} and {count_of(messages, 'message')}"


def _sweep(call: Call) -> int:
    if call.args.archive is not None:
        raise WrongUsage("--archive and --orphan-progressions do not go together.", hint="An archive holds whole runs.")
    plan = pruning.sweep_orphan_progressions(call.ctx, actor=operator(), dry_run=True)
    planned = plan.removed
    text = f"{count_of(planned.progressions, 'progression')} that nobody owns, {count_of(planned.messages, 'message')}"
    if call.args.dry_run or not planned.progressions:
        if call.out.as_json:
            call.out.json({"dry_run": call.args.dry_run, "removed": planned._asdict(), "event_id": None})
        else:
            call.out.facts([("would go" if planned.progressions else "nothing to sweep", text)])
        if planned.progressions:
            call.out.say_dry_run()
        return 0
    if not call.out.as_json:
        call.out.facts([("goes", text)])
    question = f"Delete {count_of(planned.progressions, 'progression')} for good?"
    if not call.out.confirm(question, yes=call.args.yes, declined=NOT_PRUNED):
        return 1
    result = pruning.sweep_orphan_progressions(call.ctx, actor=operator(), only=plan.orphans)
    if call.out.as_json:
        call.out.json({"dry_run": False, "removed": result.removed._asdict(), "event_id": result.event_id})
    else:
        progressions, messages = result.removed.progressions, result.removed.messages
        call.out.say(f"Deleted {count_of(progressions, 'progression')} and {count_of(messages, 'message')}.")
    return 0
