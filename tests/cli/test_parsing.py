"""What was typed is read in two ways, which never disagree: at once where it is plain, else by argparse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionstudio.cli.command import Command, WrongUsage, options_first, parse, split_rest
from lionstudio.cli.commands import GROUPS, find_commands
from lionstudio.cli.parser import build_parser
from lionstudio.cli.plain_parsing import parse_plain

COMMANDS = [command for group in GROUPS for command in find_commands(group).values()]
RECORD = find_commands("record")[""]


@st.composite
def typed(draw: st.DrawFn) -> tuple[Command, list[str]]:
    """A command and words that somebody may type after it, most of which make sense."""
    command = draw(st.sampled_from([one for one in COMMANDS if one != RECORD]))
    names = [name for option in command.options if not option.is_argument for name in option.names]
    word = st.sampled_from([*names, *(f"{name}=3" for name in names), "3", "a", "x y", "-7", "--", "", "-", "a=b"])
    return command, draw(st.lists(word, max_size=6))


@given(typed())
def test_what_is_plain_is_read_as_argparse_reads_it(given: tuple[Command, list[str]]) -> None:
    command, words = given
    try:
        ordered = options_first(command, words)
    except WrongUsage:
        return
    plain = parse_plain(command, ordered)
    if plain is not None:
        assert vars(plain) == vars(build_parser(command).parse_args(ordered))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.words)
def test_the_usual_way_to_type_a_command_is_plain(command: Command) -> None:
    words = ["one"] * sum(option.is_argument and not option.is_rest for option in command.options)
    assert parse_plain(command, options_first(command, [*words, "--db", "place"])) is not None


@pytest.mark.parametrize(
    ("words", "name", "argv"),
    [
        (["--", "pytest", "-q"], None, ["pytest", "-q"]),
        (["pytest", "-q", "--name", "theirs"], None, ["pytest", "-q", "--name", "theirs"]),
        (["--name", "ours", "--", "sh", "-c", "x", "--", "-y"], "ours", ["sh", "-c", "x", "--", "-y"]),
        (["--name=ours", "env", "--", "x"], "ours", ["env", "--", "x"]),
        (["--name", "--", "true"], None, None),
        (["--name", "n"], "n", []),
        (["--", "--name", "x"], None, ["--name", "x"]),
    ],
)
def test_a_command_of_somebody_else_keeps_its_own_options(
    words: list[str], name: str | None, argv: list[str] | None
) -> None:
    if argv is None:
        with pytest.raises(WrongUsage):
            parse(RECORD, words)
        return
    args = parse(RECORD, words)
    assert (args.name, args.argv) == (name, argv)


def test_where_there_are_other_arguments_a_command_begins_after_the_dashes() -> None:
    args = parse(find_commands("agent")[""], ["exec", "--name", "n", "do it", "--", "sh", "-c", "cat"])
    assert (args.words, args.name, args.command) == (["exec", "do it"], "n", ["sh", "-c", "cat"])


def test_an_option_that_there_is_not_is_no_command() -> None:
    with pytest.raises(WrongUsage, match=r"no option --nam\. Did you mean --name"):
        split_rest(RECORD, ["--nam", "x", "true"])
