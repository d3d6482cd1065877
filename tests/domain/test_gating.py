"""What a person's judgement makes of a play."""

import pytest

from lionstudio.domain.errors import IllegalTransition
from lionstudio.domain.gating import judge_play
from lionstudio.domain.show import PlayStatus
from tests.domain.factories import make_play

ACCEPTED_FROM = {"running_complete", "gate_failed", "escalated", "gated"}
REFUSED_FROM = {"running_complete", "gated"}


@pytest.mark.parametrize("status", PlayStatus)
def test_a_play_is_judged_only_where_its_lifecycle_allows_it(status: PlayStatus) -> None:
    for passed, allowed, becomes in ((True, ACCEPTED_FROM, "gated"), (False, REFUSED_FROM, "gate_failed")):
        if status in allowed:
            assert judge_play(make_play(status), passed=passed) == becomes
        else:
            with pytest.raises(IllegalTransition):
                judge_play(make_play(status), passed=passed)


def test_a_play_that_was_accepted_is_not_accepted_again() -> None:
    with pytest.raises(IllegalTransition, match="accepted already") as caught:
        judge_play(make_play("gated", gate_passed=True), passed=True)
    assert "passed = false" in str(caught.value.hint)


def test_who_waits_for_a_person_may_have_been_refused_before() -> None:
    assert judge_play(make_play("gated", gate_passed=False), passed=True) is PlayStatus.GATED
