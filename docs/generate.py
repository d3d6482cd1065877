"""Writes the reference pages that the code itself can tell: commands, routes, schema, errors, reasons and vocabularies.

`make generate` runs it; tests/architecture/test_generated_is_current.py fails when a page lags behind.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from docs.cli_page import cli_page
from docs.http_page import http_page, openapi_json

from lionstudio.domain import errors
from lionstudio.domain.reasons import REASON_CODES
from lionstudio.store.migrate import FOLDER as MIGRATIONS

FOLDER = Path(__file__).parent / "reference"
DOMAIN = Path(errors.__file__).parent
DIALECTS = ("sqlite", "postgres")

TABLES: Mapping[str, str] = {
    "schema_meta": "What the database says about itself: application, schema version, id, how far news were forgotten.",
    "message_types": "Message classes by number (R10 to R13). 0 stands for a class nobody named.",
    "messages": "What was said. A message belongs to no branch or session; progressions give it its places.",
    "progression_heads": "One row a progression, with its length. A session and each branch own one (D1).",
    "progression_entries": "Which message stands where in a progression. Positions begin at 1, without gaps.",
    "sessions": "Runs. Facts only: duration, health and severity are derived when read.",
    "session_words": "The words of a session's names, for the word-prefix search of the list.",
    "branches": "Lines of messages within a session; a fork names its parent and how much of it it begins with.",
    "open_calls": "Tool calls that have no result yet, so that a running run can say what it waits for (D5).",
    "exchange": "Deliveries: messages from session to session, numbered in the order of commits (R8).",
    "session_processes": "The processes of a run, with all that is needed to recognise them (D3).",
    "session_evidence": "What the doctor last saw of a run, dated, and its verdict then.",
    "session_usage": "Tokens and cost of a run by model, kept in the transaction of each append.",
    "shows": "Plans of plays. Their prose stays in files.",
    "plays": "Pieces of work of a show, each in its own worktree and branch.",
    "teams": "Named groups whose members write to each other.",
    "team_messages": "What members of a team wrote.",
    "changes": "News: one row says what changed, never its new value. `seq` is the only cursor.",
    "admin_events": "What operators and the doctor did. Append-only, until 30 days and 1,000 newer events have passed.",
    "status_transitions": "How every status came to be. Append-only, for ever.",
}
CONSTRAINTS = ("PRIMARY KEY", "CHECK", "UNIQUE", "FOREIGN KEY")
COLUMN = re.compile(r'"?(\w+)"? (TEXT|REAL|INTEGER|BLOB|bigint|double precision|json|real\[\])(?: (.*))?')


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    rules: str


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    columns: tuple[Column, ...]
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    text: str
    tables: list[Table]
    indexes: list[tuple[str, str, str]]  # name, table, what it holds
    views: list[str]


def read_schema(dialect: str) -> Schema:
    """The schema as all migrations together make it; they only create tables and add columns."""
    text = "\n".join(file.read_text() for file in sorted((Path(MIGRATIONS) / dialect).glob("*.sql")))
    text = re.sub(r"--[^\n]*", "", text)
    tables = [
        _table(match[1], _until_closed(text, match.end())) for match in re.finditer(r"CREATE TABLE (\w+) \(", text)
    ]
    indexes = re.findall(r"CREATE (UNIQUE )?INDEX (\w+) ON (\w+)\s+(\([^;]*)(?=;)", text)
    return Schema(
        text=text,
        tables=[_with_added_columns(table, text) for table in tables],
        indexes=[(name, table, f"{unique}{' '.join(what.split())}") for unique, name, table, what in indexes],
        views=re.findall(r"CREATE VIEW (\w+)", text),
    )


def _until_closed(text: str, start: int) -> str:
    depth = 1
    for at, letter in enumerate(text[start:], start):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[start:at]
    raise ValueError("A parenthesis is not closed.")


def _table(name: str, body: str) -> Table:
    parts = [" ".join(part.split()) for part in _split(body)]
    columns = [_column(part) for part in parts if not part.startswith(CONSTRAINTS)]
    return Table(name, tuple(columns), tuple(part for part in parts if part.startswith(CONSTRAINTS)))


def _with_added_columns(table: Table, text: str) -> Table:
    added = re.findall(rf"ALTER TABLE {table.name} ADD COLUMN ([^;]*);", text)
    return Table(table.name, (*table.columns, *(_column(" ".join(part.split())) for part in added)), table.rules)


def _split(body: str) -> Iterator[str]:
    """The parts of a list between the commas that are in no parentheses."""
    depth, start = 0, 0
    for at, letter in enumerate(body):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            yield body[start:at]
            start = at + 1
    yield body[start:]


def _column(part: str) -> Column:
    match = COLUMN.fullmatch(part)
    if match is None:
        raise ValueError(f"{part!r} is not understood as a column.")
    return Column(match[1], match[2], (match[3] or "").replace('COLLATE "C" ', "").replace('COLLATE "C"', ""))


def schema_page() -> str:
    sqlite, postgres = (read_schema(dialect) for dialect in DIALECTS)
    types = {(table.name, column.name): column.type for table in postgres.tables for column in table.columns}
    lines = [
        "# Schema",
        "",
        "Times are unix seconds in UTC, ids are text. JSON is written with ASCII escapes: any Python string comes back",
        'equal. On PostgreSQL ids and words that are sorted by compare bytes (`COLLATE "C"`), as in SQLite.',
        "",
    ]
    for table in sqlite.tables:
        lines += [f"## {table.name}", "", TABLES[table.name], ""]
        lines += ["| column | SQLite | PostgreSQL | rules |", "|---|---|---|---|"]
        lines += [
            f"| {column.name} | {column.type} | {types[table.name, column.name]} | {_code(column.rules)} |"
            for column in table.columns
        ]
        lines += ["", *(f"- {_code(rule)}" for rule in table.rules)]
        lines += [f"- index {_code(name)} on {_code(what)}" for name, on, what in sqlite.indexes if on == table.name]
        lines += [""] if lines[-1] else []
    lines += ["## Views", ""]
    lines += [f"- {_code(view)}: {VIEWS[view]}" for view in sqlite.views]
    return "\n".join(lines) + "\n"


VIEWS: Mapping[str, str] = {
    "progressions": "`id`, `created_at` and `collection`, the JSON array of a progression's message ids (R14).",
}


def errors_page() -> str:
    families = _families()
    lines = [
        "# Errors",
        "",
        "Every error has a `code` for programs, a message that says what happened, and often a hint that says what to",
        'do next. Over HTTP it is `{"code", "message", "hint"}`. The family decides the HTTP status and the exit code.',
        "",
        "| code | family | HTTP | exit | what it says | hint |",
        "|---|---|---|---|---|---|",
    ]
    for error in _below(errors.Error):
        family = next(base for base in error.__mro__ if issubclass(base, errors.Error) and base.__name__ in families)
        http, leaves = families[family.__name__]
        said = (error.__doc__ or "").strip()
        own = "" if error is family else family.code
        lines.append(f"| `{error.code}` | {own} | {http} | {leaves} | {said} | {error.hint or ''} |")
    return "\n".join(lines) + "\n"


def _families() -> dict[str, tuple[str, str]]:
    """HTTP status and exit code of each family, as the tree in the module's docstring draws them."""
    return {
        name: (http, leaves)
        for name, http, leaves in re.findall(r"── (\w+) .*?(\d{3}), exit (\d)", errors.__doc__ or "")
    }


