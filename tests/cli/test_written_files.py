"""Every command that writes a file treats its place alike."""

from pathlib import Path

import pytest

from lionstudio.services import teams
from lionstudio.services.context import Context
from tests.cli.conftest import Li
from tests.factories import start_run
from tests.services.prune_world import put_session

PRUNE = ("state", "prune", "--keep-n", "0", "--keep-days", "300")
WRITERS = [
    ("state", "backup"),
    ("state", "export", "--output"),
    ("state", "export", "--format", "sqlite", "--output"),
    ("state", "export", "old", "--format", "sqlite", "--output"),
    ("state", "legacy", "--export"),
    ("state", "legacy", "--archive"),
    (*PRUNE, "--archive"),
    ("runs", "export", "old", "--output"),
    ("team", "export", "--output"),
]


@pytest.fixture
def filled(ctx: Context) -> Context:
    """Something for each command to write."""
    start_run(ctx, "runs")
    put_session(ctx, "old", ended_days_ago=400)
    put_session(ctx, "legacy", status=None, ended_days_ago=None, touched_days_ago=60)
    teams.put_team(ctx, "team-1", name="ops", members=["ana"], actor="ana")
    return ctx


@pytest.mark.parametrize("words", WRITERS, ids=" ".join)
def test_a_folder_that_is_not_there_is_not_made(
    li: Li, filled: Context, tmp_path: Path, words: tuple[str, ...]
) -> None:
    folder = tmp_path / "not here" / "nor this"
    place = folder if words[0] == "team" else folder / "file"
    answer = li(*words, str(place))
    assert answer.code == 1
    assert answer.err.splitlines()[-1] == (f"li: The folder {folder} does not exist. Make it with mkdir -p '{folder}'")
    assert not (tmp_path / "not here").exists()
    assert len(li("state", "ls", "--json").objects) == 3  # and nothing was deleted


def test_our_own_folder_of_backups_is_made(li: Li, filled: Context, home: Path) -> None:
    answer = li("state", "backup", "--json")
    assert answer.code == 0
    assert Path(answer.objects[0]["file"]).parent == home / "backups"
