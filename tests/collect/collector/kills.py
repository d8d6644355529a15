"""Collectors killed at random moments: what was acknowledged is counted once, and nothing else is there.

`python tests/collect/collector/kills.py --kills 100 --database sqlite` keeps a few senders busy, each repeating a body
until it is acknowledged, while the server is killed after random delays and started again at once. Servers are forked
from a process that has imported everything, so that kills fall on work and not on imports. `--twin` runs a broken
storage instead, which the same check must find out: one that acknowledges before it commits (early), counts without
looking at the ids (blind) or counts in a second transaction (apart).
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import random
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TOKEN = "0123456789-of-killed-servers"
SPEC = {"name": "age", "question": "How old are you?", "min": 0, "max": 19, "epsilon": "1/2"}
SENDERS = 4
LARGEST_BATCH = 60
LONGEST_LIFE = 0.5
"""Seconds that a server lives at most."""
LISTENING = 0.8
"""The share of servers whose life is counted from when they listen; others may be killed while they start."""
DELAY = 0.1
"""Seconds that a broken storage takes between two steps that should be one."""
PATIENCE = 60.0
LONGEST_RUN = 900.0


@dataclass
class Sender:
    """Sends single reports and batches, each until it is acknowledged; sometimes once more afterwards."""

    port: int
    seed: int
    done: threading.Event
    sent: dict[str, int] = field(default_factory=dict)
    acknowledged: dict[str, int] = field(default_factory=dict)
    requests: int = 0
    retries: int = 0
    rescued: int = 0
    """Bodies that had been stored by a server that died before it said so."""
    wrong: list[str] = field(default_factory=list)

    def run(self) -> None:
        chance = random.Random(self.seed)
        batch: list[dict[str, Any]] = []
        while not self.done.is_set():
            fresh = not batch or chance.random() < 0.9
            if fresh:
                size = 1 if chance.random() < 0.5 else chance.randint(2, LARGEST_BATCH)
                batch = [{"id": secrets.token_urlsafe(16), "value": chance.randint(0, 19)} for _ in range(size)]
            self.sent.update((report["id"], report["value"]) for report in batch)
            body = batch[0] if len(batch) == 1 else {"reports": batch}
            if not self.repeat(json.dumps(body).encode(), len(batch), fresh):
                return
            self.acknowledged.update((report["id"], report["value"]) for report in batch)

    def repeat(self, body: bytes, size: int, fresh: bool) -> bool:
        """Send a body until it is acknowledged; whether it was."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            status, receipt = post(self.port, "/api/surveys/age/reports", body)
            self.requests += 1
            if status == 200:
                if receipt["accepted"] + receipt["repeated"] != size:
                    self.wrong.append(f"{size} reports were acknowledged as {receipt}")
                self.rescued += fresh and receipt["repeated"] > 0
                return True
            if status not in (0, 503):
                self.wrong.append(f"a body was answered with {status}: {receipt}")
                return False
            self.retries += 1
            time.sleep(0.01)
        self.wrong.append(f"a body was not acknowledged within {PATIENCE:.0f} seconds")
        return False


