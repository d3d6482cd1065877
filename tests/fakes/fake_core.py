"""What the fake model servers share: a script of turns, and HTTP around it.

A fake answers the requests of an agent on loopback. For each request it takes the first turn of its script that is not
used up and whose `when` matches; where none does it says `default`, so that the side requests of a real program
(titles, summaries) never make a test hang.

    [
        {"when": {"last_user": "subagent"}, "text": "I am the subagent"},
        {"text": "Let me look.", "tools": [{"name": "Bash", "input": {"command": "echo hi"}}]},
        {"error": {"status": 529, "type": "overloaded_error", "message": "busy"}},
        {"text": "Done.", "usage": {"input": 120, "output": 8, "cache_read": 100}},
    ]

A turn may have:

    when          conditions that must all hold; texts are patterns, searched without regard to case:
                  model, system, last_user (the newest thing the user said), last_tool_result, any (the whole request),
                  has_tool (a tool of this name is offered); and true or false: tools (any is offered), stream,
                  after_tool (the newest thing is a tool's result)
    text          what the model says, after `thinking`
    tools         what it calls: {"name", "input", "id"?}. {"$match": "pattern"} anywhere in an input becomes what the
                  pattern's group finds in the newest tool result
    usage         {"input", "output", "cache_read", "cache_write", "reasoning"}; what is missing is estimated
    model, stop   what it reports in the place of what was asked for
    repeat        how often it may be used, or true: always
    delay         seconds before it begins; chunk_delay between two pieces; chunk: letters of a piece
    error         {"status", "type", "message", "headers"?}: an HTTP error in the place of an answer
    stream_error  {"type", "message"}: an error after the text was sent
    cut_after     after so many pieces the connection is cut

Every request is kept in `server.requests`, without its secrets.
"""

import itertools
import json
import re
import sys
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

SECRET_HEADERS = {"authorization", "x-api-key", "cookie", "x-goog-api-key", "api-key"}


class Cut(Exception):
    """Raised to drop the connection in the middle of a stream."""


class Request:
    """One API request in a form the script conditions can look at.

    ``items`` is a list of (kind, text) in conversation order with kind one of
    ``user``, ``assistant``, ``tool_result``; the API modules fill it in.
    """

    def __init__(
        self, path: str, body: dict[str, Any], items: list[tuple[str, str]], system: str, tool_names: list[str]
    ) -> None:
        self.path = path
        self.body = body
        self.items = items
        self.system = system
        self.tool_names = tool_names
        self.model = str(body.get("model") or "fake-model")
        self.stream = bool(body.get("stream"))

    def last(self, kind: str) -> str:
        return next((text for k, text in reversed(self.items) if k == kind), "")

    @property
    def after_tool(self) -> bool:
        return bool(self.items) and self.items[-1][0] == "tool_result"


class Script:
    """Thread-safe list of turns, consumed by :meth:`take`."""

    def __init__(self, turns: Iterable[dict[str, Any]] = (), default: str = "ok") -> None:
        self._turns = [dict(t) for t in turns]
        self._left = [self._uses(t) for t in self._turns]
        self._lock = threading.Lock()
        self.default = default

    @staticmethod
    def _uses(turn: dict[str, Any]) -> float:
        repeat = turn.get("repeat", 1)
        return float("inf") if repeat is True else float(repeat or 1)

    @classmethod
    def load(cls, path: str | Path, default: str = "ok") -> "Script":
        return cls(json.loads(Path(path).read_text()), default)

    def add(self, *turns: dict[str, Any]) -> None:
        with self._lock:
            for turn in turns:
                self._turns.append(dict(turn))
                self._left.append(self._uses(turn))

    def take(self, request: Request) -> dict[str, Any]:
        with self._lock:
            for i, turn in enumerate(self._turns):
                if self._left[i] > 0 and matches(turn.get("when") or {}, request):
                    self._left[i] -= 1
                    return {**turn, "tools": fill(turn["tools"], request)} if turn.get("tools") else turn
        return {"text": self.default}

    @property
    def unused(self) -> list[dict[str, Any]]:
        """Turns that were never taken; assert on it to see that a test ran its whole script."""
        with self._lock:
            return [
                t
                for t, n in zip(self._turns, self._left, strict=True)
                if n == self._uses(t) and t.get("repeat") is not True
            ]


def matches(when: dict[str, Any], request: Request) -> bool:
    subject = {
        "model": lambda: request.model,
        "system": lambda: request.system,
        "last_user": lambda: request.last("user"),
        "last_tool_result": lambda: request.last("tool_result"),
        "any": lambda: json.dumps(request.body),
    }
    for key, wanted in when.items():
        if key in subject:
            if not re.search(wanted, subject[key](), re.I | re.S):
                return False
        elif key == "has_tool":
            if wanted not in request.tool_names:
                return False
        elif key == "tools":
            if bool(request.tool_names) is not bool(wanted):
                return False
        elif key == "stream":
            if request.stream is not bool(wanted):
                return False
        elif key == "after_tool":
            if request.after_tool is not bool(wanted):
                return False
        else:
            raise ValueError(f"unknown condition {key!r}")
    return True


def fill(value: Any, request: Request) -> Any:
    """Replace every {"$match": regex} in a tool input, see the module's text."""
    if isinstance(value, dict):
        if set(value) == {"$match"}:
            found = re.search(value["$match"], request.last("tool_result"), re.S)
            return found.group(1) if found else ""
        return {k: fill(v, request) for k, v in value.items()}
    if isinstance(value, list):
        return [fill(v, request) for v in value]
    return value


