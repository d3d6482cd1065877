"""By what one knows that a person is asked; apart from the rules, because lists need only these words."""

# Tools whose result is a person's answer: while such a call is open, somebody is asked. Names that agents use for it.
ASKING_TOOLS = frozenset(
    {"AskUserQuestion", "ExitPlanMode", "ask_user", "ask_human", "permission_prompt", "request_permission",
     "request_user_input"}
)  # fmt: skip
INTERACTIVE = "interactive"  # in a session's metadata: a person sits in front of it and can answer
