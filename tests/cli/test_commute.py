"""`commute`: synthetic flows, their evaluation and their map on a small town, and every refusal in one sentence."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING

import polars as pl
import pytest

from sfumato.cli.commute import evaluate, synthesize
from sfumato.cli.commute import map as flow_map
from sfumato.privacy.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Outcome, Run

Call = "Callable[..., Outcome]"
PLACES = 36
SETTINGS = {
    "--radius": "radius_km",
    "--beyond": "beyond",
    "--prior": "prior",
    "--rule": "rule",
    "--keep": "keep",
    "--distances": "distances",
}
TOLD: dict[str, object] = {
    "16km": 16,
    "10": 10,
    "2.5 mi": pytest.approx(2.5 * 1.609344),
    "3": 3,
    "3km": 3,
    "1e1km": 10,
    "0.5": 0.5,
    "weights.csv": "weights of places",
    "distances.csv": {"up_to_km": [2, 5], "shares": [70, 20, 10]},
}
"""What a release tells of an option."""


@pytest.fixture
def town(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with 36 places and flows to three of them, which is also where commands run."""
    generator = random.Random(1)
    rows = [
        f"{place:04d},{41 + 0.02 * (place // 6):.2f},{-71 + 0.02 * (place % 6):.2f},t{place // 4},{'we'[place % 6 > 2]}"
        for place in range(PLACES)
    ]
    (tmp_path / "places.csv").write_text("\n".join(["id,latitude,longitude,tract,town", *rows]) + "\n")
    destinations = [3] * 12 + [14] * 12 + [20] * 12
    pairs = [f"{generator.randrange(PLACES):04d},{to:04d},{generator.randrange(1, 4)}" for to in destinations]
    (tmp_path / "flows.csv").write_text("\n".join(["origin,destination,count", *pairs]) + "\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SFUMATO_LEDGER", str(tmp_path / "ledger.sqlite"))
    return tmp_path


@pytest.fixture
def synthetic(run: Run, town: Path) -> Callable[..., Outcome]:
    """Synthesize the flows of the town to a folder."""

    def made(release: str, *options: str) -> Outcome:
        usual = {"--epsilon": "4.6", "--name": "flows"}
        more = [word for name, value in usual.items() if name not in options for word in (name, value)]
        return run("commute", "synthesize", "flows.csv", "--places", "places.csv", "-o", release, *more, *options)

    return made


def totals(path: Path) -> Counter[str]:
    """People by destination."""
    frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema=False)
    found: Counter[str] = Counter()
    for destination, people in zip(frame["destination"], frame["count"], strict=True):
        found[destination] += int(people)
    return found


@pytest.mark.parametrize("module", [synthesize, evaluate, flow_map])
def test_help_ends_with_an_example(run: Run, module: object) -> None:
    words = module.EXAMPLE.split()[1:]  # type: ignore[attr-defined]
    told = run(*words[:2], "--help")
    assert told.code == 0
    assert told.out.rstrip().endswith(f"Example: {module.EXAMPLE}")  # type: ignore[attr-defined]


