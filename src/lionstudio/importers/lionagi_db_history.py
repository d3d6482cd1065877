"""How runs, shows, plays and teams came to their status, from a lionagi state.db.

What operators did there (its `admin_events`) stays there: they tell of checkpoints, prunes and refusals in another
database, ours would forget the old ones (R192) and take them in again each time, and where an operator ended a run, the
history of that run says so.
"""

from collections.abc import Mapping, Sequence

from lionstudio.domain.audit import StatusTransition
from lionstudio.domain.errors import Invalid, InvalidRequest, NotFound
from lionstudio.domain.lionagi_history import ENTITIES, transition_of
from lionstudio.domain.lionagi_rows import plain_text
from lionstudio.importers.report import Problem
from lionstudio.services import sessions, shows, teams
from lionstudio.services.admin import take_over_history
from lionstudio.services.context import Context
from lionstudio.services.foreign import ForeignFile, ForeignRow

TABLE = "status_transitions"
STEPS_AT_ONCE = 1_000


def import_history(
    ctx: Context, source: ForeignFile, problems: list[Problem], *, known_as: Mapping[str, str]
) -> tuple[int, int]:
    """Bring in each step once; how many were new, and for how many there is no place.

    Those are steps of something that is not here, or into a status that we have no word for.
    """
    here = _Here(ctx, source, known_as)
    told = [here.step_of(row) for row in source.rows(TABLE, "created_at", "id")]
    steps = [step for step in told if step is not None]
    added = 0
    for first in range(0, len(steps), STEPS_AT_ONCE):
        added += _take_over(ctx, steps[first : first + STEPS_AT_ONCE], problems)
    return added, len(told) - len(steps)


def _take_over(ctx: Context, steps: Sequence[StatusTransition], problems: list[Problem]) -> int:
    try:
        return take_over_history(ctx, steps)
    except Invalid as error:
        if len(steps) == 1:
            problems.append(Problem(f"{TABLE} {steps[0].id}", error.message))
            return 0
    return sum(_take_over(ctx, [step], problems) for step in steps)  # one of them; the others get in one by one


class _Here:
    """What is here by now of what the file tells about: it may have another id."""

    def __init__(self, ctx: Context, source: ForeignFile, known_as: Mapping[str, str]) -> None:
        self._ctx = ctx
        self._known_as = known_as
        self._topics = {str(row.get("id")): plain_text(row, "topic") for row in source.rows("shows")}
        self._plays = {str(row.get("id")): row for row in source.rows("plays")}
        self._found: dict[tuple[str, str], str | None] = {}

    def step_of(self, row: ForeignRow) -> StatusTransition | None:
        entity, told_id = plain_text(row, "entity_type"), plain_text(row, "entity_id")
        if entity not in ENTITIES or told_id is None:
            return None
        if (entity, told_id) not in self._found:
            self._found[entity, told_id] = self._find(entity, told_id)
        entity_id = self._found[entity, told_id]
        return None if entity_id is None else transition_of(row, entity, entity_id)

    def _find(self, entity: str, told_id: str) -> str | None:
        try:
            if entity == "session":
                return sessions.get_session(self._ctx, self._known_as.get(told_id, told_id)).id
            if entity == "team":
                return teams.get_team(self._ctx, told_id).id
            if entity == "show":
                show = shows.find_show(self._ctx, self._topics.get(told_id) or "")
                return None if show is None else show.id
            play = self._plays.get(told_id, {})
            topic = self._topics.get(str(play.get("show_id")))
            return shows.get_play(self._ctx, topic or "", plain_text(play, "name") or "").id
        except (NotFound, InvalidRequest):  # a database of ours may not even take such an id
            return None
