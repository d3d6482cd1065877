"""The subagents of Codex: its stream tells what they were asked and what they answered, and nothing between."""

from collections.abc import Callable, Iterator

from lionstudio.domain.phrases import first_words
from lionstudio.engines.codex_rollouts import Known
from lionstudio.engines.codex_usage import RunningTotal
from lionstudio.engines.engine import Event, NewBranch, Said
from lionstudio.engines.json_lines import Fields, fields_in, some, text, texts_in
from lionstudio.engines.saying import answer, as_metadata, instruction, notice

AT_WORK = frozenset({"pending_init", "running"})
LookUp = Callable[[str | None], Known]  # what the files of a conversation say


class CodexAgents:
    """Threads beside the agent's own, by their ids."""

    def __init__(self) -> None:
        self._own: str | None = None
        self._answered: dict[str, list[str]] = {}  # by thread: what it said, as far as anybody asked
        self._last: dict[str, Said] = {}  # by thread: what it said last
        self._totals: dict[str, RunningTotal] = {}

    def own(self, thread_id: str | None) -> None:
        """Which thread is the agent's own."""
        self._own = thread_id

    def branch_of(self, item: Fields) -> str | None:
        """The branch of whoever uses a tool."""
        sender = text(item.get("sender_thread_id"))
        return sender if sender in self._answered else None

    def asked(self, item: Fields) -> Iterator[Event]:
        """Agents are spawned, or told more."""
        prompt = text(item.get("prompt"))
        for thread in texts_in(item.get("receiver_thread_ids")):
            yield from self._meet(thread, item)
            if prompt is not None:
                yield instruction(prompt, f"asked by {item.get('id')} of {thread}", branch=self._branch(thread))

    def answered(self, item: Fields) -> Iterator[Event]:
        """What is known of each agent now."""
        for thread, told in fields_in(item.get("agents_states")).items():
            yield from self._meet(thread, item)
            state = fields_in(told)
            status, words = text(state.get("status")), text(state.get("message"))
            known = self._answered.setdefault(thread, [])
            if status == "completed" and words is not None and words not in known[-1:]:
                known.append(words)
                self._last[thread] = answer(words, f"answer {len(known)} of {thread}", branch=self._branch(thread))
                yield self._last[thread]
            elif status not in (None, "completed", *AT_WORK) and [status] != known[-1:]:
                known.append(str(status))
                said = f"It is {str(status).replace('_', ' ')}." + (f" {words}" if words else "")
                yield notice(said, f"state {len(known)} of {thread}", branch=self._branch(thread))

    def settle(self, look_up: LookUp) -> Iterator[Event]:
        """What each has consumed since, said with the last thing that it said: the stream has nothing of that."""
        for thread, said in list(self._last.items()):
            known = look_up(thread)
            total = self._totals.setdefault(thread, RunningTotal({}, goes_on=False))
            consumed = total.grow(known.totals) if known.totals else None
            if consumed is not None and any(consumed):
                yield said._replace(metadata={"usage": as_metadata(consumed), **some(model=known.model)})
                del self._last[thread]

    def _meet(self, thread: str, item: Fields) -> Iterator[Event]:
        if thread not in self._answered and thread != self._own:
            parent = self.branch_of(item)
            self._answered[thread] = []
            prompt = text(item.get("prompt"))
            name = first_words(" ".join(prompt.split())) if prompt else thread
            yield NewBranch(thread, name, parent, facts=some(agent_id=thread))

    def _branch(self, thread: str) -> str | None:
        return None if thread == self._own else thread
