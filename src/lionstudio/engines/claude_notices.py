"""What Claude Code says about itself, in words for people."""

from lionstudio.domain.phrases import count_of
from lionstudio.engines.json_lines import Fields, fields_in, text


def words_of(line: Fields) -> str | None:
    """What a line of type `system` says that a person wants to know, if it does."""
    match line.get("subtype"):
        case "api_retry":
            return _retry(line)
        case "compact_boundary":
            return _compaction(fields_in(line.get("compact_metadata")))
        case "hook_response" if line.get("outcome") not in (None, "success"):
            said = text(line.get("stderr")) or text(line.get("output")) or ""
            return f"The hook {line.get('hook_name')} ended with {line.get('outcome')}. {said}".strip()
        case "status" if line.get("compact_result") not in (None, "success"):
            why = text(line.get("compact_error")) or text(line.get("compact_result"))
            return f"The conversation could not be compacted: {why}"
        case "task_notification" if line.get("status") not in (None, "completed"):
            return f"Its work ended with {line.get('status')}. {text(line.get('summary')) or ''}".strip()
    return None


def rate_limit_words(info: Fields) -> str | None:
    """That requests are held back, or will be; nothing while they are not."""
    status = text(info.get("status"))
    if status is None or status == "allowed":
        return None
    kind = text(info.get("rateLimitType")) or "requests"
    return f"The limit for {kind.replace('_', ' ')}: {status.replace('_', ' ')}."


def _retry(line: Fields) -> str:
    why = " ".join(str(part) for part in (line.get("error"), line.get("error_status")) if part is not None)
    delay = line.get("retry_delay_ms")
    wait = f" in {delay / 1000:.1f} s" if isinstance(delay, int | float) and not isinstance(delay, bool) else ""
    tries = f"try {line.get('attempt')} of {line.get('max_retries')}"
    return f"The request failed ({why or 'no reason given'}); {tries}{wait}."


def _compaction(what: Fields) -> str:
    before, after = what.get("pre_tokens"), what.get("post_tokens")
    sizes = ""
    if isinstance(before, int) and isinstance(after, int):
        sizes = f" from {count_of(before, 'token')} to {count_of(after, 'token')}"
    by = "by hand" if what.get("trigger") == "manual" else "because it was long"
    return f"The conversation was compacted {by}{sizes}."
