"""The subagents of Codex: its stream tells what they were asked and what they answered, and nothing between."""

from collections.abc import Callable, Iterator

from lionstudio.domain.phrases import first_words
from lionstudio.domain.usage import NO_USAGE
from lionstudio.engines.codex_rollouts import Known
from lionstudio.engines.codex_usage import RunningTotal
from lionstudio.engines.engine import Event, NewBranch, Said
from lionstudio.engines.json_lines import Fields, fields_in, some, text, texts_in
from lionstudio.engines.saying import answer, as_metadata, instruction, notice

AT_WORK = frozenset({"pending_init", "running"})
LookUp = Callable[[str | None], Known]  # what the files of a conversation say


class Thread:
    """One subagent, as far as it was heard of."""

    __slots__ = ("is_old", "last", "said", "told")

    def __init__(self, *, is_old: bool) -> None:
        self.is_old = is_old  # what it says is from an earlier run, and it was not asked anything since
        self.last: str | None = None  # what it said since it was asked, or became of it
        self.said: Said | None = None  # the last message that says so
        self.told = 0  # how many there are


class CodexAgents:
    """Threads beside the agent's own, by their ids."""

    def __init__(self, look_up: LookUp) -> None:
        self._look_up = look_up
        self._own: str | None = None
        self._threads: dict[str, Thread] = {}

    def own(self, thread_id: str | None) -> None:
        """Which thread is the agent's own."""
        self._own = thread_id

    def branch_of(self, item: Fields) -> str | None:
        """The branch of whoever uses a tool."""
        sender = text(item.get("sender_thread_id"))
        return sender if sender != self._own and sender in self._threads else None

    def read(self, item: Fields) -> Iterator[Event]:
        """Agents are spawned or told more, and what is known of each is told."""
        prompt = text(item.get("prompt"))
        asked = texts_in(item.get("receiver_thread_ids")) if prompt is not None else ()
        for name in texts_in(item.get("receiver_thread_ids")):
            yield from self._meet(name, item)
            if prompt is not None:
                yield instruction(prompt, f"asked by {item.get('id')} of {name}", branch=self._branch(name))
        for name, state in fields_in(item.get("agents_states")).items():
            yield from self._meet(name, item)
            yield from self._hear(name, self._threads[name], fields_in(state))
        for name in asked:  # only now: the states of this item may still be from before
            self._threads[name].is_old, self._threads[name].last = False, None

    def _hear(self, name: str, thread: Thread, state: Fields) -> Iterator[Event]:
        status, words = text(state.get("status")), text(state.get("message"))
        if thread.is_old or status is None or status in AT_WORK:
            return
        now = words if status == "completed" else status
        if now is None or now == thread.last:
            return
        thread.last = now
        thread.told += 1
        branch = self._branch(name)
        if status == "completed":
            thread.said = answer(now, f"answer {thread.told} of {name}", branch=branch)
            yield thread.said
        else:
            said = f"It is {status.replace('_', ' ')}." + (f" {words}" if words else "")
            yield notice(said, f"state {thread.told} of {name}", branch=branch)

    def settle(self) -> Iterator[Event]:
        """What each has consumed, said with the last thing that it said: the stream has nothing of that."""
        for name, thread in self._threads.items():
            known = self._look_up(name)
            consumed = RunningTotal(known.before, goes_on=False).grow(known.totals) if known.totals else None
            if name != self._own and consumed is not None and consumed != NO_USAGE:
                said = thread.said or notice(
                    "Nobody waited for what it came to.", f"work of {name}", branch=self._branch(name)
                )
                yield said._replace(metadata={"usage": as_metadata(consumed), **some(model=known.model)})

    def _meet(self, name: str, item: Fields) -> Iterator[Event]:
        if name in self._threads:
            return
        prompt = text(item.get("prompt"))
        self._threads[name] = Thread(is_old=prompt is None and bool(self._look_up(name).before))
        if name != self._own:
            named = first_words(" ".join(prompt.split())) if prompt else name
            yield NewBranch(name, named, self.branch_of(item), facts=some(agent_id=name))

    def _branch(self, name: str) -> str | None:
        return None if name == self._own else name
