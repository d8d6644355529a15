"""Mean weights of classes in a release folder, and what a claim that counts people or households can be held to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfumato.data import Table, read
from sfumato.errors import ReleaseError
from sfumato.methods import FullSuppression, Method, Mondrian, Original, QuadTree
from sfumato.privacy.requirements import KAnonymity, KHouseholds, KMap
from sfumato.publish.agreement import contradicts_parameters, contradicts_wording, unsaid_caveats
from sfumato.release import Release
from sfumato.release.verification import Verification, verify_folder
from sfumato.schema import Schema

ROWS = pl.DataFrame(
    {
        "age": [number % 10 for number in range(60)],
        "ill": ["no" if number % 3 else "yes" for number in range(60)],
        "w": [1.25 + number**1.5 for number in range(60)],
        "home": [number // 2 for number in range(60)],
        "note": [f"note {number}" for number in range(60)],
    }
)
MAP, HOMES = KMap(k_map=1_500), KHouseholds(k_households=3)


def table_of(publish: str = "mean", **more: dict[str, Any]) -> Table:
    columns: dict[str, dict[str, Any]] = {
        "age": {"role": "quasi", "kind": "numeric", "min": 0, "max": 9},
        "ill": {"role": "sensitive", "kind": "categorical", "values": ["no", "yes"]},
        "w": {"role": "weight", "publish": publish},
        "home": {"role": "household"},
        **more,
    }
    return read(ROWS, Schema.parse({"name": "made-up survey", "columns": columns}))


def found_in(release: Release, folder: Path) -> Verification:
    release.save(folder)
    loaded = Release.load(folder)
    more = (*contradicts_wording(loaded), *contradicts_parameters(loaded), *unsaid_caveats(loaded))
    return verify_folder(folder, loaded, more)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("method", [Mondrian(requirements=(MAP,)), Original(), FullSuppression()], ids=str)
def test_every_row_has_the_mean_weight_of_its_class(method: Method, suffix: str, tmp_path: Path) -> None:
    release = method.publish(table_of())
    release.save(tmp_path / "out", suffix=suffix)
    loaded = Release.load(tmp_path / "out")
    assert loaded.units["weights"] == pytest.approx(release.units["weights"], rel=1e-3)
    assert loaded.units["weights"].sum() == pytest.approx(ROWS["w"].sum(), rel=1e-3)
    rows = loaded.to_polars()
    assert rows.columns == ["age", "w", "ill"]
    assert (rows.group_by("age").agg(pl.col("w").n_unique())["w"] == 1).all()
    assert rows.equals(release.to_polars())
    assert set(loaded.units) == {"weights"}


def test_a_k_map_is_recomputed_from_mean_weights(tmp_path: Path) -> None:
    found = found_in(Mondrian(requirements=(MAP, KAnonymity(k=2))).publish(table_of()), tmp_path / "out")
    assert (found.outcome, found.contradictions) == ("holds", ())
    assert all(check.recomputed for check in found.checks)


@pytest.mark.parametrize(
    ("publish", "asked", "unseen"),
    [("no", (MAP,), ["k-map"]), ("mean", (MAP, HOMES), ["k-households"]), ("no", (HOMES, MAP), ["k-h", "k-map"])],
)
def test_what_is_not_published_cannot_be_recomputed(
    publish: str, asked: tuple[Any, ...], unseen: list[str], tmp_path: Path
) -> None:
    release = Mondrian(requirements=asked).publish(table_of(publish))
    assert all(check.recomputed for check in release.checks()), "who publishes has seen it"
    found = found_in(release, tmp_path / "out")
    assert (found.outcome, found.contradictions) == ("undecided", ())
    hidden = [check for check in found.checks if not check.recomputed]
    assert len(hidden) == len(unseen)
    for check, name in zip(hidden, unseen, strict=True):
        assert check.title.startswith(name)
        assert any(check.title in sentence for sentence in found.unseen)
        assert any(f"{check.title} rests on" in note for note in found.release.claim.assumptions)


def test_a_weight_that_was_made_smaller_breaks_the_claim(tmp_path: Path) -> None:
    """The mean of every row of a class is changed, so that nothing but the claim is wrong."""
    release = Mondrian(requirements=(MAP,)).publish(table_of())
    release.save(tmp_path / "out")
    path = tmp_path / "out" / "data.csv"
    lines = path.read_text().splitlines()
    first = lines[1].split(",")
    mean, place = next((part, number) for number, part in enumerate(first) if "." in part)
    for number, line in enumerate(lines):
        parts = line.split(",")
        if parts[:place] == first[:place]:
            parts[place] = "1.5"
            lines[number] = ",".join(parts)
    assert mean != "1.5"
    path.write_text("\n".join(lines) + "\n")
    found = verify_folder(tmp_path / "out", Release.load(tmp_path / "out"))
    assert found.outcome == "broken"
    assert any("k-map" in sentence for check in found.checks for sentence in check.violations)


def test_rows_of_a_class_with_different_weights_are_found(tmp_path: Path) -> None:
    Mondrian(requirements=(MAP,)).publish(table_of()).save(tmp_path / "out")
    path = tmp_path / "out" / "data.csv"
    lines = path.read_text().splitlines()
    mean = next(part for part in lines[1].split(",") if "." in part)
    lines[1] = lines[1].replace(mean, str(float(mean) + 7))
    path.write_text("\n".join(lines) + "\n")
    assert any(
        "data.csv" in one for one in verify_folder(tmp_path / "out", Release.load(tmp_path / "out")).contradictions
    )


@pytest.mark.parametrize("weight", ["-3.0", "heavy", ""])
def test_what_is_no_weight_in_a_release_is_refused(weight: str, tmp_path: Path) -> None:
    Mondrian(requirements=(MAP,)).publish(table_of()).save(tmp_path / "out")
    path = tmp_path / "out" / "data.csv"
    lines = path.read_text().splitlines()
    mean = next(part for part in lines[1].split(",") if "." in part)
    lines[1] = lines[1].replace(mean, weight)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(ReleaseError, match=r"row 1, column 'w'"):
        Release.load(tmp_path / "out")


def test_weights_stand_beside_kept_columns(tmp_path: Path) -> None:
    release = Mondrian(requirements=(MAP,)).publish(table_of(note={"role": "keep"}))
    assert found_in(release, tmp_path / "out").outcome == "holds"
    assert release.to_polars().columns == ["age", "w", "ill", "note"]
    assert sorted(release.to_polars()["note"]) == sorted(ROWS["note"])


@pytest.mark.parametrize(
    "method", [Mondrian(k=3, l=1.2, recoding="bucketize"), QuadTree(epsilon=1), Mondrian(k=3)], ids=lambda m: m.label
)
def test_nothing_tells_weights_or_homes_where_they_are_not_to_be_told(method: Method, tmp_path: Path) -> None:
    publish = "no" if method == Mondrian(k=3) else "mean"
    found = found_in(method.publish(table_of(publish)), tmp_path / "out")
    assert found.outcome in ("holds", "undecided")
    assert found.contradictions == ()
    spec = json.loads((tmp_path / "out" / "release.json").read_text())
    assert list(spec["schema"]["columns"]) == ["age", "ill"]
    assert not any("mean" in sentence for sentence in spec["claim"]["assumptions"])
    assert found.release.units == {}  # type: ignore[union-attr]


def test_noise_says_that_it_counts_rows() -> None:
    claims = [QuadTree(epsilon=1).publish(table_of(publish)).claim for publish in ("no", "mean")]
    for claim in claims:
        assert any("weights are not used" in sentence for sentence in claim.assumptions)
        assert any("every weight in the file" in sentence for sentence in claim.assumptions)
    safe = table_of(w={"role": "weight", "off_schema": 1})
    assert not any("every weight" in sentence for sentence in QuadTree(epsilon=1).publish(safe).claim.assumptions)


def test_means_are_four_digits_of_the_truth() -> None:
    release = Mondrian(requirements=(MAP,)).publish(table_of())
    rows = release.to_polars()
    own = rows.group_by("age", maintain_order=True).agg(pl.col("w").first(), pl.len())
    exact = sorted((release.units["weights"] / release.weights).tolist())
    assert sorted(own["w"].to_list()) == pytest.approx(exact, rel=5e-4)
    assert all(len(f"{mean:g}".replace(".", "").lstrip("0")) <= 4 for mean in own["w"])
    assert np.array_equal(np.sort(own["len"].to_numpy()), np.sort(release.weights).astype(int))
