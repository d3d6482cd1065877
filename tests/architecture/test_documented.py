"""What a user can meet is written down: commands, tables, settings, error codes, reasons and every word there is."""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from docs.generate import DIALECTS, read_schema, vocabularies_in

from lionstudio import settings
from lionstudio.cli.commands import GROUPS, find_commands
from lionstudio.domain import errors
from lionstudio.domain.reasons import REASON_CODES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCE = ROOT / "src" / "lionstudio"
VARIABLE = re.compile(r"LIONAGI_[A-Z_]+")


@cache
def page(name: str) -> str:
    return (DOCS / name).read_text()


def constants(path: Path) -> Iterator[str]:
    nodes = ast.walk(ast.parse(path.read_text()))
    return (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


def variables() -> list[str]:
    """Every environment variable that the program names."""
    found = (text for path in SOURCE.rglob("*.py") for text in constants(path) if VARIABLE.fullmatch(text))
    return sorted(set(found))


def config_keys() -> list[str]:
    """Every key of config.toml that is read."""
    return sorted(set(re.findall(r'file\.get\("(\w+)"', inspect.getsource(settings))))


def error_codes() -> list[str]:
    classes = [member for member in vars(errors).values() if inspect.isclass(member)]
    return sorted(
        {member.code for member in classes if issubclass(member, errors.Error) and member is not errors.Error}
    )


def words() -> list[tuple[str, str]]:
    return [
        (name, word)
        for path in sorted((SOURCE / "domain").glob("*.py"))
        for name, _, vocabulary in vocabularies_in(path.read_text())
        for word in vocabulary
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_table_and_view_is_documented(dialect):
    schema = read_schema(dialect)
    documented = re.findall(r"(?m)^## (\w+)$", page("reference/schema.md"))
    assert [table.name for table in schema.tables] == [name for name in documented if name != "Views"]
    assert [view for view in schema.views if f"- `{view}`" not in page("reference/schema.md")] == []


@pytest.mark.parametrize(
    "command", [c for group in GROUPS for c in find_commands(group).values()], ids=lambda command: command.words
)
def test_every_command_is_documented_with_all_it_takes(command):
    section = page("reference/cli.md").partition(f"\n### {command.words}\n")[2].partition("\n##")[0]
    assert command.summary in section
    names = [name for option in command.options for name in option.names if name.startswith("-") and name != "--db"]
    assert [name for name in names if f"`{name}" not in section] == []


def test_no_command_is_documented_that_does_not_exist():
    documented = re.findall(r"(?m)^### (li .+)$", page("reference/cli.md"))
    assert documented == [command.words for group in GROUPS for command in find_commands(group).values()]


def test_both_databases_have_the_same_tables_and_columns():
    sqlite, postgres = (read_schema(dialect) for dialect in DIALECTS)

    def names(schema):
        return {table.name: [column.name for column in table.columns] for table in schema.tables}

    assert names(sqlite) == names(postgres)
    assert sqlite.indexes == postgres.indexes
    assert sqlite.views == postgres.views


@pytest.mark.parametrize("variable", variables())
def test_every_environment_variable_is_documented(variable):
    assert f"`{variable}`" in page("reference/settings.md")


@pytest.mark.parametrize("key", config_keys())
def test_every_key_of_the_settings_file_is_documented(key):
    assert f"`{key}`" in page("reference/settings.md")


def test_no_setting_is_documented_that_does_not_exist():
    assert set(VARIABLE.findall(page("reference/settings.md"))) <= set(variables())


@pytest.mark.parametrize("code", error_codes())
def test_every_error_code_is_documented(code):
    assert f"| `{code}` |" in page("reference/errors.md")


def test_every_error_has_a_code_of_its_own():
    own = [member for member in vars(errors).values() if inspect.isclass(member) and issubclass(member, errors.Error)]
    assert len({member.code for member in own}) == len(own)


@pytest.mark.parametrize("code", REASON_CODES)
def test_every_reason_is_documented(code):
    assert f"| `{code}` |" in page("reference/reasons.md")


@pytest.mark.parametrize(("vocabulary", "word"), words())
def test_every_word_of_a_vocabulary_is_documented(vocabulary, word):
    section = page("reference/vocabularies.md").partition(f"## {vocabulary}\n")[2].partition("\n## ")[0]
    assert f"| `{word}` |" in section


def test_a_concept_has_one_entry_in_the_glossary():
    concepts = re.findall(r"(?m)^\*\*([^*]+)\*\*", page("glossary.md"))
    assert concepts
    assert len(concepts) == len({concept.lower() for concept in concepts})


LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


@pytest.mark.parametrize(
    "path", [*DOCS.rglob("*.md"), *ROOT.glob("*.md")], ids=lambda path: str(path.relative_to(ROOT))
)
def test_links_between_pages_lead_somewhere(path):
    assert [link for link in LINK.findall(path.read_text()) if not (path.parent / link).exists()] == []
