"""The report of an import, for people and for programs."""

from lionstudio.cli.command import Call
from lionstudio.importers.report import ImportReport

MOST_PROBLEMS = 20  # named on a terminal; --json names all


def print_report(call: Call, report: ImportReport) -> int:
    """Say what was brought in and what was not; the exit code: 1 if something was left out."""
    if call.out.as_json:
        problems = [problem._asdict() for problem in report.problems]
        call.out.json(
            {**{name.replace(" ", "_"): count for name, count in report.counts.items()}, "problems": problems}
        )
    else:
        call.out.facts((name, f"{count:,}") for name, count in report.counts.items())
        for problem in report.problems[:MOST_PROBLEMS]:
            call.out.say(f"Left out: {problem.where}: {problem.message}")
        if len(report.problems) > MOST_PROBLEMS:
            call.out.say(f"… and {len(report.problems) - MOST_PROBLEMS:,} more; --json names all of them.")
    return 1 if report.problems else 0
