"""Settings: defaults, then config.toml, then the environment, then what a command is told."""

from pathlib import Path

import pytest

from lionstudio.domain.errors import InvalidRequest
from lionstudio.settings import Settings, load_settings


@pytest.fixture
def user_home(tmp_path: Path) -> Path:
    return tmp_path


def load(user_home: Path, *, db: str | None = None, **environ: str) -> Settings:
    return load_settings({"HOME": str(user_home), **environ}, db=db)


def write_config(user_home: Path, text: str) -> None:
    folder = user_home / ".lionagi"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(text, encoding="utf-8")


def test_nothing_needs_to_be_set(user_home: Path) -> None:
    settings = load(user_home)
    assert vars(settings) == vars(
        Settings(
            home_folder=str(user_home / ".lionagi"),
            db=str(user_home / ".lionagi" / "state.db"),
            db_is_default=True,
            shows_folder=str(user_home / "khive-work" / "shows"),
            worktrees_folder=str(user_home / "khive-work" / "worktrees"),
            synchronous="NORMAL",
            token=None,
        )
    )
    assert (settings.spool, settings.backups) == (settings.home / "spool", settings.home / "backups")


def test_everything_can_be_set_in_the_environment(user_home: Path) -> None:
    settings = load(
        user_home,
        LIONAGI_HOME="/lion",
        LIONAGI_DB="postgresql://db/lion",
        LIONAGI_SHOWS_ROOT="/shows",
        LIONAGI_WORKTREES_ROOT="/trees",
        LIONAGI_TOKEN="secret",
        LIONSTUDIO_WEB="/pages",
    )
    assert vars(settings) == vars(
        Settings(
            home_folder="/lion",
            db="postgresql://db/lion",
            db_is_default=False,
            shows_folder="/shows",
            worktrees_folder="/trees",
            web_folder="/pages",
            synchronous="NORMAL",
            token="secret",
        )
    )


def test_the_database_moves_with_the_home(user_home: Path) -> None:
    settings = load(user_home, LIONAGI_HOME="/lion")
    assert (settings.db, settings.db_is_default) == ("/lion/state.db", True)


def test_everything_but_the_token_can_be_set_in_the_file(user_home: Path) -> None:
    write_config(
        user_home,
        """
        db = "/données/état.db"
        shows_root = "/shows"
        worktrees_root = "~/trees"
        synchronous = "full"
        """,
    )
    assert vars(load(user_home)) == vars(
        Settings(
            home_folder=str(user_home / ".lionagi"),
            db="/données/état.db",
            db_is_default=False,
            shows_folder="/shows",
            worktrees_folder=str(user_home / "trees"),
            synchronous="FULL",
            token=None,
        )
    )


def test_the_file_is_read_from_the_home_that_the_environment_names(user_home: Path, tmp_path: Path) -> None:
    write_config(user_home, 'db = "/not/this/one.db"')
    other = tmp_path / "other"
    other.mkdir()
    (other / "config.toml").write_text('db = "/this/one.db"')
    assert load(user_home, LIONAGI_HOME=str(other)).db == "/this/one.db"


@pytest.mark.parametrize(
    ("argument", "variable", "in_file", "expected"),
    [
        pytest.param("/a.db", "/v.db", "/f.db", "/a.db", id="an argument wins over everything"),
        pytest.param(None, "/v.db", "/f.db", "/v.db", id="the environment wins over the file"),
        pytest.param(None, None, "/f.db", "/f.db", id="the file wins over the default"),
        pytest.param(None, "", "/f.db", "/f.db", id="an empty variable counts as unset"),
        pytest.param("", "/v.db", None, "/v.db", id="an empty argument counts as unset"),
    ],
)
def test_who_has_the_last_word(
    user_home: Path, argument: str | None, variable: str | None, in_file: str | None, expected: str
) -> None:
    if in_file is not None:
        write_config(user_home, f'db = "{in_file}"')
    environ = {} if variable is None else {"LIONAGI_DB": variable}
    settings = load(user_home, db=argument, **environ)
    assert (settings.db, settings.db_is_default) == (expected, False)


