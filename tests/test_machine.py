"""Operating-system facts, asked about real processes, folders and file systems."""

import errno
import os
import resource
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from lionstudio import machine
from lionstudio.domain.process import SeenProcess

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="asks the Linux kernel")
PATIENCE = 20.0  # seconds before a test gives up on an event that must come


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until its standard input is closed."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
    yield process
    process.kill()
    process.communicate()


def end_without_collecting(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)


def readable(watched: object) -> bool:
    return bool(select.select([watched], [], [], PATIENCE)[0])


@LINUX
def test_this_machine_has_a_name_a_boot_and_a_namespace():
    place = machine.here()
    assert place.host is not None
    assert place.host.startswith(os.uname().nodename)
    assert place.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert place.pid_namespace == os.readlink("/proc/self/ns/pid")


@LINUX
def test_two_machines_of_one_name_are_two_hosts(tmp_path, monkeypatch):
    hosts = []
    for machine_id in ("5f1e0a7c2b9d4e6f8091a2b3c4d5e6f7", "9f0e5d1b2c3a4e5f8a7b6c5d4e3f2a1b"):
        (tmp_path / machine_id).write_text(f"{machine_id}\n")
        monkeypatch.setattr(machine, "MACHINE_ID_FILES", (str(tmp_path / machine_id),))
        hosts.append(machine.here().host)
    name = os.uname().nodename
    assert hosts == [f"{name}-e23205", f"{name}-98ce91"]


@LINUX
@pytest.mark.parametrize("content", [None, b"", b"\n", b"uninitialized\n"], ids=["no file", "empty", "blank", "unset"])
def test_a_machine_without_an_id_is_called_by_its_name(tmp_path, monkeypatch, content):
    if content is not None:
        (tmp_path / "machine-id").write_bytes(content)
    monkeypatch.setattr(machine, "MACHINE_ID_FILES", (str(tmp_path / "machine-id"),))
    assert machine.here().host == os.uname().nodename


@LINUX
def test_the_id_of_the_machine_is_found_where_it_is_kept(tmp_path, monkeypatch):
    (tmp_path / "empty").touch()
    (tmp_path / "second").write_text("5f1e0a7c2b9d4e6f8091a2b3c4d5e6f7")
    monkeypatch.setattr(machine, "MACHINE_ID_FILES", (str(tmp_path / "empty"), str(tmp_path / "second")))
    assert machine._machine_id() == b"5f1e0a7c2b9d4e6f8091a2b3c4d5e6f7"


@pytest.mark.parametrize(
    ("namespace", "expected"),
    [
        pytest.param(machine.INITIAL_PID_NAMESPACE, False, id="the first one of the kernel"),
        pytest.param(machine.NO_NAMESPACES, False, id="a system without them"),
        pytest.param("pid:[4026532801]", True, id="a container"),
        pytest.param(None, True, id="nobody can tell"),
    ],
)
def test_a_process_in_a_pid_namespace_of_its_own_may_be_unseen(monkeypatch, namespace, expected):
    monkeypatch.setattr(machine, "_pid_namespace", lambda: namespace)
    assert machine.may_be_unseen() is expected


@LINUX
def test_a_process_that_was_put_into_a_new_pid_namespace_knows_it():
    ask = "from lionstudio import machine; print(machine.may_be_unseen())"
    command = ["unshare", "--user", "--pid", "--fork", "--mount-proc", sys.executable, "-c", ask]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this system does not let us make a pid namespace")
    assert answer.stdout.strip() == "True"


def test_the_place_is_the_same_each_time_and_in_a_child():
    ask = "from lionstudio import machine; print(machine.here())"
    answer = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == str(machine.here())


@LINUX
def test_a_living_child_is_seen_with_its_start_time_and_state(child):
    seen = machine.look_at(child.pid)
    assert seen is not None
    assert seen.start_time is not None
    assert seen.state in {"R", "S", "D"}
    again = machine.look_at(child.pid)
    assert again is not None
    assert again.start_time == seen.start_time


@LINUX
def test_a_process_began_when_its_parent_started_it():
    before = time.time()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        seen = machine.look_at(process.pid)
        after = time.time()
        process.kill()
    assert seen is not None
    began = machine.started_at(seen)
    assert began is not None
    assert before - 1 < began < after + 1
    assert machine.started_at(seen._replace(start_time=None)) is None


