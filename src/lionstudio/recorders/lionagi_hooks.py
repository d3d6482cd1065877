"""Where we listen in lionagi, and how everything is left as it was.

lionagi fails a run for what a listener raises, and refuses a tool call for it. So each of ours is wrapped: whatever
goes wrong in it is told to `trouble` and to nobody else. lionagi also keeps every listener it has ever called, for as
long as the process lives: ours hold nothing but an `Ear`, which is emptied when we leave.
"""

import threading
import weakref
from collections.abc import Callable
from typing import Any

Undo = Callable[[], None]
INCLUDE = "include_branches"  # the one way by which branches come into a session


class Ear:
    """Calls somebody, safely, until it is closed."""

    def __init__(self, hear: Callable[..., None], trouble: Callable[[Exception], None]) -> None:
        self._hear: Callable[..., None] | None = hear
        self._trouble: Callable[[Exception], None] | None = trouble

    def call(self, *told: Any) -> None:
        hear, trouble = self._hear, self._trouble
        if hear is None or trouble is None:
            return
        try:
            hear(*told)
        except Exception as error:  # noqa: BLE001  an error of ours never reaches their run
            trouble(error)

    def close(self) -> None:
        self._hear = self._trouble = None


def listen_to_branch(branch: Any, said: Ear, tool: Ear) -> Undo:
    """Hear of every message of a branch once it is there, and of every tool before it runs."""

    # Plain functions: an async one would make the branch refuse to add messages without an event loop.
    def on_message(message: Any) -> None:
        said.call(message)

    def before_tool(name: str, arguments: dict[str, Any]) -> None:
        tool.call(name, arguments)

    branch.on_message_added.append(on_message)
    branch.acts.add_tool_pre_hook(before_tool)
    manager = weakref.ref(branch.msgs), weakref.ref(branch.acts)

    def undo() -> None:
        said.close()
        tool.close()
        messages, actions = (found() for found in manager)
        _forget(getattr(messages, "_on_message_added", None), on_message)
        _forget(getattr(actions, "_tool_pre_hooks", None), before_tool)

    return undo


def listen_to_session(session: Any, included: Ear, ended: Ear) -> Undo:
    """Hear of branches that come into a session, and of how each operation of its branches ended."""
    from lionagi.session.signal import RunEnd, RunFailed

    def on_signal(signal: Any, _: Any) -> None:
        ended.call(signal.data if isinstance(signal, RunFailed) else None)

    observer = session.observer
    observer.observe(RunEnd, handler=on_signal)
    observer.observe(RunFailed, handler=on_signal)
    _inclusions.add(session, included)

    def undo() -> None:
        included.close()
        ended.close()
        _inclusions.remove(session, included)
        observer.unobserve(on_signal)

    return undo


def _forget(listeners: Any, ours: Any) -> None:
    """Take our own out of a list of listeners that others may have changed since."""
    if isinstance(listeners, list):
        listeners[:] = [listener for listener in listeners if listener is not ours]


class Inclusions:
    """Sessions whose new branches somebody waits for.

    lionagi tells of a branch by its first message, and only on an event loop: a branch that is used without one would
    stay unseen. So the method by which branches come in is wrapped while anybody listens, and only then.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ears: dict[Any, list[Ear]] = {}  # by the id of a session
        self._original: Any = None
        self._wrapped: Any = None

    def add(self, session: Any, ear: Ear) -> None:
        with self._lock:
            self._ears.setdefault(session.id, []).append(ear)
            if self._original is None:
                self._wrap(_session_class())

    def remove(self, session: Any, ear: Ear) -> None:
        with self._lock:
            ears = [other for other in self._ears.pop(session.id, []) if other is not ear]
            if ears:
                self._ears[session.id] = ears
            owner = _session_class()
            # What somebody else has wrapped meanwhile is theirs; ours then lets everything through.
            if not self._ears and getattr(owner, INCLUDE) is self._wrapped:
                setattr(owner, INCLUDE, self._original)
                self._original = self._wrapped = None

    def _wrap(self, owner: Any) -> None:
        from functools import wraps

        original, ears = getattr(owner, INCLUDE), self._ears

        @wraps(original)
        def include_branches(session: Any, *arguments: Any, **more: Any) -> Any:
            result = original(session, *arguments, **more)
            for ear in ears.get(session.id, ()):
                ear.call()
            return result

        self._original, self._wrapped = original, include_branches
        setattr(owner, INCLUDE, include_branches)


def _session_class() -> Any:
    from lionagi.session.session import Session

    return Session


_inclusions = Inclusions()
