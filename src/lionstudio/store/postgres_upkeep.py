"""Looking after a PostgreSQL database, which mostly looks after itself: its own figures, and a vacuum of our tables."""

from lionstudio.store.dialect import Connection
from lionstudio.store.figures import Figures

# The number of rows of a table as the server estimates it; below this it is counted.
HUGE_ROWS = 200_000
LIST_HUGE_TABLES = f"""
    SELECT relname, CAST(reltuples AS bigint) FROM pg_class
     WHERE relkind = 'r' AND relnamespace = CAST(current_schema() AS regnamespace) AND reltuples > {HUGE_ROWS}
"""
READ_FIGURES = """
    SELECT current_setting('server_version'),
           pg_database_size(current_database()),
           (SELECT sum(n_live_tup) FROM pg_stat_user_tables WHERE schemaname = current_schema()),
           (SELECT sum(n_dead_tup) FROM pg_stat_user_tables WHERE schemaname = current_schema()),
           (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()),
           current_setting('max_connections')
"""


def read_figures(connection: Connection) -> Figures:
    """What the server says about this database."""
    version, size, live_rows, dead_rows, connections, most = connection.all(READ_FIGURES, {})[0]
    return Figures(
        engine="PostgreSQL",
        version=str(version),
        size=int(size),
        live_rows=int(live_rows or 0),
        dead_rows=int(dead_rows or 0),
        connections=int(connections),
        settings={"max_connections": int(most)},
    )


def vacuum(connection: Connection, list_tables: str) -> None:
    """Let the room of dead rows be used again, and count anew what the planner needs to know. Nobody waits for it."""
    tables = ", ".join(f'"{row[0]}"' for row in connection.all(list_tables, {}))
    connection.script(f"VACUUM (ANALYZE) {tables}")
