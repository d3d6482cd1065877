"""What a person's judgement makes of a play: only moves that the lifecycle of plays allows."""

from lionstudio.domain.errors import IllegalTransition
from lionstudio.domain.show import Play, PlayStatus, require_play_move


def judge_play(play: Play, *, passed: bool) -> PlayStatus:
    """What a play becomes when a person accepts or refuses it; raises IllegalTransition."""
    wanted = PlayStatus.GATED if passed else PlayStatus.GATE_FAILED
    if passed and play.status is PlayStatus.GATED:
        if play.gate_passed:
            raise IllegalTransition(
                "The play was accepted already.", hint="It is merged next. To refuse it after all: passed = false."
            )
        return wanted  # it waited for this person
    require_play_move(play.status, wanted)
    return wanted
