"""The wheel holds all that is needed, and works in a clean environment."""

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent


def build(folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("lionstudio-*.whl")
    return wheel


def test_the_wheel_records_and_reads_in_a_clean_environment(tmp_path: Path, home: Path) -> None:
    wheel = build(tmp_path / "dist")
    assert any(name.endswith("migrations/postgres/0001_initial.sql") for name in zipfile.ZipFile(wheel).namelist())
    venv.create(tmp_path / "clean", with_pip=True)
    bin = tmp_path / "clean" / "bin"
    install = [str(bin / "pip"), "install", "--quiet", "-c", str(ROOT / "constraints.txt"), str(wheel)]
    subprocess.run(install, check=True, capture_output=True, cwd=tmp_path)
    script = """if True:
        import lionstudio
        with lionstudio.record("from the wheel") as run:
            run.user("hello")
        print(lionstudio.open().messages(run.session_id)[0].content["instruction"])
    """
    environment = {**os.environ, "PYTHONPATH": ""}
    answer = subprocess.run(
        [bin / "python", "-c", script], capture_output=True, text=True, env=environment, cwd=tmp_path
    )
    assert (answer.stdout, answer.stderr) == ("hello\n", "")
    for command in ("li", "lionstudio"):
        said = subprocess.run([bin / command, "--version"], capture_output=True, text=True, env=environment, check=True)
        assert said.stdout.startswith("lionstudio ")