def test_a_later_process_has_another_identity(child):
    first = machine.look_at(child.pid)
    own = machine.own_identity()
    assert first is not None
    assert own.pid == os.getpid()
    assert (own.pid, own.start_time) != (first.pid, first.start_time)
    assert own.start_time is not None
    assert first.start_time > own.start_time


@LINUX
def test_a_child_that_ended_and_was_not_collected_is_a_zombie(child):
    alive = machine.look_at(child.pid)
    end_without_collecting(child)
    seen = machine.look_at(child.pid)
    assert seen is not None
    assert alive is not None
    assert (seen.state, seen.start_time) == ("Z", alive.start_time)


def test_a_child_that_was_collected_is_gone(child):
    child.communicate(b"\n")
    assert machine.look_at(child.pid) is None


@pytest.mark.parametrize("pid", [0, -1])
def test_a_number_that_is_no_pid_cannot_be_looked_at(pid):
    with pytest.raises(machine.CannotLook):
        machine.look_at(pid)


@LINUX
@pytest.mark.parametrize("refusal", [PermissionError, FileNotFoundError], ids=["forbidden", "hidden"])
def test_a_process_that_is_kept_from_us_is_not_called_gone(child, monkeypatch, refusal):
    def open_refused(path: str, *_: object, **__: object) -> None:
        raise refusal(errno.EACCES, "kept from us", path)

    monkeypatch.setattr(os, "open", open_refused)
    with pytest.raises(machine.CannotLook):
        machine.look_at(child.pid)


@LINUX
def test_what_the_system_keeps_to_itself_is_none(monkeypatch):
    def refused(path: str, *_: object, **__: object) -> None:
        raise FileNotFoundError(errno.ENOENT, "no such thing", path)

    monkeypatch.setattr("builtins.open", refused)
    monkeypatch.setattr(os, "open", refused)
    monkeypatch.setattr(os, "readlink", refused)
    place = machine.here()
    assert (place.boot_id, place.pid_namespace) == (None, None)
    assert machine.own_identity() == SeenProcess(os.getpid())


@pytest.mark.parametrize(
    "command",
    ["sh", "a b", ")", "x) R 1 2", "(((("],
    ids=["plain", "with a space", "a parenthesis", "a name that looks like fields", "open parentheses"],
)
def test_a_command_name_does_not_shift_the_fields_of_a_process(command):
    fields = " ".join(str(number) for number in range(4, 53))
    stat = f"77 ({command}) S {fields}\n".encode()
    assert machine._seen_in_stat(77, stat) == SeenProcess(77, start_time=22, state="S")


def test_a_macos_process_record_is_read_at_its_offsets():
    record = bytearray(machine.BSDINFO_SIZE)
    record[4:8] = (5).to_bytes(4, "little")
    record[120:128] = (1_700_000_000).to_bytes(8, "little")
    record[128:136] = (123_456).to_bytes(8, "little")
    expected = SeenProcess(9, start_time=1_700_000_000_123_456, state="Z")
    assert machine._seen_in_bsdinfo(9, bytes(record)) == expected


@LINUX
def test_the_death_of_a_child_makes_its_watch_readable(child):
    watch = machine.watch_death(child.pid)
    assert watch is not None
    try:
        assert select.select([watch], [], [], 0)[0] == []
        child.kill()
        assert readable(watch)
    finally:
        os.close(watch)


def test_watching_for_a_death_that_has_happened_says_so(child):
    child.communicate(b"\n")
    with pytest.raises(ProcessLookupError):
        machine.watch_death(child.pid)


@pytest.mark.parametrize("pid", [-1, 0, 2**31, 2**60])
def test_a_number_that_is_no_pid_cannot_be_watched(pid):
    with suppress(ProcessLookupError):
        assert machine.watch_death(pid) is None


def test_the_number_of_descriptors_is_the_limit_of_this_process():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft - 1, hard))
    try:
        assert machine.most_descriptors() == soft - 1
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@LINUX
def test_a_system_that_forbids_death_watches_gives_none(child, monkeypatch):
    def refused(pid: int) -> int:
        raise PermissionError(errno.EPERM, "not in this sandbox")

    monkeypatch.setattr(os, "pidfd_open", refused)
    assert machine.watch_death(child.pid) is None