def test_synthesize_tells_what_it_made_and_promises(synthetic: Call, town: Path) -> None:
    told = synthetic("release", "--radius", "2mi", "--beyond", "town")
    assert (told.code, told.err) == (0, "")
    first, claim, *rest = told.out.splitlines()
    people = sum(totals(town / "flows.csv").values())
    assert first.startswith(f"release: people {people}, destinations 3, pairs of origin and destination ")
    assert claim.startswith("Claim: where any one person comes from changes the probability of every output by")
    assert "in each destination, nothing about anybody is told by more than that factor, but for" in claim
    assert sum(line.startswith("Assumes: ") for line in rest) == 5
    assert rest[-1] == "Charged to flows; see sfumato budget."
    assert totals(town / "release" / "flows.csv") == totals(town / "flows.csv")
    (entry,) = Ledger().entries()
    assert (entry.data_set, entry.state, float(entry.cost.epsilon)) == ("flows", "settled", 4.6)


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--radius", "16km"),
        ("--radius", "10"),
        ("--radius", "2.5 mi", "--unit", "km"),
        ("--radius", "3", "--beyond", "tract"),
        ("--coarse", "20:tract", "--coarse", "30:town"),
        ("--prior", "distance"),
        ("--prior", "weights.csv"),
        ("--keep", "0.5", "--distances", "distances.csv"),
        ("--prior", "distance", "--distances", "distances.csv"),
        ("--radius", "3km", "--beyond", "town", "--density", "weights.csv"),
        ("--rule", "reference"),
        ("--rule", "file"),
        ("--rule", "pure"),
        ("--radius", "1e1km"),
        ("--reject", "--delta", "0.01"),
        ("--delta", "1e-3", "--epsilon", "1"),
        ("--name", "town of 2020"),
    ],
    ids=" ".join,
)
def test_every_option_keeps_the_totals(synthetic: Call, town: Path, options: tuple[str, ...]) -> None:
    weights = "".join(f"{place:04d},{place % 5}\n" for place in range(PLACES))
    (town / "weights.csv").write_text(f"place,population\n{weights}")
    (town / "distances.csv").write_text("up_to,share\n2,70\n5,20\n,10\n")
    told = synthetic("release", "--json", *options)
    assert (told.code, told.err) == (0, "")
    found, claim = told.json, told.json["claim"]
    assert totals(town / "release" / "flows.csv") == totals(town / "flows.csv")
    assert sum(found["epsilon_made_of"].values()) == pytest.approx(claim["epsilon"])
    kinds = {"pure": "pure-dp", "file": "approximate-dp"}
    assert claim["claim"] == kinds.get(options[1] if "--rule" in options else "", "probabilistic-dp")
    assert ("delta" in claim) == ("pure" not in options)
    assert (found["destinations"], found["data_set"]) == (3, "town of 2020" if "--name" in options else "flows")
    assert ("places dropped" in found["epsilon_made_of"]) == ("--keep" in options)
    assert ("rejection" in found["epsilon_made_of"]) == ("--reject" in options)
    assert 0 < found["prior"]["least"] <= found["prior"]["most"]
    assert found["charge"]["release"] == json.loads((town / "release" / "release.json").read_text())["id"]
    settings = json.loads((town / "release" / "release.json").read_text())["parameters"]
    for name, value in zip(options[::2], options[1::2], strict=False):
        if name in SETTINGS:
            assert settings[SETTINGS[name]] == TOLD.get(value, value)


def test_parquet_and_other_columns(run: Run, synthetic: Call, town: Path) -> None:
    assert synthetic("release", "--parquet").code == 0
    assert totals(town / "release" / "flows.parquet") == totals(town / "flows.csv")
    flows = pl.read_csv("flows.csv", infer_schema=False)
    flows.rename({"origin": "a", "destination": "b", "count": "c"}).write_csv("odd.csv")
    renamed = pl.read_csv("places.csv", infer_schema=False).rename({"id": "code"})
    renamed.select("tract", "code", "latitude", "longitude").write_csv("odd_places.csv")
    told = run(
        "commute",
        "synthesize",
        "odd.csv",
        "--places",
        "odd_places.csv",
        "--name",
        "flows",
        "--epsilon",
        "2",
        "-o",
        "odd",
        "--ledger",
        "odd.sqlite",
        "--origin",
        "a",
        "--destination",
        "b",
        "--count",
        "c",
        "--place-id",
        "code",
    )
    assert (told.code, told.err) == (0, "")
    assert totals(town / "odd" / "flows.csv") == totals(town / "flows.csv")


def test_a_large_delta_is_remarked_on(synthetic: Call) -> None:
    told = synthetic("release", "--delta", "0.1")
    assert told.code == 0
    assert told.err == "Delta is 0.1; below one over the number of people, 82, is usual.\n"


