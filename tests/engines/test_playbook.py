"""Playbooks: what a file may say is read, and everything that is wrong with it is told at once, with its place."""

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lionstudio.domain.errors import InvalidFile, InvalidRequest, NotFound
from lionstudio.engines.placeholders import fill, find_placeholders
from lionstudio.engines.playbook import Playbook, find_playbook, load_playbook, parse_playbook
from lionstudio.engines.playbook_arguments import Argument, bind_arguments, split_typed
from lionstudio.engines.steps import Step, Worker, find_cycle

FIXTURES = Path(__file__).parents[1] / "fixtures" / "playbooks"

MAY_HAVE = (
    "It may have: agent, args, argument_hint, description, effort, model, name, parallel, prompt, steps, system, "
    "team_attach, team_mode, timeout, tools."
)


def problems_of(text: str) -> list[str]:
    with pytest.raises(InvalidFile) as refused:
        parse_playbook(text, "review.yaml")
    return list(refused.value.problems)


def test_in_a_team_no_step_is_called_like_all_of_them() -> None:
    steps = "steps:\n  all: {model: exec/cat, prompt: x}\n"
    (problem,) = problems_of(f"team-mode: crew\n{steps}")
    assert problem == "review.yaml:3:3: In a team nobody can be called 'all': it means every member."
    assert [step.name for step in parse_playbook(steps, "review.yaml").steps] == ["all"]


def test_a_playbook_of_one_agent_says_who_does_what():
    text = """\
description: Reviews a change.
args:
  path: {help: what to review}
  depth: {type: str, default: normal, choices: [quick, normal]}
  rounds: {type: int, default: 0x10}
  strict: {type: bool, default: no}
  note: none
agent: reviewer
effort: high
tools: [Read, Grep]
timeout: 90
system: You are careful.
prompt: |
  Review {path} at {depth}: {input}
"""
    with pytest.raises(InvalidFile, match=r"review\.yaml has 1 problem, so nothing was run"):
        parse_playbook(text, "review.yaml")  # 0x10 is no number as people type them
    assert parse_playbook(text.replace("0x10", "3"), "my/review.yaml") == Playbook(
        name="review",
        path="my/review.yaml",
        description="Reviews a change.",
        arguments={
            "path": Argument("path", help="what to review"),
            "depth": Argument("depth", default="normal", choices=("quick", "normal")),
            "rounds": Argument("rounds", "int", "3"),
            "strict": Argument("strict", "bool", "false"),
            "note": Argument("note", default="none"),
        },
        uses_input=True,
        steps=(
            Step(
                "main",
                "Review {path} at {depth}: {input}\n",
                Worker("reviewer", effort="high", system="You are careful.", tools=("Read", "Grep"), timeout=90.0),
            ),
        ),
    )


STEPS_AS_MAPPING = """\
model: claude/claude-sonnet-4-6
steps:
  plan:
    prompt: Plan {input}.
  build:
    needs: plan
    model: codex/gpt-5
    prompt: Build it.
  review:
    agent: reviewer
    depends-on: [build]
    prompt: |
      This was planned: {steps.plan}
"""
STEPS_AS_LIST = """\
model: claude/claude-sonnet-4-6
steps:
  - {name: plan, prompt: "Plan {input}."}
  - name: build
    needs: [plan]
    model: codex/gpt-5
    prompt: Build it.
  - name: review
    depends_on: build
    agent: reviewer
    prompt: |
      This was planned: {steps.plan}
"""


@pytest.mark.parametrize("text", [STEPS_AS_MAPPING, STEPS_AS_LIST], ids=["a mapping", "a list"])
def test_steps_say_whom_they_need_also_by_using_an_answer(text: str):
    steps = parse_playbook(text, "flow.yaml").steps
    assert list(steps) == [
        Step("plan", "Plan {input}.", Worker(model="claude/claude-sonnet-4-6")),
        Step("build", "Build it.", Worker(model="codex/gpt-5"), ("plan",)),
        Step("review", "This was planned: {steps.plan}\n", Worker("reviewer"), ("build", "plan")),
    ]


