"""Which files a run touched, as far as its tool calls say."""

from typing import Any

import pytest

from lionstudio.domain.conversation import ACTION_REQUEST_CLASS, ACTION_RESPONSE_CLASS, Message
from lionstudio.domain.files_touched import PATH_LENGTH, FileTouched, HowTouched, list_files_touched

READ, WRITTEN = HowTouched.READ, HowTouched.WRITTEN


def call(tool: Any, arguments: Any, at: float = 1.0, id: str = "m") -> Message:
    return Message(id, at, "action", {"function": tool, "arguments": arguments}, ACTION_REQUEST_CLASS)


@pytest.mark.parametrize(
    ("tool", "how"),
    [
        ("Read", READ),
        ("bash", READ),
        ("Write", WRITTEN),
        ("MultiEdit", WRITTEN),
        ("NotebookEdit", WRITTEN),
        ("apply_patch", WRITTEN),
        ("str_replace_based_edit_tool", WRITTEN),
        ("fs.CREATE_FILE", WRITTEN),
        ("delete_file", WRITTEN),
        ("rename", WRITTEN),
        (None, READ),
        (7, READ),
    ],
)
def test_the_name_of_the_tool_says_what_was_done(tool: Any, how: HowTouched) -> None:
    assert [file.how for file in list_files_touched([call(tool, {"path": "a.py"})])] == [how]


@pytest.mark.parametrize("key", ["file_path", "notebook_path", "path", "filename", "file"])
def test_a_path_is_known_by_the_name_of_its_argument(key: str) -> None:
    assert list_files_touched([call("Read", {key: "src/a.py"})]) == [FileTouched("src/a.py", READ, 1, 1.0, "m")]


@pytest.mark.parametrize(
    "arguments",
    [
        None,
        [],
        "a.py",
        {},
        {"cmd": "cat a.py"},
        {"path": ""},
        {"path": 7},
        {"path": ["a.py"]},
        {"path": "src/"},
        {"path": "two\nlines"},
        {"path": "x" * (PATH_LENGTH + 1)},
    ],
)
def test_what_names_no_file_touches_none(arguments: Any) -> None:
    assert list_files_touched([call("Write", arguments)]) == []


@pytest.mark.parametrize("tool", ["Grep", "grep_search", "LS", "list_directory", "Glob", "fs.findFiles", "web_search"])
def test_looking_for_files_touches_none(tool: str) -> None:
    assert list_files_touched([call(tool, {"path": "src"})]) == []


@pytest.mark.parametrize("tool", ["false_reader", "readlist", "dispatch", "find_and_replace"])
def test_a_tool_that_is_called_almost_like_a_search_touches_its_file(tool: str) -> None:
    assert [file.path for file in list_files_touched([call(tool, {"path": "a.py"})])] == ["a.py"]


def test_a_file_that_was_searched_and_read_counts_its_reading() -> None:
    calls = [call("grep", {"path": "a.py"}, 1.0, "m1"), call("Read", {"path": "a.py"}, 2.0, "m2")]
    assert list_files_touched(calls) == [FileTouched("a.py", READ, 1, 2.0, "m2")]


def test_only_calls_count_and_not_their_results() -> None:
    content = {"function": "Write", "arguments": {"path": "a.py"}, "output": "ok", "action_request_id": "c"}
    result = Message("r", 1.0, "action", content, ACTION_RESPONSE_CLASS)
    said = Message("u", 1.0, "user", {"instruction": "Write", "arguments": {"path": "a.py"}})
    assert list_files_touched([result, said]) == []
    assert list_files_touched([Message("s", 1.0, "action", "text", ACTION_REQUEST_CLASS)]) == []


def test_a_file_is_listed_once_with_the_most_that_was_done_to_it_and_its_last_touch() -> None:
    calls = [
        call("Read", {"path": "a"}, 1.0, "m1"),
        call("Write", {"path": "a"}, 2.0, "m2"),
        call("Read", {"path": "a"}, 3.0, "m3"),
    ]
    assert list_files_touched(calls) == [FileTouched("a", WRITTEN, 3, 3.0, "m3")]


def test_written_files_come_first_then_the_latest() -> None:
    calls = [
        call("Read", {"path": "read-late"}, 9.0),
        call("Write", {"path": "b"}, 2.0),
        call("Write", {"path": "written-late"}, 5.0),
        call("Write", {"path": "a"}, 2.0),
        call("Read", {"path": "read-early"}, 1.0),
    ]
    assert [file.path for file in list_files_touched(calls)] == ["written-late", "a", "b", "read-late", "read-early"]


def test_the_first_argument_that_is_a_path_is_the_file() -> None:
    assert [file.path for file in list_files_touched([call("Edit", {"path": "b", "file_path": "a"})])] == ["a"]
    assert [file.path for file in list_files_touched([call("Edit", {"file_path": "", "path": "b"})])] == ["b"]
