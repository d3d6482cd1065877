"""The report of an import, for people and for programs."""

from collections.abc import Sequence

from lionstudio.cli.command import Call
from lionstudio.importers.report import UPDATED, ImportReport

MOST_PROBLEMS = 20  # named on a terminal; --json names all


def print_report(
    call: Call, report: ImportReport, *, changes: Sequence[str] | None = None, problem_word: str = "Left out"
) -> int:
    """Say what was brought in and what was not; the exit code: 1 if something was left out.

    `changes` are sentences about each thing; they are for programs, and for a person who asks what would be.
    """
    if call.out.as_json:
        problems = [problem._asdict() for problem in report.problems]
        counts = {name.replace(" ", "_"): count for name, count in report.counts.items()}
        told = {} if changes is None else {"changes": list(changes)}
        notes = {"notes": list(report.notes)} if report.notes else {}
        call.out.json({**counts, **told, "problems": problems, **notes})
    else:
        shown = {name: count for name, count in report.counts.items() if count or not name.endswith(UPDATED)}
        call.out.facts((name, f"{count:,}") for name, count in shown.items())
        for note in report.notes:
            call.out.say(note)
        for problem in report.problems[:MOST_PROBLEMS]:
            call.out.say(f"{problem_word}: {problem.where}: {problem.message}")
        if len(report.problems) > MOST_PROBLEMS:
            call.out.say(f"… and {len(report.problems) - MOST_PROBLEMS:,} more; --json names all of them.")
    return 1 if report.problems else 0


def print_outcome(
    call: Call, report: ImportReport, *, changes: Sequence[str] | None = None, problem_word: str = "Left out"
) -> int:
    """Print a report, and say at its end if nothing is new, or nothing was changed because of --dry-run."""
    code = print_report(call, report, changes=changes, problem_word=problem_word)
    if not report.has_news and not changes:
        call.out.say("Nothing is new.")
    elif call.args.dry_run:
        call.out.say_dry_run()
    return code
