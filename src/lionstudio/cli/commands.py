"""Every command there is, with its options. What it does is in the function it names."""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from lionstudio.cli.command import Command, Option

GROUPS: Mapping[str, str] = {
    "studio": "Serve the studio to browsers and programs.",
    "record": "Record any command as a run.",
    "agent": "Let one agent do one task.",
    "play": "Let agents do what a playbook says.",
    "flow": "Let agents do the steps of a file.",
    "fanout": "Give one task to several agents, and get one answer.",
    "runs": "See runs and act on them.",
    "state": "Bring past runs in, and look after the database.",
    "team": "Let agents and people write to each other.",
    "agents": "The agents that are described in files.",
    "playbooks": "The playbooks that are described in files.",
    "completion": "Let the shell complete li's words.",
}


def _option(*names: str, words: Callable[[], Iterable[str]] | None = None, **settings: Any) -> Option:
    return Option(names, settings, words)


def _flag(name: str, help: str) -> Option:
    return _option(name, action="store_true", help=help)


def _words(module: str, vocabulary: str) -> Callable[[], Iterable[str]]:
    """The words of a vocabulary of the domain, which is loaded when they are asked for."""

    def load() -> Iterable[str]:
        words: Iterable[str] = getattr(import_module(f"lionstudio.domain.{module}"), vocabulary)
        return words

    return load


def _engines() -> Iterable[str]:
    from lionstudio.engines.known import ENGINES

    return ENGINES


DB = _option("--db", metavar="PLACE", help="a database file or postgresql:// address, instead of LIONAGI_DB")
JSON = _flag("--json", "one JSON object a line, for programs")
YES = _flag("--yes", "do it without asking; in a pipe nothing is asked anyway")
DRY_RUN = _flag("--dry-run", "only say what would be done")
LIMIT = _option("--limit", type=int, default=50, metavar="N", help="at most so many (default: 50)")
STATUS = _option(
    "--status", metavar="STATUS", words=_words("session", "SessionStatus"), help="only runs in this status"
)
RUN = _option("run", metavar="RUN", help="the id of a run, the beginning of one, or its name")
RUNS = _option("runs", metavar="RUN", nargs="+", help="ids of runs, beginnings of ids, or names")
SINCE = _option("--since", metavar="AGE", help="only what was created since then: 30m, 12h, 7d, or a date")
FILTERS = (
    STATUS,
    _option("--kind", metavar="KIND", words=_words("session", "InvocationKind"), help="only runs of this kind"),
    _option("--source", metavar="SOURCE", words=_words("session", "SourceKind"), help="only runs from there"),
    _option("--health", metavar="HEALTH", words=_words("health", "Health"), help="only runs that are doing so"),
    _option("--agent", metavar="NAME", help="only runs of this agent"),
    _option("--playbook", metavar="NAME", help="only runs of this playbook"),
    _option("--show", metavar="TOPIC", help="only runs of this show"),
    SINCE,
    _option("--search", metavar="WORDS", help="only runs with these words in their names"),
    _option("--view", metavar="VIEW", words=_words("session_list", "View"), help="only runs of this view"),
)
TEAM = _option("team", metavar="TEAM", help="the name or the id of a team, or the beginning of an id")
OWN_TEAM = _option("team", metavar="TEAM", nargs="?", help="the name or the id of a team (default: LIONAGI_TEAM)")
FOLDER = _option("folder", metavar="FOLDER", nargs="?", help="instead of the usual place")
NAME = _option("--name", metavar="NAME", help="what the run is called")
TIMEOUT = _option("--timeout", type=float, metavar="SECONDS", help="stop it after so long, with exit code 124")
TEAM_MODE = _option("--team-mode", metavar="NAME", help="let its agents join this team, which is made if there is none")
SAVE = _option("--save", metavar="FOLDER", help="put the answer of each agent there, too")
PROMPT_FILE = _option("-f", "--file", metavar="FILE", help="a file with the text, instead of typing it; - is a pipe")
SHOW_LINEAGE = (
    _option("--show-topic", metavar="TOPIC", help="the show that this is done for"),
    _option("--show-play", metavar="PLAY", help="the play of that show"),
)
PARALLEL = _option("--parallel", type=int, metavar="N", help="so many agents at a time (default: 4)")
TYPED = _option("words", metavar="KEY=VALUE", nargs="*", help="its arguments, and the text for its {input}")
CREW = (TIMEOUT, NAME, TEAM_MODE, SAVE, *SHOW_LINEAGE, JSON)
EXIT_CODES = (
    "It prints the answer, and what its agents do on a terminal. Exit code 0: completed; 1: an agent failed;\n"
    "124: its time was over; 130 or 143: it was stopped."
)
VACUUM = (
    "An SQLite file is written anew and gives the room back to the disk. Meanwhile others read, and wait to write.\n"
    "PostgreSQL keeps the room for new rows: its files do not become smaller, and nobody waits."
)

