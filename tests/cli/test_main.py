"""Finding the command that is meant, and saying what went wrong."""

import json
import os
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

import pytest

from lionstudio.cli.command import Command, parse
from lionstudio.cli.commands import GROUPS, find_commands
from lionstudio.cli.main import HELP
from lionstudio.services.context import Context
from lionstudio.settings import load_settings
from tests.cli.conftest import Li, run_li
from tests.factories import start_run


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",), ("help",)])
def test_help_fits_a_screen(words):
    answer = run_li(*words)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100


def test_help_names_every_command():
    for group in GROUPS.keys() - {"completion"}:
        for name in find_commands(group):
            assert group in HELP
            assert name in HELP, f"{group} {name}"


@pytest.mark.parametrize("group", sorted(group for group in GROUPS if "" not in find_commands(group)))
def test_a_group_names_its_commands(group):
    answer = run_li(group)
    assert answer.code == 0
    assert answer == run_li("help", group) == run_li(group, "--help")
    for command in find_commands(group).values():
        assert command.summary in answer.out


@pytest.mark.parametrize(
    "command", [c for group in GROUPS for c in find_commands(group).values()], ids=lambda c: c.words
)
def test_every_command_explains_itself(command):
    asked = subprocess.run(
        [sys.executable, "-m", "lionstudio.cli.main", *command.words.split()[1:], "--help"],
        capture_output=True,
        text=True,
    )
    assert (asked.returncode, asked.stderr) == (0, "")
    assert " ".join(command.summary.split()) in " ".join(asked.stdout.split())
    assert "--db PLACE" in asked.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        pytest.param(("stat",), "There is no command 'stat'. Did you mean state? Type: li --help", id="a group"),
        pytest.param(("runs", "lss"), "Did you mean ls? Type: li runs --help", id="a command"),
        pytest.param(("runs", "ls", "--bogus"), "--bogus. Type: li runs ls --help", id="an option"),
        pytest.param(("team", "send", "crew", "--form", "ana", "hi"), "Did you mean --from or", id="a mistyped option"),
        pytest.param(("runs", "ls", "more"), "unrecognized arguments: more. Type:", id="too much"),
        pytest.param(("team", "show", "one", "two"), "unrecognized arguments: two. Type:", id="too many"),
        pytest.param(("team", "send", "crew", "hi", "--from"), "--from: expected one argument", id="no value"),
        pytest.param(("team", "send", "crew", "--", "--"), "-- cannot be an argument", id="dashes alone"),
        pytest.param(("runs", "ls", "--limit", "many"), "invalid int value", id="a value"),
        pytest.param(("runs", "show"), "required: RUN", id="something missing"),
        pytest.param(("--db", "x.db"), "A command is missing.", id="no command"),
        pytest.param(("--json", "runs", "ls"), "There is no option --json before a command.", id="a wrong place"),
    ],
)
def test_wrong_usage_is_one_line_with_a_way_on(words, complaint):
    answer = run_li(*words)
    assert (answer.code, answer.out) == (2, "")
    assert complaint in answer.err
    assert len(answer.err.splitlines()) == 1


def words_of(command: Command) -> tuple[list[list[str]], list[str]]:
    """Every option of a command with a value, and as many arguments as it takes, or two of those without end."""
    options, arguments = [], []
    for option in command.options:
        if option.is_argument:
            arguments += ["one", "- two"] if option.settings.get("nargs") in ("+", "*") else ["some"]
        else:
            is_number = option.settings.get("type") in (int, float)
            options.append([option.names[-1], *(["-7" if is_number else "a word"] if option.takes_value else [])])
    return options, arguments


@pytest.mark.parametrize(
    "command",
    [c for group in GROUPS for c in find_commands(group).values() if not any(o.is_rest for o in c.options)],
    ids=lambda c: c.words,
)
def test_options_and_arguments_come_in_any_order(command):
    options, arguments = words_of(command)
    flat = [word for option in options for word in option]
    orders = [[*arguments, *flat], [*flat, *arguments], [*flat, *(["--"] if arguments else []), *arguments]]
    if options and arguments:
        between = list(zip_longest(options, [[word] for word in arguments], fillvalue=[]))
        orders += [[word for pair in between for part in pair for word in part]]
        orders += [[word for pair in between for part in reversed(pair) for word in part]]
        orders += [[*flat[: len(options[0])], *arguments, *flat[len(options[0]) :]]]
    parsed = [vars(parse(command, words)) for words in orders]
    assert all(one == parsed[0] for one in parsed)
    given = [value for value in parsed[0].values() if value is not None]
    assert len(given) == len(command.options)
    for argument in arguments:
        assert any(value == argument or (isinstance(value, list) and argument in value) for value in given)


@pytest.mark.parametrize(
    ("words", "follow", "lines", "runs"),
    [
        (["-fn", "3", "a", "b"], True, 3, ["a", "b"]),
        (["a", "-n3", "b", "-f"], True, 3, ["a", "b"]),
        (["a", "-n", "3", "--", "-f"], False, 3, ["a", "-f"]),
        (["--lines=3", "a", "- f"], False, 3, ["a", "- f"]),
    ],
)
def test_short_options_keep_their_values(words, follow, lines, runs):
    tail = find_commands("runs")["tail"]
    args = parse(tail, words)
    assert (args.follow, args.lines, args.runs) == (follow, lines, runs)


@pytest.mark.no_database
def test_reading_where_there_is_no_database_says_how_one_comes_to_be(li: Li):
    answer = li("runs", "ls")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith("li: There is no database at ")
    assert "li state import" in answer.err


