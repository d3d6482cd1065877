"""What the shells need to complete li's words: a small script for each, and the words that may come next.

The scripts know nothing but how to ask; a new command or option needs no new script.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from lionstudio.cli.command import Call, Command, Option
from lionstudio.cli.commands import GROUPS, find_commands
from lionstudio.cli.output import cut
from lionstudio.domain.errors import Error
from lionstudio.domain.printable import one_line

if TYPE_CHECKING:
    from lionstudio.services.context import Context
    from lionstudio.settings import Settings

MOST_WORDS = 50  # of runs, teams or shows
PATIENCE = 1.0  # seconds that a person waits for the tab key
LONGEST_NOTE = 60
# What every shell takes as it is, without quotes. A name of other letters is not offered, its id is.
PLAIN = re.compile(r"[\w.@%+,/-]+")

BASH = r"""# li for bash. Add to ~/.bashrc:  source <(li completion bash)
_li() {
    local word about
    COMPREPLY=()
    while IFS=$'\t' read -r word about; do
        COMPREPLY+=("$word")
    done < <("${COMP_WORDS[0]/#\~/$HOME}" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _li li lionstudio"""
ZSH = r"""#compdef li lionstudio
# li for zsh. Add to ~/.zshrc, below compinit:  source <(li completion zsh)
_li() {
    local line
    local -a found
    for line in "${(@f)$("${(Q)words[1]/#\~/$HOME}" completion words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] && found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if (( $#found )); then
        _describe -V 'li' found
    else
        _files
    fi
}
compdef _li li lionstudio"""
FISH = r"""# li for fish. Add to ~/.config/fish/config.fish:  li completion fish | source
function __li_words
    set -l typed (commandline -opc)
    set -l last (commandline -ct)
    set -l program $typed[1]
    set -e typed[1]
    set -l found ($program completion words -- $typed "$last" 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path "$last"
    end
end
complete -c li -f -a '(__li_words)'
complete -c lionstudio -f -a '(__li_words)'"""


class Word(NamedTuple):
    """A word that may come next, and what it means."""

    text: str
    note: str = ""


Source = Callable[[], Iterable[Word]]


def bash(call: Call) -> None:
    """li completion bash"""
    call.out.say_data(BASH)


def zsh(call: Call) -> None:
    """li completion zsh"""
    call.out.say_data(ZSH)


def fish(call: Call) -> None:
    """li completion fish"""
    call.out.say_data(FISH)


def words(call: Call) -> None:
    """li completion words: one a line, with its meaning behind a tab. Nothing ever goes wrong here."""
    typed = call.args.typed or [""]
    sources = Sources(typed, call.args.db)
    for word in find_words(typed, sources):
        call.out.say_data(f"{word.text}\t{cut(one_line(word.note), LONGEST_NOTE)}")


def find_words(typed: Sequence[str], sources: "Sources") -> Iterator[Word]:
    """The words that may stand where the last of `typed` stands, and begin like it."""
    before = [word for word in typed[:-1] if word != "="]  # bash takes --status=running for three words
    last, lead = typed[-1].removeprefix("="), ""
    if last.startswith("--") and "=" in last:
        option, _, last = last.partition("=")
        before, lead = [*before, option], f"{option}="
    for word in _all_words(before, last, sources):
        if word.text.startswith(last) and PLAIN.fullmatch(word.text):
            yield Word(lead + word.text, word.note)


def _all_words(before: Sequence[str], last: str, sources: "Sources") -> Iterable[Word]:
    match before:
        case ["--db", _, *rest]:
            return _all_words(rest, last, sources)
        case [first, *rest] if first.startswith("--db="):
            return _all_words(rest, last, sources)
        case ["help", *rest]:
            return _all_words(rest, last, sources) if len(rest) < 2 else ()
        case []:
            if last.startswith("-"):
                return (Word("--help"), Word("--version"), Word("--db"))
            return [Word(group, about) for group, about in GROUPS.items()]
        case [group, *rest] if "" in find_commands(group):
            return _words_of(find_commands(group)[""], rest, last, sources)
        case [group] if group in GROUPS:
            return [Word(name, command.summary) for name, command in find_commands(group).items()]
        case [group, name, *rest] if group in GROUPS and name in find_commands(group):
            return _words_of(find_commands(group)[name], rest, last, sources)
    return ()


def _words_of(command: Command, rest: Sequence[str], last: str, sources: "Sources") -> Iterable[Word]:
    """The words of one command: the values of an option that waits for one, options, or the next argument."""
    options = {name: option for option in command.options if not option.is_argument for name in option.names}
    arguments = [option for option in command.options if option.is_argument]
    waiting: Option | None = None
    used: set[str] = set()
    given = 0
    for word in rest:
        if waiting is not None:
            waiting = None
        elif word.startswith("-"):
            name, inline, _ = word.partition("=")
            option = options.get(name)
            waiting = option if option is not None and option.takes_value and not inline else None
            used.update(option.names if option is not None and not _may_come_again(option) else ())
        else:
            given += 1
    if waiting is not None:
        return _values_of(command, waiting, sources)
    if given >= len(arguments) and arguments and arguments[-1].settings.get("nargs") in ("+", "*"):
        given = len(arguments) - 1
    if not last.startswith("-") and given < len(arguments):
        return _values_of(command, arguments[given], sources)
    offered = [(name, option) for name, option in options.items() if name not in used]
    return [*(Word(name, option.settings["help"]) for name, option in offered), Word("--help", "what it does")]


def _may_come_again(option: Option) -> bool:
    return option.settings.get("action") == "append"


def _values_of(command: Command, option: Option, sources: "Sources") -> Iterable[Word]:
    """The values there are; none for a file, which the shell knows better."""
    if option.words is not None:
        return [Word(word) for word in option.words()]
    metavar = option.settings.get("metavar")
    if command.group in ("agents", "playbooks") and metavar == "NAME":
        return sources.described(command.group)
    known: dict[str, Source] = {
        "--agent": lambda: sources.described("agents"),
        "--playbook": lambda: sources.described("playbooks"),
        "playbook": lambda: sources.described("playbooks"),
        "--team-mode": sources.teams,
        "RUN": sources.runs,
        "TEAM": sources.teams,
        "TOPIC": sources.shows,
    }
    source = known.get(option.names[0]) or known.get(str(metavar))
    return source() if source is not None else ()


class Sources:
    """Words that only this machine knows: runs, teams, shows and files. What cannot be read has no words."""

    def __init__(self, typed: Sequence[str], db: str | None) -> None:
        self._db = db or _typed_db(typed)

    def runs(self) -> list[Word]:
        from lionstudio.services.session_list import list_sessions

        def ask(ctx: "Context") -> list[Word]:
            found = list_sessions(ctx, limit=MOST_WORDS).items
            ids = [Word(run.id, f"{run.name or run.agent_name or ''} {run.status or 'legacy'}") for run in found]
            return [*(Word(run.name, run.id) for run in found if run.name), *ids]

        return self._ask(ask)

    def teams(self) -> list[Word]:
        from lionstudio.services.teams import list_teams

        return self._ask(lambda ctx: [Word(team.name, team.id) for team in list_teams(ctx, limit=MOST_WORDS)])

    def shows(self) -> list[Word]:
        from lionstudio.services.shows import list_shows

        return self._ask(lambda ctx: [Word(show.topic, show.goal or "") for show in list_shows(ctx, limit=MOST_WORDS)])

    def described(self, group: str) -> list[Word]:
        from lionstudio.services.described import AGENTS, PLAYBOOKS, list_names

        kind = AGENTS if group == "agents" else PLAYBOOKS
        try:
            return [Word(name) for name in list_names(self._settings().home_folder, kind)]
        except Error:
            return []

    def _ask(self, question: "Callable[[Context], list[Word]]") -> list[Word]:
        from lionstudio.services.context import open_context

        try:
            with _at_most(PATIENCE):
                ctx = open_context(self._settings(), create=False)
                try:
                    return question(ctx)
                finally:
                    ctx.db.close()
        except (Error, OSError):  # no database, or not now: then there are no ids to offer
            return []

    def _settings(self) -> "Settings":
        from lionstudio.settings import load_settings

        return load_settings(db=self._db)


def _typed_db(typed: Sequence[str]) -> str | None:
    for number, word in enumerate(typed[:-1]):
        if word.startswith("--db="):
            return word.removeprefix("--db=")
        if word == "--db":
            following = [word for word in typed[number + 1 :] if word != "="]
            return following[0] if len(following) > 1 else None
    return None


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Give up what takes longer, with TimeoutError: a server that does not answer must not hold the keyboard."""
    import signal

    def give_up(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
