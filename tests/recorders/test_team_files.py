"""Team files on disk: locked, whole after a crash, shared with lionagi."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lionstudio.domain.errors import AlreadyExists, Error, InvalidContent, Unavailable
from lionstudio.domain.team import Team
from lionstudio.domain.team_files import TeamFile, new_team_file, with_members, with_message
from lionstudio.recorders import team_files
from lionstudio.recorders.team_files import change_file, create_file, read_file, remove_file
from lionstudio.recorders.team_finding import find_file, list_candidates, read_each
from tests.waiting import wait_until

AT = 1_790_000_000.0


def make(folder: Path, team_id: str = "t1", name: str = "ops", **more: object) -> str:
    return create_file(str(folder), new_team_file(Team(team_id, name, AT, AT, ("ana", "bo"))._replace(**more)))


def say(file: TeamFile, text: str) -> TeamFile:
    return with_message(file, id=text, sender="ana", recipients=["all"], content=text, at=AT, session_id=None)


def texts(path: str) -> list[str]:
    return [message["content"] for message in json.loads(Path(path).read_text())["messages"]]


def test_a_file_is_created_changed_and_read(tmp_path):
    path = make(tmp_path / "teams")
    after = change_file(path, lambda file: say(file, "hello"))
    assert read_file(path) == after
    assert texts(path) == ["hello"]
    assert os.listdir(tmp_path / "teams") == ["t1.json"]
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_a_team_gets_one_file(tmp_path):
    make(tmp_path)
    with pytest.raises(AlreadyExists):
        make(tmp_path)


def test_a_change_that_fails_leaves_the_file_as_it_is(tmp_path):
    path = make(tmp_path)
    before = Path(path).read_bytes()
    with pytest.raises(InvalidContent):
        change_file(path, lambda file: TeamFile({**file.fields, "odd": {1, 2}}, file.team))
    assert Path(path).read_bytes() == before
    assert os.listdir(tmp_path) == ["t1.json"]


def test_a_file_whose_writer_died_in_the_middle_is_mended_from_what_lies_beside(tmp_path):
    path = make(tmp_path)
    change_file(path, lambda file: say(file, "one"))
    whole = Path(path).read_bytes()
    Path(path + ".new").write_bytes(whole)
    Path(path).write_bytes(whole[:40])
    assert [message["content"] for message in read_file(path).fields["messages"]] == ["one"]
    assert Path(path).read_bytes() == whole
    assert os.listdir(tmp_path) == ["t1.json"]


def test_a_whole_file_is_not_overwritten_by_what_lies_beside(tmp_path):
    path = make(tmp_path)
    Path(path + ".new").write_bytes(Path(path).read_bytes())
    Path(path).write_text(Path(path).read_text().replace('"ops"', '"port"'))
    assert change_file(path, lambda file: say(file, "one")).team.name == "port"


def test_a_file_beside_that_is_not_whole_is_not_used(tmp_path):
    path = make(tmp_path)
    Path(path + ".new").write_bytes(Path(path).read_bytes()[:30])
    change_file(path, lambda file: say(file, "one"))
    assert texts(path) == ["one"]


WRITE_FOR_EVER = """
import sys
from tests.recorders.test_team_files import change_file, say
number = 0
while True:
    change_file(sys.argv[1], lambda file: say(file, f"{number} " + "x" * 3000) if number % 50 else
                file._replace(fields={**file.fields, "messages": []}))
    number += 1
    print(number, flush=True)
