"""What every run of agents shares: its session, its folder, its team, who may stop it, and its end."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from lionstudio.domain.asking import INTERACTIVE
from lionstudio.domain.errors import InvalidRequest
from lionstudio.domain.phrases import count_of
from lionstudio.domain.session import InvocationKind, exit_code_of
from lionstudio.domain.show_files import check_name, session_name
from lionstudio.engines.engine import COMMAND_ENGINE, Task
from lionstudio.engines.pausing import pausing
from lionstudio.engines.working import Worked
from lionstudio.recorders.ambient import AGENT_VARIABLE, DB_VARIABLE, PLAY_VARIABLE, TEAM_VARIABLE, TOPIC_VARIABLE
from lionstudio.recorders.branch import BranchRecorder
from lionstudio.recorders.endings import ending_of_exception
from lionstudio.recorders.keeper import Keeper
from lionstudio.recorders.recorder import Run
from lionstudio.recorders.recording import Recording
from lionstudio.recorders.run_folder import RunFolder, artifacts_in, folder_of
from lionstudio.recorders.saving import create_file, make_folder
from lionstudio.recorders.stopping import CAUSES, SIGNALS, Stopping, check_timeout
from lionstudio.services.context import new_line
from lionstudio.services.sessions import SessionDraft
from lionstudio.settings import Settings, load_settings

TEAM_NOTE = """\
You are {who}, a member of the team {team}. Write to the others with the shell command
  li team send "TEXT" --to MEMBER
(without --to it goes to all), and see what is new for you with
  li team receive {who}
