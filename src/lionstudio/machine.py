"""Every fact that only the operating system knows, with a Linux and a macOS answer.

What cannot be known is None or CannotLook, never "dead". `ctypes` and `select` are loaded inside the functions that
need them: most commands need none, and starting quickly is one of our promises.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

TYPE_CHECKING = False  # not from `typing`: loading that takes as long as starting Python
if TYPE_CHECKING:
    from collections.abc import Mapping

    from lionstudio.domain.process import Place, SeenProcess

NO_NAMESPACES = "none"  # systems where a pid means the same to every process
INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # the kernel gives its first one this number; from there all pids are seen
MACHINE_ID_FILES = ("/etc/machine-id", "/var/lib/dbus/machine-id")
HOST_MARK_BYTES = 3  # tells the machines of one team apart; what it is made from cannot be read back from it

# Offsets in macOS's `struct proc_bsdinfo` (sys/proc_info.h); they are part of its stable interface.
BSDINFO_FLAVOR, BSDINFO_SIZE = 3, 136
BSDINFO_STATUS, BSDINFO_START_SECONDS, BSDINFO_START_MICROSECONDS = slice(4, 8), slice(120, 128), slice(128, 136)
BSD_STATES: Mapping[int, str] = {1: "I", 2: "R", 3: "S", 4: "T", 5: "Z"}
STATFS_FLAGS, MNT_LOCAL = slice(64, 68), 0x1000

IN_MODIFY, IN_CLOSE_WRITE, IN_MOVED_FROM, IN_MOVED_TO = 0x2, 0x8, 0x40, 0x80
IN_CREATE, IN_DELETE, IN_DELETE_SELF, IN_MOVE_SELF, IN_ONLYDIR = 0x100, 0x200, 0x400, 0x800, 0x1000000
FOLDER_EVENTS = (
    IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF
)
PIDFD_SIGNAL_PROCESS_GROUP = 4  # sys/pidfd.h
PROC_PGRP_ONLY = 2  # macOS's sys/proc_info.h
MOST_PIDS = 65_536
LOOK_EVERY = 0.05  # seconds, where no death is told
EVENT_HEADER = 16  # struct inotify_event: watch, mask, cookie, length of the name that follows
EVENT_BUFFER = 64 * 1024

# File systems whose files another machine may change, or whose shared memory and locks reach no other machine.
NETWORK_FILESYSTEMS = frozenset(
    {
        *("nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afs", "coda", "ncpfs", "davfs", "9p", "vboxsf", "prl_fs"),
        *("ceph", "lustre", "gpfs", "beegfs", "orangefs", "pvfs2", "gfs2", "ocfs2"),
        *("fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse", "fuse.davfs"),
        *("fuse.davfs2", "fuse.vmhgfs-fuse", "fuse.juicefs", "fuse.moosefs"),
    }
)
# They carry whatever is behind them, near or far.
OPAQUE_FILESYSTEMS = ("fuse", "virtiofs")


class CannotLook(OSError):
    """The process may exist, but this system does not let us see it."""


def here() -> Place:
    """Where this process runs: what makes its pid mean something."""
    from lionstudio.domain.process import Place

    return Place(host=_host(), boot_id=_boot_id(), pid_namespace=_pid_namespace())


def may_be_unseen() -> bool:
    """Whether other processes of this machine may be unable to look at this one, so that only a heartbeat proves it."""
    return _pid_namespace() not in (INITIAL_PID_NAMESPACE, NO_NAMESPACES)


def own_identity() -> SeenProcess:
    """This process, as others will see it; its start time is None where the system does not tell."""
    from lionstudio.domain.process import SeenProcess

    pid = os.getpid()
    with suppress(CannotLook):
        return look_at(pid) or SeenProcess(pid)
    return SeenProcess(pid)


def look_at(pid: int) -> SeenProcess | None:
    """The process that has this pid now, None if there is none; raises CannotLook when that cannot be told."""
    if pid <= 0:  # to kill(2) these are groups of processes
        raise CannotLook(errno.EINVAL, f"{pid} is not the pid of a process")
    seen = None
    shown = True
    if sys.platform == "linux":
        seen = _look_linux(pid)
    elif sys.platform == "darwin":
        seen = _look_darwin(pid)
    else:
        shown = False
    if seen is not None:
        return seen
    # A pid that is hidden from us (hidepid, another user) reads as missing; only kill(2) can tell it from a gone one.
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except OSError as error:
        raise CannotLook(error.errno, f"pid {pid} exists but may not be looked at") from error
    if shown:
        raise CannotLook(errno.EACCES, f"pid {pid} exists but is not shown")
    from lionstudio.domain.process import SeenProcess

    return SeenProcess(pid)


def started_at(seen: SeenProcess) -> float | None:
    """When a process began, as a unix time by today's clock; None where the system does not tell."""
    began: float | None = None
    if seen.start_time is None:
        return None
    if sys.platform == "linux":
        import time

        booted_at = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
        began = booted_at + seen.start_time / os.sysconf("SC_CLK_TCK")
    elif sys.platform == "darwin":
        began = seen.start_time / 1_000_000
    return began


