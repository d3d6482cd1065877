"""The wheel holds all that is needed, works in a clean environment, and is built without a Node of the machine."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from hatch_build import STAMP, build_pages, digest_of_sources

ROOT = Path(__file__).parent.parent
SCRIPT = re.compile(r'src="(/assets/[^"]+\.js)"')
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


def build(folder: Path, target: str = "wheel") -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (made,) = folder.glob("lionstudio-*")
    return made


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment in which only the wheel was installed."""
    folder = tmp_path_factory.mktemp("clean")
    wheel = build(folder / "dist")
    assert any(name.endswith("migrations/postgres/0001_initial.sql") for name in zipfile.ZipFile(wheel).namelist())
    venv.create(folder / "venv", with_pip=True)
    bin = folder / "venv" / "bin"
    install = [str(bin / "pip"), "install", "--quiet", "-c", str(ROOT / "constraints.txt"), str(wheel)]
    subprocess.run(install, check=True, capture_output=True, cwd=folder)
    return bin


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "LIONSTUDIO_WEB"}}


def test_the_wheel_records_and_reads_in_a_clean_environment(clean: Path, tmp_path: Path, home: Path) -> None:
    script = """if True:
        import lionstudio
        with lionstudio.record("from the wheel") as run:
            run.user("hello")
        print(lionstudio.open().messages(run.session_id)[0].content["instruction"])
    """
    answer = subprocess.run(
        [clean / "python", "-c", script], capture_output=True, text=True, env=environment(), cwd=tmp_path
    )
    assert (answer.stdout, answer.stderr) == ("hello\n", "")
    for command in ("li", "lionstudio"):
        asked = [clean / command, "--version"]
        said = subprocess.run(asked, capture_output=True, text=True, env=environment(), check=True)
        assert said.stdout.startswith("lionstudio ")


@pytest.fixture
def address(clean: Path, tmp_path: Path, home: Path) -> Iterator[str]:
    """Where the studio of the wheel is."""
    command = [clean / "li", "studio", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment(), cwd=tmp_path) as process:
        assert process.stderr is not None
        try:
            said = ADDRESS.search(process.stderr.readline())
            assert said is not None
            yield said[0]
        finally:
            process.terminate()


def test_the_wheel_serves_its_pages_in_a_clean_environment(address: str) -> None:
    page = httpx2.get(f"{address}/runs/some-run")
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    (script,) = SCRIPT.findall(page.text)
    answer = httpx2.get(address + script)
    assert (answer.status_code, answer.headers["content-encoding"]) == (200, "gzip")
    assert "immutable" in answer.headers["cache-control"]
    assert httpx2.get(f"{address}/theme.js").status_code == 200


def test_who_builds_from_the_source_archive_needs_no_node(tmp_path: Path) -> None:
    with tarfile.open(build(tmp_path / "dist", "sdist")) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.glob("lionstudio-*")
    assert (source / "hatch_build.py").is_file()
    assert (source / "src/lionstudio/web/index.html").is_file()
    assert (source / "src/lionstudio/web" / STAMP).read_text().strip() == digest_of_sources(source / "web")


def test_the_pages_are_built_where_the_machine_has_no_node(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("sh", "env"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / "bin" / name).symlink_to(found)
    script = """if True:
        import sys
        from pathlib import Path
        from hatch_build import NODE_WHEEL, PagesHook, build_pages, machine_node
        assert machine_node() is None
        assert PagesHook.dependencies(None) == [NODE_WHEEL]
        assert build_pages(Path(sys.argv[1]))
    """
    built = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "web")],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, "PATH": str(tmp_path / "bin")},
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    assert '<script type="module"' in (tmp_path / "web" / "index.html").read_text()
    packed = list((tmp_path / "web" / "assets").glob("*.js.gz"))
    assert packed and all(path.with_suffix("").is_file() for path in packed)


def test_pages_that_are_there_already_are_not_built_again(tmp_path: Path) -> None:
    (tmp_path / STAMP).write_text(f"{digest_of_sources()}\n")
    assert not build_pages(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [STAMP]


def test_a_change_of_the_sources_is_seen_and_one_of_their_tests_is_not(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "main.tsx").write_text("1")
    before = digest_of_sources(tmp_path)
    (tmp_path / "src" / "main.test.tsx").write_text("1")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "index.js").write_text("1")
    assert digest_of_sources(tmp_path) == before
    (tmp_path / "src" / "main.tsx").rename(tmp_path / "src" / "other.tsx")
    assert digest_of_sources(tmp_path) != before
