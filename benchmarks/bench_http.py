"""The server: how soon it is there, how fast it takes messages in and gives runs out, and what idle readers cost."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchmarks import list_data, measure
from benchmarks.sample import message_text

APPENDS, QUICK_APPENDS = 2_000, 300
CLIENTS, BATCH = 16, 100
BATCHES, QUICK_BATCHES = 200, 30
SMALL, LARGE, QUICK_LARGE = 10_000, 1_000_000, 50_000
LIST_TIMES, LIST_TURNS, OPEN_TIMES = 60, 4, 30
EVENTS, QUICK_EVENTS = 300, 60
IDLE_CLIENTS, IDLE_SECONDS, QUICK_IDLE_SECONDS = 500, 30, 8
MESSAGES = 1_000

Connection = http.client.HTTPConnection


def run(*, quick: bool) -> list[measure.Table]:
    table = measure.Table(
        "http: one server, clients in other processes, over loopback",
        ("what", "measured", "bar", "verdict"),
        note="a message is counted when its answer has come, which is after its commit; the bare loop writes the same "
        "rows with sqlite3, one commit a message",
    )
    with measure.fresh_folder() as folder:
        _add_start(table, folder)
        bare = measure.run_worker("bare", "append", QUICK_APPENDS if quick else APPENDS, folder=folder)
        _add_appends(table, folder, bare, quick=quick)
    with measure.fresh_folder() as folder:
        _add_lists(table, folder, quick=quick)
    with measure.fresh_folder() as folder:
        _add_live(table, folder, quick=quick)
    return [table]


class Served:
    """A server in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]", port: int, ready_after: float) -> None:
        self.process = process
        self.port = port
        self.ready_after = ready_after

    def connect(self) -> Connection:
        return Connection("127.0.0.1", self.port, timeout=60)

    @property
    def resident_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    @property
    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(folder: Path, db: Path) -> Iterator[Served]:
    began = time.perf_counter()
    words = [sys.executable, "-m", "lionstudio", "studio", "--port", "0", "--db", str(db)]
    with subprocess.Popen(words, env=measure.worker_environment(folder), stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            port = int(process.stderr.readline().rpartition(":")[2])
            served = Served(process, port, 0.0)
            ask(served.connect(), "GET", "/api/ready")
            served.ready_after = time.perf_counter() - began
            yield served
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


def ask(connection: Connection, method: str, path: str, body: Any = None) -> Any:
    """The answer to one request."""
    return json.loads(fetch(connection, method, path, body))


def fetch(connection: Connection, method: str, path: str, body: Any = None) -> bytes:
    """One request on a connection that stays open; the whole answer, which must be a good one."""
    payload = None if body is None else json.dumps(body).encode()
    connection.request(method, path, payload, {"Content-Type": "application/json"} if payload else {})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status >= 300:
        raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
    return text


def _add_start(table: measure.Table, folder: Path) -> None:
    with serving(folder, folder / "warm.db"):
        pass  # its bytecode is there now, as an installed package has it
    with serving(folder, folder / "start.db") as served:
        ready, resident = served.ready_after, served.resident_mb
    table.add("seconds until it answers", ready, "<= 2", measure.verdict(ready <= 2))
    table.add("resident MB", resident, "<= 150", measure.verdict(resident <= 150))


def _add_appends(table: measure.Table, folder: Path, bare: dict[str, Any], *, quick: bool) -> None:
    appends = QUICK_APPENDS if quick else APPENDS
    with serving(folder, folder / "append.db") as served:
        one = measure.run_worker("bench_http", "append", served.port, appends, folder=folder)
        each = max(appends // CLIENTS, 20)
        workers = [measure.start_worker("bench_http", "together", served.port, each, 4, folder=folder) for _ in "1234"]
        together = [measure.finish_worker(worker) for worker in workers]
        batches = measure.run_worker(
            "bench_http", "batches", served.port, QUICK_BATCHES if quick else BATCHES, folder=folder
        )
    rate = appends / one["seconds"]
    waits = [wait for found in together for wait in found["waits"]]
    seconds = max(found["ended"] for found in together) - min(found["began"] for found in together)
    all_rate = len(waits) / seconds
    bare_rate = appends / (bare["marks"][-1] - bare["marks"][0])
    table.add("(bare sqlite3 loop, messages/s)", bare_rate, "", "")
    table.add("one client, messages/s", rate, ">= 500", measure.verdict(rate >= 500))
    table.add("(share of the bare loop)", rate / bare_rate, "", "")
    table.add(f"{CLIENTS} clients, messages/s", all_rate, ">= one client", measure.verdict(all_rate >= rate))
    p99 = measure.percentile(waits, 99) * 1000
    table.add(f"{CLIENTS} clients, p99 ms", p99, "<= 100", measure.verdict(p99 <= 100))
    in_batches = batches["messages"] / batches["seconds"]
    table.add(f"batches of {BATCH}, messages/s", in_batches, ">= 10,000", measure.verdict(in_batches >= 10_000))


def _add_lists(table: measure.Table, folder: Path, *, quick: bool) -> None:
    now, large = time.time(), QUICK_LARGE if quick else LARGE
    files = {count: folder / f"{count}.db" for count in (SMALL, large)}
    for count, db in files.items():
        list_data.build(db, count, now)
    with serving(folder, files[SMALL]) as small, serving(folder, files[large]) as big:
        _let_doctor_finish(small)
        _let_doctor_finish(big)
        waits = measure.alternate(
            {"small": lambda: _list_waits(small, folder), "big": lambda: _list_waits(big, folder)}, times=LIST_TURNS
        )
        dashboard = measure.run_worker("bench_http", "get", big.port, OPEN_TIMES, "/api/stats", folder=folder)
    p50 = {
        count: measure.percentile([wait for turn in waits[name] for wait in turn], 50) * 1000
        for count, name in ((SMALL, "small"), (large, "big"))
    }
    stats = measure.percentile(dashboard, 50) * 1000
    table.add(f"list of 100 at {SMALL:,}, p50 ms", p50[SMALL], "<= 10", measure.verdict(p50[SMALL] <= 10))
    growth = p50[large] / p50[SMALL]
    table.add(f"list of 100 at {large:,}, p50 ms", p50[large], "", "")
    table.add("(its growth)", growth, "<= 1.5", measure.verdict(growth <= 1.5))
    table.add(f"dashboard at {large:,}, p50 ms", stats, "<= 100", measure.verdict(stats <= 100))


def _list_waits(served: Served, folder: Path) -> list[float]:
    path = "/api/sessions?limit=100"
    found: list[float] = measure.run_worker("bench_http", "get", served.port, LIST_TIMES, path, folder=folder)
    return found


def _let_doctor_finish(served: Served) -> None:
    """Its first round looks at every run, once; what comes after is what people see all day."""
    connection = served.connect()
    while ask(connection, "GET", "/api/admin/health")["doctor"]["last_round"] is None:
        time.sleep(0.2)


def _add_live(table: measure.Table, folder: Path, *, quick: bool) -> None:
    db = folder / "live.db"
    with serving(folder, db) as served:
        session = ask(served.connect(), "POST", "/api/sessions", {"name": "bench"})["id"]
        said = [{"role": "assistant", "content": message_text(number)} for number in range(MESSAGES)]
        ask(served.connect(), "POST", f"/api/sessions/{session}/messages", said)
        opened = measure.run_worker("bench_http", "open", served.port, OPEN_TIMES, session, folder=folder)
        p50 = measure.percentile(opened, 50) * 1000
        table.add(f"open a run of {MESSAGES:,} messages, p50 ms", p50, "<= 50", measure.verdict(p50 <= 50))

        reader = measure.start_worker("bench_http", "listen", served.port, folder=folder)
        assert reader.stdout is not None
        reader.stdout.readline()  # it listens now
        written = measure.run_worker("bench_feed", "write", db, QUICK_EVENTS if quick else EVENTS, folder=folder)
        seen = dict(measure.finish_worker(reader))
        late = [max(0.0, seen[one["id"]] - one["committed"]) * 1000 for one in written if one["id"] in seen]
        table.add("events missed", len(written) - len(late), "0", measure.verdict(len(late) == len(written)))
        for percent, bar in ((50, 30), (99, 150)):
            found = measure.percentile(late, percent)
            table.add(f"commit to SSE client, p{percent} ms", found, f"<= {bar}", measure.verdict(found <= bar))

        seconds = QUICK_IDLE_SECONDS if quick else IDLE_SECONDS
        cpu = _measure_idle(served, seconds)
        a_minute = cpu * 60 / seconds
        table.add(f"{IDLE_CLIENTS} idle SSE clients, CPU s a minute", a_minute, "<= 3", measure.verdict(a_minute <= 3))


def _measure_idle(served: Served, seconds: float) -> float:
    """CPU seconds of the server while many readers only get signs of life."""
    readers = []
    request = b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for _ in range(IDLE_CLIENTS):
        reader = socket.create_connection(("127.0.0.1", served.port))
        reader.sendall(request)
        reader.recv(4_096)
        readers.append(reader)
    before, ends = served.cpu_seconds, time.monotonic() + seconds
    while (left := ends - time.monotonic()) > 0:
        time.sleep(min(left, 1.0))
        for reader in readers:
            reader.setblocking(False)
            with suppress(BlockingIOError):
                reader.recv(65_536)
    spent = served.cpu_seconds - before
    for reader in readers:
        reader.close()
    return spent


# What the workers do, each in a process of its own.


def _append(port: str, count: str) -> dict[str, float]:
    connection = Connection("127.0.0.1", int(port))
    session = ask(connection, "POST", "/api/sessions", {"name": "bench"})["id"]
    began = time.perf_counter()
    for number in range(int(count)):
        _say(connection, session, number)
    return {"seconds": time.perf_counter() - began}


def _together(port: str, count: str, clients: str) -> dict[str, Any]:
    waits: list[float] = []

    def talk() -> None:
        connection = Connection("127.0.0.1", int(port))
        session = ask(connection, "POST", "/api/sessions", {"name": "bench"})["id"]
        for number in range(int(count)):
            began = time.perf_counter()
            _say(connection, session, number)
            waits.append(time.perf_counter() - began)

    threads = [threading.Thread(target=talk) for _ in range(int(clients))]
    began = time.time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"began": began, "ended": time.time(), "waits": waits}


def _say(connection: Connection, session: str, number: int) -> None:
    body = {"role": "assistant", "content": message_text(number)}
    ask(connection, "POST", f"/api/sessions/{session}/messages", body)


def _batches(port: str, count: str) -> dict[str, float]:
    connection = Connection("127.0.0.1", int(port))
    session = ask(connection, "POST", "/api/sessions", {"name": "bench"})["id"]
    said = [{"role": "assistant", "content": message_text(number)} for number in range(BATCH)]
    began = time.perf_counter()
    for _ in range(int(count)):
        ask(connection, "POST", f"/api/sessions/{session}/messages", said)
    return {"seconds": time.perf_counter() - began, "messages": int(count) * BATCH}


def _get(port: str, times: str, path: str) -> list[float]:
    connection = Connection("127.0.0.1", int(port))
    return [_timed(lambda: fetch(connection, "GET", path)) for _ in range(int(times))]


def _open(port: str, times: str, session: str) -> list[float]:
    connection = Connection("127.0.0.1", int(port))

    def open_run() -> None:
        fetch(connection, "GET", f"/api/sessions/{session}")
        page = fetch(connection, "GET", f"/api/sessions/{session}/messages?limit={MESSAGES}")
        assert page.count(b'"position":') == MESSAGES

    return [_timed(open_run) for _ in range(int(times))]


def _timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _listen(port: str) -> list[tuple[str, float]]:
    """Every message that is told of, and when; until stdin is closed and nothing comes any more."""
    seen: list[tuple[str, float]] = []
    reader = socket.create_connection(("127.0.0.1", int(port)))
    reader.sendall(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    lines = reader.makefile("rb")
    while not lines.readline().startswith(b"id: "):
        pass
    print("ready", flush=True)

    def end_soon() -> None:
        sys.stdin.read()
        reader.settimeout(1)

    threading.Thread(target=end_soon, daemon=True).start()
    with suppress(TimeoutError, OSError):
        for line in lines:
            if line.startswith(b"data:") and b'"message"' in line:
                seen.append((json.loads(line[5:])["id"], time.monotonic()))
    return seen


WORK: dict[str, Callable[..., Any]] = {
    "append": _append,
    "together": _together,
    "batches": _batches,
    "get": _get,
    "open": _open,
    "listen": _listen,
}

if __name__ == "__main__":
    print(json.dumps(WORK[sys.argv[1]](*sys.argv[2:])))
