"""Settings: one frozen object, read from the environment and `config.toml` once, at a front door."""

from __future__ import annotations

import os

from lionstudio.domain.errors import InvalidRequest

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

TEXTS = ("db", "shows_root", "worktrees_root", "synchronous", "teams")  # what config.toml may say
PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "web")  # where the build puts the pages of the studio
URL_SCHEMES = ("postgresql://", "postgres://")
SYNCHRONOUS = ("NORMAL", "FULL")  # NORMAL survives any process kill, FULL also a power loss
TEAMS = ("files", "database")  # the primary store of teams: files that lionagi shares, or the database only


class Settings:
    """Where things are and how they are kept. Folders are text here and paths where they are asked for."""

    def __init__(
        self,
        *,
        home_folder: str,
        db: str,
        db_is_default: bool,
        shows_folder: str,
        worktrees_folder: str,
        web_folder: str = PAGES,
        synchronous: str = "NORMAL",
        teams: str = "files",
        token: str | None = None,
    ) -> None:
        self.home_folder = home_folder
        self.db = db  # a path or a postgresql:// URL
        self.db_is_default = db_is_default
        self.shows_folder = shows_folder
        self.worktrees_folder = worktrees_folder
        self.web_folder = web_folder
        self.synchronous = synchronous
        self.teams = teams
        self.token = token

    @property
    def missing_folder(self) -> str | None:
        """The folder that the database needs, where it is not there. Only our own home is made for a database."""
        folder = os.path.dirname(self.db)
        return None if "://" in self.db or folder == self.home_folder or os.path.isdir(folder) else folder

    @property
    def home(self) -> Path:
        return _path(self.home_folder)

    @property
    def spool(self) -> Path:
        return self.home / "spool"

    @property
    def backups(self) -> Path:
        return self.home / "backups"

    @property
    def teams_folder(self) -> str:
        return os.path.join(self.home_folder, "teams")

    @property
    def shows_root(self) -> Path:
        return _path(self.shows_folder)

    @property
    def worktrees_root(self) -> Path:
        return _path(self.worktrees_folder)


def load_settings(environ: Mapping[str, str] | None = None, *, db: str | os.PathLike[str] | None = None) -> Settings:
    """Settings from the environment, else from `config.toml`, else their defaults; `db` overrides both."""
    environ = os.environ if environ is None else environ
    user_home = environ.get("HOME") or os.path.expanduser("~")
    chosen_home = _folder(environ.get("LIONAGI_HOME"), user_home)
    home = _absolute(chosen_home or os.path.join(user_home, ".lionagi"), "LIONAGI_HOME")
    config = os.path.join(home, "config.toml")
    file = _read_config(config)
    chosen = path_text("db", db) or environ.get("LIONAGI_DB") or file.get("db")
    synchronous = str(file.get("synchronous", "NORMAL")).upper()
    if synchronous not in SYNCHRONOUS:
        raise InvalidRequest(f"synchronous = {synchronous!r} in {config} is not known.", hint="Use normal or full.")
    teams = str(file.get("teams", "files")).lower()
    if teams not in TEAMS:
        raise InvalidRequest(f"teams = {teams!r} in {config} is not known.", hint="Use files or database.")
    shows = _folder(environ.get("LIONAGI_SHOWS_ROOT") or file.get("shows_root"), user_home)
    worktrees = _folder(environ.get("LIONAGI_WORKTREES_ROOT") or file.get("worktrees_root"), user_home)
    return Settings(
        home_folder=home,
        db=_location(str(chosen), user_home) if chosen else os.path.join(home, "state.db"),
        db_is_default=not chosen,
        shows_folder=shows or os.path.join(user_home, "khive-work", "shows"),
        worktrees_folder=worktrees or os.path.join(user_home, "khive-work", "worktrees"),
        web_folder=_folder(environ.get("LIONSTUDIO_WEB"), user_home) or PAGES,
        synchronous=synchronous,
        teams=teams,
        token=environ.get("LIONAGI_TOKEN") or None,
    )


def path_text(name: str, path: Any) -> str | None:
    """A path as text; raises InvalidRequest for what is none."""
    if path is None or isinstance(path, str):
        return path
    text = os.fspath(path) if isinstance(path, os.PathLike) else None
    if not isinstance(text, str):
        raise InvalidRequest(f"The {name} must be a path, not {type(path).__name__}.", hint="Use text or a Path.")
    return text


def _folder(value: Any, user_home: str) -> str | None:
    if not value:
        return None
    text = str(value)
    return os.path.join(user_home, text[2:]) if text == "~" or text.startswith("~/") else text


def _location(db: str, user_home: str) -> str:
    """A URL, or the same file wherever the process goes later."""
    if ("://" in db and not db.startswith(URL_SCHEMES)) or db == ":memory:" or not _can_be_named(db):
        raise InvalidRequest(
            f"{db.rsplit('@', 1)[-1]!r} is not a place for a database.",
            hint="Use a file path, or postgresql://host/name.",
        )
    return db if "://" in db else _absolute(_folder(db, user_home) or db, "The database")


def _absolute(path: str, what: str) -> str:
    try:
        return os.path.abspath(path)
    except FileNotFoundError:
        raise InvalidRequest(
            f"{what} {path!r} is a path from the working directory, which was deleted.",
            hint="Go to a folder that exists: cd. Or give the whole path, from / on.",
        ) from None


def _can_be_named(db: str) -> bool:
    """Whether the operating system has a name for it: one without NUL and half characters."""
    try:
        return b"\0" not in db.encode()
    except UnicodeEncodeError:
        return False


def _path(folder: str) -> Path:
    from pathlib import Path  # a tenth of what opening a database may take, and opening does not need it

    return Path(folder)


def _read_config(file: str) -> dict[str, Any]:
    if not os.access(file, os.F_OK):
        return {}
    import tomllib  # rarely needed, and every command pays for what is imported above

    try:
        with open(file, "rb") as stream:
            found = tomllib.load(stream)
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"{file} cannot be read: {error}.", hint="Mend or remove that file.") from error
    for name in found:
        if name not in TEXTS:
            raise _unknown_setting(name, file)
    for name in TEXTS:
        if not isinstance(found.get(name, ""), str):
            raise InvalidRequest(f"{name} in {file} is not text.", hint=f'Write it in quotes: {name} = "…"')
    return found


def _unknown_setting(name: str, file: str) -> InvalidRequest:
    """What is mistyped and passed over would be believed to hold."""
    from difflib import get_close_matches

    near = get_close_matches(name, TEXTS, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    if name == "token":
        meant = "It is a secret, and is read from LIONAGI_TOKEN only. "
    return InvalidRequest(
        f"{name} in {file} is not a setting.", hint=f"{meant}The settings there are: {', '.join(TEXTS)}."
    )
