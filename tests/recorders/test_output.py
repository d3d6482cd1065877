"""What a command says, as messages: whole lines, soon, and of very much the beginning and the end."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lionstudio
from lionstudio.recorders import output
from lionstudio.recorders.output import Lines, Output, end_of_piece, text_of
from lionstudio.recorders.recorder import Run

LIMIT = output.MESSAGE_BYTES


@pytest.fixture
def run(home: Path, tmp_path: Path) -> Iterator[Run]:
    with lionstudio.record("output", db=tmp_path / "state.db") as run:
        yield run


def said(run: Run, tmp_path: Path) -> list[Any]:
    with lionstudio.open(tmp_path / "state.db") as db:
        return list(db.messages(run.session_id, limit=1_000))


def texts(messages: list[Any], stream: str) -> list[str]:
    own = [message for message in messages if (message.node_metadata or {}).get("stream") == stream]
    return [message.content["assistant_response"] for message in own]


def record(run: Run, *pieces: tuple[str, bytes], kept: dict[str, str] | None = None) -> None:
    heard = Output(run)
    for stream, piece in pieces:
        heard.add(stream, piece)
    heard.finish(kept=kept or {})


def test_lines_become_messages_and_streams_are_told_apart(run: Run, tmp_path: Path) -> None:
    record(run, ("stdout", b"one\ntw"), ("stderr", b"oh\n"), ("stdout", b"o\nthree"))
    messages = said(run, tmp_path)
    assert "".join(texts(messages, "stdout")) == "one\ntwo\nthree"
    assert texts(messages, "stderr") == ["oh\n"]
    assert {(message.kind, message.role) for message in messages} == {("assistant", "assistant")}


def test_no_message_is_too_long_and_each_ends_with_a_line(run: Run, tmp_path: Path) -> None:
    lines = b"".join(b"%07d\n" % number for number in range(40_000))
    record(run, ("stdout", lines))
    messages = texts(said(run, tmp_path), "stdout")
    assert "".join(messages).encode() == lines
    assert len(messages) == 5
    assert all(len(message) <= LIMIT and message.endswith("\n") for message in messages)


def test_a_line_that_never_ends_is_cut_between_characters(run: Run, tmp_path: Path) -> None:
    line = "x" + "€" * 60_000
    record(run, ("stdout", line.encode()))
    messages = texts(said(run, tmp_path), "stdout")
    assert "".join(messages) == line
    assert [message.encode() for message in messages]  # no half characters
    assert max(len(message.encode()) for message in messages) <= LIMIT


def test_bytes_that_are_no_text_come_back_equal(run: Run, tmp_path: Path) -> None:
    noise = bytes(range(256)) * 1_000
    record(run, ("stdout", noise))
    assert "".join(texts(said(run, tmp_path), "stdout")).encode("utf-8", "surrogateescape") == noise


def test_the_returns_of_a_terminal_are_no_part_of_its_lines() -> None:
    assert text_of("terminal", b"one\r\n50%\r100%\r\n") == "one\n50%\r100%\n"
    assert text_of("stdout", b"one\r\n") == "one\r\n"


def test_of_very_much_the_first_and_the_last_mebibyte_are_kept_and_the_rest_is_counted(
    run: Run, tmp_path: Path
) -> None:
    lines = b"".join(b"%09d\n" % number for number in range(1_000_000))
    chunks = [lines[at : at + 50_000] for at in range(0, len(lines), 50_000)]
    record(run, *(("stdout", chunk) for chunk in chunks), kept={"stdout": "/tmp/all.log"})
    messages = said(run, tmp_path)
    gaps = [number for number, message in enumerate(messages) if message.role == "notice"]
    assert len(gaps) == 1
    head = "".join(texts(messages[: gaps[0]], "stdout")).encode()
    tail = "".join(texts(messages[gaps[0] :], "stdout")).encode()
    assert lines.startswith(head) and lines.endswith(tail)
    assert head.endswith(b"\n") and output.HEAD - 10 <= len(head) <= output.HEAD
    assert tail[:10].endswith(b"\n") and output.TAIL <= len(tail) <= output.TAIL + 50_000
    assert messages[gaps[0]].content == (
        f"{len(lines) - len(head) - len(tail):,} bytes of output are left out here. All of stdout is in /tmp/all.log."
    )


@pytest.mark.parametrize("size", [2_000_000, 2 * 1024 * 1024, 1024 * 1024, 1024 * 1024 + 1])
def test_what_fits_into_head_and_tail_is_whole(run: Run, tmp_path: Path, size: int) -> None:
    everything = b"x" * size
    record(run, *(("stdout", everything[at : at + 65_536]) for at in range(0, size, 65_536)))
    messages = said(run, tmp_path)
    assert "".join(texts(messages, "stdout")).encode() == everything
    assert not [message for message in messages if message.role == "notice"]


def test_streams_in_the_tail_come_in_the_order_they_were_heard(run: Run, tmp_path: Path) -> None:
    pieces = [("stderr" if number % 2 else "stdout", b"%04d\n" % number * 1_000) for number in range(400)]
    record(run, ("stdout", b"x" * output.HEAD), *pieces)
    messages = said(run, tmp_path)
    numbers = [message.content["assistant_response"][:4] for message in messages if message.sender == "stderr"]
    assert numbers == sorted(numbers)
    senders = [message.sender for message in messages[-100:]]
    assert senders == ["stdout", "stderr"] * 50


def wait_for(run: Run, tmp_path: Path, wanted: int) -> list[Any]:
    with lionstudio.open(tmp_path / "state.db") as db:
        for _ in range(600):
            messages = list(db.messages(run.session_id))
            if len(messages) >= wanted:
                return messages
            threading.Event().wait(0.05)
    raise AssertionError(messages)


def test_lines_are_stored_while_the_command_goes_on(run: Run, tmp_path: Path) -> None:
    heard = Output(run)
    heard.add("stdout", b"one\ntwo\nhalf")
    assert wait_for(run, tmp_path, 1)[0].content == {"assistant_response": "one\ntwo\n"}
    assert wait_for(run, tmp_path, 2)[1].content == {"assistant_response": "half"}  # perhaps it asks something
    heard.finish(kept={})


def test_while_much_is_left_out_one_message_tells_that_it_goes_on(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "NEWS_EVERY", 0.01)
    heard = Output(run)
    heard.add("stdout", b"x" * output.HEAD)
    heard.add("stdout", b"y" * 10)
    messages = wait_for(run, tmp_path, 17)
    assert messages[-1].role == "notice"
    assert messages[-1].content.startswith("Much more output: 10 bytes so far.")
    heard.add("stdout", b"z\n")
    heard.finish(kept={})
    messages = said(run, tmp_path)
    assert len(messages) == 17
    assert messages[-1].content == {"assistant_response": "y" * 10 + "z\n"}  # what it stood for is there now


@given(st.binary(max_size=300), st.booleans())
def test_a_piece_is_never_longer_than_there_is(rest: bytes, is_over: bool) -> None:
    end = end_of_piece(rest, is_over=is_over)
    assert 0 <= end <= len(rest)
    assert is_over is False or end == len(rest)
    assert is_over or not end or rest[end - 1 : end] == b"\n"


@given(st.lists(st.tuples(st.sampled_from(["stdout", "stderr"]), st.binary(max_size=50))))
def test_nothing_is_lost_or_doubled_between_the_lines(pieces: list[tuple[str, bytes]]) -> None:
    lines, heard = Lines(), {"stdout": b"", "stderr": b""}
    for number, (stream, piece) in enumerate(pieces):
        lines.add(stream, piece, now=number / 3)
        for name, line in lines.take(now=number / 3):
            heard[name] += line
    for name, line in lines.take(now=0.0, everything=True):
        heard[name] += line
    assert heard == {name: b"".join(piece for stream, piece in pieces if stream == name) for name in heard}
    assert lines.oldest is None
