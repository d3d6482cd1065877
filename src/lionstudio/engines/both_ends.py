"""A text without end, of which the beginning and the end are kept: a line more costs little however much there was."""

from collections import deque

PIECE = 64 * 1024  # characters; lines are put together to pieces, which are few and cheap to drop


class BothEnds:
    """Keeps at most `half` characters of the beginning and as many of the end."""

    def __init__(self, half: int) -> None:
        self._half = half
        self._head: list[str] = []
        self._head_room = half
        self._tail: deque[str] = deque()
        self._tail_length = 0
        self._new: list[str] = []
        self._new_length = 0
        self.length = 0  # of all that came

    def add(self, text: str) -> None:
        self.length += len(text)
        self._new.append(text)
        self._new_length += len(text)
        if self._new_length >= PIECE:
            self._settle()

    @property
    def left_out(self) -> int:
        """How many characters are not kept."""
        return max(0, self.length - 2 * self._half)

    def text(self) -> str:
        """What is kept; it says where and how much is missing."""
        self._settle()
        tail = "".join(self._tail)[-self._half :]
        cut = f"\n… {self.left_out:,} characters are left out …\n" if self.left_out else ""
        return "".join(self._head) + cut + tail

    def _settle(self) -> None:
        piece = "".join(self._new)
        self._new, self._new_length = [], 0
        head, piece = piece[: self._head_room], piece[self._head_room :]
        if head:
            self._head.append(head)
            self._head_room -= len(head)
        if piece:
            self._tail.append(piece)
            self._tail_length += len(piece)
        while self._tail and self._tail_length - len(self._tail[0]) >= self._half:
            self._tail_length -= len(self._tail.popleft())
