"""The page about HTTP is true: its examples run against a real server and print what the page says."""

import re
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "http.md").read_text()
ADDRESS = "http://127.0.0.1:8765"
END = "-- end of example --"


def examples() -> list[tuple[str, str]]:
    """Each example and what the page says that it prints."""
    return re.findall(r"```sh\n(.*?)```\n(?:\n```text\n(.*?)```)?", PAGE, re.DOTALL)


def test_every_example_prints_what_the_page_says(home: Path, tmp_path: Path) -> None:
    li = [sys.executable, "-m", "lionstudio", "studio", "--port", "0"]
    with subprocess.Popen(li, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            address = server.stderr.readline().split()[-1]
            script = "".join(f"{code}\necho '{END}'\n" for code, _ in examples()).replace(ADDRESS, address)
            answer = subprocess.run(["bash", "-eu", "-c", script], capture_output=True, text=True, timeout=60)
        finally:
            server.terminate()
    assert answer.stderr == ""
    printed = answer.stdout.split(f"{END}\n")[:-1]
    for (code, expected), said in zip(examples(), printed, strict=True):
        pattern = re.escape(expected).replace("…", "[^\n]+?")
        assert re.fullmatch(pattern, said), f"{code}\n{said}"
