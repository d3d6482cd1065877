"""How Claude Code ended, by its last result and its exit code, either of which may hide the other."""

from collections.abc import Mapping

from lionstudio.engines.engine import Verdict
from lionstudio.engines.json_lines import Fields, text, texts_in

INTERRUPTED = 130
ABORTED = "aborted"  # how the reason begins of what a person or a signal stopped: aborted_tools, aborted_streaming
_WORDS: Mapping[str, str] = {
    "error_max_turns": "It took as many turns as it may.",
    "error_max_budget_usd": "It spent as much as it may.",
    "error_max_structured_output_retries": "Its answer never had the shape that was asked for.",
    "error_during_execution": "It failed while it worked.",
}


def judge(result: Fields | None, exit_code: int, answer: str | None) -> Verdict:
    """The verdict of a stream whose last result was this one."""
    if result is None:
        # Interrupted early it exits with 0 and says nothing. Whatever happened, its work was not done.
        broke_off = exit_code == 0
        sentence = "Claude Code stopped before it had a result." if broke_off else None
        return Verdict(exit_code, broke_off or None, None, sentence, answer)
    if (text(result.get("terminal_reason")) or "").startswith(ABORTED):
        code = INTERRUPTED if exit_code in (0, 1) else exit_code
        return Verdict(code, True, "run.aborted.interrupt", "Claude Code was interrupted.", answer)
    subtype = text(result.get("subtype")) or ""
    # On errors of the API it says `success` and is an error; on a limit it may be no error and says so in its subtype.
    if result.get("is_error") is True or subtype.startswith("error"):
        return Verdict(exit_code, True, None, f"Claude Code: {_why(result, subtype)}", answer)
    return Verdict(exit_code, False, answer=text(result.get("result")) or answer)


def _why(result: Fields, subtype: str) -> str:
    said = text(result.get("result")) or next(iter(texts_in(result.get("errors"))), None)
    if said is not None:
        return " ".join(said.split())
    return _WORDS.get(subtype) or text(result.get("terminal_reason")) or "It failed and did not say why."