_TABLE: Iterable[tuple[str, str, str, tuple[Option, ...], str]] = (
    # what people type, the function that does it, what it does, its options, more about it
    (
        "studio",
        "serve.studio",
        "Serve the studio and its HTTP API until Ctrl-C.",
        (
            _option("--host", metavar="ADDRESS", default="127.0.0.1", help="where to listen (default: 127.0.0.1)"),
            _option(
                "--port", type=int, metavar="N", default=8765, help="the port, or the next free one (default: 8765)"
            ),
            _option("--allow-host", metavar="NAME", action="append", help="a name that this machine is known under"),
            _option("--token-file", metavar="FILE", help="a file with the token, instead of LIONAGI_TOKEN"),
            _flag("--open", "open it in a browser"),
        ),
        "Only this machine can reach it, unless --host says otherwise, and then a token is needed: clients send\n"
        "Authorization: Bearer TOKEN, browsers are asked for it once.",
    ),
    (
        "record",
        "record.record",
        "Run a command as if alone, and record it as a run.",
        (
            _option("argv", metavar="CMD", nargs="...", help="the command with its own options, after --"),
            _option("--name", metavar="NAME", help="what the run is called; else it goes by the command"),
            _option("--agent", metavar="NAME", help="whose run it is"),
            _option(
                "--kind",
                metavar="KIND",
                default="command",
                words=_words("session", "InvocationKind"),
                help="what kind of run it is (default: command)",
            ),
            _option("--timeout", type=float, metavar="SECONDS", help="stop it after so long, with exit code 124"),
            _option("--team", metavar="NAME", help="let it be of this team, which is made if there is none"),
            _option("--save", metavar="FOLDER", help="keep all of its output in files there"),
            _option(
                "--expect",
                metavar="PATTERN",
                action="append",
                help="a file that it is to leave behind, such as 'out/*.md'; again for more",
            ),
        ),
        "li record -- pytest -q    records what it prints, how long it takes and how it ends.\n"
        "Its input and output are untouched, on a terminal it has one of its own, and its exit code is ours; but\n"
        "124: its time was over; 129, 130 or 143: a signal told it to stop; 126 or 127: it could not begin.",
    ),
    (
        "agent",
        "agent.agent",
        "Let one agent do one task, and record it as a run.",
        (
            _option(
                "words",
                metavar="ENGINE/MODEL PROMPT",
                nargs="*",
                words=_engines,
                help="who is to do it, and what is to be done",
            ),
            _option("command", metavar="CMD", nargs="...", help="the command that the engine exec runs, after --"),
            _option("--agent", metavar="NAME", help="an agent in $LIONAGI_HOME/agents; a model that is typed wins"),
            _option("--effort", metavar="EFFORT", help="how hard it tries, as its engine calls it"),
            PROMPT_FILE,
            _option("--resume", metavar="RUN", help="go on with the conversation of a run that has ended"),
            _option(
                "--fork-from",
                metavar="RUN",
                help="go on with a copy of it; RUN:POSITION keeps its first messages only (li runs tail)",
            ),
            _option("--cwd", metavar="FOLDER", help="where it works (default: here, or where it worked before)"),
            *CREW,
        ),
        'li agent claude "Find the failing test"    prints the answer, and what the agent does on a terminal.\n'
        "The prompt may be piped in, be in a file, or be - for standard input; what is piped in beside one comes\n"
        "behind it. What goes on with another run is a run of its own. Exit code 0: completed; 124: its time was\n"
        "over; 129, 130 or 143: a signal stopped it; else its agent failed, and it is the agent's own.",
    ),
    (
        "play",
        "play.play",
        "Let agents do what a playbook in $LIONAGI_HOME/playbooks says.",
        (
            _option("playbook", metavar="NAME", help="its name; li playbooks ls shows them"),
            TYPED,
            PROMPT_FILE,
            _option("--model", metavar="ENGINE/MODEL", help="for steps that name neither a model nor an agent"),
            PARALLEL,
            *CREW,
        ),
        EXIT_CODES,
    ),
    (
        "flow",
        "flow.flow",
        "Let agents do the steps of a file, each as soon as what it needs is there.",
        (
            _option("flow", metavar="FILE", help="a file like a playbook, anywhere"),
            TYPED,
            PROMPT_FILE,
            _option("--model", metavar="ENGINE/MODEL", help="for steps that name neither a model nor an agent"),
            PARALLEL,
            *CREW,
        ),
        EXIT_CODES,
    ),
    (
        "fanout",
        "fanout.fanout",
        "Give one task to several agents at once, and let one make one answer of theirs.",
        (
            _option("words", metavar="ENGINE/MODEL… TASK", nargs="*", help="models, which take turns, and the task"),
            _option("-n", "--number", type=int, metavar="N", help="so many agents (default: 3, or one for each model)"),
            _option(
                "--agent", metavar="NAME", action="append", help="an agent in $LIONAGI_HOME/agents; again for more"
            ),
            PROMPT_FILE,
            _option("--synthesis", metavar="ENGINE/MODEL", help="who makes one answer (default: the first agent)"),
            _flag("--no-synthesis", "print the answers of all agents instead"),
            _option("--parallel", type=int, metavar="N", help="so many agents at a time (default: all)"),
            *CREW,
        ),
        "Agents that fail are left out, and that is said; it fails when all of them do.\n" + EXIT_CODES,
    ),
    (
        "runs ls",
        "runs.ls",
        "List runs: those that run first, then the newest.",
        (
            *FILTERS,
            _option(
                "--sort",
                metavar="ORDER",
                default="active",
                words=_words("session_list", "Sort"),
                help="the order (default: active)",
            ),
            _option("--cursor", metavar="CURSOR", help="where the next page begins, as the last one said"),
            LIMIT,
            JSON,
        ),
        "",
    ),
    (
        "runs show",
        "runs.show",
        "One run: its state and why, what it is doing, its branches, tool errors and source.",
        (RUN, JSON),
        "",
    ),
    (
        "runs tail",
        "runs.tail",
        "The last messages of runs, and with -f what they say from now on.",
        (
            RUNS,
            _option("-f", "--follow", action="store_true", help="go on until they end, or Ctrl-C"),
            _option("-n", "--lines", type=int, default=10, metavar="N", help="begin with the last N (default: 10)"),
            JSON,
        ),
        "A run whose process is gone says nothing more, and is not followed any longer.",
    ),
    (
        "runs wait",
        "runs.wait",
        "Wait until runs have ended. The exit code says how.",
        (
            RUNS,
            _option("--timeout", type=float, metavar="SECONDS", help="give up after so long, with exit code 124"),
            JSON,
        ),
        "Exit code 0: all completed. Else that of the first run that did not: its own exit code, or 1 failed,\n"
        "124 timed out, 125 its process is gone and the run never said how it ended,\n"
        "127 it is not known which run is meant, 130 aborted, 143 cancelled.\n"
        "A process that cannot be seen from here may live, so such a run is waited for.",
    ),
    (
        "runs kill",
        "runs.kill",
        "End the process of a run, prove that it is gone, and keep who did it and why.",
        (
            RUN,
            _option("--reason", metavar="TEXT", help="why, for the history"),
            _option(
                "--grace", type=float, default=10.0, metavar="SECONDS", help="between SIGTERM and SIGKILL (default: 10)"
            ),
            DRY_RUN,
            YES,
            JSON,
        ),
        "",
    ),
    (
        "runs export",
        "runs.export",
        "Write whole runs as JSON lines: the run, its branches and its messages.",
        (RUNS, _option("--output", metavar="FILE", help="into this file instead of the terminal")),
        "",
    ),
    (
        "state import",
        "imports.import_runs",
        "Bring run folders in. A second time only what is new changes anything.",
        (FOLDER, DRY_RUN, JSON),
        "The usual place is $LIONAGI_HOME/runs.",
    ),
    (
        "state import-shows",
        "shows.import_shows",
        "Bring shows in from their folders, or bring the database up to what is on disk.",
        (
            FOLDER,
            _flag("--forget-gone", "let the database forget shows and plays whose folders are gone; runs stay"),
            DRY_RUN,
            JSON,
        ),
        "The usual place is LIONAGI_SHOWS_ROOT, or ~/khive-work/shows where that is not set.",
    ),
    (
        "state import-teams",
        "team.import_teams",
        "Bring team files in, and new messages of teams that are known.",
        (FOLDER, DRY_RUN, JSON),
        "The usual place is $LIONAGI_HOME/teams.",
    ),
    (
        "state import-db",
        "imports.import_database",
        "Bring everything in from a lionagi database, which is only read.",
        (_option("file", metavar="FILE", help="a state.db of lionagi, of any version"), DRY_RUN, JSON),
        "",
    ),
    ("state ls", "state.ls", "The newest runs, in short.", (STATUS, LIMIT, JSON), "li runs ls has more filters."),
    ("state stats", "state.stats", "Sizes, rows, statuses, health and settings of the database.", (JSON,), ""),
    (
        "state checkpoint",
        "state.checkpoint",
        "Move what is in the log into the database file.",
        (
            _option("--mode", default="TRUNCATE", metavar="MODE", help="PASSIVE, FULL, RESTART or TRUNCATE (default)"),
            JSON,
        ),
        "",
    ),
    ("state vacuum", "state.vacuum", "Make use of room that deleted rows left.", (JSON,), VACUUM),
    (
        "state prune",
        "state_prune.prune",
        "Delete old runs that have ended, after showing what would go and what stays, and why.",
        (
            _option("--keep-days", type=float, default=30.0, metavar="N", help="keep what ended since (default: 30)"),
            _option("--keep-n", type=int, default=100, metavar="N", help="keep the newest N anyway (default: 100)"),
            _flag("--orphan-progressions", "instead sweep orders that no run or branch owns, and their messages"),
            _option("--archive", metavar="FILE", help="write what is deleted there first, as li state export does"),
            DRY_RUN,
            YES,
            JSON,
        ),
        "Files stay as they are: importing again brings back runs whose folders are still there.",
    ),
    (
        "state export",
        "archive.export",
        "Write everything, or some runs, as JSON lines or as an SQLite file.",
        (
            _option("runs", metavar="RUN", nargs="*", help="only these; all by default"),
            _option("--output", metavar="FILE", help="a file to write; JSON lines go to the terminal without it"),
            _option("--format", default="jsonl", metavar="FORMAT", help="jsonl (default) or sqlite"),
        ),
        "",
    ),
    (
        "state backup",
        "archive.backup",
        "Copy the database while it is in use, and compare the copy with it.",
        (_option("file", metavar="FILE", nargs="?", help="where to; by default into $LIONAGI_HOME/backups"), JSON),
        "",
    ),
    (
        "state restore",
        "archive.restore",
        "Put a backup back into the database, which stays open for everyone.",
        (_option("file", metavar="FILE", help="a backup"), DRY_RUN, YES, JSON),
        "",
    ),
    (
        "state verify",
        "verify.verify",
        "Check that the database is whole, and that files on disk and the database agree.",
        (JSON,),
        "",
    ),
    (
        "state doctor",
        "state_doctor.doctor",
        "Look at every run that runs: how it is doing, and by which evidence.",
        (
            _flag("--transition-stale", "fail the runs that are stale and whose process is confirmed dead"),
            DRY_RUN,
            YES,
            JSON,
        ),
        "",
    ),
    (
        "state legacy",
        "legacy.legacy",
        "Runs from before there was a status: give them one, or put them into a file.",
        (
            _flag("--backfill", "let them count as completed"),
            _option("--archive", metavar="FILE", help="write them to a file, then delete them"),
            _option("--export", metavar="FILE", help="write them to a file"),
            DRY_RUN,
            YES,
            JSON,
        ),
        "Without an option it says how many there are.",
    ),
    (
        "team create",
        "team.create",
        "Make a team.",
        (
            _option("name", metavar="NAME", help="its name"),
            _option("members", metavar="MEMBER", nargs="*", help="who belongs to it"),
            _option("--description", metavar="TEXT", help="what it is for"),
            JSON,
        ),
        "",
    ),
    ("team list", "team.list_teams", "Every team.", (_flag("--archived", "archived ones too"), JSON), ""),
    ("team show", "team.show", "One team: its members and its last messages.", (OWN_TEAM, LIMIT, JSON), ""),
    (
        "team send",
        "team.send",
        "Write to members of a team.",
        (
            OWN_TEAM,
            _option("content", metavar="TEXT", help="what to say; - reads it from standard input"),
            _option("--to", metavar="MEMBER", action="append", help="to whom; may be given again (default: all)"),
            _option("--from", dest="sender", metavar="MEMBER", help="who says it (default: LIONAGI_AGENT or system)"),
            JSON,
        ),
        "",
    ),
    (
        "team receive",
        "team.receive",
        "What is new for a member, which then counts as read.",
        (
            OWN_TEAM,
            _option("member", metavar="MEMBER", help="for whom"),
            _flag("--all", "what was read already, too"),
            _flag("--peek", "leave it unread"),
            LIMIT,
            JSON,
        ),
        "",
    ),
    (
        "team members",
        "team.members",
        "Who belongs to a team; add or remove members.",
        (
            OWN_TEAM,
            _option("--add", metavar="MEMBER", action="append", help="let someone in; may be given again"),
            _option("--remove", metavar="MEMBER", action="append", help="take someone out; may be given again"),
            JSON,
        ),
        "",
    ),
    (
        "team archive",
        "team.archive",
        "Put a team aside, or take it back.",
        (TEAM, _flag("--undo", "take it back"), JSON),
        "",
    ),
    (
        "team prune",
        "team.prune",
        "Delete teams that were archived long ago, after showing which.",
        (
            _option(
                "--keep-days", type=float, default=30.0, metavar="N", help="keep what was archived since (default: 30)"
            ),
            DRY_RUN,
            YES,
            JSON,
        ),
        "",
    ),
    (
        "team export",
        "team.export",
        "Write teams as the JSON files that lionagi reads.",
        (
            _option("teams", metavar="TEAM", nargs="*", help="only these; all by default"),
            _option("--output", metavar="FOLDER", help="where to; by default into $LIONAGI_HOME/teams"),
            JSON,
        ),
        "",
    ),
    ("team watch", "team.watch", "Messages of a team, as they are written.", (OWN_TEAM, JSON), ""),
    ("agents ls", "described.list_agents", "The agents in $LIONAGI_HOME/agents.", (JSON,), ""),
    ("agents show", "described.show_agent", "One agent.", (_option("name", metavar="NAME", help="its name"), JSON), ""),
    ("playbooks ls", "described.list_playbooks", "The playbooks in $LIONAGI_HOME/playbooks.", (JSON,), ""),
    (
        "playbooks show",
        "described.show_playbook",
        "One playbook.",
        (_option("name", metavar="NAME", help="its name"), JSON),
        "",
    ),
    ("completion bash", "completion.bash", "Print what bash needs: source <(li completion bash)", (), ""),
    ("completion zsh", "completion.zsh", "Print what zsh needs: source <(li completion zsh)", (), ""),
    ("completion fish", "completion.fish", "Print what fish needs: li completion fish | source", (), ""),
    (
        "completion words",
        "completion.words",
        "The words that may come next, for the shells.",
        (_option("typed", metavar="WORD", nargs="*", help="what was typed so far"),),
        "",
    ),
)


def find_commands(group: str) -> dict[str, Command]:
    """The commands that begin with this word, by their second one; a command of one word has none."""
    return {
        name: Command(group, name, target, summary, (*options, DB), details)
        for words, target, summary, options, details in _TABLE
        for first, _, name in [words.partition(" ")]
        if first == group
    }