li team members shows who belongs to the team."""


class Parent(NamedTuple):
    """The run that a new one goes on with: which of its branches, and how much of that."""

    session_id: str
    branch_id: str
    position: int | None = None  # None: all of it


class Launch(NamedTuple):
    """A run of agents that is about to begin."""

    kind: str = InvocationKind.AGENT.value
    name: str | None = None
    agent: str | None = None  # the profile of its agent, where it has one
    playbook: str | None = None
    model: str | None = None  # of its first branch
    branch_name: str = "main"
    show_topic: str | None = None
    show_play: str | None = None
    team: str | None = None  # made if there is none of this name
    members: tuple[str, ...] = ()  # who joins the team; the agent, if nobody is named
    save: str | None = None  # where its files go, instead of into its folder
    timeout: float | None = None  # seconds
    cwd: str | None = None
    db: str | None = None
    metadata: Mapping[str, Any] | None = None
    parent: Parent | None = None
    interactive: bool = False


class Launched:
    """A run that has begun, and what its agents need to know of it."""

    def __init__(self, launch: Launch, settings: Settings, run: Run, stopping: Stopping, folder: RunFolder) -> None:
        self.launch = launch
        self.settings = settings
        self.run = run
        self.stopping = stopping
        self.folder = folder
        self._recording = run._recording

    def env(self, branch: BranchRecorder | None = None, *, member: str | None = None) -> dict[str, str]:
        """What the environment of an agent says beside our own: its run, its branch, its name, its team, its show."""
        launch = self.launch
        told = {
            **(branch or self.run).variables,
            AGENT_VARIABLE: member or launch.agent,
            TEAM_VARIABLE: launch.team,
            TOPIC_VARIABLE: launch.show_topic,
            PLAY_VARIABLE: launch.show_play,
            DB_VARIABLE: None if self.settings.db_is_default else self.settings.db,
        }
        return {name: value for name, value in told.items() if value}

    def system(self, engine: str, task: Task, *, member: str | None = None) -> str | None:
        """The system prompt of an agent, with what it must know to write to its team, if it can type commands."""
        who, prompt = member or self.launch.agent, task.system
        # A command reads no such thing, and lionagi gives an agent only the tools that are named.
        is_deaf = engine == COMMAND_ENGINE or (engine == "lionagi" and "bash" not in (task.tools or ()))
        if self.launch.team is None or who is None or is_deaf:
            return prompt
        note = TEAM_NOTE.format(who=who, team=self.launch.team)
        if prompt is None or note in prompt:  # it goes on with a conversation that it was told so
            return prompt or note
        return f"{prompt}\n\n{note}"

    def save(self, name: str, worked: Worked) -> None:
        """Put an answer where --save says, if it does. What is not as the agent wrote it is said, and ends nothing."""
        if worked.left_out:
            self.say(f"cut {name}", f"The answer is very long: {count_of(worked.left_out, 'character')} are left out.")
        folder, text = self.launch.save, worked.answer
        if worked.has_replaced and "\ufffd" in (text or ""):
            said = "Where the answer has \ufffd, it was not UTF-8. Bytes of any kind pass through: li record -- CMD"
            self.say(f"replaced {name}", said)
        if folder is None or text is None:
            return
        try:
            file, path = create_file(folder, name, self.run.session_id)
            with open(file, "w", encoding="utf-8", errors="replace") as opened:
                opened.write(text if text.endswith("\n") else f"{text}\n")
        except OSError as error:
            self.say("save", f"{name} could not be written to {folder} ({error.strerror}).")
            return
        if path != os.path.join(folder, name):
            self.say(f"save {name}", f"{name} was there already, so the answer is in {path}")

    def say(self, what: str, sentence: str) -> None:
        """Tell a person on stderr, once for each kind of thing."""
        self._recording.keeper.say(what, sentence)

    def end(self, exit_code: int | None = None, reason: str | None = None, sentence: str | None = None) -> None:
        """End the run by an exit code (D2), or by what stopped it, or well. A second time it does nothing."""
        code = exit_code if exit_code is not None else self.stopping.cause
        self.run.finish(exit_code=code or 0, reason=reason, sentence=sentence)

    @property
    def exit_code(self) -> int:
        """How we say the end of the run to who started us."""
        return exit_code_of(self._recording.told)

    @property
    def way_to_end(self) -> int:
        """How our process should end: by its exit code, or of the signal that stopped it, as a negative number."""
        asked = CAUSES.values() if self.exit_code == self.stopping.cause else ()
        return -SIGNALS[self.exit_code] if self.exit_code in asked else self.exit_code


@contextmanager
def launched(launch: Launch) -> Iterator[Launched]:
    """A run that begins here and has ended when the block is left: as `end` said, else by what stopped it or left it.

    Only in the main thread, for signals ask it to stop inside. Raises what makes the run impossible, before it begins.
    """
    launch = _settled(launch)
    settings = load_settings(db=launch.db)
    stopping = Stopping()
    with stopping.listen(), pausing.listen():
        recording = Recording(*_announced(launch, settings))
        run = Run(recording, name=launch.name, model=launch.model)
        folder = RunFolder(run, cwd=launch.cwd or os.getcwd())
        begun = Launched(launch, settings, run, stopping, folder)
        _with_team(begun, joins=False)
        run.start()
        folder.begin()
        try:
            _with_team(begun, joins=True)  # now: a run that is refused leaves no team behind
            with stopping.within(launch.timeout):
                yield begun
            begun.end()
        except BaseException as error:
            recording.end(ending_of_exception(error))
            raise
        finally:
            folder.finish()


def _with_team(begun: Launched, *, joins: bool) -> None:
    """See to it that who works in the run can be, or is, a member of its team; raises what forbids it."""
    launch = begun.launch
    if launch.team is None:
        return
    from lionstudio.recorders.team_joining import join_team, require_team

    act = join_team if joins else require_team
    members = launch.members or ((launch.agent,) if launch.agent else ())
    act(begun.settings, launch.team, members, say=lambda sentence: begun.say("team", sentence))


def _settled(launch: Launch) -> Launch:
    """The launch with what follows from it; raises InvalidRequest, and Unavailable for a folder that cannot be made."""
    topic, play = launch.show_topic, launch.show_play
    if (topic is None) != (play is None):
        raise InvalidRequest("A play of a show has a topic and a name.", hint="Give both --show-topic and --show-play.")
    check_timeout(launch.timeout)
    if topic is not None and play is not None:
        for word, what in ((topic, "--show-topic"), (play, "--show-play")):
            if (why_not := check_name(word)) is not None:
                raise InvalidRequest(f"{what} cannot be {word!r}. {why_not}")
        launch = launch._replace(name=session_name(topic, play), kind=InvocationKind.SHOW_PLAY.value)
    else:
        launch = launch._replace(
            show_topic=os.environ.get(TOPIC_VARIABLE) or None, show_play=os.environ.get(PLAY_VARIABLE) or None
        )
    if launch.save is not None:
        launch = launch._replace(save=make_folder(launch.save))
    return launch


def _announced(launch: Launch, settings: Settings) -> tuple[Keeper, SessionDraft]:
    line = new_line()
    parent = launch.parent
    metadata = {**(launch.metadata or {}), **({INTERACTIVE: True} if launch.interactive else {})}
    draft = SessionDraft(
        line=line,
        name=launch.name,
        kind=launch.kind,
        agent=launch.agent,
        playbook=launch.playbook,
        show_topic=launch.show_topic,
        show_play=launch.show_play,
        artifacts_path=launch.save or artifacts_in(folder_of(settings, line.session_id)),
        parent_session_id=None if parent is None else parent.session_id,
        branch_name=launch.branch_name,
        node_metadata=metadata or None,
        branch_metadata={"model": launch.model} if launch.model else None,
        parent_branch_id=None if parent is None else parent.branch_id,
        forked_at_ord=None if parent is None else parent.position,
    )
    return Keeper(settings, line.session_id, hurries=True), draft
