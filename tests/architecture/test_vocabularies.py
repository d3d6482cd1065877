"""A vocabulary is closed twice, in Python and in the database, and both say the same."""

import re

import pytest
from docs.generate import DIALECTS, Table, read_schema

from lionstudio.domain.audit import EVENT_RETENTION_COUNT, EVENT_RETENTION_SECONDS
from lionstudio.domain.change import Topic
from lionstudio.domain.conversation import SEEDED_CLASSES, MessageKind
from lionstudio.domain.health import Health
from lionstudio.domain.process import ProcessRole, ProcessState
from lionstudio.domain.session import InvocationKind, SessionStatus, SourceKind
from lionstudio.domain.show import PlayStatus, ShowStatus, StatusSource
from lionstudio.domain.team import TeamStatus

VOCABULARIES = {
    "sessions.status": SessionStatus,
    "sessions.invocation_kind": InvocationKind,
    "sessions.source_kind": SourceKind,
    "branches.last_kind": MessageKind,
    "session_processes.role": ProcessRole,
    "session_evidence.process": ProcessState,
    "session_evidence.health": Health,
    "shows.status": ShowStatus,
    "shows.status_source": StatusSource,
    "plays.status": PlayStatus,
    "teams.status": TeamStatus,
    "status_transitions.entity": (Topic.SESSION, Topic.PLAY, Topic.SHOW, Topic.TEAM),
}
WORDS = re.compile(r"CHECK \(\w+ IN \(((?:'[^']*'(?:, )?)+)\)\)")


def lists_in(tables: list[Table]) -> dict[str, list[str]]:
    """The words that each column allows."""
    return {
        f"{table.name}.{column.name}": re.findall(r"'([^']*)'", found[1])
        for table in tables
        for column in table.columns
        if (found := WORDS.search(column.rules))
    }


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_list_of_words_in_the_database_is_the_one_in_python(dialect):
    expected = {column: [word.value for word in vocabulary] for column, vocabulary in VOCABULARIES.items()}
    assert lists_in(read_schema(dialect).tables) == expected


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_seeded_message_classes_have_their_numbers(dialect):
    rows = re.findall(r"\((\d+), '([^']+)'\)", read_schema(dialect).text)
    assert [(int(number), name) for number, name in rows] == list(enumerate(SEEDED_CLASSES))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_database_keeps_events_as_long_as_we_say(dialect):
    text = read_schema(dialect).text
    assert re.findall(r"- (\d+)\n? +AND", text) == [str(EVENT_RETENTION_SECONDS)]
    assert re.findall(r"OFFSET (\d+)", text) == [str(EVENT_RETENTION_COUNT - 1)]