def _below(parent: type[errors.Error]) -> Iterator[type[errors.Error]]:
    for child in parent.__subclasses__():
        if child.__module__ == errors.__name__:
            yield child
            yield from _below(child)


def reasons_page() -> str:
    lines = [
        "# Reasons",
        "",
        "Why something is in its state. A code is never renamed: histories keep it for ever. The sentence shown with",
        "it may name the facts of the case.",
        "",
        "| code | when it is given |",
        "|---|---|",
        *(f"| `{code}` | {sentence} |" for code, sentence in REASON_CODES.items()),
    ]
    return "\n".join(lines) + "\n"


def vocabularies_page() -> str:
    lines = [
        "# Vocabularies",
        "",
        "Closed lists of words. Those that are stored are checked by the database as well.",
        "",
    ]
    for path in sorted(DOMAIN.glob("*.py")):
        for name, sentence, words in vocabularies_in(path.read_text()):
            lines += [f"## {name}", "", sentence, "", "| word | meaning |", "|---|---|"]
            lines += [f"| `{word}` | {meaning} |" for word, meaning in words.items()]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def vocabularies_in(code: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Name, sentence and words of every closed vocabulary in a module; a word means what the comment beside it says."""
    source = code.splitlines()
    for node in ast.parse(code).body:
        if not isinstance(node, ast.ClassDef) or not any(ast.unparse(base) == "StrEnum" for base in node.bases):
            continue
        words: dict[str, str] = {}
        for statement in node.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
                line = source[statement.value.lineno - 1]
                words[str(statement.value.value)] = line.partition("  # ")[2]
        yield node.name, ast.get_docstring(node) or "", words


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def pages() -> dict[str, str]:
    """Every generated page by its name in the reference folder."""
    return {
        "cli.md": cli_page(),
        "http.md": http_page(),
        "openapi.json": openapi_json(),
        "schema.md": schema_page(),
        "errors.md": errors_page(),
        "reasons.md": reasons_page(),
        "vocabularies.md": vocabularies_page(),
    }


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text)
