"""The page about lionagi is true: its examples run against the real package."""

import os
import re
import subprocess
import sys
from pathlib import Path

from lionagi.tools.coding import ALL_CODING_TOOLS

from lionstudio.recorders import lionagi
from tests.fakes.fake_openai import FakeOpenAI

PAGE = (Path(__file__).parent.parent / "docs" / "lionagi.md").read_text()
END = "-- end of example --"


def test_every_example_prints_what_the_page_says(home: Path, tmp_path: Path, model_server: FakeOpenAI) -> None:
    usage = {"input": 110, "output": 4}
    model_server.script.add({"text": "It is test_parse.", "usage": usage}, {"text": "Yes.", "usage": usage})
    examples = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", PAGE, re.DOTALL)
    quiet = "import logging\nlogging.disable()\n"  # lionagi writes a log to stderr
    program = quiet + "".join(f"{code}\nprint({END!r})\n" for code, _ in examples)
    answer = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        env={**os.environ, "OPENAI_BASE_URL": f"{model_server.url}/v1"},
    )
    assert answer.stderr == ""
    assert answer.stdout.split(f"{END}\n")[:-1] == [expected for _, expected in examples]


def test_every_tool_and_every_public_name_is_on_the_page() -> None:
    names = [*ALL_CODING_TOOLS, "attach", "restore", "restore_branch", "keep_message", "restore_message"]
    assert [name for name in names if not re.search(rf"\b{name}\b", PAGE)] == []
    assert all(hasattr(lionagi, name) for name in names[len(ALL_CODING_TOOLS) :])
    assert lionagi.INSTALL in PAGE