def watch_death(pid: int) -> int | None:
    """A file descriptor that becomes readable when the process ends; close it with os.close. None if not supported.

    Raises ProcessLookupError if the process is gone already. A pid may be given to another process before this call:
    look at it again afterwards and compare start times.
    """
    if sys.platform == "linux":
        try:
            return os.pidfd_open(pid)
        except ProcessLookupError:
            raise
        except (OSError, OverflowError):
            # An old kernel, a sandbox that forbids it, no descriptor left, or no pid of this system: the caller looks.
            return None
    elif sys.platform == "darwin":
        import select

        queue = select.kqueue()
        try:
            death = select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            queue.control([death], 0)
            return os.dup(queue.fileno())  # the queue lives as long as a descriptor of it
        finally:
            queue.close()
    else:
        return None


def has_child_ended(pid: int) -> bool:
    """Whether a child of this process has ended. It is not collected by that, so its number stays its own."""
    if hasattr(os, "waitid"):
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    seen = look_at(pid)  # macOS, before Python 3.13
    return seen is None or _has_ended(seen)


def child_news(pid: int) -> tuple[int | None, int | None]:
    """The signal that has stopped a child since the last look, and the exit code of one that has ended; a signal that
    ended it is negative. Where the system can tell it so, the child is not collected."""
    if not hasattr(os, "waitid"):  # macOS, before Python 3.13
        found, status = os.waitpid(pid, os.WNOHANG | os.WUNTRACED)
        if not found:
            return None, None
        return (os.WSTOPSIG(status), None) if os.WIFSTOPPED(status) else (None, os.waitstatus_to_exitcode(status))
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    if ended is not None:
        return None, ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
    with suppress(ChildProcessError):  # it ended in this moment
        stopped = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG)
        return None if stopped is None else stopped.si_status, None
    return None, None


def most_descriptors() -> int:
    """How many files, sockets and processes this process may hold open at once."""
    import resource

    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


