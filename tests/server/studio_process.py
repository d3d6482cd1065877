"""The studio as a process of its own, which may be killed."""

import signal
from types import TracebackType

from tests.recorders.agents import Agent

SERVING = """
import sys
from lionstudio.server.app import create_app
from lionstudio.server.serving import StudioServer, listen
from lionstudio.settings import load_settings
sock = listen("127.0.0.1", int(sys.argv[2]))
server = StudioServer(create_app(load_settings(db=sys.argv[1])), lambda: print(sock.getsockname()[1], flush=True))
server.serve_on(sock)
"""


class StudioProcess:
    """A server that always has the same address, however often it is started."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._port = 0
        self._agent: Agent | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> None:
        self._agent = Agent(SERVING, self._location, self._port)
        port = int(self._agent.line())
        assert self._port in {0, port}
        self._port = port

    def kill(self) -> None:
        """End it at once, as the system would."""
        assert self._agent is not None
        self._agent.signal(signal.SIGKILL)
        self._leave()

    def stop(self) -> str:
        """End it in good order; what it said meanwhile."""
        assert self._agent is not None
        self._agent.signal(signal.SIGTERM)
        ended = self._agent.end()
        assert ended.returncode in {0, -signal.SIGTERM}, ended.stderr
        return ended.stderr

    def _leave(self) -> None:
        if self._agent is not None:
            self._agent.__exit__(None, None, None)

    def __enter__(self) -> "StudioProcess":
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._leave()
