"""Shows on disk and in the database, as tests of the server need them."""

import json
from pathlib import Path
from typing import Any

from lionstudio.domain.show import Play, Show
from lionstudio.services import shows
from lionstudio.services.context import Context

WHO = "director"
PLAN = "# Ledger\n\n## Goal\n\nSplit the ledger.\n\n## Plays\n\n**schema**\n- Intent: tables\n"


def make_folder(root: Path, topic: str, *, plan: str | None = PLAN) -> Path:
    """The folder of a show."""
    folder = root / topic
    folder.mkdir(parents=True)
    if plan is not None:
        (folder / "_show.md").write_text(plan)
    return folder


def make_play_folder(show: Path, name: str, **files: Any) -> Path:
    """The folder of a play: `meta` and `verdict` are JSON, the others are text."""
    folder = show / name
    folder.mkdir()
    for kind, said in files.items():
        if kind in ("meta", "verdict"):
            (folder / f"_{kind}.json").write_text(json.dumps(said))
        else:
            (folder / f"_{kind}.md").write_text(said)
    return folder


def put_show(ctx: Context, topic: str = "ledger", root: Path = Path("/nowhere"), **facts: Any) -> Show:
    return shows.put_show(ctx, topic, actor=WHO, **{"show_dir": str(root / topic), **facts})


def put_play(ctx: Context, name: str = "schema", topic: str = "ledger", **facts: Any) -> Play:
    return shows.put_play(ctx, topic, name, actor=WHO, **facts)
