"""Speed against the named peers, each pair measured in one run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import sfumato as sf
from benchmarks import adult
from benchmarks.timing import Result, best_of, ratio
from sfumato.methods.partition.decide import partition
from sfumato.privacy.requirements import Population

PEERS = Path(__file__).parent / "peers"


def _peer(python: str, script: str) -> list[str]:
    path = str(adult.folder() / "adult.csv")
    columns = [adult.SENSITIVE, *adult.QUASI]
    command = [python, "-W", "ignore", str(PEERS / script), path, str(adult.TRAINING_ROWS), *columns]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def mondrian(peers: str) -> list[Result]:
    """Mondrian with k = 10, from table to partition."""
    table = sf.read(adult.rows(adult.TRAINING_ROWS), adult.schema())
    needed = (sf.KAnonymity(k=10),)
    ways = (("ncp", 1, 50), ("ncp", 0, 100), ("median", 0, 200))
    for cut, ahead, _ in ways:
        partition(table, needed, cut, look_ahead=ahead)
    seconds, classes = (float(field) for field in _peer(peers, "anonypy_mondrian.py")[-1].split())
    results = []
    for cut, ahead, asked in ways:
        ours = best_of(5, lambda cut=cut, ahead=ahead: partition(table, needed, cut, look_ahead=ahead))
        found = int(partition(table, needed, cut, look_ahead=ahead).max()) + 1
        how = f"{cut} cut, {ahead} ahead"
        what = f"Mondrian k=10, {how}, against anonypy ({found} classes, theirs {classes:.0f})"
        results.append(ratio(what, asked, seconds, ours))
    return results


def requirement_checks(peers: str) -> list[Result]:
    """All requirements on the raw table, against pycanon's."""
    frame, schema = adult.rows(adult.TRAINING_ROWS), adult.schema()
    ours = {
        "k": sf.KAnonymity(k=1),
        "alpha_k": sf.AlphaK(alpha=1.0, k=1),
        "l": sf.DistinctLDiversity(l=1),
        "entropy_l": sf.EntropyLDiversity(l=1),
        "recursive_l": sf.RecursiveLDiversity(l=1, c=2),
        "basic_beta": sf.BetaLikeness(beta=3600),
        "enhanced_beta": sf.BetaLikeness(beta=3600, enhanced=True),
        "t": sf.TCloseness(t=1.0),
        "delta": sf.DeltaDisclosure(delta=10),
    }

    def check_all() -> None:
        table = sf.read(frame, schema)
        population = Population(table.overall, schema.sensitive)
        for requirement in ours.values():
            requirement.holds(table.histograms, population).all()

    table = sf.read(frame, schema)
    population = Population(table.overall, schema.sensitive)
    results, total = [], 0.0
    for line in _peer(peers, "pycanon_checks.py"):
        name, seconds, value = line.split(maxsplit=2)
        mine = best_of(5, lambda name=name: ours[name].holds(table.histograms, population).all())
        total += float(seconds)
        got = f"{float(seconds) / mine:,.0f}x ({float(seconds):.2f} s against {mine:.4f} s)"
        results.append(Result(f"check {name}, table in memory, against pycanon ({value})", "", got, True))
    what = "all requirement checks on the raw table, from data frame to answers, against pycanon"
    results.append(ratio(what, 100, total, best_of(5, check_all)))
    return results
