"""Wrong tokens: who sends many waits for the answers, and after some more is sent away.

The right token is never kept waiting and never refused, whatever others send from the same address: a limit that counts
first locks out the owner. What keeps guessers out is the length of a token; this keeps them from being a burden.
"""

import asyncio
import ipaddress
import time
from collections.abc import Callable

FREE = 10  # wrong ones that are answered at once; each is forgiven after SECONDS_EACH
SECONDS_EACH = 1.0
LONGEST_WAIT = 2.0  # seconds; shorter than the server waits for requests when it ends
ADDRESSES = 1_000  # that are remembered
NETWORK_BITS = 64  # of an IPv6 address: who has one has all of its network


class Guesses:
    """How many wrong tokens came from where. Used on the event loop only."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._forgiven_at: dict[str, float] = {}  # by address, who guessed last at the end

    async def slow_down(self, address: str) -> bool:
        """Wait as long as a wrong token from there has to; False at once if too many of them wait already."""
        wait = self.add(address)
        if wait:
            await asyncio.sleep(wait)
        return wait is not None

    def add(self, address: str) -> float | None:
        """Count a wrong token; how many seconds its answer has to wait, or None if that would be too long."""
        now, place = self._now(), _place(address)
        until = max(self._forgiven_at.pop(place, now), now) + SECONDS_EACH
        wait = max(0.0, until - now - FREE * SECONDS_EACH)
        too_long = wait > LONGEST_WAIT
        self._forgiven_at[place] = until - SECONDS_EACH if too_long else until
        if len(self._forgiven_at) > ADDRESSES:
            del self._forgiven_at[next(iter(self._forgiven_at))]
        return None if too_long else wait


def _place(address: str) -> str:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if found.version == 4:
        return address
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found), NETWORK_BITS), strict=False))
