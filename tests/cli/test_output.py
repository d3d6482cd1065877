"""What commands print: safe, fitted to where it goes, and plain in a pipe."""

import io
import json

import pytest

from lionstudio.cli.output import Cell, Column, Console, cut, width_of
from lionstudio.domain.printable import many_lines, one_line
from tests.cli.conftest import Terminal

NAMES = (Column("NAME", grows=True), Column("MESSAGES", right=True))
ROWS = [("triage", "12"), (Cell("a very long name that nobody can read at a glance", "danger"), "1,024")]


def printed(*, terminal: bool, columns: str = "40", monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    out = Terminal() if terminal else io.StringIO()
    Console(stdout=out, stderr=io.StringIO()).table(NAMES, ROWS)
    return out.getvalue().splitlines()


def test_in_a_pipe_a_table_is_plain_and_whole(monkeypatch):
    assert printed(terminal=False, monkeypatch=monkeypatch) == [
        "NAME                                               MESSAGES",
        "triage                                                   12",
        "a very long name that nobody can read at a glance     1,024",
    ]


def test_in_a_pipe_one_long_name_is_whole_and_pads_no_other_row():
    out = io.StringIO()
    Console(stdout=out, stderr=io.StringIO()).table(NAMES, [("triage", "12"), ("x" * 4_000, "7")])
    title, short, long = out.getvalue().splitlines()
    assert len(title) == len(short) == 70
    assert long == "x" * 4_000 + "         7"


def test_on_a_terminal_a_table_is_coloured_and_cut_to_its_width(monkeypatch):
    lines = printed(terminal=True, monkeypatch=monkeypatch)
    assert lines[2] == "\x1b[31ma very long name that nobody …\x1b[0m     1,024"
    assert all(len(line.replace("\x1b[31m", "").replace("\x1b[2m", "").replace("\x1b[0m", "")) <= 40 for line in lines)


def test_on_a_narrow_terminal_the_least_telling_column_is_left_out(monkeypatch):
    monkeypatch.setenv("COLUMNS", "44")
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    columns = (Column("NAME"), Column("SIZE", leaves=2), Column("STATE", grows=True), Column("TOOK", leaves=1))
    row = ("triage", "1 br", "Running · quiet 9h · process gone", "9h")
    Console(stdout=out, stderr=io.StringIO()).table(columns, [row])
    assert out.getvalue().splitlines() == [
        "NAME    STATE                           TOOK",
        "triage  Running · quiet 9h · process …  9h",
    ]


def test_on_a_narrow_terminal_an_empty_column_leaves_before_a_word_is_cut(monkeypatch):
    monkeypatch.setenv("COLUMNS", "44")
    monkeypatch.setenv("NO_COLOR", "1")
    columns = (Column("NAME", grows=True, readable=8), Column("STATE", grows=True, readable=40), Column("ACTIVITY"))
    for activity, name in (("", "a long name"), ("", "triage")):
        out = Terminal()
        row = (name, "Running · quiet 9h · process gone", activity)
        Console(stdout=out, stderr=io.StringIO()).table(columns, [row])
        title, line = out.getvalue().splitlines()
        assert title.split() == ["NAME", "STATE"]
        assert line.endswith("  Running · quiet 9h · process gone")  # the name gives way, down to what can be read
    monkeypatch.setenv("COLUMNS", "60")
    out = Terminal()
    Console(stdout=out, stderr=io.StringIO()).table(columns, [row])
    assert "ACTIVITY" in out.getvalue()  # there is room for it


def test_who_wants_no_colours_gets_none(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal()
    Console(stdout=out, stderr=io.StringIO()).facts([("status", Cell("failed", "danger"))])
    assert out.getvalue() == "status  failed\n"


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        pytest.param("\x1b]0;owned\x07", "\\x1b]0;owned\\x07", id="an escape sequence"),
        pytest.param("safe\u202etxt.exe", "safe\\u202etxt.exe", id="turned reading direction"),
        pytest.param("a\nb\tc\r\nd", "a b c d", id="line breaks"),
        pytest.param("\x9b31m", "\\x9b31m", id="a C1 control"),
        pytest.param("zoë 日本 🦁", "zoë 日本 🦁", id="any language"),
    ],
)
def test_text_from_agents_cannot_steer_the_terminal(hostile, shown):
    assert one_line(hostile) == shown
    out = io.StringIO()
    console = Console(stdout=out, stderr=io.StringIO())
    console.table((Column("NAME"),), [(hostile,)])
    assert out.getvalue().splitlines()[1:] == [shown]


def test_texts_of_several_lines_keep_them():
    assert many_lines("one\r\n\ttwo\x1b[2J") == "one\n\ttwo\\x1b[2J"


def test_what_the_terminal_cannot_show_is_spelt_out():
    raw = io.BytesIO()
    narrow = io.TextIOWrapper(raw, encoding="ascii")
    Console(stdout=narrow, stderr=io.StringIO()).say_data("né\ud800")
    narrow.flush()
    assert raw.getvalue() == b"n\\xe9\\ud800\n"


@pytest.mark.parametrize(("text", "width", "expected"), [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 5, "日本…")])
def test_a_text_is_cut_by_the_places_it_takes(text, width, expected):
    assert cut(text, width) == expected
    assert width_of(cut(text, width)) <= width


def test_json_is_one_line_that_any_text_survives():
    out = io.StringIO()
    Console(as_json=True, stdout=out, stderr=io.StringIO()).json({"text": "a\nb\ud800\x1b"})
    assert out.getvalue().count("\n") == 1
    assert json.loads(out.getvalue()) == {"text": "a\nb\ud800\x1b"}


def test_in_a_pipe_nobody_is_asked_and_no_progress_is_shown():
    err = io.StringIO()
    console = Console(stdout=io.StringIO(), stderr=err)
    assert console.confirm("Delete everything?", yes=False) is True
    with console.progress("Counting", 10) as step:
        step(5)
    assert err.getvalue() == ""


@pytest.mark.parametrize(
    ("answer", "expected"), [("y\n", True), ("Yes\n", True), ("\n", False), ("n\n", False), ("", False)]
)
def test_on_a_terminal_a_person_is_asked(monkeypatch, answer, expected):
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    err = Terminal()
    assert Console(stdout=Terminal(), stderr=err).confirm("Delete 3 runs?", yes=False) is expected
    assert err.getvalue() == "Delete 3 runs? [y/N] " + ("" if expected else "Nothing was changed.\n")


def test_who_keeps_the_talk_in_a_file_is_asked_on_the_terminal(monkeypatch):
    monkeypatch.setattr("sys.stdin", Terminal("n\n"))
    out = Terminal()
    assert Console(stdout=out, stderr=io.StringIO()).confirm("Delete 3 runs?", yes=False) is False
    assert out.getvalue() == "Delete 3 runs? [y/N] "


def test_on_a_terminal_progress_is_shown_and_wiped():
    err = Terminal()
    with Console(stdout=Terminal(), stderr=err).progress("Counting", 1000) as step:
        step(500)
    assert err.getvalue() == "\r\x1b[KCounting: 500 of 1,000\r\x1b[K"


def test_an_answer_cannot_steer_a_terminal_and_comes_to_a_program_as_it_is() -> None:
    for stream, shown in ((Terminal(), "one\\x1b[2J\nlast\n"), (io.StringIO(), "one\x1b[2J\nlast\n")):
        Console(stdout=stream, stderr=io.StringIO()).say_answer("one\x1b[2J\nlast")
        assert stream.getvalue() == shown