def test_what_the_top_says_holds_for_steps_that_say_nothing_themselves():
    text = """\
agent: writer
system: Be brief.
effort: low
timeout: 60
steps:
  all: {prompt: a}
  model: {prompt: b, model: exec/cat, timeout: 5}
  agent: {prompt: c, agent: reviewer}
"""
    assert [step.worker for step in parse_playbook(text, "f").steps] == [
        Worker("writer", None, "low", "Be brief.", None, 60.0),
        Worker(None, "exec/cat", "low", "Be brief.", None, 5.0),
        Worker("reviewer", timeout=60.0),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", ["1:1: The file is empty."], id="empty"),
        pytest.param("# nothing\n", ["1:1: The file is empty."], id="only a comment"),
        pytest.param("- a\n", ["1:1: A playbook is a mapping, not a list."], id="a list"),
        pytest.param(
            "prompt: a\nb: [1,",
            ["2:7: It is not YAML: it ends in the middle of something, such as a bracket that is not closed."],
            id="half written",
        ),
        pytest.param(
            "prompt: a\n---\nprompt: b\n",
            ["2:1: It is not YAML: a second document begins here, and only one is read."],
            id="two documents",
        ),
        pytest.param(
            "steps:\n  a: {prompt: x}\n    b: {prompt: y}\n",
            ["3:5: It is not YAML: this line does not belong where its indentation puts it."],
            id="indented too far",
        ),
        pytest.param(
            "prompt: Do this: now\n",
            ["1:16: It is not YAML: a colon cannot stand here; put the text in quotes, or mind its indentation."],
            id="a colon in a text",
        ),
        pytest.param(
            "steps:\n\ta: 1\n",
            ["2:1: It is not YAML: a tab cannot begin this line; indent with spaces."],
            id="a tab",
        ),
        pytest.param("prompt:\n", ["1:8: prompt is empty."], id="a key without a value"),
        pytest.param("description: d\n", ["1:1: The playbook has no prompt: what is its agent to do?"], id="no prompt"),
        pytest.param(
            "prompt: p\npromt: q\n",
            [f"2:1: A playbook has no key 'promt'. Did you mean prompt? {MAY_HAVE}"],
            id="an unknown key",
        ),
        pytest.param(
            "prompt: p\nprompt: q\n", ["2:1: 'prompt' is here twice; the first one is in line 1."], id="a key twice"
        ),
        pytest.param(
            "prompt: p\nmodel: {a: b}\nparallel: many\ntimeout: -1\n",
            [
                "2:8: model is a text, not a mapping.",
                "3:11: parallel is a whole number above 0 and up to 64, not 'many'.",
                "4:10: timeout is a number above 0 and up to 1,000,000,000, not '-1'.",
            ],
            id="wrong types",
        ),
        pytest.param("prompt: !!python/name:os.system x\n", ["1:9: tag:yaml.org,2002:python/name:os.system means "
                     "nothing here. prompt is a text."], id="objects are not made"),
        pytest.param("prompt: !mine x\n", ["1:9: !mine means nothing here. prompt is a text."], id="a tag"),
        pytest.param(
            "args: {input: 1, a b: 2, n: {type: integer}, m: {type: int, default: x}, c: {choices: [a], default: b}}\n"
            "prompt: p\n",
            [
                "1:8: 'input' cannot be an argument, for {input} means something else.",
                "1:18: 'a b' cannot be an argument: letters, digits, _ and - make a name.",
                "1:36: type is one of str, int, float, bool, not 'integer'. Did you mean int?",
                "1:70: The default does not fit: m is a whole number, not 'x'.",
                "1:101: The default does not fit: c is one of a, not 'b'.",
            ],
            id="arguments",
        ),
        pytest.param(
            'args: {depth: 1}\nprompt: |\n  At {depth},\n  not {{detph}}, {"json": {"a": 1}}\n  but {detph}\n',
            ["5:7: {detph} is no argument of this playbook. Did you mean depth? It takes: depth=…. "
             "Write {{detph}} for the braces themselves."],
            id="an unknown placeholder",
        ),
        pytest.param("prompt: p\nsteps: {a: {prompt: q}}\n",
                     ["1:1: A playbook has a prompt or steps, not both: each step has its own."], id="both"),
        pytest.param("steps: []\n", ["1:1: There is no step. Each has a name, and a prompt that says what to do."],
                     id="no steps"),
        pytest.param("steps: [{name: a b, prompt: p}]\n",
                     ["1:16: 'a b' cannot be a step's name: a letter, then up to 63 letters, digits, _ or -."],
                     id="only steps that cannot be"),
        pytest.param("steps: soon\n", ["1:1: There is no step. Each has a name, and a prompt that says what to do.",
                     "1:8: steps is a mapping, not a text."], id="steps are a text"),
        pytest.param(
            "steps:\n- {prompt: p}\n- {name: a, prompt: p}\n- {name: a, prompt: p}\n- {name: a b, prompt: p}\n",
            [
                "2:3: A step has no name.",
                "4:10: Two steps are called 'a'; the first one is in line 3.",
                "5:10: 'a b' cannot be a step's name: a letter, then up to 63 letters, digits, _ or -.",
            ],
            id="names of steps",
        ),
        pytest.param(
            "steps:\n  plan: {prompt: p, needs: [bild, plan]}\n  build: {prompt: 'a {steps.plam} {steps.build}'}\n",
            [
                "2:29: The step plan needs 'bild', which is no step. Did you mean build? The steps are: plan, build.",
                "2:35: The step plan needs itself.",
                "3:22: {steps.plam} is the answer of no step. Did you mean plan? The steps are: plan, build.",
                "3:35: {steps.build} is the answer of this step itself.",
            ],
            id="needs that cannot be",
        ),
        pytest.param(
            "steps:\n  a: {prompt: p, needs: c}\n  b: {prompt: '{steps.a}'}\n  c: {prompt: p, needs: [b]}\n",
            ["2:25: These steps wait for each other: a -> c -> b -> a."],
            id="a cycle",
        ),
        pytest.param("system: '{steps.a}'\nsteps: {a: {prompt: p}}\n",
                     ["1:10: {steps.a} can be used only within a step."], id="an answer for everybody"),
        pytest.param("x: &x {prompt: p}\nsteps: {a: {<<: *x}}\n",
                     [f"1:1: A playbook has no key 'x'. {MAY_HAVE}",
                      "2:9: The step a has no prompt: what is its agent to do?",
                      "2:13: << is not understood here. Write out what it stands for."], id="a merge"),
    ],
)  # fmt: skip
def test_everything_that_is_wrong_is_told_with_its_place(text: str, expected: list[str]):
    assert problems_of(text) == [f"review.yaml:{problem}" for problem in expected]


