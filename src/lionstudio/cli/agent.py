"""`li agent`: one agent does one task, recorded as a run."""

import os
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lionstudio.cli.command import Call, WrongUsage
from lionstudio.cli.crew import launch_of, patience_told, usage_values, why_ended
from lionstudio.cli.prompt import read_prompt
from lionstudio.domain.errors import Error, NotFound
from lionstudio.domain.session import InvocationKind
from lionstudio.engines.engine import COMMAND_ENGINE, Engine, Event, Process, Task
from lionstudio.engines.known import ENGINES, engine_for, names_engine, require, require_possible
from lionstudio.engines.launch import Launched, launched
from lionstudio.engines.working import Worked, work

if TYPE_CHECKING:
    from lionstudio.engines.going_on import Conversation
    from lionstudio.engines.profile import Profile

ANSWER_FILE = "answer.md"
EXAMPLE = 'Type: li agent claude "…"'


class Asked(NamedTuple):
    """What is asked of an agent, and of which one."""

    engine: Engine
    model: str  # ENGINE/MODEL
    task: Task
    agent: str | None  # its profile
    conversation: "Conversation | None"

    @property
    def member(self) -> str:
        """Who it is in a team."""
        return self.agent or self.engine.name


def agent(call: Call) -> int:
    """li agent"""
    call.require_place()
    asked = _read(call)
    require(asked.engine)
    cwd = asked.task.cwd
    launch = launch_of(
        call,
        kind=InvocationKind.AGENT.value,
        name=None,
        agent=asked.agent,
        model=asked.model,
        members=(asked.member,),
        cwd=cwd,
        metadata={"cwd": cwd},
        parent=None if asked.conversation is None else asked.conversation.parent,
    )
    call.close()  # from now on the run has the database
    with launched(launch) as begun, patience_told(call, begun.stopping):
        call.out.say_live(f"Run {begun.run.session_id}")
        worked = _work(call, begun, asked)
        begun.save(ANSWER_FILE, worked)
        begun.end(worked.exit_code, worked.reason, worked.sentence)
    _print(call, begun, asked, worked)
    return begun.way_to_end


def _work(call: Call, begun: Launched, asked: Asked) -> Worked:
    from lionstudio.recorders.processes import record_agent

    def on_process(process: Process) -> None:
        record_agent(begun.run, process.pid, process.command)

    system = begun.system(asked.engine.name, asked.task, member=asked.member)
    task = asked.task._replace(env=begun.env(member=asked.member), system=system)
    if asked.conversation is not None:
        from lionstudio.engines.going_on import go_on

        task, how = go_on(task, asked.engine.name, asked.conversation)
        for sentence in (asked.conversation.which, how):
            if sentence is not None:
                call.out.say(sentence)
    watch = _progress(call.out.say_live) if call.out.is_watched else None
    return work(asked.engine, task, begun.run, stopping=begun.stopping, watch=watch, on_process=on_process)


def _progress(say: Callable[[str], None]) -> Callable[[Event], None]:
    """Tells what an agent says and which tools it uses, a short line each. An answer that grows is told when it has."""
    from lionstudio.cli.at_work import News

    news = News()

    def tell(event: Event) -> None:
        if words := news.words_for(event):
            say(f"  {words}")

    return tell


def _read(call: Call) -> Asked:
    """What was typed, with what a profile and an earlier run say where nothing was; raises what cannot be."""
    args = call.args
    conversation, profile = _conversation(call), _profile(call)
    typed, words = _split(args.words, has_file=args.file is not None)
    model = typed or (profile and profile.model) or (conversation and conversation.model)
    if not model:
        raise _no_model(profile)
    engine, its_model = _engine(model, None if typed else profile)
    if args.command and engine.name == COMMAND_ENGINE:  # kept as what can be typed again
        its_model = shlex.join(args.command)
        model = f"exec/{its_model}"
    if args.command and engine.name != COMMAND_ENGINE:
        said = f"{engine.name} takes no command, and there is one after --."
        raise WrongUsage(said, hint='Only exec runs one: li agent exec "…" -- CMD')
    prompt = read_prompt(words, args.file, within=args.timeout)
    if prompt is None:
        raise WrongUsage("A prompt is missing: what is the agent to do?", hint=_ways_to_ask(typed))
    given = profile or conversation
    task = Task(
        prompt,
        model=its_model,
        system=given and given.system,
        effort=args.effort or (given and given.effort),
        tools=given.tools if given is not None else None,
        arguments=tuple(args.command),
        cwd=_cwd(args.cwd, conversation),
    )
    require_possible(engine, task)
    name = args.agent or (None if conversation is None else conversation.session.agent_name)
    return Asked(engine, model, task, name, conversation)