DISTANCE = "; expected a distance above 0, such as 100mi or 160km"
NO_REGIONS = "places.csv: there are no regions 'twon'; those in the file: tract, town"
COARSE = "; expected people and regions, such as 20:tract"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--radius", "ten"), f"--radius is 'ten'{DISTANCE}"),
        (("--radius", "10 leagues"), f"--radius is '10 leagues'{DISTANCE}"),
        (("--radius", "0"), f"--radius is '0'{DISTANCE}"),
        (("--radius=-3km",), f"--radius is '-3km'{DISTANCE}"),
        (("--radius", ""), f"--radius is ''{DISTANCE}"),
        (("--coarse", "tract"), f"--coarse is 'tract'{COARSE}"),
        (("--coarse", "20"), f"--coarse is '20'{COARSE}"),
        (("--coarse", "0:tract"), f"--coarse is '0:tract'{COARSE}"),
        (("--coarse", "x:tract"), f"--coarse is 'x:tract'{COARSE}"),
        (("--radius", "2", "--beyond", "twon"), NO_REGIONS),
        (("--coarse", "20:twon"), NO_REGIONS),
        (("--prior", "none.csv"), "none.csv: the file does not exist"),
        (("--coarse", "20:town", "--density", "none.csv"), "none.csv: the file does not exist"),
        (("--prior", "distance", "--distances", "bad.csv"), "bad.csv: row 2: up_to is 'far'; expected a number"),
        (("--density", "none.csv"), "--density without regions in --beyond or --coarse would change nothing"),
        (("--distances", "bad.csv"), "--distances without --prior distance or --keep would change nothing"),
        (("--beyond", "town"), "--beyond without --radius would change nothing"),
        (("--rule", "pure", "--delta", "0.3"), "the pure rule promises epsilon alone; leave delta out"),
        (("--coarse", "9:town", "--coarse", "9:tract"), "destinations of one size cannot be coarsened in two ways"),
        (("--keep", "0"), "keep is 0; expected a number from 0.0005 to 1"),
        (("--keep", "2"), "keep is 2; expected a number from 0.0005 to 1"),
        (("--name", ""), "'' is not the name of a data set"),
        (("--epsilon", "0"), "epsilon is 0.0; expected a number above 0"),
        (("--epsilon", "nan"), "epsilon is nan; expected a number above 0"),
        (("--epsilon", "60"), "epsilon is 60.0; expected a number above 0 and at most 50"),
        (("--delta", "0"), "delta is 0.0; expected a number above 0 and below 1"),
        (("--delta", "1"), "delta is 1.0; expected a number above 0 and below 1"),
        (("--rule", "reference", "--epsilon", "1"), "the reference rule holds for epsilon above ln 3 = 1.0986 only"),
        (("--rule", "pure", "--reject"), "the pure rule does not go with rejection; choose reference or exact"),
        (("--origin", "x"), "flows.csv: there is no column 'x'; the columns are origin, destination, count"),
        (("--place-id", "x"), "places.csv: there is no column 'x'; the columns are id, latitude, longitude,"),
        (("--keep", "0.3", "--epsilon", "1"), "no prior keeps epsilon 1 for a destination of"),
        (("--rule", "magic"), "invalid value for '--rule'"),
        (("--unit", "furlong"), "invalid value for '--unit'"),
        (("--epsilon", "much"), "invalid value for '--epsilon'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_options_are_one_sentence_and_cost_nothing(
    synthetic: Call, town: Path, options: tuple[str, ...], sentence: str
) -> None:
    (town / "bad.csv").write_text("up_to,share\n1,1\nfar,1\n3,1\n")
    told = synthetic("release", *options)
    assert (told.code, told.out, len(told.err.splitlines())) == (2, "", 1)
    assert told.err.startswith(f"sfumato: {sentence}")
    assert not (town / "release").exists()
    assert Ledger().entries() == []


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("flows.csv", "origin,destination,count\n0001,0003,1\n0099,0003,1\n", "row 2: origin is '0099', which is not"),
        ("flows.csv", "origin,destination,count\n0001,0003,-1\n", "row 1: count is '-1'; expected a whole number"),
        ("flows.csv", "origin,destination,count\n0001,0003,1.5\n", "row 1: count is '1.5'; expected a whole number"),
        ("flows.csv", "a,b\n0001,0003\n", "no column for the origin"),
        ("flows.csv", "", "the file is empty"),
        ("flows.csv", "origin,destination\n", "the file has no rows"),
        ("places.csv", "id,latitude,longitude\n0001,91,0\n", "row 1: latitude is '91'; expected degrees"),
        ("places.csv", "id,latitude,longitude\n0001,1,0\n0001,2,0\n", "row 2 repeats the place '0001' of row 1"),
        ("places.csv", "id,latitude\n0001,91\n", "no column for the longitude"),
    ],
)
@pytest.mark.parametrize("command", ["synthesize", "evaluate"])
def test_wrong_files_are_one_sentence(run: Run, town: Path, command: str, name: str, text: str, sentence: str) -> None:
    (town / name).write_text(text)
    more = ("--epsilon", "2") if command == "synthesize" else ()
    told = run("commute", command, "flows.csv", "--places", "places.csv", "--name", "flows", "-o", "made", *more)
    assert (told.code, told.out, len(told.err.splitlines())) == (2, "", 1)
    assert told.err.startswith(f"sfumato: {name}: {sentence}")
    assert not (town / "made").exists()