@pytest.mark.parametrize("name", ["LIONAGI_HOME", "LIONAGI_SHOWS_ROOT", "LIONAGI_WORKTREES_ROOT", "LIONAGI_TOKEN"])
def test_an_empty_variable_counts_as_unset(user_home: Path, name: str) -> None:
    assert vars(load(user_home, **{name: ""})) == vars(load(user_home))


@pytest.mark.parametrize(("written", "beneath"), [("~/lion", "lion"), ("~", "")])
def test_a_tilde_stands_for_the_users_home(user_home: Path, written: str, beneath: str) -> None:
    settings = load(user_home, LIONAGI_HOME=written, LIONAGI_SHOWS_ROOT=written, LIONAGI_WORKTREES_ROOT=written)
    assert settings.home == settings.shows_root == settings.worktrees_root == user_home / beneath


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("db = ", "cannot be read", id="not TOML"),
        pytest.param('synchronous = "sometimes"', "'SOMETIMES'.*not known", id="an unknown word"),
        pytest.param('teams = "cloud"', "'cloud'.*not known", id="an unknown place for teams"),
        pytest.param("synchronous = 1", "synchronous in .* is not text", id="a number for a word"),
        pytest.param('db = ["a", "b"]', "db in .* is not text", id="a list for a path"),
    ],
)
def test_a_file_that_cannot_be_understood_is_an_error_that_names_it(user_home: Path, text: str, complaint: str) -> None:
    write_config(user_home, text)
    with pytest.raises(InvalidRequest, match=complaint) as caught:
        load(user_home)
    assert str(user_home / ".lionagi" / "config.toml") in caught.value.message
    assert caught.value.hint


def test_a_file_that_is_no_text_or_no_file_is_an_error(user_home: Path) -> None:
    write_config(user_home, "")
    file = user_home / ".lionagi" / "config.toml"
    file.write_bytes(b'db = "\xff"')
    with pytest.raises(InvalidRequest, match="cannot be read"):
        load(user_home)
    file.unlink()
    file.mkdir()
    with pytest.raises(InvalidRequest, match="cannot be read"):
        load(user_home)


def test_the_environment_of_this_process_is_the_default(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIONAGI_TOKEN", "secret")
    settings = load_settings()
    assert (settings.home, settings.token) == (home, "secret")


@pytest.mark.parametrize("db", ["mysql://a/b", "sqlite:////tmp/x.db", "postgresql+psycopg://x/y", ":memory:"])
def test_a_place_that_is_neither_a_file_nor_a_server_is_refused(user_home: Path, db: str) -> None:
    with pytest.raises(InvalidRequest, match="not a place") as caught:
        load(user_home, db=db)
    assert "postgresql://" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("text", "teams"), [("", "files"), ('teams = "database"', "database"), ('teams = "Files"', "files")]
)
def test_teams_are_kept_in_files_unless_the_file_says_otherwise(user_home: Path, text: str, teams: str) -> None:
    write_config(user_home, text)
    assert load(user_home).teams == teams
    assert load(user_home).teams_folder == str(user_home / ".lionagi" / "teams")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        pytest.param('team = "database"', "Did you mean teams? The settings there are: db, ", id="mistyped"),
        pytest.param('db = "x.db"\n[colours]\nname = "red"', "The settings there are: db, ", id="a table"),
        pytest.param('token = "secret"', "It is a secret, and is read from LIONAGI_TOKEN only. ", id="the token"),
    ],
)
def test_a_setting_that_there_is_not_is_refused(user_home: Path, text: str, hint: str) -> None:
    write_config(user_home, text)
    with pytest.raises(InvalidRequest, match=r"(team|colours|token) in .*config\.toml is not a setting") as refused:
        load(user_home)
    assert str(refused.value.hint).startswith(hint)
