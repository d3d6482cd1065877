"""Bringing past runs in: from run folders, and from lionagi's own database."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from lionstudio.cli.command import Call
from lionstudio.cli.reports import print_outcome, print_report
from lionstudio.importers.report import ImportReport
from lionstudio.services.context import Context


def import_runs(call: Call) -> int:
    """li state import"""
    from lionstudio.importers.run_folders import import_run_folders

    usual = os.path.join(call.settings.home_folder, "runs")
    folder = call.args.folder or usual
    if folder == usual and not os.path.exists(usual):
        call.out.say(f"There is no folder {usual}. If run folders are elsewhere: li state import FOLDER")
        return print_report(call, ImportReport({"run folders": 0, "runs added": 0}))
    with _target(call) as ctx, call.out.progress("Run folders") as step:
        report = import_run_folders(ctx, folder, step=step)
    return print_outcome(call, report)


def import_database(call: Call) -> int:
    """li state import-db"""
    from lionstudio.importers.lionagi_db import import_lionagi_db
    from lionstudio.services.foreign import open_foreign

    file = os.path.abspath(os.path.expanduser(call.args.file))
    # First the file: no database is made for one that cannot be read.
    with open_foreign(file) as source, _target(call, whole=True) as ctx, call.out.progress("Runs") as step:
        report = import_lionagi_db(ctx, source, shows_root=call.settings.shows_folder, step=step)
    return print_outcome(call, report)


@contextmanager
def _target(call: Call, *, whole: bool = False) -> Iterator[Context]:
    """The database to bring things into; for a dry run one that keeps nothing."""
    if not call.args.dry_run:
        yield call.ctx_made
        return
    from lionstudio.services.rehearsal import open_rehearsal

    call.require_place()
    with open_rehearsal(call.settings, whole=whole) as ctx:
        yield ctx
