"""Another process that has the database open: it does what it is told on stdin, and answers in JSON."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from lionstudio.domain.errors import Error
from lionstudio.services.change_feed import ChangeFeed, newest_number
from lionstudio.services.context import Context
from lionstudio.services.messages import append_message, list_messages
from lionstudio.store.open import open_database
from tests.factories import line_of, user_says

ROOT = Path(__file__).parents[2]


class Peer:
    """The process, seen from a test."""

    def __init__(self, location: str) -> None:
        command = [sys.executable, "-m", "tests.services.archive_peer", location]
        self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)
        self._process.stdout.close()

    def tell(self, *words: str) -> None:
        assert self._process.stdin is not None
        print(json.dumps(words), file=self._process.stdin, flush=True)

    def answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def ask(self, *words: str) -> Any:
        self.tell(*words)
        return self.answer()


def main(location: str) -> None:
    ctx = Context(open_database(location))
    for line in sys.stdin:
        words = json.loads(line)
        match words:
            case ["messages", session_id]:
                _answer(lambda id=session_id: [message.id for message in list_messages(ctx, id)])
            case ["append", session_id, message_id]:
                _answer(lambda id=session_id, m=message_id: append_message(ctx, line_of(id), user_says("…", id=m)))
            case ["cursor"]:
                _answer(lambda: newest_number(ctx))
            case ["follow", after, *of]:
                feed = ChangeFeed(ctx, session_id=of[0] if of else None)
                _answer(lambda f=feed, a=int(after): [str(change.topic) for change in f.follow(a, idle=0.5)][:1])
                feed.close()
            case ["wait", after]:
                with ChangeFeed(ctx) as feed:
                    _answer(lambda f=feed, a=int(after): [str(next(f.follow(a)).topic)])
            case ["write on", session_id]:
                _write_on(ctx, session_id)


def _answer(act: Any) -> None:
    try:
        said = act()
    except Error as error:
        said = {"error": error.code}
    print(json.dumps(said), flush=True)


def _write_on(ctx: Context, session_id: str) -> None:
    """Store messages until told to stop; says each that was acknowledged."""
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), stop.set()), daemon=True).start()
    number = 0
    while not stop.is_set():
        number += 1
        _answer(lambda: append_message(ctx, line_of(session_id), user_says("…", id=f"{session_id}-{number:05}")))  # noqa: B023
    print(json.dumps(None), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
