"""The words for health alone, for lists that only filter by it; what they mean is in health.py."""

from enum import StrEnum


class Health(StrEnum):
    """How a run is doing (R140)."""

    HEALTHY = "healthy"  # it works, or has ended and left nothing behind
    IDLE = "idle"  # it lives, or may live, and has been quiet for an hour
    UNRESPONSIVE = "unresponsive"  # it lives and has been quiet for longer than its kind may be
    STALE = "stale"  # its process is dead; or cannot be seen, and it has been quiet for too long
    ORPHANED = "orphaned"  # its process is dead and it never produced anything
    ZOMBIE = "zombie"  # it has ended and left locks or unfinished files behind


# A running run that is held for dead: it asks nobody any more.
GONE = frozenset({Health.STALE, Health.ORPHANED})
# What needs somebody first.
URGENCY = (Health.STALE, Health.ORPHANED, Health.UNRESPONSIVE, Health.ZOMBIE, Health.IDLE, Health.HEALTHY)
