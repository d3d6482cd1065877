"""Playbooks: what a file asks one agent, or several in steps, to do. Written down in docs/playbooks.md.

A playbook in $LIONAGI_HOME/playbooks and a flow in any file are the same thing, read by the same rules. Playbooks of
lionagi are such files, too; what they say to its own planner alone is not used, and that is said.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from lionstudio.domain.errors import Error, InvalidContent, InvalidFile, NotFound
from lionstudio.domain.near_words import did_you_mean
from lionstudio.domain.team import ALL_RECIPIENTS
from lionstudio.engines.form import Field, Form
from lionstudio.engines.placeholders import INPUT, STEPS, Placeholder, find_placeholders
from lionstudio.engines.playbook_arguments import Argument, name_arguments, read_arguments, read_hint
from lionstudio.engines.steps import Step, Worker, find_cycle
from lionstudio.services.described import LARGEST, PLAYBOOKS, find_path, list_names
from lionstudio.services.small_files import read_text
from lionstudio.services.yaml_tree import Node

WORKER_KEYS = ("agent", "model", "effort", "system", "tools", "timeout")
STEP_KEYS = ("prompt", "needs", "depends_on", *WORKER_KEYS)
TOP_KEYS = (
    "name",
    "description",
    "argument_hint",
    "args",
    "prompt",
    "steps",
    "parallel",
    "team_mode",
    "team_attach",
    *WORKER_KEYS,
)
# What lionagi's own planner is told. It is not ours to refuse files that are good there.
UNUSED_KEYS = (
    "artifacts", "bare", "bypass", "critic_model", "dry_run", "links", "max_agents", "max_ops", "pack",
    "permission_mode", "reactive", "save", "show_graph", "use", "with_synthesis", "workers", "yolo",
)  # fmt: skip
STEP_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}", re.ASCII)
WHO = ("model", "agent")  # keys that say who does a step
ALONE = "main"  # the only step of a playbook that has no steps
MOST_PARALLEL = 64


class Playbook(NamedTuple):
    """What a file asks for."""

    name: str
    path: str
    steps: tuple[Step, ...]
    description: str | None = None
    arguments: Mapping[str, Argument] = {}
    parallel: int | None = None
    team: str | None = None
    uses_input: bool = False  # whether it says where the text goes that is given beside its arguments
    unused: tuple[str, ...] = ()  # keys that mean something to lionagi only


Check = Callable[[Worker], object]  # raises an Error for a worker that cannot do anything


def find_playbook(home: str, name: str, check: Check | None = None) -> Playbook:
    """The playbook of this name; raises NotFound, which names those that there are, and InvalidFile."""
    path = find_path(home, PLAYBOOKS, name)
    if path is None:
        known = list_names(home, PLAYBOOKS)
        hint = "li playbooks ls shows what there is." if known else f"Each is a file: {home}/playbooks/NAME.yaml"
        raise NotFound(f"There is no playbook {name!r}.{did_you_mean(name, known)}", hint=hint)
    return load_playbook(path, check)._replace(name=name)


def load_playbook(path: str, check: Check | None = None) -> Playbook:
    """What a file asks for; raises NotFound and InvalidFile. What `check` finds is told with all else that is wrong."""
    try:
        text = read_text(path, largest=LARGEST)
    except InvalidContent as error:
        raise InvalidFile(f"{path} cannot be used.", problems=[f"{path}: {error.message}"]) from None
    if text is None:
        raise NotFound(f"There is no file {path}.", hint="A flow is a YAML file, described in docs/playbooks.md.")
    return parse_playbook(text, path, check)


def parse_playbook(text: str, path: str, check: Check | None = None) -> Playbook:
    """What the text of a file asks for; raises InvalidFile with all that is wrong with it."""
    form = Form(path, text)
    root = form.root()
    playbook = Playbook("", path, ()) if root is None else _Reading(form, check).read(root)
    form.require_no_problems()
    return playbook


class _Reading:
    """One file on its way to a playbook."""

    def __init__(self, form: Form, check: Check | None) -> None:
        self._form = form
        self._check = check
        self._top = Worker()  # what is said for all steps, and where
        self._top_fields: dict[str, Field] = {}
        self._texts: list[tuple[str | None, Node]] = []  # what may hold placeholders, and of which step
        self._needs: dict[str, dict[str, Node]] = {}  # what each step needs, and where that is said

    def read(self, root: Node) -> Playbook:
        form = self._form
        told = form.fields(root, TOP_KEYS, "A playbook", tolerated=UNUSED_KEYS)
        arguments = read_arguments(form, told.get("args"))
        if "args" not in told:
            arguments = read_hint(self._text(told, "argument_hint") or "")
        steps = self._steps(root, told)
        used = self._check_placeholders(arguments)
        self._check_needs()
        parallel = told.get("parallel")
        most = parallel and form.number(parallel.value, "parallel", whole=True, most=MOST_PARALLEL)
        return Playbook(
            name=" ".join((self._text(told, "name") or "").split()) or _stem(form.path),
            path=form.path,
            steps=tuple(step._replace(needs=tuple(self._needs[step.name])) for step in steps),
            description=self._text(told, "description"),
            arguments=arguments,
            parallel=int(most) if most else None,
            team=self._text(told, "team_mode") or self._text(told, "team_attach"),
            uses_input=INPUT in used,
            unused=tuple(key.replace("_", "-") for key in UNUSED_KEYS if key in told),
        )

    def _steps(self, root: Node, told: dict[str, Field]) -> list[Step]:
        form = self._form
        if "steps" not in told:
            return [self._step(ALONE, root, told)] if root.id == "mapping" else []
        if "prompt" in told:
            form.complain(told["prompt"].key, "A playbook has a prompt or steps, not both: each step has its own.")
        self._top, self._top_fields = self._worker(told, None), told
        has_team = "team_mode" in told or "team_attach" in told
        steps = []
        for name, where, fields in self._named(told["steps"]):
            if has_team and name == ALL_RECIPIENTS:
                form.complain(where, f"In a team nobody can be called {name!r}: it means every member.")
            steps.append(self._step(name, where, fields))
        written = told["steps"].value.value
        if not (isinstance(written, list) and written):  # what is wrong with those that are there was said
            form.complain(told["steps"].key, "There is no step. Each has a name, and a prompt that says what to do.")
        return steps

    def _named(self, told: Field) -> Iterator[tuple[str, Node, dict[str, Field]]]:
        """The steps with their names, and where each begins; those whose name cannot be used are left out."""
        form, node = self._form, told.value
        if node.id == "sequence":
            found = []
            for item in form.items(node, "steps"):
                fields = form.fields(item, ("name", *STEP_KEYS), "A step")
                name = self._text(fields, "name")
                if name is not None:
                    found.append((name, fields.pop("name").value, fields))
                elif "name" not in fields and item.id == "mapping":
                    form.complain(item, "A step has no name.")
        else:
            entries = form.entries(node, "steps").items()
            found = [
                (name, field.key, form.fields(field.value, STEP_KEYS, f"The step {name}")) for name, field in entries
            ]
        seen: dict[str, Node] = {}
        for name, where, fields in found:
            if STEP_NAME.fullmatch(name) is None:
                form.complain(
                    where, f"{name!r} cannot be a step's name: a letter, then up to 63 letters, digits, _ or -."
                )
            elif name in seen:
                form.complain(where, f"Two steps are called {name!r}; the first one is in line {_line(seen[name])}.")
            else:
                seen[name] = where
                yield name, where, fields

    def _step(self, name: str, where: Node, told: dict[str, Field]) -> Step:
        form, step = self._form, f"The step {name}" if where.id == "scalar" else "The playbook"
        if "prompt" not in told:
            form.complain(where, f"{step} has no prompt: what is its agent to do?")
        if "needs" in told and "depends_on" in told:
            form.complain(told["depends_on"].key, "needs and depends_on are the same; write one of them.")
        needs = told.get("needs") or told.get("depends_on")
        self._needs[name] = {}
        for node in form.texts(needs.value, "needs") if needs else ():
            self._needs[name].setdefault(node.value, node)
        worker = _inherited(self._worker(told, name), self._top)
        self._check_worker(worker, where, told)
        return Step(name, prompt=self._template(told, "prompt", name) or "", worker=worker)

    def _check_worker(self, worker: Worker, where: Node, told: dict[str, Field]) -> None:
        """Complain about an agent that cannot begin, where it is named, or else at its step."""
        if self._check is None:
            return
        try:
            self._check(worker)
        except Error as error:
            named = [fields[key].value for fields in (told, self._top_fields) for key in WHO if key in fields]
            sentence = " ".join(filter(None, (*error.problems, error.message, error.hint)))
            self._form.complain(named[0] if named else where, sentence)

    def _worker(self, told: dict[str, Field], step: str | None) -> Worker:
        form, tools, timeout = self._form, told.get("tools"), told.get("timeout")
        return Worker(
            agent=self._text(told, "agent"),
            model=self._text(told, "model"),
            effort=self._text(told, "effort"),
            system=self._template(told, "system", step),
            tools=form.words(tools.value, "tools") if tools else None,
            timeout=form.number(timeout.value, "timeout") if timeout else None,
        )

    def _text(self, told: dict[str, Field], key: str) -> str | None:
        return self._form.text(told[key].value, key) if key in told else None

    def _template(self, told: dict[str, Field], key: str, step: str | None) -> str | None:
        text = self._text(told, key)
        if text is not None:
            self._texts.append((step, told[key].value))
        return text

    def _check_placeholders(self, arguments: Mapping[str, Argument]) -> set[str]:
        """The placeholders that are used. A step that uses the answer of another needs it."""
        used = set()
        for step, node in self._texts:
            for found in find_placeholders(node.value):
                used.add(found.name)
                problem = self._check_placeholder(step, found, arguments)
                if problem is not None:
                    self._form.complain_within(node, f"{{{found.name}}}", found.times, problem)
                elif found.step is not None and step is not None:
                    self._needs[step].setdefault(found.step, node)
        return used

    def _check_placeholder(self, step: str | None, used: Placeholder, known: Mapping[str, Argument]) -> str | None:
        """What is wrong with it."""
        if used.step is None:
            if used.name in known or used.name == INPUT:
                return None
            if used.name in self._needs and used.name != step:
                answer = f"The answer of that step is {{{STEPS}{used.name}}}."
                return f"{{{used.name}}} is no argument of this playbook. {answer}"
            near = did_you_mean(used.name, (*known, INPUT))
            plain = f"Write {{{{{used.name}}}}} for the braces themselves."
            return f"{{{used.name}}} is no argument of this playbook.{near} {name_arguments(known)} {plain}"
        if step is None:
            return f"{{{used.name}}} can be used only within a step."
        if used.step == step:
            return f"{{{used.name}}} is the answer of this step itself."
        if used.step not in self._needs:
            return f"{{{used.name}}} is the answer of no step.{self._near(used.step)}"
        return None

    def _check_needs(self) -> None:
        for step, needs in self._needs.items():
            for need, node in needs.items():
                if need == step:
                    self._form.complain(node, f"The step {step} needs itself.")
                elif need not in self._needs:
                    self._form.complain(node, f"The step {step} needs {need!r}, which is no step.{self._near(need)}")
        cycle = find_cycle({step: [need for need in needs if need != step] for step, needs in self._needs.items()})
        if cycle is not None:
            node = self._needs[cycle[0]][cycle[1]]
            self._form.complain(node, f"These steps wait for each other: {' -> '.join((*cycle, cycle[0]))}.")

    def _near(self, name: str) -> str:
        if not self._needs:
            return ""
        return f"{did_you_mean(name, self._needs)} The steps are: {', '.join(self._needs)}."


def _inherited(own: Worker, top: Worker) -> Worker:
    """A step's own worker, with what it leaves open as the playbook says it for all steps.

    An agent is a whole, so that who names one takes only the time from there; and who names a model is no agent's.
    """
    if own.agent is not None:
        return own._replace(timeout=own.timeout or top.timeout)
    filled = own._replace(**{key: value for key, value in top._asdict().items() if getattr(own, key) is None})
    return filled._replace(agent=None) if own.model is not None else filled


def _stem(path: str) -> str:
    """The name of a file without its endings; one that begins with a dot has it behind that."""
    return os.path.basename(path).lstrip(".").partition(".")[0] or "flow"


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1