def test_an_answer_that_cannot_be_written_is_one_line():
    with open("/dev/full", "w") as full:
        asked = subprocess.run(
            [sys.executable, "-m", "lionstudio", "--help"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert asked.returncode == 1
    assert asked.stderr == "li: No space left on device: the place that the answer goes to.\n"


def test_an_error_cannot_steer_the_terminal(li: Li, ctx: Context):
    answer = li("runs", "show", "\x1b[2Jgone\nfar")
    assert answer.code == 1
    assert "\x1b" not in answer.err
    assert len(answer.err.splitlines()) == 1


def json_commands() -> set[str]:
    commands = [command for group in GROUPS for command in find_commands(group).values()]
    return {command.words for command in commands if any("--json" in option.names for option in command.options)}


def test_what_help_says_about_options_everywhere_is_true():
    commands = {command.words for group in GROUPS.keys() - {"completion"} for command in find_commands(group).values()}
    silent = {"li studio", "li record"}  # which answer nobody here
    assert commands - json_commands() - silent == {"li runs export", "li state export"}
    assert "--json to all that answer; the exports of runs and state are JSON lines anyway." in HELP


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        pytest.param(
            ("runs", "show", "\x1b[2Jgone", "--json"),
            1,
            {
                "code": "session_not_found",
                "message": "There is no run '\\x1b[2Jgone'.",
                "hint": "li runs ls shows the runs there are.",
            },
            id="an answer that is not there",
        ),
        pytest.param(
            ("runs", "ls", "--limit", "many", "--json"),
            2,
            {
                "code": "wrong_usage",
                "message": "li runs ls: argument --limit: invalid int value: 'many'.",
                "hint": "Type: li runs ls --help",
            },
            id="wrong usage",
        ),
    ],
)
def test_an_error_is_one_object_for_a_program(li: Li, ctx: Context, words, code, error):
    answer = li(*words)
    assert (answer.code, answer.out) == (code, "")
    (line,) = answer.err.splitlines()
    assert json.loads(line) == {"error": error}


def test_json_that_is_text_does_not_ask_for_objects(li: Li, ctx: Context):
    answer = li("team", "send", "--", "nobody", "--json")
    assert answer.code == 1
    assert answer.err.startswith("li: ")


def test_an_import_of_shows_names_its_usual_folder(home):
    explained = run_li_in_a_process("state", "import-shows", "--help")
    assert "LIONAGI_SHOWS_ROOT, or ~/khive-work/shows" in explained
    assert load_settings().shows_folder == os.path.expanduser("~/khive-work/shows")


def run_li_in_a_process(*words: str) -> str:
    command = [sys.executable, "-m", "lionstudio", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def with_streams(redirection: str, *words: str) -> subprocess.CompletedProcess[str]:
    """`li` as a shell starts it that closes streams."""
    command = ["sh", "-c", f'"$@" {redirection}', "sh", sys.executable, "-m", "lionstudio", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("words", [("--help",), ("state", "ls"), ("state", "ls", "--json"), ("runs", "--help")])
def test_an_answer_that_has_nowhere_to_go_is_an_error(li: Li, ctx: Context, words: tuple[str, ...]) -> None:
    start_run(ctx, "run-1")
    answer = with_streams(">&-", *words)
    assert answer.returncode == 1
    assert "The answer has nowhere to go, for stdout is closed." in answer.stderr
    assert "Traceback" not in answer.stderr
    assert with_streams(">&- 2>&-", *words).returncode == 1


def test_what_is_done_without_an_answer_needs_no_stdout(li: Li, ctx: Context, tmp_path: Path) -> None:
    answer = with_streams(">&-", "state", "export", "--output", str(tmp_path / "all.jsonl"))
    assert (answer.returncode, (tmp_path / "all.jsonl").exists()) == (0, True)


def test_an_answer_is_given_though_nobody_listens_to_the_talk(li: Li, ctx: Context) -> None:
    start_run(ctx, "run-1")
    for closed in ("2>&-", "<&-", "<&- 2>&-"):
        answer = with_streams(closed, "state", "ls")
        assert (answer.returncode, "run-1" in answer.stdout, answer.stderr) == (0, True, "")
    assert with_streams("2>&-", "state", "nonsense").returncode == 2


def test_a_working_directory_that_was_deleted_is_named(tmp_path: Path, home: Path) -> None:
    (tmp_path / "gone").mkdir()
    script = 'cd "$1" && rmdir "$1" && shift && "$@"'
    li = [sys.executable, "-m", "lionstudio"]
    for words in (["--db", "x.db", "state", "ls"], ["--db", "x.db", "state", "import"]):
        (tmp_path / "gone").mkdir(exist_ok=True)
        command = ["sh", "-c", script, "sh", str(tmp_path / "gone"), *li, *words]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert answer.returncode == 2
        assert "'x.db' is a path from the working directory, which was deleted." in answer.stderr


@pytest.mark.parametrize("command", ["import", "import-shows", "import-teams"])
@pytest.mark.parametrize("more", [[], ["--dry-run"]])
def test_no_folder_is_made_for_a_database_that_was_mistyped(
    tmp_path: Path, home: Path, command: str, more: list[str]
) -> None:
    (tmp_path / "past").mkdir()
    place = tmp_path / "mistyped" / "x.db"
    answer = run_li("--db", str(place), "state", command, str(tmp_path / "past"), *more)
    assert answer.code == 1
    assert f"The folder {place.parent} does not exist. Make it with mkdir -p {place.parent}" in answer.err
    assert not place.parent.exists()


def test_our_own_home_is_made(tmp_path: Path, home: Path) -> None:
    (tmp_path / "past").mkdir()
    assert run_li("state", "import", str(tmp_path / "past")).code == 0
    assert (home / "state.db").exists()
