"""A file that a person wrote in YAML, read against what it may say, with everything that is wrong with it at once.

The tree is never built into objects, and who reads it goes only as deep as what it asks for. ADR 0021
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from lionstudio.domain.errors import InvalidFile
from lionstudio.domain.near_words import did_you_mean
from lionstudio.domain.phrases import count_of
from lionstudio.recorders.stopping import LONGEST_TIMEOUT
from lionstudio.services.yaml_tree import Node, NotYaml, compose

STANDARD = "tag:yaml.org,2002:"
NULL = f"{STANDARD}null"
PLAIN = frozenset(
    STANDARD + kind for kind in ("str", "int", "float", "bool", "null", "timestamp", "merge", "value", "seq", "map")
)
KINDS = {"scalar": "a text", "sequence": "a list", "mapping": "a mapping"}
MOST_PROBLEMS = 20  # that are told at once
MOST_LOCATED = 100  # pieces of texts that are looked for in the file; that takes time
MOST_ITEMS = 256  # in one list or mapping; what is aliased many times is cheap to write and dear to walk
MERGE = "<<"


class Field(NamedTuple):
    """One key of a mapping: where it stands, and what it says."""

    key: Node
    value: Node


class Form:
    """One file that is being read."""

    def __init__(self, path: str, text: str, *, page: str = "docs/playbooks.md") -> None:
        self.path = path
        self._page = page
        self._text = text
        self._problems: dict[tuple[int, int, str], None] = {}

    def root(self) -> Node | None:
        """The tree, None where there is none to go on with."""
        try:
            root = compose(self._text)
        except NotYaml as error:
            sentence = error.message.replace(f" (line {error.line})", "")  # which stands before it already
            self._problems[error.line or 1, error.column or 1, sentence] = None
            return None
        if root is None:
            self._problems[1, 1, "The file is empty."] = None
        return root

    def complain(self, node: Node, sentence: str) -> None:
        """Something is wrong with this node."""
        self._problems[node.start_mark.line + 1, node.start_mark.column + 1, sentence] = None

    def complain_within(self, node: Node, piece: str, times: int, sentence: str) -> None:
        """Something is wrong with a piece of a text, which stands there for the `times`th time."""
        if len(self._problems) >= MOST_LOCATED:
            return self.complain(node, sentence)
        start, end = node.start_mark.index, node.end_mark.index
        for _ in range(times):
            found = self._text.find(piece, start, end)
            if found < 0:  # written with escapes
                return self.complain(node, sentence)
            at, start = found, found + len(piece)
        line = node.start_mark.line + 1 + self._text.count("\n", node.start_mark.index, at)
        column = at - self._text.rfind("\n", 0, at)
        self._problems[line, column, sentence] = None
        return None

    def require_no_problems(self) -> None:
        """Raise InvalidFile with all that was found."""
        if not self._problems:
            return
        found = [f"{self.path}:{line}:{column}: {sentence}" for line, column, sentence in sorted(self._problems)]
        told = found[:MOST_PROBLEMS]
        if len(found) > len(told):
            told.append(f"{self.path}: … and {len(found) - len(told):,} more.")
        raise InvalidFile(
            f"{self.path} has {count_of(len(found), 'problem')}, so nothing was run.",
            problems=told,
            hint=f"What such a file may say is in {self._page}.",
        )

    def fields(
        self, node: Node, allowed: Sequence[str], what: str, *, tolerated: Sequence[str] = ()
    ) -> dict[str, Field]:
        """The keys of a mapping that may be there; dashes in a key are as good as underscores."""
        told: dict[str, Field] = {}
        for name, field in self.entries(node, what).items():
            known = name.replace("-", "_")
            if name == MERGE:
                self.complain(field.key, "<< is not understood here. Write out what it stands for.")
            elif known not in allowed and known not in tolerated:
                near = did_you_mean(name, allowed)
                self.complain(
                    field.key, f"{what} has no key {name!r}.{near} It may have: {', '.join(sorted(allowed))}."
                )
            elif known in told:
                self.complain(
                    field.key, f"{name!r} is the same key as {told[known].key.value!r}, which is here already."
                )
            else:
                told[known] = field
        return told

    def entries(self, node: Node, what: str) -> dict[str, Field]:
        """Everything in a mapping, by its keys."""
        if not self._is(node, "mapping", what):
            return {}
        told: dict[str, Field] = {}
        for key, value in self._first(node, what):
            name = self.text(key, "A key")
            if name is None:
                continue
            if name in told:
                first = told[name].key.start_mark.line + 1
                self.complain(key, f"{name!r} is here twice; the first one is in line {first}.")
            else:
                told[name] = Field(key, value)
        return told

    def items(self, node: Node, what: str) -> list[Node]:
        """What stands in a list."""
        return list(self._first(node, what)) if self._is(node, "sequence", what) else []

    def text(self, node: Node, what: str) -> str | None:
        """A text, None where there is none."""
        if not self._is(node, "scalar", what):
            return None
        text: str = node.value
        if is_null(node) or not text.strip():
            self.complain(node, f"{what} is empty.")
            return None
        return text

    def texts(self, node: Node, what: str) -> list[Node]:
        """A list of texts, or one text alone: the nodes of each."""
        nodes = [node] if node.id == "scalar" else self.items(node, what)
        return [one for one in nodes if self.text(one, f"A value of {what}") is not None]

    def words(self, node: Node, what: str) -> tuple[str, ...]:
        """A list of words, or one text in which commas stand between them."""
        if node.id == "scalar":
            told = (self.text(node, what) or "").split(",")
        else:
            told = [one.value for one in self.texts(node, what)]
        return tuple(word.strip() for word in told if word.strip())

    def number(self, node: Node, what: str, *, whole: bool = False, most: float = LONGEST_TIMEOUT) -> float | None:
        """A number above zero."""
        text = self.text(node, what)
        if text is None:
            return None
        try:
            number = float(int(text)) if whole else float(text)
        except ValueError:
            number = 0.0
        if 0 < number <= most:
            return number
        kind = "a whole number" if whole else "a number"
        self.complain(node, f"{what} is {kind} above 0 and up to {most:,.0f}, not {text!r}.")
        return None

    def word(self, node: Node, what: str, allowed: Mapping[str, object] | Iterable[str]) -> str | None:
        """One of some words."""
        text = self.text(node, what)
        if text is None or text in (words := list(allowed)):
            return text
        self.complain(node, f"{what} is one of {', '.join(words)}, not {text!r}.{did_you_mean(text, words)}")
        return None

    def _is(self, node: Node, kind: str, what: str) -> bool:
        if node.tag not in PLAIN:
            self.complain(node, f"{node.tag} means nothing here. {what} is {KINDS[kind]}.")
        elif node.id != kind:
            self.complain(node, f"{what} is {KINDS[kind]}, not {'empty' if is_null(node) else KINDS[node.id]}.")
        else:
            return True
        return False

    def _first(self, node: Node, what: str) -> list[Node]:
        if len(node.value) > MOST_ITEMS:
            self.complain(node, f"{what} has {len(node.value):,} entries; {MOST_ITEMS} are the most.")
        found: list[Node] = node.value[:MOST_ITEMS]
        return found


def is_null(node: Node) -> bool:
    """Whether nothing was written after a key."""
    return bool(node.id == "scalar" and node.tag == NULL)
