"""The README is true: what it shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def test_the_example_prints_what_the_readme_says(home: Path) -> None:
    (example,), (expected,) = blocks("python"), blocks("text")
    answer = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, timeout=60)
    assert answer.stderr == ""
    pattern = re.escape(expected).replace("…", "[0-9a-f-]{36}")
    assert re.fullmatch(pattern, answer.stdout), answer.stdout
    assert (home / "state.db").exists()


def test_every_command_of_the_readme_that_asks_works_after_the_example(home: Path) -> None:
    (example,) = blocks("python")
    subprocess.run([sys.executable, "-c", example], capture_output=True, check=True)
    commands = [line.partition("#")[0].split()[1:] for line in "".join(blocks("console")).splitlines()]
    asked = [words for words in commands if words[:2] in (["li", "runs"], ["li", "state"]) and "import" not in words[2]]
    assert len(asked) == 6
    for _, *words in asked:
        answer = subprocess.run([sys.executable, "-m", "lionstudio.cli.main", *words], capture_output=True, text=True)
        assert answer.returncode == 0, answer.stderr
        assert answer.stdout


def test_every_make_target_in_the_readme_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"\$ make (\w+)", "".join(blocks("console")))
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_every_link_in_the_readme_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text())
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
