"""Pages of shows and plays cost the same number of questions, however much is on them."""

import os
from pathlib import Path

import pytest

from lionstudio.services import show_list, show_pages
from lionstudio.services.context import Context
from tests.factories import start_run
from tests.server.show_world import PLAN, make_folder, make_play_folder, put_play, put_show
from tests.services.questions import count_questions


def fill(ctx: Context, topics: str) -> None:
    for topic in topics:
        put_show(ctx, topic)
        put_show(ctx, f"{topic}-aborted", status="aborted")
        for number in range(3):
            start_run(ctx, f"{topic}-{number}")
            put_play(ctx, f"p{number}", topic, status="running", session_id=f"{topic}-{number}")


def test_a_page_takes_as_many_questions_as_a_row(ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = count_questions(monkeypatch)
    counts: list[int] = []
    for topics in ("a", "bcdefg"):
        fill(ctx, topics)
        for topic in topics:
            make_folder(tmp_path, f"{topic}-on-disk")
        asked.clear()
        page = show_list.page_shows(ctx, str(tmp_path))
        counts.append(len(asked))
        asked.clear()
        plays = show_list.page_plays(ctx, ["running"])
        counts.append(len(asked))
    assert counts[:2] == counts[2:]
    assert (len(page.items), len(plays.items)) == (21, 21)


def test_a_folder_with_very_many_entries_is_looked_at_only_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(show_pages, "ENTRIES_LOOKED_AT", 10)
    for number in range(30):
        make_folder(tmp_path, f"show-{number}")
    for number in range(30):
        make_play_folder(tmp_path / "show-0", f"play-{number}", meta={})
    show = show_pages.find_on_disk(str(tmp_path), "show-0")
    assert show is not None
    assert show.show_md == PLAN
    assert [complaint.message for complaint in show.complaints] == ["Only 10 of its entries were looked at."]


def test_every_show_on_disk_is_on_some_page(ctx: Context, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(show_pages, "ENTRIES_LOOKED_AT", 10)
    wanted = [make_folder(tmp_path, f"show-{number:03}").name for number in range(230)]
    found: list[str] = []
    cursor: str | None = None
    while True:
        page = show_list.page_shows(ctx, str(tmp_path), cursor=cursor, limit=50)
        found += [item.topic for item in page.items if isinstance(item, show_pages.FolderSummary)]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == wanted


def test_a_root_that_is_not_there_holds_no_shows(tmp_path: Path) -> None:
    assert list(show_pages.iterate_topics_on_disk(str(tmp_path / "gone"))) == []
    assert show_pages.find_on_disk(str(tmp_path / "gone"), "ledger") is None


def test_a_show_is_told_by_its_plan_or_by_a_play_in_it(tmp_path: Path) -> None:
    make_folder(tmp_path, "planned")
    make_play_folder(make_folder(tmp_path, "played", plan=None), "schema", meta={})
    make_play_folder(tmp_path, "only-a-play", meta={})
    make_folder(tmp_path, "empty", plan=None)
    assert list(show_pages.iterate_topics_on_disk(str(tmp_path))) == ["planned", "played"]


def test_a_huge_plan_costs_a_list_its_goal_and_nothing_else(tmp_path: Path) -> None:
    make_folder(tmp_path, "large", plan=PLAN + "x" * show_pages.LARGEST_IN_LISTS)
    row = show_pages.glance_at_folder(str(tmp_path), "large")
    assert (row.topic, row.goal, row.play_count) == ("large", None, 0)
    assert row.updated_at >= os.stat(tmp_path / "large").st_mtime
