"""What a command says, as messages: whole lines, soon after they were said.

Of very much only the beginning and the end become messages, and what is left out between them is counted. That bounds
memory as well, so whoever passes the output on never waits for a database.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lionstudio.domain.conversation import ASSISTANT_CLASS, MessageDraft
from lionstudio.domain.phrases import count_of
from lionstudio.recorders.branch import BranchRecorder
from lionstudio.recorders.records import messages_record
from lionstudio.services.context import Context, new_id
from lionstudio.services.messages import append_messages

MESSAGE_BYTES = 64 * 1024
BATCH_BYTES = 4 * MESSAGE_BYTES  # that are written before they are old
MESSAGE_AGE = 0.2  # seconds that lines wait for more of them
LINE_AGE = 1.0  # seconds that a line waits for its end: it may be a question that somebody has to answer
HEAD = TAIL = 1024 * 1024  # bytes of a run that become messages in any case
NEWS_EVERY = 5.0  # seconds between two signs that the output goes on
NOTICE = "notice"  # the role of what we say ourselves
TERMINAL = "terminal"  # the stream of a command that writes to a terminal, where stdout and stderr are one

Piece = tuple[str, bytes]  # a stream, and what was said in it


class Lines:
    """What several streams said and nobody has taken yet: whole lines are there at once, the rest when it is old."""

    def __init__(self) -> None:
        self._rests: dict[str, bytearray] = {}  # in the order they began
        self._since: dict[str, float] = {}

    def add(self, stream: str, said: bytes, *, now: float) -> None:
        self._rests.setdefault(stream, bytearray()).extend(said)
        self._since.setdefault(stream, now)

    def take(self, *, now: float, everything: bool = False) -> Iterator[Piece]:
        """Pieces of whole lines, of at most MESSAGE_BYTES each."""
        for stream, rest in list(self._rests.items()):
            is_over = everything or now - self._since[stream] >= LINE_AGE
            while end := end_of_piece(rest, is_over=is_over):
                yield stream, bytes(rest[:end])
                del rest[:end]
                self._since[stream] = now
            if not rest:
                del self._rests[stream], self._since[stream]

    @property
    def oldest(self) -> float | None:
        """Since when the oldest unfinished line waits."""
        return min(self._since.values(), default=None)


def end_of_piece(rest: bytes | bytearray, *, is_over: bool) -> int:
    """How many bytes make the next message; 0 if its last line is to be waited for."""
    whole = rest.rfind(b"\n", 0, MESSAGE_BYTES) + 1
    if whole and (len(rest) > MESSAGE_BYTES or not is_over):
        return whole
    if len(rest) <= MESSAGE_BYTES:
        return len(rest) if is_over else 0
    end = MESSAGE_BYTES
    while end > MESSAGE_BYTES - 4 and rest[end] & 0xC0 == 0x80:  # in the middle of a character
        end -= 1
    return end


class Output:
    """The output of one run on its way into messages, by a thread of its own. Everything before `finish` is quick.

    The thread begins with the first that is said, or when somebody says that it takes longer.
    """

    def __init__(self, run: BranchRecorder, *, when_idle: Callable[[], None] | None = None) -> None:
        self._run = run
        self._when_idle = when_idle  # is done once, as soon as there is nothing else to do
        self._heard = threading.Condition()
        self._new: list[Piece] = []  # for messages, not yet taken by the thread
        self._new_bytes = 0
        self._head_left = HEAD
        self._tail: deque[Piece] = deque()
        self._tail_bytes = 0
        self._left_out = 0
        self._is_over = False
        self._lines = Lines()
        self._gap_id = new_id()  # of the message that stands for what is between head and tail
        self._gap_said = 0  # how many bytes it stands for
        self._gap_at = 0.0
        self._kept: Mapping[str, str] = {}
        self._jobs: list[Callable[[], None]] = []
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin to write what there is; a second time it does nothing."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._write, name="lionstudio-output", daemon=True)
            self._thread.start()

    def add(self, stream: str, said: bytes) -> None:
        """Take what was said."""
        if self._thread is None:
            self.start()
        with self._heard:
            if self._head_left > 0:
                cut = len(said)
                if cut > self._head_left:  # where a line ends, if there is such a place
                    cut = said.rfind(b"\n", 0, self._head_left) + 1 or self._head_left
                self._head_left = self._head_left - cut if cut == len(said) else 0
                self._new.append((stream, said[:cut]))
                self._new_bytes += cut
                self._heard.notify()
                said = said[cut:]
            if said:
                if not self._tail:
                    self._heard.notify()
                self._tail.append((stream, said))
                self._tail_bytes += len(said)
                while self._tail_bytes - len(self._tail[0][1]) >= TAIL:
                    self._left_out += len(self._tail[0][1])
                    self._tail_bytes -= len(self._tail.popleft()[1])

    def do(self, job: Callable[[], None]) -> None:
        """Let something else be written, before what is said from now on."""
        with self._heard:
            self._jobs.append(job)
            self._heard.notify()

    def finish(self, *, kept: Mapping[str, str], last: Sequence[str] = ()) -> None:
        """Write the rest, and what there is to say at last; `kept` names the files that have all of a stream."""
        with self._heard:
            self._is_over = True
            self._kept = kept
            self._heard.notify()
        if self._thread is None:
            self._write()
        else:
            self._thread.join()
        for sentence in last:
            self._record(role=NOTICE, content=sentence)

    def _write(self) -> None:
        while not self._is_over:
            self._wait_for_lines()
            self._do_jobs()
            is_full = self._take_new()
            self._say(self._lines.take(now=time.monotonic(), everything=is_full))
            self._say_that_it_goes_on()
        self._do_jobs()
        self._take_new()
        self._say(self._lines.take(now=0.0, everything=True))
        self._write_tail()

    def _wait_for_lines(self) -> None:
        """Until there is enough for a message, or something has waited for long enough."""
        with self._heard:
            if not self._heard.wait_for(self._is_wanted, self._patience()) and self._when_idle is not None:
                self._jobs.append(self._when_idle)
                self._when_idle = None
            if self._new and not self._jobs:
                self._heard.wait_for(lambda: self._new_bytes >= BATCH_BYTES or self._is_over, MESSAGE_AGE)

    def _is_wanted(self) -> bool:
        return bool(self._new or self._jobs or self._is_over or self._has_news())

    def _patience(self) -> float | None:
        waits = [] if self._lines.oldest is None else [self._lines.oldest + LINE_AGE]
        if self._when_idle is not None:
            waits.append(time.monotonic() + MESSAGE_AGE)
        if self._tail:
            waits.append(self._gap_at + NEWS_EVERY)
        return max(0.0, min(waits) - time.monotonic()) if waits else None

    def _has_news(self) -> bool:
        return bool(self._tail) and time.monotonic() - self._gap_at >= NEWS_EVERY

    def _do_jobs(self) -> None:
        with self._heard:
            jobs, self._jobs = self._jobs, []
        for job in jobs:
            self._guarded(job)

    def _take_new(self) -> bool:
        """Take what was said since; whether nothing more will come before the end."""
        with self._heard:
            new, self._new, self._new_bytes = self._new, [], 0
            is_full = self._head_left <= 0
        now = time.monotonic()
        for stream, said in new:
            self._lines.add(stream, said, now=now)
        return is_full

    def _say(self, pieces: Iterator[Piece], first_id: str | None = None) -> None:
        """Write pieces down, all of them in one transaction."""
        drafts = [_draft(stream, said) for stream, said in pieces]
        if not drafts:
            return
        drafts[0] = drafts[0]._replace(id=first_id or drafts[0].id)
        recording, at = self._run._recording, time.time()
        line = recording.line

        def write(ctx: Context) -> None:
            append_messages(ctx, line, drafts, at=at)

        self._guarded(lambda: recording.write(write, record=lambda: messages_record(line, drafts, at)))

    def _say_that_it_goes_on(self) -> None:
        """Let watchers see that the run is alive, in one message that is overwritten each time."""
        with self._heard:
            if not self._has_news():
                return
            held = self._tail_bytes + self._left_out
            self._gap_at = time.monotonic()
        if held != self._gap_said:
            self._gap_said = held
            self._note_gap(f"Much more output: {count_of(held, 'byte')} so far. The last of it follows at the end.")

    def _write_tail(self) -> None:
        first_id = self._gap_id if self._gap_said else None  # what stood for the tail becomes its beginning
        if self._left_out:
            self._left_out += self._begin_tail_with_a_line()
            where = "".join(f" All of {stream} is in {path}." for stream, path in self._kept.items())
            self._note_gap(f"{count_of(self._left_out, 'byte')} of output are left out here.{where}")
            first_id = None
        self._say(self._tail_pieces(), first_id)

    def _begin_tail_with_a_line(self) -> int:
        """Drop the end of a line at the beginning of the tail, if it is more than long enough; how many bytes."""
        stream, said = self._tail[0]
        end = said.find(b"\n", 0, self._tail_bytes - TAIL) + 1
        self._tail[0] = stream, said[end:]
        return end

    def _tail_pieces(self) -> Iterator[Piece]:
        lines, before = Lines(), None
        for stream, said in self._tail:
            if stream != before:  # so that the streams come in the order they were heard
                yield from lines.take(now=0.0)
            lines.add(stream, said, now=0.0)
            before = stream
        yield from lines.take(now=0.0, everything=True)

    def _note_gap(self, sentence: str) -> None:
        self._record(role=NOTICE, content=sentence, id=self._gap_id)

    def _record(self, **message: Any) -> None:
        self._guarded(lambda: self._run.message(**message))

    def _guarded(self, write: Callable[[], object]) -> None:
        try:
            write()
        except Exception as error:  # noqa: BLE001  whatever it is, the command goes on and its end will be recorded
            self._run._recording.keeper.say("output", f"Some of the output could not be recorded: {error}")


def _draft(stream: str, said: bytes) -> MessageDraft:
    """What a command says is what the agent of its run says, letter by letter."""
    return MessageDraft(
        "assistant",
        {"assistant_response": text_of(stream, said)},
        ASSISTANT_CLASS,
        sender=stream,
        node_metadata={"stream": stream},
        id=new_id(),
    )


def text_of(stream: str, said: bytes) -> str:
    """Bytes as text, from which they can be had back; without the returns that a terminal puts before line ends."""
    text = said.decode("utf-8", "surrogateescape")
    return text.replace("\r\n", "\n") if stream == TERMINAL else text