def test_a_file_that_is_wrong_in_many_places_tells_the_first_ones_and_how_many_there_are():
    told = problems_of("prompt: p\n" + "".join(f"key{n}: 1\n" for n in range(30)))
    assert [line.split(" It may")[0] for line in (told[0], told[19])] == [
        "review.yaml:2:1: A playbook has no key 'key0'.",
        "review.yaml:21:1: A playbook has no key 'key19'.",
    ]
    assert told[20:] == ["review.yaml: … and 10 more."]


DOUBLING = "x0: &x0 [a]\n" + "".join(f"x{n}: &x{n} [*x{n - 1}, *x{n - 1}]\n" for n in range(1, 60))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 100_000, id="nested deeply"),
        pytest.param(DOUBLING, id="anchors that double each time"),
        pytest.param("s: &s [*s]\nprompt: p\nsteps: *s\n", id="an anchor inside itself"),
        pytest.param("n: &n [" + "a, " * 5_000 + "]\nsteps:\n" + "- {needs: *n}\n" * 5_000, id="wide"),
        pytest.param("prompt: '" + "{a}" * 50_000 + "'\n", id="many placeholders"),
    ],
)  # fmt: skip
def test_no_file_keeps_us_busy_for_long(text: str):
    began = time.process_time()
    assert problems_of(text)
    assert time.process_time() - began < 20


@given(st.text() | st.from_regex(r"(steps|args|prompt|needs|a): ([\[{]?[a-c{}*&!|<>,: \n-]*[\]}]?\n)+", fullmatch=True))
def test_whatever_a_file_holds_it_is_read_or_refused(text: str):
    try:
        parse_playbook(text, "f")
    except InvalidFile as refused:
        assert all(problem.startswith("f:") for problem in refused.problems)


def test_playbooks_of_lionagi_are_read_and_what_is_not_used_is_known():
    packaged = pytest.importorskip("lionagi.studio").__path__[0]
    found = {path.name: load_playbook(str(path)) for path in Path(packaged, "builtin_playbooks").glob("*.yaml")}
    assert found
    assert all(len(playbook.steps) == 1 for playbook in found.values())
    hinted = found["chatgpt-orchestrate.playbook.yaml"]
    assert hinted.arguments == {
        "tabs": Argument("tabs", default=""),
        "poll": Argument("poll", "bool", "false"),
        "harvest": Argument("harvest", "bool", "false"),
    }
    assert found["persistent-chat.playbook.yaml"].team == "ongoing-chat"
    assert found["feature.playbook.yaml"].unused == ("max-ops", "show-graph")


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("a/audit.playbook.yaml", "prompt: p", "audit"),
        ("a/.hidden.yaml", "prompt: p", "hidden"),
        ("a/...", "prompt: p", "flow"),
        ("a/b.yaml", "prompt: p\nname: |\n  My\n  flow\n", "My flow"),
    ],
)
def test_a_playbook_is_called_as_it_says_or_as_its_file_is(path: str, text: str, name: str):
    assert parse_playbook(text, path).name == name


