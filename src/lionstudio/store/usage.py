"""What a session consumed, by model."""

from collections.abc import Sequence

from lionstudio.domain.usage import Usage
from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

ADD_USAGE = """
    INSERT INTO session_usage AS usage (
        session_id, model, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens,
        cost_usd)
    VALUES (
        :session_id, :model, :input_tokens, :cache_read_tokens, :cache_write_tokens, :output_tokens,
        :reasoning_tokens, :cost_usd)
    ON CONFLICT (session_id, model) DO UPDATE
       SET input_tokens = usage.input_tokens + excluded.input_tokens,
           cache_read_tokens = usage.cache_read_tokens + excluded.cache_read_tokens,
           cache_write_tokens = usage.cache_write_tokens + excluded.cache_write_tokens,
           output_tokens = usage.output_tokens + excluded.output_tokens,
           reasoning_tokens = usage.reasoning_tokens + excluded.reasoning_tokens,
           cost_usd = CASE WHEN excluded.cost_usd IS NULL THEN usage.cost_usd
                           ELSE COALESCE(usage.cost_usd, 0) + excluded.cost_usd END
"""
LIST_USAGE = """
    SELECT model, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost_usd
      FROM session_usage WHERE session_id = :session_id ORDER BY model
"""


LIST_TOTALS = """
    SELECT session_id, sum(input_tokens), sum(cache_read_tokens), sum(cache_write_tokens), sum(output_tokens),
           sum(reasoning_tokens), sum(cost_usd)
      FROM session_usage WHERE session_id IN ({ids}) GROUP BY session_id
"""


def add(tx: Tx, session_id: str, model: str, usage: Usage) -> None:
    """Add to what a session consumed of a model."""
    tx.run(
        ADD_USAGE,
        session_id=session_id,
        model=text_in(model),
        input_tokens=usage.input_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        cost_usd=usage.cost_usd,
    )


def by_model(tx: Tx, session_id: str) -> dict[str, Usage]:
    """A session's usage, model by model."""
    return {row[0]: Usage(*row[1:]) for row in tx.all(LIST_USAGE, session_id=session_id)}


def totals(tx: Tx, session_ids: Sequence[str]) -> dict[str, Usage]:
    """What each of these sessions consumed of all models together; nothing for those that reported nothing."""
    if not session_ids:
        return {}
    params = {f"id_{number}": session_id for number, session_id in enumerate(session_ids)}
    rows = tx.all(LIST_TOTALS.format(ids=", ".join(f":{name}" for name in params)), **params)
    return {row[0]: Usage._make([*map(int, row[1:6]), row[6]]) for row in rows}
