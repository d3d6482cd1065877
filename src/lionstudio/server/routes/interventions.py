"""What an operator does to runs by hand. Each act is for all named runs or for none, and leaves its trace."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from fastapi import APIRouter

from lionstudio.domain.errors import Conflict, InvalidRequest, NotFound, Refused
from lionstudio.recorders.left_behind import LeftBehind
from lionstudio.server.answers import SlowRoute
from lionstudio.server.dependencies import Actor, Ctx, StudioDep
from lionstudio.server.schemas.interventions import (
    CleanupIn,
    Cleanups,
    PrunedOut,
    PruneIn,
    RepairIn,
    Repairs,
    Transitioned,
    TransitionIn,
    Transitions,
)
from lionstudio.services.cleanup import clean_up
from lionstudio.services.context import Context
from lionstudio.services.interventions import transition
from lionstudio.services.prune import KEEP_DAYS, KEEP_N, plan_prune, prune
from lionstudio.services.prune_selected import prune_selected
from lionstudio.services.repair import repair

router = APIRouter(route_class=SlowRoute, prefix="/admin", tags=["admin"])


@contextmanager
def _refusing(session_ids: Sequence[str]) -> Iterator[None]:
    """Whoever asks gets the same answer for one run as for many: 409, and why for each."""
    try:
        yield
    except Refused:
        raise
    except (Conflict, NotFound) as error:
        raise Refused(error.message, refusals={session_ids[0]: error}, hint=error.hint) from error


@router.post("/transition")
def transition_sessions(ctx: Ctx, who: Actor, body: TransitionIn) -> Transitions:
    """End runs that cannot end themselves. Their messages stay; healthy and idle runs are refused."""
    with _refusing(body.session_ids):
        done = transition(
            ctx,
            body.session_ids,
            to=body.target_status,
            reason=body.reason,
            actor=who,
            note=body.note,
            force=body.force,
            dry_run=body.dry_run,
        )
    return Transitions(dry_run=body.dry_run, items=[Transitioned.of(one) for one in done])


@router.post("/prune")
def prune_sessions(ctx: Ctx, who: Actor, body: PruneIn) -> PrunedOut:
    """Delete ended runs: those named by `session_ids`, or those that are older than `keep_days`."""
    by_age = body.keep_days is not None or body.keep_n is not None
    if body.session_ids is None:
        if not by_age or body.reason is not None:
            raise _which_runs()
        return _prune_old(ctx, who, body)
    if by_age or body.plan is not None:
        raise _which_runs()
    with _refusing(body.session_ids):
        done = prune_selected(ctx, body.session_ids, actor=who, reason=body.reason, dry_run=body.dry_run)
    return PrunedOut.of_selected(done, dry_run=body.dry_run)


def _which_runs() -> InvalidRequest:
    return InvalidRequest(
        "Say which runs are to be deleted, in one of two ways.",
        hint="Send session_ids, and a reason if you like; or keep_days and keep_n.",
    )


def _prune_old(ctx: Context, who: str, body: PruneIn) -> PrunedOut:
    keep_days = KEEP_DAYS if body.keep_days is None else body.keep_days
    plan = plan_prune(ctx, keep_days=keep_days, keep_n=KEEP_N if body.keep_n is None else body.keep_n)
    done = prune(ctx, plan, actor=who, dry_run=body.dry_run, agreed=body.plan)
    return PrunedOut.of_old(plan, done, dry_run=body.dry_run)


@router.post("/cleanup")
def clean_up_sessions(ctx: Ctx, who: Actor, body: CleanupIn) -> Cleanups:
    """Remove the stale locks and unfinished files that ended runs left in their own folders."""
    with _refusing(body.session_ids):
        done = clean_up(ctx, body.session_ids, actor=who, only=body.only, dry_run=body.dry_run)
    return Cleanups.of(done, dry_run=body.dry_run)


@router.post("/repair")
def repair_sessions(studio: StudioDep, who: Actor, body: RepairIn) -> Repairs:
    """Bring back what runs left outside of the database when their process died. No status is changed by it."""
    settings = studio.settings
    spool = LeftBehind(studio.ctx, settings.spool, settings.db)
    runs_folder = str(settings.home / "runs")
    with _refusing(body.session_ids):
        done = repair(
            studio.ctx, body.session_ids, actor=who, spool=spool, runs_folder=runs_folder, dry_run=body.dry_run
        )
    return Repairs.of(done, dry_run=body.dry_run)
