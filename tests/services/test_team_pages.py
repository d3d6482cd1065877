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
