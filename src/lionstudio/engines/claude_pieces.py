"""Answers of Claude Code that come in pieces: kept until they come whole, for one that breaks off never does."""

from lionstudio.engines.both_ends import BothEnds
from lionstudio.engines.json_lines import Fields, fields_in, text

# How a piece of an answer begins, of which there are thousands, each a few letters.
PIECE = '{"type":"stream_event","event":{"type":"content_block_'
SPOKEN = '"text_delta"'  # in those that are text
KEPT = 512 * 1024  # characters of the beginning of a text, and as many of its end


class Unfinished:
    """An answer that has begun."""

    __slots__ = ("id", "message", "said")

    def __init__(self, id: str, message: Fields) -> None:
        self.id = id
        self.message = message
        self.said = BothEnds(KEPT)  # of it in pieces, and not yet in a line of its own


class Pieces:
    """What is being said, by branch: one answer at a time."""

    def __init__(self) -> None:
        self._by_branch: dict[str | None, Unfinished] = {}

    def begin(self, branch: str | None, message: Fields) -> str | None:
        """An answer begins, in the place of any before it; its id."""
        id = text(message.get("id"))
        if id is not None:
            self._by_branch[branch] = Unfinished(id, message)
        return id

    def add(self, branch: str | None, event: Fields) -> None:
        known, words = self._by_branch.get(branch), text(fields_in(event.get("delta")).get("text"))
        if known is not None and words is not None:
            known.said.add(words)

    def id_of(self, branch: str | None) -> str | None:
        """Which answer is coming."""
        known = self._by_branch.get(branch)
        return None if known is None else known.id

    def came(self, branch: str | None, id: str) -> None:
        """What was said of an answer has come in a line of its own."""
        known = self._by_branch.get(branch)
        if known is not None and known.id == id:
            known.said = BothEnds(KEPT)

    def end(self, branch: str | None) -> None:
        """The answer is whole, and all of it has come."""
        self._by_branch.pop(branch, None)

    def rest(self) -> list[tuple[str | None, Unfinished]]:
        """What was said and never came whole."""
        return [(branch, known) for branch, known in self._by_branch.items() if known.said.length]