def new_id(prefix: str) -> str:
    return prefix + uuid.uuid4().hex[:24]


def pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), max(1, size)):
        yield text[start : start + size]


def estimate_tokens(value: Any) -> int:
    return max(1, len(value if isinstance(value, str) else json.dumps(value)) // 4)


def usage_of(turn: dict[str, Any], request: Request) -> dict[str, int]:
    """Token counts of a turn; stated ones win, the rest are estimated by length."""
    given = turn.get("usage") or {}
    made = (turn.get("text") or "") + (turn.get("thinking") or "") + json.dumps(turn.get("tools") or "")
    out = {
        "input": estimate_tokens(request.body),
        "output": estimate_tokens(made),
        "cache_read": 0,
        "cache_write": 0,
        "reasoning": estimate_tokens(turn["thinking"]) if turn.get("thinking") else 0,
    }
    out.update({k: int(v) for k, v in given.items()})
    return out


class Handler(BaseHTTPRequestHandler):
    """HTTP/1.1 with JSON answers and chunked SSE; the API modules subclass it."""

    protocol_version = "HTTP/1.1"
    server: "FakeServer"

    def route(self, method: str, path: str, body: dict[str, Any]) -> None:
        raise NotImplementedError

    def error_body(self, kind: str, message: str) -> dict[str, Any]:
        raise NotImplementedError

    def _handle(self, method: str) -> None:
        raw = self._read_body()
        try:
            body = json.loads(raw) if raw else {}
        except ValueError:
            body = {"_raw": raw.decode("utf-8", "replace")}
        path = self.path.split("?", 1)[0].rstrip("/") or "/"
        self.server.record(method, self.path, dict(self.headers), body)
        try:
            self.route(method, path, body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        except Cut:
            self.close_connection = True
            self.connection.close()

    def _read_body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            out = bytearray()
            while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
                out += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return self._decode(bytes(out))
        return self._decode(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    def _decode(self, raw: bytes) -> bytes:
        encoding = self.headers.get("Content-Encoding", "").lower()
        if encoding == "gzip":
            import gzip

            return gzip.decompress(raw)
        if encoding == "deflate":
            import zlib

            return zlib.decompress(raw)
        return raw

    def do_GET(self) -> None:
        self._handle("GET")

    def do_POST(self) -> None:
        self._handle("POST")

    def do_HEAD(self) -> None:
        self._handle("HEAD")

    def log_message(self, fmt: str, *args: Any) -> None:
        if self.server.verbose:
            sys.stderr.write("fake: " + fmt % args + "\n")

    def send_json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("request-id", new_id("req_"))
        for name, text in (headers or {}).items():
            self.send_header(name, str(text))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def send_error_json(self, error: dict[str, Any]) -> None:
        body = self.error_body(error.get("type", "api_error"), error.get("message", "fake error"))
        self.send_json(int(error.get("status", 500)), body, error.get("headers"))

    def send_sse(self, events: Iterable[tuple[str | None, Any]], turn: dict[str, Any]) -> None:
        """Stream (event name, data) pairs; a str datum is sent as is (``[DONE]``)."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("request-id", new_id("req_"))
        self.end_headers()
        cut = turn.get("cut_after")
        for n, (name, data) in enumerate(events):
            if cut is not None and n >= int(cut):
                raise Cut
            text = data if isinstance(data, str) else json.dumps(data, separators=(",", ":"))
            frame = (f"event: {name}\n" if name else "") + f"data: {text}\n\n"
            raw = frame.encode()
            self.wfile.write(f"{len(raw):x}\r\n".encode() + raw + b"\r\n")
            self.wfile.flush()
            if turn.get("chunk_delay"):
                time.sleep(float(turn["chunk_delay"]))
        self.wfile.write(b"0\r\n\r\n")

    def begin(self, request: Request) -> dict[str, Any] | None:
        """Take the turn for this request; None when an HTTP error was already answered."""
        turn = self.server.script.take(request)
        if turn.get("delay"):
            time.sleep(float(turn["delay"]))
        if turn.get("error"):
            self.send_error_json(turn["error"])
            return None
        return turn


class FakeServer(ThreadingHTTPServer):
    """A fake API on 127.0.0.1. Use as a context manager in tests::

    with FakeAnthropic([{"text": "hello"}]) as api:
        run(env={"ANTHROPIC_BASE_URL": api.url})
        assert api.requests[0]["body"]["messages"]
    """

    daemon_threads = True
    handler: type[Handler] = Handler

    def __init__(
        self,
        script: Script | Iterable[dict[str, Any]] = (),
        port: int = 0,
        log: str | Path | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(("127.0.0.1", port), self.handler)
        self.script = script if isinstance(script, Script) else Script(script)
        self.requests: list[dict[str, Any]] = []
        self.verbose = verbose
        self._log = Path(log) if log else None
        self._record_lock = threading.Lock()
        self._counter = itertools.count(1)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def record(self, method: str, path: str, headers: dict[str, str], body: Any) -> None:
        clean = {k: "<redacted>" if k.lower() in SECRET_HEADERS else v for k, v in headers.items()}
        with self._record_lock:
            entry = {
                "n": next(self._counter),
                "time": time.time(),
                "method": method,
                "path": path,
                "headers": clean,
                "body": body,
            }
            self.requests.append(entry)
            if self._log:
                with self._log.open("a") as f:
                    f.write(json.dumps(entry) + "\n")

    def start(self) -> Self:
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        if self._thread:
            self._thread.join(5)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()
