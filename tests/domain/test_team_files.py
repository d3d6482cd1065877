"""What a team's file means: lionagi's, older ones, and what stays in them when we write."""

import json
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from lionstudio.domain.errors import InvalidContent
from lionstudio.domain.team import Team, TeamMessage, TeamStatus
from lionstudio.domain.team_entries import time_in, time_text
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


def columns(messages: list[TeamMessage]) -> list[TeamMessage]:
    return [message._replace(node_metadata=None) for message in messages]


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
        read_by=("dev1",), node_metadata={"file": {"read_by": {"dev1": "2026-11-15T19:35:07.362397+00:00"}}},
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
    assert problems_in(file) == ["Its message 4 is not an object; only that message is left out."]


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
    assert columns(messages_in(after)) == columns([*known[:2], known[2]._replace(read_by=("dev1",)), more])
    assert after.fields["messages"][2]["read_by"] == {"dev1": time_text(AT)}
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


def through_rows(file: TeamFile) -> TeamFile:
    """A new file, made of what the database would hold of this one."""
    rows = sorted(messages_in(file), key=lambda row: (row.created_at, row.id))
    return again(with_missing(new_team_file(file.team), rows, at=AT))


def test_what_lionagi_wrote_is_the_same_in_a_new_file():
    for name in ("9b42c6f39b52.json", "signals.json"):
        file = read(name)
        assert through_rows(file).fields == file.fields


def test_a_message_to_several_is_one_again_in_a_new_file_and_knows_who_read_any_of_its_rows():
    file = post(new_team_file(Team("t", "ops", AT, AT, ("ana", "bo", "cy"))), "m", "bo", "cy")
    first, second = messages_in(file)
    told = [first._replace(read_by=("bo",)), second._replace(read_by=("cy",))]
    (message,) = with_missing(new_team_file(file.team), told, at=AT).fields["messages"]
    assert (message["id"], message["to"], message["read_by"]) == ("m", ["bo", "cy"], {"bo": "", "cy": ""})


def test_a_recipient_that_the_file_does_not_know_gets_a_message_of_its_own():
    file = post(new_team_file(Team("t", "ops", AT, AT, ("ana", "bo", "cy"))), "m", "bo", "cy")
    shorter = parse(render_team_file(file).replace('["bo","cy"]', '["bo"]'))
    after = with_missing(shorter, messages_in(file), at=AT)
    assert [(one["id"], one["to"]) for one in after.fields["messages"]] == [("m", ["bo"]), ("m:1", ["cy"])]


def test_exporting_a_copy_of_a_team_doubles_nothing():
    """Its messages have the ids of the other team's with its own behind: those are taken."""
    file = read("9b42c6f39b52.json")
    stored = [row._replace(id=f"{row.id}@{row.team_id}") for row in messages_in(file)]
    assert with_missing(file, stored, at=AT).fields == file.fields
    assert with_missing(new_team_file(file.team), stored, at=AT).fields == file.fields


@pytest.mark.parametrize("at", [AT, -1e9, -1e11, 1e12])
def test_a_time_is_read_as_it_was_written(at):
    assert time_in(time_text(at), 0.0) == at


@pytest.mark.parametrize("said", [-9e15, 5e18, float("inf"), 10**400])
def test_a_time_that_no_calendar_can_show_is_taken_for_none(said):
    assert time_in(said, AT) == AT


NAMES = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=5).filter(str.strip)
MOMENTS = st.datetimes().map(lambda moment: moment.isoformat() + "+00:00")
LIONAGI_MESSAGE = st.fixed_dictionaries(
    {
        "from": NAMES,
        "to": st.lists(NAMES, min_size=1, max_size=3, unique=True),
        "content": st.text(max_size=300),
        "read_by": st.dictionaries(NAMES, MOMENTS, max_size=3) | st.lists(NAMES, max_size=2, unique=True),
        "kind": st.sampled_from(["message", "done", "finished", "wakeup"]) | st.text(max_size=3),
    },
    optional={
        "from_op": st.text(max_size=5),
        "artifacts": st.lists(st.text(max_size=5), max_size=3),
        "summary": VALUES,
        "session_id": VALUES,
        "original": VALUES,
        "file": VALUES,
        "sender": VALUES,
        "text": VALUES,
    },
)


@given(st.lists(LIONAGI_MESSAGE, max_size=5), st.lists(NAMES.filter(lambda n: n not in ("all", "system")), unique=True))
def test_a_file_is_the_same_after_it_went_through_rows(messages, members):
    numbered = [
        {"id": f"m{number}", **message, "timestamp": f"2026-11-15T19:35:{number:02}.314553+00:00"}
        for number, message in enumerate(messages)
    ]
    team = {"id": "t", "name": "ops", "members": members, "created_at": "2026-11-15T19:00:00+00:00", "mode": "chain"}
    file = parse(json.dumps({**team, "messages": numbered}))
    assert through_rows(file).fields == file.fields


def columns_without_times(file):
    """By id: two messages of one microsecond stand in no order."""
    return {row.id: row._replace(created_at=0.0) for row in columns(messages_in(file))}


@given(st.lists(st.dictionaries(KEYS | st.sampled_from(["sender", "recipients", "body", "ts"]), VALUES), max_size=4))
@example([{}, {"ts": 0.0078125}, {}])
def test_whatever_a_file_says_means_the_same_after_it_went_through_rows(messages):
    file = parse(json.dumps({"id": "t", "messages": messages}))
    once = through_rows(file)
    ids = {row.id for row in messages_in(file)}
    assume(all(abs(row.created_at) < 1e11 for row in messages_in(file)))  # later ones are no times, and rounded
    if len(ids) == len(messages_in(file)):  # else there are two of one id, of which a database takes one
        before, after = ({row.id: row for row in columns(messages_in(one))} for one in (file, once))
        times = {id: row.created_at for id, row in before.items()}
        # ISO text has microseconds, which is what a message gets that took over the time of the one before it.
        assert {id: row.created_at for id, row in after.items()} == pytest.approx(times, abs=2e-6)
        assert {id: row._replace(created_at=times[id]) for id, row in after.items()} == before
        assert columns_without_times(through_rows(once)) == columns_without_times(once)
