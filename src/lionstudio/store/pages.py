"""Lists that are read page by page, newest first: a page begins after the last row of the one before."""

from typing import Any

from lionstudio.store.dialect import Row
from lionstudio.store.transaction import Tx

Key = tuple[float, str]  # created_at and id of the last row that was seen


def list_newest(
    tx: Tx,
    select: str,
    *,
    before: Key | None,
    limit: int,
    since: float | None = None,
    table: str = "",
    **wanted: str | tuple[str, ...] | None,
) -> list[Row]:
    """Rows newest first, from the one after `before`, whose columns have the value, or one of the values, wanted."""
    conditions: list[str] = []
    params: dict[str, Any] = {"limit": limit}
    for column, values in wanted.items():
        if values is not None:
            names = {f"{column}_{n}": value for n, value in enumerate((values,) if isinstance(values, str) else values)}
            conditions.append(f"{table}{column} IN ({', '.join(f':{name}' for name in names)})")
            params |= names
    if before is not None:
        conditions.append(f"({table}created_at, {table}id) < (:before_at, :before_id)")
        params |= {"before_at": before[0], "before_id": before[1]}
    if since is not None:
        conditions.append(f"{table}created_at >= :since")
        params["since"] = since
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    return tx.all(f"{select} {where} ORDER BY {table}created_at DESC, {table}id DESC LIMIT :limit", **params)
