"""The real programs of agents, from the npm registry: `python -m tests.real_agents` installs them beside .venv's own.

Nothing of them is run at installation. Each is a native program in a package of its platform.
"""

import platform
import subprocess
import sys
from pathlib import Path

from hatch_build import find_npm

FOLDER = Path(sys.prefix) / "agents"
VERSIONS = {"claude": "@anthropic-ai/claude-code@2.1.325", "codex": "@openai/codex@0.166.0"}
_PLACES = {
    "claude": "@anthropic-ai/claude-code-{system}-{machine}/claude",
    "codex": "@openai/codex-{system}-{machine}/vendor/*/bin/codex",
}
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def find_program(name: str) -> Path:
    """Where a program is, once it is installed."""
    system, machine = platform.system().lower(), _MACHINES[platform.machine().lower()]
    pattern = _PLACES[name].format(system=system, machine=machine)
    found = next((FOLDER / "node_modules").glob(pattern), None)
    assert found is not None, f"{name} is not there: make test-real installs it"
    return found


def install() -> None:
    """Install what is missing."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = FOLDER / "installed.txt"
    if wanted.is_file() and wanted.read_text() == str(VERSIONS):
        return
    (FOLDER / "package.json").write_text('{"private": true}')
    npm, environment = find_npm()
    options = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error")
    subprocess.run([*npm, "install", *options, *VERSIONS.values()], cwd=FOLDER, env=environment, check=True)
    wanted.write_text(str(VERSIONS))


if __name__ == "__main__":
    install()
