"""What is counted for each member of a team."""

from lionstudio.domain.team import Team, TeamMessage, is_for
from lionstudio.domain.team_list import Member, Written, derive_members

TEAM = Team("team-1", "ledger", 0.0, 0.0, ("ana", "ben", "cy"))


def test_a_team_in_which_nothing_was_written_has_its_members() -> None:
    assert derive_members(TEAM, []) == (Member("ana", True), Member("ben", True), Member("cy", True))


def test_everyone_is_counted_as_their_inbox_counts() -> None:
    written = [
        Written("ana", "all", ("ben",), 2, 10.0, 2),
        Written("ana", "all", ("ana", "ben", "cy"), 1, 11.0, 1),
        Written("ana", "ben", (), 3, 12.0, 3),
        Written("ben", "ana", ("ana",), 4, 9.0, 4),
        Written("ben", "all", (), 1, 8.0, 1),
        Written("gone", "cy", ("cy",), 1, 7.0, 1),
        Written("system", "all", ("ana",), 1, 6.0, 1),
        Written("ana", "old", (), 1, 5.0, 1),
    ]
    found = {member.name: member for member in derive_members(TEAM, written)}
    assert list(found) == ["ana", "ben", "cy", "gone", "system", "old"]
    for name in TEAM.members:
        inbox = [one for one in written if is_for(TeamMessage("", "", 0.0, one.sender, "", one.recipient), name)]
        assert found[name].received == sum(one.times for one in inbox)
        assert found[name].unread == sum(one.times for one in inbox if name not in one.read_by)
    assert found["ana"] == Member("ana", True, sent=7, received=6, unread=1, last_at=12.0)
    assert found["gone"] == Member("gone", False, sent=1, last_at=7.0)
    assert found["old"] == Member("old", False, received=1, unread=1)