@LINUX
def test_a_write_by_another_process_wakes_the_folder_watch(tmp_path):
    (tmp_path / "log").write_text("")
    with machine.watch_folder(tmp_path) as watch:
        assert watch.read() == frozenset()
        subprocess.run(["sh", "-c", 'echo x >> "$0/log"', str(tmp_path)], check=True)
        assert readable(watch)
        assert watch.read() == {"log"}
        assert watch.read() == frozenset()


@LINUX
@pytest.mark.parametrize(
    ("act", "expected"),
    [
        pytest.param(lambda folder: (folder / "new").touch(), {"new"}, id="created"),
        pytest.param(lambda folder: (folder / "old").unlink(), {"old"}, id="deleted"),
        pytest.param(lambda folder: (folder / "old").rename(folder / "b"), {"old", "b"}, id="renamed"),
        pytest.param(lambda folder: (folder / "naïve ü").touch(), {"naïve ü"}, id="a name beyond ASCII"),
    ],
)
def test_a_folder_watch_names_what_was_touched(tmp_path, act, expected):
    (tmp_path / "old").touch()
    with machine.watch_folder(tmp_path) as watch:
        act(tmp_path)
        assert watch.read() == expected


@LINUX
def test_a_folder_that_is_removed_is_told_by_the_empty_name(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with machine.watch_folder(folder) as watch:
        folder.rmdir()
        assert watch.read() == {""}


@LINUX
def test_a_folder_watch_closes_once_and_leaves_no_descriptor(tmp_path):
    before = os.listdir("/proc/self/fd")
    watch = machine.watch_folder(tmp_path)
    watch.close()
    watch.close()
    assert os.listdir("/proc/self/fd") == before


@LINUX
def test_what_is_no_folder_cannot_be_watched(tmp_path):
    (tmp_path / "file").touch()
    before = os.listdir("/proc/self/fd")
    with pytest.raises(NotADirectoryError):
        machine.watch_folder(tmp_path / "file")
    with pytest.raises(FileNotFoundError):
        machine.watch_folder(tmp_path / "nowhere")
    assert os.listdir("/proc/self/fd") == before


MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:50 / /home rw - nfs4 server:/home rw,vers=4.2
31 30 0:51 / /home/ana/local rw - ext4 /dev/sdb rw
32 22 0:52 / /mnt/my\\040share rw - cifs //server/share rw
33 22 0:53 / /mnt/over rw - ext4 /dev/sdc rw
34 33 0:54 / /mnt/over rw - fuse.sshfs me@host:/ rw
35 22 0:55 / /mnt/fuse rw - fuse.something thing rw
36 22 0:56 / /mnt/disk rw - fuseblk /dev/sdd rw
"""


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/var/lib", False),
        ("/", False),
        ("/home", True),
        ("/home/ana/state.db", True),
        ("/homely", False),
        ("/home/ana/local/state.db", False),
        ("/mnt/my share/state.db", True),
        ("/mnt/over/state.db", True),
        ("/mnt/fuse/state.db", None),
        ("/mnt/disk/state.db", False),
    ],
)
def test_the_file_system_that_holds_a_path_decides(path, expected):
    assert machine._is_network(machine._filesystem_at(path, MOUNTS)) is expected


def test_without_any_mount_nothing_is_known():
    assert machine._is_network(machine._filesystem_at("/home", "garbage\n\n- \n")) is None


@LINUX
def test_the_process_file_system_is_not_a_network():
    assert machine.is_network_filesystem("/proc") is False


@LINUX
def test_a_path_that_does_not_exist_yet_is_judged_by_its_folder(tmp_path):
    assert machine.is_network_filesystem(tmp_path / "a" / "b.db") is machine.is_network_filesystem(tmp_path)


def test_a_folder_is_synced_and_a_missing_one_is_an_error(tmp_path):
    before = len(os.listdir("/dev/fd"))
    machine.sync_folder(tmp_path)
    assert len(os.listdir("/dev/fd")) == before
    with pytest.raises(FileNotFoundError):
        machine.sync_folder(tmp_path / "nowhere")


def test_importing_it_loads_neither_ctypes_nor_select():
    ask = "import sys; old = set(sys.modules); from lionstudio import machine; print(*set(sys.modules) - old)"
    answer = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert "lionstudio.machine" in answer.stdout.split()
    assert not {"ctypes", "hashlib", "select", "socket", "subprocess", "psutil", "pathlib"} & set(answer.stdout.split())
