"""`li state legacy`: runs from before there was a status, and what an operator may do with them (R93, R188)."""

from lionstudio.cli.command import Call, WrongUsage
from lionstudio.cli.operator import operator
from lionstudio.cli.state_prune import carry_out
from lionstudio.domain.phrases import count_of
from lionstudio.services import legacy as legacy_runs
from lionstudio.services.database_export import write_lines
from lionstudio.services.exporting import export_lines
from lionstudio.services.prune import plan_prune
from lionstudio.services.whole_file import require_place


def legacy(call: Call) -> int:
    """Say how many there are, or give them a status, or put them into a file."""
    chosen = [name for name in ("backfill", "archive", "export") if getattr(call.args, name)]
    if len(chosen) > 1:
        raise WrongUsage(f"--{chosen[0]} and --{chosen[1]} do not go together.", hint="Do one after the other.")
    count = legacy_runs.count_legacy(call.ctx)
    if not chosen or not count:
        return _say_count(call, count)
    return {"backfill": _backfill, "archive": _archive, "export": _export}[chosen[0]](call, count)


def _say_count(call: Call, count: int) -> int:
    if call.out.as_json:
        call.out.json({"legacy": count})
        return 0
    call.out.facts([("legacy", f"{count_of(count, 'run')} without a status")])
    if count:
        call.out.say(
            "They count as ended and stay out of every figure. --backfill lets them be completed; --export FILE writes "
            "them to a file; --archive FILE does so and then deletes them."
        )
    return 0


def _backfill(call: Call, count: int) -> int:
    if call.args.dry_run:
        return _say_planned(call, "would be completed", count)
    if not call.out.confirm(f"Let {count_of(count, 'legacy run')} count as completed?", yes=call.args.yes):
        return 1
    with call.out.progress("Backfilling runs", count) as step:
        done = legacy_runs.backfill_legacy(call.ctx, actor=operator(), on_progress=step)
    return _say_done(call, "completed", done)


def _say_done(call: Call, what: str, count: int) -> int:
    if call.out.as_json:
        call.out.json({what.replace(" ", "_"): count})
    else:
        call.out.facts([(what, f"{count:,}")])
    return 0


def _say_planned(call: Call, what: str, count: int) -> int:
    code = _say_done(call, what, count)
    call.out.say_dry_run()
    return code


def _archive(call: Call, count: int) -> int:
    """Write them to a file that is read back, then delete them (D7)."""
    plan = plan_prune(call.ctx, keep_days=0, keep_n=0, only_legacy=True)
    kept = count_of(len(plan.kept), "legacy run stays", "legacy runs stay")
    return carry_out(call, plan, nothing=f"{kept}, for the reason that is said with each." if plan.kept else None)


def _export(call: Call, count: int) -> int:
    if call.args.dry_run:
        require_place(call.args.export)
        return _say_planned(call, "would be written", count)
    lines = export_lines(call.ctx, legacy_runs.list_legacy(call.ctx, limit=count))
    write_lines(call.args.export, lines)
    return _say_done(call, "written", count)
