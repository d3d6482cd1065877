"""What a team's file means: lionagi's, older ones, and what stays in them when we write."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionstudio.domain.errors import InvalidContent
from lionstudio.domain.team import Team, TeamMessage, TeamStatus
from lionstudio.domain.team_files import (
    TeamFile,
    file_name_of,
    messages_in,
    new_team_file,
    parse_team_file,
    problems_in,
    render_team_file,
    with_members,
    with_message,
    with_missing,
    with_reader,
    with_status,
    with_team,
)

FIXTURES = Path(__file__).parents[1] / "fixtures" / "teams"
AT = 1_790_000_000.25


def parse(text: str, stem: str = "stem") -> TeamFile:
    return parse_team_file(text, stem=stem, modified_at=AT)


def read(name: str) -> TeamFile:
    return parse((FIXTURES / name).read_text(), Path(name).stem)


def again(file: TeamFile) -> TeamFile:
    return parse(render_team_file(file))


def post(file: TeamFile, id: str = "new", *recipients: str, **more: object) -> TeamFile:
    told = {"sender": "ana", "content": "hello", "at": AT, "session_id": None, **more}
    return with_message(file, id=id, recipients=recipients or ("all",), **told)  # type: ignore[arg-type]


def test_a_file_of_lionagi_is_understood():
    file = read("9b42c6f39b52.json")
    assert file.team == Team(
        "9b42c6f39b52", "alpha", 1794771304.433502, 1794771304.433502, members=("lead", "dev1", "dev2")
    )
    first, second, third = messages_in(file)
    assert first == TeamMessage(
        "8ae834dcfd09", "9b42c6f39b52", 1794771305.314553, "lead", "hello dev1, please take the parser", "dev1",
        read_by=("dev1",),
    )  # fmt: skip
    assert (second.recipient, second.summary is not None) == ("all", True)
    assert (third.sender, third.recipient, third.read_by) == ("ghost", "nobody", ())
    assert not file.says_status
    assert problems_in(file) == []


def test_an_older_file_is_understood():
    file = read("old.json")
    assert (file.team.id, file.team.name, file.team.members) == ("old", "harbour", ("ana", "bo"))
    assert (file.team.created_at, file.team.node_metadata) == (1760000000.0, {"mode": "chain"})
    first, second, third, fourth = messages_in(file)
    assert (first.sender, first.recipient, first.content) == ("ana", "bo", "take the parser")
    assert (first.created_at, first.read_by) == (1760000000.0, ("bo",))
    assert (second.recipient, second.content, second.created_at) == ("all", '{"result":7}', 1760000001.0)
    assert [(m.id, m.recipient, m.created_at) for m in (third, fourth)] == [
        ("m3", "ana", 1760000001.0),
        ("m3:1", "cy", 1760000001.0),
    ]
    assert problems_in(file) == ["Its message 4 is not an object."]


def test_a_message_without_an_id_has_the_same_one_each_time():
    file = read("old.json")
    assert messages_in(file)[0].id == messages_in(again(post(file)))[0].id


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("", "empty", id="empty"),
        pytest.param(" \n", "empty", id="blank"),
        pytest.param('{"id": "a", "mess', "not JSON", id="half-written"),
        pytest.param("[1]", "not an object", id="a list"),
        pytest.param('{"x": 1}', "none of a team", id="another program's"),
        pytest.param('{"id": "a", "messages": 3}', "not a list", id="messages that are none"),
        pytest.param("[" * 100_000, "not JSON", id="nested too deeply"),
    ],
)
def test_what_is_no_team_file_is_refused(text, complaint):
    with pytest.raises(InvalidContent, match=complaint):
        parse(text)


def test_what_we_do_not_know_stays():
    before = read("old.json")
    after = again(with_status(with_members(post(before), ["zoe"]), TeamStatus.ARCHIVED, at=AT))
    assert after.fields["mode"] == "chain"
    assert after.fields["messages"][:4] == before.fields["messages"]
    assert (after.team.members, after.team.status) == (("zoe",), TeamStatus.ARCHIVED)


def test_what_we_write_is_what_lionagi_reads():
    file = again(post(new_team_file(Team("t", "ops", AT, AT, ("ana", "bo"))), "m", "bo", content="x" * 201))
    assert set(file.fields) >= {"id", "name", "members", "messages", "created_at"}
    (message,) = file.fields["messages"]
    assert (message["id"], message["from"], message["to"], message["read_by"]) == ("m", "ana", ["bo"], {})
    assert (message["timestamp"], message["kind"]) == ("2026-09-21T14:13:20.250000+00:00", "message")
    assert message["summary"].endswith("…")


def test_to_all_is_a_star_in_the_file():
    file = post(new_team_file(Team("t", "ops", AT, AT)), "m", "bo", "all")
    assert file.fields["messages"][0]["to"] == ["*"]
    assert [message.recipient for message in messages_in(file)] == ["all"]


def test_a_message_knows_its_run():
    (message,) = messages_in(again(post(new_team_file(Team("t", "ops", AT, AT)), session_id="run-1")))
    assert message.session_id == "run-1"


def test_a_reader_is_noted_once_with_the_time_and_those_before_stay():
    file = with_reader(read("old.json"), [messages_in(read("old.json"))[0].id, "m3:1"], "cy", at=AT)
    file = with_reader(file, ["m3"], "cy", at=AT + 1)
    first, second, third, _ = file.fields["messages"]
    assert first["read_by"] == {"bo": "", "cy": "2026-09-21T14:13:20.250000+00:00"}
    assert "read_by" not in second
    assert third["read_by"] == {"cy": "2026-09-21T14:13:20.250000+00:00"}


def test_a_file_gets_what_only_the_database_has():
    file = read("9b42c6f39b52.json")
    known = messages_in(file)
    more = TeamMessage("later", file.team.id, AT, "dev2", "late", "lead", read_by=("lead",), session_id="run-1")
    after = again(with_missing(file, [known[2]._replace(read_by=("dev1",)), more], at=AT))
    assert messages_in(after) == [*known[:2], known[2]._replace(read_by=("dev1",)), more]
    assert with_missing(after, messages_in(after), at=AT + 9).fields == after.fields


def test_a_file_takes_over_what_the_database_says_about_the_team():
    file = read("old.json")
    team = file.team._replace(name="port", members=("zoe",), status=TeamStatus.ARCHIVED, node_metadata={"id": "no"})
    after = again(with_team(file, team)).team
    assert (after.name, after.members, after.status, after.node_metadata) == (
        "port", ("zoe",), TeamStatus.ARCHIVED, {"mode": "chain"},
    )  # fmt: skip


@pytest.mark.parametrize("status", ["paused", 3, None])
def test_a_status_that_is_none_says_nothing(status):
    assert not parse(json.dumps({"id": "t", "status": status})).says_status


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "", ".", "..", "a b", "🦁", "x" * 4000, "a\0b", "\ud800"])
def test_the_file_of_an_odd_id_stays_in_its_folder(name):
    chosen = file_name_of(name)
    assert chosen.isascii()
    assert "/" not in chosen
    assert not chosen.startswith(".")
    assert len(chosen) <= 105
    assert chosen != file_name_of(name + "x")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(["id", "from", "to", "content", "timestamp", "read_by", "summary", "session_id", "other"])


@given(st.dictionaries(st.sampled_from(["name", "members", "status", "created_at", "more"]), VALUES),
       st.lists(VALUES | st.dictionaries(KEYS, VALUES), max_size=4))  # fmt: skip
def test_any_json_object_is_read_and_written_without_loss(team, messages):
    file = parse(json.dumps({"id": "t", **team, "messages": messages}))
    after = again(post(file))
    assert {k: v for k, v in after.fields.items() if k != "messages"} == {"id": "t", **team}
    assert after.fields["messages"][:-1] == messages
    assert messages_in(after)[:-1] == messages_in(file)
