"""What a run consumed: tokens by kind and, where the provider says so, money."""

from collections.abc import Mapping
from typing import Any, NamedTuple

UNKNOWN_MODEL = "unknown"
LARGEST_COUNT = 2**53  # beyond this a count is a mistake, and not every reader could hold it


class Usage(NamedTuple):
    """Tokens of one model. `input_tokens` are those that came from no cache."""

    input_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float | None = None

    def plus(self, other: "Usage") -> "Usage":
        """Both together; a cost that one of them does not know counts as nothing."""
        return self.minus(NO_USAGE.minus(other))

    def minus(self, other: "Usage") -> "Usage":
        """What must be added to `other` to get this."""
        unpriced = self.cost_usd is None and other.cost_usd is None
        cost = None if unpriced else (self.cost_usd or 0) - (other.cost_usd or 0)
        return Usage(**{kind: getattr(self, kind) - getattr(other, kind) for kind in TOKEN_KINDS}, cost_usd=cost)


TOKEN_KINDS = tuple(name for name in Usage._fields if name != "cost_usd")
NO_USAGE = Usage()


def usage_of(node_metadata: Mapping[str, Any] | None) -> tuple[str, Usage] | None:
    """The model and the usage that a message's metadata reports; what is not a sensible number counts as nothing."""
    if not node_metadata or not isinstance(reported := node_metadata.get("usage"), Mapping):
        return None
    counts = {kind: _count(reported.get(kind)) for kind in TOKEN_KINDS}
    usage = Usage(**counts, cost_usd=_cost(reported.get("cost_usd")))
    model = node_metadata.get("model")
    return (model if isinstance(model, str) and model else UNKNOWN_MODEL), usage


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value <= LARGEST_COUNT else 0


def _cost(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and 0 <= value <= LARGEST_COUNT else None