def post(port: int, path: str, body: bytes) -> tuple[int, Any]:
    """The status and the document that a request is answered with; status 0 if there is no answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"}
    try:
        connection.request("POST", path, body, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError):
        return 0, None
    finally:
        connection.close()


class Nursery:
    """The process from which servers are forked, one at a time; whatever it started ends with it."""

    def __init__(self) -> None:
        command = [sys.executable, __file__, "--nurse"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, url: str, port: int, twin: str | None, *, wait: bool = True) -> None:
        """Start a server, and wait until it listens or not."""
        self._ask({"url": url, "port": port, "twin": twin, "wait": wait})

    def kill(self) -> int:
        """Kill the server; the signal that it really ended by, negative, or its exit code."""
        return int(self._ask(None))

    def _ask(self, command: Any) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps(command)}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(PATIENCE)


def nurse() -> None:
    """Fork and kill servers as standard input asks for; every command is answered by a line."""
    from sfumato.collect.collector import service, serving
    from sfumato.collect.collector.storage import Storage

    def serve(storage: Any, *where: Any) -> None:
        serving.serve(service.make_service(storage, TOKEN), *where)

    kinds = twins(Storage)
    child = 0
    try:
        for line in sys.stdin:
            command = json.loads(line)
            if command:
                child = fork_server(serve, kinds[command["twin"]], command)
                print("started", flush=True)
            else:
                os.kill(child, signal.SIGKILL)
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
                child = 0
    finally:
        if child:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def fork_server(serve: Any, kind: Any, command: dict[str, Any]) -> int:
    """The process of a new server; the pipe is closed once it listens, or fails to."""
    reading, listening = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(0)
        os.close(reading)
        run_server(serve, kind, command["url"], command["port"], listening)
    os.close(listening)
    if command["wait"]:
        os.read(reading, 1)
    os.close(reading)
    return child


def run_server(serve: Any, kind: Any, url: str, port: int, listening: int) -> None:
    """Serve until killed."""
    try:
        serve(kind(url), "127.0.0.1", port, lambda _: os.close(listening))
        os._exit(0)
    except BaseException as error:
        print(f"the server failed: {error!r}", file=sys.stderr, flush=True)
        os._exit(70)


def twins(storage: type[Any]) -> dict[str | None, type[Any]]:
    """The storage, and three that are broken."""
    from sfumato.collect.collector.database import begin
    from sfumato.collect.collector.storage import Receipt

    class Early(storage):
        """Acknowledges at once and writes a moment later."""

        def add_reports(self, survey: str, reports: Any) -> Receipt:
            threading.Timer(DELAY, super().add_reports, (survey, reports)).start()
            return Receipt(accepted=len(reports), repeated=0)

    class Blind(storage):
        """Counts every report that comes, known or not."""

        def add_reports(self, survey: str, reports: Any) -> Receipt:
            known = super().add_reports(survey, reports).repeated
            with self._turn, begin(self._engine, write=True) as connection:
                self._count(connection, survey, Counter(value for _, value in reports[:known]))
            return Receipt(accepted=len(reports), repeated=0)

    class Apart(storage):
        """Writes the ids down first, and counts them in a transaction of its own."""

        def add_reports(self, survey: str, reports: Any) -> Receipt:
            values = dict(reports)
            with self._turn, begin(self._engine, write=True) as connection:
                new = self._insert(connection, survey, values)
            time.sleep(DELAY)
            with self._turn, begin(self._engine, write=True) as connection:
                self._count(connection, survey, Counter(values[key] for key in new))
            return Receipt(accepted=len(new), repeated=len(reports) - len(new))

    return {None: storage, "early": Early, "blind": Blind, "apart": Apart}


def violations(url: str, senders: list[Sender]) -> list[str]:
    """Everything that must not be, in sentences; all that was sent has been acknowledged by now."""
    sent = {key: value for sender in senders for key, value in sender.sent.items()}
    acknowledged = {key: value for sender in senders for key, value in sender.acknowledged.items()}
    rows, counts = stored(url)
    there = dict(rows)
    wrong = [sentence for sender in senders for sentence in sender.wrong]
    if len(there) != len(rows):
        wrong.append("an id is stored twice")
    lost = acknowledged.keys() - there.keys()
    if lost:
        wrong.append(f"{len(lost)} acknowledged reports were lost")
    if there.keys() - sent.keys():
        wrong.append(f"{len(there.keys() - sent.keys())} reports are there that nobody sent")
    if any(sent[key] != there[key] for key in sent.keys() & there.keys()):
        wrong.append("a report has another value than was sent")
    expected = Counter(acknowledged.values())
    wrong += [
        f"the value {value} is counted {counts.get(value, 0)} times, and was acknowledged {expected[value]} times"
        for value in sorted(expected.keys() | counts.keys())
        if counts.get(value, 0) != expected[value]
    ]
    return wrong


def stored(url: str) -> tuple[list[tuple[str, int]], dict[int, int]]:
    """The ids with their values and the counts, as the database has them."""
    if url.startswith("postgresql"):
        import psycopg

        opened: Any = psycopg.connect(url)
    else:
        opened = sqlite3.connect(url)
    with contextlib.closing(opened) as connection:
        rows = connection.execute("SELECT id, value FROM reports").fetchall()
        return rows, dict(connection.execute("SELECT value, count FROM counts").fetchall())


def run(nursery: Nursery, kills: int, database: str, twin: str | None, seed: int) -> dict[str, Any]:
    """Kill that many servers under load; the figures, and what was found wrong."""
    with empty_database(database) as url:
        done, port = threading.Event(), free_port()
        senders = [Sender(port, seed + number, done) for number in range(SENDERS)]
        nursery.start(url, port, twin)
        wait_for_survey(port)
        started = time.monotonic()
        threads = [threading.Thread(target=sender.run) for sender in senders]
        for thread in threads:
            thread.start()
        try:
            ends = kill_often(lambda wait: nursery.start(url, port, twin, wait=wait), nursery.kill, kills, seed)
        finally:
            done.set()
            for thread in threads:
                thread.join()
        seconds = time.monotonic() - started
        time.sleep(3 * DELAY if twin == "early" else 0)
        wrong = violations(url, senders)
        last = nursery.kill()
        if (ends, last) != (Counter({-signal.SIGKILL: kills}), -signal.SIGKILL):
            wrong.append(f"{kills} servers should have been killed; they ended with {dict(ends)}, the last with {last}")
        figures = ("requests", "retries", "rescued")
        return {
            "database": database,
            "twin": twin,
            "kills": ends[-signal.SIGKILL],
            **{name: sum(getattr(sender, name) for sender in senders) for name in figures},
            "acknowledged": sum(len(sender.acknowledged) for sender in senders),
            "counted": sum(stored(url)[1].values()),
            "seconds": round(seconds, 1),
            "wrong": wrong,
        }


def kill_often(start: Callable[[bool], None], kill: Callable[[], int], kills: int, seed: int) -> Counter[int]:
    """How the servers ended; the last one is left running."""
    chance, ends, end = random.Random(seed), Counter[int](), time.monotonic() + LONGEST_RUN
    while ends.total() < kills and time.monotonic() < end:
        time.sleep(chance.uniform(0, LONGEST_LIFE))
        ends[kill()] += 1
        start(ends.total() == kills or chance.random() < LISTENING)
    return ends


def wait_for_survey(port: int) -> None:
    """Add the survey as soon as the server answers."""
    end = time.monotonic() + PATIENCE
    while post(port, "/api/surveys", json.dumps(SPEC).encode())[0] != 201:
        if time.monotonic() > end:
            raise SystemExit("the server does not answer")
        time.sleep(0.02)


def free_port() -> int:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as opened:
        return int(opened.getsockname()[1])


@contextlib.contextmanager
def empty_database(kind: str) -> Iterator[str]:
    if kind == "postgresql":
        from postgres import Server

        with Server() as server:
            yield server.new_database()
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / "collected.sqlite")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--database", choices=["sqlite", "postgresql"], nargs="+", default=["sqlite"])
    parser.add_argument("--twin", choices=["none", "early", "blind", "apart"], nargs="+", default=["none"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nurse", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.nurse:
        nurse()
        sys.exit(0)
    with contextlib.closing(Nursery()) as nursery:
        runs = [
            run(nursery, given.kills, database, None if twin == "none" else twin, given.seed)
            for database in given.database
            for twin in given.twin
        ]
    print(json.dumps(runs, indent=2))
    sys.exit(1 if any(found["wrong"] for found in runs) else 0)
