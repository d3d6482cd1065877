"""Who may import whom: downwards only, as drawn in docs/architecture.md. A new exception needs an ADR."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "lionstudio"
EVERYWHERE = {"settings", "machine", "version"}  # for every room but domain
WORKERS = {"importers", "recorders", "engines", "director", "doctor"}

# A room, or one module of it, and what it may import beside itself.
MAY_IMPORT: dict[str, set[str]] = {
    "domain": set(),
    "version": set(),
    "machine": {"domain.process"},
    "settings": {"domain"},
    "store": {"domain"} | EVERYWHERE,
    "services": {"domain", "store"} | EVERYWHERE,
    "importers": {"domain", "services"} | EVERYWHERE,
    "recorders": {"domain", "services"} | EVERYWHERE,
    "engines": {"domain", "services", "recorders"} | EVERYWHERE,
    "director": {"domain", "services", "recorders", "engines"} | EVERYWHERE,
    "doctor": {"domain", "services"} | EVERYWHERE,
    "server": {"domain", "services"} | WORKERS | EVERYWHERE,
    "cli": {"domain", "services"} | WORKERS | EVERYWHERE,
    "cli.serve": {"domain", "services", "cli", "server"} | WORKERS | EVERYWHERE,
    "reader": {"domain", "services", "recorders"} | EVERYWHERE,  # the front door for Python
    "__init__": {"domain", "services", "recorders", "reader"} | EVERYWHERE,  # the public SDK
    "__main__": {"cli"},
}
# Packages that only some rooms may know. `sqlite3` is a second SQLite library: in one process with ours it would
# cancel the locks of a file that both have open.
ONLY_IN: dict[str, set[str]] = {
    **{name: {"store"} for name in ("apsw", "psycopg", "sqlite_vec")},
    **{name: {"server", "cli.serve"} for name in ("fastapi", "starlette", "uvicorn", "pydantic")},
    # An extra: whoever has not installed it must not notice.
    "lionagi": {
        *(f"recorders.lionagi{part}" for part in ("", "_hooks", "_objects")),
        *(f"engines.lionagi{part}" for part in ("", "_branch")),
    },
    "sqlite3": set(),
}
# Domain is pure: what these give comes in as an argument.
IMPURE = {"os", "pathlib", "random", "secrets", "select", "socket", "subprocess", "sys", "threading", "time", "uuid"}


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def is_within(module: str, room: str) -> bool:
    return module == room or module.startswith(f"{room}.")


def imports_in(module: str, code: str) -> Iterator[str]:
    """Every name that is imported anywhere in the code, written out in full."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            here = ["lionstudio", *module.split(".")]
            base = (
                ".".join([*here[: len(here) - node.level], *filter(None, [node.module])]) if node.level else node.module
            )
            yield from (f"{base}.{alias.name}" for alias in node.names)


def objections(module: str, code: str) -> list[str]:
    """What stands against the imports of a module."""
    room = max((room for room in MAY_IMPORT if is_within(module, room)), key=len, default=None)
    if room is None:
        return [f"{module} is in no room"]
    found = []
    for name in imports_in(module, code):
        package, _, target = name.partition(".")
        if package == "lionstudio":
            allowed = any(is_within(target, other) for other in (room, *MAY_IMPORT[room]))
        elif room == "domain":
            allowed = package in sys.stdlib_module_names and package not in IMPURE
        else:
            allowed = any(is_within(module, other) for other in ONLY_IN.get(package, {room}))
        if not allowed:
            found.append(f"{module} imports {name}")
    return found


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=module_of)
def test_a_module_imports_only_what_its_room_may_know(path):
    assert objections(module_of(path), path.read_text()) == []


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("domain.health", "from lionstudio import store"),
        ("domain.health", "from lionstudio.settings import Settings"),
        ("domain.health", "import psycopg"),
        ("domain.health", "import time"),
        ("domain.health", "from .. import machine"),
        ("machine", "from lionstudio.domain.health import Health"),
        ("store.sessions", "import lionstudio.server.app"),
        (
            "store.sessions",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lionstudio.services import x",
        ),
        ("services.sessions", "def f():\n    from lionstudio.recorders.recorder import Run"),
        ("services.sessions", "import apsw"),
        ("recorders.recorder", "from lionstudio.store.transaction import Tx"),
        ("recorders.recorder", "from ..store import database"),
        ("engines.claude", "from lionstudio.director.plan import Plan"),
        ("server.app", "from lionstudio.store import sessions"),
        ("server.app", "from lionstudio.cli.main import main"),
        ("cli.runs", "from lionstudio.server.app import create_app"),
        ("cli.runs", "import pydantic"),
        ("store.sqlite", "import sqlite3"),
        ("helpers", "import os"),
    ],
)
def test_an_import_against_the_rule_is_found(module, code):
    assert len(objections(module, code)) == 1


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("domain.health", "from lionstudio.domain.session import Session\nimport math"),
        ("machine", "from lionstudio.domain.process import Place"),
        ("store.sqlite", "import apsw\nfrom lionstudio import machine"),
        ("director.plan", "from lionstudio.engines.claude import run"),
        ("cli.serve", "from lionstudio.server.app import create_app"),
    ],
)
def test_an_import_that_goes_downwards_is_allowed(module, code):
    assert objections(module, code) == []
