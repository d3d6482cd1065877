"""An agent in a process of its own, which says what a test tells it to."""

import json
import os
import subprocess
import sys
from types import TracebackType
from typing import Any

SCRIPT = """
import json, sys, lionstudio
with lionstudio.record(sys.argv[1], agent="writer", model="claude/claude-sonnet-4-6") as run:
    print(run.session_id, flush=True)
    calls = {}
    for line in sys.stdin:
        verb, arguments, more = json.loads(line)
        if verb == "tool_result":
            arguments[0] = calls[arguments[0]]
        said = getattr(run, verb)(*arguments, **more)
        calls[said.id] = said
        print(said.id, flush=True)
"""


class Writer:
    """Records one run. Each verb returns when the message is stored."""

    def __init__(self, environ: dict[str, str], name: str = "Written live") -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, name],
            env={**os.environ, **environ}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.run_id = self._answer()

    def say(self, verb: str, *arguments: Any, **more: Any) -> str:
        """One of the recorder's verbs, such as `assistant`; the id of the message."""
        assert self._process.stdin is not None
        print(json.dumps([verb, arguments, more]), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()