def test_a_folder_in_the_way_and_a_cap_refuse_before_anything_is_drawn(synthetic: Call, run: Run, town: Path) -> None:
    assert run("budget", "cap", "flows", "--epsilon", "3", "--delta", "1e-5").code == 0
    assert synthetic("release").code == 0
    assert "this already exists" in synthetic("release").err
    refused = synthetic("second")
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)
    assert "cap" in refused.err
    assert not (town / "second").exists()
    assert len(Ledger().entries()) == 1


def test_a_folder_of_flows_is_verified_and_asked_like_any_release(synthetic: Call, run: Run, town: Path) -> None:
    synthetic("release", "--radius", "2mi")
    told = run("verify", "release")
    assert (told.code, told.err) == (3, "")
    claim, *more, rests = told.out.splitlines()
    assert claim.startswith("Claim: where any one person comes from changes the probability")
    assert rests == "It rests on how the release was made: what is published neither contradicts nor confirms it."
    assert sum(line.startswith("Assumes: ") for line in more) == 5
    assert any(line.endswith(" was charged ε = 4.6, δ = 1e-05 for it, settled.") for line in more)
    assert run("verify", "release", "--json").json["verified"] is False
    people = totals(town / "flows.csv")
    told = run("query", "release", "destination = 0003").out
    assert told.startswith(f"About {people['0003']:,} of {people.total()} people; between ")
    asked = run("query", "release", "destination in (0003, 0014) and origin is not missing", "--json").json
    assert (asked["estimate"], asked["rows"]) == (people["0003"] + people["0014"], people.total())
    refused = run("query", "release", "town = w")
    assert (refused.code, refused.err.strip()) == (
        2,
        "sfumato: found 'town' where a column was expected: 'origin', 'destination'",
    )


def test_flows_that_contradict_their_claim_are_found_out(synthetic: Call, run: Run, town: Path) -> None:
    synthetic("release", "--radius", "2mi")
    path = town / "release" / "release.json"
    spec = json.loads(path.read_text())
    path.write_text(json.dumps(spec | {"claim": spec["claim"] | {"epsilon": 1}}))
    told = run("verify", "release")
    assert told.code == 1
    assert "Contradicts it: epsilon is made of 4.6 in all, the claim says 1." in told.out


def test_measure_sends_flows_elsewhere(synthetic: Call, run: Run, town: Path) -> None:
    synthetic("release")
    (town / "people.toml").write_text(
        'columns.a = { role = "quasi", kind = "categorical", values = ["x"] }\n'
        'columns.s = { role = "sensitive", kind = "categorical", values = ["y", "z"] }\n'
    )
    (town / "people.csv").write_text("a,s\nx,y\nx,z\n")
    told = run("measure", "people.csv", "release", "--schema", "people.toml")
    assert (told.code, told.out) == (2, "")
    assert told.err == "sfumato: release: this release holds flows; measure them with sfumato commute evaluate\n"
