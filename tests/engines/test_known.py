"""Which engines there are, and how one is named."""

import pytest

from lionstudio.domain.errors import InvalidRequest, UnknownWord
from lionstudio.engines.known import engine_for


@pytest.mark.parametrize(
    ("typed", "engine", "model"),
    [
        ("claude/claude-sonnet-4-5", "claude", "claude-sonnet-4-5"),
        ("claude", "claude", None),
        ("claude-code/opus", "claude", "opus"),
        ("codex/gpt-5", "codex", "gpt-5"),
        ("exec", "exec", None),
        ("exec/./my-agent --fast", "exec", "./my-agent --fast"),
        (" exec/cat ", "exec", "cat"),
    ],
)
def test_an_engine_is_named_with_its_model(typed: str, engine: str, model: str | None) -> None:
    found, asked = engine_for(typed)
    assert (found.name, asked) == (engine, model)


@pytest.mark.parametrize("typed", ["gpt-5", "openia/gpt-5", "", "/x"])
def test_an_unknown_engine_is_answered_with_those_there_are(typed: str) -> None:
    with pytest.raises(UnknownWord) as caught:
        engine_for(typed)
    assert "exec" in (caught.value.hint or "")


def test_a_slash_without_a_model_is_a_mistake() -> None:
    with pytest.raises(InvalidRequest, match="names no model") as caught:
        engine_for("claude/")
    assert caught.value.hint == "Write claude/MODEL, or only claude."
    with pytest.raises(InvalidRequest, match="'exec/ ' names no command") as caught:
        engine_for("exec/ ")
    assert caught.value.hint == "Write it after the slash: 'exec/./my-agent'"
