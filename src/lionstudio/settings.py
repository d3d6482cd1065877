"""Settings: one frozen object, read from the environment and `config.toml` once, at a front door."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from lionstudio.domain.errors import InvalidRequest

SYNCHRONOUS = ("NORMAL", "FULL")  # NORMAL survives any process kill, FULL also a power loss


class Settings(NamedTuple):
    """Where things are and how they are kept."""

    home: Path
    db: str  # a path or a postgresql:// URL
    db_is_default: bool
    shows_root: Path
    worktrees_root: Path
    synchronous: str = "NORMAL"
    token: str | None = None

    @property
    def spool(self) -> Path:
        return self.home / "spool"

    @property
    def backups(self) -> Path:
        return self.home / "backups"


def load_settings(environ: Mapping[str, str] | None = None, *, db: str | None = None) -> Settings:
    """Settings from the environment, else from `config.toml`, else their defaults; `db` overrides both."""
    environ = os.environ if environ is None else environ
    user_home = Path(environ.get("HOME") or "~").expanduser()
    home = _path(environ.get("LIONAGI_HOME"), user_home) or user_home / ".lionagi"
    file = _read_config(home / "config.toml")
    chosen = db or environ.get("LIONAGI_DB") or file.get("db")
    synchronous = str(file.get("synchronous", "NORMAL")).upper()
    if synchronous not in SYNCHRONOUS:
        raise InvalidRequest(
            f"synchronous = {synchronous!r} in {home / 'config.toml'} is not known.", hint="Use normal or full."
        )
    shows = _path(environ.get("LIONAGI_SHOWS_ROOT") or file.get("shows_root"), user_home)
    worktrees = _path(environ.get("LIONAGI_WORKTREES_ROOT") or file.get("worktrees_root"), user_home)
    return Settings(
        home=home,
        db=str(chosen) if chosen else str(home / "state.db"),
        db_is_default=not chosen,
        shows_root=shows or user_home / "khive-work" / "shows",
        worktrees_root=worktrees or user_home / "khive-work" / "worktrees",
        synchronous=synchronous,
        token=environ.get("LIONAGI_TOKEN") or None,
    )


def _path(value: Any, user_home: Path) -> Path | None:
    if not value:
        return None
    text = str(value)
    return user_home / text[2:] if text.startswith("~/") else Path(text)


def _read_config(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    import tomllib  # rarely needed, and every command pays for what is imported above

    try:
        return tomllib.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"{file} cannot be read: {error}.", hint="Mend or remove that file.") from error