"""


def test_killing_a_writer_at_any_moment_leaves_a_file_that_can_be_read(tmp_path):
    path = make(tmp_path)
    for _ in range(8):
        with subprocess.Popen(
            [sys.executable, "-c", WRITE_FOR_EVER, path], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            for _ in range(5):
                last = writer.stdout.readline()
            writer.send_signal(signal.SIGKILL)
        kept = [message["content"].split()[0] for message in read_file(path).fields["messages"]]
        assert not kept or int(kept[-1]) >= int(last) - 1  # what was acknowledged is there


def test_a_locked_file_is_waited_for(tmp_path):
    path = make(tmp_path)
    with open(path, "r+") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        code = (
            "import sys; from tests.recorders.test_team_files import *; change_file(sys.argv[1], lambda f: say(f, 'x'))"
        )
        with subprocess.Popen([sys.executable, "-c", code, path]) as other:
            wait_until(lambda: path in _open_files(other.pid))
            assert texts(path) == []
            fcntl.flock(holder, fcntl.LOCK_UN)
            assert other.wait(20) == 0
    assert texts(path) == ["x"]


def _open_files(pid: int) -> list[str]:
    folder = f"/proc/{pid}/fd"
    try:
        return [os.readlink(f"{folder}/{name}") for name in os.listdir(folder)]
    except OSError:
        return []


def test_a_file_that_stays_locked_is_said_to_be(tmp_path, monkeypatch):
    path = make(tmp_path)
    monkeypatch.setattr(team_files, "LOCKED_FOR_TOO_LONG", 0.01)
    with open(path, "r+") as holder:
        fcntl.flock(holder, fcntl.LOCK_EX)
        with pytest.raises(Unavailable, match="locked"):
            read_file(path)


def test_a_full_disk_refuses_and_keeps_what_was_there(small_disk):
    path = make(small_disk)
    change_file(path, lambda file: say(file, "kept"))
    with pytest.raises(Unavailable, match="No space left"):
        change_file(path, lambda file: say(file, "x" * 3_000_000))
    assert texts(path) == ["kept"]
    assert os.listdir(small_disk) == ["t1.json"]


def test_nothing_is_lost_between_us_and_lionagi(tmp_path):
    path = make(tmp_path)
    theirs = (
        "import sys, pathlib, lionagi.cli.team as team\n"
        "team.TEAMS_DIR = pathlib.Path(sys.argv[1]).parent\n"
        "for n in range(30):\n"
        "    team.post_done_signal('t1', worker='bo', summary=f'theirs {n}')\n"
    )
    ours = (
        "import sys; from tests.recorders.test_team_files import *\n"
        "for n in range(30): change_file(sys.argv[1], lambda f: say(f, f'ours {n}'))\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, path]) for code in (theirs, ours, theirs, ours)]
    assert [writer.wait(120) for writer in writers] == [0, 0, 0, 0]
    found = texts(path)
    assert sorted(found) == sorted([f"{who} {n}" for n in range(30) for who in ("theirs", "ours")] * 2)


def test_a_file_is_found_by_the_id_of_its_team(tmp_path):
    make(tmp_path, "abc1", "ops")
    make(tmp_path, "naïve / 🦁", "lion")
    (tmp_path / "bad.json").write_text("{")
    for team_id in ("abc1", "naïve / 🦁"):
        found = find_file(str(tmp_path), team_id)
        assert found is not None
        assert found.file.team.id == team_id
    assert [find_file(str(tmp_path), no_id) for no_id in ("ops", "abc", "")] == [None] * 3
    assert find_file(f"{tmp_path}/none", "abc1") is None


def test_who_may_be_meant_is_among_the_candidates(tmp_path):
    for team_id, name in (("abc1", "ops"), ("abd2", "naïve / 🦁"), ("xyz", "ab")):
        make(tmp_path, team_id, name)
    (tmp_path / "bad.json").write_text("{")
    found = {
        typed: [one.file.team.id for one in list_candidates(str(tmp_path), typed)]
        for typed in ("abc1", "ops", "abd", "naïve / 🦁", "ab")
    }
    assert found["abc1"] == found["ops"] == ["abc1"]
    assert found["abd"] == found["naïve / 🦁"] == ["abd2"]
    assert found["ab"] == ["abc1", "abd2", "xyz"]
    assert list_candidates(f"{tmp_path}/none", "ops") == []


@pytest.mark.parametrize(("usual", "used"), [("ops-1", "ops-1.json"), ("other", "a.json")])
def test_of_two_files_with_one_team_one_is_used_and_the_other_names_it(tmp_path, usual, used):
    path = make(tmp_path, "ops-1")
    for name in ("a.json", "z.json"):
        (tmp_path / name).write_text(Path(path).read_text())
    os.rename(path, tmp_path / f"{usual}.json")
    read = dict(read_each(str(tmp_path)))
    assert [Path(path).name for path, file in read.items() if not isinstance(file, Error)] == [used]
    copies = [file for file in read.values() if isinstance(file, Error)]
    assert len(copies) == 2
    assert all(f"{tmp_path}/{used}, which is used" in error.message for error in copies)
    found = find_file(str(tmp_path), "ops-1")
    (meant,) = list_candidates(str(tmp_path), "ops")
    assert found is not None
    assert found.path == meant.path == str(tmp_path / used)


@pytest.mark.parametrize("typed", ["../secret", "/etc/passwd", "..", "x" * 4000, "a\0b", "\udcff"])
def test_what_is_typed_cannot_lead_out_of_the_folder(tmp_path, typed):
    make(tmp_path, "secret", "secret")
    (tmp_path / "teams").mkdir()
    assert find_file(str(tmp_path / "teams"), typed) is None


def test_what_cannot_be_read_is_named(tmp_path):
    make(tmp_path, "good")
    (tmp_path / "broken.json").write_text('{"id": "x"')
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    (tmp_path / "latin.json").write_bytes(b'{"name": "\xe9"}')
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "notes.txt").write_text("not meant")
    read = {os.path.basename(path): file for path, file in read_each(str(tmp_path))}
    assert sorted(name for name, file in read.items() if isinstance(file, Error)) == [
        "broken.json", "folder.json", "latin.json", "loop.json", "pipe.json",
    ]  # fmt: skip
    assert [name for name, file in read.items() if isinstance(file, TeamFile)] == ["good.json"]


def test_a_file_goes_only_if_it_still_may(tmp_path):
    path = make(tmp_path)
    assert not remove_file(path, lambda file: False)
    assert os.path.exists(path)
    Path(path + ".new").write_text("what a dying process left")
    assert remove_file(path, lambda file: file.team.name == "ops")
    assert os.listdir(tmp_path) == []


def test_a_file_that_was_replaced_meanwhile_is_the_one_that_is_changed(tmp_path):
    path = make(tmp_path)
    other = tmp_path / "other"
    other.write_text(Path(path).read_text().replace('"ops"', '"port"'))
    os.replace(other, path)
    assert change_file(path, lambda file: with_members(file, ["zoe"])).team.name == "port"
