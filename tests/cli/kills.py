"""Publishers killed at random moments: no release without its entry, no name charged twice, no spend forgotten.

`python tests/cli/kills.py --kills 200` imports everything once and forks a child for each publication; the child runs
`sfumato publish` and is killed after a random delay of up to its usual duration. `--stepwise` kills at every single
step that Python reports (files, folders, connections), one after the other. `--twin` runs a broken publisher instead,
one that charges the ledger after saving (late) or first takes back what others left reserved (tidy): the same check
must find it out. `--crowd 50` kills nobody: that many publish at once, and the cap has room for fewer.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import pickle
import random
import signal
import sqlite3
import sys
import tempfile
import time
import uuid
from collections import Counter
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.cli import main
from sfumato.data import read
from sfumato.methods import make_method
from sfumato.privacy.account import Entry
from sfumato.privacy.ledger import Ledger
from sfumato.publish import publication

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DATA_SET = "people"
EPSILON = Fraction(1, 10)
METHOD = "kd-tree"
PARAMETERS = {"epsilon": 0.1, "height": 4}
OPTIONS = ("--method", METHOD, *(word for name, value in PARAMETERS.items() for word in (f"--{name}", str(value))))
LATE = 0.5
"""Seconds that the broken publisher takes from the release to its charge."""
WARM_UPS = 6
FINISHED = "finished before the kill"
SETTLED = {"settled, visible", FINISHED}
ENOUGH = 100
"""Kills among which every kind of moment should be found."""
STEPS = ("open", "os.", "sqlite3.", "tempfile.", "shutil.")
PATIENCE = 60.0
SCHEMA = f"""\
name = "{DATA_SET}"
columns.age = {{ role = "quasi", kind = "numeric", min = 0, max = 99 }}
columns.town = {{ role = "quasi", kind = "categorical", values = ["a", "b", "c"] }}
columns.disease = {{ role = "sensitive", kind = "categorical", values = ["flu", "cold", "none"] }}
"""


class Scene:
    """A folder with a table, a ledger and the releases of many publishers."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.ledger = Ledger(folder / "ledger.sqlite")
        self.generator = random.Random(seed)
        self.known: dict[str, Entry] = {}
        rows = [
            f"{self.generator.randrange(100)},{self.generator.choice('abc')},"
            f"{self.generator.choice(['flu', 'cold', 'none'])}"
            for _ in range(200)
        ]
        (folder / "people.csv").write_text("\n".join(["age,town,disease", *rows]) + "\n")
        (folder / "people.toml").write_text(SCHEMA)

    def publish(self, table: str, name: str) -> int:
        """Run the command in this process."""
        return main(
            [
                "publish",
                str(self.folder / table),
                "--schema",
                str(self.folder / "people.toml"),
                *OPTIONS,
                "-o",
                str(self.folder / name),
                "--ledger",
                str(self.ledger.path),
            ]
        )

    def import_everything(self) -> None:
        """Load and compile what a publisher needs; a child reads the table, for threads do not outlive a fork."""
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            refused, shown = self.publish("nobody.csv", "nothing"), main(["budget", "--ledger", str(self.ledger.path)])
        assert (refused, shown) == (2, 0)
        reading, writing = os.pipe()
        if os.fork() == 0:
            with os.fdopen(writing, "wb") as file:
                pickle.dump(replace(read(self.folder / "people.csv", self.folder / "people.toml"), rows=None), file)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            make_method(METHOD, PARAMETERS).publish(pickle.load(file))
        os.wait()

    def start(self, name: str, last_step: int | None = None) -> int:
        """The process of a publisher that is under way; it kills itself at its last step, if it has one."""
        pid = os.fork()
        if pid:
            return pid
        code = 70
        try:
            silence = os.open(os.devnull, os.O_WRONLY)
            os.dup2(silence, 1)
            os.dup2(silence, 2)
            if last_step is not None:
                die_at(last_step)
            code = self.publish("people.csv", name)
        finally:
            os._exit(code)

    def usual_duration(self) -> float:
        """The seconds a publisher takes that is left alone; the first ones may have to compile."""
        durations = []
        for number in range(WARM_UPS):
            started = time.perf_counter()
            pid = self.start(f"warm-up-{number}")
            code = wait(pid, PATIENCE)
            if code != 0:
                raise SystemExit(f"a publisher that was left alone ended with {code}")
            durations.append(time.perf_counter() - started)
        return min(durations)

    def kill_one(self, name: str, delay: float) -> str:
        """Start a publisher, kill it after the delay, and say how far it got."""
        pid = self.start(name)
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)
        return self.stage(name, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))

    def kill_at(self, name: str, step: int) -> str:
        """Let a publisher die at a step, and say how far it got."""
        return self.stage(name, wait(self.start(name, step), PATIENCE))

    def stage(self, name: str, code: int) -> str:
        """How far a publisher got."""
        found = {entry.folder: entry.state for entry in self.ledger.entries()}
        state = found.get(str(self.folder / name), "not charged")
        seen = "visible" if (self.folder / name).exists() else "not visible"
        return f"{state}, {seen}" if code == -signal.SIGKILL else FINISHED if code == 0 else f"ended with {code}"