class HeldProcess:
    """One process, held so that a signal reaches it or nobody, never a later process that was given its pid."""

    __slots__ = ("_fd", "pid", "start_time")

    def __init__(self, pid: int, start_time: float) -> None:
        """Raises ProcessLookupError if the process is gone, CannotLook if that cannot be told."""
        self.pid = pid
        self.start_time = start_time
        self._fd = watch_death(pid)
        try:
            if not self.is_alive():  # looked at after it was taken hold of: what was held is what is seen
                raise ProcessLookupError(errno.ESRCH, f"pid {pid} is not that process any more")
        except BaseException:
            self.close()
            raise

    def is_alive(self) -> bool:
        """Whether the very process still runs."""
        seen = look_at(self.pid)
        return seen is not None and seen.start_time == self.start_time and not _has_ended(seen)

    def send(self, number: int) -> None:
        """Send a signal; raises ProcessLookupError if the process is gone, PermissionError if it may not be sent."""
        if sys.platform == "linux" and self._fd is not None:
            import signal

            signal.pidfd_send_signal(self._fd, number)
            return
        if not self.is_alive():
            raise ProcessLookupError(errno.ESRCH, f"pid {self.pid} is gone")
        os.kill(self.pid, number)

    def send_to_group(self, number: int) -> None:
        """Send a signal to the whole group that this process leads or led, as long as somebody is in it."""
        if sys.platform == "linux" and self._fd is not None:
            import signal

            try:
                signal.pidfd_send_signal(self._fd, number, None, PIDFD_SIGNAL_PROCESS_GROUP)
                return
            except OSError as error:
                if error.errno != errno.EINVAL:  # before Linux 6.9
                    raise
        os.killpg(self.pid, number)

    def wait(self, seconds: float) -> bool:
        """Wait until the process has ended, but not longer than so; whether it has."""
        import select
        import time

        give_up = time.monotonic() + seconds
        death = select.poll()  # not select(2), which refuses descriptors from 1024 on
        if self._fd is not None:
            death.register(self._fd, select.POLLIN)
        while self.is_alive():
            left = give_up - time.monotonic()
            if left <= 0:
                return False
            if self._fd is None:
                time.sleep(min(left, LOOK_EVERY))
            else:
                death.poll(left * 1000)
        return True

    def close(self) -> None:
        """Let go; calling it again does no harm."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def __enter__(self) -> HeldProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def list_group(group: int) -> list[SeenProcess]:
    """The living processes of a process group, as far as this system shows them."""
    seen = []
    for pid in _group_pids(group):
        with suppress(CannotLook):
            found = look_at(pid)
            if found is not None and not _has_ended(found):
                seen.append(found)
    return seen


def list_descendants(pid: int) -> list[int]:
    """The processes that one has begun, and those that they have, as far as this system shows them."""
    found: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                for child in map(int, file.read().split()):
                    found += [child, *list_descendants(child)]
    return found


class FolderWatch:
    """Tells when files in one folder are written, created, renamed or deleted. Not its subfolders."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def fileno(self) -> int:
        return self._fd

    def read(self) -> frozenset[str]:
        """The names touched since the last call, without waiting; "" stands for the folder itself or lost events."""
        names: set[str] = set()
        with suppress(BlockingIOError):
            while events := os.read(self._fd, EVENT_BUFFER):
                names.update(_event_names(events))
        return frozenset(names)

    def close(self) -> None:
        """Stop watching; calling it again does no harm."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __enter__(self) -> FolderWatch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def watch_folder(path: str | os.PathLike[str]) -> FolderWatch | None:
    """Watch a folder; None where the system has no such service or none left. Raises OSError if it is no folder.

    macOS tells about a folder's entries but not about writes into its files, which is what we need: there the answer
    is None and callers look at regular intervals.
    """
    if sys.platform != "linux":
        return None
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if fd < 0:
        return None
    if libc.inotify_add_watch(fd, os.fsencode(path), FOLDER_EVENTS | IN_ONLYDIR) < 0:
        code = ctypes.get_errno()
        os.close(fd)
        if code in (errno.ENOSPC, errno.ENOMEM, errno.ENOSYS):
            return None
        raise OSError(code, os.strerror(code), os.fspath(path))
    return FolderWatch(fd)


def is_network_filesystem(path: str | os.PathLike[str]) -> bool | None:
    """Whether other machines may reach the same files, which forbids WAL; None where that cannot be told.

    The path need not exist yet.
    """
    place = os.path.realpath(path)
    if sys.platform == "linux":
        with (
            suppress(OSError),
            open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as mounts,
        ):
            return _is_network(_filesystem_at(place, mounts.read()))
    elif sys.platform == "darwin":
        return _is_remote_darwin(place)
    return None


def sync_folder(path: str | os.PathLike[str]) -> None:
    """Make the creation, renaming or deletion of files in a folder survive a power cut."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system that keeps folders safe by itself refuses with this
            raise
    finally:
        os.close(fd)


def _has_ended(seen: SeenProcess) -> bool:
    from lionstudio.domain.process import ENDED_STATES

    return seen.state in ENDED_STATES


