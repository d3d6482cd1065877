"""Addresses of servers, as they may be shown and kept."""

import re

ADDRESS = re.compile(r"(\w+://)(?:([^:@/]*)(?::[^/]*)?@)?([^@/?]*)(/[^?@]*)?(?:\?(.*))?", re.DOTALL)


def without_password(address: str) -> str:
    """The address of a server as it may be shown; one that cannot be taken apart is not repeated."""
    parts = ADDRESS.fullmatch(address)
    if parts is None:
        return f"{address.partition('://')[0]}://…"
    scheme, user, host, path, query = (part or "" for part in parts.groups())
    kept = "&".join(pair for pair in query.split("&") if pair and "password" not in pair.partition("=")[0].casefold())
    return f"{scheme}{f'{user}@' if user else ''}{host}{path}{f'?{kept}' if kept else ''}"
