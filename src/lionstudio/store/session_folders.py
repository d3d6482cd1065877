"""Where sessions write their files."""

from lionstudio.store.texts import text_in
from lionstudio.store.transaction import Tx

LIST_RUNNING_FOLDERS = "SELECT id, artifacts_path FROM sessions WHERE is_running = 1 AND artifacts_path IS NOT NULL"


def list_running_folders(tx: Tx) -> list[tuple[str, str]]:
    """Id and artifacts folder of each session that runs and names one."""
    return [(row[0], row[1]) for row in tx.all(LIST_RUNNING_FOLDERS)]


PUT_FOLDER = "UPDATE sessions SET artifacts_path = :folder WHERE id = :session_id AND artifacts_path IS NULL"


def put_folder(tx: Tx, session_id: str, folder: str) -> bool:
    """Say where a session wrote its files, unless it said so itself; whether that is new."""
    return tx.run(PUT_FOLDER, session_id=session_id, folder=text_in(folder)) == 1
