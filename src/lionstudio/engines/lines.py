"""Bytes in any pieces, as lines of text."""

from collections.abc import Iterator

LONGEST_LINE = 64 * 1024 * 1024  # bytes; a longer one is cut, so that no agent can fill the memory


class Lines:
    """Puts what comes in pieces together to lines. What is not UTF-8 is replaced, as everywhere else."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0
        self.has_replaced = False  # something was not UTF-8

    def feed(self, data: bytes) -> Iterator[str]:
        """The lines that these bytes complete, without their ends."""
        first, *rest = data.split(b"\n")
        self._keep(first)
        for piece in rest:
            yield self._take()
            self._keep(piece)

    def end(self) -> Iterator[str]:
        """What came after the last end of a line, if anything."""
        if self._size:
            yield self._take()

    def _keep(self, piece: bytes) -> None:
        room = self._longest - self._size
        if piece and room > 0:
            self._parts.append(piece[:room])
            self._size += min(len(piece), room)

    def _take(self) -> str:
        line = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        line = line.removesuffix(b"\r")
        try:
            return line.decode()
        except UnicodeDecodeError:
            self.has_replaced = True
            return line.decode(errors="replace")
