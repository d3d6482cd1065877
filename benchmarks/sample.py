"""What both sides of a ratio write. Standard library only: the bare side imports it too."""

import uuid

NAMESPACE = uuid.UUID("6f2d8a0e-5d7c-4b0e-9c55-0a4d3f1b7e21")
ASSISTANT_TYPE = 3  # the number of lionagi's AssistantResponse in every database
TENTHS = 10
BATCH_ROWS = 5_000  # messages a transaction when importing

_SENTENCE = "The test fails because the parser reads the header twice; the fix is to keep the cursor. "


def message_text(number: int) -> str:
    """A few sentences, about as long as an agent's answer between two tool calls."""
    return f"{number}: {_SENTENCE * 3}"
