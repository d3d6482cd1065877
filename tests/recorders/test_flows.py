"""Bytes on their way: nobody waits for who reads slowly, and who shares a pipe with us finds it as it was."""

import errno
import os
import threading
from collections.abc import Sequence

import pytest

from lionstudio.recorders import flows
from lionstudio.recorders.flows import Flow, Pump, Target, make_pipe


class Ended:
    """Somebody who has ended, so that only what lies in the pipes is carried."""

    descriptors: Sequence[int] = ()
    patience = None
    is_told = False

    def attend(self) -> None:
        pass

    def has_ended(self) -> bool:
        return True


def carry(data: bytes, target: Target) -> tuple[Flow, bytes]:
    """Carry bytes from a pipe of ours to a target; the flow, and what was heard."""
    reads, writes = make_pipe()
    heard: list[bytes] = []
    flow = Flow(reads, target, heard.append)
    writer = threading.Thread(target=lambda: (_write(writes, data), os.close(writes)))
    writer.start()
    Pump([flow], Ended()).run(linger=60)
    flow.close()
    writer.join()
    return flow, b"".join(heard)


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[os.write(descriptor, rest) :]
    except BrokenPipeError:
        pass


@pytest.mark.parametrize("can_reopen", [True, False], ids=["a pipe of ours", "a pipe of somebody else's"])
def test_a_slow_reader_gets_everything_and_its_pipe_is_left_as_it_was(
    can_reopen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not can_reopen:
        monkeypatch.setattr(flows, "_reopen", lambda descriptor: None)
    data, read = os.urandom(300_000), bytearray()
    reads, writes = os.pipe()

    def read_slowly() -> None:
        while piece := os.read(reads, 5_000):
            read.extend(piece)

    target = Target(writes)
    reader = threading.Thread(target=read_slowly)
    reader.start()
    _, heard = carry(data, target)
    assert os.get_blocking(writes)
    target.close()
    os.close(writes)
    reader.join()
    os.close(reads)
    assert bytes(read) == heard == data


def test_when_nobody_reads_any_more_the_source_is_closed_so_that_its_writer_is_told() -> None:
    reads, writes = os.pipe()
    target = Target(writes)
    os.close(reads)
    flow, heard = carry(bytes(5_000_000), target)
    assert (flow.source, flow.failure) == (None, None)
    assert len(heard) < 5_000_000
    target.close()
    os.close(writes)


def test_a_target_that_fails_is_said_and_everything_is_still_heard() -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    flow, heard = carry(bytes(1_000_000), Target(full))
    os.close(full)
    assert len(heard) == 1_000_000
    assert flow.failure is not None and flow.failure.errno == errno.ENOSPC
