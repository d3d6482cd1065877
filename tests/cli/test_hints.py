"""What to type next: for the database that was named, and without its password."""

import shlex
from pathlib import Path

import pytest

from lionstudio.cli.hints import find_database, name_database
from lionstudio.domain.addresses import without_password
from lionstudio.services.context import Context
from tests.cli.conftest import Li, run_li
from tests.factories import start_run


@pytest.mark.parametrize(
    ("hint", "named"),
    [
        ("More: li runs ls --cursor 5", "More: li --db /a/x.db runs ls --cursor 5"),
        ("li team list, li team show", "li --db /a/x.db team list, li --db /a/x.db team show"),
        ("To look: li state ls --db /b.db", "To look: li state ls --db /b.db"),
        ("li play audit mode=dry", "li --db /a/x.db play audit mode=dry"),
        ("Type: li runs ls --help", "Type: li runs ls --help"),
        ("Ask Karoli runs it", "Ask Karoli runs it"),
    ],
)  # fmt: skip
def test_every_command_in_a_hint_names_the_database(hint: str, named: str) -> None:
    assert name_database(hint, "/a/x.db") == named
    assert name_database(hint, None) == hint


def test_a_database_is_named_from_everywhere_and_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert shlex.split(name_database("li state ls", "my file.db")) == [
        "li", "--db", str(tmp_path / "my file.db"), "state", "ls",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://me:s3cret@host:5432/name", "postgresql://me@host:5432/name"),
        ("postgresql://me:s3c@ret@host/name", "postgresql://me@host/name"),
        ("postgresql://me:s3?cret@host/name?sslmode=require", "postgresql://me@host/name?sslmode=require"),
        ("postgresql://host/name?user=me&password=s3cret&sslmode=require", "postgresql://host/name?user=me&sslmode=require"),
        ("postgresql:///name?host=/tmp&Password=s3cret", "postgresql:///name?host=/tmp"),
        ("postgresql://host:5432/name?application_name=a@b", "postgresql://host:5432/name?application_name=a@b"),
        ("postgresql://me:s3/cret@host/name", "postgresql://…"),
    ],
)  # fmt: skip
def test_an_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert without_password(address) == shown


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--db", "x.db", "runs", "ls"], "x.db"),
        (["runs", "ls", "--db=x.db"], "x.db"),
        (["--db", "x.db", "runs", "ls", "--db", "y.db"], "y.db"),
        (["team", "send", "--", "--db", "x.db"], None),
        (["runs", "ls", "--db"], None),
    ],
)
def test_the_database_that_was_typed_is_found(words: list[str], found: str | None) -> None:
    assert find_database(words) == found


def test_the_next_page_is_of_the_same_database_without_its_password(
    li: Li, location: str, ctx: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        start_run(ctx, f"run-{number}")
    monkeypatch.setenv("LIONAGI_DB", "/nowhere/at/all.db")
    typed = location if "://" not in location else f"{location}{'&' if '?' in location else '?'}password=s3cret"
    answer = li("--db", typed, "runs", "ls", "--limit", "2")
    assert "s3cret" not in answer.out + answer.err
    following = li(*shlex.split(answer.err.partition("More: li ")[2]))
    assert (following.code, "run-0" in following.out) == (0, True)


def test_an_error_says_what_to_type_for_the_same_database(tmp_path: Path, home: Path) -> None:
    answer = run_li("runs", "ls", "--db", str(tmp_path / "none.db"))
    assert f"li --db {tmp_path / 'none.db'} state import" in answer.err