def _group_pids(group: int) -> list[int]:
    if sys.platform == "darwin":
        import ctypes

        pids = (ctypes.c_int * MOST_PIDS)()
        libproc = ctypes.CDLL("/usr/lib/libproc.dylib", use_errno=True)
        size = libproc.proc_listpids(PROC_PGRP_ONLY, group, pids, ctypes.sizeof(pids))
        return [pid for pid in pids[: max(0, size) // ctypes.sizeof(ctypes.c_int)] if pid > 0]
    found = []
    for name in os.listdir("/proc") if sys.platform == "linux" else ():
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                stat = file.read()
                if int(stat[stat.rindex(b")") + 1 :].split()[2]) == group:
                    found.append(int(name))
    return found


def _host() -> str | None:
    """The node name and a mark of the machine: two machines of one name must not look like one that was rebooted."""
    name = os.uname().nodename
    machine_id = _machine_id()
    if not name or not machine_id:
        return name or None
    from _blake2 import blake2b  # as in `hashlib`, which loads OpenSSL for its other functions: 3 ms for nothing

    return f"{name}-{blake2b(machine_id, digest_size=HOST_MARK_BYTES).hexdigest()}"


def _machine_id() -> bytes | None:
    """What tells this machine from all others for as long as it is not installed anew."""
    if sys.platform == "linux":
        for path in MACHINE_ID_FILES:
            with suppress(OSError), open(path, "rb") as file:
                # Images for containers and clones carry an empty file, or this word until their first boot.
                if (found := file.read().strip()) and found != b"uninitialized":
                    return found
    elif sys.platform == "darwin":
        import ctypes

        # `kern.uuid` names the build of the kernel, not the machine.
        found, patience = ctypes.create_string_buffer(16), (ctypes.c_long * 2)(0, 0)
        if ctypes.CDLL(None).gethostuuid(found, patience) == 0:
            return found.raw
    return None


def _boot_id() -> str | None:
    if sys.platform == "linux":
        with suppress(OSError), open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip() or None
    elif sys.platform == "darwin":
        import ctypes

        text = ctypes.create_string_buffer(64)
        size = ctypes.c_size_t(len(text))
        if ctypes.CDLL(None).sysctlbyname(b"kern.bootsessionuuid", text, ctypes.byref(size), None, 0) == 0:
            return text.value.decode("ascii") or None
    return None


def _pid_namespace() -> str | None:
    if sys.platform == "linux":
        with suppress(OSError):
            return os.readlink("/proc/self/ns/pid")
    elif sys.platform == "darwin":
        return NO_NAMESPACES
    return None


def _look_linux(pid: int) -> SeenProcess | None:
    # By hand: a list looks at a hundred processes, and a file object costs more than the look.
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            stat = os.read(file, 4096)
        finally:
            os.close(file)
    except (FileNotFoundError, ProcessLookupError):
        return None
    except OSError as error:
        raise CannotLook(error.errno, f"pid {pid} may not be looked at") from error
    seen = _seen_in_stat(pid, stat)
    if seen.state != "Z":
        return seen
    # The stat of a process is that of its first thread, which may end before the others: they still work.
    return seen._replace(state=_state_of_living_thread(pid) or seen.state)


def _state_of_living_thread(pid: int) -> str | None:
    from lionstudio.domain.process import ENDED_STATES

    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/stat", "rb") as file:
                if (state := _seen_in_stat(int(thread), file.read()).state) not in ENDED_STATES:
                    return state
    return None


def _seen_in_stat(pid: int, stat: bytes) -> SeenProcess:
    from lionstudio.domain.process import SeenProcess

    # The command's name stands in parentheses and may hold spaces and parentheses of its own: count from the last one.
    fields = stat[stat.rindex(b")") + 1 :].split(None, 20)  # no field after the start time is read
    return SeenProcess(pid, start_time=int(fields[19]), state=fields[0].decode("ascii"))


def _look_darwin(pid: int) -> SeenProcess | None:
    import ctypes

    libproc = ctypes.CDLL("/usr/lib/libproc.dylib", use_errno=True)
    record = ctypes.create_string_buffer(BSDINFO_SIZE)
    # The third argument asks for processes that have ended and wait to be collected, too.
    got = libproc.proc_pidinfo(pid, BSDINFO_FLAVOR, ctypes.c_uint64(1), record, BSDINFO_SIZE)
    if got == BSDINFO_SIZE:
        return _seen_in_bsdinfo(pid, record.raw)
    code = ctypes.get_errno()
    if code in (0, errno.ESRCH):
        return None
    raise CannotLook(code, f"pid {pid} may not be looked at")


def _seen_in_bsdinfo(pid: int, record: bytes) -> SeenProcess:
    from lionstudio.domain.process import SeenProcess

    def number(at: slice) -> int:
        return int.from_bytes(record[at], "little")

    started = number(BSDINFO_START_SECONDS) * 1_000_000 + number(BSDINFO_START_MICROSECONDS)
    return SeenProcess(pid, start_time=started, state=BSD_STATES.get(number(BSDINFO_STATUS)))


def _is_remote_darwin(path: str) -> bool | None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    # On Intel the plain name is an older structure.
    statfs = getattr(libc, "statfs$INODE64", None) or libc.statfs
    record = ctypes.create_string_buffer(4096)
    while statfs(os.fsencode(path), record) != 0:
        if ctypes.get_errno() != errno.ENOENT or path == os.path.dirname(path):
            return None
        path = os.path.dirname(path)
    return not int.from_bytes(record.raw[STATFS_FLAGS], "little") & MNT_LOCAL


def _filesystem_at(path: str, mountinfo: str) -> str | None:
    """The type of the file system that holds `path`, from the text of /proc/self/mountinfo."""
    best, kind = -1, None
    for line in mountinfo.splitlines():
        mount, dash, filesystem = line.partition(" - ")
        fields = mount.split()
        if not dash or len(fields) < 5:
            continue
        point = _unescaped(fields[4]).rstrip("/")
        # Of two on one point the later one hides the earlier.
        if len(point) >= best and (path == point or path.startswith(point + "/")):
            best, kind = len(point), filesystem.split()[0]
    return kind


def _is_network(filesystem: str | None) -> bool | None:
    if filesystem in NETWORK_FILESYSTEMS:
        return True
    if filesystem is None or filesystem in OPAQUE_FILESYSTEMS or filesystem.startswith("fuse."):
        return None
    return False


def _unescaped(name: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        name = name.replace(code, character)
    return name


def _event_names(events: bytes) -> list[str]:
    names: list[str] = []
    at = 0
    while at < len(events):
        length = int.from_bytes(events[at + 12 : at + EVENT_HEADER], sys.byteorder)
        at += EVENT_HEADER
        names.append(os.fsdecode(events[at : at + length].rstrip(b"\0")))
        at += length
    return names
