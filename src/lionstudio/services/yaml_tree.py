"""YAML taken apart into nodes that know where they stand, never built into objects. ADR 0021

Whoever reads a tree walks it to a depth and a width of its own: what is aliased is shared in it, so that only building
it, or a walk without bounds, could let it grow.
"""

from typing import Any

from lionstudio.domain.errors import InvalidContent

Node = Any  # of `yaml`, which is loaded only when there is something to read

# What the parser says by the names of its own parts, as it looks to who wrote the file; the more telling first.
IN_WORDS = {
    "but found another document": "a second document begins here, and only one is read",
    "<stream end>": "it ends in the middle of something, such as a bracket that is not closed",
    "unexpected end of stream": "it ends in the middle of something, such as a quote that is not closed",
    "expected <block end>": "this line does not belong where its indentation puts it",
    "mapping values are not allowed here": "a colon cannot stand here; put the text in quotes, or mind its indentation",
    "found character '\\t'": "a tab cannot begin this line; indent with spaces",
}


class NotYaml(InvalidContent):
    """A text that is no YAML."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line, self.column = line, column  # where, counted from 1, if that is known


def compose(text: str) -> Node | None:
    """The tree of a YAML text, None for one that holds nothing; raises NotYaml."""
    if not text.strip():
        return None
    import yaml

    try:
        # Not the loader in C: it crashes the whole process on what is nested deeply.
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except RecursionError:
        raise NotYaml("It is nested too deeply.") from None
    except yaml.YAMLError as error:
        raise _explained(error) from None
    except (ValueError, OverflowError):  # such as a character number that no character has
        raise NotYaml("It is not YAML.") from None


def _explained(error: Exception) -> NotYaml:
    mark = getattr(error, "problem_mark", None)
    said = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be understood"
    said = next((words for problem, words in IN_WORDS.items() if problem in said), said)
    if mark is None:
        return NotYaml(f"It is not YAML: {said}.")
    return NotYaml(f"It is not YAML: {said} (line {mark.line + 1}).", mark.line + 1, mark.column + 1)
