"""Which engines there are: `ENGINE/MODEL`, and what to type where one is missing."""

from collections.abc import Callable, Mapping

from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.words import unknown_word
from lionstudio.engines.engine import COMMAND_ENGINE, Engine, Task


# Loaded only when they are asked for: naming the engines must cost nothing.
def _claude() -> Engine:
    from lionstudio.engines.claude import ClaudeEngine

    return ClaudeEngine()


def _codex() -> Engine:
    from lionstudio.engines.codex import CodexEngine

    return CodexEngine()


def _exec() -> Engine:
    from lionstudio.engines.command import CommandEngine

    return CommandEngine()


def _lionagi() -> Engine:
    from lionstudio.engines.lionagi import LionagiEngine

    return LionagiEngine()


ENGINES: Mapping[str, Callable[[], Engine]] = {
    "claude": _claude,
    "codex": _codex,
    COMMAND_ENGINE: _exec,
    "lionagi": _lionagi,
}
# What other programs call them.
ALIASES: Mapping[str, str] = {"claude-code": "claude", "claude_code": "claude"}


def engine_for(name: str) -> tuple[Engine, str | None]:
    """The engine and the model that `ENGINE/MODEL` names; without a model the agent takes its own.

    Raises UnknownWord, which lists the engines.
    """
    engine, slash, model = name.strip().partition("/")
    if slash and not model.strip():
        if engine == COMMAND_ENGINE:
            raise InvalidRequest(f"{name!r} names no command.", hint=f"Write it after the slash: '{engine}/./my-agent'")
        raise InvalidRequest(f"{name!r} names no model.", hint=f"Write {engine}/MODEL, or only {engine}.")
    known = ENGINES.get(engine_name(name))
    if known is None:
        raise unknown_word(engine or name, what="engine", allowed=ENGINES)
    return known(), model.strip() or None


def engine_name(name: str) -> str:
    """The engine that `ENGINE/MODEL` means, as we call it; it may be none of ours."""
    engine = name.strip().partition("/")[0]
    return ALIASES.get(engine, engine)


def names_engine(word: str) -> bool:
    """Whether a word that stands alone is a model: a sentence that begins like one is something to do."""
    engine = engine_name(word)
    return engine in ENGINES and (engine == COMMAND_ENGINE or len(word.split()) == 1)


def require(engine: Engine) -> None:
    """Raise an Error that says how to install an engine, if it is not here."""
    engine.require()


def require_possible(engine: Engine, task: Task) -> None:
    """Raise InvalidRequest for a task that asks of an agent what none of its kind can do, before anything begins."""
    if engine.name == COMMAND_ENGINE:
        from lionstudio.engines.command import command_of

        command_of(task)
    elif engine.name == "codex":
        from lionstudio.engines.codex import options

        list(options(task))