def test_a_playbook_is_found_by_its_name(tmp_path: Path):
    (tmp_path / "playbooks").symlink_to(FIXTURES)
    assert find_playbook(str(tmp_path), "audit").name == "audit"
    with pytest.raises(NotFound, match=r"There is no playbook 'audits'\. Did you mean audit\?") as unknown:
        find_playbook(str(tmp_path), "audits")
    assert unknown.value.hint == "li playbooks ls shows what there is."
    for name in ("../playbooks/audit", "audit.playbook.yaml", ""):
        with pytest.raises(NotFound):
            find_playbook(str(tmp_path), name)
    with pytest.raises(NotFound) as none:
        find_playbook(str(tmp_path / "nowhere"), "audit")
    assert none.value.hint == f"Each is a file: {tmp_path}/nowhere/playbooks/NAME.yaml"


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path):
    with pytest.raises(NotFound, match="There is no file"):
        load_playbook(str(tmp_path / "none.yaml"))
    (tmp_path / "bytes.yaml").write_bytes(b"prompt: \xff")
    (tmp_path / "huge.yaml").write_bytes(b"#" * 300_000)
    for name, why in (("bytes.yaml", "It is not UTF-8 (byte 9)."), ("huge.yaml", "It is larger than 256 KB.")):
        with pytest.raises(InvalidFile) as refused:
            load_playbook(str(tmp_path / name))
        assert list(refused.value.problems) == [f"{tmp_path / name}: {why}"]


ARGUMENTS = {
    "path": Argument("path", help="what to review"),
    "depth": Argument("depth", default="normal", choices=("quick", "normal")),
    "rounds": Argument("rounds", "int", "3"),
    "strict": Argument("strict", "bool", "false"),
}


def test_what_is_typed_fills_the_arguments():
    typed, others = split_typed(["path=src/a=b", "strict=Yes", "what", "1=2", "rounds=+4"])
    assert (typed, others) == ({"path": "src/a=b", "strict": "Yes", "rounds": "+4"}, ["what", "1=2"])
    assert bind_arguments(ARGUMENTS, typed) == (
        {"path": "src/a=b", "depth": "normal", "rounds": "4", "strict": "true"},
        [],
    )
    with pytest.raises(InvalidRequest, match="The argument a is given twice"):
        split_typed(["a=1", "a=2"])


def test_everything_that_is_wrong_with_what_is_typed_is_told():
    _, problems = bind_arguments(ARGUMENTS, {"detph": "quick", "rounds": "many", "depth": "deep", "strict": "perhaps"})
    assert problems == [
        "There is no argument 'detph'. Did you mean depth? It takes: path=…, depth=…, rounds=…, strict=….",
        "The argument path is missing: path=STR, what to review.",
        "depth is one of quick, normal, not 'deep'.",
        "rounds is a whole number, not 'many'.",
        "strict is true or false, not 'perhaps'.",
    ]


def test_what_a_value_says_is_text_whatever_is_in_it():
    values = {"a": "{b} {{a}} \\1", "b": "B", "steps.plan": "{a}"}
    assert fill('{a}|{b}|{{b}}|{steps.plan}|{"a": {}}|{ a }|{1}', values) == (
        '{b} {{a}} \\1|B|{b}|{a}|{"a": {}}|{ a }|{1}'
    )
    assert [found.name for found in find_placeholders("{a} {{b}} {steps.plan} {c d}")] == ["a", "steps.plan"]


def test_a_cycle_is_found_wherever_it_is():
    chain = {str(n): [str(n + 1)] for n in range(250)}
    assert find_cycle(chain) is None
    assert find_cycle({**chain, "249": ["247"]}) == ("247", "248", "249")
    assert find_cycle({"a": ["b", "c"], "b": [], "c": ["d", "a"], "d": []}) == ("a", "c")


def test_the_name_of_a_step_in_braces_is_told_how_its_answer_is_called() -> None:
    text = "model: exec/cat\nsteps:\n  one: {prompt: Go}\n  two:\n    prompt: 'Use {one}'\n"
    with pytest.raises(InvalidFile) as told:
        parse_playbook(text, "flow.yaml")
    assert told.value.problems == [
        "flow.yaml:5:18: {one} is no argument of this playbook. The answer of that step is {steps.one}."
    ]
