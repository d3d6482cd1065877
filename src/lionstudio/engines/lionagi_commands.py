"""The commands that one lionagi agent runs with its tools: each knows the agent's environment, and none outlives it."""

import os
import shlex
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from tempfile import mkdtemp
from typing import Any

from lionstudio.domain.errors import Unavailable

START, BEGUN = "start.sh", "begun"


class Commands:
    """How they are started: by a script that nobody else can read, for values may be secret and hold anything.

    lionagi gives its commands our own environment, in which several agents would be one, and lets them live on when it
    is left. Each is the leader of a session, and a child of ours.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        try:
            self._folder = mkdtemp(prefix="lionstudio-")
            self._write(env)
        except OSError as error:
            raise Unavailable(f"No temporary file can be written ({error.strerror}).", hint="Set TMPDIR.") from error

    def _write(self, env: Mapping[str, str]) -> None:
        told = [f"export {name}={shlex.quote(value)}" for name, value in env.items()]
        note = f"echo $$ >> {shlex.quote(self._path(BEGUN))}"
        with open(self._path(START), "w", encoding="utf-8", errors="replace") as script:
            script.write("\n".join([*told, note, 'exec "$@"', ""]))

    def __enter__(self) -> "Commands":
        return self

    def __exit__(self, *_: object) -> None:
        self.end(signal.SIGKILL)
        shutil.rmtree(self._folder, ignore_errors=True)

    async def start(self, tool: str, action: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """A hook of lionagi: what is run instead of a command."""
        return {**arguments, "command": f"sh {shlex.quote(self._path(START))} {arguments.get('command', '')}"}

    def end(self, number: int = signal.SIGTERM) -> None:
        """Send a signal to those that still run; from any thread, and in the middle of anything."""
        for pid in self._begun():
            # A number that is no child of ours any more may be anybody's.
            with suppress(ChildProcessError, ProcessLookupError, PermissionError):
                os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                os.killpg(pid, number)

    def _begun(self) -> list[int]:
        with suppress(OSError), open(self._path(BEGUN), encoding="ascii") as file:
            return [int(line) for line in file if line.strip().isdigit()]
        return []

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name)
