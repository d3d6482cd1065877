"""Lion Studio: the flight recorder and control tower for people who run many AI agents.

    import lionstudio

    with lionstudio.record("triage", agent="architect") as run:
        run.user("Find the failing test")

This is the whole public SDK. It is loaded at its first use, so that importing the package costs nothing.
"""

from lionstudio.version import __version__

TYPE_CHECKING = False  # type checkers read this name as true; importing `typing` for it would double the cost
if TYPE_CHECKING:
    from lionstudio.domain.errors import Error
    from lionstudio.reader import Reader, open
    from lionstudio.recorders.lionagi import attach
    from lionstudio.recorders.recorder import Run, record

__all__ = ["Error", "Reader", "Run", "__version__", "attach", "open", "record"]

_HOMES = {
    "Error": "lionstudio.domain.errors",
    "Reader": "lionstudio.reader",
    "Run": "lionstudio.recorders.recorder",
    "attach": "lionstudio.recorders.lionagi",
    "open": "lionstudio.reader",
    "record": "lionstudio.recorders.recorder",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'lionstudio' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
