"""A reader of server-sent events on a bare socket, which may break off after any byte."""

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Any, NamedTuple
from urllib.parse import urlsplit

DEADLINE = 20.0


class Event(NamedTuple):
    """One event as it came; a comment has the name `comment`, and an id by itself, which browsers keep, `id`."""

    name: str
    data: Any
    id: str | None = None


def parse_event(block: bytes) -> Event:
    if block.startswith(b":"):
        return Event("comment", block.decode()[2:])
    fields = dict(line.split(": ", 1) for line in block.decode().split("\n"))
    if set(fields) == {"id"}:
        return Event("id", None, fields["id"])
    return Event(fields["event"], json.loads(fields["data"]), fields.get("id"))


class EventReader:
    """A connection to a stream, which comes in chunks."""

    def __init__(self, url: str, path: str, last_id: str | None = None, *, buffer: int | None = None) -> None:
        address = urlsplit(url)
        assert address.hostname is not None
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        if buffer is not None:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self._socket.settimeout(DEADLINE)
        try:
            self._socket.connect((address.hostname, address.port))
            resumed = "" if last_id is None else f"Last-Event-ID: {last_id}\r\n"
            self._socket.sendall(f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\n{resumed}\r\n".encode())
        except OSError:
            self._socket.close()
            raise
        self._raw = self._body = b""
        self.is_whole = False  # it came to its end, and was not broken off

    def head(self) -> tuple[int, dict[str, str]]:
        """The status, and the headers in small letters."""
        while b"\r\n\r\n" not in self._raw:
            if not self._receive():
                raise EOFError("The stream ended before it began.")
        head, _, self._raw = self._raw.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        return int(first.split()[1]), dict(line.lower().split(": ", 1) for line in lines)

    def events(self) -> Iterator[Event]:
        """Every event until the stream ends."""
        assert self.head()[0] == 200
        while True:
            yield from self._parse()
            if self.is_whole or not self._receive():
                return

    def take(self, count: int, within: float) -> list[Event]:
        """What is whole among the next so many bytes, head and all, and among what comes in this time."""
        left = count
        self._socket.settimeout(within)
        with suppress(TimeoutError):
            while left > 0:
                before = len(self._raw)
                if not self._receive(min(left, 65_536)):
                    break
                left -= len(self._raw) - before
        if b"\r\n\r\n" not in self._raw:
            return []
        assert self.head()[0] == 200
        return list(self._parse())

    def _parse(self) -> Iterator[Event]:
        while b"\r\n" in self._raw:
            size, _, rest = self._raw.partition(b"\r\n")
            length = int(size, 16)
            if len(rest) < length + 2:
                break
            self._body += rest[:length]
            self._raw = rest[length + 2 :]
            self.is_whole = self.is_whole or length == 0
        *blocks, self._body = self._body.split(b"\n\n")
        yield from map(parse_event, blocks)

    def _receive(self, at_most: int = 65_536) -> bool:
        got = self._socket.recv(at_most)
        self._raw += got
        return bool(got)

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> "EventReader":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()


def messages_in(events: list[Event]) -> list[str]:
    return [event.data["message"]["id"] for event in events if event.name == "message"]
