"""li agents and li playbooks: files are read, shown and left alone, whatever is in them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import run_li

FIXTURES = Path(__file__).parents[1] / "fixtures"
GROUPS = ("agents", "playbooks")


@pytest.fixture
def files(home: Path) -> Path:
    for group in GROUPS:
        shutil.copytree(FIXTURES / group, home / group)
    return home


def test_agents_are_listed_with_what_their_files_say(files: Path):
    answer = run_li("agents", "ls")
    assert (answer.code, answer.err) == (0, "")
    assert [line.split(maxsplit=2) for line in answer.out.splitlines()] == [
        ["NAME", "MODEL", "DESCRIPTION"],
        ["architect", "claude/claude-sonnet-4-6", "Draws the plan before anyone builds."],
        ["plain", "No", "head, only a body."],
    ]


def test_playbooks_are_listed_for_programs(files: Path):
    answer = run_li("playbooks", "ls", "--json")
    assert answer.code == 0
    assert answer.objects == [
        {
            "name": "audit",
            "model": "claude-code/opus-4-7",
            "description": "Parametric audit: typed arguments, one worker a module.",
            "path": str(files / "playbooks" / "audit.playbook.yaml"),
            "problem": None,
        },
        {
            "name": "minimal",
            "model": None,
            "description": None,
            "path": str(files / "playbooks" / "minimal.yaml"),
            "problem": None,
        },
    ]


@pytest.mark.parametrize(
    ("group", "name", "file"), [("agents", "architect", "architect.md"), ("playbooks", "audit", "audit.playbook.yaml")]
)
def test_one_is_shown_as_it_is_written(files: Path, group, name, file):
    text = (files / group / file).read_text()
    answer = run_li(group, "show", name)
    assert (answer.code, answer.out, answer.err) == (0, text, "")
    [told] = run_li(group, "show", name, "--json").objects
    assert (told["name"], told["text"]) == (name, text)


def test_an_agent_may_have_a_folder_of_its_own(files: Path):
    (files / "agents" / "critic").mkdir()
    (files / "agents" / "critic" / "critic.md").write_text("Finds what is wrong.")
    assert "critic" in run_li("agents", "ls").out
    assert run_li("agents", "show", "critic").out == "Finds what is wrong.\n"


@pytest.mark.parametrize("group", GROUPS)
def test_where_there_is_none_it_says_how_one_comes_to_be(home: Path, group):
    answer = run_li(group, "ls")
    assert (answer.code, answer.out) == (0, "")
    assert f"There are no {group} yet. Each is a file: {home}/{group}/NAME." in answer.err
    assert run_li(group, "ls", "--json").out == ""


@pytest.mark.parametrize(("group", "word"), [("agents", "agent"), ("playbooks", "playbook")])
def test_an_unknown_name_is_refused_with_close_ones(files: Path, group, word):
    answer = run_li(group, "show", "audits")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.startswith(f"li: There is no {word} 'audits'.")
    assert f"li {group} ls" in answer.err
    assert ("Did you mean audit?" in answer.err) == (group == "playbooks")


def test_a_name_does_not_lead_out_of_the_folder(files: Path):
    (files / "secret.md").write_text("secret")
    for name in ("../secret", str(files / "secret"), "architect.md", ""):
        answer = run_li("agents", "show", name)
        assert (answer.code, answer.out) == (1, "")


MERGES = "a0: &a0 {k: v}\n" + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, 60))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param(b"a: [1", "It is not YAML: ", id="half written"),
        pytest.param(b"- a\n- b\n", "It holds no YAML mapping.", id="a list"),
        pytest.param(b"\xff\xfe", "It is not UTF-8 (byte 1).", id="not UTF-8"),
        pytest.param(b"a: \x00b", "It is not YAML: ", id="a NUL"),
        pytest.param(b'a: "\\UFFFFFFFF"', "It is not YAML", id="no character"),
        pytest.param(b"[" * 100_000, "It is nested too deeply.", id="nested"),
        pytest.param(b"#" * 300_000, "It is larger than 256 KB.", id="huge"),
        pytest.param(b"", "The file is empty.", id="empty"),
        pytest.param(b"a: !!python/object/apply:os.system ['touch pwned']\n", None, id="objects are not made"),
        pytest.param(MERGES.encode(), None, id="anchors that double each time"),
        pytest.param(b"description: {a: b}\nmodel: [x]\n? [k]\n: v\n", None, id="other shapes"),
    ],
)
def test_any_file_is_tolerated(files: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text, problem):
    monkeypatch.chdir(tmp_path)
    (files / "playbooks" / "bad.yaml").write_bytes(text)
    answer = run_li("playbooks", "ls", "--json")
    told = {one["name"]: one["problem"] for one in answer.objects}
    assert answer.code == 0
    assert told.keys() == {"audit", "bad", "minimal"}
    assert told["bad"] is None if problem is None else told["bad"].startswith(problem)
    assert run_li("playbooks", "ls").code == 0
    unreadable = problem is not None and ("UTF-8" in problem or "larger" in problem)
    assert run_li("playbooks", "show", "bad").code == int(unreadable)
    assert not (tmp_path / "pwned").exists()


def test_pipes_and_links_that_lead_nowhere_are_tolerated(files: Path):
    os.mkfifo(files / "agents" / "pipe.md")
    (files / "agents" / "lost.md").symlink_to("nowhere")
    (files / "agents" / "loop.md").symlink_to("loop.md")
    (files / "agents" / "folder.md").mkdir()
    problems = {one["name"]: one["problem"] for one in run_li("agents", "ls", "--json").objects}
    assert problems == {
        "architect": None,
        "loop": "It is a link that leads in circles.",
        "lost": "It is a link that leads nowhere.",
        "pipe": "It is not a file.",
        "plain": None,
    }


def test_a_broken_head_leaves_the_body(files: Path):
    (files / "agents" / "odd.md").write_text("---\nmodel: [\n---\n\nThe body.\n")
    told = {one["name"]: one for one in run_li("agents", "ls", "--json").objects}
    assert told["odd"]["description"] == "The body."
    assert told["odd"]["problem"].startswith("It is not YAML: ")


def test_hostile_text_cannot_steer_the_terminal(files: Path):
    (files / "agents" / "evil\x1b[2J.md").write_text('---\ndescription: "x\\e[31m"\n---\nbody \x1b]0;title\x07\n\u202e')
    for words in (("ls",), ("show", "evil\x1b[2J"), ("show", "evil\x1b[2")):
        answer = run_li("agents", *words)
        assert not set(answer.out + answer.err) & {"\x1b", "\x07", "\u202e"}
        assert "\\x1b" in answer.out + answer.err


def test_yaml_is_loaded_only_for_files_that_need_it(home: Path):
    (home / "agents").mkdir(parents=True)
    (home / "agents" / "plain.md").write_text("No head.")
    ask = "import sys; from lionstudio.cli.main import main; main(['agents', 'ls']); assert 'yaml' not in sys.modules"
    subprocess.run([sys.executable, "-c", ask], check=True, capture_output=True)


def test_a_head_without_an_end_an_empty_file_and_a_name_given_twice_are_problems(home: Path):
    for folder in GROUPS:
        (home / folder).mkdir(parents=True)
    (home / "agents" / "open.md").write_text("---\nmodel: sonnet\nYou draw plans.\n")
    (home / "agents" / "empty.md").write_text(" \n")
    (home / "playbooks" / "audit.playbook.yaml").write_text("description: the first\n")
    (home / "playbooks" / "audit.yaml").write_text("description: the second\n")
    (home / "playbooks" / "none.yaml").touch()
    agents = {one["name"]: (one["problem"], one["description"]) for one in run_li("agents", "ls", "--json").objects}
    assert agents == {
        "empty": ("The file is empty.", None),
        "open": ("Its head begins with --- and has no end: a second --- is missing.", None),
    }
    assert [(one["description"], one["problem"]) for one in run_li("playbooks", "ls", "--json").objects] == [
        ("the first", None),
        ("the second", "audit.playbook.yaml has this name, too, and is the one that is meant by it."),
        (None, "The file is empty."),
    ]
    assert run_li("playbooks", "show", "audit").out == "description: the first\n"