def _conversation(call: Call) -> "Conversation | None":
    args = call.args
    if args.resume is None and args.fork_from is None:
        return None
    from lionstudio.engines.going_on import find_to_fork, find_to_resume, require_one

    require_one(args.resume, args.fork_from)
    return find_to_resume(call.ctx, args.resume) if args.resume is not None else find_to_fork(call.ctx, args.fork_from)


def _profile(call: Call) -> "Profile | None":
    if call.args.agent is None:
        return None
    from lionstudio.engines.profile import find_profile

    return find_profile(call.settings.home_folder, call.args.agent)


def _split(words: Sequence[str], *, has_file: bool) -> tuple[str | None, Sequence[str]]:
    """The model, if one is typed, and the prompt, if that is."""
    if len(words) > 2:
        said = f"{len(words)} words are typed, and an agent takes a model and one prompt."
        raise WrongUsage(said, hint='Put the prompt in quotes: li agent claude "…"')
    if len(words) == 2:
        if has_file:
            said = "There are two prompts: one is typed, and one is in a file."
            raise WrongUsage(said, hint="Leave out one of them.")
        return words[0], words[1:]
    return (words[0], []) if words and names_engine(words[0]) else (None, words)


def _engine(model: str, profile: "Profile | None") -> tuple[Engine, str | None]:
    try:
        return engine_for(model)
    except Error as error:
        if profile is not None and profile.model == model:
            raise type(error)(f"{profile.path}: {error.message}", hint=error.hint) from None
        raise


def _cwd(typed: str | None, conversation: "Conversation | None") -> str:
    """Where the agent works: agents know their conversations by the folder that they were held in."""
    if typed is not None:
        folder = os.path.abspath(os.path.expanduser(typed))
        if not os.path.isdir(folder):
            raise NotFound(f"The folder {folder} does not exist.", hint="Name another one after --cwd.")
        return folder
    if conversation is None or conversation.cwd is None:
        return os.getcwd()
    if not os.path.isdir(conversation.cwd):  # in any other folder it would work on the wrong files
        raise NotFound(
            f"The run {conversation.session.id} worked in {conversation.cwd}, which is not there any more.",
            hint="Say where its agent is to work now: --cwd FOLDER",
        )
    return conversation.cwd


def _no_model(profile: "Profile | None") -> WrongUsage:
    engines = ", ".join(ENGINES)
    if profile is not None:
        said = f"The agent {profile.name!r} names no model in {profile.path}."
        return WrongUsage(said, hint=f"Type one before the prompt: ENGINE or ENGINE/MODEL, with {engines} as ENGINE.")
    return WrongUsage(
        "Which agent? Neither a model nor --agent NAME is given.", hint=f"{EXAMPLE}. The engines are {engines}."
    )


def _ways_to_ask(model: str | None) -> str:
    return f'Type: li agent {model or "claude"} "…". Or pipe it in, or name a --file.'


def _print(call: Call, begun: Launched, asked: Asked, worked: Worked) -> None:
    session_id = begun.run.session_id
    if call.out.as_json:
        call.out.json(_as_json(call, begun, asked, worked))
        return
    if worked.answer is not None:
        call.out.say_answer(worked.answer)
    if worked.exit_code:
        call.out.say(f"{why_ended(worked.exit_code, worked.sentence)} li runs show {session_id} shows more.")


def _as_json(call: Call, begun: Launched, asked: Asked, worked: Worked) -> dict[str, Any]:
    from lionstudio.domain.session import status_from_exit_code

    return {
        "session_id": begun.run.session_id,
        "branch_id": begun.run.id,
        "name": begun.launch.name,
        "kind": begun.launch.kind,
        "agent": asked.agent,
        "engine": asked.engine.name,
        "model": worked.model or asked.task.model,
        "status": status_from_exit_code(begun.exit_code).value,
        "exit_code": begun.exit_code,
        "sentence": worked.sentence,
        "answer": worked.answer,
        "native_id": worked.native_id,
        "unknown_lines": worked.unknown_lines,
        "usage": usage_values(call, begun.run.session_id),
    }
