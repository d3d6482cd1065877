"""`li state doctor`: how every run is doing, by which evidence; and ending those that are certainly dead."""

from collections.abc import Sequence

from lionstudio.cli.command import Call, WrongUsage
from lionstudio.cli.operator import operator
from lionstudio.cli.output import Cell, Column
from lionstudio.cli.run_rows import shown_ids
from lionstudio.doctor.scan import Scan, scan
from lionstudio.domain.errors import DatabaseFull, DatabaseReadOnly
from lionstudio.domain.health import Health
from lionstudio.domain.phrases import count_of, format_duration
from lionstudio.services.examination import Examined
from lionstudio.services.interventions import Intervention, transition_stale
from lionstudio.services.naming import names_of

HEALTH_STYLES = {
    Health.HEALTHY: "success",
    Health.IDLE: "info",
    Health.UNRESPONSIVE: "warning",
    Health.STALE: "danger",
    Health.ORPHANED: "danger",
    Health.ZOMBIE: "warning",
}
COLUMNS = (
    Column("RUN"),
    Column("NAME", grows=True, readable=16),
    Column("HEALTH"),
    Column("QUIET", right=True, leaves=1),
    Column("WHY", grows=True, readable=45),
)
MOST_ROWS = 200  # on a terminal; --json names all


def doctor(call: Call) -> int:
    """Look at every run that runs (R133 with --transition-stale)."""
    if call.args.dry_run and not call.args.transition_stale:
        raise WrongUsage("--dry-run belongs to --transition-stale.", hint="Without that the doctor changes no status.")
    found = _scan(call)
    call.out.is_planning = call.args.transition_stale and not call.args.dry_run
    if call.out.as_json:
        names = names_of(call.ctx, (one.session for one in found.examined))
        for one in found.examined:
            call.out.json(_run_object(one, names[one.session.id]))
        call.out.json({"type": "summary", "counts": dict(found.counts), "changed": found.changed})
    else:
        _print_scan(call, found)
    return _transition(call) if call.args.transition_stale else 0


def _scan(call: Call) -> Scan:
    """Look, and keep what is new for lists where that is possible: who may only read can see all of it."""
    try:
        return scan(call.ctx, keep=not call.args.dry_run)
    except (DatabaseReadOnly, DatabaseFull) as error:
        call.out.say(f"{error.message} What is new here is shown, and not kept for lists.")
        return scan(call.ctx, keep=False)


def _print_scan(call: Call, found: Scan) -> None:
    if found.examined:
        shown = found.examined[:MOST_ROWS] if call.out.is_terminal else found.examined
        names = names_of(call.ctx, (one.session for one in shown))
        ids = shown_ids([one.session.id for one in shown], whole=not call.out.is_terminal)
        rows = [_row(one, id, names[one.session.id]) for one, id in zip(shown, ids, strict=True)]
        call.out.table(COLUMNS, rows)
        if len(shown) < len(found.examined):
            call.out.say(f"… and {len(found.examined) - len(shown):,} more; --json names all of them.")
        call.out.say_data("")
    else:
        call.out.say("No run is running. Past ones: li state ls")
    call.out.facts((health, f"{count:,}") for health, count in found.counts.items())


def _row(one: Examined, shown_id: str, name: str) -> Sequence[str | Cell]:
    health, idle = one.verdict.health, one.verdict.idle_seconds
    quiet = "" if idle is None else format_duration(idle, brief=True)
    return shown_id, name, Cell(health, HEALTH_STYLES[health]), quiet, _why(one)


def _why(one: Examined) -> str:
    """The reasons, and what was seen of the process, which says how anyone knows."""
    return " ".join([*(reason.sentence for reason in one.verdict.reasons), one.evidence.process.sentence])


def _run_object(one: Examined, name: str) -> dict[str, object]:
    return {
        "type": "run",
        "id": one.session.id,
        "name": one.session.name,
        "display_name": name,
        "health": one.verdict.health,
        "process": one.verdict.process,
        "process_sentence": one.evidence.process.sentence,
        "idle_seconds": one.verdict.idle_seconds,
        "observed_at": one.evidence.observed_at,
        "reasons": [{"code": reason.code, "sentence": reason.sentence} for reason in one.verdict.reasons],
    }


def _transition(call: Call) -> int:
    """Fail what is stale and confirmed dead, after saying which; what a dry run says is what then happens."""
    planned = transition_stale(call.ctx, actor=operator(), dry_run=True)
    if call.args.dry_run or not planned:
        _print_ended(call, planned, done=False)
        if planned:
            call.out.say_dry_run()
        return 0
    if not call.out.as_json:
        _print_ended(call, planned, done=False)
    if not call.out.confirm(f"Fail {count_of(len(planned), 'run')}?", yes=call.args.yes):
        return 1
    agreed = [one.session.id for one in planned]
    ended = transition_stale(call.ctx, actor=operator(), only=agreed)
    _finish_folders(call, ended)
    _print_ended(call, ended, done=True)
    return 0


def _finish_folders(call: Call, ended: Sequence[Intervention]) -> None:
    """Who died did not write what was said into the folder of the run."""
    from lionstudio.recorders.run_folder import finish_left

    for one in ended:
        why_not = finish_left(call.ctx, call.settings, one.session.id)
        if why_not is not None:
            call.out.say(why_not)


def _print_ended(call: Call, ended: Sequence[Intervention], *, done: bool) -> None:
    if call.out.as_json:
        for one in ended:
            reasons = [{"code": reason.code, "sentence": reason.sentence} for reason in one.verdict.reasons]
            call.out.json(
                {"type": "transition", "done": done, "id": one.session.id, "status": "failed", "reasons": reasons}
            )
    elif not ended and not done:
        call.out.say("No run is stale with a process that is confirmed dead; nothing to fail.")
    elif done:
        call.out.say(f"Failed {count_of(len(ended), 'run')}.")
    else:
        call.out.say_data("")
        ids = shown_ids([one.session.id for one in ended], whole=not call.out.is_terminal)
        whys = [" ".join(reason.sentence for reason in one.verdict.reasons) for one in ended]
        rows = list(zip(ids, whys, strict=True))
        call.out.table((Column("TO BE FAILED"), Column("WHY", grows=True)), rows)
