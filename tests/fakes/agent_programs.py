"""Programs that stand in for an agent's own: each prints a stream that a real one printed."""

import json
import shlex
import sys
from pathlib import Path

SAMPLES = Path(__file__).parents[1] / "samples"

# It reads all of its prompt, as the real ones do, and notes what it was called with.
_PROGRAM = """\
#!{python}
import json, os, sys, uuid
called = {{"argv": sys.argv[1:], "stdin": sys.stdin.read(), "cwd": os.getcwd(), "env": dict(os.environ)}}
open({notes!r}, "a").write(json.dumps(called) + "\\n")
for line in open({stream!r}):
    for id in {ids!r}:
        line = line.replace(id, str(uuid.uuid5(uuid.NAMESPACE_OID, id + str(os.getpid()))))
    print(line, end="", flush=True)
print({noise!r}, end="", file=sys.stderr)
sys.exit({exit_code})
"""


def replaying(
    folder: Path, sample: str, *, exit_code: int = 0, noise: str = "", ids: tuple[str, ...] = (), name: str = "agent"
) -> Path:
    """A program in a folder that prints a captured stream, such as `claude/resumed`.

    `ids` are ids of its conversation; each process that prints them prints others, as each real one does.
    """
    path = folder / name
    text = _PROGRAM.format(
        python=sys.executable,
        notes=str(notes_of(path)),
        stream=str(SAMPLES / f"{sample}.jsonl"),
        ids=ids,
        noise=noise,
        exit_code=exit_code,
    )
    path.write_text(text)
    path.chmod(0o755)
    return path


def shell_program(folder: Path, script: str, *, name: str = "agent") -> Path:
    """A program that is a shell script."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def printing(*lines: dict[str, object]) -> str:
    """Shell that prints JSON, one object a line."""
    return "\n".join(f"printf '%s\\n' {shlex.quote(json.dumps(line))}" for line in lines)


def notes_of(program: Path) -> Path:
    return program.with_suffix(".called.jsonl")


def calls_of(program: Path) -> list[dict[str, object]]:
    """What a program was called with, each time: argv, stdin, cwd, env."""
    return [json.loads(line) for line in notes_of(program).read_text().splitlines()]