def die_at(step: int) -> None:
    """Kill this process at the given step of those that Python reports from now on."""
    steps = itertools.count(1)

    def hook(event: str, _: Any) -> None:
        if event.startswith(STEPS) and next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def wait(pid: int, seconds: float) -> int:
    """The exit code of a child; one that hangs is killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return -signal.SIGALRM


def violations(scene: Scene) -> list[str]:
    """Everything that must not be, in sentences."""
    entries = {entry.release: entry for entry in scene.ledger.entries()}
    wrong = [f"the entry of {name} was forgotten" for name in scene.known if name not in entries]
    wrong += [
        f"the cost of {name} changed"
        for name, entry in scene.known.items()
        if name in entries and entries[name].cost != entry.cost
    ]
    scene.known = entries
    if scene.ledger.spent(DATA_SET).epsilon != EPSILON * len(entries):
        wrong.append("the entries do not add up")
    with closing(sqlite3.connect(scene.ledger.path)) as connection:
        rows = connection.execute("SELECT count(*), count(DISTINCT release) FROM entries").fetchone()
        if rows[0] != rows[1]:
            wrong.append("a release is charged twice")
        if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            wrong.append("the file of the ledger is damaged")
    # Also releases that were drawn and never became visible, in the hidden folders of killed publishers.
    names = Counter()
    for description in [*scene.folder.glob("*/release.json"), *scene.folder.glob(".*/*/release.json")]:
        wrong += check_release(description, entries, names)
    wrong += [f"{name} stands in {count} releases" for name, count in names.items() if count > 1]
    return wrong + [
        f"{name} is settled, but its release is not there"
        for name, entry in entries.items()
        if entry.state == "settled" and not (Path(entry.folder) / "release.json").exists()
    ]


def check_release(description: Path, entries: dict[str, Entry], names: Counter[str]) -> list[str]:
    """What is wrong with one release; those that are visible must be whole."""
    hidden = any(part.startswith(".") for part in description.relative_to(description.parents[2]).parts)
    try:
        spec = json.loads(description.read_text())
    except ValueError:
        return [] if hidden else [f"{description.parent.name} is visible and not whole"]
    names[spec["id"]] += 1
    entry = entries.get(spec["id"])
    if entry is None:
        return [f"{description.parent.name} is there without an entry"]
    if entry.cost.epsilon != EPSILON or entry.data_set != DATA_SET:
        return [f"{description.parent.name} was charged wrongly"]
    if not hidden and not all((description.parent / file).exists() for file in spec["files"].values()):
        return [f"{description.parent.name} is visible and not whole"]
    return []


def publish_late(method: Any, table: Any, folder: Path, *, ledger: Ledger, **_: Any) -> Any:
    """The broken twin: it saves first and pays later."""
    release = method.publish(table)
    release = replace(release, provenance=replace(release.provenance, id=str(uuid.uuid4())))
    saved = release.save(folder)
    time.sleep(LATE)
    ledger.reserve(
        data_set=table.schema.name, release=release.provenance.id, epsilon=method.epsilon, folder=str(folder)
    )
    ledger.settle(release.provenance.id)
    return release, saved


def publish_tidy(*given: Any, ledger: Ledger, **more: Any) -> Any:
    """The other broken twin: it takes what others left reserved for rubbish."""
    with ledger._file.writing() as connection:
        connection.execute("DELETE FROM entries WHERE state = 'reserved'")
    return PUBLISH_TO(*given, ledger=ledger, **more)


PUBLISH_TO = publication.publish_to
TWINS = {None: PUBLISH_TO, "late": publish_late, "tidy": publish_tidy}


def run(kills: int, seed: int, twin: str | None = None) -> dict[str, Any]:
    """Kill that many publishers at random moments; how far they had got, and what was found wrong.

    Those that finish before they are killed do not count.
    """

    def at_random(scene: Scene) -> Iterator[str]:
        longest = scene.usual_duration()
        killed = 0
        while killed < kills:
            stage = scene.kill_one(f"release-{uuid.uuid4()}", scene.generator.uniform(0, longest))
            killed += stage != FINISHED
            # The machine may be busier or idler by now: about one in six should finish.
            longest *= 0.9 if stage == FINISHED else 1.02
            yield stage

    found = observed(at_random, seed, twin)
    if kills >= ENOUGH and not (set(found["stages"]) & {"reserved, not visible"} and set(found["stages"]) & SETTLED):
        found["wrong"].append("the kills fell too seldom between charge and release, or too seldom after them")
    return found


def run_stepwise(seed: int, twin: str | None = None) -> dict[str, Any]:
    """Kill a publisher at its first step, another at its second, and so on, until one finishes."""

    def step_by_step(scene: Scene) -> Iterator[str]:
        scene.usual_duration()
        for step in itertools.count(1):
            stage = scene.kill_at(f"release-{step}", step)
            yield stage
            if stage == FINISHED:
                return

    return observed(step_by_step, seed, twin)


def run_crowd(count: int, seed: int) -> dict[str, Any]:
    """Let that many publish at once under a cap with room for two in five; who got what, and what was found wrong."""
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder).resolve(), seed)
        scene.import_everything()
        room = 2 * count // 5
        scene.ledger.cap(DATA_SET, room * EPSILON)
        codes = Counter(wait(pid, PATIENCE) for pid in [scene.start(f"release-{number}") for number in range(count)])
        account, wrong = scene.ledger.account(DATA_SET), violations(scene)
        if account.spent != account.cap or account.reserved:
            wrong.append(f"{account.spent} was spent of {account.cap}, {account.reserved} entries are not settled")
        if codes != {0: room, 2: count - room}:
            wrong.append("the publishers did not end as they should")
        return {
            "room": room,
            "exit_codes": dict(codes),
            "entries": len(account.entries),
            "releases": len(list(scene.folder.glob("*/release.json"))),
            "wrong": wrong,
        }


def observed(killing: Callable[[Scene], Iterator[str]], seed: int, twin: str | None) -> dict[str, Any]:
    """What the check says after every single kill; the first fault ends it."""
    publication.publish_to = TWINS[twin]
    stages: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(Path(folder).resolve(), seed)
        scene.import_everything()
        for stage in killing(scene):
            stages[stage] += 1
            wrong = [f"after kill {stages.total()}: {sentence}" for sentence in violations(scene)]
            if wrong:
                break
        return {
            "kills": stages.total() - stages[FINISHED],
            "stages": dict(sorted(stages.items())),
            "entries": len(scene.ledger.entries()),
            "releases": len(list(scene.folder.glob("*/release.json"))),
            "unfinished": len(list(scene.folder.glob(".*"))),
            "wrong": wrong,
        }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--stepwise", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--twin", choices=["late", "tidy"])
    parser.add_argument("--crowd", type=int)
    given = parser.parse_args()
    if given.crowd:
        found = run_crowd(given.crowd, given.seed)
    elif given.stepwise:
        found = run_stepwise(given.seed, given.twin)
    else:
        found = run(given.kills, given.seed, given.twin)
    print(json.dumps(found, indent=2))
    sys.exit(1 if found["wrong"] else 0)
