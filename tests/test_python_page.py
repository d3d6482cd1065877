"""The page about the Python API is true: its examples run, and nothing public is missing from it."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lionstudio
from lionstudio.domain.session_list import SessionFilter, Sort, View

PAGE = (Path(__file__).parent.parent / "docs" / "python.md").read_text()
END = "-- end of example --"


def examples() -> list[tuple[str, str]]:
    """Each example and what the page says that it prints."""
    return re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", PAGE, re.DOTALL)


def test_every_example_prints_what_the_page_says(home: Path, tmp_path: Path) -> None:
    program = "".join(f"{code}\nprint({END!r})\n" for code, _ in examples())
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert answer.stderr == ""
    printed = answer.stdout.split(f"{END}\n")[:-1]
    for (code, expected), said in zip(examples(), printed, strict=True):
        pattern = re.escape(expected).replace("<Run\\ 'triage'\\ …>", "<Run 'triage' [0-9a-f-]{36}>")
        assert re.fullmatch(pattern, said), code


@pytest.mark.parametrize("owner", [lionstudio.Run, lionstudio.Reader])
def test_every_public_method_is_on_the_page(owner: type) -> None:
    names = [name for name, _ in inspect.getmembers(owner) if not name.startswith("_")]
    assert names
    assert [name for name in names if not re.search(rf"\b{name}\b", PAGE)] == []


def test_every_filter_view_order_and_argument_is_on_the_page() -> None:
    arguments = inspect.signature(lionstudio.record).parameters
    words = [*SessionFilter._fields, *(word.value for word in (*View, *Sort)), *arguments]
    assert [word for word in words if f"`{word}`" not in PAGE] == []
