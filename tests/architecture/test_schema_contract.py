"""The columns and indexes that were asked for, on both databases. More may be there; none of these may be missing."""

import struct
from pathlib import Path

import pytest
from docs.generate import DIALECTS, read_schema

from lionstudio.store.sqlite import SqliteDialect

COLUMNS = {
    "messages": "id created_at node_metadata content embedding sender recipient channel role lion_class",  # R3
    "message_types": "type_id lion_class",  # R10
    "sessions": (
        "id created_at node_metadata name user progression_id first_msg_id last_msg_id updated_at "  # R16 to R18
        "playbook_name agent_name invocation_kind show_topic show_play_name artifacts_path source_kind "  # R19
        "status started_at ended_at last_message_at"  # R88, R128
    ),
    "branches": (
        "id created_at node_metadata user name session_id progression_id system_msg_id "  # R22
        "parent_branch_id forked_at_ord"  # R24
    ),
    "shows": (
        "id topic goal repo base_branch integration_branch status status_source show_dir created_at updated_at"  # R50
    ),
    "plays": (
        "id show_id name playbook effort status attempt session_id started_at ended_at exit_code worktree branch "
        "merge_sha merged_at gate_passed gate_feedback depends_on sort_order created_at updated_at"  # R54
    ),
    "teams": "id name created_at updated_at member_count members node_metadata status",  # R111
    "team_messages": "id team_id created_at sender recipient content summary read_by session_id",  # R113
    "admin_events": "id created_at action target_id details actor",  # R189
    "schema_meta": "key value",  # R45
}
# By the columns they begin with; UNIQUE counts as one.
INDEXES = {
    "shows": ["topic", "status", "updated_at"],  # R53
    "plays": ["show_id", "status", "session_id"],  # R57
    "teams": ["name", "updated_at", "status"],  # R112
    "team_messages": ["team_id", "created_at", "session_id"],  # R114
    "admin_events": ["created_at", "action"],  # R189
}
DERIVED = {"duration", "duration_ms", "health", "effective_health", "severity", "tone"}
NOT_OF_A_SESSION = {"manifest", "cwd", "provider", "model", "pid"}


@pytest.fixture(params=DIALECTS)
def schema(request):
    return read_schema(request.param)


def table(schema, name):
    return next(table for table in schema.tables if table.name == name)


@pytest.mark.parametrize("name", COLUMNS)
def test_a_table_has_the_columns_that_were_asked_for(schema, name):
    assert set(COLUMNS[name].split()) <= {column.name for column in table(schema, name).columns}


@pytest.mark.parametrize("name", INDEXES)
def test_a_table_has_the_indexes_that_were_asked_for(schema, name):
    found = {
        what.removeprefix("UNIQUE ")[1:].split(",")[0].split(")")[0] for _, on, what in schema.indexes if on == name
    }
    found |= {column.name for column in table(schema, name).columns if "UNIQUE" in column.rules}
    assert set(INDEXES[name]) <= found


def test_names_that_must_be_unique_are(schema):
    rules = {column.name: column.rules for column in table(schema, "shows").columns}
    assert "UNIQUE" in rules["topic"]
    assert ("plays", "UNIQUE (show_id, name)") in [(on, what) for _, on, what in schema.indexes]


def test_a_team_message_without_a_run_is_in_no_index_by_run(schema):
    index = next(what for name, _, what in schema.indexes if name == "ix_team_messages__session_id")
    assert index.endswith("WHERE session_id IS NOT NULL")


def test_a_session_stores_nothing_that_is_derived_or_that_belongs_elsewhere(schema):
    found = {column.name for column in table(schema, "sessions").columns}
    assert found & (DERIVED | NOT_OF_A_SESSION) == set()


@pytest.mark.parametrize(
    ("child", "column", "rule"),
    [
        ("branches", "session_id", "REFERENCES sessions (id) ON DELETE CASCADE"),  # R41
        ("plays", "show_id", "REFERENCES shows (id) ON DELETE CASCADE"),  # R58
        ("plays", "session_id", "REFERENCES sessions (id)"),  # R56, R107: no action, so the play keeps its session
        ("team_messages", "team_id", "REFERENCES teams (id) ON DELETE CASCADE"),  # R113
        ("team_messages", "session_id", "REFERENCES sessions (id) ON DELETE SET NULL"),  # D12
        ("sessions", "parent_session_id", "REFERENCES sessions (id) ON DELETE SET NULL"),  # D12
        ("messages", "lion_class", "REFERENCES message_types (type_id)"),  # R10
    ],
)
def test_what_happens_when_the_other_end_is_deleted(schema, child, column, rule):
    rules = {item.name: item.rules for item in table(schema, child).columns}
    assert rules[column].endswith(rule)


@pytest.mark.parametrize("column", ["first_msg_id", "last_msg_id"])
def test_a_bookmark_keeps_no_message_alive(schema, column):
    rules = {item.name: item.rules for item in table(schema, "sessions").columns}
    assert "REFERENCES" not in rules[column]


@pytest.mark.parametrize("name", ["admin_events", "status_transitions"])
def test_history_outlives_what_it_describes(schema, name):
    assert [column.name for column in table(schema, name).columns if "REFERENCES" in column.rules] == []


@pytest.mark.parametrize("column", ["updated_at", "last_message_at", "last_msg_id"])
def test_no_index_holds_a_column_of_a_session_that_every_append_changes(schema, column):
    assert [name for name, on, what in schema.indexes if on == "sessions" and column in what] == []


def test_an_embedding_is_packed_float32_in_sqlite():
    assert SqliteDialect(Path("state.db")).embedding_in([1.5, -2.0]) == struct.pack("<2f", 1.5, -2.0)
    types = {column.name: column.type for column in table(read_schema("sqlite"), "messages").columns}
    assert types["embedding"] == "BLOB"
