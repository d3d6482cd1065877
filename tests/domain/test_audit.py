"""How every status came to be."""

import pytest

from lionstudio.domain.audit import StatusTransition


@pytest.mark.parametrize(
    ("code", "sentence", "telling"),
    [
        pytest.param("run.started", None, "A recorder began the run.", id="a registered reason speaks for itself"),
        pytest.param("run.started", "Ana began it.", "Ana began it.", id="what was written down is what counts"),
        pytest.param("of.another.version", None, None, id="an unknown reason says nothing"),
        pytest.param(None, None, None, id="nobody said why"),
    ],
)
def test_a_step_tells_why_it_happened(code: str | None, sentence: str | None, telling: str | None) -> None:
    step = StatusTransition("t", "session", "s", None, "running", 1.0, "run", code, sentence)
    assert step.telling == telling
