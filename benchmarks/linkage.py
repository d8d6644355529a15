"""Risks against a control group: strength and speed beside Anonymeter's, on the same rows and as many guesses."""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

import sfumato as sf
from benchmarks import adult
from benchmarks.timing import Result, best_of, ratio
from sfumato.measures.attacks.control import Risk, compare
from sfumato.measures.attacks.inference import Inference
from sfumato.measures.attacks.linkability import Linkability
from sfumato.measures.attacks.membership import Membership
from sfumato.measures.attacks.singling_out import SinglingOut, SinglingOutByOne
from sfumato.mechanisms.noise import SimulatedSource

if TYPE_CHECKING:
    from collections.abc import Iterator

GUESSES = 500
"""As many as Anonymeter makes unless it is told otherwise."""
PERTURBED = 0.1
SPEED_UP = 20
PEER = Path(__file__).parent / "peers" / "anonymeter_risks.py"
CENSUS = ("SEX", "MSP", "RAC1P", "OWN_RENT", "EDU", "AGEP", "HOUSING_TYPE", "DVET", "DEYE", "PINCP_DECILE")
COMPARED = (SinglingOut(guesses=GUESSES), Linkability(guesses=GUESSES), Inference(guesses=GUESSES))
BY_ONE = SinglingOutByOne(guesses=GUESSES)


def linkage(peers: str) -> Iterator[Result]:
    """Half of Adult copied, copied with changes and modelled, the other half as control; AIM's Census excerpt."""
    training, control = sf.hold_out(sf.read(adult.rows(adult.TRAINING_ROWS), adult.schema()), 0.5)
    rows = sf.Original().publish(training).to_polars()
    made = {"a copy": rows, f"a copy with {PERTURBED:.0%} of values changed": _perturbed(rows)}
    for epsilon in (10.0, 1.0):
        release = sf.PrivBayes(epsilon=epsilon).publish(training, SimulatedSource(1))
        made[f"PrivBayes at ε = {epsilon:g}"] = release.to_polars()
    for name, frame in made.items():
        yield from _beside_anonymeter(peers, f"{name} of Adult", training, frame, control)
    one, other = sf.hold_out(sf.read(adult.data_folder() / "census" / "national2019.csv", census_schema()), 0.5)
    frame = pl.read_csv(adult.data_folder() / "releases" / "aim_e_10_all.csv", infer_schema=False)
    # AIM saw both halves, so that nothing tells them apart.
    yield from _beside_anonymeter(peers, "AIM's Census excerpt", one, frame, other)


def _beside_anonymeter(
    peers: str, what: str, training: sf.Table, frame: pl.DataFrame, control: sf.Table
) -> list[Result]:
    """Every risk of the same rows by both: at least as large as theirs up to its interval, and in less time."""
    release = sf.read_published(frame, training.schema)
    first = [axis.name for axis in training.schema.axes][-2::-2]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.csv" for name in ("training", "release", "control")]
        for path, table in zip(paths, (training, None, control), strict=True):
            (release if table is None else sf.Original().publish(table)).to_polars().write_csv(path)
        command = [peers, "-W", "ignore", str(PEER), *map(str, paths), str(GUESSES), ",".join(first)]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    peer = {name: [float(field) for field in fields] for name, *fields in map(str.split, told.splitlines())}
    results = []
    for attack in COMPARED:
        seconds, right, control_right, guesses, control_guesses = peer[attack.name]
        theirs = compare(right, int(guesses), control_right, int(control_guesses))
        ours = attack.run(training, release, control)
        took = best_of(3, lambda attack=attack: attack.run(training, release, control))
        results.append(_strength(f"{attack.name} of {what} beyond the control group", ours, theirs))
        results.append(ratio(f"{attack.name} of {what} against Anonymeter", SPEED_UP, seconds, took))
    for alone in (BY_ONE, Membership(guesses=GUESSES)):
        found = alone.run(training, release, control)
        results.append(Result(f"{alone.name} of {what}", "", _shown(found), True))
    return results


def _strength(what: str, ours: Risk | None, theirs: Risk | None) -> Result:
    """Met if our difference is not below theirs by more than what chance allows both together (95%)."""
    least = theirs.difference if theirs else 0.0
    chance = math.hypot(*(risk.difference - risk.interval[0] for risk in (ours, theirs) if risk))
    got = ours.difference if ours else 0.0
    asked = f"at least {least:.3f}, less {chance:.3f} for chance; Anonymeter {_shown(theirs)}"
    return Result(what, asked, _shown(ours), got >= least - chance)


def _shown(risk: Risk | None) -> str:
    if risk is None:
        return "not applicable"
    low, high = risk.interval
    shares = f"{risk.success:.3f} against {risk.control:.3f}, {risk.guesses} guesses"
    return f"{risk.difference:+.3f} [{low:+.3f}, {high:+.3f}] ({shares})"


def _perturbed(rows: pl.DataFrame) -> pl.DataFrame:
    """A tenth of the values of each column exchanged for those of other rows."""
    generator = np.random.default_rng(1)
    return rows.select(
        pl.when(pl.Series(generator.random(rows.height) < PERTURBED))
        .then(rows[name].gather(generator.permutation(rows.height)))
        .otherwise(rows[name])
        .alias(name)
        for name in rows.columns
    )


def census_schema() -> sf.Schema:
    """Nine quasi-identifiers and the decile of the income, with the values that the excerpt declares."""
    told = json.loads((adult.data_folder() / "census" / "national2019.json").read_text(encoding="utf-8"))["schema"]

    def column(name: str) -> dict[str, Any]:
        entry, role = told[name], "sensitive" if name == CENSUS[-1] else "quasi"
        spec = {"role": role, "nullable": bool(entry.get("has_null"))}
        if "values" in entry:
            values = [value for value in entry["values"] if value != "N"]
            return spec | {"kind": "categorical", "values": values}
        return spec | {"kind": "numeric", "min": entry["min"], "max": entry["max"]}

    return sf.Schema.parse({"name": "census", "missing": ["N"], "columns": {name: column(name) for name in CENSUS}})
