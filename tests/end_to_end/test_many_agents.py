"""Sixteen agents at once in one run, 200 messages each: nothing is lost, and who watches sees them while they work."""

import json
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from lionstudio.domain.message_text import text_of
from lionstudio.services.branches import list_branches
from lionstudio.services.context import Context
from lionstudio.services.messages import list_messages
from lionstudio.services.session_list import list_sessions
from tests.waiting import wait_until

AGENTS, MESSAGES = 16, 200
DEADLINE = 120.0

# Speaks as Claude Code does; in the middle it waits until somebody lets it go on.
PROGRAM = """\
#!{python}
import json, os, sys, time, uuid
prompt, session = sys.stdin.read(), str(uuid.uuid4())
name = os.environ["LIONAGI_AGENT"]
def tell(**line):
    print(json.dumps({{**line, "session_id": session, "uuid": str(uuid.uuid4())}}), flush=True)
tell(type="system", subtype="init", cwd=os.getcwd(), tools=[], model="claude-sonnet-4-5")
for number in range({messages}):
    if number == {messages} // 2:
        while not os.path.exists({gate!r}):
            time.sleep(0.05)
    said = {{"type": "text", "text": f"{{name}} says {{number}}"}}
    message = {{"id": f"msg_{{uuid.uuid4().hex}}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
               "content": [said], "stop_reason": None, "usage": {{"input_tokens": 1, "output_tokens": 1}}}}
    tell(type="assistant", message=message, parent_tool_use_id=None)
tell(type="result", subtype="success", is_error=False, result=said["text"], num_turns={messages}, usage={{}})
"""


class Watcher:
    """Another process that follows the run, and what it has seen."""

    def __init__(self, session_id: str) -> None:
        self.seen: list[dict[str, Any]] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lionstudio", "runs", "tail", "-f", "-n", "10000", "--json", session_id],
            stdout=subprocess.PIPE,
            text=True,
        )
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as lines:
            for line in lines:
                self.seen.append(json.loads(line))

    def by_branch(self) -> Counter[str]:
        return Counter(message["branch_ids"][0] for message in list(self.seen))

    def end(self) -> int:
        """Its exit code, when the run and all that it said is over."""
        try:
            return self.process.wait(DEADLINE)
        finally:
            self.process.kill()
            self._thread.join()


def program(folder: Path, gate: Path) -> Path:
    path = folder / "claude"
    path.write_text(PROGRAM.format(python=sys.executable, messages=MESSAGES, gate=str(gate)))
    path.chmod(0o755)
    return path


def test_sixteen_agents_at_once_lose_nothing_and_are_seen_live(
    ctx: Context, location: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    gate, steps = tmp_path / "go-on", {f"agent-{number}": {"prompt": "Speak."} for number in range(AGENTS)}
    monkeypatch.setenv("LIONAGI_DB", location)
    monkeypatch.setenv("LIONSTUDIO_CLAUDE", str(program(tmp_path, gate)))
    flow = tmp_path / "many.yaml"
    flow.write_text(json.dumps({"model": "claude/claude-sonnet-4-5", "steps": steps}))  # which is YAML, too
    li = subprocess.Popen(
        [sys.executable, "-m", "lionstudio", "flow", str(flow), "--parallel", str(AGENTS), "--json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ},
    )
    watching: list[Watcher] = []
    try:
        wait_until(lambda: list_sessions(ctx).items, within=DEADLINE)
        [run] = list_sessions(ctx).items
        watching.append(Watcher(run.id))
        [watcher] = watching
        # All of them have half of it still to say, and half of each was seen: in the feed, while they work.
        wait_until(lambda: list(watcher.by_branch().values()) == [1 + MESSAGES // 2] * AGENTS, within=DEADLINE)
        assert li.poll() is None
        gate.touch()
        out, err = li.communicate(timeout=DEADLINE)
        assert watcher.end() == 0
    finally:
        gate.touch()
        li.kill()
        li.wait()
        for watcher in watching:
            watcher.process.kill()
    assert (li.returncode, err) == (0, "")
    told = json.loads(out)
    assert [step["answer"] for step in told["steps"]] == [f"{name} says {MESSAGES - 1}" for name in steps]
    for branch in list_branches(ctx, run.id):
        kept = list_messages(ctx, run.id, branch.id, limit=10_000)
        assert [text_of(message) for message in kept] == [
            "Speak.", *[f"{branch.name} says {number}" for number in range(MESSAGES)],
        ]  # fmt: skip
    whole = list_messages(ctx, run.id, limit=10_000)
    assert len(whole) == AGENTS * (MESSAGES + 1)
    # A message comes again when more is known of it: the last one of an agent, with what it consumed.
    assert list(dict.fromkeys(message["id"] for message in watcher.seen)) == [message.id for message in whole]
    assert len(watcher.seen) <= len(whole) + AGENTS
