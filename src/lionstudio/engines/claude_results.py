"""What the tools of Claude Code answered: as text where it is, and what a subagent reported."""

import json
from typing import Any

from lionstudio.engines.json_lines import fields_in, items_in, text

LARGEST_DETAILS = 4_000  # characters of JSON; beyond that they repeat whole files that the output has already
HARNESS_TAGS = "<tools-used-before-summary>"


def output_of(content: Any) -> Any:
    """What a tool answered; several texts become one."""
    blocks = items_in(content)
    texts = [fields_in(block).get("text") for block in blocks if fields_in(block).get("type") == "text"]
    if blocks and len(texts) == len(blocks) and all(isinstance(part, str) for part in texts):
        return "\n\n".join(map(str, texts))
    return content


def small_details(details: Any) -> Any:
    """What a tool answered in a form of its own, if that is small."""
    if not isinstance(details, dict):
        return None
    try:
        return details if len(json.dumps(details)) <= LARGEST_DETAILS else None
    except (ValueError, RecursionError):
        return None


def final_text(details: Any) -> str | None:
    """The report of a subagent, without what the program puts around it."""
    blocks = [fields_in(block) for block in items_in(fields_in(details).get("content"))]
    texts = [words for block in blocks if (words := text(block.get("text"))) and not words.startswith(HARNESS_TAGS)]
    return "\n\n".join(texts) or None
