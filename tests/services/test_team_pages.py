"""Pages about teams cost the same number of questions, however much is on them."""

import pytest

from lionstudio.services import team_pages, teams
from lionstudio.services.context import Context
from tests.factories import NOW, start_run
from tests.services.questions import count_questions


def fill(ctx: Context, first: int, beyond: int) -> None:
    for number in range(first, beyond):
        start_run(ctx, f"run-{number}")
        teams.put_team(ctx, f"team-{number}", actor="ana", name=f"n{number}", created_at=NOW - number)
        teams.add_message(ctx, f"team-{number}", sender="ana", content="hello")
        teams.add_message(ctx, "team-0", sender=f"m{number}", content="hello", session_id=f"run-{number}")


def test_a_page_takes_as_many_questions_as_a_row(ctx: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = count_questions(monkeypatch)
    counts: list[int] = []
    for first, beyond in ((0, 1), (1, 9)):
        fill(ctx, first, beyond)
        asked.clear()
        page = team_pages.page_teams(ctx)
        counts.append(len(asked))
        asked.clear()
        detail = team_pages.get_team_detail(ctx, "team-0")
        counts.append(len(asked))
        asked.clear()
        messages = team_pages.page_messages(ctx, "team-0")
        counts.append(len(asked))
    assert counts[:3] == counts[3:]
    assert (len(page.items), len(detail.runs), len(messages.items)) == (9, 9, 10)


def test_a_message_to_several_members_is_sent_once_and_received_by_each(ctx: Context) -> None:
    start_run(ctx, "run-1")
    for team_id, behind in (("t1", ""), ("t2", "@t2")):  # the second one's file began as a copy of the first one's
        teams.put_team(ctx, team_id, actor="ana", name=team_id, members=["ana", "bo", "cy"])
        for id, recipient in (("m", "bo"), ("m:1", "cy"), ("m:12", "ana"), ("other:1", "bo"), ("m:x", "all")):
            teams.add_message(
                ctx, team_id, id=f"{id}{behind}", sender="ana", content="hi", recipient=recipient, session_id="run-1"
            )
        detail = team_pages.get_team_detail(ctx, team_id)
        assert detail.listed.message_count == 3  # m, other:1 and m:x, of which the last two stand alone
        assert {one.name: (one.sent, one.received) for one in detail.members} == {
            "ana": (3, 1),
            "bo": (0, 3),
            "cy": (0, 2),
        }
        assert [run.messages for run in detail.runs] == [3]
    assert [listed.message_count for listed in team_pages.page_teams(ctx).items] == [3, 3]
