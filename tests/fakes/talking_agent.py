"""A program that stands in for Claude Code and keeps a conversation: it says in which one it was asked, and what."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.fakes.agent_programs import notes_of

# Its answer counts what it was asked in the conversation so far, which it keeps in a file, as the real one does.
_PROGRAM = """\
#!{python}
import json, os, pathlib, sys, time, uuid
argv, prompt = sys.argv[1:], sys.stdin.read()
called = {{"argv": argv, "stdin": prompt, "cwd": os.getcwd(), "env": dict(os.environ)}}
open({notes!r}, "a").write(json.dumps(called) + "\\n")
known = argv[argv.index("--resume") + 1] if "--resume" in argv else None
kept = pathlib.Path({folder!r})
asked = json.loads((kept / known).read_text()) if known else []
native = str(uuid.uuid4()) if known is None or "--fork-session" in argv else known
(kept / native).write_text(json.dumps([*asked, prompt]))
last = prompt.splitlines()[-1]
known_answers = json.loads({answers!r})
text = known_answers.get(last) or f"You asked {{len(asked) + 1}} times, last: {{last}}"
usage = {{"input_tokens": 10, "output_tokens": 5}}
message = {{"id": f"msg_{{uuid.uuid4().hex}}", "model": "claude-fake", "role": "assistant", "usage": usage}}
def say(**line):
    print(json.dumps({{"session_id": native, "uuid": str(uuid.uuid4()), **line}}), flush=True)
say(type="system", subtype="init", model="claude-fake", tools=["Bash"], cwd=os.getcwd())
if last in known_answers:
    id = f"toolu_{{uuid.uuid4().hex}}"
    call = {{"type": "tool_use", "id": id, "name": "Bash", "input": {{"command": "pytest -q"}}}}
    result = {{"type": "tool_result", "tool_use_id": id, "content": "1 failed, 41 passed", "is_error": True}}
    say(type="assistant", message={{**message, "id": message["id"] + "a", "content": [call]}})
    say(type="user", message={{"role": "user", "content": [result]}})
say(type="assistant", message={{**message, "content": [{{"type": "text", "text": text}}]}})
if "wait" in last:
    time.sleep(60)
say(type="result", subtype="success", is_error=False, result=text, num_turns=1, usage=usage, total_cost_usd=0.01)
"""


def talking_claude(folder: Path, *, name: str = "claude", answers: Mapping[str, str] | None = None) -> Path:
    """A program in a folder that answers whatever it is asked; `calls_of` says what it was called with.

    Asked something that it has an answer for, it looks into it first, with a tool.
    """
    path, kept = folder / name, folder / f"{name}.conversations"
    kept.mkdir(parents=True)
    values = {"notes": str(notes_of(path)), "folder": str(kept), "answers": json.dumps(dict(answers or {}))}
    path.write_text(_PROGRAM.format(python=sys.executable, **values))
    path.chmod(0o755)
    return path
